"""LangGraph: a `StateGraph`, compiled or not, as an agent graph. Nothing of it is run.

Read from `StateGraph.nodes`, `.edges` (plain: a node runs once in a step in which anything is written for it),
`.waiting_edges` (a list as the start of an edge: a join of all, which keeps what it has between rounds and, with a
checkpointer, between calls), `.branches` (routers and their declared ends). Unknown: routers without declared ends,
`Command` and `Send` that nothing declares; hints that they are there come from the names that a function's code uses.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from langgraph.graph import END, START, StateGraph

from graphs.adapters import Found
from graphs.adapters.agent_findings import Words, found_in, together
from graphs.adapters.agents import AgentGraph, Exit, Part, Takes
from graphs.adapters.code import function_of, names_in
from graphs.adapters.target import load
from progress.errors import PointstampError, brief

WORDS = Words(
    fires_more_than_once=(
        "let it wait for both: add_edge(['{one}', '{other}'], '{join}') instead of an edge from each, or "
        "add_node('{join}', ..., defer=True) where one of them may not come"
    ),
    may_never_fire=(
        "use an edge from each source, add_edge('{one}', '{join}') and add_edge('{other}', '{join}'), where only one "
        "of them comes; or let the router go to both"
    ),
    mixes_rounds=(
        "let every round of the loop reach all of {sources} or none of them, or run it with to_dataflow, whose joins "
        "keep rounds apart"
    ),
    mixes_runs="use an edge from each source instead of a list, or another thread_id for each call",
    ends_only_by_its_step_limit=(
        "give it a way out: add_conditional_edges('{loop}', ..., ['{join}', END]) instead of "
        "add_edge('{loop}', '{join}')"
    ),
    waits_for_an_unrelated_loop=(
        "let '{join}' wait for what it takes: add_edge([{quoted}], '{join}') instead of defer=True"
    ),
)


def read(target: str) -> Found:
    """The adapter (`graphs.adapters.Adapter`): what there is to say of a StateGraph, or of a compiled one."""
    given = load(target)
    builder = getattr(given, "builder", given)
    if not isinstance(builder, StateGraph):
        raise PointstampError("PS903", f"{target} is {brief(given)}, not a StateGraph", "a StateGraph, compiled or not")
    return together(_read(given, builder, ""))


def _read(given: Any, builder: Any, path: str) -> Iterator[tuple[str, Found]]:
    agents, unknown = describe(given, builder)
    yield path, found_in(agents, WORDS, unknown)
    for name, spec in builder.nodes.items():
        inner = getattr(spec.runnable, "builder", None)
        if isinstance(inner, StateGraph):
            yield from _read(spec.runnable, inner, f"{path}.{name}" if path else name)


def describe(given: Any, builder: Any) -> tuple[AgentGraph, list[str]]:
    """The agent graph of a StateGraph, and what is unknown of it."""
    from langgraph._internal._config import DEFAULT_RECURSION_LIMIT

    agents = AgentGraph(
        getattr(given, "name", None) or "graph",
        START,
        END,
        limit=f"its recursion limit ends it, after {DEFAULT_RECURSION_LIMIT} steps",
        keeps=bool(getattr(given, "checkpointer", None)),
        kept_by="thread",
        pace="steps",
    )
    unknown: list[str] = []
    exits: dict[str, list[Exit]] = {START: [], **{name: [] for name in builder.nodes}}
    for source in exits:
        plain = tuple(sorted(target for start, target in builder.edges if start == source))
        if plain:
            exits[source].append(Exit(plain))
    for source, by_name in builder.branches.items():
        for name, branch in by_name.items():
            exit = _routed(source, name, branch, unknown)
            if exit is not None:
                exits[source].append(exit)
    for name, spec in builder.nodes.items():
        exits[name] += _commanded(name, spec, unknown)
    for sources, target in sorted(builder.waiting_edges):
        join = agents.add_join(sources, target)
        for source in sources:
            exits[source].append(Exit((join,)))
    agents.is_open = any(branch.ends is None for by_name in builder.branches.values() for branch in by_name.values())
    agents.is_open |= any(_commands_undeclared(spec) for spec in builder.nodes.values())
    paused = {
        name
        for when in ("interrupt_before_nodes", "interrupt_after_nodes")
        for name in (builder.nodes if getattr(given, when, ()) == "*" else getattr(given, when, ()) or ())
    }
    agents.add(Part(START, "each", exits[START], shown="START", steps=0))
    for name, spec in builder.nodes.items():
        pauses = name in paused or "interrupt" in names_in(function_of(spec.runnable))
        agents.add(Part(name, "rest" if spec.defer else "step", exits[name], pauses=pauses))
    return agents, unknown


def _routed(source: str, name: str, branch: Any, unknown: list[str]) -> Exit | None:
    shown = "START" if source == START else source
    function = function_of(branch.path)
    sends = "Send" in names_in(function)
    if branch.ends is None:
        unknown.append(
            f"the router '{name}' of '{shown}' declares no ends and may go anywhere: give add_conditional_edges a list "
            "of them, or annotate it -> Literal[...]"
        )
        return None
    targets = tuple(dict.fromkeys(branch.ends.values()))
    if sends:
        runs = _or(tuple(each for each in targets if each != END))
        unknown.append(f"the router '{name}' of '{shown}' sends: how often {runs} runs is decided in a run")
    return Exit(targets, "some" if sends else _takes(function), f"the router '{name}'")


def _or(targets: tuple[str, ...]) -> str:
    return " or ".join(f"'{target}'" for target in targets)


def _takes(function: Any) -> Takes:
    """How many ends a router takes, by its annotation."""
    try:
        given = typing.get_type_hints(function).get("return")
    except Exception:  # an annotation that cannot be evaluated says nothing
        return "unsure"
    if given is str or get_origin(given) is Literal:
        return "one"
    if get_origin(given) in (list, tuple, set, frozenset) or given in (list, tuple, set):
        return "some"
    return "one" if given is not None and _all_literal(get_args(given)) else "unsure"


def _all_literal(given: tuple[Any, ...]) -> bool:
    return bool(given) and all(each is str or get_origin(each) is Literal for each in given)


def _commands_undeclared(spec: Any) -> bool:
    return not spec.ends and "Command" in names_in(function_of(spec.runnable))


def _commanded(name: str, spec: Any, unknown: list[str]) -> Iterator[Exit]:
    """What a node may jump to by itself, where it says so."""
    if spec.ends:
        targets = tuple(spec.ends) if not isinstance(spec.ends, Mapping) else tuple(spec.ends.keys())
        yield Exit(targets, "unsure", "the Command")
    elif _commands_undeclared(spec):
        unknown.append(
            f"'{name}' makes a Command and declares no destinations: where it goes is decided in a run; annotate it "
            "-> Command[Literal[...]]"
        )
