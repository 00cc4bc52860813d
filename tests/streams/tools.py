"""What tests of kept programs share: values one by one, and what was left of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from progress.runtime import SILENT


def one_by_one(items: list[Any]) -> Callable[[], Iterator[Any]]:
    """A source that brings them with something else to do between."""

    def source() -> Iterator[Any]:
        for item in items:
            yield item
            yield SILENT

    return source


class Left:
    """What has left, by a sink that many outputs have in common."""

    def __init__(self) -> None:
        self.values: list[str] = []

    def __call__(self, time: Any, value: Any) -> None:
        self.values.append(repr((time, value)))
