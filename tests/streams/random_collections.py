"""Random programs of collections, and what they give, recomputed from scratch at each time by plain Python.

A program is a nested tuple: an operator, numbers that choose its function, and the programs that it reads. All values
are pairs of small numbers, so that any operator may follow any other. The oracle knows bags and rounds, and nothing of
changes: a loop is computed round by round, until a round has given what it began with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product as combinations_of
from random import Random
from typing import Any, NamedTuple

from graphs.streams import Collection, Flow
from progress.runtime import Complete

SIZE = 4  # keys and values are numbers below it
MOST_ROUNDS = 25
MOST_VALUES = 400
Expression = tuple[Any, ...]
Bag = Counter[Any]
Time = Any


class Unusable(Exception):
    """A program that does not come to rest, or takes away what is not there."""


class Program(NamedTuple):
    """A program, its epochs and what comes in."""

    expression: Expression
    time: Any
    less_equal: Callable[[Time, Time], bool]
    times: list[Time]  # at which something may change
    changes: list[list[tuple[Time, tuple[Any, int]]]]  # by input


# --- functions, chosen by numbers -------------------------------------------------------------------------------------


def moved(a: int, b: int, pair: Any) -> tuple[int, int]:
    """Another pair."""
    key, value = pair
    return (key + a) % SIZE, (value + b * key) % SIZE


def is_kept(a: int, pair: Any) -> bool:
    """Whether a pair is kept."""
    return bool((pair[0] * 2 + pair[1]) % 5 != a)


def spread(a: int, pair: Any) -> list[tuple[int, int]]:
    """None, one or two pairs."""
    key, value = pair
    return [(value, key), (key, (value + a) % SIZE)][: (key + a) % 3]


def joined(a: int, key: int, left: int, right: int) -> tuple[int, int]:
    """What becomes of two values of a key."""
    return (right, left) if a == 0 else ((key + a) % SIZE, (left + right) % SIZE)


def reduced(a: int, key: int, values: list[int]) -> list[int]:
    """What becomes of all values of a key."""
    if a == 0:
        return [min(values)]
    if a == 1:
        return [len(values) % SIZE]
    return sorted(values)[: len(values) // 2]


# --- programs ---------------------------------------------------------------------------------------------------------


def expression(random: Random, depth: int, loops: int, known: int) -> Expression:
    """A program of this depth at most, in whose loops `known` variables are known."""
    if depth == 0 or random.random() < 0.05:
        if known and random.random() < 0.6:
            return "variable", random.randrange(known)
        return "input", random.randrange(2)

    def inner(less: int = 1) -> Expression:
        return expression(random, depth - less, loops, known)

    kind = random.choice(
        ["map", "filter", "flat_map", "concat", "minus", "distinct", "count", "reduce", "join", "join"]
        + ["iterate"] * (5 if loops else 0)
    )
    a, b = random.randrange(3), random.randrange(3)
    if kind in ("map", "filter", "flat_map", "distinct", "count", "reduce"):
        return kind, a, b, inner()
    if kind != "iterate":
        return kind, a, b, inner(), inner(2 if depth > 1 else 1)
    start = expression(random, max(depth - 3, 0), 0, known)
    body = expression(random, depth - 1, loops - 1, known + 1)
    ending = random.choice(["grow", "least", "own"] if mentions(body, known) else ["grow", "least"])
    if ending == "grow":  # more and more of few values
        body = "distinct", 0, 0, ("concat", 0, 0, ("variable", known), body)
    elif ending == "least":
        body = "reduce", 0, 0, ("concat", 0, 0, body, ("variable", known))
    return "iterate", start, body


def mentions(program: Any, variable: int) -> bool:
    """Whether a program reads a variable."""
    return isinstance(program, tuple) and (
        program == ("variable", variable) or any(mentions(each, variable) for each in program)
    )


def depth_of(program: Any) -> int:
    """How many loops in each other there are in it."""
    if not isinstance(program, tuple):
        return 0
    return max((depth_of(each) for each in program), default=0) + (program[:1] == ("iterate",))


# --- what it gives ----------------------------------------------------------------------------------------------------


def meaning(program: Expression, inputs: list[Bag], variables: list[Bag], rounds: list[list[Bag]]) -> Bag:
    """The bag that a program gives for bags; `rounds` collects what its outermost loops had in each round."""
    kind = program[0]
    if kind == "input":
        return inputs[program[1]]
    if kind == "variable":
        return variables[program[1]]
    if kind == "iterate":
        now = meaning(program[1], inputs, variables, [])
        seen = [now]
        while True:
            after = meaning(program[2], inputs, [*variables, now], [])
            if after == now:
                break
            now = after
            seen.append(now)
            if len(seen) > MOST_ROUNDS:
                raise Unusable
        rounds.append(seen)
        return now
    _, a, b, *read = program
    bags = [meaning(each, inputs, variables, rounds) for each in read]
    found: Bag = Counter()
    for value, count in _made(kind, a, b, bags):
        found[value] += count
    found = Counter({value: count for value, count in found.items() if count})
    if sum(map(abs, found.values())) > MOST_VALUES:
        raise Unusable
    return found


def _made(kind: str, a: int, b: int, bags: list[Bag]) -> Iterable[tuple[Any, int]]:
    bag = bags[0]
    if kind == "map":
        return [(moved(a, b, value), count) for value, count in bag.items()]
    if kind == "filter":
        return [(value, count) for value, count in bag.items() if is_kept(a, value)]
    if kind == "flat_map":
        return [(each, count) for value, count in bag.items() for each in spread(a, value)]
    if kind == "concat":
        return [*bag.items(), *bags[1].items()]
    if kind == "minus":
        return [*bag.items(), *((value, -count) for value, count in bags[1].items())]
    if kind == "distinct":
        return [(value, 1) for value, count in bag.items() if count > 0]
    if kind == "join":
        pairs = combinations_of(bag.items(), bags[1].items())
        return [(joined(a, x[0], x[1], y[1]), m * n) for (x, m), (y, n) in pairs if x[0] == y[0]]
    if any(count < 0 for count in bag.values()):
        raise Unusable
    if kind == "count":
        return [((value[0], count % SIZE), 1) for value, count in bag.items()]
    by_key: dict[int, list[int]] = {}
    for key, value in bag.elements():
        by_key.setdefault(key, []).append(value)
    return [((key, each), 1) for key, values in by_key.items() for each in reduced(a, key, values)]


# --- as a program of streams ------------------------------------------------------------------------------------------


class Building:
    """A program as one of `graphs.streams`. Loops that stand in no other one show their rounds by an output."""

    def __init__(self, flow: Flow[Any]) -> None:
        self.inputs = [flow.collection(f"input {number}") for number in range(2)]
        self.count = 0
        self.loops = 0

    def name(self, kind: str) -> str:
        """A name that no other step has."""
        self.count += 1
        return f"{kind} {self.count}"

    def build(self, program: Expression, variables: list[Collection[Any, Any]]) -> Collection[Any, Any]:
        """The collection that a program gives."""
        kind = program[0]
        if kind == "input":
            return self.inputs[program[1]]
        if kind == "variable":
            return variables[program[1]]
        if kind == "iterate":
            is_outermost = not variables
            start = self.build(program[1], variables)

            def body(inside: Collection[Any, Any]) -> Collection[Any, Any]:
                if is_outermost:
                    inside.changes().output(f"rounds {self.loops}")
                    self.loops += 1
                # a variable alone is none of the body's steps
                return self.build(program[2], [*variables, inside]).map(_same, name=self.name("same"))

            return start.iterate(body, most=10 * MOST_ROUNDS, name=self.name("iterate"))
        _, a, b, *read = program
        first, *others = [self.build(each, variables) for each in read]
        name = self.name(kind)
        if kind == "map":
            return first.map(lambda pair: moved(a, b, pair), name=name)
        if kind == "filter":
            return first.filter(lambda pair: is_kept(a, pair), name=name)
        if kind == "flat_map":
            return first.flat_map(lambda pair: spread(a, pair), name=name)
        if kind == "concat":
            return first.concat(others[0], name=name)
        if kind == "minus":
            return first.concat(others[0].negate(name=f"{name} negated"), name=name)
        if kind == "distinct":
            return first.distinct(name=name)
        if kind == "count":
            return first.count(name=name).map(lambda pair: (pair[0][0], pair[1] % SIZE), name=f"{name} small")
        if kind == "join":
            return first.join(others[0], lambda key, x, y: joined(a, key, x, y), name=name)
        return first.reduce(lambda key, values: reduced(a, key, values), name=name)


def _same(value: Any) -> Any:
    return value


# --- times and changes ------------------------------------------------------------------------------------------------


def at_or_before(earlier: Time, later: Time) -> bool:
    """The order of numbers, and of tuples coordinate by coordinate."""
    if isinstance(earlier, tuple):
        return all(one <= other for one, other in zip(earlier, later, strict=True))
    return bool(earlier <= later)


BELOW = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"], ["c", "e"], ["d", "f"], ["c", "g"], ["d", "g"]]
FINITE = {"finite": {"elements": [*"abcdefg"], "below": BELOW}}
ABOVE = {"a": "acdefg", "b": "bcdefg", "c": "ceg", "d": "dfg", "e": "e", "f": "f", "g": "g"}  # c, d: least above a, b


def epochs(random: Random) -> tuple[Any, Callable[[Time, Time], bool], list[Time]]:
    """A domain of epochs, its order, and times of it that have with any two those at or after both."""
    kind = random.choice(["nat", "nat", "product", "finite", "lex"])
    if kind == "nat":
        return "nat", at_or_before, [*range(random.randint(2, 5))]
    if kind == "product":
        return {"product": ["nat", "nat"]}, at_or_before, [*combinations_of(range(3), range(2))]
    if kind == "finite":
        return FINITE, lambda earlier, later: later in ABOVE[earlier], [*"abcdefg"]
    return {"product": ["nat", "unit"]}, lambda one, other: bool(one[0] <= other[0]), [(n, None) for n in range(3)]


def random_program(seed: int) -> Program:
    """A program and its input; the same for a seed."""
    random = Random(seed)
    while True:
        time, less_equal, times = epochs(random)
        program = expression(random, random.randint(2, 7), random.choice([0, 1, 2, 2]), 0)
        changes: list[list[tuple[Time, tuple[Any, int]]]] = []
        for _ in range(2):
            there: list[tuple[Time, tuple[Any, int]]] = []
            for _ in range(random.randint(0, 8)):
                pair = random.randrange(SIZE), random.randrange(SIZE)
                at = random.choice(times)
                there.append((at, (pair, 1)))
                if random.random() < 0.5:  # taken away later
                    there.append((random.choice([each for each in times if less_equal(at, each)]), (pair, -1)))
            changes.append(there)
        found = Program(program, time, less_equal, times, changes)
        try:
            for each in times:
                scratch(found, each)
        except Unusable:
            continue
        return found


def scratch(program: Program, time: Time, rounds: list[list[Bag]] | None = None) -> Bag:
    """What a program gives at a time, from scratch."""
    bags = [total(changes, time, program.less_equal) for changes in program.changes]
    return meaning(program.expression, bags, [], [] if rounds is None else rounds)


def total(changes: Iterable[tuple[Time, tuple[Any, int]]], time: Time, less_equal: Callable[[Any, Any], bool]) -> Bag:
    """The sum of changes up to a time."""
    found: Bag = Counter()
    for at, (value, count) in changes:
        if less_equal(at, time):
            found[value] += count
    return Counter({value: count for value, count in found.items() if count})


def sources(program: Program, random: Random) -> dict[str, Any]:
    """What comes in, in any order; over numbers, sometimes epoch by epoch."""
    found: dict[str, Any] = {}
    for number, changes in enumerate(program.changes):
        mixed = random.sample(changes, len(changes))
        if program.time == "nat" and random.random() < 0.5:
            mixed.sort(key=lambda change: change[0])
            items: list[Any] = []
            for at, change in mixed:
                items += [Complete([at]), (at, change)] if random.random() < 0.5 else [(at, change)]
            found[f"input {number}"] = items
        else:
            found[f"input {number}"] = mixed
    return found


def run(program: Program, engine: str, seed: int) -> tuple[Any, int]:
    """What the program of streams gives, and how many of its loops show their rounds."""
    flow: Flow[Any] = Flow(time=program.time)
    building = Building(flow)
    building.build(program.expression, []).changes(name="result").output("out")
    chosen = seed if engine == "sim" else None
    given = sources(program, Random(seed))
    return flow.run(sources=given, engine=engine, seed=chosen), building.loops


def check(seed: int, engine: str = "sim") -> None:
    """Compare a program with what it means, at every time; the rounds of its loops as well."""
    program = random_program(seed)
    found, loops = run(program, engine, seed)
    told = found["out"]
    assert all(at in program.times and change[1] for at, change in told), "changes of nothing, or at other times"
    assert len({(at, change[0]) for at, change in told}) == len(told), "a value is changed twice at a time"
    shown = [found[f"rounds {number}"] for number in range(loops)]
    for each in shown:
        assert len({(at, change[0]) for at, change in each}) == len(each), "a value is changed twice in a round"
    last: dict[int, int] = {}
    for time in program.times:
        rounds: list[list[Bag]] = []
        assert total(told, time, program.less_equal) == scratch(program, time, rounds), time
        assert len(rounds) == loops
        for number, (outside, bags) in enumerate(zip(shown, rounds, strict=True)):

            def is_before(one: Any, other: Any) -> bool:
                return program.less_equal(part(program, one), part(program, other)) and one[-1] <= other[-1]

            for count in range(len(bags) + 2):  # it stays as it is
                at = (*time, count) if isinstance(time, tuple) else (time, count)
                assert total(outside, at, is_before) == bags[min(count, len(bags) - 1)], (time, count)
            last[number] = max(last.get(number, 0), len(bags))
    for number, outside in enumerate(shown):
        assert all(at[-1] < last[number] for at, _ in outside), "a round more than there are"


def part(program: Program, time: Any) -> Any:
    """The epoch of a time in a loop."""
    return time[:-1] if isinstance(program.times[0], tuple) else time[0]
