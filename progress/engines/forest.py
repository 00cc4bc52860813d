"""Outstanding times of any partial order: a forest in which each time hangs under one at or below it.

The roots are the minimal times. What hung under a root that goes is paired up before it is compared with the other
roots, as in a pairing heap, so that a chain of n times retires in O(log n) comparisons each, amortised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Forest:
    """Distinct times. Cost: O(roots) comparisons to add; O(roots * what hangs there) to remove, see above."""

    __slots__ = ("_hanging", "_less_equal", "_under", "compared", "roots")

    def __init__(self, less_equal: Callable[[Any, Any], bool]) -> None:
        self._less_equal = less_equal
        self.roots: dict[Any, None] = {}  # the minimal times
        self._under: dict[Any, Any] = {}  # what each of the others hangs under
        self._hanging: dict[Any, dict[Any, None]] = {}  # what hangs under each, where anything does
        self.compared = 0

    def add(self, time: Any) -> None:
        """Take a time that is not there."""
        self._plant(time)

    def remove(self, time: Any) -> None:
        """Drop a time that is there."""
        children = self._hanging.pop(time, {})
        if time in self._under:
            parent = self._under.pop(time)
            hanging = self._hanging[parent]
            del hanging[time]
            for child in children:
                self._under[child] = parent
            hanging.update(children)
            if not hanging:
                del self._hanging[parent]
            return
        del self.roots[time]
        for child in children:
            del self._under[child]
        for tree in self._paired(list(children)):
            self._plant(tree)

    def hanging(self, time: Any) -> tuple[Any, ...]:
        """What hangs under a time: every other time that is above it alone hangs under one of these. Cost: O(these)."""
        return tuple(self._hanging.get(time, ()))

    def _paired(self, trees: list[Any]) -> list[Any]:
        """Neighbours that are comparable made into one tree each."""
        kept = []
        for position in range(0, len(trees) - 1, 2):
            one, other = trees[position], trees[position + 1]
            self.compared += 2
            if self._less_equal(one, other):
                self._hang(other, one)
                kept.append(one)
            elif self._less_equal(other, one):
                self._hang(one, other)
                kept.append(other)
            else:
                kept += [one, other]
        return kept + trees[len(trees) - len(trees) % 2 :]

    def _plant(self, time: Any) -> None:
        """Hang a tree under a root at or below it; where there is none it is a root, with those above it under it."""
        above = []
        for root in self.roots:
            self.compared += 1
            if self._less_equal(root, time):
                self._hang(time, root)
                return
            if self._less_equal(time, root):
                above.append(root)
        for root in above:
            del self.roots[root]
            self._hang(root, time)
        self.roots[time] = None

    def _hang(self, time: Any, parent: Any) -> None:
        self._under[time] = parent
        self._hanging.setdefault(parent, {})[time] = None
