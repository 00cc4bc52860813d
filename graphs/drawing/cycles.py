"""Which edges lead back: without them the rest has no cycle, and a reader finds the way of time.

Edges of a cycle that declare an advance go first, for they are where a loop begins anew; what cycles are left are
broken by a depth-first search in the order of the nodes. What was taken out and agrees with the order that is then
found is given back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def leading_back(count: int, arcs: Sequence[tuple[int, int]], declared: Iterable[int]) -> set[int]:
    """The places in `arcs` of those that lead back. Cost: O(nodes + arcs).

    `declared`: arcs of cycles on which time advances; each arc is a pair of nodes, none joins a node with itself.
    """
    back = set(declared)
    following: list[list[int]] = [[] for _ in range(count)]
    for place, (source, _) in enumerate(arcs):
        following[source].append(place)
    entered = {target for place, (_, target) in enumerate(arcs) if place not in back}
    done: list[int] = []
    state = bytearray(count)  # 1: being visited, 2: done
    for start in sorted(range(count), key=lambda node: node in entered):
        if state[start]:
            continue
        state[start] = 1
        way = [(start, iter(following[start]))]
        while way:
            node, numbers = way[-1]
            number = next(numbers, None)
            if number is None:
                state[node] = 2
                done.append(node)
                way.pop()
                continue
            target = arcs[number][1]
            if number in back:
                continue
            if state[target] == 1:
                back.add(number)
            elif not state[target]:
                state[target] = 1
                way.append((target, iter(following[target])))
    at = [0] * count
    for position, node in enumerate(reversed(done)):
        at[node] = position
    return {number for number in back if at[arcs[number][0]] >= at[arcs[number][1]]}
