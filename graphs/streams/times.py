"""Inputs of times alone: how their sources become sources of messages."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from progress.runtime.source import MARKS


def as_messages(source: Any) -> Any:
    """A source of messages, of one that gives times; what gives messages, as a policy does, stays as it is."""
    if hasattr(source, "items_for"):
        return source
    if isinstance(source, list | tuple):
        return [_message(item) for item in source]
    if callable(source):
        return lambda: as_messages(source())
    if isinstance(source, AsyncIterable):
        return (_message(item) async for item in source)
    return map(_message, source)


def _message(item: Any) -> Any:
    return item if type(item) in MARKS else (item, None)
