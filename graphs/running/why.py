"""`pointstamp why`: what waits in a pipeline, in a recorded session or in a run that is shown live (docs/why.md)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from time import monotonic, sleep
from typing import Any, TextIO

from graphs.arguments import check_of_use, pointstamp_in, read_graph
from graphs.graph import Graph
from graphs.running.files import STANDARD, check_apart, named, open_input
from graphs.running.json_lines import JsonLines
from graphs.running.line_source import OFTEN, Lines
from graphs.running.pipeline import load_graph, load_pipeline, told
from graphs.sessions.trace import played
from graphs.sessions.waiting import render, waits_to_json, why_to_json
from graphs.terminal import FINE, UNUSABLE, bad_usage
from progress.runtime.actions.core import Core, WaitsForEver
from progress.runtime.control import Cancelled, Control
from progress.runtime.observer import Observer
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.tracker import Tracker

LOOK = 0.05  # seconds between looks at whether anything happens
STILL = 1.0  # seconds in which nothing happens before a run is said to stand still
USED_UP = 0.25  # the same where nothing more comes in
SECONDS = 30.0  # that a run has before it is looked at, whatever it does
PATIENCE = 2.0  # seconds that a run has to come to its end once it was looked at
WORKERS = 4


def why(options: argparse.Namespace) -> int:
    """Say what waits, and answer the exit code."""
    target: str = options.target
    if target.startswith(("http://", "https://")):
        return _live(options)
    if target.endswith(".py"):
        return _pipeline(options)
    return _trace(options)


def _only(options: argparse.Namespace, what: str, *known: str) -> None:
    """Refuse options that are of no use here."""
    others = [option for option in ("graph", "line", "input", "seconds", "end") if option not in known]
    check_of_use(options, others, f"with {what}", "pointstamp why --help says what is")


def _say(options: argparse.Namespace, stands: str, found: dict[str, Any], out: TextIO, of: str = "") -> None:
    found = {"format_version": 1, "of": of or options.target, "stands": stands, **found}
    out.write(f"{json.dumps(found, indent=2, default=str)}\n" if options.format == "json" else render(found))
    out.flush()


def _found(tracker: Tracker, request: tuple[str, Any] | None) -> dict[str, Any]:
    return waits_to_json(tracker.why()) if request is None else {"why": why_to_json(tracker, *request)}


def _request(options: argparse.Namespace, graph: Graph) -> tuple[str, Any] | None:
    if options.request is None:
        return None
    node, time = pointstamp_in(graph, options.request, None)
    network = graph.network()
    if network.numbers[node] >= len(network.nodes):
        raise bad_usage(f"{options.request}: {node!r} is an edge", "a node, where requests are")
    return node, time


# --- a live view, a trace ---------------------------------------------------------------------------------------------


def _live(options: argparse.Namespace) -> int:
    from graphs.live.asking import LiveRun  # http takes a while to import

    _only(options, "a live view")
    run = LiveRun(options.target)
    _say(
        options,
        "runs",
        run.waits() if options.request is None else {"why": run.why(options.request)},
        sys.stdout,
        run.url,
    )
    return FINE


def _trace(options: argparse.Namespace) -> int:
    _only(options, "a trace", "graph", "line")
    trace, file = options.target, options.graph
    if file is None:
        if trace != STANDARD and not os.path.exists(trace):  # noqa: PTH110  # `Path` raises for long names
            right = "a pipeline, *.py; a trace; or the address of a live view, which begins with http://"
            raise bad_usage(f"{trace}: there is no such file", right)
        if trace.endswith((".yaml", ".yml")):
            right = f"a pipeline, *.py; or pointstamp why TRACE --graph {trace}"
            raise bad_usage(f"{trace}: a graph file, and nothing runs in it that could wait", right)
        right = f"pointstamp why {trace} --graph FILE, a graph file or the pipeline"
        raise bad_usage(f"{trace}: a trace does not say what its graph is", right)
    if trace == file == STANDARD:
        raise bad_usage("why reads the graph or the trace from stdin, not both", "name one of the files")
    graph = load_graph(file) if file.endswith(".py") else read_graph(file)
    request = _request(options, graph)
    replay = played(trace, graph, options.line, "line")
    found = {"torn": replay.is_torn, **_found(replay.session.tracker, request)}
    _say(options, f"after line {replay.line}", found, sys.stdout)
    return FINE


# --- a pipeline -------------------------------------------------------------------------------------------------------


class _LeftOpen(Lines):
    """An input whose file has an end, and which stays open there: more might come."""

    is_used_up = False

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except StopIteration:
            self.is_used_up = True
            while not self._is_stopped:
                self._check()
                sleep(OFTEN)
            raise

    def _waited_for(self) -> Any:
        self._is_stopped = True  # an empty file says of no times that they come
        try:
            return super()._waited_for()
        finally:
            self._is_stopped = False


class _Nowhere:
    """A sink that takes everything and writes nothing: who asks why wants no results."""

    def write(self, time: Any, value: Any) -> None:
        """Take a value."""


class _Look(Observer):
    """Looks at a run once, when it stands still or its time is up, and ends it then."""

    of_one_run = True

    def __init__(self, seconds: float, inputs: Sequence[Lines], say: Callable[[Core, str], None]) -> None:
        self.cancel = threading.Event()
        self.has_said = False
        self.failure: BaseException | None = None
        self._seconds = seconds
        self._inputs = inputs
        self._say = say
        self._is_over = threading.Event()

    def started(self, core: Core) -> None:
        threading.Thread(target=self._watch, args=(core,), daemon=True, name="why").start()

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._is_over.set()
        if failure is None or isinstance(failure, WaitsForEver):
            self._look(core, "is over")

    def _watch(self, core: Core) -> None:
        begun = moved = monotonic()
        steps = -1
        while not self._is_over.wait(LOOK):
            now = monotonic()
            if core.steps != steps or not core.is_idle:
                steps, moved = core.steps, now
            used_up = bool(self._inputs) and all(getattr(each, "is_used_up", False) for each in self._inputs)
            if now - moved >= (USED_UP if used_up else STILL):
                self._stop(core, "has used up what came in" if used_up else "stands still")
                return
            if now - begun >= self._seconds:
                busy = [name for name, inbox in zip(core.network.nodes, core.inboxes, strict=True) if inbox.busy]
                calls = f", and is in a call of {', '.join(busy[:3])}" if busy else ""
                self._stop(core, f"was looked at after {self._seconds:g} s{calls}")
                return

    def _stop(self, core: Core, stands: str) -> None:
        """Look, and end the run; where a call does not come to its end, the process."""
        self._look(core, stands)
        self.cancel.set()
        if not self._is_over.wait(PATIENCE):
            os._exit(FINE if self.failure is None else UNUSABLE)

    def _look(self, core: Core, stands: str) -> None:
        if self.has_said:
            return
        self.has_said = True
        try:
            self._say(core, stands)
        except BaseException as error:
            self.failure = error


def _pipeline(options: argparse.Namespace) -> int:
    _only(options, "a pipeline", "input", "seconds", "end")
    if options.seconds is not None and not 0 < options.seconds < float("inf"):
        raise bad_usage(f"--seconds {options.seconds:g}: the run would have no time", "a number of seconds above 0")
    return told(options.target, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    out = sys.stdout
    with ExitStack() as opened:
        opened.enter_context(redirect_stdout(sys.stderr))  # what the pipeline prints is not part of the answer
        dataflow = load_pipeline(options.target)
        request = _request(options, dataflow.graph) if isinstance(dataflow.graph, Graph) else None
        inputs: list[Lines] = []
        seconds = SECONDS if options.seconds is None else options.seconds
        look = _Look(seconds, inputs, lambda core, stands: _say(options, stands, _found(core.tracker, request), out))
        control = Control(None, look.cancel)
        network = dataflow.network
        of_files = {edge: str(file.path) for edge, file in dataflow.sources.items() if isinstance(file, JsonLines)}
        of_files |= named(options.input, "input", network.inputs)
        check_apart({f"--input {edge}": file for edge, file in of_files.items()}, {})
        for edge, file in of_files.items():
            handle = open_input(file)
            opened.callback(os.close, handle)
            kind = Lines if options.end else _LeftOpen
            domain = network.domain(network.numbers[edge])
            inputs.append(kind(file, handle, edge, domain, waits=True, check=control.check))
        sources = {**dataflow.sources, **dict(zip(of_files, inputs, strict=True))}
        options_of_run = RunOptions("threads", look, control=control, otherwise=lambda name: _Nowhere())
        running = Running(dataflow, sources, {}, options_of_run)
        try:
            running.run(None, WORKERS)
        except (Cancelled, WaitsForEver):
            if not look.has_said:
                raise
    if look.failure is not None:
        raise look.failure
    return FINE
