"""Random programs of streams, each with what it means by the oracle; both are written from one list of choices.

All streams have whole numbers as values, so that any operator can follow any other: what gives pairs or lists is made a
number again by `code`, the same function on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, NamedTuple

from graphs.streams import Flow, KeyedStream, Stream
from progress.runtime import Complete
from tests.streams import oracle
from tests.streams.loops import looped
from tests.streams.oracle import Order, Pairs


def code(value: Any) -> int:
    """A number for a value: equal for equal ones, whatever the order of a bag; small."""
    if isinstance(value, list | tuple):
        found = len(value) + 1
        for each in value:
            found = (found * 31 + code(each)) % 1009
        return found
    return 7 if value is None else int(value) % 1009


def key_of(value: int) -> int:
    return value % 3


def part_of(value: int) -> int:
    return value // 3


def keyed(stream: Pairs) -> Pairs:
    return [(time, (key_of(value), part_of(value))) for time, value in stream]


def coded(stream: Pairs) -> Pairs:
    return [(time, code(value)) for time, value in stream]


def largest_two(values: list[int]) -> list[int]:
    return sorted(values, reverse=True)[:2]


def step(state: int, value: int) -> tuple[int, int]:
    """The next state and a result, which depend on the order."""
    return (state * 2 + value) % 101, state - value


def matched(key: int, left: Any, right: Any) -> int:
    return code((key, left, right))


def grouped(key: int, left: list[int], right: list[int]) -> int:
    return code((key, sorted(left), sorted(right)))


Operator = Callable[[Random, str, list[Stream[Any, int]], list[Pairs], Order], tuple[Stream[Any, int], Pairs]]


def _keyed(stream: Stream[Any, int]) -> KeyedStream[Any, int, int]:
    return stream.key_on(key_of, part_of)


def by_value(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    number = random.randrange(len(streams))
    stream, pairs = streams[number], meant[number]
    kind = random.randrange(7)
    if kind == 0:
        return stream.map(lambda v: v * 5 + 1), [(t, v * 5 + 1) for t, v in pairs]
    if kind == 1:
        return stream.filter(lambda v: v % 4), [(t, v) for t, v in pairs if v % 4]
    if kind == 2:
        return stream.flat_map(lambda v: range(v % 3)), [(t, w) for t, v in pairs for w in range(v % 3)]
    if kind == 3:
        return stream.map_at(lambda t, v: code((t, v))), [(t, code((t, v))) for t, v in pairs]
    if kind == 4:
        yes, no = stream.branch(lambda v: v % 2)
        chosen = random.random() < 0.5
        return (yes if chosen else no), [(t, v) for t, v in pairs if bool(v % 2) is chosen]
    if kind == 5:
        other = random.randrange(len(streams))
        return stream.merge(streams[other]), [*pairs, *meant[other]]
    return stream.inspect(lambda v: None), pairs


def aggregation(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    number = random.randrange(len(streams))
    stream, pairs = _keyed(streams[number]), keyed(meant[number])
    add = lambda one, other: one + other  # noqa: E731
    accumulate = random.random() < 0.4
    kind = random.randrange(6)
    flowing: Any
    make: Callable[[list[Any]], Any]
    if kind == 0:
        flowing, make = stream.reduce(add, accumulate=accumulate, name=name), oracle.total
    elif kind == 1:
        flowing = stream.fold(0, lambda a, b: a + b * b, merge=add, accumulate=accumulate, name=name)
        make = lambda values: sum(v * v for v in values)  # noqa: E731
    elif kind == 2:
        flowing, make = stream.count(accumulate=accumulate, name=name), len
    elif kind == 3:
        flowing, make = stream.min(accumulate=accumulate, name=name), min
    elif kind == 4:
        flowing, make = stream.max(accumulate=accumulate, name=name), max
    else:
        flowing, make = stream.top(2, accumulate=accumulate, name=name), largest_two
    means = oracle.so_far(pairs, make, below) if accumulate else oracle.aggregated(pairs, make)
    return flowing.map(code), coded(means)


def bags(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    number = random.randrange(len(streams))
    stream, pairs = streams[number], meant[number]
    kind = random.randrange(4)
    if kind == 0:
        means = [(t, code((t, sorted(oracle.values_at(pairs, t))))) for t in oracle.times_of(pairs)]
        return stream.whole(lambda t, bag: [code((t, sorted(bag)))], name=name), means
    if kind == 1:
        return stream.distinct(name=name), oracle.distinct(pairs)
    if kind == 2:
        best = oracle.aggregated([(t, (v % 5, v)) for t, v in pairs], max)
        return stream.distinct(by=lambda v: v % 5, keep=max, name=name), [(t, v) for t, (_, v) in best]
    return stream.distinct(accumulate=True, name=name), oracle.distinct_so_far(pairs, below)


def two(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    one, other = random.randrange(len(streams)), random.randrange(len(streams))
    left, right = _keyed(streams[one]), _keyed(streams[other])
    how = random.choice(["inner", "left", "outer", "semi", "anti", "cogroup"])
    if how == "cogroup":
        means = oracle.cogrouped(keyed(meant[one]), keyed(meant[other]), grouped)
        return left.cogroup(right, grouped, name=name), means
    joined: Any = left.join  # a kind that is chosen at random is none of those that types know
    means = oracle.joined(keyed(meant[one]), keyed(meant[other]), matched, how)
    return joined(right, matched, how=how, name=name), means


def windows(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    number = random.randrange(len(streams))
    stream, pairs = streams[number], meant[number]
    kind = random.randrange(4)
    n, every = random.randint(1, 5), random.randint(1, 4)
    if kind == 0:
        return stream.tumbling(n), oracle.tumbled(pairs, n)
    if kind == 1:
        return stream.sliding(n, every), oracle.slid(pairs, n, every)
    if kind == 2:
        return stream.delay(n), [(t + n, v) for t, v in pairs]
    found = _keyed(stream).session(n, name=name).map(lambda s: code((s[0], s[1], s[2], sorted(s[3]))))
    means = oracle.sessions(keyed(pairs), n)
    return found, [(t, code((key, first, last, sorted(values)))) for t, (key, first, last, values) in means]


def ordered(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    one, other = random.randrange(len(streams)), random.randrange(len(streams))
    if random.random() < 0.5:
        found = _keyed(streams[one]).stateful_map(1, step, order=lambda v: v, name=name)
        return found.map(code), coded(oracle.in_order(keyed(meant[one]), 1, step))
    within = random.choice([None, 0, 2])
    right = _keyed(streams[other]).max(name=f"{name} right")
    means = oracle.as_of(keyed(meant[one]), oracle.aggregated(keyed(meant[other]), max), matched, within)
    return _keyed(streams[one]).asof(right.keyed(), matched, within=within, name=name), means


def within(random: Random, name: str, streams: list[Any], meant: list[Pairs], below: Order) -> Any:
    number, ticks = random.randrange(len(streams)), random.randint(0, 4)
    near: Order = lambda earlier, later: later - ticks <= earlier <= later  # noqa: E731
    if random.random() < 0.5:
        found = _keyed(streams[number]).count(accumulate=True, within=ticks, name=name)
        return found.map(code), coded(oracle.so_far(keyed(meant[number]), len, near))
    found = streams[number].distinct(accumulate=True, within=ticks, name=name)
    return found, oracle.distinct_so_far(meant[number], near)


ANYWHERE: tuple[Operator, ...] = (by_value, by_value, by_value, aggregation, aggregation, bags, two)
OVER_NUMBERS: tuple[Operator, ...] = (*ANYWHERE, windows, ordered, within)


class Program(NamedTuple):
    """A program, what it is given, and what it means, by output."""

    flow: Flow[Any]
    sources: dict[str, list[Any]]
    means: dict[str, list[tuple[Any, Any]]]


def at_or_before(earlier: Any, later: Any) -> bool:
    """The order of numbers, and of pairs coordinate by coordinate."""
    if isinstance(earlier, tuple):
        return bool(earlier[0] <= later[0] and earlier[1] <= later[1])
    return bool(earlier <= later)


def program(random: Random) -> Program:
    """One of 2 to 12 operators over one or two inputs, with times that are numbers or pairs of them."""
    is_partial = random.random() < 0.4
    flow: Flow[Any] = Flow(time={"product": ["nat", "nat"]} if is_partial else "nat")
    streams: list[Stream[Any, int]] = []
    meant: list[Pairs] = []
    sources: dict[str, list[Any]] = {}
    for name in ("a", "b")[: random.randint(1, 2)]:
        pairs = [(some_time(random, is_partial), random.randrange(30)) for _ in range(random.randrange(15))]
        sources[name] = with_marks(random, pairs, is_partial)
        streams.append(flow.input(name, of=int))
        meant.append(pairs)
    rounds: dict[str, Pairs] = {}  # what outputs that show the rounds of loops mean
    loop: Operator = partial(looped, shown=rounds)
    for number in range(random.randint(2, 12)):
        others = ANYWHERE if is_partial else OVER_NUMBERS
        operator = random.choice([loop, *others])
        stream, pairs = operator(random, f"step {number}", streams, meant, at_or_before)
        if len(pairs) <= 2_000:
            streams.append(stream)
            meant.append(pairs)
    means = {output: sorted(pairs) for output, pairs in rounds.items()}
    for number, (stream, pairs) in enumerate(zip(streams, meant, strict=True)):
        if number >= len(sources) and (number == len(streams) - 1 or random.random() < 0.5):
            stream.output(f"out {number}")
            means[f"out {number}"] = sorted(pairs)
    return Program(flow, sources, means)


def some_time(random: Random, is_partial: bool) -> Any:
    return (random.randrange(4), random.randrange(4)) if is_partial else random.randrange(12)


def with_marks(random: Random, pairs: Pairs, is_partial: bool) -> list[Any]:
    """The values in some order, and between them what is complete, where the times allow to say so."""
    if is_partial:
        return [*pairs, Complete([])]
    items: list[Any] = []
    left = sorted(pairs, key=lambda pair: pair[0] + random.choice([0, 0, 3]))
    while left:
        items.append(left.pop(0))
        if random.random() < 0.3:
            items.append(Complete([min((time for time, _ in left), default=20)]))
    return items
