"""`pointstamp check --draw DIR`: each finding as a picture of its witness, in a file of its own (docs/drawing.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.drawing.draw import drawn, save
from graphs.drawing.telling import labels, summaries
from graphs.graph import Graph
from progress.errors import not_written


def draw_findings(graph: Graph, report: FileReport, folder: str, named: set[str]) -> list[str]:
    """Draw every finding of a report into a folder, which is made; the names of the files.

    A file is named after the graph's, the code, and the number of the finding; `named` has the names that are taken.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from None
    stem = Path(report.file).stem or "graph"
    found = []
    for diagnostic in report.diagnostics:
        number = 1
        while (name := f"{stem}-{diagnostic.code}-{number}.svg") in named:
            number += 1
        named.add(name)
        path = Path(folder) / name
        save(str(path), picture_of(graph, diagnostic))
        found.append(str(path))
    return found


def picture_of(graph: Graph, diagnostic: Diagnostic) -> str:
    """The graph with the walk of a finding, or the places that it names, marked."""
    texts = summaries(graph)
    network, _ = graph.resolve()  # what does not fit together is a finding as well
    title = f"{diagnostic.code} {diagnostic.name}: {diagnostic.message}"
    walk = [(location, said) for location, said in walk_of(diagnostic.witness) if location in network.numbers]
    return drawn(network, "svg", title, texts, walk, labels=labels(graph))


def walk_of(witness: dict[str, Any]) -> Sequence[tuple[str, str]]:
    """The steps of a witness: where, and what is written there. A path ends where it began."""
    path = witness.get("path") or witness.get("round")
    if path:
        left_out = witness.get("left_out", 0)  # in the middle
        numbers = [place + 1 + left_out * (2 * place >= len(path)) for place in range(len(path) + 1)]
        steps = [f"{number}. at {_word(time)}" for number, (_, time) in zip(numbers, path, strict=False)]
        back = (path[0][0], f"{numbers[-1]}. back at {_word(path[-1][1])}")
        return [*((location, says) for (location, _), says in zip(path, steps, strict=True)), back]
    if "requests" in witness:
        node = witness["node"]
        return [(node, f"event at {_word(witness['time'])}"), (node, f"asks for {_word(witness['requests'])}")]
    named = [*witness.get("locations", ()), *([witness["location"]] if "location" in witness else [])]
    return [(location, "") for location in named]


def _word(time: Any) -> str:
    return json.dumps(time, ensure_ascii=False, default=str)
