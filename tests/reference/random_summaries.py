"""Hypothesis strategies: built-in domains, their times, and the declared summaries that fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from graphs.files.notation import read_summary
from graphs.graph import bind
from progress import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit
from progress.plain import write_time
from progress.summary import NormalSummary
from tests.reference.meaning import MARGIN, Notation, window_size

LARGEST = 3  # number in a time
POSETS = (
    Finite("abc", ["ab", "bc"]),
    Finite("zyx", ["xy", "yz"]),
    Finite("abcd", ["ab", "ac", "bd", "cd"]),
    Finite("abcd", ["ac", "ad", "bc", "bd"]),
    Finite("ab"),
    Finite("a"),
)
MOST_TIMES = 4_000


def _leaves(total: bool) -> st.SearchStrategy[Domain]:
    kinds: list[st.SearchStrategy[Any]] = [
        st.just(Nat()),
        st.just(Nat()),
        st.just(Int()),
        st.builds(Nat, st.integers(0, 3)),
        st.just(Unit()),
        st.sampled_from(POSETS[:2] if total else POSETS),
    ]
    return st.one_of(*kinds)


def _compound(total: bool, depth: int) -> st.SearchStrategy[Domain]:
    if depth == 0:
        return _leaves(total)
    chains = st.lists(_compound(True, depth - 1), min_size=1, max_size=3).map(Lex)
    if total:
        return st.one_of(_leaves(True), chains)
    parts = _compound(False, depth - 1)
    return st.one_of(
        _leaves(False),
        st.lists(parts, min_size=1, max_size=3).map(Product),
        chains,
        st.dictionaries(st.sampled_from(["left", "right"]), parts, min_size=1, max_size=2).map(Sum),
    )


def _is_small(domain: Domain) -> bool:
    return window_size(domain, -2 * MARGIN, 2 * MARGIN) <= MOST_TIMES


domains: st.SearchStrategy[Domain] = _compound(False, 2).filter(_is_small)


def times_of(domain: Domain) -> st.SearchStrategy[Any]:
    """Times with small numbers."""
    if isinstance(domain, Product | Lex):
        return st.tuples(*map(times_of, domain.parts))
    if isinstance(domain, Sum):
        return st.one_of(*(st.builds(Tagged, st.just(tag), times_of(part)) for tag, part in domain.summands.items()))
    if isinstance(domain, Unit):
        return st.none()
    if isinstance(domain, Finite):
        return st.sampled_from(domain.elements)
    if isinstance(domain, Nat):
        return st.integers(0, LARGEST if domain.maximum is None else min(LARGEST, domain.maximum))
    return st.integers(-LARGEST, LARGEST)


def _amounts(domain: Domain) -> st.SearchStrategy[Any]:
    if isinstance(domain, Product | Lex):
        return st.tuples(*map(_amounts, domain.parts))
    return st.integers(-LARGEST, LARGEST) if isinstance(domain, Nat | Int) else st.just(0)


def _ends_in_number(domain: Domain) -> bool:
    return _ends_in_number(domain.parts[-1]) if isinstance(domain, Product | Lex) else isinstance(domain, Nat | Int)


def endomorphisms(domain: Domain, depth: int = 1) -> st.SearchStrategy[Notation]:
    """Summaries from a domain to itself."""
    kinds: list[st.SearchStrategy[Notation]] = [
        st.just("identity"),
        st.just("never"),
        times_of(domain).map(lambda time: {"at_least": time}),
        times_of(domain).map(lambda time: {"constant": time}),
        _tables(domain, domain),
        _amounts(domain).map(lambda amount: {"advance": amount}),
        _amounts(domain).map(lambda amount: {"advance": amount}),
    ]
    if _ends_in_number(domain):
        kinds.append(st.just("feedback"))
    if isinstance(domain, Nat | Int):
        kinds.append(st.integers(1, MARGIN).map(lambda step: {"round_up": step}))
    if depth:
        several = st.lists(endomorphisms(domain, depth - 1), min_size=1, max_size=3)
        kinds.append(several.map(lambda parts: {"any": parts}))
        kinds.append(several.map(lambda parts: {"then": [(part, domain) for part in parts]}))
    return st.one_of(*kinds)


def _fits(outer: Product | Lex, inner: Domain) -> bool:
    """Whether it may be the last coordinate: a lexicographic order is one of total orders."""
    return isinstance(outer, Product) or inner.is_total


def _tables(source: Domain, target: Domain) -> st.SearchStrategy[Notation]:
    rows = st.lists(st.tuples(times_of(source), times_of(target)), min_size=1, max_size=3)
    return rows.map(lambda listed: {"map": listed})


@st.composite
def steps(draw: st.DrawFn, source: Domain) -> tuple[Notation, Domain]:
    """A summary and the domain to which it leads."""
    moves: list[tuple[Notation, Domain]] = []
    if isinstance(source, Product | Lex):
        moves.append(("enter", type(source)([*source.parts, Nat()])))
        last = source.parts[-1] if source.parts else Product([])
        outside = (*source.parts[:-1],)
        if not isinstance(last, Product | Lex | Sum):
            inside: list[Domain] = [Product([last, Nat(2)])]
            if last.is_total:
                inside.append(Lex([last, Nat(2)]))
            moves += [({"enter": 1}, type(source)([*outside, inner])) for inner in inside if _fits(source, inner)]
        elif isinstance(last, Product | Lex) and len(last.parts) > 1 and len(source.parts) > 1:
            moves.append(("leave", type(source)([*outside, type(last)(last.parts[:-1])])))
        if len(source.parts) > 2:
            moves.append(("leave", type(source)(source.parts[:-1])))
        if len(source.parts) == 2:
            moves += [("leave", source.parts[0]), ("leave", type(source)(source.parts[:1]))]
    else:
        moves.append(({"enter": draw(st.integers(0, 2))}, Product([source, Nat()])))
        moves.append(({"enter": -1}, Product([source, Int()])))
        if source.is_total:
            moves.append(("enter", Lex([source, Nat(1)])))
    if isinstance(source, Sum):
        moves += [({"untag": tag}, part) for tag, part in source.summands.items()]
    else:
        moves.append(({"tag": "here"}, Sum({"here": source, "there": Nat()})))
    other = draw(domains)
    moves.append(({"constant": draw(times_of(other))}, other))
    moves.append((draw(_tables(source, other)), other))
    moves = [(notation, target) for notation, target in moves if _is_small(target)]
    return draw(st.one_of(endomorphisms(source).map(lambda notation: (notation, source)), st.sampled_from(moves)))


def bound(notation: Notation, source: Domain, target: Domain) -> NormalSummary:
    """The summary as the library has it, read from its notation."""
    summary = bind(read_summary(written(notation)), source, target)
    assert isinstance(summary, NormalSummary)
    return summary


def written(notation: Notation) -> Notation:
    """As a graph file writes it."""
    match notation:
        case {"then": parts}:
            return {"then": [written(part) for part, _ in parts]}
        case {"any": parts}:
            return {"any": list(map(written, parts))}
        case {"tag": _} | {"untag": _} | str():
            return notation
        case {"map": rows}:
            return {"map": [[write_time(before), write_time(after)] for before, after in rows]}
    [(word, value)] = notation.items()
    return {word: write_time(value)}
