"""pydantic-graph: a `Graph` built by `GraphBuilder`, as an agent graph. Nothing of it is run.

Read from `Graph.nodes` (steps, forks, decisions, joins) and `.edges_by_source`. A step runs for each task that comes to
it. A join waits until all that its parent fork began is over; that is right wherever the fork does not begin again
before. The first task to reach the end ends the run, and the others are cancelled. Unknown: what a map fork makes, of
how many items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_graph import Graph
from pydantic_graph.decision import Decision
from pydantic_graph.join import Join
from pydantic_graph.node import EndNode, Fork, StartNode
from pydantic_graph.paths import DestinationMarker

from graphs.adapters import Found
from graphs.adapters.agent_findings import Words, found_in
from graphs.adapters.agents import AgentGraph, Exit, Part
from graphs.adapters.target import load
from progress.errors import PointstampError, brief

NOWHERE = "(nowhere)"
WORDS = Words(
    fires_more_than_once=(
        "put a join before it: j = g.join(reduce_list_append, initial_factory=list), edges from '{one}' and '{other}' "
        "to j, and one from j to '{join}'; without it the first to reach the end ends the run"
    ),
    may_never_fire="",
    mixes_rounds="let the way back to '{one}' begin after the join: an edge from '{join}' to the decision",
    mixes_runs="",
    ends_only_by_its_step_limit="give it a way out: a decision after '{loop}' with a branch to the end",
)


def read(target: str) -> Found:
    """The adapter (`graphs.adapters.Adapter`): what there is to say of a built Graph."""
    given = load(target)
    if not isinstance(given, Graph):
        right = "what GraphBuilder(...).build() gives"
        raise PointstampError("PS903", f"{target} is {brief(given)}, not a built Graph", right)
    agents, unknown = describe(given)
    return found_in(agents, WORDS, unknown)


def describe(given: Any) -> tuple[AgentGraph, list[str]]:
    """The agent graph of a built Graph, and what is unknown of it."""
    start = next(name for name, node in given.nodes.items() if isinstance(node, StartNode))
    agents = AgentGraph(given.name or "graph", str(start), NOWHERE, limit="nothing ends it: there is no limit of steps")
    before = {
        target: source for source, paths in given.edges_by_source.items() for path in paths for target in _to(path)
    }
    unknown: list[str] = []
    for name, node in given.nodes.items():
        exits = [Exit(tuple(map(str, _to(path)))) for path in given.edges_by_source.get(name, ())]
        if isinstance(node, Decision):
            ways = tuple(str(target) for branch in node.branches for target in _to(branch.path))
            exits = [Exit(tuple(dict.fromkeys(ways)), "one", "the decision")]
        if isinstance(node, Fork) and node.is_map:
            unknown.append(f"how often what follows the map of '{before.get(name, name)}' runs is decided in a run")
        agents.add(
            Part(
                str(name),
                "fork" if isinstance(node, Join) else "each",
                exits,
                shown=str(before.get(name, name)) if isinstance(node, (Fork, Decision)) else _shown(node, str(name)),
                steps=0 if isinstance(node, (Fork, Decision, StartNode)) else 1,
            )
        )
    return agents, unknown


def _shown(node: Any, name: str) -> str:
    return "the start" if isinstance(node, StartNode) else "the end" if isinstance(node, EndNode) else name


def _to(path: Any) -> Iterator[Any]:
    """Where a path leads: in a built graph forks are nodes of their own."""
    yield from (item.destination_id for item in path.items if isinstance(item, DestinationMarker))
