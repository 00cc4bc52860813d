"""Recursion word for word (A&I 3.4): the oracle of every fast answer about stacks.

Slow and obvious, and independent of all it judges: it reads a graph file's plain data (format 1, what `json.loads`
gives) and imports nothing of the project but `epochs.py`, a part of it. It expects a correct file;
`requirements` says what a file lacks. A location has its name, a stack is the tuple of the names of its calls,
outermost first; with epochs a time is the pair of an epoch and a stack.

The relation is the least reflexive transitive one on pairs of a location and a stack, where a step leads from a node
to an edge that leaves it and from an edge to its destination, `call-c->in` has the stack with c on top and
`out->ret-c` the stack without it. It is found by search, pair by pair. What makes the search finite:

**No way needs a stack more than n calls deeper than the deeper one of its two ends, n being the number of procedures.**
Take a way from (x, f) to (y, g), and the lowest stack h on it, with which both f and g begin. Up to where it first is
at h, the way leaves for good, one after the other, the calls of f beyond h; from where it last is at h, it enters for
good those of g beyond h. All else that it pushes it pops again. So whatever goes beyond f and g is a piece that leaves
some (`call-c`, k) and comes back to (`ret-c`, k), where k is a beginning of f or of g. Such a piece can be exchanged
for a call of c that returns the soonest: where there is one procedure, along a path from `in` to `out` without calls
(PS413), one call deep. With several, let those have rank 1 that have such a path, and those rank r + 1 that have one by
calls of rank r or less. PS413 says that all have a rank, so no rank is above n, and a call of rank r is r calls deep.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from recursion.reference.epochs import epoch_less_equal, is_epoch, least_epochs

Json = Any
Stack = tuple[str, ...]
Pair = tuple[str, Stack]  # a location and a stack
Pointstamp = tuple[str, Any]  # a location and a time, which is a stack or an epoch with a stack


class Graph:
    """A graph with calls, split: nodes `call-c` and `ret-c` for each call c, and the back edges (A&I 3.4)."""

    def __init__(self, document: Json) -> None:
        recursion = document["recursion"]
        one = {"": {**recursion, "calls": dict.fromkeys(recursion.get("calls", []), "")}}
        self.bodies: dict[str, Json] = recursion.get("graphs", one)
        self.main: str = recursion.get("main", "")
        self.enters = {call: body for each in self.bodies.values() for call, body in each["calls"].items()}
        self.epochs = document["time"]["product"][0] if isinstance(document.get("time"), dict) else None

        given = {name: keys or {} for name, keys in document["nodes"].items()}
        edges = {edge.get("id", f"{edge.get('from')}->{edge.get('to')}"): edge for edge in document.get("edges", [])}
        self.nodes = [part for name in given for part in ([name] if name not in self.enters else self.parts(name))]
        self.notifies = {  # a call only sends on what comes, so where nothing is said it does not ask
            part: keys.get("notify", name not in self.enters)
            for name, keys in given.items()
            for part in self.parts(name)
        }
        self.edges = list(edges)
        self.source = {name: self.parts(edge["from"])[-1] if "from" in edge else None for name, edge in edges.items()}
        self.destination = {name: self.parts(edge["to"])[0] if "to" in edge else None for name, edge in edges.items()}
        self.pushes: dict[str, str] = {}  # by the back edge: the call
        self.pops: dict[str, str] = {}
        for call, body in self.enters.items():
            entrance, exit = self.bodies[body]["in"], self.bodies[body]["out"]
            self.pushes[f"call-{call}->{entrance}"] = self.pops[f"{exit}->ret-{call}"] = call
            self.source |= {f"call-{call}->{entrance}": f"call-{call}", f"{exit}->ret-{call}": exit}
            self.destination |= {f"call-{call}->{entrance}": entrance, f"{exit}->ret-{call}": f"ret-{call}"}
            self.edges += [f"call-{call}->{entrance}", f"{exit}->ret-{call}"]
        self.locations = self.nodes + self.edges
        self.incoming = {node: [edge for edge in self.edges if self.destination[edge] == node] for node in self.nodes}
        self.outgoing = {node: [edge for edge in self.edges if self.source[edge] == node] for node in self.nodes}

        forwards = {(f"call-{call}", f"ret-{call}") for call in self.enters}
        self.alternative = {  # the alternative modified graph: a forward edge for each call, and no back edges
            node: [
                *(end for start, end in forwards if start == node),
                *(
                    end
                    for edge in self.outgoing[node]
                    if edge not in self.pushes and edge not in self.pops and (end := self.destination[edge]) is not None
                ),
            ]
            for node in self.nodes
        }
        self._steps: dict[Pair, list[Pair]] = {}
        self._standing: dict[str, str] = {}
        self._reached: dict[tuple[Pair, int], frozenset[Pair]] = {}

    def parts(self, name: str) -> list[str]:
        """What became of a node: `call-c` and `ret-c`, or itself. Edges into it lead to the first, others leave the
        last."""
        return [f"call-{name}", f"ret-{name}"] if name in self.enters else [name]

    # Stacks

    def procedures_of(self, node: str) -> list[str]:
        """The procedures in which a node stands: those to whose `in`, `out` or calls edges join it, whichever way these
        lead. In a correct file, one."""
        joined = [node]
        for each in joined:
            beside = [*self.alternative[each], *(other for other in self.nodes if each in self.alternative[other])]
            joined += [other for other in dict.fromkeys(beside) if other not in joined]
        return [
            name
            for name, body in self.bodies.items()
            if any(part in joined for own in (body["in"], body["out"], *body["calls"]) for part in self.parts(own))
        ]

    def procedure_of(self, location: str) -> str:
        """The procedure in which a location of a correct file stands; an edge stands where its destination does."""
        if location not in self._standing:
            node = location if location in self.incoming else self.destination[location] or self.source[location]
            assert node is not None
            self._standing[location] = self.procedures_of(node)[0]
        return self._standing[location]

    def running(self, stack: Any) -> str | None:
        """The procedure that runs at a stack: each call has to stand in what the one before it enters."""
        if not isinstance(stack, tuple):
            return None
        procedure = self.main
        for call in stack:
            if not isinstance(call, str) or call not in self.bodies[procedure]["calls"]:
                return None
            procedure = self.enters[call]
        return procedure

    def stacks(self, deepest: int) -> list[Stack]:
        """All stacks of at most so many calls, shorter ones first."""
        found: list[Stack] = [()]
        for stack in found:
            if len(stack) < deepest:
                procedure = self.running(stack)
                assert procedure is not None
                found += [(*stack, call) for call in self.bodies[procedure]["calls"]]
        return found

    def stacks_at(self, location: str, deepest: int) -> list[Stack]:
        """The stacks of at most so many calls at which a location can run."""
        procedure = self.procedure_of(location)
        return [stack for stack in self.stacks(deepest) if self.running(stack) == procedure]

    # The relation

    def steps(self, location: str, stack: Stack) -> list[Pair]:
        """One step of the split graph: from an edge to its destination, from a node to the edges that leave it."""
        if (location, stack) not in self._steps:
            found: list[Pair] = []
            if location not in self.outgoing:
                end = self.destination[location]
                found = [] if end is None else [(end, stack)]
            for edge in self.outgoing.get(location, ()):
                if edge in self.pushes:
                    found.append((edge, (*stack, self.pushes[edge])))
                elif edge not in self.pops:
                    found.append((edge, stack))
                elif stack and stack[-1] == self.pops[edge]:
                    found.append((edge, stack[:-1]))
            self._steps[location, stack] = found
        return self._steps[location, stack]

    def results(self, start: Pair, deepest: int) -> frozenset[Pair]:
        """All pairs with at most so many calls to which the start is related: itself, and whatever steps lead to."""
        if (start, deepest) not in self._reached:
            self._reached[start, deepest] = self.results_of_many([start], deepest)
        return self._reached[start, deepest]

    def results_of_many(self, starts: Iterable[Pair], deepest: int) -> frozenset[Pair]:
        """All pairs with at most so many calls to which one of the starts is related."""
        waiting = list(starts)
        found = set(waiting)
        most = max([deepest, *(len(stack) for _, stack in waiting)]) + len(self.bodies)
        for pair in waiting:
            for after in self._steps.get(pair) or self.steps(*pair):
                if after not in found and len(after[1]) <= most:
                    found.add(after)
                    waiting.append(after)
        return frozenset(pair for pair in found if len(pair[1]) <= deepest)

    def leads(self, start: Pair, end: Pair, deepest: int = 0) -> bool:
        """Whether the start is related to the end; one search answers for all ends to the same depth."""
        return end in self.results(start, max(len(end[1]), deepest))

    def less_equal(self, location: str, one: Stack, other: Stack, deepest: int = 0) -> bool:
        """The preorder of stacks at a location: the one is related to the other there (A&I 3.4)."""
        return self.leads((location, one), (location, other), deepest)

    def equivalent(self, location: str, one: Stack, other: Stack, deepest: int = 0) -> bool:
        """Whether T_p identifies two stacks: each is at or before the other (A&I 3.4)."""
        return self.less_equal(location, one, other, deepest) and self.less_equal(location, other, one, deepest)

    def is_path(self, start: str, end: str, without: Iterable[str] = ()) -> bool:
        """Whether a path of the alternative graph, of no edge or more, leads from one node to another."""
        found = [start]
        for node in found:
            found += [after for after in self.alternative[node] if after not in found and after not in without]
        return end in found

    def by_first_difference(self, start: Pair, end: Pair) -> bool:
        """What the paper says of two nodes at the end of 3.4: a path from l to l' in the alternative graph, where l
        and l' are what the first difference of the stacks says. It is less than the relation."""
        (p, f), (q, g) = start, end
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(f, g, strict=False)))
        left = f"ret-{f[common]}" if len(f) > common else p
        entered = f"call-{g[common]}" if len(g) > common else q
        return self.is_path(left, entered)

    # Times

    def contains(self, location: str, time: Any) -> bool:
        """Whether a location has this time: a stack at which it can run, after an epoch where there are epochs."""
        if self.epochs is None:
            return self.running(time) == self.procedure_of(location)
        pair = isinstance(time, tuple) and len(time) == 2
        return pair and is_epoch(self.epochs, time[0]) and self.running(time[1]) == self.procedure_of(location)

    def split(self, time: Any) -> tuple[Any, Stack]:
        """A time as an epoch and a stack; without epochs the epoch is None."""
        return (None, time) if self.epochs is None else time

    def could_result_in(self, start: Pointstamp, end: Pointstamp, deepest: int = 0) -> bool:
        """Whether the start could result in the end: no earlier epoch, and related stacks."""
        (epoch, stack), (until, last) = self.split(start[1]), self.split(end[1])
        in_order = self.epochs is None or epoch_less_equal(self.epochs, epoch, until)
        return in_order and self.leads((start[0], stack), (end[0], last), deepest)

    def least(self, location: str) -> list[Any]:
        """Where an input that nobody opens is open: at the least epochs, with no call made."""
        times = [(epoch, ()) for epoch in least_epochs(self.epochs)]
        return [time for time in times if self.contains(location, time)]


# Proofs and conditions


def is_proof(graph: Graph, claimed: Sequence[Pointstamp], start: Pointstamp, end: Pointstamp, deepest: int = 0) -> bool:
    """Whether `claimed` proves that start could result in end: it begins and ends there, over distinct locations of
    which each is a neighbour of the next, and each pointstamp could result in the next. Or it is the two at one
    location."""
    if not claimed or claimed[0] != start or claimed[-1] != end:
        return False
    if not all(graph.could_result_in(one, other, deepest) for one, other in itertools.pairwise(claimed)):
        return False
    locations = [location for location, _ in claimed]
    if len(claimed) == 2 and locations[0] == locations[1]:
        return True
    neighbouring = all(
        graph.destination.get(one) == other or graph.source.get(other) == one
        for one, other in itertools.pairwise(locations)
    )
    return neighbouring and len(set(locations)) == len(locations)


def condition_2(graph: Graph, deepest: int) -> tuple[Pair, Pair] | None:
    """Condition 2 for stacks to a depth: a (p, f) related to some (e, g), e entering p, without f at or before g."""
    for node in graph.nodes:
        for stack in graph.stacks_at(node, deepest):
            reached = graph.results((node, stack), deepest)
            for location, after in reached:
                if location in graph.incoming[node] and (node, after) not in reached:
                    return (node, stack), (location, after)
    return None


def standstill(graph: Graph, deepest: int) -> Pair | None:
    """A node with a stack, to a depth, from which at least one step, and steps after it, lead back to it."""
    for node in graph.nodes:
        for stack in graph.stacks_at(node, deepest):
            if any(graph.leads(after, (node, stack), deepest) for after in graph.steps(node, stack)):
                return node, stack
    return None


# Requirements (A&I 3.4, "We assume that ...")


def requirements(graph: Graph) -> set[str]:
    """The codes of the requirements that a graph does not meet; each of them is right."""
    codes = set()
    entrances = {body["in"] for body in graph.bodies.values()}
    exits = {body["out"] for body in graph.bodies.values()}
    for node in graph.nodes:
        standing = graph.procedures_of(node)
        if len(standing) > 1:
            codes.add("PS416")  # and then it is open which of them the node has to be on a way through
        if not standing or not all(graph.is_path(graph.bodies[name]["in"], node) for name in standing):
            codes.add("PS411")
        if not standing or not all(graph.is_path(node, graph.bodies[name]["out"]) for name in standing):
            codes.add("PS412")
    returning: list[str] = []  # the procedures with a path from `in` to `out` by calls that return
    for _ in graph.bodies:
        endless = {f"ret-{call}" for call, body in graph.enters.items() if body not in returning}
        returning = [name for name, body in graph.bodies.items() if graph.is_path(body["in"], body["out"], endless)]
    if len(returning) < len(graph.bodies):
        codes.add("PS413")
    for edge in graph.edges:
        source, destination = graph.source[edge], graph.destination[edge]
        if edge not in graph.pushes and edge not in graph.pops:
            outside = source is None or destination is None
            if (destination in entrances or source in exits) and (graph.epochs is None or not outside):
                codes.add("PS414")
            if outside and graph.epochs is None:
                codes.add("PS415")
    return codes
