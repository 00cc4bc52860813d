"""Which files a pipeline reads when it is loaded: its graph, its modules, other data. No output may be one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Opened:
    """Hears which files this process opens to read. Python keeps such a hook for good; it can stop listening."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.is_listening = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_listening and event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            file = arguments[0]
            if isinstance(file, str | bytes | os.PathLike):
                self.files.append(os.path.abspath(os.fsdecode(file)))  # noqa: PTH100 - links are not followed


@cache
def _opened() -> _Opened:
    return _Opened()


@contextmanager
def reading() -> Iterator[None]:
    """While this is open, files that are read are the pipeline's own."""
    opened = _opened()
    opened.is_listening = True
    try:
        yield
    finally:
        opened.is_listening = False


def own_files() -> list[str]:
    """What was read then, and the files of all modules, of which Python may have read a compiled form."""
    modules = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    return [*dict.fromkeys((*_opened().files, *filter(None, modules)))]
