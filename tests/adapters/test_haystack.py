"""Haystack: what it does with a pipeline, what `check --from haystack` says of it before it runs."""

from typing import Any

from tests.adapters.tool_reports import clean, codes, finding, no_alarm, refused
from tests.adapters.tools import probe


def facts() -> dict[str, Any]:
    return probe("probe_haystack")


def test_a_blocked_pipeline_gives_nothing_and_its_warning_names_the_idle_branch() -> None:
    run = facts()["runs"]["blocked"]
    assert run["result"] == {}
    (warning,) = run["warnings"]
    assert "'r' (Add)" in warning
    assert "'join'" not in warning
    found = finding(facts(), "blocked", "PS912")
    assert found["message"].startswith("'join' may never fire")
    assert found["witness"]["join"] == "join"


def test_a_router_that_takes_one_way_never_fills_both_inputs() -> None:
    assert facts()["runs"]["exclusive"]["result"] == {}
    assert codes(facts()["said"]["exclusive"]) == [("PS912", "warning")]


def test_a_join_in_a_loop_mixes_rounds() -> None:
    log = facts()["runs"]["mixed"]["log"]
    assert ["join", 2, 2] in log  # l of the first round with the second; a is always b + 1 in one round
    assert ["join", 3, 2] not in log
    assert [code for code, _ in codes(facts()["said"]["mixed"])] == ["PS912", "PS913", "PS919"]
    assert "'l' of round 1 together with 'route' of round 2" in finding(facts(), "mixed", "PS913")["message"]
    mended = [each for each in facts()["runs"]["mixed_mended"]["log"] if each[0] == "join"]
    assert len(mended) >= 2
    assert all(a == b + 1 for _, a, b in mended)


def test_a_loop_without_a_way_out_ends_by_the_limit_of_runs() -> None:
    assert facts()["runs"]["endless"]["result"] == "PipelineMaxComponentRuns"
    assert codes(facts()["said"]["endless"]) == [("PS914", "error")]


def test_mended_pipelines_are_clean() -> None:
    assert facts()["runs"]["blocked_mended"]["result"] == {"join": {"z": 4}}
    assert facts()["runs"]["blocked_optional"]["result"] == {"join": {"z": 2}}
    clean(facts(), "blocked_mended", "mixed_mended")
    assert codes(facts()["said"]["blocked_optional"]) == [("PS919", "note")]


def test_the_shapes_of_the_tutorials_raise_no_alarm() -> None:
    assert len(facts()["examples"]) >= 4
    no_alarm(facts(), set())


def test_what_is_not_a_pipeline_is_refused_in_one_line() -> None:
    refused(facts()["said"]["NOT_A_GRAPH"])
