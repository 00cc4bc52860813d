"""The compiled kernel; all else is in pyproject.toml.

Optional: without a compiler or Python's headers the installation succeeds, and everything works in plain Python. With
POINTSTAMP_PURE=1 in the environment it is left out, so that a wheel is one for every machine.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

KERNEL = "progress/kernel"

setup(
    ext_modules=[]
    if os.environ.get("POINTSTAMP_PURE")
    else [
        Extension(
            "progress._kernel",
            [f"{KERNEL}/kernel.c"],
            depends=[path.as_posix() for path in sorted(Path(KERNEL).glob("*.h"))],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
