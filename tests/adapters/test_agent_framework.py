"""agent-framework: what it does with a workflow, what `check --from agent-framework` says of it before it runs."""

from typing import Any

from tests.adapters.tool_reports import clean, codes, finding, no_alarm, nodes, refused
from tests.adapters.tools import probe


def facts() -> dict[str, Any]:
    return probe("probe_agent_framework")


def test_a_source_that_is_silent_once_mixes_rounds() -> None:
    assert facts()["runs"]["silent"] == {"outputs": [[1, 2, 2], [3, 3]], "state": "IDLE"}
    assert codes(facts()["said"]["silent"]) == [("PS913", "warning")]
    found = finding(facts(), "silent", "PS913")
    assert "when 'slow' sends nothing, it puts 'fast' of round 1 together with 'slow' of round 2" in found["message"]
    assert nodes(found["witness"]["walks"][1])[-3:] == ["gate", "slow", "join"]
    assert "'slow' too" in found["hint"]
    assert facts()["runs"]["silent_mended"]["outputs"] == [[1, 1], [2, 2], [3, 3]]


def test_a_branch_that_is_not_taken_keeps_a_fan_in_from_running() -> None:
    assert facts()["runs"]["untaken"] == {"outputs": [], "state": "IDLE"}
    assert codes(facts()["said"]["untaken"]) == [("PS912", "warning"), ("PS913", "warning")]
    assert "'b' comes and 'a' does not" in finding(facts(), "untaken", "PS912")["message"]


def test_a_second_run_joins_with_what_the_first_one_left() -> None:
    assert facts()["runs"]["again"]["outputs"] == [[1, -5]]
    assert "may mix runs on the same workflow object" in finding(facts(), "untaken", "PS913")["message"]


def test_a_switch_into_a_fan_in_never_joins() -> None:
    assert facts()["runs"]["switched"] == {"outputs": [], "state": "IDLE"}
    assert codes(facts()["said"]["switched"]) == [("PS912", "error"), ("PS913", "warning")]
    assert facts()["said"]["switched"]["exit"] == 1


def test_plain_edges_run_the_handler_for_each_message() -> None:
    for name in ("unequal", "equal"):
        assert facts()["runs"][name]["outputs"] == [1, 1]
        assert codes(facts()["said"][name]) == [("PS911", "error")]
    found = finding(facts(), "unequal", "PS911")
    assert [nodes(walk) for walk in found["witness"]["walks"]] == [["s", "a", "join"], ["s", "b1", "b2", "join"]]
    assert "add_fan_in_edges([a, b2], join)" in found["hint"]
    assert facts()["runs"]["unequal_mended"]["outputs"] == [[1, 1]]


def test_a_loop_without_a_way_out_ends_by_the_limit() -> None:
    assert facts()["runs"]["endless"]["state"] == "WorkflowConvergenceException"
    assert codes(facts()["said"]["endless"]) == [("PS914", "error")]
    assert "its limit of 12 iterations ends it" in finding(facts(), "endless", "PS914")["message"]


def test_mended_workflows_are_clean() -> None:
    clean(facts(), "silent_mended", "untaken_mended", "unequal_mended", "endless_mended")


def test_a_target_that_a_message_names_is_said_to_be_unknown() -> None:
    assert codes(facts()["said"]["named"]) == [("PS919", "note")]


def test_the_shapes_of_the_samples_raise_no_alarm() -> None:
    assert len(facts()["examples"]) >= 9
    no_alarm(facts(), {"selection"})


def test_what_is_not_a_workflow_is_refused_in_one_line() -> None:
    refused(facts()["said"]["NOT_A_GRAPH"])
