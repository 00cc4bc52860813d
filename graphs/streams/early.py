"""What is said of a result before its time is complete, and what turned out to be wrong: `early` and `corrections`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphs.streams.aggregate import Aggregate, Aggregating, Found
from graphs.streams.keys import Keys
from graphs.streams.step import Wiring
from progress.runtime.node import Node
from progress.runtime.out import Out

EARLY, CORRECTIONS = "early", "corrections"


class Announcing(Aggregating):
    """Looks at the result after each value: the first time that the test holds, it leaves at once.

    What it says depends on the order in which values come, so it does not replay alike. Cost: a call of the test for
    each value of a key of which nothing was said.
    """

    replays_alike = False
    kept: tuple[str, ...] = ("open", "said")

    def __init__(self, keys: Keys, how: Aggregate, test: Callable[[Any], Any], wiring: Wiring) -> None:
        super().__init__(keys, how, wiring)
        self.test = test
        self.said: dict[Any, Found] = {}

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Value by value, since several may cross what is tested and come back."""
        out.request(time)
        before, said = self.open.get(time, {}), self.said.get(time, {})
        first, step, test = self.how.first, self.how.step, self.test
        found: Found = {}
        now: Found = {}
        for key, value in self.keys.pairs(values):
            if key in found:
                found[key] = step(found[key], value)
            elif key in before:
                found[key] = step(before[key], value)
            else:
                found[key] = first(value)
            if key not in said and key not in now and test(found[key]):
                now[key] = found[key]
        self.send([*now.items()], out, EARLY)
        self.open.setdefault(time, before).update(found)
        self.said.setdefault(time, said).update(now)

    def leave(self, time: Any, results: Found, out: Out) -> None:
        """The results, and what was said and is not so."""
        wrong = [(key, said, results[key]) for key, said in self.said[time].items() if not self.test(results[key])]
        self.send(wrong, out, CORRECTIONS)
        super().leave(time, results, out)
        del self.said[time]

    def give_up(self, time: Any) -> Any:
        """What was made for the time, by key."""
        self.said.pop(time, None)
        return super().give_up(time)


class Said:
    """Whether, and when, a step says something before the end; known when the program is whole."""

    def __init__(self) -> None:
        self.test: Callable[[Any], Any] | None = None
        self.refused = ""  # why it cannot

    def made_by(self, keys: Keys, how: Aggregate) -> Callable[[Wiring], Node]:
        """What makes the node."""

        def make(wiring: Wiring) -> Node:
            return Aggregating(keys, how, wiring) if self.test is None else Announcing(keys, how, self.test, wiring)

        return make
