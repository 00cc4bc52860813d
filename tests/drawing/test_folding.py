"""Many nodes in one box: long chains, components, layers, pieces; each opens where it is asked for, none is lost."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Iterator
from itertools import takewhile

import pytest

from graphs import Graph
from graphs.drawing.dot import dot
from graphs.drawing.draw import Wanted, draw
from graphs.drawing.folding import MOST, Part, folded, parts_of, shown_as
from graphs.drawing.folding.division import BANDS, FEW, LONG
from graphs.drawing.layout import laid_out
from graphs.drawing.mermaid import mermaid
from graphs.drawing.plan import Plan
from graphs.drawing.planning import plan_of
from graphs.drawing.svg import svg
from tests.drawing.geometry import faults

FEWER = 30  # boxes of a picture, for graphs that are small


def chain(length: int) -> Graph:
    graph = Graph()
    for number in range(length):
        graph.node(f"n{number}")
    for number in range(length - 1):
        graph.edge(f"n{number}", f"n{number + 1}")
    return graph


def rings() -> Graph:
    """Three hundred rings of ten nodes, one after the other."""
    graph = Graph()
    for ring in range(300):
        for number in range(10):
            graph.node(f"r{ring}.{number}")
        for number in range(10):
            graph.edge(f"r{ring}.{number}", f"r{ring}.{(number + 1) % 10}")
        if ring:
            graph.edge(f"r{ring - 1}.0", f"r{ring}.0")
            graph.edge(f"r{ring - 1}.1", f"r{ring}.2")
    return graph


def any_graph(seed: int) -> Graph:
    """Chains, rings, layers and single nodes, joined at random; loops with times of their own."""
    chance = random.Random(seed)
    graph = Graph()
    for part in range(chance.randrange(1, 8)):
        size = chance.choice([1, 2, 15, 60, 150])
        names = [f"p{part}.{number}" for number in range(size)]
        for name in names:
            graph.node(name, summary={"advance": 1} if chance.random() < 0.1 else None)
        way = chance.choice(["chain", "ring", "dense", "apart"])
        for number in range(size if way in ("chain", "ring") else size * 3 * (way == "dense")):
            one, other = number % size, (number + 1) % size
            if way == "dense":
                one, other = chance.randrange(size), chance.randrange(size)
            if one != other and (way != "chain" or other):
                graph.edge(names[one], names[other], id=f"e{part}.{number}")
    names = list(graph.nodes)
    for number in range(len(names) // 20):
        source, target = chance.choice(names), chance.choice(names)
        if source != target:
            graph.edge(source, target, id=f"j{number}")
    for number in range(3):
        graph.edge(None, chance.choice(names), id=f"in{number}").edge(chance.choice(names), None, id=f"out{number}")
    return graph


def open_at_random(plan: Plan, seed: int, steps: int) -> tuple[Part, ...]:
    """The parts of a plan after some boxes were opened, one after the other, and some closed again."""
    chance = random.Random(seed)
    opened: set[str] = set()
    for _ in range(steps):
        parts = parts_of(plan, _among(opened), FEWER)
        choices = [part for top in parts for part in top.all() if part.box.stands_for]
        if choices:
            opened ^= {chance.choice(choices).key}
    return parts_of(plan, _among(opened), FEWER)


def _among(keys: set[str]) -> Callable[[Part], bool]:
    return lambda part: part.key in keys


def pictures(plan: Plan) -> Iterator[Plan]:
    """A plan, and all that are in its boxes."""
    yield plan
    for node in plan.nodes:
        if node.inside is not None:
            yield from pictures(node.inside)


def every_box(part: Part) -> bool:
    return True


# --- what is folded --------------------------------------------------------------------------------------------------


def test_long_chains_fold_and_open() -> None:
    graph = chain(500)
    plan = folded(plan_of(graph.network(), {}), ())
    assert len(plan.nodes) == 3
    assert len(plan.nodes[1].stands_for) == 498
    assert len(folded(plan_of(graph.network(), {}), {"n250"}).nodes) == 500
    assert len(folded(plan_of(chain(LONG).network(), {}), ()).nodes) == LONG
    # what says something is not folded away
    assert any(node.name == "n250" for node in folded(plan_of(graph.network(), {"n250": ["≥ 3"]}), ()).nodes)


def test_above_two_thousand_nodes_components_are_boxes_that_open() -> None:
    plan = plan_of(rings().network(), {})
    assert len(plan.nodes) == 3_000 > MOST
    summary = folded(plan, ())
    assert len(summary.nodes) == summary.boxes() == 300
    assert sum(len(node.stands_for) for node in summary.nodes) == 3_000
    opened = folded(plan, {"r150.3"})
    assert len(opened.nodes) == 300
    assert opened.boxes() == 309
    (ring,) = (node for node in opened.nodes if node.inside is not None)
    assert ring.inside is not None
    assert {node.name for node in ring.inside.nodes} == {f"r150.{number}" for number in range(10)}
    stubs = {(edge.above, edge.source, edge.target) for edge in ring.inside.edges if -1 in (edge.source, edge.target)}
    assert stubs == {("from r149.0", -1, 0), ("from r149.1", -1, 2), ("to r151.0", 0, -1), ("to r151.2", 1, -1)}
    drawn = draw(rings(), "svg", "x", Wanted(opened=["r150.3"])).text
    assert not faults(drawn)
    assert "<title>part r150.0; r150.0 … r150.9, component of 10 nodes</title>" in drawn


def test_what_folds_nowhere_is_shown_by_its_layers() -> None:
    graph = Graph()
    for layer in range(60):
        for number in range(50):
            graph.node(f"{layer}.{number}")
            if layer:
                graph.edge(f"{layer - 1}.{number}", f"{layer}.{number}")
                graph.edge(f"{layer - 1}.{number}", f"{layer}.{(number + 1) % 50}")
    plan = folded(plan_of(graph.network(), {}), ())
    assert len(plan.nodes) <= BANDS[0]
    assert sum(len(node.stands_for) or 1 for node in plan.nodes) == 3_000
    assert not faults(draw(graph, "svg", "x").text)


def test_a_component_of_everything_is_shown_by_its_layers_and_opens_down_to_a_node() -> None:
    """One box for all would say nothing."""
    graph = Graph()
    for number in range(5_000):
        graph.node(f"n{number}")
    for number in range(5_000):
        graph.edge(f"n{number}", f"n{(number + 1) % 5_000}").edge(f"n{number}", f"n{(number + 7) % 5_000}")
    plan = plan_of(graph.network(), {})
    assert 1 < len(folded(plan, ()).nodes) <= BANDS[0]
    text = draw(graph, "svg", "x", Wanted(opened=["n2500"])).text
    assert "<title>node n2500</title>" in text
    assert not faults(text)


def test_what_nothing_joins_is_cut_in_pieces() -> None:
    graph = Graph()
    for number in range(5_000):
        graph.node(f"n{number}")
    plan = folded(plan_of(graph.network(), {}), {"n4321"})
    assert len(plan.nodes) == 1_667 <= MOST
    assert plan.boxes() == 1_669


# --- what opens ------------------------------------------------------------------------------------------------------


def test_whatever_is_open_each_node_is_in_one_box_and_no_picture_is_too_large() -> None:
    seen = set()
    for seed in range(40):
        network = any_graph(seed).network()
        plan = plan_of(network, {})
        parts = open_at_random(plan, seed, 12)
        found = shown_as(plan, parts)
        boxes = [box for picture in pictures(found) for box in picture.nodes if box.inside is None]
        names = [name for box in boxes for name in box.stands_for or (box.name,)]
        assert sorted(names) == sorted(network.nodes)
        assert all(len(picture.nodes) <= max(FEWER, FEW) for picture in pictures(found))
        assert found.boxes() == len(boxes)
        seen |= {box.kind for box in boxes}
        opened = [part for top in parts for part in top.all() if part.within]
        for part in opened:
            assert sorted(part.names) == sorted(name for inner in part.within for name in inner.names)
            assert all(inner.key.startswith(f"{part.key}.") for inner in part.within)
    assert seen == {"", "chain", "component", "layers", "piece"}


def test_every_part_opens_down_to_its_nodes() -> None:
    deepest = 0
    for seed in range(30):
        network = any_graph(seed).network()
        found = parts_of(plan_of(network, {}), every_box, FEWER)
        leaves = [part for top in found for part in top.all() if not part.within]
        assert sorted(part.box.name for part in leaves) == sorted(network.nodes)
        deepest = max(deepest, *(part.key.count(".") for part in leaves))
    assert 2 <= deepest <= 6


def test_what_is_open_elsewhere_changes_no_key() -> None:
    for seed in range(10):
        plan = plan_of(any_graph(seed).network(), {})
        whole = {part.key: part.names for top in parts_of(plan, every_box, FEWER) for part in top.all()}
        some = {part.key: part.names for top in open_at_random(plan, seed, 6) for part in top.all()}
        assert all(whole[key] == names for key, names in some.items())


def test_edges_are_drawn_where_their_ends_are_in_different_boxes() -> None:
    """Each edge is in the innermost picture that has both its ends, and a stub wherever it leads into a part or out."""
    for seed in range(20):
        network = any_graph(seed).network()
        plan = plan_of(network, {})
        found = shown_as(plan, open_at_random(plan, seed, 10))
        whole: dict[str, int] = {}
        stubs: dict[str, int] = {}
        for picture in pictures(found):
            for edge in picture.edges:
                into = stubs if -1 in (edge.source, edge.target) else whole
                for name in edge.stands_for or (edge.name,):
                    into[name] = into.get(name, 0) + 1
        place = {
            name: tuple(boxes) for name, boxes in _ways(found)
        }  # of a node: the boxes that it is in, the outermost first
        for name, source, target in zip(network.edges, network.sources, network.targets, strict=True):
            ways = [place[network.nodes[end]] for end in (source, target) if end >= 0]
            if len(ways) == 1:
                assert name not in whole
                assert stubs[name] == len(ways[0])
                continue
            common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*ways, strict=False))))
            apart = [len(way) - common - 1 for way in ways]
            if min(apart) < 0:  # both are in one box
                assert name not in whole
                assert name not in stubs
            else:
                assert whole[name] == 1
                assert stubs.get(name, 0) == sum(apart)


def _ways(plan: Plan, before: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    for number, node in enumerate(plan.nodes):
        if node.inside is not None:
            yield from _ways(node.inside, (*before, number))
        else:
            yield from ((name, (*before, number)) for name in node.stands_for or (node.name,))


def check(seed: int) -> None:
    graph = any_graph(seed)
    plan = plan_of(graph.network(), {}, random.Random(seed).choice([0, 8]))
    found = faults(svg(laid_out(shown_as(plan, open_at_random(plan, seed, 12)))))
    assert not found, f"seed {seed}: {found[:5]}"


def test_pictures_in_boxes_cover_nothing() -> None:
    for seed in range(15):
        check(seed)


@pytest.mark.soak
def test_pictures_in_boxes_cover_nothing_in_a_thousand_graphs() -> None:
    for seed in range(1_000, 2_000):
        check(seed)


# --- the other forms --------------------------------------------------------------------------------------------------


def test_graphviz_and_mermaid_show_what_is_open() -> None:
    for seed in range(6):
        plan = plan_of(any_graph(seed).network(), {})
        found = shown_as(plan, open_at_random(plan, seed, 12))
        boxes = found.boxes()
        text = dot(found, "x")
        plain = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True)
        assert not plain.stderr
        nodes = [line for line in plain.stdout.splitlines() if re.match(r"node n[0-9_]+ ", line)]
        assert len(nodes) == boxes
        lines = mermaid(found).splitlines()
        assert sum(bool(re.match(r" *n[0-9_]+\[", line)) for line in lines) == boxes
        depth = 0
        for line in lines[1:]:
            depth += line.lstrip().startswith("subgraph ")
            depth -= line.strip() == "end"
            assert depth >= 0
        assert depth == 0


def test_a_page_says_in_words_what_is_open() -> None:
    text = draw(rings(), "html", "x", Wanted(opened=["r150.3"])).text
    assert "<tr><td>part</td><td>r150.0</td><td>r150.0 … r150.9, component of 10 nodes</td></tr>" in text
    assert "<tr><td>node</td><td>r150.3</td><td></td></tr>" in text
    assert "<tr><td>10 nodes</td><td>r149.0</td><td>r149.0 … r149.9</td></tr>" in text
    assert "<tr><td>2 edges</td><td>r149.0-&gt;r150.0</td><td>from r149.0 to r150.0</td></tr>" in text
