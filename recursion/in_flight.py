"""Trees of calls by epoch, and which of them are at or before an epoch (docs/recursion.md, a stream of calls).

A question about (p, (e, f)) concerns the trees at or before e. Where epochs are totally ordered they are kept in that
order, and it is noted for each p and f up to where no tree can bring anything there: Clock shrinks, so no tree before
that ever will, and no question about p and f looks at those again. Where no two epochs are ordered a question concerns
one tree. In any other order it looks at all trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from sortedcontainers import SortedKeyList

from progress.order import Domain, Finite
from recursion.call_graph import CallGraph
from recursion.frames import Frames
from recursion.stack import Stack


class InFlight:
    """The trees of the epochs at which something is outstanding, or somebody waits."""

    def __init__(self, graph: CallGraph, epochs: Domain) -> None:
        self._graph = graph
        self._epochs = epochs
        self.trees: dict[Any, Frames] = {}
        self._in_order: SortedKeyList[Any, Any] | None = SortedKeyList(key=epochs.sort_key) if epochs.is_total else None
        self._is_unordered = is_unordered(epochs)
        self._passed: WeakKeyDictionary[Stack, dict[int, Any]] = WeakKeyDictionary()
        self.looked_at = 0  # trees asked whether they cover something: what questions cost, for tests

    def tree(self, epoch: Any) -> Frames:
        """The tree of an epoch, made where there is none."""
        found = self.trees.get(epoch)
        if found is None:
            found = self.trees[epoch] = Frames(self._graph)
            if self._in_order is not None:
                self._in_order.add(epoch)
        return found

    def drop_if_empty(self, epoch: Any) -> None:
        """Forget the tree of an epoch where nothing is left in it."""
        if epoch in self.trees and self.trees[epoch].is_empty:
            del self.trees[epoch]
            if self._in_order is not None:
                self._in_order.remove(epoch)

    def first_that_covers(self, node: int, epoch: Any, stack: Stack) -> Frames | None:
        """A tree at or before an epoch from which something may still arrive at the node at the stack; its own first.

        Cost, in trees: O(1) where epochs are unordered, or the epoch's own tree is one; in a total order those at or
        before the epoch, each once in the lives of the node and the stack; else all.
        """
        own = self.trees.get(epoch)
        if own is not None:
            self.looked_at += 1
            if own.covers(node, stack):
                return own
        if self._is_unordered:
            return None
        for earlier in self._before(node, epoch, stack):
            self.looked_at += 1
            if self.trees[earlier].covers(node, stack):
                return self.trees[earlier]
        return None

    def _before(self, node: int, epoch: Any, stack: Stack) -> Iterator[Any]:
        """The epochs before one whose trees may cover a node at a stack."""
        if self._in_order is None:
            less_equal = self._epochs.less_equal
            yield from (other for other in self.trees if other != epoch and less_equal(other, epoch))
            return
        key, passed = self._epochs.sort_key, self._passed.setdefault(stack, {})
        until = key(epoch)
        since = key(passed[node]) if node in passed else None
        if since is not None and not since < until:
            return
        for earlier in self._in_order.irange_key(since, until, (True, False)):
            passed[node] = earlier
            yield earlier
        passed[node] = epoch


def is_unordered(epochs: Domain) -> bool:
    """Whether no epoch is before another."""
    return isinstance(epochs, Finite) and not epochs.below
