"""Google ADK: a `Workflow` as an agent graph. Nothing of it is run.

Read from `Workflow.graph`: nodes, and edges with their routes. A node runs for each message; a `JoinNode` when all its
predecessors have sent. Nodes run as soon as they can and as long as they take: nothing holds a fast one back. Unknown:
nodes that a function starts by itself, `ctx.run_node`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.adk.workflow import Workflow

from graphs.adapters import Found
from graphs.adapters.agent_findings import Words, found_in, together
from graphs.adapters.agents import AgentGraph, Exit, Part
from graphs.adapters.code import function_of, names_in
from graphs.adapters.target import load
from progress.errors import PointstampError, brief

NOWHERE = "(end)"
START = "__START__"
WORDS = Words(
    fires_more_than_once=(
        "let it wait for both: a JoinNode between, edges ('{one}', join), ('{other}', join), (join, '{join}') instead "
        "of an edge from each"
    ),
    may_never_fire=(
        "let the route go to both '{one}' and '{other}', or lead to '{join}' by an edge from each and a plain node, "
        "where only one of them comes"
    ),
    mixes_rounds=(
        "let the way back begin after the join: an edge from '{join}' to what decides, and let every round go to all "
        "of {sources}"
    ),
    mixes_runs="",
    ends_only_by_its_step_limit="give it a way out: a route from '{loop}' to something that is not in the loop",
)


def read(target: str) -> Found:
    """The adapter (`graphs.adapters.Adapter`): what there is to say of a Workflow, and of those within it."""
    given = load(target)
    if not isinstance(given, Workflow) or given.graph is None:
        raise PointstampError("PS903", f"{target} is {brief(given)}, not a Workflow", "Workflow(name=..., edges=[...])")
    return together(_read(given, ""))


def _read(given: Any, path: str) -> Iterator[tuple[str, Found]]:
    agents, unknown = describe(given)
    yield path, found_in(agents, WORDS, unknown)
    for node in given.graph.nodes:
        if isinstance(node, Workflow) and node.graph is not None:
            yield from _read(node, f"{path}.{node.name}" if path else node.name)


def describe(given: Any) -> tuple[AgentGraph, list[str]]:
    """The agent graph of a Workflow, and what is unknown of it."""
    limit = "nothing ends it: ADK has no limit of steps"
    agents = AgentGraph(given.name, START, NOWHERE, limit=limit, pace="free")
    exits: dict[str, dict[str, list[str]]] = {node.name: {} for node in given.graph.nodes}
    for edge in given.graph.edges:
        routes = edge.route if isinstance(edge.route, list) else [edge.route]
        for route in routes:
            exits[edge.from_node.name].setdefault("" if route is None else repr(route), []).append(edge.to_node.name)
    unknown: list[str] = []
    for node in given.graph.nodes:
        used = names_in(function_of(node))
        if "run_node" in used:
            unknown.append(f"'{node.name}' starts nodes by itself, with ctx.run_node: which is decided in a run")
        ways = [
            Exit(tuple(targets), "together", f"the route {route}") if route else Exit(tuple(targets))
            for route, targets in exits[node.name].items()
        ]
        agents.add(
            Part(
                node.name,
                "all" if node._requires_all_predecessors else "each",
                ways,
                shown="START" if node.name == START else "",
                steps=0 if node.name == START else 1,
                pauses="RequestInput" in used,
            )
        )
    return agents, unknown
