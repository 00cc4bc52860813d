"""What is wrong with an agent graph, by could-result-in over its rounds (`graphs.adapters.rounds`).

The laws stand in the files that judge them: `meetings` (what runs twice, and what waits for what it does not need),
`joins` (what never runs, or mixes rounds), `endings` (what never ends). Each finding names the parts as the tool does,
shows the ways that prove it, and says the smallest change that mends it in the words of the tool (`Words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from graphs.adapters import Finding, Found
from graphs.adapters.agents import AgentGraph
from graphs.adapters.rounds import Rounds


class Words(NamedTuple):
    """How a tool would mend each fault; `{join}`, `{sources}`, `{one}`, `{other}`, `{loop}` are put in.

    Examples
    --------
    >>> from graphs.adapters.agent_findings import Words
    >>> Words(*["", "let {one} always send"], "", "", "").may_never_fire.format(one="a")
    'let a always send'
    """

    fires_more_than_once: str
    may_never_fire: str
    mixes_rounds: str
    mixes_runs: str
    ends_only_by_its_step_limit: str
    waits_for_an_unrelated_loop: str = ""


def judge(agents: AgentGraph, words: Words) -> tuple[Rounds, list[Finding]]:
    """All findings, those on one part together, in the order in which a run may come to the parts."""
    from graphs.adapters.endings import endless
    from graphs.adapters.joins import incomplete
    from graphs.adapters.meetings import repeated, waiting_for_others

    rounds = Rounds(agents)
    found: list[tuple[str, Finding]] = []
    for judged in (repeated, incomplete, endless, waiting_for_others):
        found += judged(rounds, words)
    found.sort(key=lambda each: (rounds.order[each[0]], each[1].code))
    return rounds, [finding for _, finding in found]


def found_in(agents: AgentGraph, words: Words, unknown: Sequence[str] = ()) -> Found:
    """What an adapter answers of an agent graph.

    Returns
    -------
    The graph whose times are rounds, with the findings.

    Examples
    --------
    >>> from graphs.adapters.agent_findings import Words, found_in
    >>> from graphs.adapters.agents import AgentGraph, Exit, Part
    >>> agents = AgentGraph("two", "plan", "END", limit="its step limit")
    >>> agents.add(Part("plan", "step", [Exit(("write",))]))
    >>> agents.add(Part("write", "step", [Exit(("plan", "END"), "one", "it")]))
    >>> found_in(agents, Words("", "", "", "", "")).findings
    []
    """
    rounds, findings = judge(agents, words)
    return Found(rounds.graph(), findings, unknown)


def together(found: Iterable[tuple[str, Found]]) -> Found:
    """One answer of what was found in a graph, which comes first, and in those within it, by the path to each."""
    (_, outer), *inner = found
    findings, unknown = [*outer.findings], [*outer.unknown]
    for path, each in inner:
        findings += (finding._replace(message=f"in '{path}': {finding.message}") for finding in each.findings)
        unknown += (f"in '{path}': {says}" for says in each.unknown)
    return Found(outer.graph, findings, unknown)


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names for a sentence: `'a', 'b' and 'c'`."""
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def walk(agents: AgentGraph, proof: Iterable[Any], notes: dict[str, str] | None = None) -> list[list[Any]]:
    """A proof of could-result-in as steps to draw: the tool's nodes alone, each with its time."""
    notes = notes or {}
    steps: list[list[Any]] = []
    for location, time in proof:
        if location in agents.parts or location == agents.end:
            step = [agents.shown(location), list(time)]
            if steps and step == steps[-1][:2]:
                steps.pop()  # what the tool keeps apart and nobody sees, as a fork
            if location in notes:
                step.append(notes[location])
            steps.append(step)
    return steps
