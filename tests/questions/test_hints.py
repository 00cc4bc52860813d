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


def examples() -> Iterator[tuple[str, Any]]:
    """Every example with its name, as plain data."""
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        yield str(path.relative_to(ROOT)), yaml.safe_load(path.read_text(encoding="utf-8"))
    for number, code in CODES.items():
        if re.match("PS[1-4]", number) and code.example.language == "yaml":
            yield number, yaml.safe_load(code.example.text)
    for kind in ("product", "lex"):
        yield f"nested loop without an outer advance, {kind}", yaml.safe_load(NESTED.replace("KIND", kind))


def followed(document: Any, found: Any) -> Any | None:
    """The document with what the hint of a finding says done to it; None where it has no example of what to do."""
    mended = copy.deepcopy(document)
    nodes, edges, hint = mended["nodes"], mended["edges"], found.hint
    named = SUMMARY.search(hint)
    falls = re.match(r"change the summary of '([^']+)' so that times do not move down$", hint)
    on_cycle = hint.startswith("advance the time on the cycle, for instance with summary: {advance: 1}")
    if named:
        nodes[named[1]].setdefault("emits", {})[named[2]] = yaml.safe_load(named[3])
    elif falls:
        nodes[falls[1]]["summary"] = "identity"
    elif on_cycle:
        quiet = [name for name in found.witness["cycle"] if nodes.get(name, {}).get("notify") is False]
        asking = [name for name in found.witness["cycle"] if name in nodes]
        nodes[[*quiet, *asking][0]]["summary"] = {"advance": 1}
    elif hint.startswith("order the loop counters with lex instead of product"):
        mended = yaml.safe_load(yaml.safe_dump(mended).replace("product:", "lex:"))
    elif re.match(r"let the requests of '([^']+)' be identity", hint):
        nodes[found.witness["node"]]["requests"] = "identity"
    elif hint.startswith("add an input edge, or leave it"):
        edges += [{"id": f"added {place}", "to": name} for place, name in enumerate(found.witness["locations"])]
    elif hint == "add an edge to it, or remove it":
        edges.append({"id": "added", "to": found.witness["locations"][0]})
    elif hint.startswith("let a node there ask for notifications, add an output edge"):
        edges.append({"id": "added", "from": found.witness["locations"][0]})
    else:
        return None
    return mended


FINDINGS = [
    (name, document, found)
    for name, document in examples()
    if "recursion" not in document
    for found in check_graph(from_data(document)).diagnostics
]


@pytest.mark.parametrize(("name", "document", "found"), FINDINGS, ids=[f"{n}, {f.code}" for n, _, f in FINDINGS])
def test_the_hint_makes_the_finding_go_away(name: str, document: Any, found: Any) -> None:
    mended = followed(document, found)
    if mended is None:
        assert found.code == "PS401", f"{name}: nobody can follow {found.hint!r}"
        return
    after = check_graph(from_data(mended))
    again = [each for each in after.diagnostics if (each.code, each.witness) == (found.code, found.witness)]
    assert not again, f"{name}: {found.hint!r} leads to {again}"
    if found.code == "PS201":
        assert not [each for each in after.diagnostics if each.code == "PS201"]


def test_there_are_findings_of_every_kind() -> None:
    assert {found.code for _, _, found in FINDINGS} >= {"PS101", "PS201", "PS202", "PS301", "PS402", "PS403"}
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
