"""What collections are computed by: nodes that take changes `(value, count)` and send changes (Differential Dataflow).

A node sends every change once, at the first time from which on it holds, and nothing where a change and its opposite
come together at one time. Deletions are changes like others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from graphs.streams.collections.history import Bag, History, add
from graphs.streams.collections.moments import Moments
from graphs.streams.collections.refusals import not_a_pair, taken_too_often, without_end
from graphs.streams.join import LEFT
from graphs.streams.operator import Operator
from graphs.streams.step import Wiring
from progress.runtime.actions.by_value import check_several
from progress.runtime.out import Out

Change = tuple[Any, int]
START, AGAIN = "start", "again"


class Reduction(Operator):
    """For each key, what a function makes of all its values, whenever those are others than before.

    Law: at every time, what was sent is the function of what has come. A key is looked at again at each time at which
    something comes for it, and at the first times at or after some of these: two changes of times that cannot be
    compared are seen together there for the first time. Cost: O(changes kept for the key) each time.
    """

    def __init__(self, wiring: Wiring, moments: Moments) -> None:
        super().__init__(wiring)
        self.moments = moments
        self.came = History(moments)
        self.gave = History(moments)
        self.due: dict[Any, dict[Hashable, None]] = {}  # keys to look at, by time

    def split(self, value: Any) -> tuple[Hashable, Hashable]:
        """The key and the value that a member of the collection stands for: it is a key by itself."""
        return value, None

    def made(self, key: Any, bag: Bag) -> Bag:
        """What is to be there, if these are the values of a key."""
        raise NotImplementedError

    def on_messages(self, edge: str, time: Any, values: Sequence[Change], out: Out) -> None:
        """Note changes, and when their keys have to be looked at. Cost: O(changes), and see `History.meetings`."""
        came = self.came
        parts = [(*self.split(value), count) for value, count in values]
        for key, value, count in parts:
            came.add(key, time, value, count)
        for key in dict.fromkeys(part[0] for part in parts):
            for each in came.meetings(key, time):
                keys = self.due.get(each)
                if keys is None:
                    keys = self.due[each] = {}
                    out.request(each)
                keys[key] = None
        if self.moments.are_total:
            out.request(self.moments.last(time))

    def on_notify(self, time: Any, out: Out) -> None:
        """Look at the keys that are due; after the last round of an epoch, forget when in it anything was."""
        sent: list[tuple[Hashable, Hashable, int]] = []
        for key in self.due.get(time, ()):
            bag = self.came.at(key, time)
            now = self.made(key, bag) if bag else {}
            for value, count in self.gave.at(key, time).items():
                add(now, value, -count)
            sent += [(key, value, count) for value, count in now.items()]
        self.send([(value, count) for _, value, count in sent], out)
        for key, value, count in sent:
            self.gave.add(key, time, value, count)
        self.due.pop(time, None)
        settle(self.moments, time, self.came, self.gave)

    def give_up(self, time: Any) -> Any:
        """The keys that were to be looked at."""
        return [*self.due.pop(time, {})]

    @property
    def size(self) -> int:
        """How many changes are kept."""
        return len(self.came) + len(self.gave)

    def state(self) -> Any:
        due = [(time, [*keys]) for time, keys in self.due.items()]
        return self.came.snapshot(), self.gave.snapshot(), due

    def take(self, state: Any) -> None:
        came, gave, due = state
        self.came.restore(came)
        self.gave.restore(gave)
        self.due = {time: dict.fromkeys(keys) for time, keys in due}


class Reduce(Reduction):
    """(key, result) for each result of `function(key, values)`, the values as often as they are there."""

    def __init__(self, wiring: Wiring, moments: Moments, function: Callable[[Any, list[Any]], Any]) -> None:
        super().__init__(wiring, moments)
        self.function = function

    def split(self, value: Any) -> tuple[Hashable, Hashable]:
        return key_and_value(self.wiring.name, value)

    def made(self, key: Any, bag: Bag) -> Bag:
        values: list[Any] = []
        for value, count in bag.items():
            if count < 0:
                raise taken_too_often(self.wiring.name, (key, value), count)
            values += [value] * count
        found: Bag = {}
        results = self.function(key, values)
        check_several(results)
        for result in results:
            add(found, (key, result), 1)
        return found


class Distinct(Reduction):
    """Each value once that is there at least once."""

    def made(self, key: Any, bag: Bag) -> Bag:
        return {key: 1} if bag.get(None, 0) > 0 else {}


class Count(Reduction):
    """(value, how often it is there), for each that is there."""

    def made(self, key: Any, bag: Bag) -> Bag:
        count = bag[None]
        if count < 0:
            raise taken_too_often(self.wiring.name, key, count)
        return {(key, count): 1}


class Join(Operator):
    """What a function makes of each pair of values with one key, as often as the one is there times the other.

    A change on one side meets all changes of the other, each of them from the first time on at which both are there.
    They are sent at once, since such products add up. Cost: O(1) a pair and time.
    """

    def __init__(self, wiring: Wiring, moments: Moments, function: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__(wiring)
        self.moments = moments
        self.function = function
        self.sides = (History(moments), History(moments))

    def on_messages(self, edge: str, time: Any, values: Sequence[Change], out: Out) -> None:
        """Send what the changes make together with those of the other side, and note them."""
        is_left = self.wiring.roles[edge] == LEFT
        mine, others = self.sides if is_left else self.sides[::-1]
        function = self.function
        found: dict[Any, list[Change]] = {}
        parts = [(*key_and_value(self.wiring.name, value), count) for value, count in values]
        for key, value, count in parts:
            for when, times, bag in others.matches(key, time):
                factor = count * times
                made = found.setdefault(when, [])
                if is_left:
                    made += [(function(key, value, other), factor * often) for other, often in bag.items()]
                else:
                    made += [(function(key, other, value), factor * often) for other, often in bag.items()]
        for when, changes in found.items():
            self.send_at(changes, when, out)
        for key, value, count in parts:
            mine.add(key, time, value, count)
        if self.moments.are_total:
            out.request(self.moments.last(time))

    def on_notify(self, time: Any, out: Out) -> None:
        """Forget when in an epoch anything was."""
        settle(self.moments, time, *self.sides)

    @property
    def size(self) -> int:
        """How many changes are kept."""
        return sum(map(len, self.sides))

    def state(self) -> Any:
        return [side.snapshot() for side in self.sides]

    def take(self, state: Any) -> None:
        for side, its in zip(self.sides, state, strict=True):
            side.restore(its)


class Net(Operator):
    """The changes of each time, when all of them are known: none that another one takes back at the same time."""

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(wiring)
        self.open: dict[Any, Bag] = {}

    def on_messages(self, edge: str, time: Any, values: Sequence[Change], out: Out) -> None:
        """Add them up. Cost: O(1) a change."""
        self.note(time, values, 1, out)

    def note(self, time: Any, values: Sequence[Change], factor: int, out: Out) -> None:
        """Add changes to those of a time, and ask for its end."""
        bag = self.open.get(time)
        if bag is None:
            bag = self.open[time] = {}
            out.request(time)
        for value, count in values:
            add(bag, value, count * factor)

    def on_notify(self, time: Any, out: Out) -> None:
        """Send what is left of them."""
        self.send(list(self.open[time].items()), out)
        del self.open[time]

    def give_up(self, time: Any) -> Any:
        """The changes of the time."""
        return [*self.open.pop(time, {}).items()]

    @property
    def size(self) -> int:
        """How many changes are kept."""
        return sum(map(len, self.open.values()))

    def state(self) -> Any:
        return [(time, {**bag}) for time, bag in self.open.items()]

    def take(self, state: Any) -> None:
        self.open = dict(state)


class Variable(Net):
    """What goes round in a loop: in the first round what it starts with, in each other one what the last one gave.

    Law: X(0) = start, and X(r + 1) = what the body gave in round r: start + (what was fed back - start), the latter one
    round later. The start leads to the body itself; from here comes the difference, when a round is complete, at the
    next one, as the summary of the node says.
    """

    def __init__(self, wiring: Wiring, most: int) -> None:
        super().__init__(wiring)
        self.most = most

    def on_messages(self, edge: str, time: Any, values: Sequence[Change], out: Out) -> None:
        """Add changes to those of the round to come; what a loop starts with is taken back there."""
        self.note(time, values, -1 if self.wiring.roles[edge] == START else 1, out)

    def on_notify(self, time: Any, out: Out) -> None:
        """Begin the next round, if anything changes in it."""
        if self.open[time] and time[-1] + 1 >= self.most:
            raise without_end(self.wiring.name, self.most)
        super().on_notify(time, out)


def settle(moments: Moments, time: Any, *histories: History) -> None:
    """If this is the last time of an epoch, let all forget when in it anything was."""
    if moments.are_total and time == moments.last(time):
        epoch, _ = moments.parted(time)
        for each in histories:
            each.settle(epoch)


def key_and_value(name: str, value: Any) -> tuple[Hashable, Hashable]:
    """The parts of a pair."""
    if type(value) is tuple and len(value) == 2:
        return value
    raise not_a_pair(name, value)
