"""How objects look in a notebook: shown, with a picture where there is one, and nothing of them does anything."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from graphs import Graph, from_data
from graphs.checking.check import check_graph
from graphs.streams import Flow
from progress import CouldResultIn, Finite, Lex, Nat, Product, Sum, Tracker, check_conditions, close
from progress.antichain import Antichain
from progress.errors import PointstampError
from progress.notebook import MOST_DRAWN, MOST_ROWS
from progress.runtime import Dataflow, Node

HARMLESS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
DRAWN = {"svg", "title", "desc", "g", "path", "rect", "text", "tspan", "style", "line", "circle", "polyline", "polygon"}
SIZES = {"d", "x", "y", "cx", "cy", "r", "rx", "width", "height", "viewbox", "transform", "textlength", "lengthadjust"}
PLACED = SIZES | {"class", "role", "xmlns", "text-anchor"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "</svg><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</text><script>alert(1)</script>",
    "</desc><foreignObject><iframe src=//e.example></iframe></foreignObject>",
    "<a href='javascript:alert(1)'>x</a>",
    "javascript:alert(1)",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=//e.example>",
    "<embed src=//e.example>",
    "<link rel=stylesheet href=//e.example>",
    "<style>*{background:url(//e.example)}</style>",
    "<base href=//e.example>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//e.example><input autofocus onfocus=alert(1)>",
    "<math><mtext></mtext><script>alert(1)</script></math>",
    "<!--",
    "-->",
    "--><script>alert(1)</script>",
    "<![CDATA[",
    "]]><script>alert(1)</script>",
    "<?xml version='1.0'?>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
    "&e;",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "` onmouseover=`alert(1)",
    "\"><script>alert(1)</script>",
    "'><script>alert(1)</script>",
    "x\" style=\"background:url(//e.example)",
    "url(//e.example)",
    "@import '//e.example';",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "$$\\href{javascript:alert(1)}{x}$$",
    "![x](//e.example)",
    "\x00\x01\x1b[31mred\x1b[0m",
    "\x1b]8;;http://e.example\x07link\x1b]8;;\x07",
    "\x07\x08\x0b\x0c\x7f\x9b31m",
    "one\r\ntwo\u2028three\u2029four",
    "\u202egnirts\u202c\u2066x\u2069\u200e\u200f",
    "\ufeff\u200b\u00ad\ufffe\uffff",
    "\udcff lone",
    "x" * 900,
    "𝕏 名前 ünï \U000e0041",
]  # fmt: skip


class Marks(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.others: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            assert "url" not in data
            assert "@import" not in data
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)


def look(page: str) -> Marks:
    """A page that can do nothing."""
    marks = Marks(page)
    assert not marks.open, "every tag is closed"
    assert not marks.others
    assert marks.tags <= HARMLESS | DRAWN, marks.tags - HARMLESS - DRAWN
    assert marks.attributes <= PLACED, marks.attributes - PLACED
    assert all(character.isprintable() or character == "\n" for character in page)
    return marks


def shown(value: Any) -> Marks:
    """What a notebook shows of a value: HTML, and SVG where there is one."""
    assert repr(value)
    picture = value._repr_svg_() if hasattr(value, "_repr_svg_") else None
    if picture is not None:
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        look(picture)
    page: str = value._repr_html_()
    assert picture is None or picture in page
    return look(page)


class Silent(Node):
    """Does nothing."""


def things(name: str) -> dict[str, Any]:
    """One of everything that is shown, with a name and a time that a stranger chose."""
    times = Finite([name, "other"], [(name, "other")])
    graph = Graph(times, name=name).node(name).node(f"{name} 2", summary={"constant": name})
    graph.edge(None, name, id=f"{name} in").edge(name, f"{name} 2", id=f"{name}->").edge(
        f"{name} 2", None, id=f"{name} out"
    )
    tracker = Tracker(graph)
    tracker.apply(messages=[(f"{name} in", name, 2)], requests=[(name, "other"), (f"{name} 2", name)])
    back = (
        Graph()
        .node(name)
        .node(f"{name} 2")
        .edge(name, f"{name} 2", id=f"{name} out")
        .edge(f"{name} 2", name, id=f"{name} back")
    )
    flow = Flow(name=name)
    flow.input(name).map(str, name=f"{name} 2").output(f"{name} out")
    return {
        "Graph": graph,
        "Report": check_conditions(back),
        "FileReport": check_graph(back),
        "Tracker": tracker,
        "Waits": tracker.why(),
        "Why": tracker.why(f"{name} 2", name),
        "Closure": close(graph, [(f"{name} in", name)]),
        "CouldResultIn": CouldResultIn(graph),
        "Dataflow": Dataflow(graph, {name: Silent}, sources={f"{name} in": [(name, name)]}),
        "Flow": flow,
        "Finite": times,
        "Sum": Sum({name: Nat()}),
        "Product": Product((times, Nat())),
        "Antichain": Antichain(times, [name]),
    }


@pytest.mark.parametrize("kind", things("name"))
def test_a_notebook_finds_what_it_asks_for_and_nothing_that_it_only_tries(kind: str) -> None:
    """IPython takes a method for one only where the object does not answer to any name, and asks for each form."""
    value = things("name")[kind]
    assert not hasattr(value, "_ipython_canary_method_should_not_exist_")
    forms = ("mimebundle", "html", "svg", "png", "jpeg", "pdf", "latex", "markdown", "json", "javascript", "pretty")
    assert {form for form in forms if hasattr(value, f"_repr_{form}_")} <= {"html", "svg"}
    assert not hasattr(value, "_ipython_display_")
    assert isinstance(value._repr_html_(), str)


def test_a_flow_is_shown_as_it_is_written_and_one_that_is_refused_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = Flow()
    lines = flow.input("lines")
    assert "lines" in words(flow)
    assert "longest" not in words(flow)
    lines.map(len).output("longest")
    assert "longest" in words(flow)
    lines.output("again")

    def build(flow: Flow[Any]) -> Any:
        raise PointstampError("PS401", "domains do not fit", "others")

    monkeypatch.setattr("graphs.streams.flow.build", build)
    assert "PS401: domains do not fit" in words(flow)
    assert flow._repr_svg_() is None


def test_whatever_names_say_nothing_of_it_does_anything() -> None:
    assert len(HOSTILE) >= 50
    for name in HOSTILE:
        for kind, thing in things(name).items():
            marks = shown(thing)
            if kind not in ("Report", "FileReport", "Why") and name.isprintable() and len(name) < 40:
                assert any(name in text for text in marks.text), f"{kind} does not show {name!r}"


def loop() -> Graph:
    return from_data(
        {
            "pointstamp": 1,
            "nodes": {"body": {}, "feedback": {"summary": {"advance": 1}, "notify": False}},
            "edges": [
                {"id": "input", "to": "body"},
                {"id": "out", "from": "body", "to": "feedback"},
                {"id": "back", "from": "feedback", "to": "body"},
            ],
        }
    )


def words(value: Any) -> str:
    return " | ".join(shown(value).text)


def test_what_is_shown_helps() -> None:
    graph = loop()
    tracker = Tracker(graph, requests=[("body", 3)])
    assert "'body' at 3 has waited 0 steps for the input 'input', open at 0: moving it past 3" in words(tracker)
    assert "≥ 1" in words(tracker)
    assert "advance" in words(graph)
    assert "'input' 0 -> 'input' 3" in words(tracker.why("body", 3))
    assert "requests that wait: 1; that are ready: 0" in words(tracker.why())
    assert "≥ 2" in words(close(graph, [("body", 1)]))
    assert repr(check_conditions(graph)) == (
        "Report(condition 1: holds, condition 2: holds, transitive: holds, advancing: holds)"
    )
    standing = Graph().node("a").node("b").edge("a", "b", id="there").edge("b", "a", id="back")
    assert "'a' -> 'there' -> 'b' -> 'back'" in words(check_conditions(standing))
    assert "no code" in repr(Dataflow(graph))
    assert repr(tracker.why("body", 3)) == "Why(waits for input 'input' at 0)"
    assert repr(tracker.why("body", 0)) == "Why(waits for input 'input' at 0)"
    assert repr(check_graph(graph)) == "FileReport('': nothing found)"
    assert repr(check_graph(standing)) == "FileReport('': 1 error: PS301)"
    assert "error | PS301 | the cycle 'a' -> 'there' -> 'b' -> 'back' can return to 'a'" in words(check_graph(standing))
    wide = Graph().node("a")
    for number in range(5):
        wide.edge(None, "a", id=f"in {number}")
    assert repr(Tracker(wide).why("a", 0)).endswith("input 'in 2' at 0, 2 more)")
    closed = Tracker(wide, inputs={f"in {number}": [] for number in range(5)})
    assert repr(closed.why("a", 0)) == "Why(does not wait)"
    assert repr(Antichain(Product((Nat(), Nat())), [(1, 2), (2, 1), (3, 3)])).endswith("[(1, 2), (2, 1)])")


PICTURES: dict[str, Callable[[], Any]] = {
    "graph": loop,
    "tracker": lambda: Tracker(loop(), requests=[("body", 3)]),
    "waits": lambda: Tracker(loop(), requests=[("body", 3)]).why(),
    "closure": lambda: close(loop(), [("body", 1)]),
    "relation": lambda: CouldResultIn(loop()),
    "dataflow": lambda: Dataflow(loop()),
    "finite": lambda: Finite(["a", "b", "c"], [("a", "b"), ("a", "c")]),
    "pairs": lambda: Product((Nat(), Nat())),
    "lex": lambda: Lex((Nat(), Nat())),
    "staircase": lambda: Antichain(Product((Nat(), Nat())), [(1, 3), (2, 1)]),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_there_is_a_picture(kind: str) -> None:
    thing = PICTURES[kind]()
    assert "<svg" in thing._repr_html_()
    shown(thing)


def test_what_is_not_whole_or_too_large_is_shown_without_a_picture() -> None:
    broken = Graph().node("a").edge("a", "nobody", id="x")
    assert "PS011" in words(broken)
    assert broken._repr_svg_() is None
    large = Graph()
    for number in range(MOST_DRAWN + 1):
        large.node(f"n{number}")
    assert large._repr_svg_() is None
    assert f"and {MOST_DRAWN + 1 - MOST_ROWS} more" in words(large)
    endless = Graph({"lex": ["nat", "int"]}).node("a", summary={"advance": [-1, 0]}).edge(None, "a", id="in")
    endless.edge("a", None, id="out")
    assert "without end" in words(close(endless, [("a", (0, 5))]))


def test_graphs_with_calls_are_shown() -> None:
    graph = from_data(
        {
            "pointstamp": 1,
            "recursion": {"in": "entry", "out": "exit", "calls": ["again"]},
            "nodes": {"entry": {}, "again": {}, "exit": {}},
            "edges": [
                {"from": "entry", "to": "again"},
                {"from": "again", "to": "exit"},
                {"from": "entry", "to": "exit"},
            ],
        }
    )
    tracker = Tracker(graph, requests=[("entry", ("again",)), ("exit", ())])
    for thing in (
        graph,
        tracker,
        tracker.why(),
        CouldResultIn(graph),
        close(graph, [("entry", ())]),
        graph.network().domains[0],
    ):
        shown(thing)


def test_without_graphs_there_is_a_table() -> None:
    code = (
        "import sys; from progress import Product, Nat; page = Product((Nat(), Nat()))._repr_html_(); "
        "assert '<td>' in page and '<svg' not in page and 'graphs' not in sys.modules and 'html' not in vars()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
