"""How far the inputs of a run are, where that is known: bytes that were read, files and times that are done.

What is handed to a run is not done: on Spark all files of a folder may be there in no time, and their jobs take an
hour. A time that came in is done when nothing that it leads to can leave the graph any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from progress.closure import close
from progress.errors import PointstampError
from progress.runtime.actions.core import Core

BYTES, FILES, TIMES = "bytes", "files", "times"


class ReadOf(NamedTuple):
    """Of one input: so many of those that are known, counted in `unit`; `is_all`: there will be no more of them.

    `came` are the times that have entered the run, in their order, and how many each of them is: they are added to
    `done` when they are. Items of a source say it as their attribute `read_of`; None where nothing is known.
    """

    done: int
    known: int
    unit: str
    is_all: bool
    came: Sequence[tuple[Any, int]] = ()


def read_of(inputs: Iterable[tuple[str, Any]]) -> dict[str, ReadOf | None]:
    """What is known of inputs: edges with the items that come in there."""
    return {edge: getattr(items, "read_of", None) for edge, items in inputs}


class Done:
    """How many of the files and times that came into one run are done. Cost: a Close-up for each, and a look at it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._counted: dict[str, tuple[int, int]] = {}  # by edge: how many times of `came`, and how many these are
        self._left: dict[str, list[tuple[str, Any]]] = {}  # by edge: what the next one of them leads to

    def of(self, reading: Mapping[str, ReadOf | None]) -> list[ReadOf | None]:
        """The same, with what is done of what came."""
        return [None if each is None else self._with(edge, each) for edge, each in reading.items()]

    def _with(self, edge: str, each: ReadOf) -> ReadOf:
        place, done = self._counted.get(edge, (0, 0))
        while place < len(each.came) and self._is_done(edge, each.came[place][0]):
            done += each.came[place][1]
            place += 1
            self._left.pop(edge, None)
        self._counted[edge] = place, done
        return each._replace(done=each.done + done, came=())

    def _is_done(self, edge: str, time: Any) -> bool:
        if edge not in self._left:
            self._left[edge] = self._leads_to(edge, time)
        tracker, network = self._core.tracker, self._core.network
        if not all(tracker.complete(location, at) for location, at in self._left[edge]):
            return False
        if network.outputs:
            return True
        asked: dict[str, list[Any]] = {}
        for node, at in tracker.pending():
            asked.setdefault(node, []).append(at)
        return not any(
            network.domain(network.numbers[node]).less_equal(other, at)
            for node, at in self._left[edge]
            for other in asked.get(node, ())
        )

    def _leads_to(self, edge: str, time: Any) -> list[tuple[str, Any]]:
        """The earliest of what may leave for it; in a graph that nothing leaves, of what may happen at its nodes."""
        network = self._core.network
        try:
            frontiers = close(network, [(edge, time)]).frontiers
        except PointstampError:  # nobody can say: it counts as it came
            return []
        return [(name, at) for name in network.outputs or network.nodes for at in frontiers.get(name, ())]


def said(reading: Sequence[ReadOf | None]) -> list[str]:
    """What is known, in phrases: so many of so many files, or times; the share of bytes where all inputs have them."""
    found = []
    bar = share(reading)
    for unit in (FILES, TIMES):
        counted = [each for each in reading if each is not None and each.unit == unit]
        if counted:
            done, known = sum(each.done for each in counted), sum(each.known for each in counted)
            more = "" if all(each.is_all for each in counted) else " so far"
            found.append(f"{done:,} of {known:,} {unit if known != 1 else unit[:-1]} done{more}")
    if not found and bar is not None:
        found.append(f"{bar:.0%} read")
    return found


def share(reading: Sequence[ReadOf | None]) -> float | None:
    """How much of everything is done, from 0 to 1; None where not all is known, or is counted in several units."""
    known = [each for each in reading if each is not None and each.is_all]
    if not reading or len(known) < len(reading) or len({each.unit for each in known}) > 1:
        return None
    size = sum(each.known for each in known)
    return min(sum(each.done for each in known) / size, 1.0) if size else 1.0
