"""Strongly connected components: where cycles can be. Conditions are judged inside them alone (A&I 3.2).

A component is the list of its edges; components of a single node have none, since no edge joins a node to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import lt
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(edges: Sequence[int], sources: Sequence[int], targets: Sequence[int], count: int) -> list[list[int]]:
    """The strongly connected components of the graph of `edges` over `count` nodes, as lists of edges.

    Cost: O(edges) and the nodes they touch, whatever their depth.
    """
    heads = [sources[edge] for edge in edges]
    tails = [targets[edge] for edge in edges]
    if all(map(lt, heads, tails)):  # the numbers are a topological order already, as in graphs written front to back
        return []
    if len(edges) < count:  # number the nodes that occur, so that a small part of a large graph costs little
        number: dict[int, int] = {}
        heads = [number.setdefault(head, len(number)) for head in heads]
        tails = [number.setdefault(tail, len(number)) for tail in tails]
        count = len(number)
    component = component_numbers(count, heads, tails)
    grouped: dict[int, list[int]] = {}
    for edge, head, tail in zip(edges, heads, tails, strict=True):
        group = component[head]
        if group == component[tail]:
            if group in grouped:
                grouped[group].append(edge)
            else:
                grouped[group] = [edge]
    return list(grouped.values())


def together(nodes: Collection[N], ways: Iterable[tuple[N, N]]) -> list[list[N]]:
    """The strongly connected components of any nodes, each as the list of its own, which are ordered as they are given.

    Cost: O(nodes and ways).
    """
    number = {node: place for place, node in enumerate(nodes)}
    ends = [(number[head], number[tail]) for head, tail in ways]
    component = component_numbers(len(nodes), [head for head, _ in ends], [tail for _, tail in ends])
    groups: dict[int, list[N]] = {}
    for node, group in zip(nodes, component, strict=True):
        groups.setdefault(group, []).append(node)
    return list(groups.values())


def component_numbers(count: int, heads: Sequence[int], tails: Sequence[int]) -> list[int]:
    """A component number for each of `count` nodes, so that edges between components lead to lower numbers.

    Tarjan's algorithm without recursion. Cost: O(count + edges).
    """
    outgoing: list[list[int]] = [[] for _ in range(count)]
    for head, tail in zip(heads, tails, strict=True):
        outgoing[head].append(tail)
    unvisited, done = 0, count + 1
    low = [unvisited] * count  # the lowest visit number known to be reachable; `done` once the component is known
    component = [0] * count
    stack: list[int] = []
    visits = closed = 0
    for root in range(count):
        if low[root] != unvisited:
            continue
        visits += 1
        low[root] = visits
        path = [(root, visits, 0)]
        stack.append(root)
        while path:
            node, visit, position = path.pop()
            following = outgoing[node]
            lowest = low[node]
            for place in range(position, len(following)):
                target = following[place]
                reached = low[target]
                if reached == unvisited:
                    low[node] = lowest
                    path.append((node, visit, place))  # the target's number is read again on the way back
                    visits += 1
                    low[target] = visits
                    stack.append(target)
                    path.append((target, visits, 0))
                    break
                if reached < lowest:
                    lowest = reached
            else:
                low[node] = lowest
                if lowest == visit:
                    while True:
                        member = stack.pop()
                        low[member] = done
                        component[member] = closed
                        if member == node:
                            break
                    closed += 1
    return component


def reached(starts: Iterable[N], following: Callable[[N], Iterable[N]]) -> set[N]:
    """All that these lead to, they themselves among it. Cost: O(what is reached, and what follows each of it)."""
    found = set(starts)
    left = list(found)
    while left:
        for each in following(left.pop()):
            if each not in found:
                found.add(each)
                left.append(each)
    return found


def shortest_path(
    edges: Iterable[int], sources: Sequence[int], targets: Sequence[int], start: int, goals: Collection[int]
) -> list[int] | None:
    """A path of fewest edges from `start` to one of `goals`; at least one edge long where `start` is a goal itself.

    Cost: O(edges).
    """
    outgoing: dict[int, list[int]] = {}
    for edge in edges:
        outgoing.setdefault(sources[edge], []).append(edge)
    arrived: dict[int, int] = {}
    frontier = [start]
    while frontier:
        following = []
        for node in frontier:
            for edge in outgoing.get(node, ()):
                target = targets[edge]
                if target in arrived:
                    continue
                arrived[target] = edge
                if target in goals:
                    path = [edge]
                    while sources[path[-1]] != start:
                        path.append(arrived[sources[path[-1]]])
                    path.reverse()
                    return path
                following.append(target)
        frontier = following
    return None
