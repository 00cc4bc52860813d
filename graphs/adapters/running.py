"""Agent graphs as dataflows: the tool's own node functions on this project's engines.

The graph is that of `graphs.adapters.rounds`, so times are rounds, with one node more, `(result)`, to which every part
tells what it has done, and which gives the result of a run when nothing of it can come any more. A part runs once for
each of its times, when that time is complete there: a join waits for what can still come, and for nothing else, and no
round meets another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from graphs.adapters.agents import AgentGraph, Exit, Part
from graphs.adapters.rounds import COLLECTED, RESULT, Arc, Rounds
from progress.runtime import Batch, Dataflow, Node, Out
from progress.runtime.failure import NotAllowed

BEGIN = "(input)"


def rounds_of(agents: AgentGraph) -> Rounds:
    """The rounds of an agent graph, begun by a part of its own, which is in no loop."""
    agents.add(Part(BEGIN, "each", [Exit((agents.start,))], steps=0))
    agents.start = BEGIN
    return Rounds(agents)


def dataflow_of(rounds: Rounds, part: Callable[[str], Node], result: Callable[[], Node]) -> Dataflow:
    """The dataflow of `rounds_of`: code for each part, and for the result.

    Its input edge is `input`, with a time `[run]` for each run and what it begins with; its output edge is `result`.
    """
    graph = rounds.graph(collecting=True)
    return Dataflow(graph, {**{name: partial(part, name) for name in rounds.agents.parts}, RESULT: result})


class PartNode(Batch):
    """A part of an agent graph. Laws: what it sends goes by declared ways alone; each target gets it once."""

    def __init__(self, rounds: Rounds, name: str) -> None:
        super().__init__()
        self.name = name
        self.shown = rounds.agents.shown(name)
        self.rank = rounds.order[name]
        self.end = rounds.agents.end
        self.edges: dict[str, str] = {}
        for arc in rounds.leaving[name]:
            self.edges.setdefault(arc.target, first_edge(rounds, arc))
        self.collected = f"{name}{COLLECTED}"

    def send(self, out: Out, edge: str, value: Any) -> None:
        """Send a value at the time that the edge's summary gives."""
        for time in out.earliest(edge):
            out.send(edge, time, value)

    def tell(self, out: Out, value: Any) -> None:
        """Tell the result what has been done."""
        edge = self.collected if self.collected in out.edges else f"{self.collected} to (1)"
        self.send(out, edge, value)

    def go(self, out: Out, targets: Iterable[str], value: Any) -> None:
        """Send a value to parts; PS905 where a target is none that is declared."""
        for target in dict.fromkeys(targets):
            if target == self.end:
                continue
            if target not in self.edges:
                message = f"'{self.shown}' goes to {target!r}, which it does not declare"
                raise NotAllowed("PS905", message, "declare it, as check --from says")
            self.send(out, self.edges[target], value)


def first_edge(rounds: Rounds, arc: Arc) -> str:
    """The edge by which an arc leaves its source."""
    return arc.id if rounds.is_one_edge(arc) else f"{arc.id} to (1)"
