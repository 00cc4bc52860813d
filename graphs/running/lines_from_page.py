"""What the page gives to an input of the run: lines, which come in as if through a pipe (`--input EDGE=ui`).

A line is looked at before it is handed on, so that what is wrong with it is answered and does not end the run.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from typing import Any

from graphs.files.document import quoted
from graphs.live.site import NotAnswered
from graphs.running.line_form import LineForm
from progress.order import Domain
from progress.runtime.source import Complete

MOST_WAITING = 1_000_000  # bytes that were given and that the run has not taken


class Given:
    """One input edge. `handle` is what the run reads, and closes."""

    def __init__(self, edge: str, domain: Domain) -> None:
        self.edge = edge
        self._form = LineForm(edge, domain)
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self.handle, self._end = os.pipe()
        os.set_blocking(self._end, False)
        self._is_closed = self._is_over = False

    def give(self, line: Any) -> None:
        """Take a line, as data. It has entered the run when that reads it; an input that is completed has its end."""
        text = json.dumps(line).encode()
        item = self._form.read(text)
        with self._lock:
            if self._is_over:
                raise NotAnswered(f"the input {quoted(self.edge)} is closed")
            if len(self._waiting) > MOST_WAITING:
                raise NotAnswered("the run has not taken what was given before: try again when it has")
            self._waiting += text + b"\n"
            self._is_over = type(item) is Complete and not item.times
        self.flush()

    def flush(self) -> None:
        """Hand on as much as there is room for. Cost: O(what is handed on)."""
        with self._lock:
            if self._is_closed:
                return
            try:
                while self._waiting:
                    del self._waiting[: os.write(self._end, self._waiting[:65_536])]
            except BlockingIOError:
                return
            except OSError:  # nobody reads any more
                self._waiting.clear()
                self._is_over = True
            if self._is_over:
                self._close()

    def close(self) -> None:
        """Nothing is given any more."""
        with self._lock:
            self._is_over = True
            self._close()

    def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            with suppress(OSError):
                os.close(self._end)
