"""Google ADK: what it does with a workflow, what `check --from adk` says of it before it runs."""

from typing import Any

from tests.adapters.tool_reports import clean, codes, finding, no_alarm, refused
from tests.adapters.tools import probe


def facts() -> dict[str, Any]:
    return probe("probe_adk")


def runs_of(name: str, node: str) -> list[Any]:
    return [value for each, value in facts()["runs"][name] if each == node]


def test_a_plain_node_runs_for_each_branch() -> None:
    assert runs_of("unequal", "end") == [1, 1]
    assert codes(facts()["said"]["unequal"]) == [("PS911", "error")]
    assert runs_of("unequal_mended", "end") == [{"a": 1, "b2": 1}]


def test_a_branch_that_is_not_taken_keeps_a_join_from_running() -> None:
    assert facts()["runs"]["untaken"] == [["s", 1], ["a", 1]]
    assert codes(facts()["said"]["untaken"]) == [("PS912", "warning")]
    assert runs_of("untaken_mended", "end") == [1]


def test_a_fast_branch_overtakes_a_slow_one() -> None:
    assert runs_of("overtaken", "slow") == [1, 2, 3]
    assert runs_of("overtaken", "end") == [{"fast": 3, "slow": 1}]  # and rounds 2 and 3 never join
    assert codes(facts()["said"]["overtaken"]) == [("PS913", "warning")]
    found = finding(facts(), "overtaken", "PS913")
    assert "'fast' of a later round comes before 'slow' of this one" in found["message"]
    assert runs_of("overtaken_mended", "decide") == [{"fast": n, "slow": n} for n in (1, 2, 3)]


def test_a_route_that_leaves_a_branch_out_mixes_rounds() -> None:
    assert runs_of("silent_once", "end") == [{"fast": 3, "slow": 2}]
    assert runs_of("only_once", "end") == [{"fast": 3, "slow": 1}]
    for name in ("silent_once", "only_once"):
        assert codes(facts()["said"][name]) == [("PS912", "warning"), ("PS913", "warning")]


def test_mended_workflows_are_clean() -> None:
    clean(facts(), "unequal_mended", "untaken_mended", "overtaken_mended")


def test_the_shapes_of_the_samples_raise_no_alarm() -> None:
    assert len(facts()["examples"]) >= 4
    no_alarm(facts(), set())


def test_what_is_not_a_workflow_is_refused_in_one_line() -> None:
    refused(facts()["said"]["NOT_A_GRAPH"])
