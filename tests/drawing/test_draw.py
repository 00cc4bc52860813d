"""`pointstamp draw` and `check --draw`: what is in the pictures, in every form, and what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from graphs import Graph, load
from graphs.command import main
from graphs.drawing.draw import Wanted, draw, draw_order
from graphs.drawing.layout import layout
from graphs.drawing.svg import DARK, LIGHT
from graphs.files.writing import to_data
from scripts.draw_examples import PICTURES, pictures
from tests.drawing.geometry import SVG, faults

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NESTED = str(EXAMPLES / "nested_product.yaml")

HOSTILE = [
    "<script>alert(1)</script>", "</title><script>x</script>", '" onload="alert(1)', "' onerror='x", "&amp;&lt;", "]]>",
    "<!--", "-->", "<![CDATA[", "javascript:alert(1)", "<svg onload=x>", "<img src=x onerror=x>", "</svg>", "</text>",
    "\x00", "\x1b[31mred", "\x7f", "\ud800", "\udfff", "\ufffe", "\uffff", "\u202egnp.exe", "\u2066x\u2069", "\u200b",
    "\r\n", "a\nb", "\t", " ", "  two  ", "\u0301\u0301\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\ufdfd",
    "汉字" * 20, "W" * 1000, "%s%n", "${x}", "{{x}}", "`x`", "\\", '\\"', '"]; system("x") ["', "end", "subgraph x",
    "click n0 call x()", "n0 --> n1", "style n0 fill:red", "graph TD", "#35;", "#quot;", "\u2028\u2029",
]  # fmt: skip


def structure(picture: str) -> list[tuple[str, ...]]:
    """Every mark of a picture: what it is, its title and its texts; not where it stands."""
    root = ElementTree.fromstring(picture)
    return sorted(
        (
            group.attrib["class"],
            group.findtext(f"{SVG}title") or "",
            *(text.text or "" for text in group.findall(f"{SVG}text")),
        )
        for group in root.iter(f"{SVG}g")
    )


def test_the_pictures_of_the_examples_are_as_they_are_kept() -> None:
    found = pictures()
    assert len(found) >= 12
    assert {path.name for path in PICTURES.glob("*.svg")} == set(found)
    for name, picture in found.items():
        assert structure((PICTURES / name).read_text(encoding="utf-8")) == structure(picture), name


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("**/*.yaml")), ids=lambda path: path.stem)
def test_no_example_covers_anything(path: Path) -> None:
    graph = load(path)
    network = graph.network()
    at = [
        (name, domain.least()[0]) for name, domain in zip(network.nodes, network.domains, strict=True) if domain.least()
    ]
    for wanted in (Wanted(), Wanted(domains=True), Wanted(at=at[:1])):
        assert not faults(draw(graph, "svg", "x", wanted).text)


# --- what a picture says ---------------------------------------------------------------------------------------------


def test_a_closure_is_written_at_every_location() -> None:
    graph = load(NESTED)
    picture = draw(graph, "svg", "x", Wanted(at=[("input", 0)])).text
    said = {title: texts for _, title, *texts in structure(picture)}
    assert said["edge input, from outside to outer_head: ≥ 0"] == ["input", "≥ 0"]
    assert said["node work: ≥ [0, 0]"] == ["work", "≥ [0, 0]"]


def test_a_proof_is_drawn_thick_with_its_times() -> None:
    graph = load(NESTED)
    picture = draw(graph, "svg", "x", Wanted(path=(("input", 0), ("inner_back", (1, 2)))))
    assert picture.holds
    way = [texts for kinds, _, *texts in structure(picture.text) if "way" in kinds.split()]
    steps = sorted(text for texts in way for text in texts if re.match(r"\d\. at", text))
    assert steps[0] == "1. at 0"
    assert steps[-1] == "7. at [1, 2]"
    assert len(way) == 7


def test_a_proof_that_is_not_there_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", NESTED, "--path", "input=3", "work=[0,0]"]) == 1
    out, err = capsys.readouterr()
    assert not faults(out)
    assert "input=3 could not result in work=[0,0]" in err


def test_loops_and_calls_have_frames() -> None:
    found = layout(load(NESTED))
    (frame,) = found.frames
    inside = {
        node.name
        for node in found.nodes
        if frame.x < node.x and node.x + node.width < frame.x + frame.width
        and frame.y < node.y and node.y + node.height < frame.y + frame.height
    }  # fmt: skip
    assert inside == {"work", "inner_feedback", "outer_tail"}
    frames = layout(load(EXAMPLES / "recursion" / "even_odd.yaml")).frames
    assert {(each.name, each.kind) for each in frames} == {("even", "calls"), ("odd", "calls")}


def test_a_loop_in_a_loop_has_a_frame_in_a_frame() -> None:
    graph = Graph()
    graph.node("in", summary="enter").node("out")
    graph.node("first", time={"product": ["nat", "nat"]}, summary="enter")
    graph.node("leave", time={"product": ["nat", "nat"]}, summary="leave")
    graph.node("a", time={"product": ["nat", "nat", "nat"]})
    graph.node("b", time={"product": ["nat", "nat", "nat"]}, summary="leave")
    graph.edge(None, "in", id="i").edge("in", "first").edge("first", "a").edge("a", "b").edge("b", "leave")
    graph.edge("leave", "out")
    found = layout(graph)
    outer, inner = found.frames
    assert outer.x < inner.x
    assert inner.x + inner.width < outer.x + outer.width
    assert not faults(draw(graph, "svg", "x").text)


# --- orders of times -------------------------------------------------------------------------------------------------


def test_a_finite_order_is_its_hasse_diagram() -> None:
    order = {
        "finite": {
            "elements": ["a", "b", "c", "d"],
            "below": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"]],
        }
    }
    graph = Graph(time=order).node("n").edge(None, "n", id="in")
    picture = draw_order(graph, "n", [("n", "b")], "x")
    lines = {title for kinds, title, *_ in structure(picture) if kinds.startswith("edge")}
    assert {title.split(",")[0] for title in lines} == {
        'edge "a" < "b"', 'edge "a" < "c"', 'edge "b" < "d"', 'edge "c" < "d"'
    }  # fmt: skip
    kinds = {texts[0]: kinds for kinds, _, *texts in structure(picture) if kinds.startswith("node")}
    assert kinds == {'"a"': "node passed", '"b"': "node way", '"c"': "node passed", '"d"': "node"}


@pytest.mark.parametrize(
    ("time", "dotted"),
    [
        ("nat", {"3 < 7"}),
        ({"nat": {"max": 3}}, set()),
        ({"lex": ["nat", "nat"]}, {"[0, 3] < [1, 0]", "[1, 3] < [2, 0]", "[2, 3] < [3, 0]"}),
        ({"lex": ["nat", {"nat": {"max": 3}}]}, set()),
        ({"sum": {"left": "nat", "right": "unit"}}, set()),
        ({"product": ["nat", "unit", "nat"]}, set()),
    ],
    ids=["nat", "bounded", "lex", "lex bounded", "sum", "product"],
)
def test_a_line_on_which_times_are_left_out_has_dots(time: object, dotted: set[str]) -> None:
    graph = Graph(time=time).node("n").edge(None, "n", id="in")
    picture = draw_order(graph, "n", [], "x")
    lines = [(title, texts) for kinds, title, *texts in structure(picture) if kinds.startswith("edge")]
    assert lines
    assert {title.removeprefix("edge ").split(", from")[0] for title, texts in lines if texts == ["…"]} == dotted
    assert all(texts in ([], ["…"]) for _, texts in lines)
    assert not faults(picture)


def test_the_numbers_beside_a_grid_stand_apart_from_it() -> None:
    graph = Graph(time={"product": ["nat", "nat"]}).node("n").edge(None, "n", id="in")
    for at in ([], [("n", (0, 0))], [("n", (1, 3)), ("n", (3, 1))]):
        root = ElementTree.fromstring(draw_order(graph, "n", at, "x"))
        (axis,) = (group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "axis")
        beside = max(float(mark.attrib["x"]) for mark in list(axis.iter(f"{SVG}text"))[-3:])
        first = min(float(mark.attrib["cx"]) for mark in root.iter(f"{SVG}circle"))
        assert first - beside > 20


def test_pairs_have_a_grid_with_a_staircase() -> None:
    graph = Graph(time={"product": ["nat", "nat"]}).node("n").edge(None, "n", id="in")
    picture = draw_order(graph, "n", [("n", (1, 3)), ("n", (2, 1)), ("n", (4, 4))], "x")
    marks = structure(picture)
    assert [title for kinds, title, *_ in marks if kinds == "corner"] == [
        "[1, 3] is a minimal time", "[2, 1] is a minimal time"
    ]  # fmt: skip
    dots = {title for kinds, title, *_ in marks if kinds.startswith("dot")}
    for one in range(6):
        for other in range(6):
            arrives = (one >= 1 and other >= 3) or (one >= 2 and other >= 1)
            wrong = f"[{one}, {other}] {'is complete' if arrives else 'may still arrive'}"
            assert wrong not in dots


def test_a_staircase_of_far_numbers_is_no_larger_than_a_page() -> None:
    graph = Graph(time={"product": ["nat", "nat"]}).node("n").edge(None, "n", id="in")
    at = [("n", (number * 1_000, 100_000 - number * 900)) for number in range(100)]
    root = ElementTree.fromstring(draw_order(graph, "n", at, "x"))
    assert float(root.attrib["width"]) < 1_200
    assert float(root.attrib["height"]) < 1_000


@pytest.mark.parametrize("far", [1_700_000_000, 10**6, 10**22, 10**400], ids=["seconds", "million", "long", "longest"])
def test_large_numbers_are_written_within_the_picture_and_apart(far: int) -> None:
    graph = Graph(time={"product": ["nat", "nat"]}).node("n").edge(None, "n", id="in")
    for times in ([(far, far)], [(1, far), (2, 1)], [(far, 1)], [(0, far), (far, 0)]):
        root = ElementTree.fromstring(draw_order(graph, "n", [("n", time) for time in times], "x"))
        size = float(root.attrib["width"])
        (axis,) = (group for group in root.iter(f"{SVG}g") if group.attrib["class"] == "axis")
        marks = [
            (float(mark.attrib["x"]), float(mark.attrib["y"]), mark.text or "") for mark in axis.iter(f"{SVG}text")
        ]
        assert size < 1_600
        spans = [
            (y, x - 3.5 * len(text), x + 3.5 * len(text)) for x, y, text in marks
        ]  # digits are 7 pixels wide and more
        for y, left, right in spans:
            assert left >= 0, (times, marks)
            assert right <= size, (times, marks)
            assert sum(other == y and left < end and begin < right for other, begin, end in spans) == 1, (times, marks)


def test_stacks_have_their_order() -> None:
    graph = load(EXAMPLES / "recursion" / "two_calls.yaml")
    marks = structure(draw_order(graph, "merge", [], "x"))
    lines = {title.split(",", 1)[0] for kinds, title, *_ in marks if kinds.startswith("edge")}
    assert any(title.startswith('edge node ["left"') or '["left"] < []' in title for title in lines)


# --- forms -----------------------------------------------------------------------------------------------------------


def test_graphviz_reads_what_is_written_for_it() -> None:
    for path in (NESTED, str(EXAMPLES / "recursion" / "even_odd.yaml")):
        text = draw(load(path), "dot", "x").text
        plain = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True).stdout
        nodes = {line.split()[1] for line in plain.splitlines() if line.startswith("node n")}
        assert len(nodes) == len(load(path).network().nodes)


def test_every_form_says_the_same() -> None:
    graph = load(NESTED)
    for form in ("svg", "html", "dot", "mmd"):
        text = draw(graph, form, "x", Wanted(at=[("input", 0)])).text
        for name in graph.nodes:
            assert name in text, form


def test_hostile_names_are_inert_in_every_form() -> None:
    assert len(HOSTILE) >= 50
    graph = Graph(name=HOSTILE[0])
    for number, name in enumerate(HOSTILE):
        graph.node(name)
        graph.edge(None, name, id=f"{name[:990]}<b>{number}")
    graph.edge(HOSTILE[0], HOSTILE[1], id="</g>")
    picture = draw(graph, "svg", HOSTILE[1]).text
    inert(picture)
    page = draw(graph, "html", HOSTILE[1]).text
    inert(page[page.index("<svg") : page.index("</svg>") + 6])
    assert not re.search(r"<(script|img|iframe|object|embed|link|form|input|a)\b", page)
    assert "\ud800" not in page
    text = draw(graph, "dot", HOSTILE[1]).text
    plain = subprocess.run(["dot", "-Tplain"], input=text.encode(), capture_output=True, check=True).stdout
    assert len(re.findall(rb"^node n\d", plain, re.MULTILINE)) == len(HOSTILE)
    for line in draw(graph, "mmd", HOSTILE[1]).text.splitlines()[1:]:
        bare = re.sub(r'"(?:[\w #;.-]|<br>)*"', '""', line, flags=re.ASCII)
        node, end = r"n\d+\[\"\"\]", r"(n\d+|(from|to)\d+\(\(\"\"\)\))"
        assert re.fullmatch(rf"  ({node}|{end} (-->|-\.->|==>)(\|\"\"\|)? {end})", bare), line


ELEMENTS = {"svg", "title", "desc", "style", "rect", "g", "path", "text", "circle"}
ATTRIBUTES = {
    "class", "width", "height", "viewBox", "role", "x", "y", "rx", "d", "textLength", "lengthAdjust", "cx", "cy", "r"
}  # fmt: skip


def inert(picture: str) -> None:
    """Nothing is in a picture but shapes and text: no script, no reference, no handler."""
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]", picture)
    root = ElementTree.fromstring(picture)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
        if element.tag == f"{SVG}g":
            assert element.findtext(f"{SVG}title"), "a mark without a title"
            assert element[0].tag == f"{SVG}title"
        if element.tag == f"{SVG}style":
            assert "url" not in (element.text or "")
            assert "@import" not in (element.text or "")


class Balance(HTMLParser):
    """Whether every element of a page is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), tag
        assert not any(name.startswith("on") for name in names), tag
        self.seen.append(tag)
        if tag not in ("meta", "rect", "path", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_is_whole_and_styles_itself_alone() -> None:
    page = draw(load(NESTED), "html", "a & b <c>", Wanted(at=[("input", 0)])).text
    balance = Balance()
    balance.feed(page)
    assert not balance.open
    for once in ("html", "head", "title", "body", "main", "h1", "svg", "table", "caption", "style"):
        # the picture has a title of its own, and each of its marks
        assert balance.seen.count(once) == 1 or once == "title", once
    policy = re.search(r"content=\"default-src 'none'; style-src 'sha256-([^']+)'\"", page)
    sheet = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None
    assert sheet is not None
    assert policy[1] == b64encode(sha256(sheet[1].encode()).digest()).decode()
    assert "style=" not in page


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_read_on_their_ground() -> None:
    for colours in (LIGHT, DARK):
        for word, colour in colours.items():
            for ground in ("page", "box"):
                if word not in ("page", "box"):
                    assert contrast(colour, colours[ground]) >= 4.5, word


# --- the command -----------------------------------------------------------------------------------------------------


def test_a_file_of_each_form_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form, begins in (("svg", "<svg"), ("html", "<!DOCTYPE html>"), ("dot", "digraph"), ("mmd", "flowchart LR")):
        file = tmp_path / f"graph.{form}"
        assert main(["draw", NESTED, "-o", str(file)]) == 0
        assert file.read_text(encoding="utf-8").startswith(begins)
        assert main(["draw", NESTED, "-o", "-", "--to", form]) == 0
        assert capsys.readouterr().out == file.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.dot", "graph.html", "graph.mmd", "graph.svg"]


def test_labels_are_told_to_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As titles, and in the picture in words: a label may be a sentence, which no box is made for."""
    graph = tmp_path / "labelled.yaml"
    label, other = "tries <each> job & waits", "what is left"
    text = f'{{pointstamp: 1, nodes: {{a: {{label: "{label}"}}}}, edges: [{{id: in, to: a, label: "{other}"}}]}}'
    graph.write_text(text, encoding="utf-8")
    for form in ("svg", "html"):
        assert main(["draw", str(graph), "--to", form]) == 0
        found = capsys.readouterr().out
        assert "tries &lt;each&gt; job &amp; waits" in found
        assert other in found
        assert label not in found
        assert not faults(found[found.index("<svg") : found.index("</svg>") + 6])


def test_a_program_of_streams_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "totals.svg"
    assert main(["draw", str(EXAMPLES / "pipelines" / "collatz" / "stream.py"), "-o", str(file)]) == 0
    assert not faults(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "picture.png"], "the name does not say what to draw"),
        (["-o", "picture.html", "--to", "svg"], "-o picture.html: the name says html, and --to says svg"),
        (["--open", "nobody"], "--open: there is no location 'nobody' (name a node or an edge of the graph)"),
        (["--open", "wrok"], "--open: there is no location 'wrok' (did you mean 'work'?)"),
        (["--times", "wrok"], "--times: there is no location 'wrok' (did you mean 'work'?)"),
        (["--times", "work", "--to", "dot"], "drawn as svg"),
        (["--times", "work", "--domains"], "--domains is of no use with --times"),
        (["--at", "work"], "no time"),
        (["--path", "work=1", "input=0"], "work=1"),
        (["-o", "/nowhere/at/all.svg"], "cannot write /nowhere/at/all.svg: no such file or directory (a place in a"),
        (
            ["-o", f"{__file__}/all.svg"],
            "all.svg: not a directory (a place in a folder: a part of this name is a file)",
        ),
        (["-o", str(EXAMPLES)], f"-o {EXAMPLES}: this is a folder (a file, like {EXAMPLES}/graph.svg)"),
        (["-o", "/", "--to", "dot"], "-o /: this is a folder (a file, like /graph.dot)"),
        (["-o", "/dev/full", "--to", "svg"], "cannot write /dev/full: no space left on device"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", NESTED, *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == 1
    assert says in err


def test_each_finding_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pictures"
    assert (
        main(
            ["check", str(EXAMPLES / "broken_loop.yaml"), str(EXAMPLES / "nested_product.yaml"), "--draw", str(folder)]
        )
        == 1
    )
    capsys.readouterr()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert set(found) == {"broken_loop-PS201-1.svg", "broken_loop-PS301-1.svg", "nested_product-PS202-1.svg"}
    for picture in found.values():
        assert not faults(picture)
    steps = [texts for kinds, _, *texts in structure(found["broken_loop-PS201-1.svg"]) if "way" in kinds.split()]
    assert sorted(text for texts in steps for text in texts if "at" in text) == [
        "1. at 1",
        "2. at 0",
        "3. at 0",
        "4. at 0",
        "5. back at 0",
    ]


def test_findings_are_not_drawn_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("here\n")
    for folder, says in (("file", "this is a file)"), ("file/in", "a part of this name is a file)")):
        assert main(["check", str(EXAMPLES / "broken_loop.yaml"), "--draw", str(tmp_path / folder)]) == 2
        (complaint,) = capsys.readouterr().err.splitlines()
        assert complaint.startswith(f"pointstamp: PS740: cannot write {tmp_path / folder}: ")
        assert complaint.endswith(says)
    assert (tmp_path / "file").read_text() == "here\n"


def test_a_graph_whose_parts_do_not_fit_is_drawn_with_its_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = to_data(Graph().node("a").node("b", time="int").edge("a", "b"))
    data["nodes"]["a"]["summary"] = "leave"
    file = tmp_path / "unfit.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert main(["check", str(file), "--draw", str(tmp_path / "found")]) == 1
    capsys.readouterr()
    assert [path.name for path in (tmp_path / "found").iterdir()] == ["unfit-PS401-1.svg"]


def test_a_pipe_takes_a_picture_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["draw", str(EXAMPLES / "loop.yaml"), "-o", str(pipe), "--to", "mmd"]) == 0
        assert os.read(reader, 65_536).startswith(b"flowchart LR")
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    link, kept = tmp_path / "link.mmd", tmp_path / "kept.mmd"
    kept.write_text("old")
    link.symlink_to(kept)
    assert main(["draw", str(EXAMPLES / "loop.yaml"), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert kept.read_text(encoding="utf-8").startswith("flowchart LR")


def test_a_picture_that_is_being_drawn_by_another_process_is_left_alone(tmp_path: Path) -> None:
    of_another = tmp_path / "a.mmd.unfinished"
    of_another.write_text("half")
    assert main(["draw", str(EXAMPLES / "loop.yaml"), "-o", str(tmp_path / "a.mmd")]) == 0
    assert of_another.read_text() == "half"


def test_draw_with_check_is_for_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-", "--draw", "x"]) == 2
    assert "--draw draws the findings of files" in capsys.readouterr().err
