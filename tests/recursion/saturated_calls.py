"""Could-result-in on deep stacks by saturation: exact for any call graph, and independent of rule and search alike.

At each location it is computed which locations a walk may come to at the same stack without ever being below it: a
fixpoint, in which a call counts as passed where what it enters comes to `out`. A walk from (p, f) to (q, g) then leaves
some of f's calls, down to the lowest stack that it has, and enters from there the rest of g's. All such stacks are
tried. It takes the split graph of `recursion.reference`, and none of the requirements of the paper.
"""

from __future__ import annotations

from recursion.reference import Graph, Pair, Stack


class Saturated:
    """The relation of one graph; sets of locations are bit sets."""

    def __init__(self, graph: Graph) -> None:
        self._bit = {location: 1 << number for number, location in enumerate(graph.locations)}
        self._push = {call: edge for edge, call in graph.pushes.items()}
        self._pop = {call: edge for edge, call in graph.pops.items()}
        self._calling = {call: self._bit[str(graph.source[edge])] for edge, call in graph.pushes.items()}
        self._returning = {call: self._bit[str(graph.source[edge])] for edge, call in graph.pops.items()}
        flat: dict[str, list[str]] = {location: [] for location in graph.locations}
        for edge in graph.edges:
            source, destination = graph.source[edge], graph.destination[edge]
            if destination is not None:
                flat[edge].append(destination)
            if source is not None and edge not in graph.pushes and edge not in graph.pops:
                flat[source].append(edge)
        self._same = dict(self._bit)  # what is reached from a location at its stack, by walks that are never below
        passed: set[str] = set()
        while True:
            before = dict(self._same), len(passed)
            for location, following in flat.items():
                for after in following:
                    self._same[location] |= self._same[after]
            for call, edge in self._push.items():
                if call not in passed and self._same[edge] & self._returning[call]:
                    passed.add(call)
                    flat[str(graph.source[edge])].append(self._pop[call])
            if before == (self._same, len(passed)):
                break

    def leads(self, start: Pair, end: Pair) -> bool:
        """Whether the start is related to the end."""
        (place, stack), (goal, after) = start, end
        common = sum(1 for length in range(min(len(stack), len(after))) if stack[: length + 1] == after[: length + 1])
        reached = self._same[place]
        for depth in range(len(stack), -1, -1):
            if depth < len(stack):
                left = stack[depth]
                reached = self._same[self._pop[left]] if reached & self._returning[left] else 0
            if depth <= common and self._enters(reached, after[depth:], goal):
                return True
        return False

    def _enters(self, reached: int, calls: Stack, goal: str) -> bool:
        """Whether what is reached at a stack leads to the goal with these calls on top."""
        for call in calls:
            reached = self._same[self._push[call]] if reached & self._calling[call] else 0
        return bool(reached & self._bit[goal])
