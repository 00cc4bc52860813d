"""LangGraph: what it does with a graph, what `check --from langgraph` says before it runs, silence elsewhere."""

from typing import Any

import pytest

from tests.adapters.tool_reports import clean, codes, finding, no_alarm, nodes, refused
from tests.adapters.tools import probe, run_with_tools


def facts() -> dict[str, Any]:
    return probe("probe_langgraph")


def test_unequal_branches_run_the_join_twice() -> None:
    assert facts()["runs"]["unequal"] == ["s", "a", "b1", "b2", "j", "after", "j", "after"]
    assert codes(facts()["said"]["unequal"]) == [("PS911", "error")]
    assert facts()["said"]["unequal"]["exit"] == 1
    said = finding(facts(), "unequal", "PS911")
    assert [nodes(walk) for walk in said["witness"]["walks"]] == [["s", "a", "j"], ["s", "b1", "b2", "j"]]
    assert "add_edge(['a', 'b2'], 'j')" in said["hint"]


@pytest.mark.parametrize("name", ["unequal_mended", "unequal_deferred"])
def test_a_join_that_waits_runs_once(name: str) -> None:
    assert facts()["runs"][name] == ["s", "a", "b1", "b2", "j", "after"]


def test_branches_of_equal_length_are_one_step_of_the_tool() -> None:
    assert facts()["runs"]["equal"] == ["s", "a", "b", "j"]


def test_a_branch_that_is_not_taken_keeps_a_list_join_from_running() -> None:
    assert facts()["runs"]["untaken"] == ["s", "a"]
    assert codes(facts()["said"]["untaken"]) == [("PS912", "error")]
    said = finding(facts(), "untaken", "PS912")
    assert nodes(said["witness"]["walks"][0]) == ["START", "s", "a", "j"]
    assert said["message"].startswith("'j' never fires in a run, whatever is decided: when the router 'route' of 's'")
    assert facts()["runs"]["untaken_mended"] == ["s", "a", "j"]


def test_with_a_checkpointer_a_list_join_mixes_calls() -> None:
    assert facts()["runs"]["kept"] == [["s", "a"], ["s", "a", "s", "b", "j"]]
    assert codes(facts()["said"]["kept"]) == [("PS912", "error"), ("PS913", "warning")]
    assert "may mix runs on the same thread" in finding(facts(), "kept", "PS913")["message"]
    assert facts()["runs"]["kept_mended"] == [["s", "a", "j"], ["s", "a", "j", "s", "b", "j"]]


def test_defer_waits_for_a_loop_that_it_takes_nothing_from() -> None:
    assert facts()["runs"]["unrelated"][-3:] == ["L3", "L4", "j5"]
    assert codes(facts()["said"]["unrelated"]) == [("PS915", "warning")]
    said = finding(facts(), "unrelated", "PS915")
    assert said["hint"] == "let 'j' wait for what it takes: add_edge(['a'], 'j') instead of defer=True"
    assert facts()["runs"]["unrelated_mended"].index("j1") < facts()["runs"]["unrelated_mended"].index("L2")


def test_a_list_join_mixes_rounds() -> None:
    assert facts()["runs"]["mixed"] == ["gate0", "fast1", "gate1", "slow2", "j2"]
    assert codes(facts()["said"]["mixed"]) == [("PS912", "warning"), ("PS913", "warning")]
    said = finding(facts(), "mixed", "PS913")
    assert "'fast' of round 1 together with 'slow' of round 2" in said["message"]
    first, second = said["witness"]["walks"]
    assert [step[:2] for step in first][-1] == ["fast", [0, 0]]
    assert [step[:2] for step in second][-2:] == [["slow", [0, 1]], ["j", [0, 1]]]
    rounds = facts()["runs"]["mixed_mended"]
    assert [name for name in rounds if name.startswith("j")] == ["j1", "j2", "j3"]


def test_a_fast_branch_overtakes_a_slow_one_in_a_loop_that_does_not_wait() -> None:
    run = facts()["runs"]["overtaken"]
    assert run.index("fast2") < run.index("s32") < run.index("j2")
    assert codes(facts()["said"]["overtaken"]) == [("PS913", "warning")]
    assert "'fast' of a later round comes before 's3' of this one" in finding(facts(), "overtaken", "PS913")["message"]


def test_a_loop_without_a_way_out_ends_by_the_step_limit() -> None:
    assert facts()["runs"]["endless"] == "GraphRecursionError"
    assert codes(facts()["said"]["endless"]) == [("PS914", "error")]
    assert "its recursion limit ends it, after 10007 steps" in finding(facts(), "endless", "PS914")["message"]


def test_the_mended_graphs_are_clean() -> None:
    clean(
        facts(),
        *("unequal_mended", "unequal_deferred", "equal", "untaken_mended", "kept_mended", "unrelated_mended"),
        *("mixed_mended", "overtaken_mended", "endless_mended"),
    )


def test_a_graph_that_is_not_compiled_and_one_within_another_are_read_too() -> None:
    assert codes(facts()["said"]["uncompiled"]) == [("PS911", "error")]
    assert finding(facts(), "nested_graph", "PS911")["message"].startswith("in 'outer': 'j' fires more than once")


def test_the_shapes_of_the_tutorials_raise_no_alarm() -> None:
    assert len(facts()["examples"]) >= 18
    no_alarm(facts(), {"prebuilt_agent", "orchestrator_and_workers"})


def test_what_is_not_a_graph_is_refused_in_one_line() -> None:
    refused(facts()["said"]["NOT_A_GRAPH"])


def test_what_a_target_prints_does_not_spoil_the_answer(tmp_path: Any) -> None:
    (tmp_path / "app.py").write_text(
        "from langgraph.graph import START, StateGraph\nprint('hello')\ng = StateGraph(dict)\n"
        "g.add_node('a', lambda s: s)\ng.add_edge(START, 'a')\n"
        "g.add_conditional_edges('a', lambda s: 'a')\n",
        encoding="utf-8",
    )
    run = run_with_tools("-m", "graphs", "check", "--from", "langgraph", "app:g", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "hello" in run.stderr
    assert run.stdout.startswith("✓ app:g: good, with 1 note.")
    assert "declares no ends and may go anywhere" in run.stdout
