"""The layer of every node, so that edges are short in all: network simplex (Gansner, Koutsofios, North and Vo, 1993).

A tree of tight arcs spans the graph. The cut value of a tree arc is what all lengths together lose when its two sides
are moved apart; where one is negative, the arc leaves the tree and the shortest arc that crosses the other way enters.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_PIVOTS = 300


def layers(count: int, arcs: Sequence[tuple[int, int, int]]) -> list[int]:
    """A layer from 0 for each node: for an arc (u, v, least), that of v is at least `least` above that of u.

    The nodes are joined, by arcs in either direction; the arcs make no cycle. Cost: O(nodes + arcs) for each pivot,
    of which there are at most MOST_PIVOTS; what is found is legal in any case, and shortest where they suffice.
    """
    layer = longest_paths(count, arcs)
    if count > 1:
        _Simplex(count, arcs, layer).run()
    lowest = min(layer, default=0)
    return [number - lowest for number in layer]


def longest_paths(count: int, arcs: Sequence[tuple[int, int, int]]) -> list[int]:
    """The least layers that are legal: how long the longest way to each node is. Cost: O(nodes + arcs)."""
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for number, (_, head, _) in enumerate(arcs):
        following[arcs[number][0]].append(number)
        waiting[head] += 1
    layer = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for number in following[node]:
            _, head, least = arcs[number]
            layer[head] = max(layer[head], layer[node] + least)
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    assert len(ready) == count, "the arcs make a cycle"
    return layer


class _Simplex:
    def __init__(self, count: int, arcs: Sequence[tuple[int, int, int]], layer: list[int]) -> None:
        self.count = count
        self.arcs = arcs
        self.layer = layer
        self.at: list[list[int]] = [[] for _ in range(count)]
        self.surplus = [0] * count  # arcs that leave less arcs that enter
        for number, (tail, head, _) in enumerate(arcs):
            self.at[tail].append(number)
            self.at[head].append(number)
            self.surplus[tail] += 1
            self.surplus[head] -= 1
        self.tree: set[int] = set()
        self.tree_at: list[list[int]] = [[] for _ in range(count)]

    def slack(self, number: int) -> int:
        tail, head, least = self.arcs[number]
        return self.layer[head] - self.layer[tail] - least

    def run(self) -> None:
        self._span()
        for _ in range(MOST_PIVOTS):
            if not self._pivot():
                return

    def _span(self) -> None:
        """A tree of tight arcs; parts that no tight arc joins are moved until one does."""
        inside = bytearray(self.count)
        members: list[int] = []

        def grow(start: int) -> None:
            inside[start] = 1
            pending = [start]
            while pending:
                node = pending.pop()
                members.append(node)
                for number in self.at[node]:
                    tail, head, _ = self.arcs[number]
                    other = head if tail == node else tail
                    if not inside[other] and not self.slack(number):
                        inside[other] = 1
                        self._add(number)
                        pending.append(other)

        grow(0)
        while len(members) < self.count:
            crossing = (
                number for node in members for number in self.at[node] if self._leaves(inside, self.arcs[number])
            )
            number = min(crossing, key=lambda one: (self.slack(one), one))
            tail, head, _ = self.arcs[number]
            move = self.slack(number) if inside[tail] else -self.slack(number)
            for node in members:
                self.layer[node] += move
            self._add(number)
            grow(head if inside[tail] else tail)

    def _leaves(self, inside: bytearray, arc: tuple[int, int, int]) -> bool:
        return inside[arc[0]] != inside[arc[1]]

    def _add(self, number: int) -> None:
        tail, head, _ = self.arcs[number]
        self.tree.add(number)
        self.tree_at[tail].append(number)
        self.tree_at[head].append(number)

    def _pivot(self) -> bool:
        """Exchange one arc of the tree; False where nothing is to be gained."""
        parent = [-1] * self.count  # the tree's arc towards the root
        order: list[int] = []
        first = [0] * self.count
        pending = [0]
        parent[0] = -2
        while pending:
            node = pending.pop()
            first[node] = len(order)
            order.append(node)
            for number in self.tree_at[node]:
                tail, head, _ = self.arcs[number]
                other = head if tail == node else tail
                if parent[other] == -1:
                    parent[other] = number
                    pending.append(other)
        surplus = list(self.surplus)
        last = list(first)
        worst, below = 0, -1
        for node in reversed(order):
            number = parent[node]
            if number < 0:
                continue
            tail, head, _ = self.arcs[number]
            above = head if tail == node else tail
            surplus[above] += surplus[node]
            last[above] = max(last[above], last[node])
            cut = surplus[node] if tail == node else -surplus[node]
            if cut < worst:
                worst, below = cut, node
        if below < 0:
            return False
        leaving = parent[below]
        outwards = self.arcs[leaving][0] == below  # the part below holds its tail
        low, high = first[below], last[below]
        entering = -1
        for number, (tail, head, _) in enumerate(self.arcs):
            tail_below, head_below = low <= first[tail] <= high, low <= first[head] <= high
            crosses_back = (head_below and not tail_below) if outwards else (tail_below and not head_below)
            if crosses_back and (entering < 0 or self.slack(number) < self.slack(entering)):
                entering = number
        move = self.slack(entering)
        for node in order[low : high + 1]:
            self.layer[node] += -move if outwards else move
        self.tree.remove(leaving)
        for end in self.arcs[leaving][:2]:
            self.tree_at[end].remove(leaving)
        self._add(entering)
        return True
