"""One line of an input: {"time": t, "value": v}, a message, or {"complete": [t, ...]} (docs/running.md)."""

from __future__ import annotations

from typing import Any

from graphs.files.document import quoted
from graphs.files.notation import kind_of, shown, suggestion
from graphs.sessions.track import read_step
from progress.errors import PointstampError
from progress.order import NO_TIME, Domain, as_time
from progress.plain import read_time
from progress.runtime.source import Complete

FORM = '{"time": t, "value": v}, or {"complete": [t, ...]}'
KEYS = ("time", "value", "complete")
MOST_KNOWN = 10_000  # times of messages that are remembered as good


class BadLine(PointstampError):
    """What is wrong with a line, wherever it came from (PS731)."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__("PS731", message, hint)


class LineForm:
    """Reads the lines of one input edge, with times of its domain."""

    def __init__(self, edge: str, domain: Domain) -> None:
        self._edge = edge
        self._domain = domain
        self._known: set[int] = set()

    def read(self, line: bytes) -> Any:
        """What a line says, as a source gives it; raises what is wrong with it. Cost: that of its JSON."""
        try:
            data = read_step(line)
        except PointstampError as error:
            raise BadLine(error.message, FORM) from None
        if type(data) is not dict:
            raise BadLine(f"the line is {kind_of(data)}", FORM)
        if len(data) == 2 and "time" in data and "value" in data:
            time = data["time"]
            if type(time) is not int or time not in self._known:
                time = self._time(time)
            return time, data["value"]
        if len(data) == 1 and "complete" in data:
            times = data["complete"]
            if type(times) is not list:
                raise BadLine(f"complete is {kind_of(times)}", "a list of times, [] to close the input")
            return Complete(tuple(map(self._time, times)))
        for key in data:
            if key not in KEYS:
                raise BadLine(f"unknown key {quoted(key)}", suggestion(key, KEYS))
        if "complete" in data:
            raise BadLine("complete stands beside other keys", "a line of its own")
        missing = "value" if "time" in data else "time"
        raise BadLine(f"there is no {missing}", FORM)

    def _time(self, data: Any) -> Any:
        try:
            time = as_time(self._domain, read_time(data))
        except RecursionError:
            time = NO_TIME
        if time is NO_TIME:
            raise BadLine(f"{shown(data)} is not a time of {quoted(self._edge)}", f"a time of {self._domain!r}")
        if type(time) is int:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(time)
        return time
