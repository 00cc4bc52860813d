"""LangGraph's node functions on this project's engines: `to_dataflow` (docs/adapters.md).

A message is what has happened before it: the updates of the nodes that led there, each by its step and place. A node
runs on the state that these make, by the graph's own channels and reducers. Law: an update is applied after all those
that led to it, since its step is greater than theirs; those of one step in the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from langgraph._internal._typing import MISSING
from langgraph.errors import EmptyChannelError
from langgraph.graph import StateGraph
from langgraph.types import Command, Send

from graphs.adapters.langgraph import describe
from graphs.adapters.rounds import Rounds
from graphs.adapters.running import BEGIN, PartNode, dataflow_of, rounds_of
from progress.errors import PointstampError, brief
from progress.runtime import Batch, Dataflow, Out
from progress.runtime.failure import NotAllowed

# (step, how early a run may come to the node, the node, its time, number) -> what it wrote
History = dict[tuple[int, int, str, Any, int], Any]


class Told(NamedTuple):
    """A message: what has happened before it; `sent`: it is a Send, whose `arg` the node is to run on."""

    history: History
    sent: bool = False
    arg: Any = None


def to_dataflow(given: Any) -> Dataflow:
    """The dataflow of a `StateGraph`, compiled or not, to be run by the engine `asyncio`.

    In at the edge `input`: the first state of each run, at its time `(run,)`; out at `result`: the last state of each
    run. PS905 where a router does not declare its ends: without them nobody knows what to wait for. PS906 where a node
    gives something that is not an update of the state.
    """
    builder = getattr(given, "builder", given)
    if not isinstance(builder, StateGraph):
        raise PointstampError("PS903", f"{brief(given)} is not a StateGraph", "a StateGraph, compiled or not")
    agents, _ = describe(given, builder)
    for source, by_name in builder.branches.items():
        for name, branch in by_name.items():
            if branch.ends is None:
                message = f"the router '{name}' of '{source}' declares no ends: nobody knows what is to wait for it"
                raise PointstampError("PS905", message, "give add_conditional_edges a list of them")
    rounds = rounds_of(agents)
    return dataflow_of(rounds, lambda name: _Runs(rounds, name, builder), lambda: _Last(builder))


def state_of(builder: Any, history: History) -> dict[str, Any]:
    """The state that updates make, in the order of their steps. Cost: that of applying each once."""
    channels = {name: channel.from_checkpoint(MISSING) for name, channel in builder.channels.items()}
    for key in sorted(history):
        for name, value in _entries(history[key]):
            if name in channels:
                channels[name].update([value])
    return {name: channel.get() for name, channel in channels.items() if _holds(channel)}


def _holds(channel: Any) -> bool:
    try:
        channel.get()
    except EmptyChannelError:
        return False
    return True


def checked(shown: str, update: Any) -> Any:
    """An update of the state; PS906 where it is something else."""
    if update is None or isinstance(update, Mapping) or _are_pairs(update) or _has_fields(update):
        return update
    message = f"{shown} gives {brief(update)}, which is not an update of the state"
    raise NotAllowed("PS906", message, 'a dict of what it changes, as {"key": value}, or None')


def _has_fields(update: Any) -> bool:
    """Whether it is an object of a class that says which fields it has: a dataclass, or a model of pydantic."""
    return hasattr(update, "__dict__") and any(vars(kind).get("__annotations__") for kind in type(update).__mro__)


def _are_pairs(update: Any) -> bool:
    """Whether it is what a `Command` may have instead of a dict: a list of names with values."""
    return isinstance(update, (list, tuple)) and all(
        isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) for each in update
    )


def _entries(update: Any) -> Iterator[tuple[str, Any]]:
    if update is None:
        return
    if isinstance(update, Mapping):
        yield from update.items()
    elif isinstance(update, (list, tuple)):
        yield from update
    else:  # a dataclass, or a model of pydantic
        given = getattr(update, "model_fields_set", None)
        yield from ((name, value) for name, value in vars(update).items() if given is None or name in given)


class _Runs(PartNode):
    """A node of LangGraph, or a list join, which hands on what has come."""

    def __init__(self, rounds: Rounds, name: str, builder: Any) -> None:
        super().__init__(rounds, name)
        self.builder = builder
        self.runnable = builder.nodes[name].runnable if name in builder.nodes else None
        self.plain = [
            target
            for exit in rounds.agents.parts[name].exits
            if exit.takes == "all" and not exit.by
            for target in exit.targets
        ]

    async def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        """Run the function on the state, or on each thing that was sent; go where it says."""
        told = [value for edge in sorted(messages) for value in messages[edge]]
        if self.name == BEGIN:
            first = [checked("a run", value) for value in told]
            told = [Told({(0, -1, BEGIN, time, number): value}) for number, value in enumerate(first)]
        history: History = {key: update for each in told for key, update in each.history.items()}
        targets = list(self.plain)
        if self.runnable is None:
            self.tell(out, history if self.name == BEGIN else {})
        else:
            plainly = any(not each.sent for each in told)
            given = [state_of(self.builder, history)] * plainly + [each.arg for each in told if each.sent]
            results = [await self.runnable.ainvoke(each, {}) for each in given]
            new: History = {}
            step = 1 + max((key[0] for key in history), default=0)
            for number, update in enumerate(_updates(results)):
                sends: list[Send] = []
                if isinstance(update, Command):
                    for goal in update.goto if isinstance(update.goto, (list, tuple)) else [update.goto]:
                        (sends if isinstance(goal, Send) else targets).append(goal)
                    update = update.update
                new[step, self.rank, self.name, time, number] = checked(f"'{self.shown}'", update)
                self.dispatch(out, sends, {**history, **new})
            history = {**history, **new}
            self.tell(out, new)
        for branch in self.builder.branches.get(self.name, {}).values():
            decided = await branch.path.ainvoke(state_of(self.builder, history), {})
            goals = decided if isinstance(decided, (list, tuple)) else [decided]
            self.dispatch(out, [goal for goal in goals if isinstance(goal, Send)], history)
            targets += [branch.ends.get(goal, goal) for goal in goals if not isinstance(goal, Send)]
        self.go(out, targets, Told(history))

    def dispatch(self, out: Out, sends: list[Send], history: History) -> None:
        """What is sent to a node runs it once for each."""
        for send in sends:
            self.go(out, [send.node], Told(history, True, send.arg))


def _updates(results: list[Any]) -> Iterator[Any]:
    """What a node wrote: a function may give several updates, or commands, in a list."""
    for result in results:
        yield from result if isinstance(result, list) else [result]


class _Last(Batch):
    """The state of a run when it is over."""

    def __init__(self, builder: Any) -> None:
        super().__init__()
        self.builder = builder

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        """All updates of the run, in the order of their steps."""
        history = {key: update for values in messages.values() for value in values for key, update in value.items()}
        out.send("result", time, state_of(self.builder, history))
