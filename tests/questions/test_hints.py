"""Every hint of every example is followed mechanically, and the finding goes away.

The examples are the graphs in `examples`, and those that `pointstamp explain` shows for the findings of `check`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphs import from_data
from graphs.checking.check import check_graph
from graphs.codes import CODES

ROOT = Path(__file__).resolve().parents[2]
SUMMARY = re.compile(r"let '([^']+)' advance the time on '([^']+)', for instance with emits: \{\2: (.+)\}$")
FITS = re.compile(r"let '([^']+)' send by \w+ on '([^']+)': emits: \{(?:\2|\"\2\"): (.+)\}$")

NESTED = """
pointstamp: 1
time: {KIND: [nat, nat]}
nodes:
  outer_head:     {time: nat, summary: enter}
  work:           {}
  inner_feedback: {summary: feedback, notify: false}
  outer_tail:     {summary: leave, notify: false}
  outer_feedback: {time: nat, notify: false}
edges:
  - {id: input,       to: outer_head}
  - {id: begin,       from: outer_head,     to: work}
  - {id: inner_out,   from: work,           to: inner_feedback}
  - {id: inner_back,  from: inner_feedback, to: work}
  - {id: end,         from: work,           to: outer_tail}
  - {id: outer_out,   from: outer_tail,     to: outer_feedback}
  - {id: outer_back,  from: outer_feedback, to: outer_head}
  - {id: result,      from: outer_tail}
"""


# Nodes, and edges: `name:source>target`, the name if it has one of its own.
MISFITS: list[tuple[Any, str]] = [
    ({"a": {}, "b": {"time": "int"}}, "a>b"),
    ({"a": {"summary": "leave"}, "b": {}}, "a>b"),
    ({"a": {"summary": "leave"}}, "i:>a o:a>"),
    ({"a": {"requests": "leave"}}, "i:>a"),
    ({"a": {"time": {"lex": ["nat", "nat"]}}, "b": {}}, "i:>a o-o:a>b"),
    ({"a": {}, "b": {"time": {"product": ["nat", "nat"]}}}, "i:>a a>b"),
    ({"a": {"time": {"sum": {"l": "nat", "r": "int"}}}, "b": {"time": {"lex": ["nat"] * 3}}}, "i:>a a>b"),
    ({"a": {"summary": {"tag": "l"}}, "b": {}}, "i:>a a>b"),
]
BODY = "in>c c>out in>out"
CALLS: list[tuple[Any, str]] = [
    ({}, f"{BODY} x>out"),
    ({}, f"{BODY} in>x"),
    ({}, "in>c c>out in>x x>c"),
    ({}, f"{BODY} in>x x>out x>in"),
    ({}, f"{BODY} in>x x>out out>x"),
    ({}, f"{BODY} in>x x>out i:>x"),
    ({}, f"{BODY} in>x x>out o:x>"),
    ({}, f"{BODY} in>x x>c c>x"),
    ({"notify": False}, f"{BODY} in>x x>c c>x"),
]
TWO_GRAPHS: list[tuple[Any, str]] = [({}, "a>b d>e"), ({"c": "n"}, "a>c c>b d>e"), ({"c": "n"}, "a>c c>b d>e c>e")]


def edges_of(text: str) -> list[Any]:
    """Edges as a file has them."""
    found = []
    for word in text.split():
        name, _, way = word.rpartition(":")
        source, target = way.split(">")
        found.append({key: end for key, end in (("id", name), ("from", source), ("to", target)) if end})
    return found


def examples() -> Iterator[tuple[str, Any]]:
    """Every example with its name, as plain data."""
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        yield str(path.relative_to(ROOT)), yaml.safe_load(path.read_text(encoding="utf-8"))
    for number, code in CODES.items():
        if re.match("PS[1-4]", number) and code.example.language == "yaml":
            yield number, yaml.safe_load(code.example.text)
    for nodes, edges in MISFITS:
        yield f"{nodes}, {edges}", {"pointstamp": 1, "nodes": nodes, "edges": edges_of(edges)}
    for end in ("to", "from"):
        yield f"own time {end}", {"pointstamp": 1, "nodes": {"a": {}}, "edges": [{"id": "i", end: "a", "time": "int"}]}
    for body, edges in CALLS:
        nodes = {"in": body, "c": {}, "out": body, **({"x": body} if "x" in edges else {})}
        one = {"in": "in", "out": "out", "calls": ["c"]}
        yield f"{body}, {edges}", {"pointstamp": 1, "recursion": one, "nodes": nodes, "edges": edges_of(edges)}
    for calls, edges in TWO_GRAPHS:
        nodes = {name: {} for name in sorted(set(edges) - set(" >"))}
        two = {"m": {"in": "a", "out": "b", "calls": calls}, "n": {"in": "d", "out": "e", "calls": {}}}
        recursion = {"main": "m", "graphs": two}
        yield f"{calls}, {edges}", {"pointstamp": 1, "recursion": recursion, "nodes": nodes, "edges": edges_of(edges)}
    for kind in ("product", "lex"):
        yield f"nested loop without an outer advance, {kind}", yaml.safe_load(NESTED.replace("KIND", kind))


def followed(document: Any, found: Any) -> Any | None:
    """The document with what the hint of a finding says done to it; None where it has no example of what to do."""
    mended = copy.deepcopy(document)
    nodes, edges, hint = mended["nodes"], mended["edges"], found.hint
    if "recursion" in mended:
        return mended if with_calls(mended, found) else None
    named = SUMMARY.search(hint) or FITS.search(hint)
    one_time = re.match(r"give '([^']+)' and '([^']+)' one `time`, or write a summary", hint)
    falls = re.match(r"change the summary of '([^']+)' so that times do not move down$", hint)
    on_cycle = hint.startswith("advance the time on the cycle, for instance with summary: {advance: 1}")
    if named:
        nodes[named[1]].setdefault("emits", {})[named[2]] = yaml.safe_load(named[3])
    elif one_time:
        node, other = (nodes[name] for name in one_time.groups())
        other["time"] = node.get("time", mended.get("time", "nat"))
        node.pop("summary", None)
    elif left_out := re.match(r"leave out the `time` of '([^']+)'", hint):
        del next(edge for edge in edges if edge["id"] == left_out[1])["time"]
    elif falls:
        nodes[falls[1]]["summary"] = "identity"
    elif on_cycle:
        quiet = [name for name in found.witness["cycle"] if nodes.get(name, {}).get("notify") is False]
        asking = [name for name in found.witness["cycle"] if name in nodes]
        nodes[[*quiet, *asking][0]]["summary"] = {"advance": 1}
    elif hint.startswith("order the loop counters with lex instead of product"):
        mended = yaml.safe_load(yaml.safe_dump(mended).replace("product:", "lex:"))
    elif asks := re.match(r"let the requests of '([^']+)' be identity", hint):
        nodes[asks[1]]["requests"] = "identity"
    elif hint.startswith("add an input edge, or leave it"):
        edges += [{"id": f"added {place}", "to": name} for place, name in enumerate(found.witness["locations"])]
    elif hint == "add an edge to it, or remove it":
        edges.append({"id": "added", "to": found.witness["locations"][0]})
    elif hint.startswith("let a node there ask for notifications, add an output edge"):
        edges.append({"id": "added", "from": found.witness["locations"][0]})
    else:
        return None
    return mended


def with_calls(document: Any, found: Any) -> bool:
    """Do what the hint of a finding in a graph with calls says; whether that is known."""
    nodes, edges, hint, witness = document["nodes"], document["edges"], found.hint, found.witness
    graphs = document["recursion"].get("graphs", {"": document["recursion"]})
    ends = {(graph["in"], graph["out"]) for graph in graphs.values()}

    def edge_of(name: str) -> Any:
        return next(e for e in edges if name in (e.get("id"), f"{e.get('from')}->{e.get('to')}"))

    if hint == "lead an edge to it, or remove it":
        edges += [{"from": begin, "to": witness["node"]} for begin, _ in ends]
    elif hint == "lead an edge from it, or remove it":
        edges += [{"from": witness["node"], "to": end} for _, end in ends]
    elif hint == "add a path for the case in which nothing is called":
        edges.append({"from": witness["in"], "to": witness["out"]})
    elif hint == "only calls begin there: enter a node after it":
        edge = edge_of(witness["edge"])
        calls = {name for graph in graphs.values() for name in graph["calls"]}
        after = [e["to"] for e in edges if e.get("from") == edge["to"] and e["to"] != edge.get("from")]
        edge |= {"to": min(after, key=lambda name: (name in calls, name)), "id": "moved"}
    elif hint == "only calls end there: leave a node before it":
        edge = edge_of(witness["edge"])
        calls = {name for graph in graphs.values() for name in graph["calls"]}
        before = [e["from"] for e in edges if e.get("to") == edge["from"] and e["from"] != edge.get("to")]
        edge |= {"from": min(before, key=lambda name: (name in calls, name)), "id": "moved"}
    elif hint == "time: {product: [nat, stack]} at the top, or an edge between two nodes":
        document["time"] = {"product": ["nat", "stack"]}
    elif hint == "remove it: graphs meet in calls alone":
        edges.remove(edge_of(witness["edge"]))
    elif hint == "call it, or remove it":
        gone = set(witness["locations"])
        for name in [name for name, graph in graphs.items() if graph["in"] in gone]:
            del graphs[name]
        document["nodes"] = {name: node for name, node in nodes.items() if name not in gone}
        edges[:] = [edge for edge in edges if not gone & {edge.get("from"), edge.get("to")}]
    elif hint.endswith("; or notify: false for what runs there"):
        for name in {*witness["cycle"]} & {*nodes}:
            nodes[name] = {**(nodes[name] or {}), "notify": False}
    elif hint == "let each round be a call of its own: only calls tell rounds apart":
        after_calls = [e for e in edges if e.get("from") in graphs[""]["calls"] and e["to"] in witness["cycle"]]
        for edge in after_calls:  # what comes after the call ends this round; the next one is in the call
            edge |= {"to": graphs[""]["out"], "id": f"moved {edge['to']}"}
    else:
        return False
    return True


FINDINGS = [
    (name, document, found) for name, document in examples() for found in check_graph(from_data(document)).diagnostics
]


@pytest.mark.parametrize(("name", "document", "found"), FINDINGS, ids=[f"{n}, {f.code}" for n, _, f in FINDINGS])
def test_the_hint_makes_the_finding_go_away(name: str, document: Any, found: Any) -> None:
    mended = followed(document, found)
    assert mended is not None, f"{name}: nobody can follow {found.hint!r}"
    after = check_graph(from_data(mended))
    same = found.code, found.witness, found.severity  # what asks for nothing may go round, with a warning
    again = [each for each in after.diagnostics if (each.code, each.witness, each.severity) == same]
    assert not again, f"{name}: {found.hint!r} leads to {again}"
    if found.code == "PS401":
        assert not [each for each in after.diagnostics if each.code == "PS401"]
    if found.code == "PS201":
        assert not [each for each in after.diagnostics if each.code == "PS201"]


def test_there_are_findings_of_every_kind() -> None:
    assert {found.code for _, _, found in FINDINGS} >= {"PS101", "PS201", "PS202", "PS301", "PS401", "PS402", "PS403"}
    with_calls = {found.code for _, document, found in FINDINGS if "recursion" in document}
    assert with_calls >= {"PS301", "PS402", *(f"PS41{digit}" for digit in range(1, 7))}
    assert sum(bool(SUMMARY.search(found.hint)) for _, _, found in FINDINGS) >= 4


@pytest.mark.parametrize("kind", ["product", "lex"])
def test_a_nested_loop_without_an_outer_advance_is_mended_where_the_hint_says(kind: str) -> None:
    document = yaml.safe_load(NESTED.replace("KIND", kind))
    report = check_graph(from_data(document))
    assert sorted(found.code for found in report.diagnostics) == ["PS201", "PS301"]
    for found in report.diagnostics:
        assert "'outer_feedback'" in found.hint
        after = check_graph(from_data(followed(document, found)))
        assert [each.code for each in after.diagnostics] == (["PS202"] if kind == "product" else [])
        assert after.valid
