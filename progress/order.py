"""Partial orders of times: what a time is, and when one time is at or before another (A&I 2.1).

A graph may mix domains, one a location; times of different domains are never compared. Times are plain hashable Python
values: `int`, `None` (the one time of `Unit`), `tuple` (`Product`, `Lex`), `str` (`Finite`) and `Tagged` (`Sum`).

The laws every domain keeps, all checkable with `progress.laws`: `less_equal` is reflexive, antisymmetric and
transitive; `minimal_upper_bounds(a, b)` are exactly the minimal times at or above both; `least()` lies below all times
that lie above any minimal one; `sort_key` is a linear extension: a < b implies sort_key(a) < sort_key(b).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from itertools import product as combinations_of
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from progress.errors import PointstampError
from progress.notebook import InNotebooks, Shown, shown_order

Time: TypeAlias = Hashable


class Tagged(NamedTuple):
    """A time of a `Sum`: which summand it belongs to, and the time there.

    Examples
    --------
    >>> from pointstamp import Tagged
    >>> Tagged("left", 3)
    Tagged(tag='left', value=3)
    """

    tag: str
    value: Time


@runtime_checkable
class Domain(Protocol):
    """The protocol of a partial order of times; implement it to bring your own.

    Where no finite set holds the minimal times that are asked for, `minimal_upper_bounds` and `least` raise
    `progress.summary.NoMinimalTimes` (PS601); the laws about them are then passed over.

    Examples
    --------
    >>> from pointstamp import check_domain, Nat
    >>> class Reversed(Nat):
    ...     def less_equal(self, one, other):
    ...         return one >= other
    >>> check_domain(Reversed()) is None
    False
    """

    @property
    def is_total(self) -> bool:
        """Whether any two times are comparable."""

    def contains(self, value: object) -> bool:
        """Whether `value` is a time of this domain."""

    def less_equal(self, earlier: Any, later: Any) -> bool:
        """Whether `earlier` <= `later`."""

    def minimal_upper_bounds(self, one: Any, other: Any) -> tuple[Any, ...]:
        """The minimal times that are >= both; none where there is no such time."""

    def least(self) -> tuple[Any, ...]:
        """The minimal times of the whole domain; empty where there are none, as for the integers."""

    def sort_key(self, value: Any) -> Any:
        """A key whose order is a linear extension of this one."""

    def sample(self) -> list[Any]:
        """A few times, enough to tell a broken law."""


def opening_times(domain: Domain) -> tuple[Any, ...]:
    """Where an input of this domain opens when nobody says where: its least times, or what it calls its `opening`."""
    found: tuple[Any, ...] = getattr(domain, "opening", domain.least)()
    return found


def comparing_costs(domain: Domain) -> int:
    """What a comparison of two times takes, in fourteenths of one of two numbers: it looks at every coordinate."""
    return 12 + _coordinates(domain)


def _coordinates(domain: Domain) -> int:
    if isinstance(domain, Product | Lex):
        return sum(map(_coordinates, domain.parts))
    if isinstance(domain, Sum):
        return max(map(_coordinates, domain.summands.values()))
    return 1


def is_integer(value: object) -> bool:
    """Whether `value` is an int and no bool: True is not a time."""
    return type(value) is int


class _Structural(InNotebooks):
    """Domains are values: equal when they are of one class and have equal parts."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Hashable) -> None:
        self._parts = parts

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._parts == other._parts)

    def __hash__(self) -> int:
        return hash((type(self), self._parts))

    def _shown(self) -> Shown:
        return shown_order(self)


class Nat(_Structural):
    """0, 1, 2, ... up to `maximum`, or without end.

    Examples
    --------
    >>> from pointstamp import Nat
    >>> Nat().less_equal(2, 3), Nat(9).contains(10)
    (True, False)
    """

    __slots__ = ("maximum",)
    is_total = True

    def __init__(self, maximum: int | None = None) -> None:
        if maximum is not None and (not is_integer(maximum) or maximum < 0):
            raise PointstampError("PS012", f"the maximum of nat is {maximum!r}", "a whole number from 0 on")
        super().__init__(maximum)
        self.maximum = maximum

    def __repr__(self) -> str:
        return "nat" if self.maximum is None else f"{{nat: {{max: {self.maximum}}}}}"

    def contains(self, value: object) -> bool:
        return is_integer(value) and value >= 0 and (self.maximum is None or value <= self.maximum)  # type: ignore[operator]

    def less_equal(self, earlier: int, later: int) -> bool:
        return earlier <= later

    def minimal_upper_bounds(self, one: int, other: int) -> tuple[int, ...]:
        return (max(one, other),)

    def least(self) -> tuple[int, ...]:
        return (0,)

    def sort_key(self, value: int) -> int:
        return value

    def sample(self) -> list[int]:
        return [value for value in (0, 1, 2, 3, 7) if self.contains(value)]


class Int(_Structural):
    """All integers; there is no least one.

    Examples
    --------
    >>> from pointstamp import Int
    >>> Int().less_equal(-5, 3), Int().contains("x")
    (True, False)
    """

    __slots__ = ()
    is_total = True

    def __init__(self) -> None:
        super().__init__(None)

    def __repr__(self) -> str:
        return "int"

    def contains(self, value: object) -> bool:
        return is_integer(value)

    def less_equal(self, earlier: int, later: int) -> bool:
        return earlier <= later

    def minimal_upper_bounds(self, one: int, other: int) -> tuple[int, ...]:
        return (max(one, other),)

    def least(self) -> tuple[int, ...]:
        return ()

    def sort_key(self, value: int) -> int:
        return value

    def sample(self) -> list[int]:
        return [-3, -1, 0, 1, 2, 7]


class Unit(_Structural):
    """One time, `None`: for what happens once.

    Examples
    --------
    >>> from pointstamp import Unit
    >>> Unit().contains(None)
    True
    """

    __slots__ = ()
    is_total = True

    def __init__(self) -> None:
        super().__init__(None)

    def __repr__(self) -> str:
        return "unit"

    def contains(self, value: object) -> bool:
        return value is None

    def less_equal(self, earlier: None, later: None) -> bool:
        return True

    def minimal_upper_bounds(self, one: None, other: None) -> tuple[None, ...]:
        return (None,)

    def least(self) -> tuple[None, ...]:
        return (None,)

    def sort_key(self, value: None) -> int:
        return 0

    def sample(self) -> list[None]:
        return [None]


class _Coordinates(_Structural):
    """What `Product` and `Lex` share: their times are tuples, one value for each of the `parts`."""

    __slots__ = ("parts",)
    _word = ""

    def __init__(self, parts: Sequence[Domain]) -> None:
        self.parts = tuple(parts)
        super().__init__(self.parts)

    def __repr__(self) -> str:
        return f"{{{self._word}: [{', '.join(map(repr, self.parts))}]}}"

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, tuple)
            and not isinstance(value, Tagged)
            and len(value) == len(self.parts)
            and all(part.contains(item) for part, item in zip(self.parts, value, strict=True))
        )

    def least(self) -> tuple[Any, ...]:
        return tuple(combinations_of(*(part.least() for part in self.parts)))

    def sort_key(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part.sort_key(item) for part, item in zip(self.parts, value, strict=True))

    def sample(self) -> list[Any]:
        every = list(combinations_of(*(part.sample()[: 4 if len(self.parts) < 5 else 2] for part in self.parts[:10])))
        if len(self.parts) > 10:  # the other coordinates stay at their first value
            rest = tuple(part.sample()[0] for part in self.parts[10:])
            every = [(*time, *rest) for time in every]
        return every[:: -(-len(every) // 64)]


class Product(_Coordinates):
    """Tuples ordered componentwise: (a, b) <= (c, d) when a <= c and b <= d.

    Examples
    --------
    >>> from pointstamp import Nat, Product
    >>> Product([Nat(), Nat()]).less_equal((0, 9), (1, 0))
    False
    """

    __slots__ = ("is_total",)
    _word = "product"

    def __init__(self, parts: Sequence[Domain]) -> None:
        super().__init__(parts)
        wide = [part for part in self.parts if not _has_one_time(part)]
        self.is_total = not wide or (len(wide) == 1 and wide[0].is_total)

    def less_equal(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> bool:
        return all(part.less_equal(one, other) for part, one, other in zip(self.parts, earlier, later, strict=True))

    def minimal_upper_bounds(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        bounds = [part.minimal_upper_bounds(*pair) for part, *pair in zip(self.parts, one, other, strict=True)]
        return tuple(combinations_of(*bounds))


class Lex(_Coordinates):
    """Tuples ordered lexicographically: the first coordinate that differs decides. Every part is total.

    Examples
    --------
    >>> from pointstamp import Lex, Nat
    >>> Lex([Nat(), Nat()]).less_equal((0, 9), (1, 0))
    True
    """

    __slots__ = ()
    _word = "lex"
    is_total = True

    def __init__(self, parts: Sequence[Domain]) -> None:
        for part in parts:
            if not part.is_total:
                raise PointstampError(
                    "PS012", f"lex has the coordinate {part!r}, whose order is not total", "use product there"
                )
        super().__init__(parts)

    def less_equal(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> bool:
        for part, one, other in zip(self.parts, earlier, later, strict=True):
            if one != other:
                return part.less_equal(one, other)
        return True

    def minimal_upper_bounds(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        return (other if self.less_equal(one, other) else one,)


class Finite(_Structural):
    """Named times, ordered by the reflexive-transitive closure of `below`; construction costs O(elements * below).

    `by_rank` lists them in a linear extension, the one in which `sort_key` sorts.

    Examples
    --------
    >>> from pointstamp import Finite
    >>> days = Finite(["mon", "tue", "wed"], [["mon", "tue"], ["mon", "wed"]])
    >>> days.less_equal("mon", "wed"), days.less_equal("tue", "wed")
    (True, False)
    """

    __slots__ = ("_above", "_bits", "_least", "_rank", "below", "by_rank", "elements", "is_total", "positions")

    def __init__(self, elements: Sequence[str], below: Iterable[Sequence[str]] = ()) -> None:
        self.elements = tuple(elements)
        self.positions = {element: position for position, element in enumerate(self.elements)}
        if not self.elements or len(self.positions) != len(self.elements):
            raise PointstampError("PS012", "finite needs elements, each listed once", "finite: {elements: [a, b]}")
        self.below = tuple((lower, higher) for lower, higher in below)
        successors: dict[str, list[str]] = {element: [] for element in self.elements}
        for lower, higher in self.below:
            for element in (lower, higher):
                if element not in successors:
                    raise PointstampError("PS012", f"below names {element!r}, which is not an element", "list it first")
            successors[lower].append(higher)
        self._bits = {element: 1 << position for position, element in enumerate(sorted(self.elements))}
        self._above: dict[str, int] = {}
        for element in reversed(self._linear_extension(successors)):
            above = self._bits[element]
            for successor in successors[element]:
                above |= self._above[successor]
            self._above[element] = above
        # Who has more above it comes first: a linear extension that depends on the order alone, not on its notation.
        order = sorted(self.elements, key=lambda element: (-self._above[element].bit_count(), element))
        self.by_rank = tuple(order)
        self._rank = {element: rank for rank, element in enumerate(order)}
        self.is_total = all(self.less_equal(one, other) for one, other in pairwise(order))
        covered = 0
        for element in order:
            covered |= self._above[element] & ~self._bits[element]
        self._least = tuple(element for element in order if not covered & self._bits[element])
        super().__init__(tuple(sorted(self._above.items())))

    def _linear_extension(self, successors: Mapping[str, list[str]]) -> list[str]:
        """The elements so that lower ones come first (Kahn); a cycle in `below` is an error."""
        waiting = dict.fromkeys(self.elements, 0)
        for higher_ones in successors.values():
            for higher in higher_ones:
                waiting[higher] += 1
        ready = [element for element in self.elements if not waiting[element]]
        for element in ready:
            for higher in successors[element]:
                waiting[higher] -= 1
                if not waiting[higher]:
                    ready.append(higher)
        if len(ready) < len(self.elements):
            element = next(element for element in self.elements if waiting[element])
            raise PointstampError("PS012", f"below has a cycle that involves {element!r}", "an order has no cycles")
        return ready

    def __repr__(self) -> str:
        return f"{{finite: {{elements: [{', '.join(self.elements)}]}}}}"

    def contains(self, value: object) -> bool:
        return type(value) is str and value in self.positions

    def less_equal(self, earlier: str, later: str) -> bool:
        return bool(self._above[earlier] & self._bits[later])

    def minimal_upper_bounds(self, one: str, other: str) -> tuple[str, ...]:
        common = self._above[one] & self._above[other]
        bounds = []
        for element in self._rank:
            if common & self._bits[element]:
                bounds.append(element)
                common &= ~self._above[element]
        return tuple(bounds)

    def least(self) -> tuple[str, ...]:
        return self._least

    def rank(self, value: str) -> int:
        """The position in a linear extension; for a total order, the order itself."""
        return self._rank[value]

    def sort_key(self, value: str) -> int:
        return self._rank[value]

    def sample(self) -> list[str]:
        return list(self.elements[:8])


class Sum(_Structural):
    """The disjoint union of domains: times of different tags are incomparable.

    Examples
    --------
    >>> from pointstamp import Nat, Sum, Tagged
    >>> Sum({"live": Nat(), "replay": Nat()}).less_equal(Tagged("live", 1), Tagged("replay", 2))
    False
    """

    __slots__ = ("_positions", "is_total", "summands")

    def __init__(self, summands: Mapping[str, Domain]) -> None:
        if not summands:
            raise PointstampError("PS012", "sum has no summands", "sum: {left: nat, right: int}")
        self.summands = dict(summands)
        self._positions = {tag: position for position, tag in enumerate(self.summands)}
        self.is_total = len(self.summands) == 1 and all(part.is_total for part in self.summands.values())
        super().__init__(tuple(sorted(self.summands.items(), key=lambda item: item[0])))

    def __repr__(self) -> str:
        return f"{{sum: {{{', '.join(f'{tag}: {part!r}' for tag, part in self.summands.items())}}}}}"

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, Tagged) and value.tag in self.summands and self.summands[value.tag].contains(value.value)
        )

    def less_equal(self, earlier: Tagged, later: Tagged) -> bool:
        return earlier.tag == later.tag and self.summands[earlier.tag].less_equal(earlier.value, later.value)

    def minimal_upper_bounds(self, one: Tagged, other: Tagged) -> tuple[Tagged, ...]:
        if one.tag != other.tag:
            return ()
        bounds = self.summands[one.tag].minimal_upper_bounds(one.value, other.value)
        return tuple(Tagged(one.tag, bound) for bound in bounds)

    def least(self) -> tuple[Tagged, ...]:
        return tuple(Tagged(tag, time) for tag, part in self.summands.items() for time in part.least())

    def sort_key(self, value: Tagged) -> tuple[int, Any]:
        return (self._positions[value.tag], self.summands[value.tag].sort_key(value.value))

    def sample(self) -> list[Tagged]:
        return [Tagged(tag, time) for tag, part in self.summands.items() for time in part.sample()[:4]]


def _has_one_time(domain: Domain) -> bool:
    """Whether the domain has a single time, so that it adds nothing to a product."""
    if isinstance(domain, Unit):
        return True
    if isinstance(domain, Nat):
        return domain.maximum == 0
    if isinstance(domain, Finite):
        return len(domain.elements) == 1
    if isinstance(domain, Product | Lex):
        return all(map(_has_one_time, domain.parts))
    if isinstance(domain, Sum):
        return len(domain.summands) == 1 and all(map(_has_one_time, domain.summands.values()))
    return False


NO_TIME: Any = object()


def as_time(domain: Domain, value: object) -> Any:
    """The time of a domain that a value is or stands for; `NO_TIME` where there is none.

    A domain whose times are objects of its own may have `read`, from what users write to a time or None.
    """
    if domain.contains(value):
        return value
    read = getattr(domain, "read", None)
    found = None if read is None else read(value)
    return NO_TIME if found is None else found


def times_of(domain: Domain) -> str:
    """What the times of a domain are, for a hint: in the words of its `in_words`, where it has that."""
    in_words: Any = getattr(domain, "in_words", None)
    return f"a time of {domain!r}" if in_words is None else in_words()


def right_time(value: object, domain: Domain) -> str:
    """What would be right instead of a value that is not a time, for a hint."""
    numbers = value if isinstance(value, tuple) else (value,)
    kinds = {type(each) for each in numbers if hasattr(each, "__index__") and not isinstance(each, int)}
    if kinds:
        return f"{times_of(domain)}; int(...) makes one of {_an(min(kind.__name__ for kind in kinds))}"
    return times_of(domain)


def whole_number(value: object) -> str:
    """What would be right instead of a value that is not an `int`, for a hint."""
    if hasattr(value, "__index__") and type(value) is not bool:
        return f"a whole number; int(...) makes one of {_an(type(value).__name__)}"
    return "a whole number"


def _an(name: str) -> str:
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def comparable(domain: Domain, one: Any, other: Any) -> bool:
    """Whether one of the two times is at or before the other."""
    return domain.less_equal(one, other) or domain.less_equal(other, one)


def is_number(domain: Domain) -> bool:
    """Whether times are integers."""
    return type(domain) in (Nat, Int)


def is_row(domain: Domain) -> bool:
    """Whether times are tuples of integers."""
    return isinstance(domain, Product | Lex) and bool(domain.parts) and all(map(is_number, domain.parts))


def is_pair(domain: Domain) -> bool:
    """Whether times are pairs of integers, ordered as a product."""
    return type(domain) is Product and is_row(domain) and len(domain.parts) == 2


def is_flat(domain: Domain) -> bool:
    """Whether times are integers, or tuples of integers under the product or the lexicographic order."""
    return is_number(domain) or is_row(domain)
