"""Where messages go that leave the graph, and whatever else comes out of a run: late data, dead letters.

A sink is a list, a function of (time, value), or an object with any of `write(time, value)`, `write_all(time, values)`,
`complete(times)`, told whenever the edge's frontier moves, and `close()`. An object with `sink_for(name)` gives one for
the run that begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from progress.errors import PointstampError, brief

Sink: TypeAlias = Any


class Sinks:
    """The sinks of one run by name: output edges and side outputs. What has no sink gets one from `otherwise`, or is
    collected in `results`.
    """

    def __init__(self, given: dict[str, Sink], otherwise: Callable[[str], Sink] | None = None) -> None:
        self._given = {name: _made(name, sink) for name, sink in given.items()}
        self._otherwise = otherwise
        self._write: dict[str, Callable[[Any, Sequence[Any]], None]] = {}
        self.results: dict[str, list[tuple[Any, Any]]] = {}

    def deliver(self, name: str, time: Any, values: Sequence[Any]) -> None:
        """Hand values of one time to the sink of this name."""
        write = self._write.get(name)
        if write is None:
            write = self._write[name] = self._writer(name)
        write(time, values)

    def complete(self, name: str, times: tuple[Any, ...]) -> None:
        """Tell the sink that only times at or after these still come."""
        tell = getattr(self._given.get(name), "complete", None)
        if tell is not None:
            tell(times)

    def listens(self, name: str) -> bool:
        """Whether the sink wants to be told when the frontier moves."""
        return hasattr(self._given.get(name), "complete")

    def close(self) -> None:
        """Close those that can be closed, all of them whatever one raises."""
        failure: BaseException | None = None
        for sink in self._given.values():
            close = getattr(sink, "close", None)
            if close is not None:
                try:
                    close()
                except BaseException as error:
                    failure = failure or error
        if failure is not None:
            raise failure

    def _writer(self, name: str) -> Callable[[Any, Sequence[Any]], None]:
        sink = self._given.get(name)
        if sink is None and self._otherwise is not None:
            sink = self._otherwise(name)
        if sink is None:
            sink = self.results.setdefault(name, [])
        if isinstance(sink, list):
            return lambda time, values: sink.extend(zip(repeat(time), values))
        if hasattr(sink, "write_all"):
            return sink.write_all  # type: ignore[no-any-return]
        write = sink.write if hasattr(sink, "write") else sink
        if not callable(write):
            raise PointstampError(
                "PS707",
                f"the sink of {brief(name)} is {brief(sink)}",
                "a list, a function of (time, value), or `write`",
            )

        def one_by_one(time: Any, values: Sequence[Any]) -> None:
            for value in values:
                write(time, value)

        return one_by_one


def _made(name: str, sink: Sink) -> Sink:
    make: Callable[[str], Sink] | None = getattr(sink, "sink_for", None)
    return sink if make is None else make(name)
