"""Files of graphs with calls: what they may say, and every complaint with its place; the same in code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, add_operator, compose, from_data, from_networkx, load, to_data, to_networkx
from graphs.checking.check import check_graph
from graphs.command import main
from graphs.files.document import parse, plain
from graphs.files.reading import from_text
from graphs.files.writing import to_yaml
from progress import CouldResultIn, PointstampError, close
from progress.order import Int, Nat
from tests.files.hostile_calls import CALLS, GRAPHS
from tests.recursion.tools import FOLLOWS_ITSELF, PROGRAMS, placed


def complaint(text: str, name: str = "graph.yaml") -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        from_text(text.encode(), name)
    assert str(caught.value).isprintable()
    return caught.value


# --- what is refused, and where --------------------------------------------------------------------------------------

ONE = "{in: entry, out: exit, calls: [left, right]}"
REFUSED = [  # what stands in a file, what takes its place, the code, the part of the text where it is told, a word
    (ONE, "", "PS007", "recursion:", "nothing"),
    (ONE, "[entry, exit]", "PS007", "recursion:", "a list"),
    (ONE, "{}", "PS007", "recursion:", "no in"),
    (ONE, "{in: entry, calls: [left]}", "PS007", "recursion:", "no out"),
    (ONE, "{in: entry, out: exit, calls: left}", "PS007", "calls: left", "text"),
    (ONE, "{in: entry, out: exit, calls: {left: right}}", "PS007", "calls: {", "a mapping"),
    (ONE, "{in: entry, out: exit, call: [left]}", "PS006", "call: [", "did you mean calls?"),
    (ONE, "{in: entry, out: exit, grahps: {}}", "PS006", "grahps", "did you mean graphs?"),
    (ONE, "{in: entry, out: exit, graphs: {}}", "PS006", "in: entry", "either in, out and calls, or main and graphs"),
    (ONE, "{in: entry, out: exit, calls: [left, left]}", "PS016", "left]", "listed twice"),
    (ONE, "{in: entry, out: exit, calls: [left, rihgt]}", "PS016", "rihgt", "did you mean right?"),
    (ONE, "{in: enrty, out: exit, calls: [left]}", "PS016", "in: enrty", "did you mean entry?"),
    (ONE, "{in: entry, out: exti, calls: [left]}", "PS016", "out: exti", "did you mean exit?"),
    (ONE, "{in: entry, out: entry, calls: [left]}", "PS016", "out: entry", "in and out at once"),
    (ONE, "{in: entry, out: exit, calls: [left, exit]}", "PS016", "exit]", "out and a call at once"),
    (ONE, "{in: no, out: exit, calls: [left]}", "PS009", "no, out", "boolean"),
    (ONE, "{in: entry, out: 1:30, calls: [left]}", "PS009", "1:30", "base 60"),
    (ONE, "{in: entry, out: exit, calls: [left, on]}", "PS009", "on]", "boolean"),
    (ONE, "{in: entry, out: exit, calls: [[left]]}", "PS009", "[left]]", "a list"),
    ("time: stack", "time: nat", "PS012", "time: nat", "stacks"),
    ("time: stack", "time: {lex: [nat, stack]}", "PS012", "time: {", "stacks"),
    ("time: stack", "time: {product: [natt, stack]}", "PS012", "natt", "did you mean nat?"),
    ("time: stack", "time: {product: [{finite: {elements: [no], below: []}}, stack]}", "PS009", "no]", "boolean"),
    (f"recursion: {ONE}\n", "", "PS012", "time: stack", "recursion"),
    ("merge: {}", "merge: {summary: identity}", "PS017", "summary:", "stacks change by calls alone"),
    ("merge: {}", "merge: {label: x, requests: {advance: 1}}", "PS017", "requests:", "requests"),
    ("merge: {}", "merge: {emits: {merge->exit: never}}", "PS017", "emits:", "emits"),
    ("merge: {}", "merge: {time: nat}", "PS017", "time: nat", "of its own"),
    ("merge: {}", "merge: {time: {product: [nat, stack]}}", "PS017", "time: {", "of its own"),
    ("{from: entry,", "{time: nat, from: entry,", "PS017", "time: nat", "'entry->split'"),
    ("merge: {}", "merge: {}, call-left: {}", "PS010", "call-left", "a part of the call 'left'"),
    ("merge: {}", "merge: {}, ret-right: {}", "PS010", "ret-right", "a part of the call 'right'"),
    ("merge: {}", "merge: {}, exit->ret-left: {}", "PS010", "exit->ret-left", "a part of the call 'left'"),
    ("{from: entry,", "{id: call-right->entry, from: entry,", "PS010", "{id: call", "a part of the call 'right'"),
    ("to: left}", "to: call-left}", "PS011", "to: call-left", "which is not a node"),
]


@pytest.mark.parametrize(("old", "new", "code", "place", "words"), REFUSED, ids=lambda part: part[:30])
def test_a_complaint_has_its_place(old: str, new: str, code: str, place: str, words: str) -> None:
    assert old in CALLS
    text = CALLS.replace(old, new, 1)
    error = complaint(text)
    assert (error.code, error.line, error.column) == (code, *placed(text, place))
    assert words in str(error)
    assert error.hint


SEVERAL_REFUSED = [
    ("main: even", "main: evne", "PS016", "main: evne", "did you mean even?"),
    ("  main: even\n", "", "PS007", "recursion:", "no main"),
    ("main: even", "main: even\n  start: odd", "PS006", "start: odd", "unknown key"),
    ("{ask_odd: odd}", "{ask_odd: od}", "PS016", "ask_odd: od}", "did you mean odd?"),
    ("{ask_odd: odd}", "[ask_odd]", "PS007", "calls: [", "a list"),
    ("{ask_odd: odd}", "{ask_odd: off}", "PS009", "off", "boolean"),
    ("{ask_odd: odd}", "{ask_even: odd}", "PS016", "ask_even: even", "a call of two graphs at once"),
    ("in: even_in", "in: odd_in", "PS016", "in: odd_in, out: odd_out", "in of two graphs at once"),
    ("{ask_odd: odd}", "{ask_odd: odd, nowhere: odd}", "PS016", "nowhere: odd", "which is not a node"),
    ("{in: odd_in, out: odd_out, calls: {ask_even: even}}", "odd_in", "PS007", "odd: odd_in", "text"),
    ("out: odd_out, calls", "call", "PS006", "call: {", "did you mean calls?"),
    ("    odd:", "    010:", "PS009", "010", "octal"),
]


@pytest.mark.parametrize(("old", "new", "code", "place", "words"), SEVERAL_REFUSED, ids=lambda part: part[:20])
def test_a_complaint_about_several_graphs_has_its_place(old: str, new: str, code: str, place: str, words: str) -> None:
    assert old in GRAPHS
    text = GRAPHS.replace(old, new, 1)
    error = complaint(text)
    assert (error.code, error.line, error.column) == (code, *placed(text, place))
    assert words in str(error)


def test_json_is_refused_as_yaml_is() -> None:
    data: Any = plain(parse(CALLS.encode()))
    data["recursion"]["calls"].append("nowhere")
    text = json.dumps(data, indent=1)
    error = complaint(text, "graph.json")
    assert (error.code, error.line, error.column) == ("PS016", *placed(text, '"nowhere"'))
    assert complaint(json.dumps({**data, "recursion": None}), "graph.json").code == "PS007"


# --- what is read ----------------------------------------------------------------------------------------------------


def locations(graph: Graph) -> set[str]:
    return set(graph.locations())


def test_calls_become_two_locations_with_back_edges() -> None:
    graph = from_text(CALLS.encode())
    assert locations(graph) == {
        *("entry", "split", "call-left", "ret-left", "call-right", "ret-right", "merge", "exit"),
        *("entry->split", "split->left", "split->right", "left->merge", "right->merge", "split->exit", "merge->exit"),
        *("call-left->entry", "exit->ret-left", "call-right->entry", "exit->ret-right"),
    }
    assert graph.position_of("ret-left") == graph.position_of("call-left->entry") == placed(CALLS, "left: {}")
    assert graph.position_of("split->left") == placed(CALLS, "{from: split, to: left}")
    assert list(graph.nodes) == ["entry", "split", "left", "right", "merge", "exit"]


def test_a_text_is_given_as_it_is_or_as_bytes() -> None:
    assert locations(from_text(CALLS)) == locations(from_text(CALLS.encode()))
    with pytest.raises(PointstampError, match="PS001"):
        from_text("pointstamp: '\udc80'")


def test_what_need_not_be_said() -> None:
    text = "pointstamp: 1\nrecursion: {in: a, out: b}\nnodes: {a: {}, b: }\nedges: [{from: a, to: b}]\n"
    assert locations(from_text(text.encode())) == {"a", "b", "a->b"}
    for old, new in (
        ("time: stack\n", ""),
        ("merge: {}", "merge: {time: stack, summary: , emits: {}, requests: , notify: false, label: both}"),
        ("{from: entry,", "{time: stack, label: first, from: entry,"),
    ):
        assert locations(from_text(CALLS.replace(old, new).encode())) == locations(from_text(CALLS.encode()))


EPOCHS = [
    ("nat", 3),
    ({"nat": {"max": 9}}, 9),
    ("int", -3),
    ("unit", None),
    ({"product": ["nat", "nat"]}, [1, 2]),
    ({"lex": ["nat", "int"]}, [1, -2]),
    ({"finite": {"elements": ["a", "b"], "below": [["a", "b"]]}}, "b"),
    ({"sum": {"x": "nat", "y": "int"}}, {"y": -1}),
]


@pytest.mark.parametrize(("epochs", "epoch"), EPOCHS, ids=[str(row[0]) for row in EPOCHS])
def test_epochs_may_be_of_any_domain(epochs: Any, epoch: Any) -> None:
    data: Any = plain(parse(CALLS.encode()))
    data |= {"time": {"product": [epochs, "stack"]}, "edges": [*data["edges"], {"id": "tasks", "to": "split"}]}
    graph = from_data(data)
    assert graph.time_to_json("merge", graph.time_from_json("merge", [epoch, ["left"]])) == [epoch, ["left"]]
    for wrong in (epoch, ["left"], [["left"], epoch], [epoch], [epoch, ["up"]], [epoch, "left"], [epoch, [], 0], None):
        with pytest.raises(PointstampError, match="PS503"):
            graph.time_from_json("merge", wrong)
    start = ("tasks", graph.time_from_json("tasks", [epoch, []]))
    assert ("exit", graph.time_from_json("exit", [epoch, ["left"]])) in close(graph, [start])
    assert to_data(graph)["time"] == {"product": [epochs, "stack"]}


@pytest.mark.parametrize("text", [CALLS, GRAPHS, CALLS.replace("stack", "{product: [int, stack]}"), FOLLOWS_ITSELF])
def test_yaml_json_code_and_networkx_say_the_same(text: str) -> None:
    graph = from_text(text.encode())
    data = to_data(graph)
    assert to_data(from_data(data)) == data
    assert to_data(from_text(to_yaml(data).encode())) == data
    assert to_data(from_text(json.dumps(data).encode(), "graph.json")) == data
    drawn = from_networkx(to_networkx(graph))
    assert to_data(drawn) | {"edges": None} == data | {"edges": None}
    assert sorted(to_data(drawn)["edges"], key=str) == sorted(data["edges"], key=str)
    built = Graph(data["time"], recursion=data["recursion"])
    for name in graph.nodes:
        built.node(name)
    for edge in data["edges"]:
        built.edge(edge["from"], edge["to"], edge["id"])
    assert to_data(built) == data
    assert [check_graph(each).conditions for each in (graph, drawn, built)] == [check_graph(graph).conditions] * 3


def test_several_graphs_have_times_of_their_own() -> None:
    graph = from_text(GRAPHS.encode())
    assert graph.time_from_json("odd_in", ["ask_odd"]) in graph.domain_of("odd_in").sample()
    with pytest.raises(PointstampError, match=r"PS503.*it has to lead into 'odd'"):
        graph.time_from_json("odd_in", [])
    with pytest.raises(PointstampError, match=r"PS503.*it has to lead into 'even'"):
        graph.time_from_json("even_out", ["ask_odd"])


def test_in_code_the_same_is_refused() -> None:
    recursion = {"in": "entry", "out": "exit", "calls": ["again"]}
    for wrong in ({"summary": {"advance": 1}}, {"emits": {"x": "never"}}, {"requests": "identity"}, {"time": "nat"}):
        with pytest.raises(PointstampError, match="PS017"):
            Graph(recursion=recursion).node("entry", **wrong)
    with pytest.raises(PointstampError, match="PS017"):
        Graph(recursion=recursion).node("entry").edge("entry", "exit", time=Nat())
    with pytest.raises(PointstampError, match="PS012"):
        Graph(time="int", recursion=recursion)
    with pytest.raises(PointstampError, match="PS012"):
        Graph(time="stack")
    with pytest.raises(PointstampError, match="PS016"):
        Graph(recursion=recursion).node("entry").node("exit").network()
    with pytest.raises(PointstampError, match="PS011"):
        Graph(recursion=recursion).node("entry").node("exit").node("again").edge("entry", "nowhere").network()
    own = Graph(time={"product": [Int(), "stack"]}, recursion=recursion)
    assert own.node("entry", time={"product": ["int", "stack"]}).nodes["entry"].domain == own.time


def test_a_name_that_is_taken_after_the_split_is_noticed_after_a_change() -> None:
    graph = from_text(CALLS.encode())
    assert "call-left" in graph.network().numbers
    graph.node("call-left").edge("entry", "call-left").edge("call-left", "exit")
    with pytest.raises(PointstampError, match="PS010"):
        graph.network()


def test_graphs_with_calls_are_not_composed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Graph().node("sink").edge(None, "sink", id="shared")
    for first, second in ((load(PROGRAMS / "stream.yaml"), other), (other, load(PROGRAMS / "stream.yaml"))):
        with pytest.raises(PointstampError, match="PS016: the graph 'stream' has calls"):
            compose(first, second)
    assert main(["compose", str(PROGRAMS / "stream.yaml"), str(PROGRAMS / "two_calls.yaml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_operator_in_a_graph_with_calls_leaves_times_alone() -> None:
    def graph() -> Graph:
        return Graph(recursion={"in": "entry", "out": "exit"}).node("entry").node("exit")

    ports = ["left", "right"], ["first", "second"]
    built = graph()
    add_operator(built, "op", *ports, {("left", "first"): "identity", ("right", "second"): "identity"})
    for port in ports[0]:
        built.edge("entry", f"op.{port}")
    for port in ports[1]:
        built.edge(f"op.{port}", "exit")
    assert CouldResultIn(built)(("op.left", ()), ("op.first", ()))
    assert not CouldResultIn(built)(("op.left", ()), ("op.second", ()))
    with pytest.raises(PointstampError, match="PS017"):
        add_operator(graph(), "op", *ports, {("left", "first"): {"advance": 1}})
