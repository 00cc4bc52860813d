"""Runs that stand still while a test looks at them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphs import Graph
from graphs.live import LiveView, Watch
from progress.runtime import Complete, Dataflow
from tests.commands.pipelines import PATIENCE
from tests.runtime.tools import Total


def totals() -> Graph:
    return Graph().node("total").edge(None, "total", "numbers").edge("total", None, "totals")


@contextmanager
def paused(engine: str) -> Iterator[tuple[LiveView, Callable[[], None]]]:
    """A run in the middle, 3 and 4 of epoch 0 and 5 of epoch 1 consumed, the input open; and how to end it."""
    watch = Watch("totals", totals().network(), engine)
    view = LiveView(watch, 0)
    stands, go_on = threading.Event(), threading.Event()

    def numbers() -> Iterator[Any]:
        yield from [(0, 3), (0, 4), (1, 5)]
        stands.set()
        assert go_on.wait(PATIENCE)
        yield Complete([2])
        yield 1, 9

    thread = threading.Thread(
        target=lambda: Dataflow(totals(), {"total": Total()}).run(
            engine=engine, sources={"numbers": numbers}, observer=watch
        )
    )
    thread.start()

    def end() -> None:
        go_on.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()

    try:
        assert stands.wait(PATIENCE)
        yield view, end
    finally:
        end()
        view.close()
