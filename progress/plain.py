"""Times as plain data, as JSON and YAML carry them: tuples are lists, `Tagged("left", v)` is {"left": v}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from progress.order import Tagged


class Written:
    """A time that is not a plain value itself, but is written as one."""

    __slots__ = ()

    def written(self) -> Any:
        """The plain data that stands for it."""
        raise NotImplementedError


def read_time(data: Any) -> Any:
    """The time that plain data stands for; what stands for none is left for a domain to refuse."""
    if isinstance(data, list | tuple) and not isinstance(data, Tagged):
        return tuple(read_time(item) for item in data)
    if isinstance(data, Mapping) and len(data) == 1:
        tag, value = next(iter(data.items()))
        return Tagged(tag, read_time(value))
    return data if not isinstance(data, Mapping | list) else repr(data)


def write_time(time: Any) -> Any:
    """The inverse of `read_time`; a time of a user's own domain is left as it is."""
    if isinstance(time, Tagged):
        return {time.tag: write_time(time.value)}
    if isinstance(time, tuple):
        return [write_time(item) for item in time]
    return time.written() if isinstance(time, Written) else time


def pairs(pointstamps: Iterable[tuple[str, Any]]) -> list[list[Any]]:
    """Pointstamps as plain data: locations with their times."""
    return [[location, write_time(time)] for location, time in pointstamps]


def times_by_place(times: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """Times of locations, as frontiers and open inputs, as plain data."""
    return {location: [write_time(time) for time in each] for location, each in times.items()}
