"""Microsoft agent-framework: a built `Workflow` as an agent graph. Nothing of it is run.

Read from `Workflow.executors`, `.edge_groups` (the class says the kind: single, fan-out, switch-case, fan-in) and their
conditions. An executor's handler runs for each message. A fan-in waits for a message of every source and keeps what it
has, between rounds and between runs on the same object. Whether an executor may send nothing is read from the source of
its handlers. Unknown: what a selection function chooses, messages with a `target_id`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent_framework import Executor, Workflow, WorkflowExecutor

from graphs.adapters import Found
from graphs.adapters.agent_findings import Words, found_in, together
from graphs.adapters.agents import AgentGraph, Exit, Part
from graphs.adapters.code import constants_in, names_in
from graphs.adapters.sending import may_be_silent
from graphs.adapters.target import load
from progress.errors import PointstampError, brief

END = "(end)"
SENDS = ("send_message",)
WORDS = Words(
    fires_more_than_once=(
        "let it wait for both: add_fan_in_edges([{one}, {other}], {join}) instead of an edge from each, with a handler "
        "that takes a list"
    ),
    may_never_fire=(
        "let '{other}' send something in every case, or use an edge from each source, add_edge({one}, {join}) and "
        "add_edge({other}, {join}), where only one of them comes"
    ),
    mixes_rounds=(
        "let every source send exactly one message a round, '{other}' too, or run it with to_dataflow, whose joins "
        "keep rounds apart"
    ),
    mixes_runs="build a workflow for each run, or let every source send in every run",
    ends_only_by_its_step_limit="give it a way out: add_edge({loop}, {join}, condition=...)",
)


def read(target: str) -> Found:
    """The adapter (`graphs.adapters.Adapter`): what there is to say of a Workflow, and of those within it."""
    given = load(target)
    if not isinstance(given, Workflow):
        raise PointstampError(
            "PS903", f"{target} is {brief(given)}, not a Workflow", "what WorkflowBuilder(...).build() gives"
        )
    return together(_read(given, ""))


def _read(workflow: Workflow, path: str) -> Iterator[tuple[str, Found]]:
    agents, unknown = describe(workflow)
    yield path, found_in(agents, WORDS, unknown)
    for name, executor in workflow.executors.items():
        if isinstance(executor, WorkflowExecutor):
            yield from _read(executor.workflow, f"{path}.{name}" if path else name)


def describe(workflow: Workflow) -> tuple[AgentGraph, list[str]]:
    """The agent graph of a workflow, and what is unknown of it."""
    agents = AgentGraph(
        workflow.name or "workflow",
        workflow.start_executor_id,
        END,
        limit=f"its limit of {workflow.max_iterations} iterations ends it",
        keeps=True,
        kept_by="workflow object",
        pace="steps",
    )
    unknown: list[str] = []
    exits: dict[str, list[Exit]] = {name: [] for name in workflow.executors}
    for group in workflow.edge_groups:
        kind = type(group).__name__
        if kind == "FanInEdgeGroup":
            join = agents.add_join([edge.source_id for edge in group.edges], group.edges[0].target_id)
            for edge in group.edges:
                exits[edge.source_id].append(Exit((join,)))
        elif kind != "InternalEdgeGroup":
            _add(group, kind, exits, unknown)
    for name, executor in workflow.executors.items():
        handlers = list(_handlers(executor))
        for handler in handlers:
            if "target_id" in constants_in(handler):
                unknown.append(f"'{name}' names the target of a message itself: where it goes is decided in a run")
                break
        agents.add(
            Part(
                name,
                "each",
                exits[name],
                pauses=any("request_info" in names_in(handler) for handler in handlers),
                silent=any(may_be_silent(handler, SENDS, _context(handler)) for handler in handlers),
            )
        )
    return agents, unknown


def _add(group: Any, kind: str, exits: dict[str, list[Exit]], unknown: list[str]) -> None:
    source = group.edges[0].source_id
    targets = tuple(edge.target_id for edge in group.edges)
    if kind == "SwitchCaseEdgeGroup":
        exits[source].append(Exit(targets, "one", "the switch"))
    elif getattr(group, "_selection_func", None) is not None:
        name = getattr(group, "selection_func_name", None) or "selection_func"
        unknown.append(f"'{source}' goes to those that '{name}' selects, which is decided in a run")
        exits[source].append(Exit(targets, "some", f"the selection '{name}'"))
    else:
        for edge in group.edges:
            if edge.has_condition if isinstance(edge.has_condition, bool) else edge.has_condition():
                exits[source].append(Exit((edge.target_id,), "unsure", f"the condition '{edge.condition_name}'"))
            else:
                exits[source].append(Exit((edge.target_id,)))


def _handlers(executor: Executor) -> Iterator[Any]:
    """The user's own functions that handle messages; those of the framework's executors always send."""
    if type(executor).__module__.partition(".")[0] == "agent_framework":
        if function := getattr(executor, "_original_func", None):
            yield function
        return
    for name in dir(type(executor)):
        handler = getattr(type(executor), name, None)
        if hasattr(handler, "_handler_spec"):
            yield getattr(handler, "__wrapped__", handler)


def _context(handler: Any) -> int:
    """Which parameter is the context: the last one, after self and the message."""
    code = handler.__code__
    return 2 if code.co_varnames[:1] == ("self",) else 1
