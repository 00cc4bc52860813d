"""Runs the command, while its calls of the system that change files are written down; a process of its own.

LD_PRELOAD=calls.so python -m tests.kills.recorded TRACE COMMAND...
"""

from __future__ import annotations

import ctypes
import os
import sys

from graphs.command import main

if __name__ == "__main__":
    trace, *command = sys.argv[1:]
    handle = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    ctypes.CDLL(None).calls_record(handle)
    code = main(command)
    ctypes.CDLL(None).calls_record(-1)
    sys.exit(code)
