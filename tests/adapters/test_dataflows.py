"""`to_dataflow`: the tools' node functions on the engine asyncio; where that is the same, and each difference."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.tools import environment, probe, tools_python


def facts() -> dict[str, Any]:
    return probe("probe_dataflows")


def logs(name: str) -> list[list[str]]:
    return [state["log"] for state in facts()["faulty"][name]]


# --- the same ---------------------------------------------------------------------------------------------------------


def test_graphs_without_a_fault_end_in_the_state_that_the_tool_gives() -> None:
    assert len(facts()["tool"]) >= 6
    assert facts()["ours"] == facts()["tool"]


def test_send_and_commands_with_declared_ends_do_what_they_do() -> None:
    theirs, ours = facts()["sending"]
    assert ours == theirs
    assert ours["log"] == ["plan", "work 1", "work 2", "work 3", "decide", "more", "decide"]


def test_workflows_without_a_fault_put_out_what_they_put_out() -> None:
    for name, outputs in facts()["their_workflows"].items():
        assert facts()["workflows"][name][0] == outputs


def test_executors_keep_their_state_from_run_to_run() -> None:
    assert facts()["counting"] == [["7 is number 1"], ["8 is number 2"]]


# --- the differences, as docs/adapters.md lists them ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["unequal", "unequal_deferred"])
def test_a_node_runs_once_a_round_when_nothing_more_can_come(name: str) -> None:
    assert logs(name) == [["s", "a", "b1", "b2", "j", "after"], ["|", "s", "a", "b1", "b2", "j", "after"]]


@pytest.mark.parametrize("name", ["untaken", "kept"])
def test_a_join_runs_with_what_came_and_keeps_nothing(name: str) -> None:
    assert logs(name) == [["s", "a", "j"], ["|", "s", "b", "j"]]


def test_rounds_stay_apart() -> None:
    first, second = logs("mixed")
    assert [name for name in first if name[0] == "j"] == ["j1", "j2"]  # once with fast, once with slow
    assert second == ["|", "gate1", "slow2", "j2"]
    assert [name for name in logs("overtaken")[0] if name[0] == "j"] == ["j1", "j2", "j3"]


def test_a_deferred_node_waits_for_what_leads_to_it_alone() -> None:
    log = logs("unrelated")[0]
    assert log.index("j0") < log.index("L2")


def test_a_node_sees_what_led_to_it() -> None:
    theirs, ours = facts()["beside"]
    assert "a2 saw 2" in theirs["log"]
    assert "a2 saw 1" in ours["log"]


def test_writes_of_one_step_are_applied_one_after_the_other() -> None:
    theirs, ours = facts()["at_once"]
    assert theirs == "InvalidUpdateError"
    assert ours == {"log": ["a", "b"], "last": "b"}


def test_a_way_that_nobody_declared_is_refused() -> None:
    assert "PS905: 'a' goes to 'b', which it does not declare" in facts()["astray"]


def test_what_is_not_an_update_is_refused_in_one_line() -> None:
    right = '(a dict of what it changes, as {"key": value}, or None)'
    for found, given in zip(facts()["no_update"], ("7", "'to'", "7", "(('log',),)"), strict=True):
        assert found == f"PS906: 'a' gives {given}, which is not an update of the state {right}"
    assert facts()["no_state"] == f"PS906: a run gives 7, which is not an update of the state {right}"


def test_a_command_may_name_what_it_changes_in_pairs() -> None:
    theirs, ours = facts()["pairs"]
    assert ours == theirs
    assert facts()["blind"].startswith("PS903: 7 cannot be run as a dataflow")


def test_fan_ins_run_with_what_came_of_their_round() -> None:
    workflows = facts()["workflows"]
    assert workflows["silent"][0] == [[1], [2, 2], [3, 3]]
    assert workflows["untaken"] == [[[1]], [[-1]]]
    assert workflows["switched"] == [[[1]], [[-1]]]


def test_handlers_still_run_for_each_message() -> None:
    assert facts()["workflows"]["unequal"] == [[1, 1], [-1, -1]]


# --- as a pipeline ----------------------------------------------------------------------------------------------------


def test_it_runs_as_a_pipeline_with_the_live_view(tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(
        "from graphs.adapters import to_dataflow\nfrom tests.adapters.graphs.langgraph_faults import overtaken\n"
        "dataflow = to_dataflow(overtaken)\n",
        encoding="utf-8",
    )
    command = [tools_python(), "-W", "ignore", "-m", "graphs", "run", "flow.py", "--engine", "asyncio", "--ui", "0"]
    with subprocess.Popen(
        [*command, "--output", "result=out.jsonl", "--input", "input=-"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdin is not None
        assert run.stderr is not None
        try:
            said = run.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\S*", said)
            assert found is not None, said
            with urllib.request.urlopen(found.group(), timeout=20) as page:
                assert page.status == 200
            run.stdin.write(json.dumps({"time": [0], "value": {"log": [], "n": 0}}) + "\n")
            run.stdin.close()
            assert run.wait(60) == 0
        finally:
            run.kill()
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    (value,) = [line["value"] for line in lines if "value" in line]
    assert [name for name in value["log"] if name[0] == "j"] == ["j1", "j2", "j3"]
