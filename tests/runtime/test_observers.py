"""Observers of a run: logs, the line on a terminal, OpenTelemetry."""

from __future__ import annotations

import io
import itertools
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphs import Graph
from graphs.at_scale.rounds import Round
from graphs.at_scale.rounds_shown import Rounds, rounds_shown
from progress.runtime import SILENT, Complete, Dataflow, DeadLetter, Node, Out
from progress.runtime.actions.core import Core
from progress.runtime.inputs.read_of import BYTES, FILES, TIMES, ReadOf, said, share
from progress.runtime.observer import Observer
from progress.runtime.telemetry import Telemetry
from progress.runtime.watching.display import PAUSE, SHARE, Display
from progress.runtime.watching.logs import Logs


class Counting(Node):
    """Counts, and fails at 13."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        if value == 13:
            raise ValueError("thirteen")
        self.counts[time] = self.counts.get(time, 0) + 1
        out.request(time)

    def on_notify(self, time: int, out: Out) -> None:
        out.send("counts", time, self.counts.pop(time))


def dataflow() -> Dataflow:
    graph = Graph().node("count").edge(None, "count", "numbers").edge("count", None, "counts")
    items = [(0, 1), (0, 13), (0, 2), Complete((1,)), (0, 3), (1, 4)]
    return Dataflow(graph, {"count": Counting()}, sources={"numbers": items}, on_error=DeadLetter())


class Everything(Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def started(self, core: Core) -> None:
        self.told.append("started")

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        self.told.append((node, edge, time, count))

    def left(self, edge: str, time: Any, count: int) -> None:
        self.told.append(("left", edge, time, count))

    def failed(self, failure: Any) -> None:
        self.told.append(("failed", failure.time, failure.value))

    def brought(self, edge: str, count: int, late: int) -> None:
        self.told.append((edge, count, late))

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self.told.append(("ended", failure))


def test_an_observer_is_told_of_everything_in_order() -> None:
    observer = Everything()
    results = dataflow().run(observer=observer)
    assert sorted(results["counts"]) == [(0, 2), (1, 1)]
    assert results["late"] == [(0, 3)]
    assert [failure.value for _, failure in results["dead-letters"]] == [13]
    assert observer.told[0] == "started"
    assert observer.told[-1] == ("ended", None)
    assert ("failed", 0, 13) in observer.told
    assert ("count", None, 0, 1) in observer.told
    assert [entry for entry in observer.told if entry[0] == "left"] == [
        ("left", "counts", 0, 1),
        ("left", "counts", 1, 1),
    ]
    assert sum(entry[1] for entry in observer.told if entry[0] == "numbers") == 4
    assert sum(entry[2] for entry in observer.told if entry[0] == "numbers") == 1
    assert sum(entry[3] for entry in observer.told if entry[:2] == ("count", "numbers")) == 4


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_every_engine_tells_of_the_same_amounts(engine: str) -> None:
    observer = Everything()
    dataflow().run(engine=engine, observer=observer)
    consumed = sum(entry[3] for entry in observer.told if entry[:2] == ("count", "numbers"))
    notified = [entry for entry in observer.told if entry[:2] == ("count", None)]
    assert (consumed, len(notified)) == (4, 2)


def test_an_observer_learns_why_a_run_stopped() -> None:
    observer = Everything()
    flow = dataflow()
    flow.on_error.clear()
    with pytest.raises(Exception, match="thirteen") as raised:
        flow.run(observer=observer)
    assert observer.told[-1] == ("ended", raised.value)


def test_logs_say_what_is_worth_a_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "pointstamp"):
        dataflow().run(observer=Logs())
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert lines[0] == ("INFO", "run of 1 nodes and 2 edges begins")
    assert any(level == "WARNING" and "thirteen" in line for level, line in lines)
    assert ("WARNING", "1 messages were late at numbers") in lines
    assert lines[-1][1].startswith("run ended after ")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    dataflow().run(observer=Display(stream))
    assert stream.getvalue() == ""


class Timer:
    """Stands for the time between two pictures: it is over when a test says so."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self._due, self._waits = threading.Semaphore(0), threading.Semaphore(0)
        self._is_over = False

    def __call__(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        self._waits.release()
        self._due.acquire()
        return self._is_over

    def tick(self) -> None:
        """Have the next picture made, and wait until it is."""
        self._waits.acquire()
        self._due.release()
        self._waits.acquire()
        self._waits.release()

    def end(self) -> None:
        self._is_over = True
        self._due.release()


class Watched(Display):
    """Keeps what it shows."""

    def __init__(
        self,
        stream: io.StringIO,
        timer: Timer,
        clock: Callable[[], float],
        reading: Callable[[], Mapping[str, ReadOf | None]] | None = None,
    ) -> None:
        super().__init__(stream, clock, timer, reading)
        self.lines: list[str] = []
        self._timer = timer

    def line(self) -> str:
        self.lines.append(super().line())
        return self.lines[-1]

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._timer.tick()
        self._timer.end()
        super().ended(core, failure)


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_terminal_shows_messages_rate_frontiers_and_what_is_blocked(engine: str) -> None:
    stream, timer, now = Terminal(), Timer(), itertools.count()
    display = Watched(stream, timer, lambda: next(now))
    dataflow().run(engine=engine, observer=display)
    assert "messages" in stream.getvalue()
    assert display.lines[0] == "0 messages, 0/s; 0 notifications; 0 waiting; counts at 0"
    assert display.lines[-1].startswith("4 messages, ")
    assert "1 failed" in display.lines[-1]
    assert "1 late" in display.lines[-1]
    assert display.lines[-1].endswith("; counts complete")
    assert "display" not in {thread.name for thread in threading.enumerate()}


def test_a_terminal_shows_what_is_blocked_while_nothing_happens() -> None:
    timer = Timer()
    display = Watched(Terminal(), timer, itertools.count().__next__)

    def silent() -> Iterator[Any]:
        yield 0, 1
        yield SILENT  # the message has been consumed when the source is asked again
        timer.tick()
        assert "1 messages" in display.lines[-1]
        says = "1 blocked: count at 0 has waited 0.0 s for the input numbers, open at 0: moving it past 0 or closing it"
        assert f"{says} lets go; counts at 0" in re.sub(r"waited \d+\.\d s", "waited 0.0 s", display.lines[-1])

    dataflow().run(sources={"numbers": silent}, observer=display)
    assert len(display.lines) == 3  # at the beginning, in the silence, at the end


def test_names_of_strangers_are_text_and_nothing_else_on_the_line() -> None:
    evil = "\x1b[2J\x07[red]x[/nope]\u202e"
    graph = Graph().node(evil).edge(None, evil, f"{evil} in").edge(evil, None, evil + "out")
    stream, timer = Terminal(), Timer()
    display = Watched(stream, timer, itertools.count().__next__)

    def numbers() -> Iterator[Any]:
        yield 0, 1
        yield SILENT
        timer.tick()
        assert "1 blocked" in display.lines[-1]

    Dataflow(graph, {evil: Counted}, sources={f"{evil} in": numbers}).run(observer=display)
    assert all(line.isprintable() for line in display.lines)
    shown = stream.getvalue()
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    assert "[red]x[/nope]" in shown.replace("\n", "")


class Counted(Node):
    """Asks for every time."""

    def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
        out.request(time)


def test_there_is_a_bar_where_it_is_known_how_much_there_is_to_read() -> None:
    stream, timer = Terminal(), Timer()
    display = Watched(stream, timer, itertools.count().__next__, lambda: {"numbers": ReadOf(3, 4, BYTES, is_all=True)})
    dataflow().run(observer=display)
    assert display.lines[-1].startswith("75% read; 4 messages")
    assert "\u2501" * 20 in stream.getvalue()


FILE, MORE = ReadOf(3, 4, BYTES, is_all=True), ReadOf(1, 16, BYTES, is_all=True)
FOLDER, WATCHED = ReadOf(1, 2, FILES, is_all=True), ReadOf(2, 4, FILES, is_all=False)


@pytest.mark.parametrize(
    ("reading", "says", "bar"),
    [
        ([], [], None),
        ([None], [], None),
        ([FILE], ["75% read"], 0.75),
        ([FILE, MORE], ["20% read"], 0.2),
        ([ReadOf(0, 0, BYTES, is_all=True)], ["100% read"], 1.0),
        ([ReadOf(5, 4, BYTES, is_all=True)], ["100% read"], 1.0),  # it has shrunk
        ([FILE, None], [], None),  # nobody knows how much there is
        ([FOLDER], ["1 of 2 files done"], 0.5),
        ([ReadOf(0, 1, FILES, is_all=True)], ["0 of 1 file done"], 0.0),
        ([FOLDER, WATCHED], ["3 of 6 files done so far"], None),  # more will come
        ([WATCHED, None], ["2 of 4 files done so far"], None),
        ([ReadOf(1_500, 2_000, TIMES, is_all=True)], ["1,500 of 2,000 times done"], 0.75),
        ([FOLDER, FILE], ["1 of 2 files done"], None),  # files and bytes have no sum
        ([FOLDER, ReadOf(3, 9, TIMES, is_all=True)], ["1 of 2 files done", "3 of 9 times done"], None),
    ],
)
def test_a_bar_is_there_where_all_is_known_and_nowhere_else(
    reading: list[ReadOf | None], says: list[str], bar: float | None
) -> None:
    assert said(reading) == says
    assert share(reading) == bar
    stream = Terminal()
    display = Watched(stream, Timer(), itertools.count().__next__, lambda: dict(zip("abc", reading, strict=False)))
    dataflow().run(observer=display)
    assert display.lines[0].startswith("; ".join([*says, "0 messages"]))
    assert ("\u2501" in stream.getvalue()) == (bar is not None)


def test_a_terminal_shows_the_rounds_of_loops() -> None:
    graph = Graph().node("body").node("again", summary={"advance": 1}).node("after")
    graph.edge(None, "body", "in").edge("body", "again", "next").edge("again", "body", "back")
    graph.edge("body", "after", "on").edge("after", None, "out")

    class Body(Node):
        def on_message(self, edge: str, time: int, value: int, out: Out) -> None:
            if edge == "back":
                display.tick()
            if time < 3:
                out.send("next", time, value)
            else:
                out.send("on", time, value)

    class Ticking(Watched):
        def tick(self) -> None:
            self.lines.append(Display.line(self))

    display = Ticking(Terminal(), Timer(), itertools.count().__next__)
    Dataflow(graph, {"body": Body}, sources={"in": [(0, 1)]}).run(engine="sim", observer=display)
    rounds = [re.findall("back in round ([0-9]+)", line) for line in display.lines]
    assert [found for found in rounds if found] == [["1"], ["2"], ["3"]]  # of what was consumed before this message
    assert not any(f"; {edge} in round" in line for edge in ("in", "next", "on") for line in display.lines)


def test_a_look_that_takes_long_is_not_taken_often() -> None:
    timer, now = Timer(), iter([0.0, 0.0, 0.0, 5.0])
    display = Watched(Terminal(), timer, lambda: next(now, 5.0))
    dataflow().run(observer=display)
    assert timer.pauses[0] == PAUSE
    assert timer.pauses[1] >= 5 * SHARE


def test_metrics_and_a_span_of_opentelemetry() -> None:
    reader, exporter = InMemoryMetricReader(), InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meter = MeterProvider([reader]).get_meter("test")
    dataflow().run(observer=Telemetry(meter, tracers.get_tracer("test")))
    data = reader.get_metrics_data()
    assert data is not None
    found: dict[str, Any] = {
        metric.name: sum(point.value for point in metric.data.data_points)  # type: ignore[union-attr, misc]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert found["pointstamp.messages"] == 4
    assert found["pointstamp.notifications"] == 2
    assert found["pointstamp.failures"] == 1
    assert found["pointstamp.brought"] == 4
    assert found["pointstamp.late"] == 1
    (span,) = exporter.get_finished_spans()
    assert span.name == "pointstamp.run"
    assert span.events[0].name == "exception"


def test_a_terminal_shows_the_rounds_of_spark_and_how_much_is_settled() -> None:
    lines: list[tuple[str, float]] = []
    rounds = Rounds(1_000, lambda found: lines.append((found.line(), round(found.share(), 2))))
    assert (rounds.line(), rounds.share()) == ("the first round", 0)
    for each in (
        Round("trim", 1, 50, 50),
        Round("close", 1, 10, 10),
        Round("close", 2, 40, 1_234),
        Round("close", 3, 10, 30),
        Round("close", 4, 0, 0),
    ):
        rounds.told(each)
    assert lines == [
        ("trim, round 1 of at most 1,000: 50 active, 50 new", 0),
        ("close, round 1 of at most 1,000: 10 active, 10 new", 0),
        ("close, round 2 of at most 1,000: 40 active, 1,234 new", 0),
        ("close, round 3 of at most 1,000: 10 active, 30 new", 0.75),
        ("close, round 4 of at most 1,000: 0 active, 0 new", 1),
    ]
    stream = Terminal()
    with rounds_shown(1_000, stream) as told:
        assert told is not None
        told(Round("close", 7, 3, 4))
    assert "close, round 7 of at most 1,000: 3 active, 4 new" in stream.getvalue()
    with rounds_shown(1_000, io.StringIO()) as told:
        assert told is None
