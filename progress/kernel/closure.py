"""Close-up of large graphs by the compiled kernel: the same answers as `progress.closure`, several times sooner.

Nodes are the vertices. A way to a time is not remembered but found when it is asked for: each time of a frontier was
given there or is the image of one at a predecessor, and since every closed walk advances, going back comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from progress.antichain import minimal_elements
from progress.closure import Closure, ClosureTooLarge
from progress.conditions import nodes_in_doubt
from progress.kernel import BUILT, TooMuchForKernel, kernel_over
from progress.pointstamp import Pointstamp, ending_at
from progress.topology import NO_NODE, Network
from progress.way import Way, folded

if TYPE_CHECKING:
    from progress.kernel import Compiled

MISSING = object()


class CompiledClosure(Closure):
    """A closure whose frontiers the kernel keeps."""

    def __init__(self, network: Network, kernel: Compiled, given: Iterable[tuple[int, Any]]) -> None:
        super().__init__(network)
        self._kernel = kernel
        count = len(network.nodes)
        self._given: dict[int, dict[Any, None]] = {}
        changes = []
        for location, time in given:
            self._given.setdefault(location, {})[time] = None
            vertex = location if location < count else network.targets[location - count]
            if vertex != NO_NODE:
                changes.append((vertex, time, 1))
        kernel.update(changes)

    def limits(self, location: int) -> tuple[Any, ...]:
        """The minimal times at a location, in a linear extension of their order. Cost: O(width log width)."""
        network = self.network
        edge = location - len(network.nodes)
        if edge < 0:
            at_node = self._kernel.times(location)
            return tuple(at_node) if len(at_node) < 2 else minimal_elements(network.domains[location], at_node)
        given = self._given.get(location, ())
        source, summary = network.sources[edge], network.summaries[edge]
        if source == NO_NODE or summary is None:
            return minimal_elements(network.edge_domains[edge], given)
        before = self._kernel.times(source)
        if len(before) == 1 and not given:
            return summary.limits(before[0])
        found = [after for time in before for after in summary.limits(time)]
        return minimal_elements(network.edge_domains[edge], [*found, *given])

    @property
    def frontiers(self) -> dict[str, tuple[Any, ...]]:
        """The minimal times at every location that has any. Each summary is applied once for all edges of a node."""
        network, given = self.network, self._given
        count = len(network.nodes)
        found = {name: times for node, name in enumerate(network.nodes) if (times := self.times(node))}
        known: dict[tuple[int, int], tuple[Any, ...]] = {}
        for edge, (name, source, summary) in enumerate(
            zip(network.edges, network.sources, network.summaries, strict=True)
        ):
            if source == NO_NODE or count + edge in given:
                times = self.times(count + edge)
            else:
                key = source, id(summary)
                if key not in known:
                    known[key] = self.times(count + edge)
                times = known[key]
            if times:
                found[name] = times
        return found

    def reached(self) -> list[int]:
        """The nodes that have a time. Cost: O(nodes)."""
        return [node for node in range(len(self.network.nodes)) if self._kernel.times(node)]

    def covers(self, location: int, time: Any) -> bool:
        """Whether the pointstamp is in the closed set."""
        if location < len(self.network.nodes):
            return self._kernel.covers(location, time)
        less_equal = self.network.domain(location).less_equal
        return any(less_equal(before, time) for before in self.times(location))

    def way(self, location: int, time: Any) -> Way | None:
        """The way on which a time at or below `time` arrives, as `Closure.way` gives it. Cost: O(edges passed by)."""
        network = self.network
        less_equal = network.domain(location).less_equal
        arrived = next((before for before in self.times(location) if less_equal(before, time)), MISSING)
        if arrived is MISSING:
            return None
        way = [Pointstamp(network.name(location), arrived)]
        here, when = location, arrived
        while when not in self._given.get(here, ()):
            here, when = self._before(here, when)
            way.append(Pointstamp(network.name(here), when))
        way.reverse()
        return folded(ending_at(way, time), {}, network)

    def _before(self, location: int, time: Any) -> tuple[int, Any]:
        """The pointstamp one step earlier from which this one comes."""
        network, count = self.network, len(self.network.nodes)
        if location >= count:
            source, summary = network.sources[location - count], network.summaries[location - count]
            assert summary is not None
            return source, next(before for before in self._kernel.times(source) if time in summary.limits(before))
        for edge in network.incoming[location]:
            if time in self._given.get(count + edge, ()) or time in self.times(count + edge):
                return count + edge, time
        raise AssertionError(f"nothing leads to {network.nodes[location]!r} at {time!r}")


def close_compiled(network: Network, given: Iterable[tuple[int, Any]]) -> Closure | None:
    """The closure by the kernel; None where it was not compiled or does not fit. Cost: O(edges) and the closure."""
    if not BUILT or network.derived.get("no closure by the kernel"):
        return None
    kernel = None
    if not nodes_in_doubt(network):
        kernel = kernel_over(network.domains, network.component, network.sources, network.targets, network.summaries)
    if kernel is None:
        network.derived["no closure by the kernel"] = True
        return None
    try:
        return CompiledClosure(network, kernel, given)
    except OverflowError:
        return None
    except TooMuchForKernel:
        raise ClosureTooLarge from None
