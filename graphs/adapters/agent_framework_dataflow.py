"""agent-framework's executors on this project's engines: `to_dataflow` (docs/adapters.md).

An executor's handler runs for each message, by the framework's own `execute`, with a context of the framework in which
what it sends is caught; conditions, selections and switches are asked as the framework asks them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from agent_framework import Workflow
from agent_framework._workflows._runner_context import InProcRunnerContext, WorkflowMessage
from agent_framework._workflows._state import State

from graphs.adapters.agent_framework import describe
from graphs.adapters.rounds import Rounds
from graphs.adapters.running import BEGIN, PartNode, dataflow_of, rounds_of
from progress.errors import PointstampError, brief
from progress.runtime import Batch, Dataflow, Out


class Sent(NamedTuple):
    """A message of an executor: what it is, who sent it, and to whom, where it says so."""

    data: Any
    source: str
    target: str | None = None


def to_dataflow(given: Any) -> Dataflow:
    """The dataflow of a built `Workflow`, to be run by the engine `asyncio`.

    In at the edge `input`: the first message of each run, at its time `(run,)`; out at `result`: a list of what a run
    has put out, in the order of rounds. The executors are those of the workflow, and keep what they keep.
    """
    if not isinstance(given, Workflow):
        raise PointstampError("PS903", f"{brief(given)} is not a Workflow", "what WorkflowBuilder(...).build() gives")
    agents, _ = describe(given)
    rounds = rounds_of(agents)
    state = State()
    return dataflow_of(rounds, lambda name: _Runs(rounds, name, given, state), _Outputs)


class _Runs(PartNode):
    """An executor, or a fan-in, which hands on what has come of its round, as a list in the order of its sources."""

    def __init__(self, rounds: Rounds, name: str, workflow: Workflow, state: State) -> None:
        super().__init__(rounds, name)
        self.workflow = workflow
        self.state = state
        self.executor = workflow.executors.get(name)
        shown = {executor.id for executor in workflow.get_output_executors()}
        self.is_output = not shown or name in shown
        self.sources = [arc.source for arc in rounds.entering[name]]
        self.fan_in = next((exit.targets[0] for exit in rounds.agents.parts[name].exits), "")
        joins = [part.name for part in rounds.agents.parts.values() if part.waits == "all"]
        fan_ins = [group for group in workflow.edge_groups if type(group).__name__ == "FanInEdgeGroup"]
        self.joins = {id(group): join for group, join in zip(fan_ins, joins, strict=True)}

    async def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        """Run the handler for each message; send on what it sends."""
        told = [value for edge in sorted(messages) for value in messages[edge]]
        if self.name == BEGIN:
            for value in told:
                self.go(out, self.edges, Sent(value, "input"))
            return
        if self.executor is None:
            told.sort(key=lambda each: self.sources.index(each.source))
            self.go(out, [self.fan_in], Sent([each.data for each in told], self.name))
            return
        outputs: list[Any] = []
        for each in told:
            context = InProcRunnerContext()
            await self.executor.execute(each.data, [each.source], self.state, context)
            self.state.commit()
            for event in await context.drain_events():
                if event.type == "output" and self.is_output:
                    outputs.append(event.data)
            for sent in [one for several in (await context.drain_messages()).values() for one in several]:
                async for target in self.targets(sent):
                    self.go(out, [target], Sent(sent.data, self.name, sent.target_id))
        self.tell(out, (time, self.rank, self.name, outputs))

    async def targets(self, sent: WorkflowMessage) -> AsyncIterator[str]:
        """The parts to which a message goes, as the framework decides it."""
        for group in self.workflow.edge_groups:
            kind = type(group).__name__
            edges = [edge for edge in group.edges if edge.source_id == self.name]
            if not edges or kind == "InternalEdgeGroup":
                continue
            if kind == "FanInEdgeGroup":
                if sent.target_id in (None, edges[0].target_id):
                    yield self.joins[id(group)]
                continue
            chosen = [edge.target_id for edge in edges]
            if (select := getattr(group, "_selection_func", None)) is not None:
                chosen = list(select(sent.data, chosen))
            for edge in edges:
                if edge.target_id in chosen and sent.target_id in (None, edge.target_id):
                    target = self.workflow.executors[edge.target_id]
                    if target.can_handle(WorkflowMessage(sent.data, self.name)) and await edge.should_route(sent.data):
                        yield edge.target_id


class _Outputs(Batch):
    """What a run has put out, when it is over."""

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        """In the order of rounds."""
        told = sorted((value for values in messages.values() for value in values), key=lambda each: each[:3])
        out.send("result", time, [output for *_, outputs in told for output in outputs])
