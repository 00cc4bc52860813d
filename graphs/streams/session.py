"""Values of a key that follow each other closely: `session`."""

from __future__ import annotations

from operator import itemgetter
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

    A session is its first time, its last one, and its values by time. Cost: O(1) a value, O(open sessions of the key)
    for all of a key and time, and sorting the times of a session when it ends.
    """

    kept: tuple[str, ...] = ("open", "due")

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
        for key, found in by_key(self.keys, values).items():
            end = self.end_of(self._joined(key, time, found))
            self.due.setdefault(end, {})[key] = None
            out.request(end)

    def _joined(self, key: Any, time: Any, values: list[Any]) -> list[Any]:
        """The session to which these values belong; those that were two before become one where they lie between."""
        session: list[Any] = [time, time, [(time, values)]]
        apart = []
        for other in self.open.get(key, ()):
            if other[0] - self.gap <= time <= other[1] + self.gap:
                larger, smaller = (other, session) if len(other[2]) >= len(session[2]) else (session, other)
                larger[0], larger[1] = min(other[0], session[0]), max(other[1], session[1])
                larger[2] += smaller[2]
                session = larger
            else:
                apart.append(other)
        self.open[key] = [*apart, session]
        return session

    def end_of(self, session: list[Any]) -> Any:
        """The time at which it is over: when that is complete, nothing has come that is close to it."""
        end = session[1] + self.gap
        return end if self.latest is None else min(end, self.latest)

    def on_notify(self, time: Any, out: Out) -> None:
        """Send the sessions that end here, and forget them."""
        found = []
        for key in self.due.pop(time):
            sessions = self.open.get(key, [])
            over = [session for session in sessions if self.end_of(session) == time]
            for first, last, parts in over:
                parts.sort(key=itemgetter(0))
                found.append((key, first, last, [value for _, values in parts for value in values]))
            left = [session for session in sessions if self.end_of(session) != time]
            if left:
                self.open[key] = left
            else:
                self.open.pop(key, None)
        self.send(found, out)


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
