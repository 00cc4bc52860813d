"""`pointstamp draw`: a graph, a closure, a proof or an order of times as a picture (docs/drawing.md)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from graphs.drawing.dot import dot
from graphs.drawing.folding import MOST, folded
from graphs.drawing.html import html
from graphs.drawing.layout import Layout, laid_out
from graphs.drawing.mermaid import mermaid
from graphs.drawing.orders import picture_of_order, word
from graphs.drawing.planning import plan_of
from graphs.drawing.svg import Marks, svg
from graphs.drawing.telling import domains, labels, summaries
from graphs.graph import Graph
from graphs.terminal import bad_usage, write
from progress.closure import close
from progress.could_result_in import CouldResultIn
from progress.errors import not_written
from progress.summary import NoMinimalTimes
from progress.topology import Network

FORMATS = ("svg", "html", "dot", "mmd")


class Wanted(NamedTuple):
    """What is to be in a picture besides the graph.

    `at`: pointstamps whose closure is drawn; `path`: a start and an end; `opened`: nodes that are shown, whatever they
    are folded into; `domains`: whether each node says which times it has.
    """

    at: Sequence[tuple[str, Any]] = ()
    path: tuple[tuple[str, Any], tuple[str, Any]] | None = None
    opened: Collection[str] = ()
    domains: bool = False


class Picture(NamedTuple):
    """A picture in one of the FORMATS. `holds`: whether the path that was asked for is there; True without one."""

    text: str
    holds: bool


def draw(graph: Graph, form: str, title: str, wanted: Wanted | None = None) -> Picture:
    """The picture of a graph. Cost: that of its layout, of the closure and of the proof that are wanted."""
    wanted = wanted or Wanted()
    texts = summaries(graph)
    if wanted.domains:
        _add(texts, domains(graph))
    if wanted.at:
        _add(texts, frontiers(graph, wanted.at))
    walk: list[tuple[str, str]] | None = []
    if wanted.path is not None:
        proof = CouldResultIn(graph).proof(*wanted.path)
        walk = None if proof is None else [(at, f"{n}. at {word(time)}") for n, (at, time) in enumerate(proof, 1)]
    text = drawn(graph.network(), form, title, texts, walk or (), wanted.opened, labels(graph))
    return Picture(text, walk is not None)


def drawn(
    network: Network,
    form: str,
    title: str,
    texts: dict[str, list[str]],
    walk: Sequence[tuple[str, str]] = (),
    opened: Iterable[str] = (),
    labels: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A picture with lines under names, and a walk, thick: where its steps are, and what is written there.

    `labels` are for titles and for the picture in words: they may be as long as they like.
    """
    for location, says in walk:
        texts.setdefault(location, []).extend([says] if says else [])
    way = [location for location, _ in walk]
    titles = dict(labels)
    for location, lines in texts.items():
        titles[location] = "; ".join([*filter(None, [labels.get(location)]), *lines])
    plan = folded(plan_of(network, texts), {*opened, *way})
    if form == "dot":
        return dot(plan, title, way)
    if form == "mmd":
        return mermaid(plan, way)
    if plan.boxes() > MOST:
        what = f"{plan.boxes():,} boxes are too many for a picture"
        raise bad_usage(what, f"open less, so that there are at most {MOST:,}; or draw to .dot")
    found = laid_out(plan)
    marks = Marks(titles, way)
    if form == "svg":
        return svg(found, title, marks=marks)
    return html(svg(found, title, marks=marks, styled=False), title, rows(found, titles))


def rows(found: Layout, titles: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """A picture in words: every node and every edge, and what is said of it."""
    words = [("part", frame.name, frame.title[0]) for frame in found.frames if frame.kind == "part"]
    for node in found.nodes:
        if node.stands_for:
            words.append((f"{len(node.stands_for):,} nodes", node.name, node.lines[0][0]))
        else:
            words.append(("node", node.name, titles.get(node.name, "")))
    for edge in found.edges:
        says = found.ends(edge)
        if edge.stands_for:
            words.append((f"{len(edge.stands_for):,} edges", edge.name, says))
        else:
            words.append(("edge", edge.name, "; ".join(filter(None, (says, titles.get(edge.name))))))
    return words


def draw_order(graph: Graph, location: str, at: Sequence[tuple[str, Any]], title: str) -> str:
    """The order of the times at a location as SVG; with pointstamps, what of it they can lead to."""
    frontier = close(graph, at).times(graph.network().number(location)) if at else None
    return picture_of_order(graph.domain_of(location), frontier, title)


def frontiers(graph: Graph, at: Sequence[tuple[str, Any]]) -> dict[str, list[str]]:
    """What may still arrive at each location of a closure, a line each; also where no times are the earliest."""
    closure = close(graph, at)
    network = graph.network()
    texts = {}
    for number, location in enumerate((*network.nodes, *network.edges)):
        try:
            times = closure.times(number)
        except NoMinimalTimes:
            texts[location] = ["≥ (none is earliest)"]
            continue
        if times:
            texts[location] = [f"≥ {', '.join(map(word, times))}"]
    return texts


def _add(texts: dict[str, list[str]], more: Mapping[str, Sequence[str]]) -> None:
    for location, lines in more.items():
        texts.setdefault(location, []).extend(lines)


def save(output: str, text: str) -> None:
    """Write a picture to a file, whole or not at all; - is standard output.

    What a link leads to is written, and the link stays. Devices and pipes take it as it comes: they are never replaced.
    """
    if output == "-":
        write(text)
        return
    place = Path(output)
    try:
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8", newline="\n")
        else:
            _save_whole(place.resolve() if place.is_symlink() else place, text)
    except OSError as error:
        raise not_written(output, error) from None


def _save_whole(place: Path, text: str) -> None:
    unfinished = Path(f"{place}.{os.getpid()}.unfinished")  # of this process: another one may draw into the same file
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
