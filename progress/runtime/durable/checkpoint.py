"""What is kept of a run, so that another process can go on where it was.

A checkpoint is taken between two steps; calls that are being made meanwhile have not begun as far as it is concerned
(`underway.py`). Then all there is to know is what nodes know (`Node.snapshot`), what waits for them,
what the tracker holds, how far each source was read, and the random state of `sim`; and, of those that know, where
sources are and what sinks have not written (`position` and `go_to`, `snapshot` and `restore`). Where the graph and its
nodes are the same, going on from it is going on as if nothing had happened.

Each part is written by itself (`progress.runtime.durable.codec`), so that what cannot be kept has a name; an object
that two parts share is two objects afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from time import time as time_of_day
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.actions.core import Core
from progress.runtime.actions.inbox import Inbox
from progress.runtime.durable.codec import Codec, NotRestored
from progress.runtime.durable.encoding.writing import Sets
from progress.runtime.durable.mappings.states import States
from progress.runtime.durable.underway import SNAPSHOTS
from progress.runtime.durable.whole import check_whole
from progress.runtime.node import Node
from progress.runtime.sink import Sinks
from progress.runtime.source import Feed
from progress.tracker import Tracker

State = dict[str, bytes]  # parts by name


def capture(
    core: Core,
    feeds: Sequence[Feed],
    codec: Codec | None = None,
    chance: Random | None = None,
    sinks: Sinks | None = None,
    states: States | None = None,
    drawn: Sequence[int] = (),
) -> State:
    """The state of a run between two steps. Cost: that of writing what nodes have changed, and all that waits.

    Where what is done again has to be the same, nodes that keep sets are read back (`read_back`).
    """
    codec, sinks = codec or Codec(core.network), sinks or Sinks({})
    if codec.beside is not None:
        codec.beside.begin()
    inboxes = core.inboxes
    names = [inbox.exits.name for inbox in inboxes]
    state: State = {}
    for inbox, name in zip(inboxes, names, strict=True):
        inbox.was_read_back = False
        if inbox.kept is None:
            inbox.kept = _written(inbox, core, codec, states)
        state[f"node {name}"] = inbox.kept
        if inbox.calls or not core.are_kept_apart:
            inbox.kept = None
    for name in () if states is None else states.border():
        inboxes[core.network.numbers[name]].was_read_back = True
    for inbox, name in zip(inboxes, names, strict=True):
        found = list(inbox.waiting())
        if found:
            waiting: Callable[[], list[Any]] = partial(list, found)
            state[f"queue {name}"] = codec.write(f"a message that waits for {brief(name)}", waiting)
    for name, snapshot in sinks.snapshots().items():
        state[f"sink {name}"] = codec.write(f"what waits for the sink of {brief(name)}", snapshot)
    ready = {name: found for inbox, name in zip(inboxes, names, strict=True) if (found := inbox.all_ready())}
    listed = [*core.runnable, *core.aside, *core.held]
    again = [number for number, inbox in enumerate(inboxes) if inbox.calls and number not in listed]
    progress = {
        "tracker": core.tracker.snapshot(),
        "ready": ready,
        "behind": {name: len(inbox.behind) for inbox, name in zip(inboxes, names, strict=True) if inbox.behind},
        "asked": {inbox.exits.name: list(inbox.asked) for inbox in core.ordered},
        "runnable": [names[node] for node in (*again, *core.runnable, *core.aside)],
        "held": {
            name: [names[node] for node in inbox.line] for inbox, name in zip(inboxes, names, strict=True) if inbox.line
        },
        "steps": core.steps,
        "entered": [inbox.entered for inbox in inboxes],
        "feeds": {feed.edge: feed.position for feed in feeds},
        "marks": {feed.edge: feed.marks_behind for feed in feeds},
        "ahead": {feed.edge: feed.ahead.times for feed in feeds if feed.ahead is not None},
        "places": {feed.edge: feed.place for feed in feeds if hasattr(feed.items, "go_to")},
        "random": None if chance is None else chance.getstate(),
        "drawn": list(drawn),
        "told": sinks.told,
    }
    state["progress"] = codec.write("a time", lambda: progress)
    codec.finish()
    return state


def _written(inbox: Inbox, core: Core, codec: Codec, states: States | None) -> bytes:
    """What a node knows; each `State` in it is kept by its changes from now on."""
    is_waited_for = False

    def snapshot() -> Any:
        nonlocal is_waited_for
        found = inbox.snapshot()
        is_waited_for = states is not None and states.found_in(inbox.exits.name, found, lambda: not inbox.busy)
        return found

    sets: Sets = []
    content = codec.write(_state_of(inbox), snapshot, sets)
    if sets and core.is_repeated:
        is_waited_for = True
        _go_on_with(inbox, content, sets, core, codec)
    if inbox.underway is not None and is_waited_for:
        inbox.underway.is_waited_for = True
    return content


def read_back(inbox: Inbox, core: Core, codec: Codec, states: States | None) -> None:
    """Let a node go on with what would be read of it, so that it iterates over sets as whoever reads it does.

    That is done at a checkpoint, and where it was done in a run that is done again: then at the same call.
    """
    sets: Sets = []
    content = codec.write(_state_of(inbox), inbox.snapshot, sets)
    if sets:
        _go_on_with(inbox, content, sets, core, codec)
    if states is not None:
        states.read_back(inbox.exits.name)


def _go_on_with(inbox: Inbox, content: bytes, sets: Sets, core: Core, codec: Codec) -> None:
    """Others may have the sets as well, in messages: so they are replaced, or altered where no call is being made."""
    node = inbox.behaviour
    if type(node).snapshot in SNAPSHOTS and type(node).restore is Node.restore:
        if not inbox.busy:
            node.restore(codec.read(_state_of(inbox), content))
            inbox.was_read_back = True
    elif core.rests:
        codec.put_together(sets)
        inbox.was_read_back = True


def _state_of(inbox: Inbox) -> str:
    return f"the state of {brief(inbox.exits.name)}"


def resume(
    core: Core,
    feeds: Sequence[Feed],
    state: Mapping[str, bytes],
    codec: Codec | None = None,
    chance: Random | None = None,
    sinks: Sinks | None = None,
    restored: Callable[[], None] = lambda: None,
    drawn: list[int] | None = None,
) -> None:
    """Put a run that has not begun into a state that was captured; `NotRestored` where it is of another pipeline.

    `restored` is called when that is not so: nothing outside of the run is touched before it.
    """
    codec, sinks = codec or Codec(core.network), sinks or Sinks({})
    progress = codec.read("the state", state.get("progress", b""))
    with _reading():
        _resume(core, feeds, state, progress, codec)
        if chance is not None:
            chance.setstate(progress["random"])
        if drawn is not None:
            drawn[:] = _counts(progress["drawn"], len(drawn))
        waiting = {
            name: codec.read(f"what waits for the sink of {brief(name)}", state[f"sink {name}"])
            for name in sinks.snapshots()
            if f"sink {name}" in state
        }
        told = {name: tuple(times) for name, times in progress["told"].items()}
    restored()  # what a sink raises then says nothing of the state
    with _reading():
        sinks.told = told
        for name, values in waiting.items():
            sinks.restore(name, values)
        if codec.beside is not None:
            codec.beside.settle()


@contextmanager
def _reading() -> Iterator[None]:
    """Refuse a state of which something is not what was written: whatever altered it may have put anything there."""
    try:
        yield
    except PointstampError:
        raise
    except Exception as error:
        raise NotRestored("the state", error) from None


def _counts(found: Any, length: int) -> list[int]:
    """Whole numbers from 0 on, so many; whatever altered the state may have put anything there."""
    if type(found) is not list or len(found) != length or any(type(count) is not int or count < 0 for count in found):
        raise ValueError("it does not say how often something was done")
    return found


def _resume(
    core: Core,
    feeds: Sequence[Feed],
    state: Mapping[str, bytes],
    progress: dict[str, Any],
    codec: Codec,
) -> None:
    numbers = core.network.numbers
    for feed in feeds:
        feed.marks_behind = progress["marks"][feed.edge]
        if type(feed.marks_behind) is not int or feed.marks_behind < 0:
            raise ValueError(f"nobody knows how far the input {feed.edge!r} was read")
        feed.resume(*progress["feeds"][feed.edge])
        if feed.edge in progress["places"]:
            items: Any = feed.items
            items.go_to(progress["places"][feed.edge])
        if feed.ahead is not None:
            feed.ahead.resume(progress["ahead"].get(feed.edge, ()))
    for inbox in core.inboxes:
        name = inbox.exits.name
        known = codec.read(_state_of(inbox), state[f"node {name}"])
        try:
            inbox.behaviour.restore(known)
        except Exception as error:
            raise NotRestored(_state_of(inbox), error) from error
        if f"queue {name}" in state:
            waiting = codec.read(f"what waits for {brief(name)}", state[f"queue {name}"])
            (behind,) = _counts([progress["behind"].get(name, 0)], 1)
            first = len(waiting) - behind
            for edge, time, values in waiting[:first]:
                inbox.put(edge, time, values)
            inbox.put_behind(waiting[first:])
        for time in progress["ready"].get(name, ()):
            inbox.put_ready(time)
        inbox.size = sum(len(values) for _, _, values in inbox.queued())
        core.queued += inbox.size
    for inbox in core.ordered:
        for time in progress["asked"][inbox.exits.name]:
            inbox.asks(time)
    for name in progress["runnable"]:
        core.runnable.append(numbers[name])
        core.inboxes[numbers[name]].is_listed = True
    for full, line in dict(progress["held"]).items():
        for name in line:
            core.hold(numbers[name], numbers[full])
    (core.steps,) = _counts([progress["steps"]], 1)
    for inbox, entered in zip(core.inboxes, _counts(progress["entered"], len(core.inboxes)), strict=True):
        inbox.entered = entered
    try:
        tracker = Tracker.restore(core.network, progress["tracker"], clock=time_of_day)
    except PointstampError as error:
        raise NotRestored("what was outstanding", error) from None
    check_whole(core, tracker, feeds)
    core.go_on(tracker)
