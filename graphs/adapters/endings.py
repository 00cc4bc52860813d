"""What never ends: loops without a way out.

**PS914.** A part *goes on inevitably* when one of its exits takes all of its ways, and one of them leads to a part that
goes on inevitably; or takes exactly one, and each does. A join of all does so only if all of its sources do. It is the
greatest set with this property, so each event (x, t) of a part in it results in a later one in it, whatever is decided:
the parts are finitely many, so events come back to one of them at a later round, without end. A part that may hand over
to somebody outside, or take no way out, is in no such set. What is unsure is not in it: a loop of which nobody knows
whether it ends is not a finding.

Cost: O(arcs) for each part that is taken out of the set.
"""

from __future__ import annotations

from graphs.adapters import Finding
from graphs.adapters.agent_findings import Words
from graphs.adapters.agents import Exit
from graphs.adapters.rounds import Rounds


def endless(rounds: Rounds, words: Words) -> list[tuple[str, Finding]]:
    """PS914: each loop that has no way out, once."""
    agents = rounds.agents
    reached = rounds.reached()
    going = {name for name in reached if not (agents.parts[name].pauses or agents.parts[name].silent)}

    def goes_on(exit: Exit) -> bool:
        inward = [target for target in exit.targets if target in going]
        return bool(inward) and (exit.takes == "all" or (exit.takes == "one" and len(inward) == len(exit.targets)))

    def stays(name: str) -> bool:
        part = agents.parts[name]
        if part.waits == "all" and any(arc.source not in going for arc in rounds.entering[name]):
            return False
        return any(goes_on(exit) for exit in part.exits)

    while leaving := {name for name in going if not stays(name)}:
        going -= leaving
    found: dict[frozenset[str], tuple[str, Finding]] = {}
    for name in sorted(going, key=rounds.order.__getitem__):
        way = [name]
        while True:
            exit = next(exit for exit in agents.parts[way[-1]].exits if goes_on(exit))
            following = next(target for target in exit.targets if target in going)
            if following in way:
                break
            way.append(following)
        cycle = way[way.index(following) :]
        if not any(frozenset(cycle) & known for known in found):
            head = min(cycle, key=rounds.order.__getitem__)
            turned = cycle[cycle.index(head) :] + cycle[: cycle.index(head)]
            found[frozenset(cycle)] = head, _told(rounds, words, turned)
    return list(found.values())


def _told(rounds: Rounds, words: Words, cycle: list[str]) -> Finding:
    agents = rounds.agents
    names = list(dict.fromkeys(agents.shown(name) for name in cycle))
    first = rounds.base(cycle[0])
    steps: list[list[object]] = [[agents.shown(name), list(first)] for name in cycle if agents.parts[name].steps]
    later = [*first[:-1], first[-1] + 1]
    steps.append([names[0], later, "again, whatever is decided"])
    message = f"the loop {' -> '.join([*names, names[0]])} has no way out: {agents.limit}"
    hint = words.ends_only_by_its_step_limit.format(loop=names[-1], join=names[0], one=names[-1], other=names[0])
    return Finding("PS914", message, hint, {"loop": names, "walks": [steps]})
