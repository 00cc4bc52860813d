"""The compiled kernel; all else is in pyproject.toml.

Optional: without a compiler or Python's headers the installation succeeds, and everything works in plain Python.
"""

from pathlib import Path

from setuptools import Extension, setup

KERNEL = "progress/kernel"

setup(
    ext_modules=[
        Extension(
            "progress._kernel",
            [f"{KERNEL}/kernel.c"],
            depends=[path.as_posix() for path in sorted(Path(KERNEL).glob("*.h"))],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
