"""The inner join of a stream inside of a loop with one from outside, which is there in every round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphs.streams.join import Bag, entered, matches
from graphs.streams.keys import Keys
from graphs.streams.loops.scope import LAST, with_round
from graphs.streams.operator import Operator
from graphs.streams.step import Wiring
from progress.runtime.out import Out


class JoinOutside(Operator):
    """Matches leave at once. What comes from outside is kept once for all rounds, and goes when all of them are over.

    What is inside is kept as long as more may come from outside. `levels` is how many loops are between the two.
    Cost: O(1) a value and O(1) a pair, however many rounds there are.
    """

    kept = ("bags", "waiting", "whole")
    settings = ("outside", "levels")

    def __init__(
        self, keys: dict[str, Keys], f: Callable[[Any, Any, Any], Any], outside: str, levels: int, wiring: Wiring
    ) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.f = f
        self.outside = outside
        self.levels = levels
        self.bags: dict[Any, Bag] = {}  # from outside, by the time at which it came in
        self.waiting: dict[Any, dict[Any, Bag]] = {}  # inside, by that time and its own
        self.whole: dict[Any, None] = {}  # times for which no more comes from outside

    def in_round(self, time: Any, number: int) -> Any:
        """A time in a round of all the loops between."""
        return with_round(time, number, self.levels)

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """What a call makes is entered when all of it is made: one that fails has changed nothing."""
        side = self.wiring.roles[edge]
        came = self.keys[side].bags(values)
        first = self.in_round(time, 0)
        if side == self.outside:
            for when, bag in self.waiting.get(first, {}).items():
                self.send_at(matches(self.f, side, came, bag), when, out)
            entered(self.bags.setdefault(first, {}), came)
        else:
            self.send_at(matches(self.f, side, came, self.bags.get(first, {})), time, out)
            if first not in self.whole:
                entered(self.waiting.setdefault(first, {}).setdefault(time, {}), came)
        if first not in self.whole:
            out.request(time)
            out.request(self.in_round(time, LAST))

    def on_notify(self, time: Any, out: Out) -> None:
        """Nothing more comes from outside; or all rounds are over."""
        first = self.in_round(time, 0)
        self.waiting.pop(first, None)
        if time == self.in_round(time, LAST):
            self.bags.pop(first, None)
            self.whole.pop(first, None)
        else:
            self.whole[first] = None
