"""Values of a key that follow each other closely: `session`."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import K, T, V
from graphs.streams.join import entered
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import Operator
from graphs.streams.refusals import check_number
from graphs.streams.step import Wiring
from graphs.streams.windows import latest_of
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream

By = dict[Any, list[Any]]  # lists of values, by key


class Sessions(Operator):
    """Keeps what came at each time, by key, until that time is complete, and then with the session that it is part of.

    It is told of times at which a session may end, here called looks. Law: the next look is at or before the end of
    each open session, and of each that would begin at a time that has come. A look enters the times that are complete,
    in their order. A key that has an open session then goes on with it: had that ended before, a look would have sent
    it. A session that ends at the look is over.

    Sessions are kept under their last time, in the order in which their keys came at it. So they leave in an order that
    does not depend on how messages and looks take turns.

    Cost: O(1) a value, and a key of a time; O(log open times) a time; O(1) a look, and a session that ends. However
    often values move the ends of sessions, there is one look in `gap` ticks until one of them may end. Until it leaves,
    a session is the list of its values and nothing else.
    """

    fails_singly = True
    kept: tuple[str, ...] = ("came", "open", "last", "first", "asked")
    settings: tuple[str, ...] = ("gap",)

    def __init__(self, keys: Keys, gap: int, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.gap = gap
        self.latest = latest_of(wiring.domain)
        self.came: dict[Any, By] = {}  # what is not entered yet
        self.times: list[Any] = []  # those of `came`, in order
        self.open: OrderedDict[Any, By] = OrderedDict()  # open sessions by their last time, in order
        self.last: dict[Any, Any] = {}  # their last times by key
        self.first: dict[Any, Any] = {}  # their first ones, where that is another time
        self.asked: list[Any] = []  # looks that come, the next one at the end

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keys are taken out first: a call that fails has changed nothing."""
        found = self.keys.bags(values)
        self._look_by(self.end_of(time), out)
        known = self.came.get(time)
        if known is None:
            self.came[time] = found
            insort(self.times, time)
        else:
            entered(known, found)

    def _look_by(self, end: Any, out: Out) -> None:
        """See to it that the next look is not later than this: it will ask for the one that follows."""
        if not self.asked or self.asked[-1] > end:
            self.asked.append(end)
            out.request(end)

    def end_of(self, last: Any) -> Any:
        """The time at which a session is over: when that is complete, nothing has come that is close to it."""
        end = last + self.gap
        return end if self.latest is None else min(end, self.latest)

    def on_notify(self, time: Any, out: Out) -> None:
        """A look: enter what is complete, send what ends here, and ask for the next one."""
        self.asked.pop()
        count = bisect_right(self.times, time)
        for each in self.times[:count]:
            self._enter(each)
        del self.times[:count]
        found: list[Any] = []
        while self.open and self.end_of(last := next(iter(self.open))) == time:
            found += self._closed(last)
        self.send(found, out)
        for first in (*islice(self.open, 1), *self.times[:1]):
            self._look_by(self.end_of(first), out)

    def _enter(self, time: Any) -> None:
        """The next time that is complete: its values go on with the sessions of their keys, or begin new ones."""
        found, lasts = self.came.pop(time), self.last
        if not lasts.keys().isdisjoint(found):
            opened, firsts, find = self.open, self.first, lasts.get
            for key, new in found.items():
                last = find(key)
                if last is not None:
                    values = found[key] = opened[last].pop(key)
                    values += new
                    if key not in firsts:
                        firsts[key] = last
                    if not opened[last]:
                        del opened[last]
        lasts.update(dict.fromkeys(found, time))
        self.open[time] = found

    def _closed(self, last: Any) -> list[Any]:
        """The sessions that end with this time, which are forgotten."""
        found, lasts, firsts = self.open.pop(last), self.last, self.first
        for key in found:
            del lasts[key]
        if not firsts:
            return [(key, last, last, values) for key, values in found.items()]
        return [(key, firsts.pop(key, last), last, values) for key, values in found.items()]

    def take(self, state: Any) -> None:
        """What was kept; also by the form before, which put sessions together as values came (`_by_time`)."""
        super().take(_by_time(state) if "due" in state else state)
        self.times = sorted(self.came)


def _by_time(state: Any) -> dict[str, Any]:
    """What a state of the form before has, as if all of it had come and nothing was entered.

    There a session is a list: its first and last time, and its next look; its values; then in turns a time and how many
    of the values came at it. `open` has the one of each key that ends last, `earlier` the others, `due` all keys by
    look.
    """
    came: dict[Any, By] = {}
    for key, last in state["open"].items():
        for session in (*state["earlier"].get(key, ()), last):
            values = iter(session[3])
            for time, count in zip(session[4::2], session[5::2], strict=True):
                came.setdefault(time, {}).setdefault(key, []).extend(islice(values, count))
    return {"came": came, "open": OrderedDict(), "last": {}, "first": {}, "asked": sorted(state["due"], reverse=True)}


class KeyedSessions(Keyed[T, K, V]):
    """What follows each other closely."""

    def session(self, gap: int, *, name: str | None = None) -> Stream[T, tuple[K, T, T, list[V]]]:
        """(key, first time, last time, values) of each session: values of a key with at most `gap` ticks between two.

        It leaves at the time last + gap, when that is complete; its values are in the order of their times.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("clicks").keyed().session(5).output("visits")
        >>> flow.run(sources={"clicks": [(0, ("ann", "/")), (4, ("ann", "/buy")), (20, ("ann", "/"))]})
        {'visits': [(9, ('ann', 0, 4, ['/', '/buy'])), (25, ('ann', 20, 20, ['/']))]}
        """
        path = self._stream._path("session", name)
        check_number(path, gap, "gap")
        self._stream._scope.check_numbers(path, "session")
        keys = self._keys
        return self._stream._follow(path, code=lambda wiring: Sessions(keys, gap, wiring), keeps=True, notify=True)
