"""A tracker's state as plain data: lists, mappings, texts and numbers, which JSON can carry.

Times of built-in domains are written as in graph files: tuples as lists, `Tagged` as {tag: time}. Times of a user's own
domain are left as they are, so a snapshot of such a graph is as plain as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from progress.plain import pairs, read_time, times_by_place, write_time
from progress.tracking.refusal import bad_snapshot

VERSION = 1
Since = tuple[str, Any, int, float | None]  # a request, the steps that were taken before it, and the time of day then
PARTS = ("inputs", "messages", "requests", "reported")


def write_snapshot(
    inputs: Mapping[str, Iterable[Any]],
    messages: Mapping[tuple[str, Any], int],
    requests: Iterable[tuple[str, Any]],
    reported: Iterable[tuple[str, Any]],
    steps: int,
    since: Iterable[Since],
) -> dict[str, Any]:
    """What is outstanding, which requests were handed out as ready, and since when the others wait."""
    return {
        "pointstamp_snapshot": VERSION,
        "inputs": times_by_place(inputs),
        "messages": [[edge, write_time(time), count] for (edge, time), count in messages.items()],
        "requests": pairs(requests),
        "reported": pairs(reported),
        "steps": steps,
        "since": [[node, write_time(time), step, at] for node, time, step, at in since],
    }


class Saved(NamedTuple):
    """A snapshot, read."""

    inputs: dict[str, Any]
    messages: list[Any]
    requests: list[Any]
    reported: list[Any]
    steps: int
    since: list[Since]


def read_snapshot(data: Any) -> Saved:
    """The parts of a snapshot; PS511 where its form is not that of one.

    One of an earlier release does not say since when requests wait.
    """
    if not isinstance(data, Mapping) or "pointstamp_snapshot" not in data:
        raise bad_snapshot("it has no key pointstamp_snapshot")
    if data["pointstamp_snapshot"] != VERSION:
        raise bad_snapshot(f"its version is {data['pointstamp_snapshot']!r}, known is {VERSION}")
    for part in PARTS:
        if not isinstance(data.get(part), Mapping if part == "inputs" else list):
            raise bad_snapshot(f"{part} is missing or of the wrong type")
    inputs = {edge: _times(edge, times) for edge, times in data["inputs"].items()}
    messages = [_row(item, 3) for item in data["messages"]]
    requests = [_row(item, 2) for item in data["requests"]]
    reported = [_row(item, 2) for item in data["reported"]]
    steps, since = data.get("steps", 0), data.get("since", [])
    if type(steps) is not int or steps < 0 or not isinstance(since, list):
        raise bad_snapshot("steps is not a number of steps, or since is not a list")
    waited = [_row(item, 4) for item in since]
    for _, _, step, at in waited:
        if type(step) is not int or not 0 <= step <= steps or not (at is None or type(at) in (int, float)):
            raise bad_snapshot(f"a request waits since step {step!r} and {at!r}, of {steps} steps")
    return Saved(inputs, messages, requests, reported, steps, waited)


def _times(edge: str, times: Any) -> list[Any]:
    if not isinstance(times, list):
        raise bad_snapshot(f"the times of the input {edge!r} are not a list")
    return [read_time(time) for time in times]


def _row(item: Any, length: int) -> tuple[Any, ...]:
    if not isinstance(item, list | tuple) or len(item) != length:
        raise bad_snapshot(f"{item!r} has not {length} parts")
    return (item[0], read_time(item[1]), *item[2:])
