"""What a tracker runs on where summaries say what edges do to times: entrances (`progress.engines.arcs`), an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from progress.antichain import minimal_elements
from progress.cycles.finite_way import with_an_end
from progress.effort import TooMuchWork, effort_of_frontier
from progress.engines import Engine, choose
from progress.engines.arcs import Entrances
from progress.errors import PointstampError
from progress.summary import NoMinimalTimes
from progress.topology import Network
from progress.tracking.blocking import Blocker, blockers
from progress.tracking.ledger import Edge, Ledger, Node
from progress.tracking.own_relation import Workings
from progress.tracking.usual_steps import Registrar


class TooWide(NoMinimalTimes):
    """A frontier of more times than can be compared in a second or two: it is not told, as one that has no end."""

    def __init__(self, name: str) -> None:
        PointstampError.__init__(
            self,
            "PS604",
            f"the frontier of {name!r} has more times than can be looked at in a second or two",
            "ask `complete` for the times that matter, or mend the cycle that `pointstamp check` shows",
        )


class SummaryWorkings(Entrances):
    """The `Workings` of a network of summaries."""

    def engine(self, name: str, kernel: bool | None) -> Engine:
        """The engine of this name, or the better one for this graph (`progress.engines`)."""
        return choose(self.arcs, name, kernel)

    def may_send(self, ledger: Ledger, engine: Engine, edge: Edge, time: Any) -> bool:
        """Whether Clock contains (edge, time). Cost: that of `covers`, and O(width) at the location."""
        less_equal = edge.domain.less_equal
        source, summary = edge.source, edge.summary
        if edge.is_open_at(time):
            return True
        if summary is not None:
            if engine.reaches(source, summary, time):
                return True
            for before in ledger.least(ledger.node_of(source)):
                if any(less_equal(after, time) for after in summary.limits(before)):
                    return True
        return bool(edge.messages) and ledger.has_before(edge, time)

    def may_ask(self, ledger: Ledger, engine: Engine, node: Node, time: Any) -> bool:
        """Whether Clock contains (node, time). Cost: that of `covers`, and O(width) at the node."""
        return engine.covers(node.number, time) or ledger.has_before(node, time)

    def frontier(self, ledger: Ledger, engine: Engine, place: Edge | Node) -> tuple[Any, ...]:
        """Clock's minimal times at a location, in a linear extension; `NoMinimalTimes` where they fall without end.

        Cost: O(width) summaries; `TooWide` beyond `effort_of_frontier`.
        """
        times, network = ledger.least(place), ledger.network
        try:
            if isinstance(place, Node):
                location = place.number
                times = [*times, *engine.times(place.number)]
                known = len(times)
            else:
                location, known = len(network.nodes) + place.number, len(times)
                if place.summary is not None:
                    node = ledger.nodes.get(network.nodes[place.source])
                    sent = (*(ledger.least(node) if node is not None else ()), *engine.times(place.source))
                    known += len(sent)
                    for before in sent:
                        times += place.summary.limits(before)
            found = tuple(times)
            if len(times) > 1:
                found = minimal_elements(place.domain, times, effort_of_frontier(known))
        except TooMuchWork:
            raise TooWide(network.name(location)) from None
        return with_an_end(network, location, found)

    def blockers(
        self, goals: Sequence[int], time: Any, outstanding: Iterable[tuple[int, Any, str]]
    ) -> tuple[Blocker, ...]:
        """All that is outstanding and could result in (location, time) at one of the goals (`blocking`)."""
        return blockers(self.network, goals, time, outstanding)


def workings_of(network: Network) -> Workings:
    """The workings of a network, which are made once."""
    found = network.derived.get("workings")
    if found is None:
        made: Workings = SummaryWorkings(network) if network.relation is None else network.relation.workings(network)
        found = network.derived["workings"] = made
    return found


def registrar_of(workings: Workings, engine: Engine, ledger: Ledger) -> Registrar | None:
    """What takes usual steps by the kernel alone; None where the engine has none."""
    if engine.kernel is None or not isinstance(workings, Entrances):
        return None
    return Registrar(engine.kernel, ledger, workings)
