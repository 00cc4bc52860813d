"""Random loops for the random programs of streams, with what they mean: round by round, in plain Python.

The body of a loop is written from a seed: once for the program, and once for each round of each time, in a program that
never runs, for what it means there. So what a body means is what its operators mean for the bags of one round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from graphs.streams import Flow, Stream, rounds, unchanged
from tests.streams import oracle
from tests.streams.oracle import Order, Pairs

MOST_ROUNDS = 12
MOST_VALUES = 60
Body = Callable[[list[Stream[Any, int]], list[Pairs], int], Any]  # streams, what they mean, how many are inside


class Unusable(Exception):
    """A loop that does not end soon, or whose bags grow."""


def round_of(time: Any, number: int) -> Any:
    """A time inside of a loop."""
    return (*time, number) if isinstance(time, tuple) else (time, number)


def small(value: int) -> int:
    return value % 17


def key_of(value: int) -> int:
    return value % 3


def add(key: int, left: int, right: int) -> int:
    return (left + 2 * right + key) % 17


def inside_step(
    random: Random, name: str, streams: list[Any], meant: list[Pairs], inside: int, goes_alone: bool
) -> Any:
    """One operator in a body: its first stream is one of the `inside` first ones, its second one may be any."""
    number = random.randrange(inside)
    other = random.randrange(len(streams))
    stream, pairs = streams[number], meant[number]
    keyed = stream.key_on(key_of, small)
    by_key = [(t, (key_of(v), small(v))) for t, v in pairs]
    kind = random.randrange(10)
    if kind == 0:
        return stream.map(lambda v: v * 5 + 1), [(t, v * 5 + 1) for t, v in pairs]
    if kind == 1:
        return stream.filter(lambda v: v % 4), [(t, v) for t, v in pairs if v % 4]
    if kind == 2:
        return stream.map_at(lambda t, v: v + t[-1]), [(t, v + t[-1]) for t, v in pairs]
    if kind == 3:
        return stream.distinct(name=name), oracle.distinct(pairs)
    if kind == 4:
        means = [(t, k + n) for t, (k, n) in oracle.aggregated(by_key, len)]
        return keyed.count(name=name).map(sum), means
    if kind == 5:
        means = [(t, k + n) for t, (k, n) in oracle.aggregated(by_key, min)]
        return keyed.min(name=name).map(sum), means
    if kind == 6:
        means = [(t, small(sum(oracle.values_at(pairs, t)))) for t in oracle.times_of(pairs)]
        return stream.whole(lambda t, bag: [small(sum(bag))], name=name), means
    if kind == 7 and (other < inside or not goes_alone):
        return stream.merge(streams[other]), [*pairs, *meant[other]]
    right = streams[other].key_on(key_of, small)
    its = [(t, (key_of(v), small(v))) for t, v in meant[other]]
    if kind == 8 and (other < inside or not goes_alone):
        how: Any = random.choice(["left", "semi", "anti"])
        take = lambda key, left, right: small(left + (right or 0))  # noqa: E731
        return keyed.join(right, take, how=how, name=name), oracle.joined(by_key, its, take, how)
    if random.random() < 0.5:
        return keyed.join(right, add, name=name), oracle.joined(by_key, its, add, "inner")
    turned = lambda key, left, right: add(key, right, left)  # noqa: E731
    return right.join(keyed, turned, name=name), oracle.joined(its, by_key, turned, "inner")


def steps(seed: int, name: str, streams: list[Any], meant: list[Pairs], inside: int, depth: int, alone: bool) -> Any:
    """The streams of a body, those inside first, and what they mean: one more for each operator."""
    random = Random(seed)
    streams, meant = [*streams], [*meant]
    for number in range(random.randint(1, 4)):
        path = f"{name} {number}"
        if depth and not alone and random.random() < 0.4:
            found = looped(random, path, streams, meant, depth=depth - 1, inside=inside)
        else:
            found = inside_step(random, path, streams, meant, inside, alone)
        if len(found[1]) > MOST_VALUES:
            raise Unusable
        streams.insert(inside, found[0])
        meant.insert(inside, found[1])
        inside += 1
    return streams[inside - 1], meant[inside - 1]


def looped(
    random: Random,
    name: str,
    streams: list[Any],
    meant: list[Pairs],
    below: Order | None = None,
    shown: dict[str, Pairs] | None = None,
    depth: int = 1,
    inside: int | None = None,
) -> Any:
    """A loop that begins with some of these streams. Where it would not end soon, one of them as it is.

    shown : where to note what the output that shows its rounds means
    """
    count = len(streams) if inside is None else inside
    seed = random.randrange(2**32)
    start = random.randrange(count)
    outside = random.randrange(len(streams))
    kind = random.choice(["unchanged", "rounds", "until", "two", "loop"])
    number = random.randint(1, 4)
    given = streams[start], meant[start], streams[outside], meant[outside]
    try:
        if kind == "loop":
            return _alone(seed, name, *given, shown)
        if kind == "two":
            return _two(seed, name, number, *given, shown)
        return _by_rounds(seed, name, kind, number, *given, shown, depth)
    except Unusable:
        if shown is None:  # what is written must not depend on what the streams of a round mean
            raise
        return streams[start], meant[start]


def _at(pairs: Pairs, time: Any, number: int) -> Pairs:
    return [(round_of(time, number), value) for value in oracle.values_at(pairs, time)]


def _apart(count: int) -> list[Stream[Any, int]]:
    """Streams of a program that never runs, in a loop of it, for bodies to be written on."""
    flow: Flow[Any] = Flow()
    return [flow.input(f"in {number}") for number in range(count)]


def until_few(before: list[int], now: list[int], round: int) -> bool:
    return len(now) <= round or sorted(before) == sorted(now)


def _by_rounds(
    seed: int,
    name: str,
    kind: str,
    number: int,
    stream: Any,
    pairs: Pairs,
    other: Any,
    others: Pairs,
    shown: Any,
    depth: int,
) -> Any:
    until: Any = {"unchanged": unchanged, "rounds": rounds(number), "until": until_few}[kind]
    means: Pairs = []
    seen: Pairs = []
    for time in oracle.times_of(pairs):
        now = oracle.values_at(pairs, time)
        for count in range(MOST_ROUNDS + 1):
            seen += [(round_of(time, count), value) for value in now]
            at = [(round_of(time, count), value) for value in now]
            _, found = steps(seed, name, _apart(2), [at, _at(others, time, count)], 1, depth, False)
            after = [small(value) for _, value in found]
            over = {
                "unchanged": Counter(now) == Counter(after),
                "rounds": count + 1 >= number,
                "until": until_few(now, after, count + 1),
            }[kind]
            now = after
            if over:
                break
        else:
            raise Unusable
        means += [(time, value) for value in now]

    def body(variable: Any) -> Any:
        if shown is not None:
            variable.output(f"{name} rounds")
        return steps(seed, name, [variable, other], [[], []], 1, depth, False)[0].map(small, name=f"{name} small")

    found = stream.iterate(body, until, name=name)
    if shown is not None:
        shown[f"{name} rounds"] = seen
    return found, means


def _two(
    seed: int, name: str, number: int, stream: Any, pairs: Pairs, other: Any, others: Pairs, shown: Any
) -> Any:  # fmt: skip
    """Two variables, each of which gets what a body makes of both, the other one first."""
    means: Pairs = []
    seen: Pairs = []
    for time in sorted({*oracle.times_of(pairs), *oracle.times_of(others)}):
        one, two = oracle.values_at(pairs, time), oracle.values_at(others, time)
        for count in range(number):
            at = round_of(time, count)
            seen += [(at, value) for value in two]
            both = [[(at, value) for value in one], [(at, value) for value in two]]
            _, found = steps(seed, name, _apart(2), both, 2, 0, False)
            one, two = two, [small(value) for _, value in found]
        means += [(time, value) for value in [*one, *one, *two]]

    def body(first: Any, second: Any) -> Any:
        if shown is not None:
            second.output(f"{name} rounds")
        return second, steps(seed, name, [first, second], [[], []], 2, 0, False)[0].map(small, name=f"{name} small")

    first, second = stream._flow.iterate((stream, other), body, rounds(number), name=name)
    if shown is not None:
        shown[f"{name} rounds"] = seen
    return first.merge(second, first), means


def _alone(seed: int, name: str, stream: Any, pairs: Pairs, other: Any, others: Pairs, shown: Any) -> Any:
    """Values go round alone: what a body gives is halved and goes again, down to 0; what is odd is done."""
    means: Pairs = []
    seen: Pairs = []
    for time in oracle.times_of(pairs):
        now = [small(value) for value in oracle.values_at(pairs, time)]
        for count in range(MOST_ROUNDS):
            at = round_of(time, count)
            seen += [(at, value) for value in now]
            _, found = steps(seed, name, _apart(2), [[(at, v) for v in now], _at(others, time, count)], 1, 0, True)
            made = [small(value) for _, value in found]
            means += [(time, value) for value in made if value % 2]
            now = [value // 2 for value in made if value // 2 > count]
            if not now:
                break
        else:
            raise Unusable

    def body(inside: Any) -> Any:
        if shown is not None:
            inside.output(f"{name} rounds")
        made = steps(seed, name, [inside, other], [[], []], 1, 0, True)[0].map(small, name=f"{name} small")
        again = made.map_at(lambda time, value: (time[-1], value // 2)).filter(lambda pair: pair[1] > pair[0])
        return again.map(lambda pair: pair[1]), made.filter(lambda value: value % 2)

    found = stream.map(small).loop(body, name=name)
    if shown is not None:
        shown[f"{name} rounds"] = seen
    return found, means
