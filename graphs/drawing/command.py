"""What `pointstamp draw` was asked for, looked at, drawn and written (docs/drawing.md)."""

from __future__ import annotations

import argparse
from pathlib import Path

from graphs.arguments import check_of_use, pointstamp_in
from graphs.drawing.draw import FORMATS, Wanted, draw, draw_order, save
from graphs.graph import Graph
from graphs.terminal import FINDINGS, FINE, bad_usage, complain
from graphs.wording import shown_name
from progress.errors import one_of_the_graph


def draw_command(options: argparse.Namespace, graph: Graph) -> int:
    """Draw and write; the exit code: findings where a path that was asked for is not there."""
    form = _form(options.to, options.output)
    network = graph.network()
    for name in (*options.open, *([options.times] if options.times is not None else [])):
        if name not in network.numbers:
            option = "open" if name in options.open else "times"
            raise bad_usage(f"--{option}: there is no location {name!r}", one_of_the_graph(name, network.numbers))
    at = [pointstamp_in(graph, text) for text in options.at]
    title = graph.name or (Path(options.file).stem if options.file != "-" else "a dataflow graph")
    if options.times is not None:
        if form != "svg":
            raise bad_usage(f"--times: an order of times is drawn as svg, not as {form}", "-o times.svg")
        check_of_use(options, ("path", "open", "domains"), "with --times", "leave it out")
        save(options.output, draw_order(graph, options.times, at, f"{title}: times at {shown_name(options.times)}"))
        return FINE
    path = None
    if options.path is not None:
        path = (pointstamp_in(graph, options.path[0], "path"), pointstamp_in(graph, options.path[1], "path"))
    picture = draw(graph, form, title, Wanted(at, path, options.open, options.domains))
    save(options.output, picture.text)
    if not picture.holds:
        complain(f"pointstamp: {options.path[0]} could not result in {options.path[1]}: there is no path to draw")
        return FINDINGS
    return FINE


def _form(given: str | None, output: str) -> str:
    """Which of the FORMATS is meant: what is said, else what the name of the file ends with."""
    ending = Path(output).suffix.removeprefix(".").lower()
    if given is None and output == "-":
        return "svg"
    if output not in ("", "-") and Path(output).is_dir():
        like = Path(output) / f"graph.{given or 'svg'}"
        raise bad_usage(f"-o {output}: this is a folder", f"a file, like {like}")
    if given is None and ending not in FORMATS:
        raise bad_usage(
            f"-o {output}: the name does not say what to draw", "*.svg, *.html, *.dot or *.mmd; or --to svg"
        )
    if given is not None and ending in FORMATS and ending != given:
        raise bad_usage(
            f"-o {output}: the name says {ending}, and --to says {given}", "one of the two, or the same twice"
        )
    return given or ending
