"""A command that answers line by line, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class LineProcess:
    """A command, `ask` or `track`, as a process that is written to and read from line by line."""

    def __init__(self, command: str, file: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphs", command, str(file), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.lines: Queue[bytes] = Queue()
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def send(self, line: bytes) -> None:
        """A line, or a part of one."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def tell(self, line: bytes) -> Any:
        """The answer to a line, while the input stays open."""
        self.send(line)
        try:
            return json.loads(self.lines.get(timeout=30))
        except Empty:
            pytest.fail("no answer within 30 s: answers are to be flushed at once")

    def end(self) -> tuple[int, bytes]:
        """The exit code and what was written on stderr."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        code = self.process.wait(30)
        self.reader.join(30)
        return code, self.process.stderr.read()

    def close(self) -> None:
        """Leave nothing open."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
