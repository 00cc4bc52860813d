"""`pointstamp explore`, and the very nodes that run as nodes of the semantics (A&I 2.2, 4.2)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from graphs.command import main
from progress import PointstampError
from progress.behaviour import explore as explore_node
from progress.escape import check_behaviours
from progress.local_history import Message, Notification, Received
from progress.runtime import Batch, Dataflow, DeadLetter, Mapped, Node, NodeFailed, Out, Retry
from progress.semantics import Inputs, Variant, all_of_section_5, explore, is_behaviour
from progress.semantics.running_claims import RunningSpecification, running_claims
from progress.semantics.running_nodes import Crashed, RunningNode, running_nodes, running_system
from progress.semantics.state import held, released
from tests.runtime.tools import Total

QUIET = Variant(reordering=True, inputs=Inputs.FORBIDDEN, outputs=False)


class Last(Node):
    """Tells the last value that has come, which depends on the order."""

    def __init__(self) -> None:
        self.last: dict[Any, Any] = {}

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        self.last[time] = value
        out.request(time)

    def on_notify(self, time: Any, out: Out) -> None:
        out.send("totals", time, self.last.pop(time))


class Lists(Batch):
    """Sends the lists of both sides, sorted, as one value that cannot be hashed."""

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> None:
        out.send("totals", time, {edge: sorted(values) for edge, values in messages.items()})


def two_sides(code: Any, **options: Any) -> Dataflow:
    """left and right -> double -> node -> totals."""
    graph = Graph().node("double", notify=False).node("node")
    graph.edge(None, "double", "left").edge(None, "node", "right").edge("double", "node", "doubled")
    graph.edge("node", None, "totals")
    return Dataflow(graph, {"double": lambda value: 2 * value, "node": code}, **options)


SAMPLES = {"left": [(0, 1), (1, 5), (0, 2)], "right": [(1, 7), (0, 3)]}


def outcomes(dataflow: Dataflow, samples: Any) -> set[frozenset[Any]]:
    """What the explored system leaves at its end."""
    system = running_system(dataflow, samples)
    found = explore(RunningSpecification(system, QUIET))
    assert found.finished
    ends = [state for state, steps in zip(found.states, found.steps, strict=True) if not steps]
    return {as_counted([(m.time, m.value) for m in state.queue("totals")]) for state in ends}


def as_counted(messages: list[tuple[Any, Any]]) -> frozenset[Any]:
    """How often each result leaves; mappings are equal whatever the order of their keys."""
    return frozenset(Counter((time, json.dumps(released(value), sort_keys=True)) for time, value in messages).items())


# --- the nodes that run ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "several"), [(Total, False), (Lists, False), (Last, True)])
def test_what_engines_do_is_what_was_explored(code: Any, several: bool) -> None:
    """Every result of runs with many seeds is one of those explored, and each of those is some run's."""
    dataflow = two_sides(code)
    explored = outcomes(dataflow, SAMPLES)
    ran = set()
    for seed in range(60):
        steps: list[Any] = []
        results = dataflow.run(sources=SAMPLES, engine="sim", seed=seed, record=steps.append)
        ran.add(as_counted(list(results["totals"])))
        assert is_behaviour(dataflow.graph, steps, several=True)
    assert ran <= explored
    assert (len(explored) > 1) is several
    assert several or ran == explored


def test_all_claims_of_the_nodes_that_run() -> None:
    specification = RunningSpecification(running_system(two_sides(Total), SAMPLES), QUIET)
    explore(specification, running_claims(specification)).check()
    small = RunningSpecification(running_system(two_sides(Total), {"right": [(0, 1), (1, 2)]}), QUIET)
    explore(small, all_of_section_5(small)).check()


def test_a_running_node_is_explored_like_any_other() -> None:
    """Definitions 1 and 3 of the node that runs; its states are snapshots, its values need no hash."""
    dataflow = two_sides(Lists)
    nodes = running_nodes(dataflow)
    observed = explore_node(nodes["node"], {"right": [Message(0, held([1])), Message(2, held([2]))]}, depth=4)
    assert set(observed.one_step) == {(0, "totals", 0), (2, "totals", 2)}
    assert set(observed.requests) == {(0, 0), (2, 2)}
    assert observed.impure is None
    doubled = explore_node(nodes["double"], {"left": [Message(1, 4)]})
    assert (doubled.complete, doubled.states, set(doubled.one_step)) == (True, 1, {(1, "doubled", 1)})
    ((state, requests),) = nodes["node"].initial()
    assert (state, requests) == ({"waiting": {}}, ())
    after, asked, sent = nodes["node"].step(state, Received("right", Message(3, held([8]))))
    assert (after, tuple(asked), sent) == ({"waiting": {3: {"right": [[8]]}}}, (3,), {})
    assert state == {"waiting": {}}
    _, _, told = nodes["node"].step(after, Notification(3))
    assert told == {"totals": [Message(3, held({"right": [[8]]}))]}


def test_a_node_without_code_is_a_relay() -> None:
    graph = (
        Graph().node("p", emits={"b": {"advance": 2}}).edge(None, "p", "in").edge("p", None, "a").edge("p", None, "b")
    )
    (relay,) = running_nodes(Dataflow(graph)).values()
    ((state, _),) = relay.initial()
    assert relay.step(state, Received("in", Message(1, "x")))[2] == {"a": [Message(1, "x")], "b": [Message(3, "x")]}


class Lies(Node):
    """Asks for an earlier time, and sends at one."""

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        if value == "ask":
            out.request(time - 1)
        else:
            out.send("out", time - 1, value)


def test_a_running_node_is_held_against_its_graph() -> None:
    """Freely, what it does is told with a history; else the runtime refuses it, as in a run."""
    graph = Graph().node("p").edge(None, "p", "in").edge("p", None, "out")
    samples = {"in": [Message(2, "ask"), Message(2, "send")]}
    checked = check_behaviours(graph, running_nodes(Dataflow(graph, {"p": Lies}), freely=True), samples)
    assert [escape.complaint.partition(",")[0] for escape in checked] == [
        "sends at 1 on 'out'",
        "requests a notification of 1",
    ]
    assert checked.complete
    with pytest.raises(NodeFailed) as caught:
        check_behaviours(graph, running_nodes(Dataflow(graph, {"p": Lies})), samples)
    assert "PS703" in str(caught.value)
    assert "starts in state {}" in caught.value.__notes__[0]


class Fussy(Node):
    """Fails on some values, and on the first try of others."""

    tries = 0

    def on_start(self, out: Out) -> None:
        out.request(9)

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        out.send("out", time, value)
        if value == "bad":
            raise ValueError("bad")


@pytest.mark.parametrize(
    ("on_error", "says"), [(None, "raises"), (DeadLetter(), "lost"), (Retry(2, then=DeadLetter()), "lost")]
)
def test_a_running_node_that_fails(on_error: Any, says: str) -> None:
    graph = Graph().node("p").edge(None, "p", "in").edge("p", None, "out")
    dataflow = Dataflow(graph, {"p": Fussy}, on_error=on_error)
    node = running_nodes(dataflow)["p"]
    ((state, requests),) = node.initial()
    assert tuple(requests) == (9,)
    bad = Received("in", Message(1, "bad"))
    if says == "raises":
        with pytest.raises(NodeFailed, match="ValueError: bad"):
            node.step(state, bad)
        after, asked, sent = RunningNode(graph, "p", Fussy, crashes=True).step(state, bad)
        assert isinstance(after, Crashed)
        assert (asked, sent) == ((), {})
    else:
        assert node.step(state, bad) == (state, (), {})
    assert node.step(state, Received("in", Message(1, "good")))[2] == {"out": [Message(1, "good")]}


def test_what_cannot_be_kept_is_refused_with_a_name() -> None:
    class Holds(Node):
        def __init__(self) -> None:
            self.lines = (line for line in "abc")

    graph = Graph().node("p").edge(None, "p", "in")
    with pytest.raises(PointstampError, match=r"PS735: the state of 'p' cannot be kept|PS722"):
        running_nodes(Dataflow(graph, {"p": lambda: Holds()}))

    class Knows(Node):
        def __init__(self) -> None:
            self.friend = Mapped(abs)

    with pytest.raises(PointstampError, match=r"PS615: the node 'p' has a Mapped in its state"):
        list(running_system(Dataflow(graph, {"p": Knows}), {}).beginnings())


async def later(value: int) -> int:
    """A function that is waited for."""
    return value + 1


def test_nodes_that_are_waited_for() -> None:
    graph = Graph().node("p").edge(None, "p", "in").edge("p", None, "totals")
    assert outcomes(Dataflow(graph, {"p": later}), {"in": [(0, 1)]}) == {as_counted([(0, 2)])}


# --- the command -----------------------------------------------------------------------------------------------------

TOTALS = """
from graphs import load
from progress.runtime import Dataflow, Node, Relay
from progress.semantics import sometimes, always


class Total(Node):
    def __init__(self):
        self.sums = {}

    def on_message(self, edge, time, value, out):
        self.sums[time] = VALUE
        out.request(time)

    def on_notify(self, time, out):
        out.send("totals", time, self.sums.pop(time))


dataflow = Dataflow(load("totals.yaml"), {"total": Total})
"""
YAML = """
pointstamp: 1
nodes: {total: {}}
edges: [{id: numbers, to: total}, {id: more, to: total}, {id: totals, from: total}]
"""
LINES = '{"time": 0, "value": 3}\n{"time": 1, "value": 5}\n{"complete": [1]}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pipeline and a sample of what comes in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.yaml").write_text(YAML)
    (tmp_path / "adds.py").write_text(TOTALS.replace("VALUE", "self.sums.get(time, 0) + value"))
    (tmp_path / "numbers.jsonl").write_text(LINES)
    (tmp_path / "more.jsonl").write_text('{"time": 0, "value": 10}\n')
    return tmp_path


INPUTS = ["--input", "numbers=numbers.jsonl", "--input", "more=more.jsonl"]


def test_a_sound_pipeline_in_every_interleaving(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "adds.py", *INPUTS]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("3 messages: 9 states, 11 steps, at most 5 one after the other; finished")
    assert [line.rpartition(": ")[2] for line in said[1:-1]] == ["holds"] * 7
    assert said[-1] == "the same results in every interleaving"
    assert main(["explore", "adds.py", *INPUTS, "--any-order", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["states"] > 9
    assert (document["finished"], document["outcome"], document["results"]) == (True, "finished", 1)
    assert all(claim["holds"] for claim in document["claims"])


def test_notifications_that_are_ready_come_in_the_order_of_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As the runtime promises: the stock of a day is counted before that of the next, though both may be ready."""
    yesterday = Path(__file__).resolve().parents[2] / "examples" / "pipelines" / "yesterday"
    sample = tmp_path / "sales.jsonl"
    sample.write_text("".join((yesterday / "sales.jsonl").read_text().splitlines(keepends=True)[:3]))
    assert main(["explore", str(yesterday / "pipeline.py"), "--input", f"sales={sample}"]) == 0
    assert capsys.readouterr().out.endswith("the same results in every interleaving\n")


def test_a_sample_that_shows_nothing_is_said_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "adds.py"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "note: nothing came in: --input EDGE=FILE gives a sample",
        "note: nobody was notified: what is said of notifications is empty",
    ]
    assert main(["explore", "adds.py", *INPUTS, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_results_that_depend_on_the_order_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "last.py").write_text(TOTALS.replace("VALUE", "value"))
    assert main(["explore", "last.py", *INPUTS]) == 0
    assert capsys.readouterr().out.endswith("2 different results: the order matters\n")


def test_a_failure_is_shown_as_a_trace_that_replay_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It happens in one order of four messages: the shortest way there."""
    fails = TOTALS.replace(
        "VALUE", "self.sums.get(time, 0) + value if (time, value) != (0, 3) or time in self.sums else 1 // 0"
    )
    (folder / "fails.py").write_text(fails)
    assert main(["explore", "fails.py", *INPUTS, "--trace", "found.jsonl"]) == 1
    said = capsys.readouterr().out
    assert "always: no node fails: fails after 1 step\n" in said
    assert "1. Mess: total takes 3 at 0 from numbers\n" in said
    assert "ZeroDivisionError" in said
    assert "what may be delivered is: every request, in the end: is not decided" in said
    assert "interleaving" not in said.splitlines()[-1]
    assert main(["replay", "totals.yaml", "found.jsonl", "--format", "json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert main(["explore", "fails.py", *INPUTS, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    claim = document["claims"][0]
    assert claim["holds"] is False
    assert claim["counterexample"]["actions"] == ["Mess: total takes 3 at 0 from numbers"]
    assert [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()] == claim["counterexample"][
        "trace"
    ]
    assert replayed["refused"] in ({}, 0)


def test_a_node_that_sends_too_early_fails_as_it_would_in_a_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "early.py").write_text(TOTALS.replace("VALUE", "out.send('totals', 0, 1)"))
    assert main(["explore", "early.py", *INPUTS]) == 1
    assert "PS702" in capsys.readouterr().out


def test_a_run_that_would_wait_for_ever_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cycle that does not advance: nobody on it is ever notified (PS739 in a run)."""
    (folder / "totals.yaml").write_text(
        "pointstamp: 1\nnodes: {total: {}, again: {notify: false}}\n"
        "edges: [{id: numbers, to: total}, {id: more, to: total}, {id: totals, from: total},\n"
        "  {id: out, from: total, to: again}, {id: back, from: again, to: total}]\n"
    )
    assert main(["explore", "adds.py", *INPUTS]) == 1
    assert (
        "everything comes to an end: no message lies and nobody waits: fails after 3 steps" in capsys.readouterr().out
    )


def test_claims_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = (folder / "adds.py").read_text()
    (folder / "own.py").write_text(
        source + 'claims = [always("at most one sum", lambda s: len(s.local_state("total")["sums"]) < 2)]\n'
    )
    assert main(["explore", "own.py", *INPUTS]) == 1
    assert "always: at most one sum: fails after 2 steps" in capsys.readouterr().out
    (folder / "made.py").write_text(
        source
        + 'def claims(specification):\n    return [sometimes("a pair", lambda s: len(s.pending("total")) == 2)]\n'
    )
    assert main(["explore", "made.py", *INPUTS]) == 0
    assert "sometimes: a pair: holds" in capsys.readouterr().out
    (folder / "none.py").write_text(source + "claims = 3\n")
    assert main(["explore", "none.py", *INPUTS]) == 2
    assert "claims in" in capsys.readouterr().err


def test_budgets_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, outcome in (("--states", "too-many-states"), ("--steps", "too-many-steps")):
        assert main(["explore", "adds.py", *INPUTS, option, "5", "--format", "json"]) == 1
        document = json.loads(capsys.readouterr().out)
        assert (document["finished"], document["outcome"], document["results"]) == (False, outcome, None)
        assert all(claim["holds"] is None for claim in document["claims"])


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        ("", ["--input", "none=numbers.jsonl"], "none"),
        ("", ["--input", "numbers=nowhere.jsonl"], "nowhere.jsonl"),
        ("", ["--input", "numbers=late.jsonl"], "a message at 0 on 'numbers' is late"),
        ("", ["--input", "numbers=many.jsonl"], "a small sample"),
        ("", [*INPUTS, "--trace", "nowhere/found.jsonl"], "--trace nowhere/found.jsonl"),
        ("", [*INPUTS, "--trace", "./bad.py"], "--trace and PIPELINE.py are one file"),
        (
            "open('late.jsonl').close()\n",
            [*INPUTS, "--trace", "late.jsonl"],
            '"late.jsonl" is a file that bad.py reads',
        ),
        ("", ["--input", "numbers=late.jsonl", "--trace", "late.jsonl"], "--trace and --input numbers are one file"),
        ("raise ValueError('no')\n", INPUTS, "ValueError: no"),
        ("dataflow = 3\n", INPUTS, "PS734"),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], change: str, arguments: list[str], says: str
) -> None:
    (folder / "late.jsonl").write_text('{"complete": [1]}\n{"time": 0, "value": 3}\n')
    (folder / "many.jsonl").write_text('{"time": 0, "value": 3}\n' * 1_002)
    (folder / "bad.py").write_text((folder / "adds.py").read_text() + change)
    assert main(["explore", "bad.py", *arguments]) in (1, 2)
    error = capsys.readouterr().err
    assert says in error.splitlines()[-1]
    assert len(error.splitlines()) == 1 or "raise" in change
    assert (folder / "late.jsonl").read_text().count("\n") == 2, "it is as it was"


def test_sources_in_the_pipeline_are_samples_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = (
        (folder / "adds.py")
        .read_text()
        .replace("Total})", "Total}, sources={'numbers': [(0, 1)], 'more': lambda: [(0, 2)]})")
    )
    (folder / "given.py").write_text(source)
    assert main(["explore", "given.py", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 2
    (folder / "endless.py").write_text(source.replace("lambda: [(0, 2)]", "lambda: iter(lambda: (0, 2), None)"))
    assert main(["explore", "endless.py"]) == 2
    assert "a small sample" in capsys.readouterr().err


def test_a_node_that_fails_when_it_starts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = (
        (folder / "adds.py")
        .read_text()
        .replace("    def on_message", "    def on_start(self, out):\n        1 // 0\n\n    def on_message")
    )
    (folder / "starts.py").write_text(source)
    assert main(["explore", "starts.py"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "arguments", "code", "says"),
    [
        ("", ["--input", "numbers=typo.jsonl"], 2, "typo.jsonl:1: PS731: at 'numbers', unknown key 'vale'"),
        ("dataflow.sources['numbers'] = [5]", [], 2, "PS706: the source of 'numbers' gave 5"),
        ("dataflow.sources['numbers'] = [(0,)]", [], 2, "PS706: the source of 'numbers' gave (0,)"),
        ("dataflow.sources['numbers'] = [(0, 1, 2)]", [], 2, "PS706: the source of 'numbers' gave (0, 1, 2)"),
        ("dataflow.sources['numbers'] = [('x', 1)]", [], 2, "PS503: 'x' is not a time at 'numbers'"),
        ("dataflow.sources['numbers'] = 'numbers.jsonl'", [], 2, "PS706: the source of 'numbers' is a file"),
        ("dataflow.sources['numbers'] = lambda: open('nowhere')", [], 1, "PS724: the source of 'numbers' failed"),
        ("claims = [always('none', lambda state: 1 // 0)]", [], 1, "PS733: odd.py failed: ZeroDivisionError"),
        ("claims = [always('none', 5)]", [], 2, "claims in"),
    ],
)
def test_what_comes_in_is_read_as_in_a_run_and_claims_are_code_of_the_user(
    folder: Path, capsys: pytest.CaptureFixture[str], change: str, arguments: list[str], code: int, says: str
) -> None:
    (folder / "typo.jsonl").write_text('{"time": 0, "vale": 3}\n')
    (folder / "odd.py").write_text((folder / "adds.py").read_text() + f"{change}\n")
    assert main(["explore", "odd.py", *arguments]) == code
    assert says in capsys.readouterr().err.splitlines()[-1]
    if not change.startswith("claims") and code == 2:
        files = [part for name in ("totals", "late") for part in ("--output", f"{name}={name}.out")]
        assert main(["run", "odd.py", *arguments, *files, "--engine", "sim"]) == code
        assert says in capsys.readouterr().err.splitlines()[-1]


def test_what_would_be_a_dead_letter_is_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mixed.jsonl").write_text('{"time": 0, "vale": 3}\n{"time": 0, "value": 4}\n')
    source = (folder / "adds.py").read_text()
    (folder / "letters.py").write_text(
        source + "from progress.runtime import DeadLetter\n"
        "dataflow = Dataflow(dataflow.network, {'total': Total}, on_error={'numbers': DeadLetter()})\n"
    )
    assert main(["explore", "letters.py", "--input", "numbers=mixed.jsonl"]) == 0
    assert capsys.readouterr().out.startswith("1 message: ")
