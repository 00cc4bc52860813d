"""Values of a key that follow each other closely: `session`."""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter, le
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import K, T, V
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import Operator
from graphs.streams.refusals import check_number
from graphs.streams.step import Wiring
from graphs.streams.windows import latest_of
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Sessions(Operator):
    """Keeps the open sessions of each key, and by time the keys of which one may end there.

    A session is one list: its first time, its last one, the time at which it is looked at next, the list of its values,
    and then in turns a time and how many of them came at it. It is looked at not after its end, and once in `gap`
    ticks, however often its values move its end. Mostly a key has one: `open` has the one of each key that ends last,
    `earlier` what others there are, in the order of their ends. Cost: O(1) a value, O(open sessions of the key) for all
    of a key and time, and sorting where values came late. A session of one time leaves with the list of what came.
    """

    fails_singly = True
    kept: tuple[str, ...] = ("open", "earlier", "due")
    settings: tuple[str, ...] = ("gap",)

    def __init__(self, keys: Keys, gap: int, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.gap = gap
        self.latest = latest_of(wiring.domain)
        self.open: dict[Any, list[Any]] = {}
        self.earlier: dict[Any, list[list[Any]]] = {}
        self.due: dict[Any, dict[Any, None]] = {}

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keys are taken out first: a call that fails has changed nothing."""
        gap, known = self.gap, self.open
        end = self.end_of(time)
        new: dict[Any, None] = {}
        for key, found in self.keys.bags(values).items():
            session = known.get(key)
            if session is None:
                known[key] = [time, time, end, found, time, len(found)]
                new[key] = None
            elif session[1] > time:
                if self._joined(key, [time, time, end, found, time, len(found)]):
                    new[key] = None
            elif time <= session[1] + gap:
                session[1] = time
                session[VALUES] += found
                session += time, len(found)
            else:
                self.earlier.setdefault(key, []).append(session)
                known[key] = [time, time, end, found, time, len(found)]
                new[key] = None
        if new:
            self._look_at(end, out).update(new)

    def _look_at(self, end: Any, out: Out) -> dict[Any, None]:
        """The keys to look at when that is complete."""
        if end not in self.due:
            out.request(end)
            self.due[end] = {}
        return self.due[end]

    def _joined(self, key: Any, mine: list[Any]) -> bool:
        """Join values that came late to the session to which they belong; whether that is a new one.

        Two that were apart become one where they lie between. The session that ends last stays the last one.
        """
        time, session = mine[0], mine
        apart = []
        for other in (*self.earlier.pop(key, ()), self.open[key]):
            if other[0] - self.gap <= time <= other[1] + self.gap:
                larger, smaller = (
                    (other, session) if len(other) >= len(session) or session is mine else (session, other)
                )
                larger[0], larger[1] = min(other[0], session[0]), max(other[1], session[1])
                larger[VALUES] += smaller[VALUES]
                larger += smaller[TURNS:]
                session = larger
            else:
                apart.append(other)
        *earlier, self.open[key] = sorted([*apart, session], key=itemgetter(1))
        if earlier:
            self.earlier[key] = earlier
        return session is mine

    def end_of(self, last: Any) -> Any:
        """The time at which a session is over: when that is complete, nothing has come that is close to it."""
        end = last + self.gap
        return end if self.latest is None else min(end, self.latest)

    def on_notify(self, time: Any, out: Out) -> None:
        """Send the sessions that end here, and forget them; of those that have gone on, ask for the end again."""
        found: list[Any] = []
        known, earlier, gap = self.open, self.earlier, self.gap
        for key in self.due.pop(time):
            if key in earlier:
                left = [each for each in earlier[key] if not self._is_over(key, each, time, found, out)]
                if left:
                    earlier[key] = left
                else:
                    del earlier[key]
            session = known.get(key)
            if session is None:
                continue
            if session[1] + gap == time and session[2] == time:  # as it mostly is
                found.append((key, session[0], session[1], _values(session)))
                del known[key]
            elif self._is_over(key, session, time, found, out):
                del known[key]
        self.send(found, out)

    def _is_over(self, key: Any, session: list[Any], time: Any, found: list[Any], out: Out) -> bool:
        """Whether a session ends at a time that is complete; then it is added to what is found."""
        if session[2] != time:
            return False
        end = self.end_of(session[1])
        if end != time:
            session[2] = end
            self._look_at(end, out)[key] = None
            return False
        found.append((key, session[0], session[1], _values(session)))
        return True


VALUES = 3  # where the values of a session are
TURNS = 4  # where times and how many values came at each begin in it


def _values(session: list[Any]) -> list[Any]:
    """Its values in the order of their times."""
    values: list[Any] = session[VALUES]
    times = session[TURNS::2] if len(session) > TURNS + 2 else ()
    if all(map(le, times, times[1:])):
        return values
    ends = [*accumulate(session[TURNS + 1 :: 2], initial=0)]
    inside = sorted(zip(times, ends, ends[1:], strict=False), key=itemgetter(0))
    return [value for _, begin, end in inside for value in values[begin:end]]


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
