"""Rounds as times: an agent graph as a `Graph` in which a time is `[run, round of the outermost loop, ..., innermost]`.

A loop is a strongly connected component; its head is the part by which a run first enters it, and the ways back to the
head are where the round advances. What is left without them has loops of its own, nested in it. A node inside a loop
has the loop's round as a coordinate, which the way into the loop appends and the way out drops.

A way out that does not end the loop, because the node that takes it also goes on inside the loop, does not drop it:
what it leads to runs once a round, beside the loop, and its times say in which. So does what meets such a node later.

Loops are told apart up to `MOST_NESTED` in each other. Where two loops that have nothing to do with each other meet
beside them, the rounds of one of them are told apart.

Law: Condition 2 holds in the graph, and it advances, since every cycle passes the head of one of its loops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from graphs.adapters.agents import AgentGraph, Exit
from graphs.graph import Graph
from progress.component import reached, together

MOST_NESTED = 5  # loops in each other; in the innermost of so many each step is a round
BEGIN = "(begin)"  # the input edge
RESULT = "(result)"  # the node to which all parts tell what they have done, where that is asked for
COLLECTED = " => result"  # ends the names of the ways to it


class Arc(NamedTuple):
    """A way from a part to another; `group` is the number of the exit that it belongs to."""

    source: str
    target: str
    group: int
    exit: Exit
    id: str


class Loop:
    """A loop: its head, its members, the loop around it, and the arcs by which its next round begins."""

    def __init__(self, head: str, members: frozenset[str], around: Loop | None, back: frozenset[str]) -> None:
        self.head = head
        self.members = members
        self.around = around
        self.back = back

    def chain(self) -> tuple[Loop, ...]:
        """The loops that it is in, itself last."""
        chain: list[Loop] = [self]
        while chain[-1].around is not None:
            chain.append(chain[-1].around)
        return tuple(reversed(chain))


class Rounds:
    """The loops of an agent graph, and the rounds in which each part runs. Cost: O(arcs) a loop, nested ones again."""

    def __init__(self, agents: AgentGraph) -> None:
        self.agents = agents
        self.arcs = list(_arcs(agents))
        self.leaving: dict[str, list[Arc]] = {name: [] for name in agents.parts}
        self.entering: dict[str, list[Arc]] = {name: [] for name in agents.parts}
        for arc in self.arcs:
            self.leaving[arc.source].append(arc)
            if arc.target in self.entering:
                self.entering[arc.target].append(arc)
        self.order = self._order()
        self.loops: list[Loop] = []
        self._inside: dict[str, Loop] = {}
        self._find(list(agents.parts), self._internal(agents.parts, self.arcs), None)
        self.back = {arc: loop for loop in self.loops for arc in loop.back}
        self.contexts = self._contexts()
        self.alive = self.live()

    def base(self, name: str) -> tuple[int, ...]:
        """The time of a part in the first round of all its loops, in the first run."""
        return (0,) * (1 + len(self.contexts[name]))

    def live(self, dropped: Collection[str] = ()) -> set[str]:
        """The parts that a run may come to without some arcs: a join of all only if it may come to each source.

        All of them where there are ways that cannot be read.
        """
        if self.agents.is_open:
            return set(self.agents.parts)
        missing = {
            name: len({arc.source for arc in arcs}) if self.agents.parts[name].waits == "all" else 1
            for name, arcs in self.entering.items()
        }
        live: set[str] = set()
        waiting = [self.agents.start]
        while waiting:
            name = waiting.pop()
            if name not in live:
                live.add(name)
                for target in {arc.target for arc in self.leaving[name] if arc.id not in dropped}:
                    if target in missing:
                        missing[target] -= 1
                        if missing[target] == 0:
                            waiting.append(target)
        return live

    def judged(self, dropped: Collection[str] = ()) -> Graph:
        """The graph without some arcs, and without those of joins that never run then, and of what they lead to."""
        live = self.live(dropped)
        return self.graph({*dropped, *(arc.id for arc in self.arcs if arc.source not in live)})

    def reached(self, begin: str | None = None) -> set[str]:
        """The parts that a run may come to, or what a part leads to, itself too."""
        return self._reached([begin or self.agents.start], lambda arc: arc.target in self.leaving)

    def graph(self, dropped: Collection[str] = (), collecting: bool = False) -> Graph:
        """The graph with rounds as times, without the arcs whose ids are `dropped`.

        An arc that does several things to a time has nodes on its way; its own id is that of the last edge, which
        arrives at its target. With `collecting` no way leaves the graph but by a node more, `RESULT`, at the time of
        the run, to which there is a way from every part.
        """
        agents = self.agents
        depths = {name: len(context) for name, context in self.contexts.items()}
        ways: list[tuple[str, str | None, str, list[str]]] = [
            (arc.source, arc.target if arc.target in agents.parts else None, arc.id, self._way(arc))
            for arc in self.arcs
            if arc.id not in dropped
        ]
        if collecting:
            ways = [way for way in ways if way[1] is not None]
            ways += [(name, RESULT, f"{name}{COLLECTED}", ["leave"] * depths[name] or ["identity"]) for name in depths]
            depths[RESULT] = 0
        emits: dict[str, dict[str, Any]] = {}
        edges: list[tuple[str, str | None, str]] = []
        for source, target, way, steps in ways:
            at = source
            for number, step in enumerate(steps, 1):
                last = number == len(steps)
                to = target if last else f"{way} ({number})"
                edge = way if last else f"{way} to ({number})"
                emits.setdefault(at, {})[edge] = step
                edges.append((at, to, edge))
                if not last and to is not None:
                    depths[to] = depths[at] + {"enter": 1, "leave": -1}.get(step, 0)
                    at = to
        graph = Graph(time=_times(0), name=agents.name)
        for name, depth in depths.items():
            notifies = name in agents.parts or name == RESULT
            graph.node(name, time=_times(depth), emits=emits.get(name), notify=notifies)
        graph.edge(None, agents.start, "input" if collecting else _free(BEGIN, depths))
        for at, to, edge in edges:
            graph.edge(at, to, edge)
        if collecting:
            graph.edge(RESULT, None, "result")
        return graph

    def kind(self, name: str) -> Hashable:
        """The same for parts that are exchanged by a symmetry of the graph: with the same ways in and out."""
        part = self.agents.parts[name]
        ways_in = frozenset((arc.source, arc.exit.takes, len(arc.exit.targets)) for arc in self.entering[name])
        return part.waits, part.steps, part.pauses, part.silent, tuple(part.exits), ways_in

    def is_one_edge(self, arc: Arc) -> bool:
        """Whether an arc is one edge of the graph, without nodes on its way."""
        return len(self._way(arc)) == 1

    def _way(self, arc: Arc) -> list[str]:
        """What an arc does to a time, a summary for each edge; an edge joins two distinct nodes."""
        return ["identity"] * (arc.source == arc.target) + (self._steps(arc) or ["identity"])

    # --- loops ----------------------------------------------------------------------------------------------------

    def _order(self) -> dict[str, int]:
        """How soon a run may come to each part: the breadth first order from the start."""
        order: dict[str, int] = {}
        queue = deque([self.agents.start])
        while queue:
            name = queue.popleft()
            if name in order:
                continue
            order[name] = len(order)
            queue.extend(arc.target for arc in self.leaving[name] if arc.target in self.leaving)
        for name in self.agents.parts:
            order.setdefault(name, len(order))
        return order

    @staticmethod
    def _internal(members: Collection[str], arcs: Iterable[Arc]) -> list[Arc]:
        return [arc for arc in arcs if arc.source in members and arc.target in members]

    def _find(self, names: Sequence[str], arcs: Sequence[Arc], around: Loop | None) -> None:
        for group in together(names, [(arc.source, arc.target) for arc in arcs]):
            members = frozenset(group)
            inside = self._internal(members, arcs)
            if not inside:
                continue
            head = min(group, key=self.order.__getitem__)
            deepest = around is not None and len(around.chain()) == MOST_NESTED - 1
            back = [arc for arc in inside if deepest or arc.target == head]
            loop = Loop(head, members, around, frozenset(arc.id for arc in back))
            self.loops.append(loop)
            for name in group:
                self._inside[name] = loop
            if not deepest:
                self._find(group, [arc for arc in inside if arc.target != head], loop)

    # --- which rounds a part has ------------------------------------------------------------------------------------

    def _contexts(self) -> dict[str, tuple[Loop, ...]]:
        beside = {loop: self._beside(loop) for loop in self.loops}
        for loop in self.loops:  # what runs in the rounds of a loop beside it is nested in it, with its own loops
            for other in self.loops:
                if other.head in beside[loop] and loop not in other.chain() and other not in loop.chain():
                    outermost = next(each for each in other.chain() if each not in loop.chain())
                    outermost.around = loop
        contexts: dict[str, tuple[Loop, ...]] = {}
        for name in self.agents.parts:
            own = self._inside[name].chain() if name in self._inside else ()
            chains = [own, *(loop.chain() for loop in self.loops if name in beside[loop])]
            contexts[name] = max((chain for chain in chains if chain[: len(own)] == own), key=len)
        return contexts

    def _beside(self, loop: Loop) -> set[str]:
        """The parts outside a loop that run once in each of its rounds, and those that meet them."""
        around = loop.chain()[:-1]

        def ends_around(arc: Arc) -> bool:
            return any(arc.id in each.back or self._ends(each, arc) for each in around)

        def outward(arc: Arc) -> bool:
            return arc.target in self.leaving and arc.target not in loop.members and not ends_around(arc)

        out = [arc for name in loop.members for arc in self.leaving[name] if outward(arc)]
        beside = self._reached((arc.target for arc in out if not self._ends(loop, arc)), outward)
        if not beside:
            return beside
        after = self._reached((arc.target for arc in out), outward)
        meeting = set(beside)
        waiting = list(beside)
        while waiting:
            for arc in self.entering[waiting.pop()]:
                if arc.source in after and arc.source not in meeting and outward(arc):
                    meeting.add(arc.source)
                    waiting.append(arc.source)
        return meeting

    def _reached(self, begin: Iterable[str], goes: Callable[[Arc], bool]) -> set[str]:
        return reached(begin, lambda name: (arc.target for arc in self.leaving[name] if goes(arc)))

    def _ends(self, loop: Loop, arc: Arc) -> bool:
        """Whether an arc out of a loop is taken instead of going on in it, as far as can be read."""
        if arc.source not in loop.members or arc.target in loop.members:
            return False
        inward = [other for other in self.leaving[arc.source] if other.target in loop.members]
        return all(are_alternatives(arc, other) for other in inward)

    def _steps(self, arc: Arc) -> list[str]:
        """What the way does to a time: leaving loops, the next round of one, entering others."""
        before = self.contexts[arc.source]
        after = self.contexts.get(arc.target, ())
        loop = self.back.get(arc.id)
        if loop is not None and loop in before and loop in after:
            common = after.index(loop) + 1
            return ["leave"] * (len(before) - common) + ["feedback"] + ["enter"] * (len(after) - common)
        common = 0
        for one, other in zip(before, after, strict=False):
            if one is not other:
                break
            common += 1
        return ["leave"] * (len(before) - common) + ["enter"] * (len(after) - common)


def are_alternatives(one: Arc, other: Arc) -> bool:
    """Whether two arcs out of one part are hardly taken together.

    Those of one exit are, unless it takes all, or likely several; so are two that both hang on conditions: who writes
    two conditions mostly means that one of them holds.
    """
    if one.group == other.group:
        return one.exit.takes in ("one", "unsure")
    return one.exit.takes != "all" and other.exit.takes != "all"


def _arcs(agents: AgentGraph) -> Iterable[Arc]:
    taken: dict[str, int] = {}
    for source, group, exit, target in agents.arcs():
        name = _free(f"{source}->{target}", agents.parts)
        taken[name] = taken.get(name, 0) + 1
        yield Arc(source, target, group, exit, name if taken[name] == 1 else f"{name} {taken[name]}")


def _free(name: str, taken: Collection[str]) -> str:
    """A name that no node has: nodes and edges share one set of names."""
    while name in taken:
        name += "'"
    return name


def _times(loops: int) -> dict[str, list[str]]:
    return {"lex": ["nat"] * (1 + loops)}
