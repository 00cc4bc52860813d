"""What depends on what: the relation D of a stream processing system and its closure (III, Table I; Theorem 1).

D has pairs (u, v) of sets of elements: u may become v. `Cl_D(x)` are all elements that may come of x, itself among
them, `Cl_D^-1(x)` all of which x may come.

Theorem 1 asks for a result s of an operation that does not commute, and outputs b1, b2 that depend on it, b1 before b2:
whatever has to be computed again between the two must come of what was saved. As printed, with G = Cl_D(b1) and
Cl_D^-1(b2) in common, (u, v) in D, and v within G, u has to be within G. Where b1 is an output that nothing is computed
from, G is empty and the condition says nothing; yet that is the case in which the theorem's proof fails exactly-once.
So `saves_first` asks what the proof uses: on every way from s to b2 something is in G, that is, was saved before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from progress.component import reached

Pair = tuple[frozenset[Any], frozenset[Any]]


class Dependencies:
    """D as a relation on sets of elements. Cost of each question: O(D).

    >>> joined = Dependencies([({"x", "y"}, {"s"}), ({"s"}, {"b"})])
    >>> sorted(joined.closure("x")), sorted(joined.inverse_closure("b"))
    (['b', 's', 'x'], ['b', 's', 'x', 'y'])
    """

    def __init__(self, pairs: Iterable[tuple[Iterable[Hashable], Iterable[Hashable]]]) -> None:
        self.pairs: list[Pair] = [(frozenset(before), frozenset(after)) for before, after in pairs]

    def closure(self, element: Any) -> frozenset[Any]:
        """Cl_D: what may come of an element, together with others."""
        return self._reached(element, self.pairs)

    def inverse_closure(self, element: Any) -> frozenset[Any]:
        """Cl_D^-1: of what an element may come."""
        return self._reached(element, [(after, before) for before, after in self.pairs])

    @staticmethod
    def _reached(element: Any, pairs: list[Pair]) -> frozenset[Any]:
        leads: dict[Any, set[Any]] = {}
        for before, after in pairs:
            for each in before:
                leads.setdefault(each, set()).update(after)
        return frozenset(reached([element], lambda each: leads.get(each, ())))

    def between(self, first: Any, second: Any) -> frozenset[Any]:
        """G of Theorem 1: what comes of the first output and leads to the second."""
        return self.closure(first) & self.inverse_closure(second)

    def condition_1(self, result: Any, first: Any, second: Any) -> bool:
        """Condition (1) as it is printed."""
        between, later = self.between(first, second), self.closure(result)
        return all(before <= between for before, after in self.pairs if before <= later and after <= between)

    def saves_first(self, result: Any, first: Any, second: Any) -> bool:
        """Whether every way from the result to the second output passes something that comes of the first one."""
        saved = self.between(first, second)
        others = [(before - saved, after - saved) for before, after in self.pairs]
        return second in saved or second not in self._reached(result, others)
