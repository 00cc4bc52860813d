"""Ways that part and meet again: what runs more than once for one event, and what waits for what it does not need.

**PS911.** A part that runs for each message, or for what one step of the tool brings, *fires more than once* when an
event (f, t) has two ways out that are not alternatives, x and y, and both (x, .) and (y, .) could result in the part at
one and the same time u, by two ways that have no part in common but f and the part itself. Where the tool runs a part
once for all that comes in one step, the two ways also have to take a different number of steps. Without alternatives on
both ways it happens in every run that comes to f: then it is an error.

**PS915.** A part that runs when nothing else does *waits for an unrelated loop* when an event (f, t) has two such ways
out, one of which could result in the part, the other in the head of a loop, and no event of the loop could result in
the part: whatever the loop does, the part takes nothing from it.

Cost: a closure for each way out of a part that has several which are not alternatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Literal

from graphs.adapters import Finding
from graphs.adapters.agent_findings import Words, listed
from graphs.adapters.first_ways import FirstWays
from graphs.adapters.rounds import Arc, Rounds, are_alternatives
from progress.topology import Network


class _Fork:
    """Two ways out of a part that may both be taken for one event, and what each could result in."""

    def __init__(self, whole: FirstWays, one: Arc, other: Arc, network: Network, reached: dict[str, FirstWays]) -> None:
        self.whole = whole
        self.one = one
        self.other = other
        self._network = network
        self._reached = reached

    @cached_property
    def ways(self) -> tuple[FirstWays, FirstWays]:
        """What the one could result in, and what the other."""
        return self._reach(self.one), self._reach(self.other)

    def _reach(self, arc: Arc) -> FirstWays:
        if arc.id not in self._reached:
            self._reached[arc.id] = FirstWays(self.whole.rounds, self._network, arc.id, self.whole.times[arc.id])
        return self._reached[arc.id]


def _forks(rounds: Rounds, network: Network, concerns: Callable[[set[str]], bool]) -> Iterator[_Fork]:
    """Every pair of ways out that may be taken for one event, those of late parts first: they explain more.

    A part is passed over when it does not concern the caller what it leads to, and of ways to parts that are exchanged
    by a symmetry two stand for all.
    """
    for name in sorted(rounds.agents.parts, key=rounds.order.__getitem__, reverse=True):
        pairs = [
            pair
            for pair in combinations(_different(rounds, rounds.leaving[name], "target"), 2)
            if not are_alternatives(*pair)
        ]
        if pairs and name in rounds.alive and concerns(rounds.reached(name)):
            whole = FirstWays(rounds, network, name, rounds.base(name))
            reached: dict[str, FirstWays] = {}
            for one, other in pairs:
                yield _Fork(whole, one, other, network, reached)


def _different(rounds: Rounds, arcs: Sequence[Arc], at: Literal["source", "target"]) -> list[Arc]:
    """Two of all the arcs whose ends are exchanged by a symmetry of the graph."""
    kinds: Counter[Hashable] = Counter()
    different: list[Arc] = []
    for arc in arcs:
        end = arc.source if at == "source" else arc.target
        if end in rounds.leaving:
            kind = rounds.kind(end), arc.exit.takes, arc.exit.targets if arc.exit.takes != "all" else ()
            kinds[kind] += 1
            if kinds[kind] <= 2:
                different.append(arc)
    return different


def repeated(rounds: Rounds, words: Words) -> list[tuple[str, Finding]]:
    """PS911: what fires more than once, each part once, with the pair of ways that is most certain."""
    network = rounds.judged().network()
    several = {
        name: arcs
        for name, arcs in rounds.entering.items()
        if len(arcs) > 1 and rounds.agents.parts[name].waits in ("each", "step")
    }
    found: dict[str, tuple[bool, list[list[Arc]], _Fork]] = {}
    if not several:
        return []

    def concerns(led: set[str]) -> bool:
        return any(sum(arc.source in led for arc in arcs) > 1 for arcs in several.values())

    for fork in _forks(rounds, network, concerns):
        for name, arcs in several.items():
            if name in found and found[name][0]:
                continue
            ways = _apart(rounds, fork, name, arcs)
            if ways is not None:
                certain = all(_is_certain(rounds, arc) for way in ways for arc in way)
                if certain or name not in found:
                    found[name] = certain, ways, fork
    return [(name, _told_repeated(rounds, words, name, *each)) for name, each in found.items()]


def _is_certain(rounds: Rounds, arc: Arc) -> bool:
    """Whether what comes to an arc's source goes on by it in every run."""
    source = rounds.agents.parts[arc.source]
    return arc.exit.takes == "all" and not source.silent and source.waits != "all"


def _apart(rounds: Rounds, fork: _Fork, name: str, arcs: Sequence[Arc]) -> list[list[Arc]] | None:
    """Two ways from a fork to a part that meet there first, at one time, and in different steps where that matters."""
    start = fork.one.source
    by_step = rounds.agents.parts[name].waits == "step"
    if name not in fork.whole.counts or (by_step and fork.whole.counts[name].bit_count() < 2):
        return None
    first, second = fork.ways
    if first.times.get(name) is None or first.times.get(name) != second.times.get(name):
        return None
    earliest = fork.whole.steps(start) if by_step else {}
    ends = [
        _different(rounds, [arc for arc in arcs if _brings(reach, arc, name)], "source") for reach in (first, second)
    ]
    for one in ends[0]:
        for other in ends[1]:
            if one.id == other.id:
                continue
            for way in first.ways(fork.one, one, {start, name}):
                passed = {arc.target for arc in way} | {start}
                for another in second.ways(fork.other, other, passed):
                    lengths = _lengths(rounds, way, another, earliest)
                    if (not by_step or lengths[0] != lengths[1]) and _go_together(rounds, [*way, *another]):
                        return [way, another]
    return None


def _go_together(rounds: Rounds, arcs: Sequence[Arc]) -> bool:
    """Whether all joins of all on two ways may run with the decisions that the ways need."""
    joins = {arc.target for arc in arcs if rounds.agents.parts[arc.target].waits == "all"}
    if not joins:
        return True
    taken = {arc.id for arc in arcs}
    dropped = {
        other.id
        for arc in arcs
        if arc.exit.takes == "one"
        for other in rounds.leaving[arc.source]
        if other.group == arc.group and other.id not in taken
    }
    return joins <= rounds.live(dropped)


def _brings(reach: FirstWays, arc: Arc, name: str) -> bool:
    return bool(reach.times.get(arc.id) == reach.times[name])


def _lengths(rounds: Rounds, way: Sequence[Arc], other: Sequence[Arc], earliest: dict[str, int]) -> tuple[int, int]:
    """The steps in which two ways arrive: a join of all runs when its last source has, perhaps on the other way."""
    first = _taken(rounds, way, earliest, {})
    second = _taken(rounds, other, earliest, first)
    first = _taken(rounds, way, earliest, second)
    return first[way[-1].target], second[other[-1].target]


def _taken(rounds: Rounds, way: Sequence[Arc], earliest: dict[str, int], known: dict[str, int]) -> dict[str, int]:
    step, steps = 0, {way[0].source: 0}
    for arc in way:
        part = rounds.agents.parts[arc.target]
        step += part.steps
        if part.waits == "all":
            sources = {each.source for each in rounds.entering[arc.target]}
            step = max([step, *(known.get(source, earliest.get(source, 0)) for source in sources - steps.keys())])
        steps[arc.target] = step
    return steps


def _told_repeated(
    rounds: Rounds, words: Words, name: str, certain: bool, ways: list[list[Arc]], fork: _Fork
) -> Finding:
    agents = rounds.agents
    shown = agents.shown(name)
    sources = [agents.shown(way[-1].source) for way in ways]
    again = rounds.back.get(ways[0][-1].id) is not None
    steps = [len([arc for arc in way if agents.parts[arc.target].steps]) for way in ways]
    by_step = agents.parts[name].waits == "step"
    why = f", {steps[0]} and {steps[1]} steps after '{agents.shown(fork.one.source)}'" if by_step else ""
    message = (
        f"'{shown}' {'fires' if certain else 'may fire'} more than once {'a round' if again else 'for one run'} "
        f"of '{agents.shown(fork.one.source)}': for {listed(sources)} separately{why}"
    )
    hint = words.fires_more_than_once.format(
        join=shown, one=sources[0], other=sources[1], sources=", ".join(sources), fork=agents.shown(fork.one.source)
    )
    walks = [_steps(rounds, way, fork, number) for number, way in enumerate(ways, 1)]
    return Finding(
        "PS911", message, hint, {"join": shown, "sources": sources, "walks": walks}, "error" if certain else None
    )


def _steps(rounds: Rounds, way: Sequence[Arc], fork: _Fork, number: int) -> list[list[object]]:
    """A way out of a fork to draw: who decides stands beside each step that is decided."""
    agents = rounds.agents
    begin = way[0].source
    steps: list[list[object]] = [[agents.shown(begin), list(rounds.base(begin)), "both ways" if number == 1 else "and"]]
    times = fork.ways[number - 1].times
    for arc in way:
        if agents.shown(arc.target) != agents.shown(arc.source):
            steps.append([agents.shown(arc.target), list(times[arc.target])])
            if arc.exit.takes != "all":
                steps[-1].append(f"if {arc.exit.by or 'it'} goes there")
    return steps


def waiting_for_others(rounds: Rounds, words: Words) -> list[tuple[str, Finding]]:
    """PS915: what runs when nothing else does, and a loop that it waits for without need."""
    agents = rounds.agents
    resting = [name for name, part in agents.parts.items() if part.waits == "rest"]
    if not resting or not rounds.loops:
        return []
    network = rounds.judged().network()
    related = {
        loop.head: FirstWays(rounds, network, loop.head, rounds.base(loop.head)).times.keys() for loop in rounds.loops
    }
    found: dict[str, Finding] = {}
    for fork in _forks(rounds, network, lambda led: any(name in led for name in resting)):
        for name in resting:
            for loop in rounds.loops:
                if name in found or name in related[loop.head]:
                    continue
                for at, (one, other) in enumerate(((fork.one, fork.other), (fork.other, fork.one))):
                    to, away = fork.ways[at], fork.ways[1 - at]
                    if name in to.times and loop.head in away.times and name not in found:
                        found[name] = _told_waiting(rounds, words, name, loop.head, to, away, one, other)
    return list(found.items())


def _told_waiting(
    rounds: Rounds, words: Words, name: str, head: str, to: FirstWays, away: FirstWays, one: Arc, other: Arc
) -> Finding:
    agents = rounds.agents
    ends = [
        next(arc for arc in rounds.entering[each] if arc.id in ways.times) for each, ways in ((name, to), (head, away))
    ]
    shown, loop = agents.shown(name), agents.shown(head)
    sources = [agents.shown(arc.source) for arc in rounds.entering[name]]
    message = f"'{shown}' waits until the loop of '{loop}' is over, and takes nothing from it"
    hint = words.waits_for_an_unrelated_loop.format(
        join=shown, loop=loop, sources=", ".join(sources), quoted=", ".join(f"'{source}'" for source in sources)
    )
    walks = []
    for ways, begin, end in ((to, one, ends[0]), (away, other, ends[1])):
        way = next(iter(ways.ways(begin, end)), [begin])
        steps: list[list[object]] = [[agents.shown(begin.source), list(rounds.base(begin.source))]]
        steps += [[agents.shown(arc.target), list(ways.times[arc.target])] for arc in way]
        walks.append(steps)
    walks[1][-1].append("its rounds lead nowhere near")
    return Finding("PS915", message, hint, {"join": shown, "loop": loop, "walks": walks})
