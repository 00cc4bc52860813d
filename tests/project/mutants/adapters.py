"""Graphs of other tools."""

from __future__ import annotations

from tests.project.mutants.mutant import within

AGENTS_SUITE = ("tests/adapters/test_agent_graphs.py",)

MUTANTS = within(
    "graphs/adapters",
    AGENTS_SUITE,
    (
        "a source without a way where ways are unknown",
        "joins.py",
        "for name in joins if not rounds.agents.is_open else ():",
        "for name in joins:",
    ),
    (
        "a join that may be left out never fires",
        "joins.py",
        "(hanging is not None and left.sends.id in hanging)",
        "hanging == 0",
    ),
    ("one of several decisions is all of them", "joins.py", "any(count == of for", "any(count >= 1 for"),
    (
        "to wait for what is taken is a fault",
        "meetings.py",
        "name in found or name in related[loop.head]",
        "name in found",
    ),
    ("ways that exclude each other meet", "meetings.py", "return joins <= rounds.live(dropped)", "return True"),
    ("one way out of many is no way out", "endings.py", "len(inward) == len(exit.targets)", "True"),
    ("a failure has sent", "sending.py", "(tried and all(every))", "tried"),
    ("what is unknown within is not said", "agent_findings.py", "unknown += (", "_ = ("),
)
