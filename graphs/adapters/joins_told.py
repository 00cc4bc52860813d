"""What is said of joins that never run, or that mix rounds: each finding in the tool's words, with its walks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphs.adapters import Finding
from graphs.adapters.agent_findings import Words, listed, walk
from graphs.adapters.agents import AgentGraph
from graphs.adapters.decisions import Decision
from graphs.adapters.rounds import Arc, Rounds
from progress.pointstamp import Pointstamp


class Left(NamedTuple):
    """A source that sends at the join's first time, and one that does not: what it may do later, if anything."""

    decision: Decision
    sends: Arc
    missing: Arc
    later: Any
    early: list[Pointstamp]
    late: list[Pointstamp]


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


def _says(rounds: Rounds, decision: Decision) -> str:
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


def may_never_fire(rounds: Rounds, words: Words, name: str, left: Left, whatever: bool) -> Finding:
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


def mixes_rounds(rounds: Rounds, words: Words, name: str, left: Left) -> Finding:
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


def mixes_runs(rounds: Rounds, words: Words, name: str, left: Left) -> Finding:
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


def overtakes(rounds: Rounds, words: Words, name: str, one: Arc, other: Arc, way: Sequence[Pointstamp]) -> Finding:
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
