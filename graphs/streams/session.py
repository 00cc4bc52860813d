"""Values of a key that follow each other closely: `session`."""

from __future__ import annotations

from operator import itemgetter, le
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import K, T, V
from graphs.streams.join import by_key
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import Operator
from graphs.streams.refusals import check_number
from graphs.streams.step import Wiring
from progress.order import Nat
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Sessions(Operator):
    """Keeps the open sessions of each key, and by time the keys of which one may end there.

    A session is one list: its first time, its last one, the time at which it is looked at next, and then a time and a
    value in turns. It is looked at not after its end, and once in `gap` ticks, however often its values move its end.
    Cost: O(1) a value, O(open sessions of the key) for all of a key and time, and sorting where values came late.
    """

    fails_singly = True
    kept: tuple[str, ...] = ("open", "due")
    settings: tuple[str, ...] = ("gap",)

    def __init__(self, keys: Keys, gap: int, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.gap = gap
        domain = wiring.domain
        self.latest = domain.maximum if isinstance(domain, Nat) else None
        self.open: dict[Any, list[list[Any]]] = {}
        self.due: dict[Any, dict[Any, None]] = {}

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Keys are taken out first: a call that fails has changed nothing."""
        gap, known = self.gap, self.open
        end = self.end_of(time)
        new = []
        for key, found in by_key(self.keys, values).items():
            sessions = known.get(key)
            if sessions is None:
                known[key] = [_session(time, end, found)]
                new.append(key)
            elif (session := sessions[-1])[1] <= time <= session[1] + gap:  # as it mostly is
                session[1] = time
                for value in found:
                    session += time, value
            elif self._joined(sessions, time, end, found):
                new.append(key)
        if new:
            self._look_at(end, out).update(dict.fromkeys(new))

    def _look_at(self, end: Any, out: Out) -> dict[Any, None]:
        """The keys to look at when that is complete."""
        if end not in self.due:
            out.request(end)
            self.due[end] = {}
        return self.due[end]

    def _joined(self, sessions: list[list[Any]], time: Any, end: Any, values: list[Any]) -> bool:
        """Join the values to the session to which they belong; whether that is a new one.

        Two that were apart become one where they lie between. The session that ends last stays the last one.
        """
        mine = session = _session(time, end, values)
        apart = []
        for other in sessions:
            if other[0] - self.gap <= time <= other[1] + self.gap:
                larger, smaller = (
                    (other, session) if len(other) >= len(session) or session is mine else (session, other)
                )
                larger[0], larger[1] = min(other[0], session[0]), max(other[1], session[1])
                larger += smaller[VALUES:]
                session = larger
            else:
                apart.append(other)
        sessions[:] = sorted([*apart, session], key=itemgetter(1))
        return session is mine

    def end_of(self, last: Any) -> Any:
        """The time at which a session is over: when that is complete, nothing has come that is close to it."""
        end = last + self.gap
        return end if self.latest is None else min(end, self.latest)

    def on_notify(self, time: Any, out: Out) -> None:
        """Send the sessions that end here, and forget them; of those that have gone on, ask for the end again."""
        found = []
        for key in self.due.pop(time):
            left = []
            for session in self.open.get(key, ()):
                if session[2] == time:
                    end = self.end_of(session[1])
                    if end == time:
                        found.append((key, session[0], session[1], _values(session)))
                        continue
                    session[2] = end
                    self._look_at(end, out)[key] = None
                left.append(session)
            if left:
                self.open[key] = left
            else:
                self.open.pop(key, None)
        self.send(found, out)


VALUES = 3  # where times and values begin in a session


def _session(time: Any, end: Any, values: list[Any]) -> list[Any]:
    """A session of values of one time."""
    session = [time, time, end]
    for value in values:
        session += time, value
    return session


def _values(session: list[Any]) -> list[Any]:
    """Its values in the order of their times."""
    times, values = session[VALUES::2], session[VALUES + 1 :: 2]
    if all(map(le, times, times[1:])):
        return values
    return [values[place] for place in sorted(range(len(times)), key=times.__getitem__)]


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
