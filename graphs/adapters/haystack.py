"""Haystack: a `Pipeline` as an agent graph. Nothing of it is run.

Read from `Pipeline.graph`: components with their sockets, connections. A component with several mandatory inputs that
are connected waits for all of them, and keeps what it has between rounds; one with a greedy input runs as soon as
anything comes; one with a lazy or an optional input waits until nothing else can run. Which of its outputs a component
gives in a run is read from the source of its `run`, where that says it: every dictionary that it returns.
"""

from __future__ import annotations

import ast
from typing import Any

from haystack import Pipeline
from haystack.components.routers import ConditionalRouter

from graphs.adapters import Found
from graphs.adapters.agent_findings import Words, found_in
from graphs.adapters.agents import AgentGraph, Exit, Part, Waits
from graphs.adapters.sending import parsed
from graphs.adapters.target import load
from progress.errors import PointstampError, brief

NOWHERE = "(outputs)"
START = "(inputs)"
WORDS = Words(
    fires_more_than_once=(
        "let one of '{one}' and '{other}' come in a run, or join them in a component with an input for each"
    ),
    may_never_fire=(
        "give the input of '{join}' that '{other}' fills a default, or join the branches with a BranchJoiner, where "
        "only one of them comes"
    ),
    mixes_rounds="let every round give both what '{one}' and what '{other}' need, or put '{join}' behind the loop",
    mixes_runs="",
    ends_only_by_its_step_limit=(
        "give it a way out: a ConditionalRouter behind '{loop}' with an output that leaves the loop"
    ),
)


def read(target: str) -> Found:
    """The adapter (`graphs.adapters.Adapter`): what there is to say of a Pipeline."""
    given = load(target)
    if not isinstance(getattr(given, "graph", None), type(Pipeline().graph)):
        raise PointstampError("PS903", f"{target} is {brief(given)}, not a Pipeline", "a haystack.Pipeline")
    agents, unknown = describe(given)
    return found_in(agents, WORDS, unknown)


def describe(given: Any) -> tuple[AgentGraph, list[str]]:
    """The agent graph of a pipeline, and what is unknown of it."""
    limit = f"PipelineMaxComponentRuns ends it, after {given._max_runs_per_component} runs of one component"
    agents = AgentGraph("pipeline", START, NOWHERE, limit=limit, optional_joins=True)
    unknown: list[str] = []
    exits: dict[str, dict[str, list[str]]] = {name: {} for name in given.graph.nodes}
    for source, target, data in given.graph.edges(data=True):
        targets = exits[source].setdefault(data["from_socket"].name, [])
        if target not in targets:
            targets.append(target)
    begin = [name for name in given.graph.nodes if not given.graph.in_degree(name)]
    agents.add(Part(START, "each", [Exit((name,)) for name in begin or _greedy(given)], steps=0))
    for name, data in given.graph.nodes(data=True):
        sockets = exits[name]
        always = len(data["output_sockets"]) < 2 or _gives_all(data["instance"], set(sockets), unknown, name)
        ways = [
            Exit(tuple(targets)) if always else Exit(tuple(targets), "together", f"the output '{socket}'")
            for socket, targets in sockets.items()
        ]
        agents.add(Part(name, _waits(data["input_sockets"].values()), ways))
    return agents, unknown


def _greedy(given: Any) -> list[str]:
    """Where a pipeline begins in which everything is connected: at joiners that also take what comes from outside."""
    return [
        name
        for name, data in given.graph.nodes(data=True)
        if any(socket.is_greedy or socket.is_lazy_variadic for socket in data["input_sockets"].values())
    ]


def _waits(sockets: Any) -> Waits:
    connected = [socket for socket in sockets if socket.senders]
    if any(socket.is_greedy for socket in connected):
        return "each"
    if any(socket.is_lazy_variadic or not socket.is_mandatory for socket in connected):
        return "rest"
    return "all" if len(connected) > 1 else "each"


def _gives_all(component: Any, sockets: set[str], unknown: list[str], name: str) -> bool:
    """Whether a component gives all of its connected outputs in every run, as far as its source says."""
    if isinstance(component, ConditionalRouter):
        return False
    keys = _returned(component)
    if keys:
        return all(sockets <= each for each in keys)
    theirs = type(component).__module__.partition(".")[0] == "haystack"
    if not theirs:
        unknown.append(f"which of its outputs '{name}' gives is decided in a run: its code does not say it")
    return theirs and ".routers." not in type(component).__module__


def _returned(component: Any) -> list[set[str]]:
    """The keys of each dictionary that `run` returns; none where one of them is not written out."""
    tree = parsed(type(component).run)
    found: list[set[str]] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Return):
            if not isinstance(node.value, ast.Dict):
                return []
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.value.keys]
            if None in keys:
                return []
            found.append({str(key) for key in keys})
    return found
