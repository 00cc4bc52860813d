"""Joins of all their sources: whether what they wait for comes, and comes in the same round.

A join of all runs when each source has sent since it ran last. It is *complete* at a time u when every run in which one
source sends at u has every source send at u. A *decision* at a part f in round t takes some of the ways of one exit and
leaves the others; with it, only what could result without the ways that it leaves is possible at that time, and in
later rounds of the loops that f is in everything is again. Several decisions that together keep one source from
coming are one here.

**PS912.** The join *may never fire* when a decision leaves a source p possible at u, and another one, q, possible
neither at u nor at a later round: p has sent, and what q has to send never comes in this run; or when no way leads to q
at all. It is an error where the
part takes exactly one way, and whichever it takes has this effect.

**PS913.** It *mixes rounds* when such a decision leaves q possible at a later round u' > u: then q of u' comes together
with p of u. It mixes *runs* when the tool keeps what p has sent for a later run. And it mixes rounds without any
decision where nothing waits for the join: when p, in the round u, could result in p in a later round by a way that
passes neither the join nor q, and comes again before q has come: at any time where the tool lets nodes run freely, and
where it goes by steps, when q comes at least so many steps after p as the way has.

A join that waits for all that a fork began *mixes rounds* when it runs in the rounds of a loop whose head, at t, could
result in itself at a later round by a way that does not pass the join: what comes of all those rounds is one.

Cost: two closures for each decision on which the sources of a join hang, and one for each pair of sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from graphs.adapters import Finding
from graphs.adapters.agent_findings import Words, listed, walk
from graphs.adapters.agents import AgentGraph
from graphs.adapters.first_ways import FirstWays
from graphs.adapters.rounds import Arc, Loop, Rounds
from progress.closure import close
from progress.could_result_in import CouldResultIn
from progress.pointstamp import Pointstamp
from progress.topology import Network

MOST_WORK = 20_000  # arcs looked at for decisions one by one; beyond, only for those that keep a source of a join away


class _Decision(NamedTuple):
    """Some ways of one exit are taken, the others left. `of`: it is one of so many, and one of them is taken."""

    at: str
    by: str
    taken: tuple[str, ...]
    left: tuple[Arc, ...]
    of: int = 0


class _Left(NamedTuple):
    """A source that sends at the join's first time, and one that does not: what it may do later, if anything."""

    decision: _Decision
    sends: Arc
    missing: Arc
    later: Any
    early: list[Pointstamp]
    late: list[Pointstamp]


def incomplete(rounds: Rounds, words: Words) -> list[tuple[str, Finding]]:
    """PS912 and PS913: each join once for each code."""
    found: list[tuple[str, Finding]] = []
    joins = [
        name for name, part in rounds.agents.parts.items() if part.waits == "all" and len(rounds.entering[name]) > 1
    ]
    if joins:
        found += _never_reached(rounds, words, joins)
        found += _by_decisions(rounds, words, joins)
        told = {name for name, finding in found if finding.code == "PS913"}
        found += [each for name in joins if name not in told for each in _overtaken(rounds, words, name)]
    for name, part in rounds.agents.parts.items():
        if part.waits == "fork":
            found += _all_rounds(rounds, words, name)
    return found


def _never_reached(rounds: Rounds, words: Words, joins: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Joins with a source to which no way leads at all."""
    reached = rounds.reached()
    for name in joins if not rounds.agents.is_open else ():
        sends = [arc for arc in rounds.entering[name] if arc.source in rounds.alive]
        missing = [arc for arc in rounds.entering[name] if arc.source not in reached]
        if sends and missing:
            agents = rounds.agents
            shown, one, other = agents.shown(name), agents.shown(sends[0].source), agents.shown(missing[0].source)
            message = f"'{shown}' never fires: it waits for '{other}', to which no way leads"
            proof = CouldResultIn(rounds.graph()).proof(_start(rounds), (sends[0].source, rounds.base(sends[0].source)))
            steps = [*walk(agents, proof or []), [shown, list(rounds.base(name)), f"waits for '{other}'"]]
            witness = {"join": shown, "comes": one, "missing": other, "walks": [steps]}
            hint = f"add a way to '{other}', or let '{shown}' wait for the others alone"
            yield name, Finding("PS912", message, hint, witness, "error")


# --- decisions --------------------------------------------------------------------------------------------------------


def _by_decisions(rounds: Rounds, words: Words, joins: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """The first decision of each kind for each join; mixed runs only where rounds are not mixed already."""
    agents = rounds.agents
    network = rounds.judged().network()
    possible = close(network, [_start(rounds)]).frontiers
    never: dict[str, list[_Left]] = {name: [] for name in joins}
    mixing: dict[str, _Left] = {}

    def judge(decision: _Decision, names: Sequence[str]) -> None:
        without = rounds.judged({arc.id for arc in decision.left}).network()
        first = close(without, [_start(rounds)]).frontiers
        if decision.at not in first:
            return
        again = _again(rounds, {decision.at, *(arc.source for arc in decision.left)}, first)
        after = close(network, again).frontiers if again else {}
        hanging = _hanging(rounds, decision) if agents.optional_joins else None
        for name in names:
            left = _left(rounds, name, decision, (possible, first, after), (without, network), again)
            if left is None or (hanging is not None and left.sends.id in hanging):
                continue
            if left.later is None:
                never[name].append(left)
            else:
                mixing.setdefault(name, left)

    for decision in islice(_decisions(rounds, joins, possible.keys()), MOST_WORK // (1 + len(rounds.arcs))):
        judge(decision, joins)
    for name in joins:
        if not never[name] and name not in mixing:
            for decision in _avoiding(rounds, name):
                judge(decision, [name])
    for name, each in never.items():
        if each:
            yield name, _never(rounds, words, name, each[0], _whatever(each))
            if agents.keeps and name not in mixing:
                yield name, _mixes_runs(rounds, words, name, each[0])
    for name, left in mixing.items():
        yield name, _mixes(rounds, words, name, left)


def _whatever(never: Sequence[_Left]) -> bool:
    """Whether one of the decisions by which a join never fires is always taken."""
    counts = Counter((left.decision.at, left.decision.by, left.decision.of) for left in never)
    return any(count == of for (_, _, of), count in counts.items())


def _start(rounds: Rounds) -> tuple[str, tuple[int, ...]]:
    return rounds.agents.start, rounds.base(rounds.agents.start)


def _decisions(rounds: Rounds, joins: Sequence[str], possible: Any) -> Iterator[_Decision]:
    """Those that can make a difference: where not every way of the exit leads to the same sources in one round."""
    leads = _leading(rounds, [arc for name in joins for arc in rounds.entering[name]])
    alike: set[Any] = set()
    for name in sorted(rounds.agents.parts, key=rounds.order.__getitem__):
        if name not in possible or rounds.kind(name) in alike:
            continue
        alike.add(rounds.kind(name))
        if rounds.agents.parts[name].silent and any(leads.get(arc.id) for arc in rounds.leaving[name]):
            yield _Decision(name, "", (), tuple(rounds.leaving[name]))
        for group, exit in enumerate(rounds.agents.parts[name].exits):
            if exit.takes == "all":
                continue
            arcs = [arc for arc in rounds.leaving[name] if arc.group == group]
            if exit.takes == "together":
                if any(leads.get(arc.target, 0) | leads.get(arc.id, 0) for arc in arcs if arc.id not in rounds.back):
                    yield _Decision(name, exit.by, (), tuple(arcs))
                continue
            bits = [0 if arc.id in rounds.back else leads.get(arc.target, 0) | leads.get(arc.id, 0) for arc in arcs]
            if not any(bits) or (exit.takes == "one" and len(set(bits)) == 1):
                continue
            for arc in arcs:
                others = tuple(other for other in arcs if other is not arc)
                if others:
                    yield _Decision(name, exit.by, (arc.target,), others, len(arcs) if exit.takes == "one" else 0)
            for arc in arcs:
                if exit.takes != "one" and (len(arcs) != 2):
                    rest = tuple(other.target for other in arcs if other is not arc)
                    yield _Decision(name, exit.by, rest, (arc,))


def _avoiding(rounds: Rounds, name: str) -> Iterator[_Decision]:
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
            yield _Decision(left[0].source, left[0].exit.by, (), left)


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


def _hanging(rounds: Rounds, decision: _Decision) -> Any:
    """What is possible whatever is decided at a part: also if it takes no way at all that it decides on."""
    decided = {arc.id for arc in rounds.leaving[decision.at] if arc.exit.takes != "all"}
    return close(rounds.judged(decided), [_start(rounds)]).frontiers


def _again(rounds: Rounds, decided: Collection[str], first: Any) -> list[tuple[str, Any]]:
    """Where the next round of a loop in whose rounds a part runs begins, with a decision taken in this one."""
    loops = {loop for name in decided for loop in rounds.contexts[name]}
    back = [arc for arc in rounds.arcs if arc.id in first and rounds.back.get(arc.id) in loops]
    return [(arc.id, time) for arc in back for time in first[arc.id]]


def _left(
    rounds: Rounds,
    name: str,
    decision: _Decision,
    frontiers: tuple[Any, Any, Any],
    networks: tuple[Network, Network],
    again: list[tuple[str, Any]],
) -> _Left | None:
    """What a decision leaves of a join's sources: one that sends, with one that does not; one that may later first."""
    possible, first, after = frontiers
    base = rounds.base(name)
    arcs = [arc for arc in rounds.entering[name] if base in possible.get(arc.id, ())]
    sending = [arc for arc in arcs if base in first.get(arc.id, ())]
    missing = [arc for arc in arcs if base not in first.get(arc.id, ()) and base not in after.get(arc.id, ())]
    if not sending or not missing:
        return None
    later = [(arc, time) for arc in missing for time in (*first.get(arc.id, ()), *after.get(arc.id, ()))]
    start = _start(rounds)
    early = CouldResultIn(networks[0]).proof(start, (sending[0].id, base)) or []
    if not later:
        return _Left(decision, sending[0], missing[0], None, early, [])
    arc, time = min(later, key=lambda each: each[1])
    late: list[Pointstamp] = []
    if arc.id in networks[0].numbers:
        late = list(CouldResultIn(networks[0]).proof(start, (arc.id, time)) or [])
    for begin in again if not late else ():
        if way := CouldResultIn(networks[1]).proof(begin, (arc.id, time)):
            late = [*(CouldResultIn(networks[0]).proof(start, begin) or []), *way[1:]]
            break
    return _Left(decision, sending[0], arc, time, early, late)


# --- nothing waits ----------------------------------------------------------------------------------------------------


def _overtaken(rounds: Rounds, words: Words, name: str) -> Iterator[tuple[str, Finding]]:
    """A source that comes again before another one has come."""
    agents = rounds.agents
    if agents.pace is None or not rounds.contexts[name]:
        return
    into = {arc.id for arc in rounds.entering[name]}
    without = rounds.judged(into).network()
    loops = [loop for loop in rounds.contexts[name] if _round(rounds, without, loop.head, loop) is not None]
    if not loops:  # every loop waits for the join
        return
    whole = FirstWays(rounds, rounds.judged().network(), *_start(rounds))
    base, steps = rounds.base(name), whole.steps(agents.start)
    arcs = [arc for arc in rounds.entering[name] if whole.times.get(arc.id) == base]
    for one in arcs:
        loop = next((each for each in reversed(loops) if one.source in each.members), None)
        if loop is None:
            continue
        for other in arcs:
            lag = steps.get(other.source, 0) - steps.get(one.source, 0)
            if other.source == one.source or (agents.pace == "steps" and lag <= 0):
                continue
            around = {arc.id for arc in rounds.entering[other.source]} | into
            way = _round(rounds, rounds.judged(around).network(), one.source, loop)
            if way is None:
                continue
            period = sum(agents.parts[place].steps for place, _ in way[1:] if place in agents.parts)
            if agents.pace == "free" or lag >= period:
                yield name, _overtakes(rounds, words, name, one, other, way)
                return


def _round(rounds: Rounds, network: Network, name: str, loop: Loop) -> list[Pointstamp] | None:
    """A way from a part in the first round of a loop to itself in the next one, in a network without some arcs."""
    at = 1 + rounds.contexts[name].index(loop)
    base = rounds.base(name)
    begin, later = (name, base), (name, (*base[:at], 1, *base[at + 1 :]))
    reach = close(network, [begin]).frontiers
    relation = CouldResultIn(network)
    for arc in rounds.arcs:
        if arc.id in loop.back and arc.id in reach:
            back = arc.id, reach[arc.id][0]
            first, second = relation.proof(begin, back), relation.proof(back, later)
            if first is not None and second is not None:
                return [*first, *second[1:]]
    return None


# --- all that a fork began --------------------------------------------------------------------------------------------


def _all_rounds(rounds: Rounds, words: Words, name: str) -> Iterator[tuple[str, Finding]]:
    """A loop that goes round again before the join of all that runs in it has run."""
    agents = rounds.agents
    network = rounds.judged({arc.id for arc in rounds.entering[name]}).network()
    for loop in rounds.contexts[name]:
        way = _round(rounds, network, loop.head, loop)
        if way is None:
            continue
        shown, head = agents.shown(name), agents.shown(loop.head)
        message = (
            f"'{shown}' mixes rounds: it puts those of the loop of '{head}' together, since nothing in the loop waits "
            "for it"
        )
        steps = walk(agents, way)
        steps[-1].append(f"again, before '{shown}'")
        hint = words.mixes_rounds.format(join=shown, sources="", one=head, other=shown, loop=head)
        yield name, Finding("PS913", message, hint, {"join": shown, "walks": [steps]})
        return


# --- what is said -----------------------------------------------------------------------------------------------------


def _hint(rounds: Rounds, text: str, name: str, one: Arc, other: Arc) -> str:
    agents = rounds.agents
    sources = [agents.shown(arc.source) for arc in rounds.entering[name]]
    return text.format(
        join=agents.shown(name),
        sources=", ".join(sources),
        one=agents.shown(one.source),
        other=agents.shown(other.source),
        loop=agents.shown(rounds.contexts[name][-1].head) if rounds.contexts[name] else "",
    )


def _says(rounds: Rounds, decision: _Decision) -> str:
    agents = rounds.agents
    if not decision.by:
        return f"when '{agents.shown(decision.at)}' sends nothing"
    if len({arc.source for arc in decision.left}) > 1:
        others = [f"'{agents.shown(arc.source)}' does not go to '{agents.shown(arc.target)}'" for arc in decision.left]
        return f"when {' and '.join(others)}"
    by = f"{decision.by} of '{agents.shown(decision.at)}'"
    taken = listed(_names(agents, decision.taken)) if decision.taken else ""
    left = listed(dict.fromkeys(_names(agents, [arc.target for arc in decision.left])), "or")
    return f"when {by} goes to {taken} and not to {left}" if taken else f"when {by} does not go to {left}"


def _names(agents: AgentGraph, targets: Sequence[str]) -> list[str]:
    return ["the end" if target == agents.end else agents.shown(target) for target in targets]


def _never(rounds: Rounds, words: Words, name: str, left: _Left, whatever: bool) -> Finding:
    agents = rounds.agents
    shown, sends, missing = agents.shown(name), agents.shown(left.sends.source), agents.shown(left.missing.source)
    how = f"{_says(rounds, left.decision)}, '{sends}' comes and '{missing}' does not"
    message = (
        f"'{shown}' never fires in a run, whatever is decided: {how}"
        if whatever
        else f"'{shown}' may never fire: {how}"
    )
    steps = walk(agents, left.early, {left.decision.at: "decides here"})
    steps.append([shown, list(rounds.base(name)), f"waits for '{missing}', which never comes"])
    witness = {"join": shown, "comes": sends, "missing": missing, "walks": [steps]}
    hint = _hint(rounds, words.may_never_fire, name, left.sends, left.missing)
    return Finding("PS912", message, hint, witness, "error" if whatever else None)


def _mixes(rounds: Rounds, words: Words, name: str, left: _Left) -> Finding:
    agents = rounds.agents
    shown, sends, missing = agents.shown(name), agents.shown(left.sends.source), agents.shown(left.missing.source)
    one, other = _rounds_of(rounds.base(name), left.later)
    message = (
        f"'{shown}' may mix rounds: {_says(rounds, left.decision)}, it puts '{sends}' of round {one} together with "
        f"'{missing}' of round {other}"
    )
    early = walk(agents, left.early, {left.decision.at: "decides here"})
    late = walk(agents, left.late)
    late.append([shown, list(left.later), f"with '{sends}' of round {one}"])
    witness = {"join": shown, "comes": sends, "missing": missing, "walks": [early, late]}
    return Finding("PS913", message, _hint(rounds, words.mixes_rounds, name, left.sends, left.missing), witness)


def _mixes_runs(rounds: Rounds, words: Words, name: str, left: _Left) -> Finding:
    agents = rounds.agents
    shown, sends, missing = agents.shown(name), agents.shown(left.sends.source), agents.shown(left.missing.source)
    message = (
        f"'{shown}' may mix runs on the same {agents.kept_by}: {_says(rounds, left.decision)}, what '{sends}' sent is "
        f"kept, and put together with '{missing}' of a later run"
    )
    early = walk(agents, left.early, {left.decision.at: "decides here"})
    late = [[missing, [1, *rounds.base(left.missing.source)[1:]], "in a later run"]]
    late.append([shown, [1, *rounds.base(name)[1:]], f"with '{sends}' of this one"])
    witness = {"join": shown, "comes": sends, "missing": missing, "walks": [early, late]}
    return Finding("PS913", message, _hint(rounds, words.mixes_runs, name, left.sends, left.missing), witness)


def _overtakes(rounds: Rounds, words: Words, name: str, one: Arc, other: Arc, way: Sequence[Pointstamp]) -> Finding:
    agents = rounds.agents
    shown, fast, slow = agents.shown(name), agents.shown(one.source), agents.shown(other.source)
    message = (
        f"'{shown}' may mix rounds: nothing in the loop waits for it, so '{fast}' of a later round comes before "
        f"'{slow}' of this one"
    )
    steps = walk(agents, way)
    steps[-1].append(f"again, and '{slow}' of the round before may not have come")
    witness = {"join": shown, "comes": fast, "missing": slow, "walks": [steps]}
    return Finding("PS913", message, _hint(rounds, words.mixes_rounds, name, one, other), witness)


def _rounds_of(first: Sequence[int], later: Sequence[int]) -> tuple[int, int]:
    """The rounds of two times as people count them, in the outermost loop in which they differ."""
    at = next((at for at, (one, other) in enumerate(zip(first, later, strict=True)) if one != other), 0)
    return first[at] + 1, later[at] + 1
