"""Broken and malicious files with calls: the cases of `tests.files.hostile_files` about the key `recursion`.

A case is a name, a content, the exit code, and how the code of some diagnostic begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

Case = tuple[str, bytes, int, str]

CALLS = """pointstamp: 1
time: stack
recursion: {in: entry, out: exit, calls: [left, right]}
nodes: {entry: {}, split: {}, left: {}, right: {}, merge: {}, exit: {}}
edges:
  - {from: entry, to: split}
  - {from: split, to: left}
  - {from: split, to: right}
  - {from: left, to: merge}
  - {from: right, to: merge}
  - {from: split, to: exit}
  - {from: merge, to: exit}
"""
GRAPHS = """pointstamp: 1
recursion:
  main: even
  graphs:
    even: {in: even_in, out: even_out, calls: {ask_odd: odd}}
    odd: {in: odd_in, out: odd_out, calls: {ask_even: even}}
nodes: {even_in: {}, ask_odd: {}, even_out: {}, odd_in: {}, ask_even: {}, odd_out: {}}
edges:
  - {from: even_in, to: ask_odd}
  - {from: ask_odd, to: even_out}
  - {from: even_in, to: even_out}
  - {from: odd_in, to: ask_even}
  - {from: ask_even, to: odd_out}
  - {from: odd_in, to: odd_out}
"""
ONE = "{in: entry, out: exit, calls: [left, right]}"

# In place of what the first file says, or the key `time` does: none of these is a graph.
RECURSION = """
 | null | ~ | 7 | true | text | [] | [entry, exit] | {} | {in: entry} | {out: exit} | {calls: [left]}
{in: entry, out: exit, calls: left} | {in: entry, out: exit, calls: 7} | {in: entry, out: exit, calls: null}
{in: entry, out: exit, calls: {left: right}} | {in: entry, out: exit, calls: [[left]]}
{in: entry, out: exit, calls: [{left: right}]} | {in: entry, out: exit, calls: [7]}
{in: entry, out: exit, calls: [left, left]} | {in: entry, out: exit, calls: [null]}
{in: entry, out: exit, calls: [nowhere]} | {in: entry, out: exit, calls: [on]} | {in: no, out: exit, calls: [left]}
{in: entry, out: 1e3, calls: [left]} | {in: "", out: exit, calls: [left]} | {in: true, out: exit, calls: [left]}
{in: [entry], out: exit, calls: [left]} | {in: {a: b}, out: exit, calls: [left]} | {in: Entry, out: exit, calls: [left]}
{in: entry, out: entry, calls: [left]} | {in: entry, out: exit, calls: [entry]} | {in: exit, out: exit, calls: []}
{in: entry, out: exit, calls: [exit, left]} | {in: entry, out: exit, call: [left]}
{IN: entry, out: exit, calls: [left]} | {in: entry, out: exit, calls: [left], main: x}
{in: entry, out: exit, calls: [left], graphs: {}} | {in: entry, out: exit, calls: [left], notify: true}
{from: entry, to: exit, calls: [left]} | {main: x} | {graphs: {}} | {main: x, graphs: []} | {main: x, graphs: {}}
{main: x, graphs: {x: {}}} | {main: x, graphs: {x: null}} | {main: x, graphs: {x: [entry, exit]}}
{main: x, graphs: {x: {in: entry, out: exit, calls: [left]}}} | {main: x, graphs: {y: {in: entry, out: exit}}}
{main: x, graphs: {x: {in: entry, out: exit, calls: {left: y}}}} | {graphs: {x: {in: entry, out: exit}}}
{main: [x], graphs: {x: {in: entry, out: exit}}} | {main: x, graphs: {x: {in: entry, out: exit, calls: {left: null}}}}
{main: x, graphs: {x: {in: entry, out: exit, graphs: {}}}} | {main: no, graphs: {no: {in: entry, out: exit}}}
{main: x, graphs: {x: {in: entry, out: exit}, y: {in: entry, out: exit}}}
{main: x, graphs: {x: {in: entry, out: exit}, y: {in: split, out: merge, calls: {exit: x}}}}
{main: x, graphs: {x: {in: entry, out: exit, calls: {left: x}}, y: {in: split, out: merge, calls: {left: x}}}}
{main: x, graphs: {x: {main: x, in: entry, out: exit}}} | {main: x, graf: {x: {in: entry, out: exit}}}
"""
TIMES = """
nat | int | unit | [stack] | {stack: nat} | {stack: } | Stack | {product: [stack]} | {product: [stack, nat]}
{product: [nat, nat]} | {product: [nat, stack, stack]} | {product: [stack, stack]} | {lex: [nat, stack]}
{product: [natt, stack]} | {product: [{product: [nat, stack]}, stack]} | {sum: {left: nat, right: stack}}
{product: [{lex: [{product: [nat, nat]}]}, stack]} | {product: {nat: stack}} | {product: stack}
"""
NODE = """
{time: nat} | {time: natt} | {time: {product: [nat, stack]}} | {summary: identity} | {summary: {advance: 1}}
{summary: nonsense} | {emits: {merge->exit: identity}} | {emits: {nowhere: never}} | {requests: {advance: 1}}
{requests: identity} | {time: []} | {summary: {any: []}} | {calls: [left]} | {call: true}
"""


def cells(text: str) -> list[str]:
    """The cells of a table above: between bars and line ends."""
    return [cell.strip() for row in text.strip("\n").splitlines() for cell in row.split("|")]


def with_(old: str, new: str, text: str = CALLS) -> bytes:
    assert old in text, old
    return text.replace(old, new, 1).encode()


def wrong_calls() -> Iterator[Case]:
    """Files that say nothing of calls that could be read as a graph."""
    for number, cell in enumerate(cells(RECURSION)):
        yield f"recursion_{number:02}.yaml", with_(ONE, cell), 2, "PS0"
    for number, cell in enumerate(cells(TIMES)):
        yield f"stack_time_{number:02}.yaml", with_("time: stack", f"time: {cell}"), 2, "PS0"
    for number, cell in enumerate(cells(NODE)):
        yield f"node_beside_calls_{number:02}.yaml", with_("merge: {}", f"merge: {cell}"), 2, "PS0"
    for name, content, code in (
        ("stack_without_recursion", with_(f"recursion: {ONE}\n", ""), "PS012"),
        ("stack_at_a_node_without_recursion", b"pointstamp: 1\nnodes: {a: {time: stack}}\n", "PS012"),
        ("call_part_as_a_node", with_("merge: {}", "merge: {}, call-left: {}"), "PS010"),
        ("return_part_as_a_node", with_("merge: {}", "merge: {}, ret-right: {}"), "PS010"),
        ("call_part_as_an_edge", with_("{from: entry,", "{id: call-left, from: entry,"), "PS010"),
        ("back_edge_as_an_edge", with_("{from: entry,", "{id: call-left->entry, from: entry,"), "PS010"),
        ("call_part_as_a_call", with_("left", "call-right").replace(b"left", b"call-right"), "PS010"),
        ("back_edge_as_a_node", with_("merge: {}", "merge: {}, exit->ret-left: {}"), "PS010"),
        ("edge_with_a_time", with_("{from: entry,", "{time: nat, from: entry,"), "PS017"),
        ("edge_to_a_part", with_("to: left}", "to: call-left}"), "PS011"),
        ("recursion_twice", with_("recursion:", f"recursion: {ONE}\nrecursion:"), "PS005"),
        ("graph_twice", with_("    odd:", "    even: {in: odd_in, out: odd_out}\n    odd:", GRAPHS), "PS005"),
        ("in_twice", with_("{in: entry,", "{in: entry, in: split,"), "PS005"),
        ("alias_of_a_graph", with_("{in: odd_in", "*even", GRAPHS), "PS00"),
        ("graphs_in_graphs", with_("    odd:", "    graphs: {graphs: {graphs: {}}}\n    odd:", GRAPHS), "PS0"),
    ):
        yield f"calls_{name}.yaml", content, 2, code


def judged_calls() -> Iterator[Case]:
    """Graphs with calls that can be read, and lack something or nothing."""
    last, base = "  - {from: merge, to: exit}\n", "  - {from: even_in, to: even_out}\n"
    for name, content, code in (
        ("unreachable", with_("merge: {}", "merge: {}, lost: {}"), "PS41"),
        ("no_way_out", with_("exit: {}", "exit: {}, log: {}").replace(b"to: merge", b"to: log", 1), "PS41"),
        ("no_base_case", with_("  - {from: split, to: exit}\n", ""), "PS413"),
        ("into_in", with_(last, f"{last}  - {{from: merge, to: entry}}\n"), "PS414"),
        ("out_of_out", with_(last, f"{last}  - {{from: exit, to: merge}}\n"), "PS414"),
        ("input_without_epochs", with_(last, f"{last}  - {{id: i, to: split}}\n"), "PS415"),
        ("output_of_out_without_epochs", with_(last, f"{last}  - {{id: o, from: exit}}\n"), "PS41"),
        ("follows_itself", with_(last, f"{last}  - {{from: merge, to: split}}\n"), "PS301"),
        ("no_edges", CALLS.partition("edges:")[0].encode(), "PS41"),
        ("edge_between_graphs", f"{GRAPHS}  - {{from: odd_in, to: ask_odd}}\n".encode(), "PS416"),
        ("for_ever", GRAPHS.partition("  - {from: odd_in, to: odd_out}")[0].replace(base, "").encode(), "PS413"),
    ):
        yield f"calls_{name}.yaml", content, 1, code
    nothing = "pointstamp: 1\nrecursion: {in: a, out: b}\nnodes: {a: {}, b: {}}\nedges: [{from: a, to: b}]\n"
    for name, text in {
        "as_it_is": CALLS,
        "of_several": GRAPHS,
        "without_calls": nothing,
        "numbers": CALLS.replace("left", "7").replace("entry", "-8"),
        "quoted": CALLS.replace("left", '"no"').replace("right", "'null'"),
        "words_of_the_format": CALLS.replace("left", "calls").replace("entry", "in").replace("exit", "graphs"),
        "escape_sequences": CALLS.replace("left", '"\\e[31m\\a\\n::error::x"'),
        "arrows": CALLS.replace("left", '"a->b"').replace("exit", '"->"'),
        "directions": CALLS.replace("right", '"\\u202Etxt.exe"'),
        "stacks_at_nodes": CALLS.replace("merge: {}", "merge: {time: stack, emits: {}}"),
        "epochs": CALLS.replace("stack", "{product: [{product: [int, nat]}, stack]}"),
        "a_graph_that_nobody_calls": GRAPHS.replace("calls: {ask_odd: odd}", "calls: {}"),
    }.items():
        yield f"calls_fine_{name}.yaml", text.encode(), 0, "PS402" if name == "a_graph_that_nobody_calls" else ""


def large_calls() -> Iterator[Case]:
    """Graphs with many nodes, calls and graphs: answered, or refused for their size, before it costs time or memory."""
    yield "calls_many_nodes.json", _one(["n"] * 9_998, chained=True), 0, ""
    yield "calls_too_many_nodes.json", _one(["n"] * 9_999, chained=True), 2, "PS004"
    yield "calls_one_after_the_other.json", _one(["c"] * 9_998, chained=True), 0, ""
    yield "calls_beside_each_other.json", _one(["c"] * 6_000, chained=False), 0, ""
    yield "calls_without_edges.json", _one(["n"] * 9_998, chained=None), 1, "PS41"
    yield "calls_in_cycles.json", _one(["c"] * 2_000, chained=False, back=True), 1, "PS301"
    yield "calls_in_one_cycle.json", _one(["c"] * 5_000, chained=True, back=True), 1, "PS301"
    yield "calls_by_the_100000.yaml", with_("[left, right]", f"[{'left, ' * 100_000}]"), 2, "PS016"
    yield "calls_of_nothing.yaml", with_("[left, right]", f"[{', '.join(map(str, range(100_000)))}]"), 2, "PS016"
    yield "calls_dense.json", _dense(250), 0, ""
    yield "calls_long_names.json", _one(["c"] * 5, chained=True, length=490), 0, ""
    yield "graphs_most.json", _many(64, twice=False), 0, ""
    yield "graphs_too_many.json", _many(65, twice=False), 2, "PS004"
    yield "graphs_each_twice.json", _many(64, twice=True), 0, ""
    yield "graphs_each_twice_in_a_cycle.json", _many(64, twice=True, back=True), 1, "PS301"
    yield "graphs_of_which_none_returns.json", _many(64, twice=True, ends=False), 1, "PS413"
    yield "graphs_all_joined.json", _joined(64, 150), 1, "PS41"


def _document(recursion: Any, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> bytes:
    listed = [{"from": source, "to": target} for source, target in edges]
    data = {"pointstamp": 1, "recursion": recursion, "nodes": {name: {} for name in nodes}, "edges": listed}
    return json.dumps(data, separators=(",", ":")).encode()


def _one(kinds: list[str], chained: bool | None, back: bool = False, length: int = 1) -> bytes:
    """Nodes (n) and calls (c) between in and out, in a row, side by side, or nowhere; `back`: in cycles as well."""
    names = [f"{kind}{number}".ljust(length, "x") for number, kind in enumerate(kinds)]
    edges = [("in", "out")] if chained is not None else []
    if chained:
        edges += zip(["in", *names], [*names, "out"], strict=True)
        edges += [(names[-1], names[0])] if back else []
    elif chained is not None:
        edges += [("in", name) for name in names] + [(name, "out") for name in names]
        edges += [pair for one, two in zip(names[::2], names[1::2], strict=True) for pair in ((one, two), (two, one))
                  if back]  # fmt: skip
    calls = [name for name, kind in zip(names, kinds, strict=True) if kind == "c"]
    return _document({"in": "in", "out": "out", "calls": calls}, ["in", *names, "out"], edges)


def _dense(size: int) -> bytes:
    names = [f"c{number}" for number in range(size)]
    edges = [("in", "out"), *(("in", name) for name in names), *((name, "out") for name in names)]
    edges += [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    return _document({"in": "in", "out": "out", "calls": names}, ["in", *names, "out"], edges)


def _many(number: int, twice: bool, back: bool = False, ends: bool = True) -> bytes:
    """Graphs of which each calls the next one, on its only way, once or twice; the last one ends, or calls itself."""
    graphs: dict[str, Any] = {}
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    for place in range(number):
        entrance, first, second, exit = (f"{word}{place}" for word in ("in", "first", "second", "out"))
        callee = f"graph{min(place + 1, number - 1)}"
        calls = [] if ends and place == number - 1 else [first, second] if twice else [first]
        graphs[f"graph{place}"] = {"in": entrance, "out": exit, "calls": dict.fromkeys(calls, callee)}
        nodes += [entrance, *calls, exit]
        edges += zip([entrance, *calls], [*calls, exit], strict=True)
        edges += [(second, first)] if back and calls else []
    return _document({"main": "graph0", "graphs": graphs}, nodes, edges)


def _joined(number: int, size: int) -> bytes:
    """Graphs whose nodes all lead into those of the next graph, and of the first."""
    graphs: dict[str, Any] = {}
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    for place in range(number):
        names = [f"n{place}-{position}" for position in range(size)]
        graphs[f"graph{place}"] = {"in": f"in{place}", "out": f"out{place}", "calls": {}}
        nodes += [f"in{place}", *names, f"out{place}"]
        edges += zip([f"in{place}", *names], [*names, f"in{(place + 1) % number}"], strict=True)
    return _document({"main": "graph0", "graphs": graphs}, nodes, edges)
