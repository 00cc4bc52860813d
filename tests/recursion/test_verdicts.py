"""What `pointstamp check` says of graphs with calls, and how it shows it; `close` where stacks have no earliest."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, from_data, load
from graphs.checking.check import check_graph, check_text
from graphs.checking.report_text import render as render_text
from graphs.checking.sarif import render as render_sarif
from graphs.codes import CODES
from graphs.command import main
from graphs.files.writing import to_data
from progress import CouldResultIn, PointstampError, close
from tests.files.hostile_calls import CALLS, GRAPHS
from tests.recursion.tools import FOLLOWS_ITSELF, PROGRAMS, placed

LAST = "  - {from: merge, to: exit}\n"


UNMET = [  # what is added or replaced, the code, the node or edge, at what it is told, the witness
    (LAST, LAST + "  - {from: more, to: merge}\n", "PS411", "more: {}", {"node": "more", "reached_from": ["more"]}),
    (LAST, LAST + "  - {from: merge, to: more}\n", "PS412", "more: {}", {"node": "more", "reaches": ["more"]}),
    (
        "  - {from: split, to: exit}\n",
        "",
        "PS413",
        "entry: {}",
        {"in": "entry", "out": "exit", "calls": ["left", "right"]},
    ),
    (LAST, LAST + "  - {from: merge, to: entry}\n", "PS414", "{from: merge, to: entry}", {"edge": "merge->entry"}),
    (LAST, LAST + "  - {from: exit, to: merge}\n", "PS414", "{from: exit, to: merge}", {"edge": "exit->merge"}),
    (LAST, LAST + "  - {id: tasks, to: split}\n", "PS415", "{id: tasks,", {"edge": "tasks"}),
    (LAST, LAST + "  - {id: done, from: merge}\n", "PS415", "{id: done,", {"edge": "done"}),
]


@pytest.mark.parametrize(("old", "new", "code", "place", "witness"), UNMET, ids=[row[2] for row in UNMET])
def test_a_requirement_that_is_not_met(old: str, new: str, code: str, place: str, witness: dict[str, Any]) -> None:
    text = CALLS.replace(old, new, 1)
    if "more" in new:
        text = text.replace("exit: {}}", "exit: {}, more: {}}")
    report = check_text(text.encode(), "calls.yaml")
    (found,) = report.diagnostics
    assert (found.code, found.name, found.severity) == (code, CODES[code].name, "error")
    assert (found.line, found.column) == placed(text, place)
    assert found.witness == witness
    assert found.hint
    assert {verdict["holds"] for verdict in report.conditions.values()} == {None}
    assert (report.readable, report.valid) == (True, False)
    assert "Not judged before the graph is one that calls can run." in render_text([report])


def test_an_edge_between_two_graphs() -> None:
    text = GRAPHS + "  - {from: odd_in, to: ask_odd}\n"
    (found,) = check_text(text.encode(), "calls.yaml").diagnostics
    assert (found.code, found.witness, found.line) == ("PS416", {"edge": "odd_in->ask_odd"}, text.count("\n"))


def test_with_epochs_a_graph_may_be_joined_to_the_outside() -> None:
    text = CALLS.replace("stack", "{product: [nat, stack]}") + "  - {id: i, to: entry}\n  - {id: o, from: exit}\n"
    report = check_text(text.encode(), "calls.yaml")
    assert report.diagnostics == []
    assert {verdict["holds"] for verdict in report.conditions.values()} == {True}


def test_who_asks_for_what_is_not_met_is_told_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "calls.yaml"
    file.write_text(CALLS.replace("merge: {}", "merge: {}, lost: {}"))
    for command in (["ask"], ["track"], ["close", "--at", "entry=[]"]):
        assert main([command[0], str(file), *command[1:]]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"pointstamp: {file}:4:63: PS411: no path leads from 'entry' to 'lost'")


@pytest.mark.parametrize("notify", [True, False])
def test_a_call_that_follows_itself(notify: bool) -> None:
    text = FOLLOWS_ITSELF if notify else FOLLOWS_ITSELF.replace(": {}", ": {notify: false}")
    report = check_text(text.encode(), "calls.yaml")
    assert [verdict["holds"] for verdict in report.conditions.values()] == [True, True, True, False]
    (found,) = report.diagnostics
    assert (found.code, found.severity) == ("PS301", "error" if notify else "warning")
    assert "advance" not in found.hint
    round_ = [tuple(pair[1]) for pair in found.witness["round"]]
    assert round_[0] == round_[-1] == ()
    assert ("left",) in round_ or ("right",) in round_
    assert found.witness["times"] == "stack"
    assert report.conditions["advancing"]["cycle"] == found.witness["cycle"]


def test_one_node_that_asks_inside_the_call_is_enough_for_an_error() -> None:
    """The cycle calls even, which calls odd: a request there comes back at its own stack with the next round."""
    text = GRAPHS.replace(": {}", ": {notify: false}") + "  - {from: ask_odd, to: x}\n  - {from: x, to: ask_odd}\n"
    text = text.replace("odd_out: {notify: false}}", "odd_out: {notify: false}, x: {notify: false}}")
    assert check_text(text.encode(), "").diagnostics[0].severity == "warning"
    for name in ("even_in", "ask_odd", "odd_in", "ask_even", "odd_out", "x"):
        asking = text.replace(f"{name}: {{notify: false}}", f"{name}: {{notify: true}}")
        assert asking != text
        assert check_text(asking.encode(), "").diagnostics[0].severity == "error", name


def test_a_call_of_which_nothing_is_said_does_not_ask() -> None:
    """A call needs no code: its parts send on what comes. So the graph runs well, and its cycle is no error."""
    text = GRAPHS.replace(": {}", ": {notify: false}") + "  - {from: ask_odd, to: x}\n  - {from: x, to: ask_odd}\n"
    text = text.replace("odd_out: {notify: false}}", "odd_out: {notify: false}, x: {notify: false}}")
    for name, severity in (("ask_odd", "warning"), ("ask_even", "warning"), ("x", "error")):
        unsaid = text.replace(f"{name}: {{notify: false}}", f"{name}: {{}}")
        assert unsaid != text
        assert check_text(unsaid.encode(), "").diagnostics[0].severity == severity, name


def test_whether_a_call_asks_is_written_where_it_is_no_default() -> None:
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": ["quiet", "silent", "asking"]})
    for name, notify in (("entry", None), ("quiet", None), ("silent", False), ("asking", True), ("exit", False)):
        graph.node(name, notify=notify)
    written = to_data(graph)["nodes"]
    assert [name for name in written if not written[name]] == ["entry", "quiet", "silent"]
    assert (written["asking"], written["exit"]) == ({"notify": True}, {"notify": False})
    assert to_data(from_data(to_data(graph))) == to_data(graph)
    parts = dict(zip(graph.call_graph().nodes, graph.call_graph().notifies, strict=True))
    assert [name for name, asks in parts.items() if asks] == ["entry", "call-asking", "ret-asking"]


def test_the_walk_is_told_in_the_words_of_calls() -> None:
    report = check_graph(load(PROGRAMS / "follows_itself.yaml"), "follows_itself.yaml")
    drawn = render_text([report])
    assert (
        """\
    ╭─● x              []
    │ ↓ x->c           []
    │ ● call-c         []
    │ ↓ call-c->entry  ["c"]   calls c
    │ ● entry          ["c"]
    │ ↓ entry->exit    ["c"]
    │ ● exit           ["c"]
    │ ↓ exit->ret-c    []      returns from c
    │ ● ret-c          []
    │ ↓ c->x           []
    ╰─● x              []      back at the time it left
"""
        in drawn
    )
    flow = json.loads(render_sarif([report], "0"))["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]
    said = [step["location"]["message"]["text"] for step in flow["locations"]]
    assert 'call-c->entry at ["c"] (calls c)' in said
    assert "exit->ret-c at [] (returns from c)" in said


def test_with_epochs_the_walk_is_told_alike() -> None:
    text = FOLLOWS_ITSELF.replace("stack", "{product: [nat, stack]}")
    drawn = render_text([check_text(text.encode(), "calls.yaml")])
    assert '[0, ["left"]]   calls left' in drawn
    assert "returns from left" in drawn
    assert "coordinate" not in drawn


def test_times_that_only_look_like_stacks_are_told_as_before() -> None:
    text = """pointstamp: 1
time: {product: [{finite: {elements: [a, b], below: [[a, b]]}}, {finite: {elements: [x, y], below: [[x, y]]}}]}
nodes: {p: {summary: {constant: [a, y]}}, q: {summary: {constant: [a, x]}}}
edges: [{from: p, to: q}, {from: q, to: p}]
"""
    drawn = render_text([check_text(text.encode(), "finite.yaml")])
    assert "calls" not in drawn.replace("calls can", "")
    assert "returns from" not in drawn


def test_a_very_long_round_is_cut_in_the_middle() -> None:
    nodes = [f"n{number}" for number in range(150)]
    data = {
        "pointstamp": 1,
        "recursion": {"in": "in", "out": "out", "calls": ["c"]},
        "nodes": {name: {} for name in ("in", *nodes, "c", "out")},
        "edges": [
            *({"from": one, "to": two} for one, two in zip(["in", *nodes], [*nodes, "out"], strict=True)),
            *({"from": one, "to": two} for one, two in (("in", "c"), ("c", "out"), ("n9", "c"), ("c", "n9"))),
        ],
    }
    report = check_graph(from_data(data), "long.yaml")
    witness = report.diagnostics[0].witness
    assert len(witness["round"]) == 100
    more = 2 * len(report.diagnostics[0].witness["cycle"]) + len(witness["round"]) + witness["left_out"]
    assert more > 300
    shown = render_text([report])
    assert f"⋮ {witness['left_out'] + 100 + 1 - 12} more steps" in shown


def test_nothing_is_said_of_shape_but_that_a_graph_is_never_called() -> None:
    """What quiet graphs lack, inputs and outputs, graphs with calls do without; in and out take their places."""
    quiet = CALLS.replace(": {}", ": {notify: false}")
    assert check_text(quiet.encode(), "calls.yaml").diagnostics == []
    streaming = quiet.replace("stack", "{product: [nat, stack]}") + "  - {id: i, to: merge}\n"
    assert check_text(streaming.encode(), "calls.yaml").diagnostics == []
    text = GRAPHS.replace("{ask_odd: odd}", "{ask_odd: even}")
    (found,) = check_text(text.encode(), "calls.yaml").diagnostics
    assert (found.code, found.severity) == ("PS402", "warning")
    assert found.witness == {"locations": ["odd_in", "call-ask_even", "ret-ask_even", "odd_out"]}
    assert (found.line, found.column) == placed(text, "odd_in: {}")


def test_a_cycle_in_a_graph_that_is_never_called_is_never_run() -> None:
    text = GRAPHS.replace("{ask_odd: odd}", "{ask_odd: even}").replace("odd_out: {}}", "odd_out: {}, x: {}, y: {}}")
    text += "  - {from: odd_in, to: x}\n  - {from: x, to: y}\n  - {from: y, to: x}\n  - {from: y, to: odd_out}\n"
    assert [found.code for found in check_text(text.encode(), "").diagnostics] == ["PS402"]


# --- commands --------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    output = capsys.readouterr()
    return code, output.out, output.err


def test_github_and_json_of_a_requirement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "calls.yaml"
    file.write_text(CALLS + "  - {from: merge, to: entry}\n")
    code, out, _ = run(capsys, "check", str(file), "--format", "github")
    assert code == 1
    assert f"line={CALLS.count(chr(10)) + 1},col=5,title=PS414 " in out
    code, out, _ = run(capsys, "check", str(file), "--format", "json")
    (found,) = json.loads(out)["files"][0]["diagnostics"]
    assert (code, found["witness"]) == (1, {"edge": "merge->entry"})
    assert run(capsys, "check", str(file), "--ignore", "PS414")[0] == 0


def test_close_in_text_json_and_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.parquet  # type: ignore[import-untyped]

    file, table = str(PROGRAMS / "two_calls.yaml"), str(tmp_path / "frontiers.parquet")
    asked = ("close", file, "--at", 'merge=["left"]')
    code, out, err = run(capsys, *asked)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ret-left", "[]"],
        ["merge", '["left"]'],
        ["exit", '["left"]'],
        ["left->merge", "[]"],
        ["merge->exit", '["left"]'],
        ["exit->ret-left", "[]"],
    ]
    frontiers = {line.split()[0]: [json.loads(line.split()[1])] for line in out.splitlines()}
    assert json.loads(run(capsys, *asked, "--format", "json")[1]) == {"frontiers": frontiers}
    assert run(capsys, *asked, "-o", table) == (0, "", "")
    rows = pyarrow.parquet.read_table(table).to_pylist()
    assert {row["location"]: [json.loads(row["time"])] for row in rows} == frontiers


def test_close_says_where_there_are_no_earliest_stacks(capsys: pytest.CaptureFixture[str]) -> None:
    two_calls, stream = str(PROGRAMS / "two_calls.yaml"), str(PROGRAMS / "stream.yaml")
    for arguments in (("close", two_calls, "--at", "entry=[]"), ("close", stream, "--at", "numbers=[3, []]")):
        code, out, err = run(capsys, *arguments)
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        assert (
            "PS601: there are no earliest stacks at 'call-left': [right], [right, right] and so on without end" in err
        )


@pytest.mark.parametrize("at", ["left=[]", "entry=left", 'entry=["lefft"]', "entry=3", "entry=[[]]", "entry=[null]"])
def test_close_refuses_what_is_no_stack_there(at: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "close", str(PROGRAMS / "two_calls.yaml"), "--at", at)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "'call-left'" in err if at.startswith("left") else "outermost first: 'left', 'right'" in err


def test_a_closure_of_many_calls_beside_each_other_is_answered_soon() -> None:
    """A stack is looked at once for each call, not for each way to nest them."""
    calls = [f"c{number}" for number in range(200)]
    ways = [("in", "out"), *(("in", call) for call in calls), *((call, "out") for call in calls)]
    data = {
        "pointstamp": 1,
        "recursion": {"in": "in", "out": "out", "calls": calls},
        "nodes": {name: {} for name in ("in", *calls, "out")},
        "edges": [{"from": one, "to": two} for one, two in ways],
    }
    graph = from_data(data)
    with pytest.raises(PointstampError, match="PS601"):
        _ = close(graph, [("in", ())]).frontiers
    assert close(graph, [("ret-c7", ())]).frontiers.keys() == {"ret-c7", "c7->out", "out"}


def test_what_many_graphs_call_twice_is_walked_once() -> None:
    """A way through 60 graphs, each of which calls the next one twice, passes 2 ** 60 runs; its proof does not."""
    graphs: dict[str, Any] = {}
    nodes: dict[str, Any] = {}
    edges: list[dict[str, str]] = []
    for number in range(60):
        names = [f"{word}{number}" for word in ("in", "first", "second", "out")]
        callee = f"graph{number + 1}"
        graphs[f"graph{number}"] = {"in": names[0], "out": names[3], "calls": {names[1]: callee, names[2]: callee}}
        nodes |= {name: {} for name in names}
        edges += [{"from": one, "to": two} for one, two in pairwise(names)]
    graphs["graph60"] = {"in": "in60", "out": "out60"}
    nodes |= {"in60": {}, "out60": {}}
    edges.append({"from": "in60", "to": "out60"})
    graph = from_data(
        {"pointstamp": 1, "recursion": {"main": "graph0", "graphs": graphs}, "nodes": nodes, "edges": edges}
    )
    proof = CouldResultIn(graph).proof(("in0", ()), ("out0", ()))
    assert proof is not None
    names_ = [pointstamp.location for pointstamp in proof]
    assert len(names_) == len(set(names_)) <= len(list(graph.locations()))
    for before, after in pairwise(proof):
        assert CouldResultIn(graph)(before, after)
