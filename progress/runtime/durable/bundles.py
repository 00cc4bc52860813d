"""Bundles: what leaves goes to a place that keeps with it how far that was (*Delivery, consistency, and determinism*,
V.A.2).

A sink with `deliver(bundle)` and `last()` gets what leaves in bundles, one after the other: it stores the values of a
bundle and its `stamp` together, both or neither, and `last` gives the stamp that was stored last, None before the
first. So whatever is killed when, what has been delivered is known: a run that goes on passes over what comes again,
delivers what follows, and refuses to go on (PS748) where what has come again is not what was delivered. Where it has a
method `shut_out()`, that ends what a run before has left open there, at all sinks before one is asked for `last`.

A sink has a thread of its own, in which all its methods are called. While it delivers a bundle the next one grows: what
is quick is delivered at once, what is slow in larger bundles. What it raises stops the run at once (`Control.fail`).

A run that was cancelled, or whose time is up, waits no longer for what its sink is doing: what is `async def` is
cancelled, and a thread that goes on is left after `PATIENCE`. What it delivers may be stored or not, as after a kill,
and the next run asks. One of the same process asks when that thread has ended (`_LEFT`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from progress.errors import PointstampError, brief
from progress.runtime.control import Control
from progress.runtime.durable.outlets import Going
from progress.runtime.durable.replay import Differs
from progress.runtime.failure import cancellations, not_to_leak
from progress.runtime.source_failure import as_row
from progress.runtime.thread import Thread

if TYPE_CHECKING:
    import asyncio

    from progress.runtime.durable.codec import Codec

MOST = 10_000  # values of a bundle
WAITING = 100_000  # values that wait for a sink, before the run waits for it
PATIENCE = 0.5  # seconds for what a sink is doing when the run has to stop
OFTEN = 0.02  # seconds between looks at whether it has to
NO_MARK = ""
IN = "in the sink of "  # how a note begins that says where an exception comes from


class Bundle(NamedTuple):
    """What leaves by one edge, in the order in which it does.

    edge : the output edge, or side output
    values : pairs (time, value); in a run that is kept a dead letter is the row of texts that it is in a table
    complete : from now on only values at or after one of these times leave; None where that is as it was. It may come
        without values, and again
    stamp : a short text to be stored with the values, and given back by `last`

    Examples
    --------
    >>> from pointstamp import Bundle
    >>> Bundle("totals", [(0, 7)], (1,), "1:6bf1").values
    [(0, 7)]
    """

    edge: str
    values: Sequence[tuple[Any, Any]]
    complete: tuple[Any, ...] | None
    stamp: str


class BundleSink(Protocol):
    """A place that keeps bundles. Its methods may be `async def`; `close()` is called at the end where there is one.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> class Kept:
    ...     values, stamp = [], None
    ...
    ...     def deliver(self, bundle):
    ...         self.values, self.stamp = [*self.values, *bundle.values], bundle.stamp
    ...
    ...     def last(self):
    ...         return self.stamp
    >>> kept = Kept()
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), sinks={"a->out": kept})
    >>> found = flow.run(sources={"in->a": [(0, "x")]})
    >>> kept.values
    [(0, 'x')]
    """

    def deliver(self, bundle: Bundle) -> Any:
        """Store the values and the stamp, both or neither; what it raises stops the run."""
        ...

    def last(self) -> Any:
        """The stamp that was stored last; None before the first. Called once, before anything is delivered."""
        ...


class _Entry(NamedTuple):
    """Values of one time, as they left at once: how many such there were up to it, and what stands for all of them.

    `content` is both as bytes, in a run that is kept, else the time and the values.
    """

    number: int
    mark: str
    content: Any
    size: int


OF_ANOTHER = (
    "the state is new, and the sink has what another run has delivered: the DIR of that run; or another place for "
    "the sink"
)


class _Moved(NamedTuple):
    """The frontier has moved to these times."""

    times: tuple[Any, ...]


def _mark_of(before: str, content: bytes) -> str:
    """What stands for all that has left, with this behind what was before."""
    return blake2b(before.encode() + content, digest_size=8).hexdigest()


def _size_of(entry: _Entry | _Moved) -> int:
    """How many values are in it."""
    return entry.size if type(entry) is _Entry else 0


_LEFT: dict[object, Thread] = {}  # by place, what sinks of runs before still do there


class Bundles:
    """The sink of one edge, in one run: hands on what leaves to a `BundleSink`."""

    def __init__(self, name: str, sink: BundleSink) -> None:
        self.holds = self.is_loose = False
        self.why: Callable[[], str] = lambda: "what leaves is something else than what has left"
        self.has_given_up = False
        self.codec: Codec | None = None  # of a run that is kept
        self.control = Control()  # of the run
        self.outlet = self
        self.takes_rows = bool(getattr(sink, "takes_rows", False))
        self.place = getattr(sink, "place", id(sink))  # that no other sink may have
        self._name = name
        self._what = f"what leaves at {brief(name)}"
        self._sink = sink
        self._number, self._mark = 0, NO_MARK  # of the last entry
        self._there, self._there_mark = 0, NO_MARK  # of the last one that the sink has stored
        self._is_of_another = False  # whether the run begins, and the sink has something
        self._entries: deque[_Entry | _Moved] = deque()  # that are not stored
        self._free = 0  # how many of these may be
        self._covered = 0  # how many of these a checkpoint has that is being taken
        self._size = 0  # values that wait
        self._lock = threading.Condition()
        self._thread: Thread | None = None
        self._stored = f"0:{NO_MARK}"  # the stamp of what was stored last
        self._asked: deque[Callable[[], None]] = deque()  # what the thread is to do first
        self._loop: asyncio.Runner | None = None  # for methods that are `async def`
        self._task: asyncio.Task[Any] | None = None  # what is awaited there
        self._is_cut = False  # whether nobody waits for that
        self._was_cut = False  # whether something was cancelled
        self._is_busy = False
        self._is_stopped = False  # nothing more is delivered
        self._is_over = False  # the thread ends when it has done what it was asked
        self._failure: BaseException | None = None

    # --- the run -----------------------------------------------------------------------------------------------------

    def is_new(self) -> None:
        """A run that is not kept begins: what was stored before is nobody's."""
        if self.codec is None:
            self._ask(self._sink.last)

    def write_all(self, time: Any, values: Sequence[Any]) -> None:
        """Values of one time leave."""
        content: Any = (time, list(values))
        self._number += 1
        if self.codec is not None:
            found = (time, [as_row(value) for value in values])  # a failure is not plain data
            content = self.codec.write(self._what, lambda: found)
            self._mark = _mark_of(self._mark, content)
            if self._number <= self._there:
                if self._number == self._there and self._mark != self._there_mark:
                    raise self._differs(f"{brief(time)}, {brief(values[0])} comes where something else has left")
                return
        self._add(_Entry(self._number, self._mark, content, len(values)))

    def complete(self, times: tuple[Any, ...]) -> None:
        """Only values at or after these times still leave."""
        if not self.is_behind:
            self._add(_Moved(times))

    def _add(self, entry: _Entry | _Moved) -> None:
        with self._lock:
            self._check()
            while self._size > WAITING and self._free:
                try:
                    self._wait()
                except BaseException:
                    self.has_given_up = True  # what is to be added is lost
                    raise
                self._check()
            self._entries.append(entry)
            self._size += _size_of(entry)
            if not self.holds:
                self._free += 1
                self._work()

    @property
    def is_behind(self) -> bool:
        """Whether something was stored before a kill that has not come again."""
        return self._number < self._there

    def finish(self) -> None:
        """Nothing leaves any more; raises what has stopped the sink, since the run has not come to its end then."""
        if self.is_behind:
            raise self._differs(f"the run ends after {self._number} of {self._there} deliveries")
        self.settle()

    def settle(self) -> None:
        """Wait until all is stored that may be."""
        with self._lock:
            while self._may_deliver or self._is_busy:
                self._wait()
            self._check()

    def stop(self) -> None:
        """The run has failed, or has to stop: deliver nothing more."""
        with self._lock:
            self._is_stopped = True
            self._lock.notify_all()

    def close(self) -> None:
        """The run is over; raises what has stopped the sink, or why it is waited for no longer."""
        with self._lock:
            has_failed = self._is_stopped
            close = getattr(self._sink, "close", None)
            if close is not None:
                self._asked.append(lambda: self._waited(close(), is_last=True))
                self._work()
            self._is_stopped = self._is_over = True
            self._lock.notify_all()
        if self._thread is not None and not self._ends(self._thread) and not has_failed:
            self.control.check()
        self._check()

    def _ends(self, thread: Thread) -> bool:
        """Wait until the thread has done all, not for long where the run has to stop; whether it has."""
        _LEFT[self.place] = thread  # also where who waits is interrupted
        while thread.is_alive() and not self.control.is_hurried:
            thread.join(OFTEN if self.control.may_stop else None)
        if thread.is_alive():
            self._cut_short(thread)
        if thread.is_alive():
            return False
        _LEFT.pop(self.place, None)
        return not self._was_cut

    def _cut_short(self, thread: Thread) -> None:
        """Cut short what is awaited, and wait a little for the thread to end."""
        with self._lock:
            self._is_cut = True
            if self._task is not None and self._loop is not None:
                self._loop.get_loop().call_soon_threadsafe(self._task.cancel)
        thread.join(PATIENCE)

    def _wait(self) -> None:
        """Wait until the thread has done something; raises why the run has to stop. The lock is held."""
        self._lock.wait(OFTEN if self.control.may_stop else None)
        self.control.check()

    def _check(self) -> None:
        if self._failure is not None:
            self.has_given_up = True
            raise self._failure

    def _differs(self, what: str) -> Differs:
        self.has_given_up = True
        says = f"{self.why()}: at {brief(self._name)}, {what}"
        return Differs(says, OF_ANOTHER) if self._is_of_another else Differs(says)

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def check(self, known: Any) -> None:
        """Nothing is known of what the sink has before it is asked. Whoever has delivered there before is shut out, at
        all sinks before one is asked: what it has left open at one place may hide what was stored at another.
        """
        shut_out = getattr(self._sink, "shut_out", None)
        if shut_out is not None:
            self._ask(shut_out)

    def begin(self, known: Any, going: Going) -> None:
        """Begin to deliver, behind what the sink has stored; what a checkpoint has and it has not comes first."""
        there = self._stamp(self._ask(self._sink.last))
        self._stored = f"{there[0]}:{there[1]}"
        held: list[_Entry | _Moved] = []
        if known is not None:
            assert self.codec is not None
            self._number, self._mark = known["number"], known["mark"]
            waited = self.codec.read(self._what, bytes.fromhex(known["held"])) if known["held"] else ()
            held = [_Entry(*each) if len(each) > 1 else _Moved(*each) for each in waited]
        first = self._number - sum(type(each) is _Entry for each in held)  # the last one stored at the checkpoint
        if there[0] < first:
            what = f"the sink of {brief(self._name)} has stored {there[0]} deliveries, and had {first}"
            raise PointstampError("PS736", what, "what it had stored; or another DIR, and another place for it")
        if self.holds and going is Going.ANEW and there[0] > 0:
            what = f"the sink of {brief(self._name)} has what another run has delivered"
            raise PointstampError("PS736", what, "the DIR of that run; or another place for the sink")
        self._is_of_another = going is Going.ANEW and there[0] > 0
        if going in (Going.ONWARD, Going.BACK_ONWARD):
            self._number, self._mark = there
            held = [self._behind(each) if type(each) is _Entry else each for each in held]
        else:
            self._there, self._there_mark = there
            held = [*self._not_stored(held, first, there)]
        with self._lock:
            self._entries.extend(held)
            self._free = len(held)
            self._size = sum(map(_size_of, held))
            self._work()

    def _behind(self, entry: _Entry) -> _Entry:
        """What waited, as what leaves next: behind all that the sink has, whatever that was."""
        self._number += 1
        self._mark = _mark_of(self._mark, entry.content)
        return entry._replace(number=self._number, mark=self._mark)

    def _not_stored(
        self, held: list[_Entry | _Moved], number: int, there: tuple[int, str]
    ) -> Iterator[_Entry | _Moved]:
        """What is not stored of what waited behind entry `number`; where a frontier moved last, nobody knows."""
        for each in held:
            if type(each) is _Entry:
                number = each.number
                if number == there[0] and each.mark != there[1]:
                    raise self._differs("something else was stored than the checkpoint has")
            if number > there[0] or (number == there[0] and type(each) is _Moved):
                yield each

    def border(self) -> Callable[[], Any]:
        """A checkpoint is taken here: it has what is not stored yet."""
        codec = self.codec
        assert codec is not None
        with self._lock:
            waiting = [*self._entries]
            self._covered = len(self._entries)
        number, mark = self._number, self._mark

        def settled() -> Any:
            held = codec.write(self._what, lambda: [tuple(entry) for entry in waiting]) if waiting else b""
            return {"number": number, "mark": mark, "held": held.hex()}

        return settled

    def covered(self) -> None:
        """The checkpoint is on the disk: what waited for it is delivered."""
        with self._lock:
            if self.holds:
                self._free = self._covered
                self._work()

    def _stamp(self, stamp: Any) -> tuple[int, str]:
        if stamp is None:
            return 0, NO_MARK
        number, colon, mark = stamp.partition(":") if isinstance(stamp, str) else ("", "", "")
        if not colon or not number.isascii() or not number.isdecimal():
            what = f"last() of the sink of {brief(self._name)} gave {brief(stamp)}"
            raise PointstampError("PS707", what, "the stamp of the last bundle that was stored, or None")
        return int(number), mark

    # --- the thread --------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """There is something to do. The lock is held."""
        if self._thread is None:
            self._thread = Thread(target=self._worked, name=f"sink {self._name}", daemon=True)
            self._thread.start()
        self._lock.notify_all()

    def _ask(self, what: Callable[[], Any]) -> Any:
        """What a method of the sink answers."""
        found: list[Any] = []
        with self._lock:
            self._asked.append(lambda: found.append(self._waited(what())))
            self._work()
            while self._asked or self._is_busy:
                self._wait()
            self._check()
        return found[0]

    def _worked(self) -> None:
        before = _LEFT.get(self.place)
        if before is not None and before is not self._thread:
            before.join()
        with self._lock:
            while True:
                if self._asked:
                    self._do(self._asked.popleft())
                elif self._may_deliver:
                    entries = self._next()
                    self._do(partial(self._deliver, entries), len(entries))
                elif self._is_over:
                    break
                else:
                    self._lock.wait()
        if self._loop is not None:
            self._loop.close()

    @property
    def _may_deliver(self) -> bool:
        """Whether there is something to deliver. The lock is held."""
        return self._free > 0 and not self._is_stopped and self._failure is None

    def _next(self) -> list[_Entry | _Moved]:
        """What is to be in the next bundle. The lock is held."""
        found: list[_Entry | _Moved] = []
        size = 0
        for entry in islice(self._entries, self._free):
            if size >= MOST:
                break
            found.append(entry)
            size += _size_of(entry)
        return found

    def _deliver(self, entries: Sequence[_Entry | _Moved]) -> None:
        """Deliver a bundle of these."""
        values: list[tuple[Any, Any]] = []
        complete: tuple[Any, ...] | None = None
        stamp = self._stored
        for entry in entries:
            if isinstance(entry, _Entry):
                time, several = entry.content if self.codec is None else self.codec.read(self._what, entry.content)
                values += [(time, value) for value in several]
                stamp = f"{entry.number}:{entry.mark}"
            else:
                complete = entry.times
        self._waited(self._sink.deliver(Bundle(self._name, values, complete, stamp)))
        self._stored = stamp

    def _waited(self, result: Any, *, is_last: bool = False) -> Any:
        """What a method of the sink answers, waited for where that is to be, always in one event loop.

        What nobody waits for any more is cancelled, but for what `is_last`.
        """
        if not hasattr(result, "__await__"):
            return result
        import asyncio

        async def awaited() -> Any:
            with self._lock:
                self._task = asyncio.current_task()
                if self._is_cut and not is_last and self._task is not None:
                    self._task.cancel()
            try:
                return await result
            finally:
                with self._lock:
                    self._task = None

        if self._loop is None:
            self._loop = asyncio.Runner()
        return self._loop.run(awaited())

    def _do(self, what: Callable[[], Any], count: int = 0) -> None:
        """Do something without the lock; then so many entries are stored."""
        self._is_busy = True
        self._lock.release()
        failure: BaseException | None = None
        is_done = False
        try:
            what()
            is_done = True
        except BaseException as error:
            self._was_cut = self._is_cut and isinstance(error, cancellations())
            if not self._was_cut:
                failure = not_to_leak(f"the sink of {brief(self._name)}", error)
                failure.add_note(f"{IN}{brief(self._name)}")
        self._lock.acquire()
        self._is_busy = False
        if failure is not None:
            self._failure = self._failure or failure
            self.control.fail(self._failure)
        elif is_done:
            for _ in range(count):
                entry = self._entries.popleft()
                self._size -= _size_of(entry)
            self._free -= count
            self._covered = max(0, self._covered - count)
        self._lock.notify_all()
