"""`pointstamp replay FILE TRACE --ui PORT`: the page of a recorded session, until Ctrl-C (docs/replay.md)."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path

from graphs.arguments import InFile, check_of_use
from graphs.files.notation import shown
from graphs.files.standard_input import cannot_read
from graphs.graph import Graph
from graphs.live.film_view import FilmView
from graphs.live.guard import chosen_token
from graphs.live.site import serving
from graphs.running.signals import Signals
from graphs.sessions.film import Film
from graphs.sessions.replay import of_another_graph
from graphs.terminal import bad_usage, complain

FIRST = 1_000  # lines that are looked at before the page is served


def show_film(options: argparse.Namespace, graph: Graph) -> int:
    """Serve the page until a signal comes; the exit code."""
    check_of_use(options, ("why", "holding"), "with --ui", "the page shows it at every line")
    if options.format != "text":
        raise bad_usage(f"--format {options.format} is of no use with --ui", "one of the two")
    host, port = options.ui
    token = chosen_token(host, options.ui_token, is_given_to=False)
    film = opened(options.trace, graph)
    try:
        with serving(host, port):
            view = FilmView(film, Path(options.trace).name, options.at or 0, port, host, token.text)
    except BaseException:
        film.close()
        raise
    try:
        with Signals() as signals:
            complain(f"pointstamp: replay at {view.url}")
            signals.came.wait()
        return 128 + signals.number
    finally:
        view.close()


def opened(trace: str, graph: Graph) -> Film:
    """The film of a trace, whose beginning has been looked at. Refused is what cannot be read twice (PS001)."""
    try:
        is_file = trace != "-" and stat.S_ISREG(Path(trace).stat().st_mode)
        if not is_file:
            raise bad_usage(f"--ui goes back and forth in a trace, and {shown(trace)} is not a file", "a file")
        film = Film(graph, trace)
    except (OSError, ValueError) as error:
        raise cannot_read(trace, error) from None
    film.develop(FIRST)
    if film.is_of_another_graph():
        film.close()
        raise InFile(trace, of_another_graph())
    return film
