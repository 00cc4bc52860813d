"""The parts of an order: times of different parts are never comparable, so that each is kept by itself.

In {product: [{finite: {elements: [a, b, c]}}, nat]}, where nothing orders a, b and c, the times of a are a part, and so
are those of b and of c. With many such keys a time is then compared with those of its own key alone.

Law: where one time is at or below another, both have the same part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from progress.order import Domain, Finite, Lex, Nat, Product, Sum, Unit

PartOf = Callable[[Any], Hashable]
MOST_KNOWN = 1_000

_known: dict[int, tuple[Domain, PartOf | None]] = {}  # by identity, which a domain that is kept here keeps


def part_of(domain: Domain) -> PartOf | None:
    """The function that tells the part of a time; None where the whole domain is one, or nothing is known of it.

    Cost: O(elements) for finite orders, once; of a call O(coordinates).
    """
    if domain.is_total:
        return None
    found = _known.get(id(domain))
    if found is None:
        if len(_known) >= MOST_KNOWN:  # in a program that makes ever more domains, none is kept for ever
            _known.clear()
        found = _known[id(domain)] = domain, _part_of(domain)
    return found[1]


def _part_of(domain: Domain) -> PartOf | None:
    if isinstance(domain, Finite):
        parts = _connected(domain)
        return parts.__getitem__ if len(set(parts.values())) > 1 else None
    if isinstance(domain, Sum):
        inner = {tag: part_of(part) for tag, part in domain.summands.items()}
        if not any(inner.values()):
            return _tag
        return lambda time: (time.tag, part(time.value) if (part := inner[time.tag]) else None)
    if isinstance(domain, Product):
        places = [(place, part) for place, each in enumerate(domain.parts) if (part := part_of(each)) is not None]
        if len(places) == 1:
            ((only, of_only),) = places
            return lambda time: of_only(time[only])
        return (lambda time: tuple([part(time[place]) for place, part in places])) if places else None
    return None


def parts_are_total(domain: Domain) -> bool:
    """Whether any two times of one part are comparable."""
    if domain.is_total:
        return True
    if isinstance(domain, Finite):
        parts = _connected(domain)
        return all(
            parts[one] != parts[other] or domain.less_equal(one, other) or domain.less_equal(other, one)
            for one in domain.elements
            for other in domain.elements
        )
    if isinstance(domain, Sum):
        return all(map(parts_are_total, domain.summands.values()))
    if isinstance(domain, Product):
        wide = [part for part in domain.parts if not _parts_are_single(part)]
        return len(wide) < 2 and all(map(parts_are_total, wide))
    return False


def _tag(time: Any) -> Hashable:
    return time.tag  # type: ignore[no-any-return]


def _parts_are_single(domain: Domain) -> bool:
    """Whether each part has one time."""
    if isinstance(domain, Finite):
        return len(set(_connected(domain).values())) == len(domain.elements)
    if isinstance(domain, Sum):
        return all(map(_parts_are_single, domain.summands.values()))
    if isinstance(domain, Product | Lex):
        return all(map(_parts_are_single, domain.parts))
    return isinstance(domain, Unit) or (isinstance(domain, Nat) and domain.maximum == 0)


def _connected(domain: Finite) -> dict[str, str]:
    """For each element one that stands for all those with which `below` joins it, in whatever steps."""
    leader = {element: element for element in domain.elements}

    def find(element: str) -> str:
        while leader[element] != element:
            leader[element] = element = leader[leader[element]]
        return element

    for lower, higher in domain.below:
        leader[find(lower)] = find(higher)
    return {element: find(element) for element in domain.elements}
