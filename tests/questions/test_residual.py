"""Summaries run backwards (`progress.normal_form.backwards`), judged by trying times.

The law: some time of `summary.apply(t)` is <= u exactly when t <= q for some q of `latest(u)`.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import inf
from typing import Any

import pytest

from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Finite, Int, Lex, Nat, PointstampError, Product
from progress.normal_form.backwards import latest
from progress.order import is_number
from progress.summary import NoMinimalTimes, NormalSummary, OpaqueSummary, Summary
from tests.tracking.flat_graphs import times_of

DOMAINS: tuple[Domain, ...] = (
    Nat(),
    Int(),
    Nat(3),
    Nat(0),
    Product([Nat(), Nat()]),
    Product([Int(), Nat(2)]),
    Product([Nat(), Nat(), Nat(2)]),
    Product([Nat()]),
    Product([Nat(0), Nat()]),
    Lex([Nat(), Nat()]),
    Lex([Int(), Nat(3)]),
    Lex([Nat(2), Nat()]),
    Lex([Nat(), Int(), Nat()]),
    Lex([Nat(1), Nat(1), Nat()]),
    Lex([Int()]),
)
PAIR, LEX = Product([Nat(), Nat()]), Lex([Nat(), Nat()])
SUMMARIES = 4_000
WORDS = [
    "identity",
    "advance",
    "advance",
    "feedback",
    "leave",
    "enter",
    "at_least",
    "constant",
    "round_up",
    "then",
    "any",
]


def declared(rng: random.Random, source: Domain, target: Domain, depth: int = 2) -> Any:
    """The notation of a summary, which may or may not fit."""
    word = rng.choice(WORDS)
    if word in ("then", "any"):
        number = rng.randint(1, 3)
        return {word: [declared(rng, source, target, depth - 1) for _ in range(number)]} if depth else "identity"
    if word == "advance":
        if is_number(source):
            return {word: rng.randint(-3, 3)}
        return {word: [rng.randint(-3, 3) for _ in source.parts]}  # type: ignore[attr-defined]
    if word in ("at_least", "constant"):
        time = times_of(rng, target if word == "constant" else source)
        return {word: list(time) if isinstance(time, tuple) else time}
    if word == "enter" and rng.random() < 0.5:
        return {word: rng.randint(-1, 2)}
    return {word: rng.randint(1, 4)} if word == "round_up" else word


def below(domain: Domain, time: Any, top: Any) -> bool:
    """Whether time <= top, whose coordinates may have no end."""
    if is_number(domain):
        return bool(time <= top)
    if isinstance(domain, Lex):
        return bool(time <= top)
    return all(one <= other for one, other in zip(time, top, strict=True))


def judge(summary: Summary, rng: random.Random, seen: Counter[str]) -> None:
    source, target = summary.source, summary.target
    run_back = latest(summary)
    assert run_back is not None
    assert run_back is latest(summary), "it is made once"
    for _ in range(8):
        until = times_of(rng, target, 6)
        tops = list(run_back(until))
        for one, other in combinations(tops, 2):
            assert not below(source, one, other), f"{tops} at {until}"
            assert not below(source, other, one), f"{tops} at {until}"
        seen["several" if len(tops) > 1 else "one" if tops else "none"] += 1
        seen["without end"] += any(inf in (top if isinstance(top, tuple) else (top,)) for top in tops)
        near = [top for top in tops if source.contains(top)]
        for time in [*near, *(times_of(rng, source, 6) for _ in range(25))]:
            try:
                leads = any(target.less_equal(after, until) for after in summary.apply(time))
            except NoMinimalTimes:
                return
            covered = any(below(source, time, top) for top in tops)
            assert leads == covered, f"from {time} until {until}: {summary.apply(time)}, {tops}"
            seen["leads" if leads else "does not lead"] += 1


@pytest.mark.slow
def test_the_law_on_random_summaries() -> None:
    rng = random.Random(7)
    seen: Counter[str] = Counter()
    while seen["summaries"] < SUMMARIES:
        source = rng.choice(DOMAINS)
        target = source if rng.random() < 0.4 else rng.choice(DOMAINS)
        notation = declared(rng, source, target)
        if rng.random() < 0.05:  # several ways, none of which is below another
            source = target = rng.choice([PAIR, Product([Int(), Nat(2)])])
            notation = {"any": [{"advance": [rng.randint(-3, 3) for _ in range(2)]} for _ in range(3)]}
        try:
            summary = bind(read_summary(notation), source, target)
        except PointstampError:
            continue
        seen["summaries"] += 1
        seen["to itself" if source == target else "to another domain"] += 1
        try:
            judge(summary, rng, seen)
        except AssertionError as error:
            raise AssertionError(f"{notation} from {source!r} to {target!r}") from error
    for kind in ("to itself", "to another domain", "several", "one", "none", "without end", "leads", "does not lead"):
        assert seen[kind] > SUMMARIES / 10, seen


def summary_of(notation: Any, source: Domain, target: Domain | None = None) -> Summary:
    return bind(read_summary(notation), source, target or source)


KNOWN: list[tuple[Summary, Any, list[Any]]] = [
    (summary_of("identity", Nat()), 4, [4]),
    (summary_of({"advance": 3}, Nat()), 2, [-1]),  # no time at all is at or below that
    (summary_of({"advance": -3}, Nat()), 2, [5]),
    (summary_of({"at_least": 3}, Nat()), 2, []),
    (summary_of({"at_least": 3}, Nat()), 3, [3]),
    (summary_of({"round_up": 4}, Nat()), 7, [4]),
    (summary_of({"constant": 3}, Nat()), 3, [inf]),
    (summary_of("enter", Nat(), PAIR), (4, 1), [4]),
    (summary_of("leave", PAIR, Nat()), 4, [(4, inf)]),
    (summary_of("leave", LEX, Nat()), 4, [(4, inf)]),
    (summary_of({"advance": [0, 1]}, LEX), (4, 0), [(4, -1)]),  # all of (3, ...), nothing of (4, ...)
    (summary_of({"advance": [1, 0]}, LEX), (4, 2), [(3, 2)]),
    (summary_of({"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, PAIR), (4, 4), [(4, 3), (3, 4)]),
    (summary_of("never", Nat()), 4, []),
]


@pytest.mark.parametrize(("summary", "until", "tops"), KNOWN, ids=[f"{each[0]}-{each[1]}" for each in KNOWN])
def test_known_ones(summary: Summary, until: Any, tops: list[Any]) -> None:
    run_back = latest(summary)
    assert run_back is not None
    assert sorted(run_back(until)) == sorted(tops)


def test_a_bound_without_end() -> None:
    """What runs back one summary may have no end in a coordinate, and be run back another one."""
    through = latest(summary_of({"advance": [1, 2]}, PAIR))
    assert through is not None
    assert list(through((4, inf))) == [(3, inf)]
    boxed = latest(summary_of({"at_least": [3, 3]}, PAIR))
    assert boxed is not None
    assert list(boxed((4, inf))) == [(4, inf)]
    assert list(boxed((2, inf))) == []


def test_there_is_no_such_form_elsewhere() -> None:
    class Custom:
        def apply(self, time: int) -> list[int]:
            return [time]

    assert latest(OpaqueSummary(Nat(), Nat(), Custom())) is None
    finite = Finite(["a", "b"], [("a", "b")])
    assert latest(summary_of("identity", finite)) is None
    nested = Product([PAIR, Nat()])
    summary = summary_of("identity", nested)
    assert isinstance(summary, NormalSummary)
    assert latest(summary) is None
