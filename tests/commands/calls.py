"""The library of `calls.c`, which kills, fails or writes down calls of the system, compiled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def compiled(folder: Path) -> Path:
    """The library, in a folder; to be loaded by LD_PRELOAD."""
    library = folder / "calls.so"
    strict = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    source = Path(__file__).with_suffix(".c")
    subprocess.run([os.environ.get("CC", "cc"), *strict, "-o", library, source, "-ldl"], check=True)
    return library
