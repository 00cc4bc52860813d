"""pydantic-graph: its joins are right; what is left is found by `check --from pydantic-graph` before it runs."""

from typing import Any

from tests.adapters.tool_reports import clean, codes, finding, no_alarm, refused
from tests.adapters.tools import probe


def facts() -> dict[str, Any]:
    return probe("probe_pydantic_graph")


def steps(name: str) -> list[str]:
    return [step for step, _ in facts()["runs"][name]["log"]]


def test_joins_wait_for_all_that_their_fork_began() -> None:
    assert facts()["runs"]["unequal_mended"]["log"][-1] == ["fin", [1, 1]]
    assert facts()["runs"]["forks_in_forks"]["result"] == [1, [1, 1]]
    assert facts()["runs"]["map_and_sum"]["result"] == 14
    clean(facts(), "unequal_mended", "forks_in_forks")


def test_without_a_join_a_step_runs_twice() -> None:
    assert steps("unequal").count("fin") == 2
    assert codes(facts()["said"]["unequal"]) == [("PS911", "error")]
    assert "the first to reach the end ends the run" in finding(facts(), "unequal", "PS911")["hint"]


def test_the_first_to_reach_the_end_wins() -> None:
    assert facts()["runs"]["first_wins"]["result"] == 1  # one of two
    assert codes(facts()["said"]["first_wins"]) == [("PS911", "error")]
    assert "'the end' fires more than once" in finding(facts(), "first_wins", "PS911")["message"]


def test_a_loop_that_enters_the_fork_again_puts_all_rounds_together() -> None:
    assert facts()["runs"]["enters_again"]["result"] == [1, 2, 3, 3]
    assert codes(facts()["said"]["enters_again"]) == [("PS913", "warning")]
    assert "those of the loop of 'gate' together" in finding(facts(), "enters_again", "PS913")["message"]
    assert facts()["runs"]["enters_again_mended"]["result"] == [3, 3]
    assert steps("enters_again_mended").count("inc") == 2
    clean(facts(), "enters_again_mended")


def test_a_loop_without_a_way_out_is_found() -> None:
    assert codes(facts()["said"]["endless"]) == [("PS914", "error")]


def test_the_shapes_of_the_documentation_raise_no_alarm() -> None:
    assert len(facts()["examples"]) >= 4
    no_alarm(facts(), {"map_and_sum"})


def test_what_is_not_a_graph_is_refused_in_one_line() -> None:
    refused(facts()["said"]["NOT_A_GRAPH"])
