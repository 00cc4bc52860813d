"""A reader that follows files while they are written, and says what was taken back of what it had seen."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

OFTEN = 0.001  # seconds between two looks


class Reader:
    """Looks at files again and again until it is stopped, in a thread of its own.

    `whole` says that it relies on whole lines alone: the beginning of one that is not whole may become another one.
    """

    def __init__(self, *paths: Path, whole: bool = False) -> None:
        self.taken_back: list[str] = []
        self.looks = 0
        self._seen = dict.fromkeys(paths, b"")
        self._whole = whole
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over.set()
        self._thread.join()
        self._look()

    def _follow(self) -> None:
        while not self._is_over.is_set():
            self._look()
            time.sleep(OFTEN)

    def _look(self) -> None:
        self.looks += 1
        for path, seen in self._seen.items():
            content = path.read_bytes() if path.exists() else b""
            if self._whole:
                content = content[: content.rfind(b"\n") + 1]
            if not content.startswith(seen):
                self.taken_back.append(f"{path.name}: {len(seen)} bytes were seen, and now {len(content)} are there")
            self._seen[path] = content
