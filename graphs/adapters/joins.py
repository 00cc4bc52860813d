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
from typing import Any

from graphs.adapters import Finding
from graphs.adapters.agent_findings import Words, walk
from graphs.adapters.decisions import Decision, avoiding, decisions
from graphs.adapters.first_ways import FirstWays
from graphs.adapters.joins_told import Left, may_never_fire, mixes_rounds, mixes_runs, overtakes
from graphs.adapters.rounds import Loop, Rounds
from progress.closure import close
from progress.could_result_in import CouldResultIn
from progress.pointstamp import Pointstamp
from progress.topology import Network

MOST_WORK = 20_000  # arcs looked at for decisions one by one; beyond, only for those that keep a source of a join away


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
    never: dict[str, list[Left]] = {name: [] for name in joins}
    mixing: dict[str, Left] = {}

    def judge(decision: Decision, names: Sequence[str]) -> None:
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

    for decision in islice(decisions(rounds, joins, possible.keys()), MOST_WORK // (1 + len(rounds.arcs))):
        judge(decision, joins)
    for name in joins:
        if not never[name] and name not in mixing:
            for decision in avoiding(rounds, name):
                judge(decision, [name])
    for name, each in never.items():
        if each:
            yield name, may_never_fire(rounds, words, name, each[0], _whatever(each))
            if agents.keeps and name not in mixing:
                yield name, mixes_runs(rounds, words, name, each[0])
    for name, left in mixing.items():
        yield name, mixes_rounds(rounds, words, name, left)


def _whatever(never: Sequence[Left]) -> bool:
    """Whether one of the decisions by which a join never fires is always taken."""
    counts = Counter((left.decision.at, left.decision.by, left.decision.of) for left in never)
    return any(count == of for (_, _, of), count in counts.items())


def _hanging(rounds: Rounds, decision: Decision) -> Any:
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
    decision: Decision,
    frontiers: tuple[Any, Any, Any],
    networks: tuple[Network, Network],
    again: list[tuple[str, Any]],
) -> Left | None:
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
        return Left(decision, sending[0], missing[0], None, early, [])
    arc, time = min(later, key=lambda each: each[1])
    late: list[Pointstamp] = []
    if arc.id in networks[0].numbers:
        late = list(CouldResultIn(networks[0]).proof(start, (arc.id, time)) or [])
    for begin in again if not late else ():
        if way := CouldResultIn(networks[1]).proof(begin, (arc.id, time)):
            late = [*(CouldResultIn(networks[0]).proof(start, begin) or []), *way[1:]]
            break
    return Left(decision, sending[0], arc, time, early, late)


def _start(rounds: Rounds) -> tuple[str, tuple[int, ...]]:
    return rounds.agents.start, rounds.base(rounds.agents.start)


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
                yield name, overtakes(rounds, words, name, one, other, way)
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
