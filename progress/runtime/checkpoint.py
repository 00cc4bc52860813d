"""What is kept of a run, so that another process can go on where it was.

A checkpoint is taken between two steps; calls that are being made meanwhile have not begun as far as it is concerned
(`progress.runtime.underway`). Then all there is to know is what nodes know (`Node.snapshot`), what waits for them,
what the tracker holds, how far each source was read, and the random state of `sim`; and, of those that know, where
sources are and what sinks have not written (`position` and `go_to`, `snapshot` and `restore`). Where the graph and its
nodes are the same, going on from it is going on as if nothing had happened.

Each part is written by itself (`progress.runtime.durable.codec`), so that what cannot be kept has a name; an object
that two parts share is two objects afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from time import time as time_of_day
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.core import Core
from progress.runtime.durable.codec import Codec, NotRestored
from progress.runtime.sink import Sinks
from progress.runtime.source import Feed
from progress.runtime.whole import check_whole
from progress.tracker import Tracker

State = dict[str, bytes]  # parts by name


def capture(
    core: Core,
    feeds: Sequence[Feed],
    codec: Codec | None = None,
    chance: Random | None = None,
    sinks: Sinks | None = None,
) -> State:
    """The state of a run between two steps. Cost: that of writing it.

    Where no call is being made, sets that nodes keep are put together anew, as those of a run that goes on from here
    will be: both iterate over them in one order.
    """
    codec = codec or Codec(core.network)
    if codec.beside is not None:
        codec.beside.begin()
    rebuilds = core.rests
    inboxes = core.inboxes
    names = [inbox.exits.name for inbox in inboxes]
    state: State = {}
    for inbox, name in zip(inboxes, names, strict=True):
        state[f"node {name}"] = codec.write(f"the state of {brief(name)}", inbox.snapshot, rebuilds=rebuilds)
    for inbox, name in zip(inboxes, names, strict=True):
        found = list(inbox.waiting())
        if found:
            waiting: Callable[[], list[Any]] = partial(list, found)
            state[f"queue {name}"] = codec.write(f"a message that waits for {brief(name)}", waiting)
    for name, snapshot in {} if sinks is None else sinks.snapshots().items():
        state[f"sink {name}"] = codec.write(f"what waits for the sink of {brief(name)}", snapshot)
    ready = {name: found for inbox, name in zip(inboxes, names, strict=True) if (found := inbox.all_ready())}
    listed = [*core.runnable, *core.aside, *core.held]
    again = [number for number, inbox in enumerate(inboxes) if inbox.calls and number not in listed]
    progress = {
        "tracker": core.tracker.snapshot(),
        "ready": ready,
        "runnable": [names[node] for node in (*again, *core.runnable, *core.aside)],
        "held": [names[node] for node in core.held],
        "steps": core.steps,
        "feeds": {feed.edge: feed.position for feed in feeds},
        "marks": {feed.edge: feed.marks_behind for feed in feeds},
        "ahead": {feed.edge: feed.ahead.times for feed in feeds if feed.ahead is not None},
        "places": {feed.edge: getattr(feed.items, "position", None) for feed in feeds if _is_placed(feed)},
        "random": None if chance is None else chance.getstate(),
        "told": {} if sinks is None else sinks.told,
    }
    state["progress"] = codec.write("a time", lambda: progress)
    codec.finish()
    return state


def resume(
    core: Core,
    feeds: Sequence[Feed],
    state: Mapping[str, bytes],
    codec: Codec | None = None,
    chance: Random | None = None,
    sinks: Sinks | None = None,
    restored: Callable[[], None] = lambda: None,
) -> None:
    """Put a run that has not begun into a state that was captured; `NotRestored` where it is of another pipeline.

    `restored` is called when that is not so: nothing outside of the run is touched before it.
    """
    codec = codec or Codec(core.network)
    progress = codec.read("the state", state, "progress")
    try:
        _resume(core, feeds, state, progress, codec)
        if chance is not None:
            chance.setstate(progress["random"])
        waiting = {
            name: codec.read(f"what waits for the sink of {brief(name)}", state, f"sink {name}")
            for name in (() if sinks is None else sinks.snapshots())
            if f"sink {name}" in state
        }
        told = {name: tuple(times) for name, times in progress.get("told", {}).items()}  # not in states before these
        restored()
        if sinks is not None:
            sinks.told = told
        for name, values in waiting.items():
            assert sinks is not None
            sinks.restore(name, values)
        if codec.beside is not None:
            codec.beside.settle()
    except PointstampError:
        raise
    except Exception as error:  # whatever altered it may have put anything there
        raise NotRestored("the state", error) from None


def _is_placed(feed: Feed) -> bool:
    """Whether the source knows where it is."""
    return hasattr(feed.items, "go_to")


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
        known = codec.read(f"the state of {brief(name)}", state, f"node {name}")
        try:
            inbox.behaviour.restore(known)
        except Exception as error:
            raise NotRestored(f"the state of {brief(name)}", error) from error
        if f"queue {name}" in state:
            waiting = codec.read(f"what waits for {brief(name)}", state, f"queue {name}")
            for edge, time, values in waiting:
                inbox.put(edge, time, values)
        for time in progress["ready"].get(name, ()):
            inbox.put_ready(time)
        inbox.size = sum(len(values) for _, _, values in inbox.waiting())
        core.queued += inbox.size
    for name in (*progress["runnable"], *progress["held"]):  # those that were held are held again when it is their turn
        core.runnable.append(numbers[name])
        core.inboxes[numbers[name]].is_listed = True
    core.steps = progress["steps"]
    try:
        tracker = Tracker.restore(core.network, progress["tracker"], clock=time_of_day)
    except PointstampError as error:
        raise NotRestored("what was outstanding", error) from None
    check_whole(core, tracker, feeds)
    core.go_on(tracker)
