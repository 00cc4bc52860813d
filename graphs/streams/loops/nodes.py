"""The nodes of loops by rounds: the head, which decides whether there is another round, and what is there in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from graphs.streams.loops.scope import LAST, rounds_of, with_round
from graphs.streams.operator import Operator
from graphs.streams.refusals import check_number
from graphs.streams.step import Wiring
from progress.errors import brief
from progress.runtime.failure import NotAllowed
from progress.runtime.out import Out

Bag = list[Any]
Until = Callable[[Any, Any, int], Any]  # f(before, now, round): whether what the round gave is the result

START, AGAIN = "start", "again"  # what comes in: with the number of the variable
NOW, DONE, TICK = "now", "done", "tick"  # what leaves
OUTSIDE, BEGIN = "outside", "begin"


def port(kind: str, number: int, is_single: bool) -> str:
    """By which port something of a variable leaves."""
    return kind if is_single else f"{kind} {number}"


class Head(Operator):
    """The head of a loop by rounds: X(0) is what comes in at a time, X(r + 1) what the body makes of X(r).

    When all that the body gives in a round is there, it asks whether that is the result. If it is, it leaves; else the
    next round begins with it. So a round of which nothing came back is one as well: it has given an empty bag. The
    first round does not pass here, what comes in goes to the body itself.

    Cost: that of `until` each round, besides O(1) a value.
    """

    kept = ("bags", "came")
    settings = ("numbers",)

    def __init__(self, wiring: Wiring, variables: int, until: Until, most: int, is_single: bool) -> None:
        super().__init__(wiring)
        self.numbers = range(variables)
        self.until = until
        self.most = most
        self.is_single = is_single
        self.bags: dict[Any, list[Bag]] = {}  # X(r), one bag a variable, by the time of round r
        self.came: dict[Any, list[Bag]] = {}  # what the body has given in that round

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Keep what comes in, or back, until the round is over."""
        kind, number = self.wiring.roles[edge].split()
        bags = self.bags if kind == START else self.came
        found = bags.get(time)
        if found is None:
            found = bags[time] = [[] for _ in self.numbers]
            out.request(time)
        found[int(number)] += values

    def on_notify(self, time: Any, out: Out) -> None:
        """The round is over: begin the next one, or let its result leave."""
        before = self.bags.get(time)
        if before is None:  # nothing came in: what the body makes of streams from outside alone begins nothing
            self.came.pop(time, None)
            return
        now = self.came.get(time) or [[] for _ in self.numbers]
        count = rounds_of(time) + 1
        if self.is_single:
            is_over = self.until(before[0], now[0], count)
        else:
            is_over = self.until(tuple(before), tuple(now), count)
        if not is_over and count >= self.most:
            what = f"{brief(self.wiring.name)} has not come to its end after {self.most:,} rounds"
            raise NotAllowed("PS817", what, "an `until` that holds at last, or most= with more rounds")
        after = with_round(time, count)
        for number in self.numbers:
            self.send([*now[number]], out, port(DONE if is_over else NOW, number, self.is_single))
        if not is_over:
            self.send([None], out, TICK)
            out.request(after)
            self.bags[after] = now
        del self.bags[time]
        self.came.pop(time, None)

    def give_up(self, time: Any) -> Any:
        """What the round began with, and what it has given, of each variable; the loop is over for this time."""
        return self.bags.pop(time, None), self.came.pop(time, None)


class Repeat(Operator):
    """A stream from outside in each round: what comes in the first one is sent again whenever a round begins.

    Where nothing comes in for the loop to begin with, no round does. All is forgotten when all rounds are over. Cost:
    O(1) a value and round.
    """

    kept = ("bags", "begun")

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.bags: dict[Any, Bag] = {}
        self.begun: dict[Any, None] = {}  # the first rounds of loops with something to begin with

    def on_messages(self, edge: str, time: Any, values: Sequence[Any], out: Out) -> None:
        """Keep what comes from outside; send it when a round begins, in the first one as it comes."""
        role, first = self.wiring.roles[edge], with_round(time, 0)
        if role == OUTSIDE:
            self.bags.setdefault(first, []).extend(values)
            sent = values if first in self.begun else ()
        else:
            sent = self.bags.get(first, ()) if role == TICK or first not in self.begun else ()
        if role == BEGIN:
            self.begun[first] = None
        self.send([*sent], out)
        if role != TICK:
            out.request(with_round(time, LAST))

    def on_notify(self, time: Any, out: Out) -> None:
        """All rounds are over."""
        first = with_round(time, 0)
        self.bags.pop(first, None)
        self.begun.pop(first, None)


def unchanged(before: Any, now: Any, round: int) -> bool:
    """Whether a round has given what it began with: the same values, each as often. They need a hash.

    Returns
    -------
    Whether they are the same.

    Examples
    --------
    >>> from pointstamp import unchanged
    >>> unchanged(["a", "b"], ["b", "a"], 3)
    True
    """
    if isinstance(now, tuple):
        return all(Counter(one) == Counter(other) for one, other in zip(before, now, strict=True))
    return len(before) == len(now) and Counter(before) == Counter(now)


def rounds(number: int) -> Callable[[Any, Any, int], bool]:
    """So many rounds: `iterate(body, until=rounds(20))` gives what the body makes when it is applied 20 times.

    >>> from pointstamp import Flow, rounds
    >>> flow = Flow()
    >>> flow.input("numbers").iterate(lambda all: all.map(lambda n: n * 2), until=rounds(3)).output("eightfold")
    >>> flow.run(sources={"numbers": [(0, 5)]})
    {'eightfold': [(0, 40)]}

    Returns
    -------
    What `iterate` takes as `until`.
    """
    check_number("rounds", number, "number")
    return lambda before, now, round: round >= number
