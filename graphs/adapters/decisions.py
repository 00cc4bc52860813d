"""What may be decided in a run of an agent graph, as far as the sources of its joins hang on it.

A *decision* at a part takes some of the ways of one exit and leaves the others. Those that make no difference are left
out: where every way of an exit leads to the same sources within a round, and at all but one of parts of the same kind.
Where no single decision keeps a source from coming, several together may (`avoiding`).

Cost: the decisions of all exits in O(arcs times sources / word); those that avoid one source in O(arcs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from graphs.adapters.rounds import Arc, Rounds


class Decision(NamedTuple):
    """Some ways of one exit are taken, the others left. `of`: it is one of so many, and one of them is taken."""

    at: str
    by: str
    taken: tuple[str, ...]
    left: tuple[Arc, ...]
    of: int = 0


def decisions(rounds: Rounds, joins: Sequence[str], possible: Any) -> Iterator[Decision]:
    """Those that can make a difference: where not every way of the exit leads to the same sources in one round."""
    leads = _leading(rounds, [arc for name in joins for arc in rounds.entering[name]])
    alike: set[Any] = set()
    for name in sorted(rounds.agents.parts, key=rounds.order.__getitem__):
        if name not in possible or rounds.kind(name) in alike:
            continue
        alike.add(rounds.kind(name))
        if rounds.agents.parts[name].silent and any(leads.get(arc.id) for arc in rounds.leaving[name]):
            yield Decision(name, "", (), tuple(rounds.leaving[name]))
        for group, exit in enumerate(rounds.agents.parts[name].exits):
            if exit.takes == "all":
                continue
            arcs = [arc for arc in rounds.leaving[name] if arc.group == group]
            if exit.takes == "together":
                if any(leads.get(arc.target, 0) | leads.get(arc.id, 0) for arc in arcs if arc.id not in rounds.back):
                    yield Decision(name, exit.by, (), tuple(arcs))
                continue
            bits = [0 if arc.id in rounds.back else leads.get(arc.target, 0) | leads.get(arc.id, 0) for arc in arcs]
            if not any(bits) or (exit.takes == "one" and len(set(bits)) == 1):
                continue
            for arc in arcs:
                others = tuple(other for other in arcs if other is not arc)
                if others:
                    yield Decision(name, exit.by, (arc.target,), others, len(arcs) if exit.takes == "one" else 0)
            for arc in arcs:
                if exit.takes != "one" and (len(arcs) != 2):
                    rest = tuple(other.target for other in arcs if other is not arc)
                    yield Decision(name, exit.by, rest, (arc,))


def avoiding(rounds: Rounds, name: str) -> Iterator[Decision]:
    """For each source of a join, the decisions that together keep it from coming in a round, where there are such.

    A part leads to a source inevitably when one of its exits takes all of its ways, and one of them does; or takes
    exactly one, and each of them does. Whoever decides otherwise avoids it.
    """
    parts = rounds.agents.parts
    alike: set[Any] = set()
    for source in rounds.entering[name]:
        kind = rounds.kind(source.source)
        if kind in alike:
            continue
        alike.add(kind)
        leading, inevitable = _inevitable(rounds, source)
        left = tuple(
            arc
            for part in sorted(parts, key=rounds.order.__getitem__)
            if part not in inevitable
            for arc in rounds.leaving[part]
            if (arc.exit.takes != "all" or parts[part].silent)
            and any(other.id in leading for other in rounds.leaving[part] if other is arc or _together(other, arc))
        )
        if left and rounds.agents.start not in inevitable:
            yield Decision(left[0].source, left[0].exit.by, (), left)


def _inevitable(rounds: Rounds, source: Arc) -> tuple[set[str], set[str]]:
    """The arcs, and the parts, that lead to an arc within a round whatever is decided after them. Cost: O(arcs)."""
    parts = rounds.agents.parts
    leading, waiting = {source.id}, [source.source]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found or parts[name].waits == "all" or parts[name].silent:
            continue
        for group, exit in enumerate(parts[name].exits):
            ways = [arc.id in leading for arc in rounds.leaving[name] if arc.group == group]
            if any(ways) and (exit.takes == "all" or (exit.takes == "one" and all(ways))):
                found.add(name)
        if name in found:
            for arc in rounds.entering[name]:
                if arc.id not in rounds.back:
                    leading.add(arc.id)
                    waiting.append(arc.source)
    return leading, found


def _together(one: Arc, other: Arc) -> bool:
    return one.exit.takes == "together" and one.group == other.group


def _leading(rounds: Rounds, sources: Sequence[Arc]) -> dict[str, int]:
    """For each part, and each source's own arc, which sources it leads to within its round, as bits."""
    leads: dict[str, int] = {arc.id: 1 << number for number, arc in enumerate(sources)}
    waiting = list(sources)
    while waiting:
        arc = waiting.pop()
        bits = leads.get(arc.source, 0) | leads[arc.id]
        if bits != leads.get(arc.source, 0):
            leads[arc.source] = bits
            for before in rounds.entering[arc.source]:
                if before.id not in rounds.back:
                    leads[before.id] = leads.get(before.id, 0) | bits
                    waiting.append(before)
    return leads
