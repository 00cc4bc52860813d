"""What is kept of a run, so that another process can go on where it was.

A checkpoint is taken between two steps; calls that are being made meanwhile have not begun as far as it is concerned
(`progress.runtime.underway`). Then all there is to know is what nodes know (`Node.snapshot`), what waits for them,
what the tracker holds, how far each source was read, and the random state of `sim`; and, of those that know, where
sources are and what sinks have not written (`position` and `go_to`, `snapshot` and `restore`). Where the graph and its
nodes are the same, going on from it is going on as if nothing had happened.

Each part is pickled by itself, so that what cannot be kept has a name; an object that two parts share is two objects
afterwards. Times that belong to one graph, as stacks of calls do, are written as plain data and read again there. What
is too large for a pickle, or cannot be in one, is kept beside it (`Beside`).
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from time import time as time_of_day
from typing import Any, Protocol

from progress.errors import PointstampError, brief
from progress.plain import Written
from progress.runtime.core import Core
from progress.runtime.sink import Sinks
from progress.runtime.source import Feed
from progress.runtime.whole import check_whole
from progress.topology import Network
from progress.tracker import Tracker

State = dict[str, bytes]  # parts by name


class Beside(Protocol):
    """Keeps parts of a state outside of the pickles, which hold a name for each."""

    def takes(self, part: Any) -> bool:
        """Whether it is one of these."""
        ...

    def file(self, name: str) -> Path:
        """Where a source may write down what it has to know again: a file of its own, which nobody else has."""
        ...

    def add_source(self, edge: str, make: Callable[[Any], Any]) -> None:
        """The source of an edge makes parts anew of what `is_made_by` says of them."""
        ...

    def is_made_by(self, edge: str, part: Any, of: Any) -> None:
        """A part can be made anew by the source of an edge, of something that can be pickled: that is all to keep."""
        ...

    def begin(self) -> None:
        """A checkpoint is taken now."""
        ...

    def write(self, part: Any) -> Any:
        """Keep it; a name that can be pickled."""
        ...

    def read(self, name: Any) -> Any:
        """What was kept under a name."""
        ...

    def as_kept(self, part: Any) -> Any:
        """A part as the last checkpoint has it."""
        ...

    def settle(self) -> None:
        """The checkpoint is kept, or was read: what is not named in it is of no use any more."""
        ...


class NotKept(PointstampError):
    """Something that a run consists of cannot be pickled."""

    def __init__(self, what: str, error: BaseException) -> None:
        says = str(error) or type(error).__name__
        super().__init__(
            "PS735", f"{what} cannot be kept: {says}", "what pickle takes; snapshot and restore of a node choose it"
        )


class NotRestored(PointstampError):
    """A checkpoint is none of this pipeline."""

    def __init__(self, what: str, error: BaseException) -> None:
        says = error.message if isinstance(error, PointstampError) else f"{type(error).__name__}: {error}"
        super().__init__("PS737", f"{what} cannot be restored: {says}", "the pipeline that the state was written by")


def capture(
    core: Core,
    feeds: Sequence[Feed],
    chance: Random | None = None,
    sinks: Sinks | None = None,
    beside: Beside | None = None,
) -> State:
    """The state of a run between two steps. Cost: that of pickling it."""
    if beside is not None:
        beside.begin()
    inboxes = core.inboxes
    names = [inbox.exits.name for inbox in inboxes]
    state: State = {}
    for inbox, name in zip(inboxes, names, strict=True):
        state[f"node {name}"] = _pickled(f"the state of {brief(name)}", inbox.snapshot, beside)
    for inbox, name in zip(inboxes, names, strict=True):
        found = list(inbox.waiting())
        if found:
            waiting: Callable[[], list[Any]] = partial(list, found)
            state[f"queue {name}"] = _pickled(f"a message that waits for {brief(name)}", waiting, beside)
    for name, snapshot in {} if sinks is None else sinks.snapshots().items():
        state[f"sink {name}"] = _pickled(f"what waits for the sink of {brief(name)}", snapshot, beside)
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
        "ahead": {feed.edge: feed.ahead.times for feed in feeds if feed.ahead is not None},
        "places": {feed.edge: getattr(feed.items, "position", None) for feed in feeds if _is_placed(feed)},
        "random": None if chance is None else chance.getstate(),
    }
    state["progress"] = _pickled("a time", lambda: progress)
    return state


def resume(
    core: Core,
    feeds: Sequence[Feed],
    state: Mapping[str, bytes],
    chance: Random | None = None,
    sinks: Sinks | None = None,
    beside: Beside | None = None,
) -> None:
    """Put a run that has not begun into a state that was captured; `NotRestored` where it is of another pipeline."""
    times = _Times(core.network)
    progress = _read("the state", state, "progress", times)
    try:
        _resume(core, feeds, state, progress, times, beside)
        if sinks is not None:
            for name in sinks.snapshots():
                if f"sink {name}" in state:
                    waiting = _read(f"what waits for the sink of {brief(name)}", state, f"sink {name}", times, beside)
                    sinks.restore(name, waiting)
        if beside is not None:
            beside.settle()
        if chance is not None:
            chance.setstate(progress["random"])
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
    times: _Times,
    beside: Beside | None,
) -> None:
    numbers = core.network.numbers
    for feed in feeds:
        feed.resume(*progress["feeds"][feed.edge])
        if feed.edge in progress["places"]:
            items: Any = feed.items
            items.go_to(progress["places"][feed.edge])
        if feed.ahead is not None:
            feed.ahead.resume(progress["ahead"].get(feed.edge, ()))
    for inbox in core.inboxes:
        name = inbox.exits.name
        known = _read(f"the state of {brief(name)}", state, f"node {name}", times, beside)
        try:
            inbox.behaviour.restore(known)
        except Exception as error:
            raise NotRestored(f"the state of {brief(name)}", error) from error
        if f"queue {name}" in state:
            waiting = _read(f"what waits for {brief(name)}", state, f"queue {name}", times, beside)
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


# --- pickles ----------------------------------------------------------------------------------------------------------


def _pickled(what: str, part: Callable[[], Any], beside: Beside | None = None) -> bytes:
    stream = io.BytesIO()
    try:
        _Writer(stream, beside).dump(part())
    except Exception as error:
        raise NotKept(what, error) from error
    return stream.getvalue()


def _read(what: str, state: Mapping[str, bytes], part: str, times: _Times, beside: Beside | None = None) -> Any:
    try:
        return _Reader(io.BytesIO(state[part]), times, beside).load()
    except Exception as error:
        raise NotRestored(what, error) from error


def _time(written: Any) -> Any:
    """Stands in a pickle for the time that is written so; `_Reader` knows whose it is."""
    raise NotImplementedError


def _beside(name: Any) -> Any:
    """Stands in a pickle for what is kept beside it under this name."""
    raise NotImplementedError


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, beside: Beside | None) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._beside = beside

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Written):
            return _time, (obj.written(),)
        if self._beside is not None and self._beside.takes(obj):
            return _beside, (self._beside.write(obj),)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, times: _Times, beside: Beside | None) -> None:
        super().__init__(stream)
        self._times = times
        self._beside = beside

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (__name__, _time.__name__):
            return self._times
        if (module, name) == (__name__, _beside.__name__) and self._beside is not None:
            return self._beside.read
        return super().find_class(module, name)


class _Times:
    """Finds the times of a graph that stand in pickles as they are written."""

    def __init__(self, network: Network) -> None:
        domains = (getattr(domain, "stacks", domain) for domain in (*network.domains, *network.edge_domains))
        self._readers = [domain.read for domain in domains if hasattr(domain, "read")]
        self._known: dict[tuple[Any, ...], Any] = {}

    def __call__(self, written: Sequence[Any]) -> Any:
        key = tuple(written)
        if key not in self._known:
            found = (time for read in self._readers if (time := read(key)) is not None)
            self._known[key] = next(found)
        return self._known[key]
