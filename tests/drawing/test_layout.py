"""Where things stand in pictures: what nothing may cover, in random graphs, the same for every hash seed."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import Graph
from graphs.drawing.layout import Frame, Layout, laid_out, layout
from graphs.drawing.plan import EdgePlan, Group, NodePlan, Plan
from graphs.drawing.svg import svg
from tests.drawing.geometry import faults, walked
from tests.drawing.random_pictures import drawn

ROOT = Path(__file__).resolve().parents[2]


def check(seed: int, size: int | None = None) -> None:
    found = faults(drawn(seed, size))
    assert not found, f"seed {seed}, size {size}: {found[:5]}"


def test_nothing_covers_anything() -> None:
    for seed in range(60):
        check(seed)
    for seed, size in ((1, 100), (2, 150), (3, 300)):
        check(seed, size)


@pytest.mark.soak
def test_nothing_covers_anything_in_a_thousand_graphs() -> None:
    for seed in range(1_000, 2_000):
        check(seed, (None, None, 30, 60, 100, 150, 200, 250, 300, None)[seed % 10])


def framed_plan(seed: int) -> Plan:
    """A plan with frames in frames, edges across them in all directions, and edges from a node to itself."""
    chance = random.Random(seed)
    count = chance.randrange(2, 40)

    def cut(nodes: list[int], depth: int) -> tuple[tuple[int, ...], tuple[Group, ...]]:
        own: list[int] = []
        groups: list[Group] = []
        ends = sorted(chance.sample(range(len(nodes) + 1), 2 * chance.randrange(3))) if len(nodes) > 3 > depth else []
        at = 0
        for low, high in zip(ends[::2], ends[1::2], strict=True):
            own += nodes[at:low]
            at = high
            groups.append(Group(f"loop {low}", chance.choice(["loop", "calls"]), *cut(nodes[low:high], depth + 1)))
        return (*own, *nodes[at:]), tuple(groups)

    _, groups = cut(list(range(count)), 0)
    edges = []
    for number in range(int(count * chance.choice([0.6, 1.2, 2]))):
        source = chance.randrange(count)
        target = chance.randrange(count) if chance.random() < 0.4 else min(count - 1, source + chance.randrange(1, 5))
        name, below = f"e{number}", ("≥ 3",) if chance.random() < 0.3 else ()
        edges.append(EdgePlan(name, source, target, name if chance.random() < 0.7 else "", below))
    for number in range(chance.randrange(4)):
        edges.append(EdgePlan(f"i{number}", -1, chance.randrange(count), f"i{number}"))
        edges.append(EdgePlan(f"o{number}", chance.randrange(count), -1, f"o{number}"))
    nodes = tuple(NodePlan(f"n{node}", (f"n{node}" * chance.randrange(1, 4),)) for node in range(count))
    advancing = frozenset(chance.sample(range(len(edges)), len(edges) // 5))
    return Plan(nodes, tuple(edges), advancing, groups, chance.choice([0, 0, 6]))


def test_frames_in_frames_cover_nothing_and_are_crossed_by_what_leads_into_them_alone() -> None:
    frames = 0
    for seed in range(40):
        found = laid_out(framed_plan(seed))
        frames += len(found.frames)
        wrong = faults(svg(found))
        assert not wrong, f"seed {seed}: {wrong[:5]}"
    assert frames > 40


def test_the_judge_sees_what_is_wrong() -> None:
    """Each fault put into a picture by hand is found."""
    graph = Graph().node("a").node("b").node("c").edge("a", "b", id="one").edge("b", "c", id="two")
    right = layout(graph)
    assert not faults(svg(right))
    one, two = right.edges
    a, b, c = right.nodes
    broken: list[tuple[str, Layout]] = [
        ("overlaps box", right._replace(nodes=(a, b._replace(x=a.x + 5), c))),
        ("stands out of the box", right._replace(nodes=(a, b._replace(width=4.0), c))),
        ("runs through node b", right._replace(edges=(one._replace(path=f"M{a.x} {a.y}L{c.x} {c.y + 20}"), two))),
        ("runs through edge one", right._replace(edges=(one._replace(lines=((*one.lines[0][:2], one.y),)), two))),
        ("overlaps text", right._replace(edges=(one, two._replace(lines=one.lines)))),
        ("lies on", right._replace(edges=(one, two._replace(path=one.path)))),
        ("outside of the picture", right._replace(width=30.0)),
    ]
    frame = Frame("x", "loop", one.x - 10, one.y - 30, 20.0, 60.0, ("", 0.0, 0.0))  # around nothing
    broken.append(("crosses loop x 2 times", right._replace(frames=(frame,))))
    for says, picture in broken:
        assert any(says in fault for fault in faults(svg(picture))), says


DIGEST = """\
import hashlib
from tests.drawing.random_pictures import drawn
print(hashlib.sha256("".join(drawn(seed) for seed in range(12)).encode()).hexdigest())
"""


def test_hash_seeds_change_nothing() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {hashlib.sha256("".join(drawn(seed) for seed in range(12)).encode()).hexdigest()}


def test_feedback_leads_back_and_everything_else_forwards() -> None:
    graph = Graph().node("enter").node("body").node("again", summary={"advance": 1})
    graph.edge(None, "enter", id="in").edge("enter", "body", id="begin").edge("body", "again", id="next")
    graph.edge("again", "body", id="back").edge("body", None, id="out")
    found = layout(graph)
    assert {edge.name for edge in found.edges if edge.feedback} == {"back"}
    boxes = {node.name: node for node in found.nodes}
    assert boxes["enter"].x < boxes["body"].x < boxes["again"].x
    back = next(edge for edge in found.edges if edge.feedback)
    points = walked(back.path)
    again = boxes["again"]
    assert points[0][0] == again.x + again.width  # it leaves at the right and enters at the left, as all do
    assert points[-1][0] == boxes["body"].x
    assert any(x < u for (x, _), (u, _) in zip(points[1:], points, strict=False))


def test_an_edge_of_a_cycle_that_no_time_advances_on_leads_back_as_well() -> None:
    graph = Graph().node("a").node("b").edge("a", "b").edge("b", "a")
    assert [edge.feedback for edge in layout(graph).edges] == [False, True]


def test_nothing_at_all_is_a_picture_too() -> None:
    found = layout(Graph())
    assert not found.nodes
    assert not found.edges
    assert not faults(svg(found))


def test_plain_data_has_it_all() -> None:
    graph = Graph().node("a").edge(None, "a", id="in")
    data = layout(graph, {"in": ["3"]}, room=6).to_json()
    assert [node["name"] for node in data["nodes"]] == ["a"]
    assert data["nodes"][0]["room"] is not None
    assert [line[0] for line in data["edges"][0]["lines"]] == ["in", "3"]
    assert data["edges"][0]["source"] == -1
