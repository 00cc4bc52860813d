"""Potentials: a number for each node so that no edge lies below the difference of its ends, or a negative cycle.

Bellman and Ford's algorithm with Tarjan's subtree disassembly: when a node's distance falls, the whole subtree that
hung on its old distance is taken out of the queue, and a negative cycle shows the moment a node would hang below
itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def potentials(
    edges: Sequence[int], sources: Sequence[int], targets: Sequence[int], weights: Sequence[int]
) -> tuple[dict[int, int], list[int] | None]:
    """Potentials with `potential[target] <= potential[source] + weight`, or a cycle of negative weight.

    `weights` is parallel to `edges`; there are no potentials when there is a cycle. Cost: O(edges) where no weight
    is negative, O(nodes * edges) at worst, and close to O(edges) on all graphs that were measured.
    """
    if all(weight >= 0 for weight in weights):
        return dict.fromkeys((sources[edge] for edge in edges), 0), None
    number: dict[int, int] = {}
    heads = [number.setdefault(sources[edge], len(number)) for edge in edges]
    tails = [number.setdefault(targets[edge], len(number)) for edge in edges]
    distance, cycle = _settle(len(number), heads, tails, weights)
    if cycle is not None:
        return {}, [edges[position] for position in cycle]
    return dict(zip(number, distance, strict=True)), None


def _settle(
    count: int, heads: list[int], tails: list[int], weights: Sequence[int]
) -> tuple[list[int], list[int] | None]:
    """Distances from everywhere at once, or the positions of a negative cycle.

    The tree of parents is threaded in preorder (`following`, `preceding`) with the `depth` of each node, so that the
    subtree of a node is the run behind it of deeper nodes.
    """
    outgoing: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for position, (head, tail, weight) in enumerate(zip(heads, tails, weights, strict=True)):
        outgoing[head].append((tail, weight, position))
    distance = [0] * count
    parent = [-1] * count  # the edge by which a node got its distance
    following, preceding = list(range(count)), list(range(count))  # rings of one: every node is a tree of its own
    depth = [0] * count
    queue = deque(_depth_first(outgoing))
    waiting = [True] * count
    while queue:
        node = queue.popleft()
        if not waiting[node]:
            continue
        waiting[node] = False
        here = distance[node]
        for target, weight, position in outgoing[node]:
            if here + weight >= distance[target]:
                continue
            deep = depth[target]
            inner = following[target]
            while depth[inner] > deep:
                if inner == node:
                    return distance, _cycle(parent, heads, node, target, position)
                waiting[inner] = False
                depth[inner] = 0
                after = following[inner]
                following[inner] = preceding[inner] = inner
                inner = after
            if inner != target:  # otherwise the target was a root and its whole ring has been taken apart
                before = preceding[target]
                following[before] = inner
                preceding[inner] = before
            distance[target] = here + weight
            parent[target] = position
            depth[target] = depth[node] + 1
            after = following[node]
            following[node] = target
            preceding[target] = node
            following[target] = after
            preceding[after] = target
            if not waiting[target]:
                waiting[target] = True
                queue.append(target)
    return distance, None


def _cycle(parent: list[int], heads: list[int], node: int, target: int, closing: int) -> list[int]:
    """The tree path from `target` down to `node`, closed by the edge that goes back."""
    cycle = [closing]
    while node != target:
        position = parent[node]
        cycle.append(position)
        node = heads[position]
    cycle.reverse()
    return cycle


def _depth_first(outgoing: list[list[tuple[int, int, int]]]) -> list[int]:
    """The nodes in depth-first order, which lets most distances settle in one pass."""
    seen = [False] * len(outgoing)
    order: list[int] = []
    for root in range(len(outgoing)):
        stack = [root]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            order.append(node)
            stack.extend([target for target, _, _ in outgoing[node] if not seen[target]])
    return order
