"""Times as flat rows of integers: the coordinates in which summaries are computed.

Every time of a built-in domain is a *case* (which summand, for each `Sum` met on the way) and a row of numbers, one for
each *leaf*: naturals and integers as they are, elements of finite orders as ranks. `Product` and `Lex` concatenate the
rows of their parts; `Unit` has no leaf. How the leaves together decide an order is the *structure*.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as combinations_of
from typing import Any, NamedTuple, TypeAlias

from progress.errors import PointstampError
from progress.order import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Time, Unit

Case: TypeAlias = tuple[str, ...]
Numbers: TypeAlias = tuple[int, ...]
Structure: TypeAlias = "int | tuple[str, tuple[Structure, ...]]"

MOST_CASES = 1024


class Leaf(NamedTuple):
    """One coordinate: its least and greatest number (None: unbounded); `names` by rank and `order` for finite ones."""

    low: int | None
    high: int | None
    order: Finite | None = None

    @property
    def numeric(self) -> bool:
        """Whether the order of the numbers is the order of the times: all but finite orders that are not total."""
        return self.order is None or self.order.is_total

    def less_equal(self, one: int, other: int) -> bool:
        """The order of this coordinate."""
        if self.order is None or self.order.is_total:
            return one <= other
        names = self.order.by_rank
        return self.order.less_equal(names[one], names[other])


class Rows(NamedTuple):
    """The leaves of one case, and the structure: a leaf's position, or ("product" | "lex", structures)."""

    leaves: tuple[Leaf, ...]
    structure: Structure


class Layout:
    """The rows of a domain, one `Rows` for each case, with the translation there and back."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        cases = _cases(domain)
        if len(cases) > MOST_CASES:
            raise PointstampError("PS012", f"a domain has {len(cases)} combinations of tags", f"at most {MOST_CASES}")
        self.rows: dict[Case, Rows] = {case: _rows(domain, case) for case in cases}
        self.plain = list(cases) == [()] and _is_row(domain)

    def encode(self, time: Any) -> tuple[Case, Numbers]:
        """The case and the numbers of a time. Cost: O(leaves)."""
        if self.plain:
            return (), time
        case: list[str] = []
        numbers: list[int] = []
        _encode(self.domain, time, case, numbers)
        return tuple(case), tuple(numbers)

    def decode(self, case: Case, numbers: Numbers) -> Any:
        """The time with this case and these numbers."""
        if self.plain:
            return numbers
        return _decode(self.domain, iter(case).__next__, iter(numbers).__next__)


def layout_of(domain: Domain) -> Layout | None:
    """The layout of a built-in domain, None for a domain of the user's own (alone or as a part)."""
    if domain not in _layouts:
        _layouts[domain] = Layout(domain) if _is_built_in(domain) else None
    return _layouts[domain]


_layouts: dict[Domain, Layout | None] = {}


def _is_built_in(domain: Domain) -> bool:
    if isinstance(domain, Product | Lex):
        return all(map(_is_built_in, domain.parts))
    if isinstance(domain, Sum):
        return all(map(_is_built_in, domain.summands.values()))
    return isinstance(domain, Nat | Int | Unit | Finite)


def _is_row(domain: Domain) -> bool:
    """Whether a time of the domain already is its row of numbers."""
    return isinstance(domain, Product | Lex) and all(isinstance(part, Nat | Int) for part in domain.parts)


def _cases(domain: Domain) -> list[Case]:
    if isinstance(domain, Product | Lex):
        parts = [_cases(part) for part in domain.parts]
        total = 1
        for part in parts:
            total *= len(part)
        if total > MOST_CASES:
            raise PointstampError("PS012", f"a domain has {total} combinations of tags", f"at most {MOST_CASES}")
        return [sum(choice, ()) for choice in combinations_of(*parts)]
    if isinstance(domain, Sum):
        return [(tag, *case) for tag, part in domain.summands.items() for case in _cases(part)]
    return [()]


def _rows(domain: Domain, case: Case) -> Rows:
    leaves: list[Leaf] = []
    structure = _structure(domain, iter(case).__next__, leaves)
    return Rows(tuple(leaves), structure)


def _structure(domain: Domain, next_tag: Callable[[], str], leaves: list[Leaf]) -> Structure:
    if isinstance(domain, Product | Lex):
        word = "lex" if isinstance(domain, Lex) else "product"
        return word, tuple(_structure(part, next_tag, leaves) for part in domain.parts)
    if isinstance(domain, Sum):
        return _structure(domain.summands[next_tag()], next_tag, leaves)
    if isinstance(domain, Unit):
        return "product", ()
    if isinstance(domain, Finite):
        leaves.append(Leaf(0, len(domain.elements) - 1, domain))
    else:
        leaves.append(Leaf(0, domain.maximum) if isinstance(domain, Nat) else Leaf(None, None))
    return len(leaves) - 1


def _encode(domain: Domain, time: Any, case: list[str], numbers: list[int]) -> None:
    if isinstance(domain, Product | Lex):
        for part, item in zip(domain.parts, time, strict=True):
            _encode(part, item, case, numbers)
    elif isinstance(domain, Sum):
        case.append(time.tag)
        _encode(domain.summands[time.tag], time.value, case, numbers)
    elif isinstance(domain, Finite):
        numbers.append(domain.rank(time))
    elif not isinstance(domain, Unit):
        numbers.append(time)


def _decode(domain: Domain, next_tag: Callable[[], str], next_number: Callable[[], int]) -> Time:
    if isinstance(domain, Product | Lex):
        return tuple(_decode(part, next_tag, next_number) for part in domain.parts)
    if isinstance(domain, Sum):
        tag = next_tag()
        return Tagged(tag, _decode(domain.summands[tag], next_tag, next_number))
    if isinstance(domain, Finite):
        return domain.by_rank[next_number()]
    return None if isinstance(domain, Unit) else next_number()
