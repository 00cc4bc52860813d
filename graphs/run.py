"""`pointstamp run`: runs the dataflow of a Python file, live, between files of JSON lines (docs/running.md).

Results leave when they are complete. With `--state` the run is kept: every second it rests, its outputs are put on the
disk, and a checkpoint is taken; whoever starts the same command again goes on from there, outputs being cut to where
they stood. So each value is in its file once, whenever the process was killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from graphs.command import FINDINGS, FINE, complain, printable
from graphs.line_sink import LineFile, LineSink, recorder
from graphs.line_source import Lines, Position
from graphs.pipeline import PipelineFailed, is_own, load_pipeline
from graphs.run_files import (
    STANDARD,
    bad_usage,
    check_apart,
    check_whole,
    input_edges,
    named,
    open_input,
    open_output,
    output_edges,
    place_of,
    side_outputs,
)
from graphs.run_on_spark import check_options, on_spark
from graphs.state import StateFolder, fingerprint
from progress.errors import PointstampError, brief
from progress.runtime import Dataflow
from progress.runtime.checkpoint import NotKept, State
from progress.runtime.control import Cancelled, Control
from progress.runtime.display import Display
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer, Observers
from progress.runtime.on_spark.kept_frames import KeptFrames, NotComputed
from progress.runtime.rest import Keeping
from progress.runtime.running import Running

if TYPE_CHECKING:
    from progress.runtime.on_spark.engine import OnSpark

WITH_WORKERS = ("threads", "spark")  # each source is read by a thread that may wait for it
OWN_FAULTS = ("PS732", "PS733", "PS735", "PS739")  # of the pipeline, where others are of the command and its files


def run(options: argparse.Namespace, observer: Observer | None = None) -> int:
    """Run a pipeline, and answer the exit code. `observer` is told of what happens."""
    _check(options)
    try:
        with ExitStack() as opened:
            spark = on_spark(options, opened)
            return Command(options, load_pipeline(options.pipeline), opened, spark).run(observer)
    except NodeFailed as failure:
        value = "" if failure.value is None else f"; the message: {brief(failure.value)}"
        return _failed(PipelineFailed("", failure.error).trace, f"{failure}{value}")
    except PipelineFailed as failure:
        return _failed(failure.trace, str(failure))
    except PointstampError as error:
        if error.code not in OWN_FAULTS:
            raise
        return _failed("", str(error))
    except Exception as error:
        if not is_own(error):
            raise
        found = PipelineFailed(f"{options.pipeline} failed", error)
        return _failed(found.trace, str(found))


def _failed(trace: str, line: str) -> int:
    sys.stderr.write("".join(f"{printable(each)}\n" for each in trace.splitlines()))
    complain(f"pointstamp: {line}")
    return FINDINGS


def _check(options: argparse.Namespace) -> None:
    check_options(options)
    for option, engines in (("seed", ("sim",)), ("workers", WITH_WORKERS)):
        if getattr(options, option) is not None and options.engine not in engines:
            raise bad_usage(f"--{option} is of no use to the engine {options.engine}", f"--engine {engines[0]}")
    if options.workers is not None and options.workers < 1:
        raise bad_usage(f"--workers {options.workers}: nobody would work", "1 or more")
    if options.every is not None and options.state is None:
        raise bad_usage("--every says how often --state is written", "--state DIR")
    if options.every is not None and not 0 <= options.every < float("inf"):
        raise bad_usage(f"--every {options.every}: no number of seconds", "0 or more")


class Signals:
    """While it is open, SIGINT and SIGTERM stop the run gracefully; the second one ends the process."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.number = 0

    def __enter__(self) -> Signals:
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            os._exit(128 + number)
        self.number = number
        self.came.set()


class Command:
    """One command: the pipeline, its files, and what is kept of them.

    Parameters
    ----------
    options : of the command line
    dataflow : the pipeline
    opened : closes what is opened here
    spark : for the engine of that name
    """

    def __init__(
        self, options: argparse.Namespace, dataflow: Dataflow, opened: ExitStack, spark: OnSpark | None = None
    ) -> None:
        self._spark = spark
        self.options = options
        self.dataflow = dataflow
        self.edges = output_edges(dataflow)
        self.side_outputs = [name for name in side_outputs(dataflow) if name not in self.edges]
        self.inputs = named(options.input, "input", input_edges(dataflow))
        self.outputs = named(options.output, "output", [*self.edges, *self.side_outputs])
        self.files = {f"--output {name}": file for name, file in self.outputs.items()}
        if options.trace is not None:
            self.files["--trace"] = options.trace
        check_apart({"PIPELINE.py": options.pipeline, **self._named_inputs()}, self.files)
        self.written: dict[str, LineFile] = {}
        self.lines: dict[str, Lines] = {}
        self.sinks: dict[str, LineSink] = {}
        self._opened = opened
        self._standard: LineFile | None = None
        self._closed: set[str] = set()  # edges of which the run that this one continues said that they are complete
        self._folder: StateFolder | None = None
        self._frames: KeptFrames | None = None
        self._fingerprint = ""

    def _named_inputs(self) -> dict[str, str]:
        return {f"--input {name}": file for name, file in self.inputs.items()}

    def run(self, observer: Observer | None) -> int:
        """Run to the end, or to a signal."""
        known: dict[str, Any] = {}
        begun: State | None = None
        if self.options.state is not None:
            self._folder = StateFolder(self.options.state)
            self._opened.callback(self._folder.close)
            self._frames = KeptFrames(self._folder.path)
            self._fingerprint = fingerprint(self.dataflow)
            known, begun = self._folder.load() or ({}, None)
            if begun is not None:
                self._check_state(self._folder, known)
                if known["is_finished"]:
                    return FINE
        observer = self._watched(observer or (Display() if self._has_terminal() else None))
        with Signals() as signals:
            control = Control(cancel=signals.came)
            self._open_inputs(known.get("inputs", {}), control)
            self._open_outputs(known.get("files", {}))
            self._closed = set(known.get("closed", ()))
            running: Running | None = None
            try:
                running = self._running(begun, control, observer)
                running.run(self.options.seed, self.options.workers or 4)
            except Cancelled:
                if running is not None and running.core.rests:
                    self._keep_stopped(running)
                return 128 + signals.number
        waiting = running.core.tracker.pending()
        if not waiting:
            for name in self.edges:
                if name in self.sinks:
                    self.sinks[name].finish()
        if self._folder is not None:
            self._keep(running.capture(), is_finished=not waiting)
        if waiting:
            node, time = waiting[0]
            raise PointstampError(
                "PS739",
                f"the run is over, and {len(waiting)} requests wait for ever: first {brief(node)} at {brief(time)}",
                "`pointstamp check` finds the cycle that does not advance",
            )
        return FINE

    def _watched(self, observer: Observer | None) -> Observer | None:
        """The observer, and the live view beside it, if there is to be one."""
        port = self.options.ui
        if port is None:
            return observer
        from graphs.live import LiveView, Watch

        watch = Watch(Path(self.options.pipeline).name, self.dataflow.network, self.options.engine)
        try:
            view = LiveView(watch, port)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise bad_usage(f"--ui {port}: {reason}", "another port; 0 takes any that is free") from None
        self._opened.callback(view.close)
        complain(f"pointstamp: live view at {view.url}")
        return watch if observer is None else Observers(observer, watch)

    def _has_terminal(self) -> bool:
        """Whether a line that changes may be shown: standard error is a terminal that no output writes to."""
        elsewhere = all(self.outputs.get(name, STANDARD) != STANDARD for name in self.edges)
        return sys.stderr.isatty() and (elsewhere or not sys.stdout.isatty())

    # --- what is opened ----------------------------------------------------------------------------------------------

    def _open_inputs(self, positions: dict[str, Any], control: Control) -> None:
        network = self.dataflow.network
        for name, file in self.inputs.items():
            handle = open_input(file)
            self._opened.callback(os.close, handle)
            self.lines[name] = Lines(
                file,
                handle,
                name,
                network.domain(network.numbers[name]),
                waits=self.options.engine in WITH_WORKERS,
                check=control.check,
                keeps=self._folder is not None,
                start=Position(*positions[name]) if name in positions else None,
            )

    def _open_outputs(self, sizes: dict[str, Any]) -> None:
        for use, file in self.files.items():
            self.written[use] = open_output(file, self._folder is not None)
            self._opened.callback(self.written[use].close)
        for use, written in self.written.items():
            written.cut(sizes.get(use, (0, ""))[0])

    def _running(self, begun: State | None, control: Control, observer: Observer | None) -> Running:
        dataflow, options = self.dataflow, self.options
        for name in self.edges:
            if name in self.outputs or name not in dataflow.sinks:
                self.sinks[name] = self._sink(name)
        for name in self.outputs:
            self.sinks.setdefault(name, self._sink(name))
        trace = self.written.get("--trace")
        return Running(
            dataflow,
            {**dataflow.sources, **self.lines},
            {**dataflow.sinks, **self.sinks},
            options.engine,
            observer,
            None if trace is None else recorder(trace),
            control=control,
            otherwise=self._sink,
            keeping=None if self._folder is None else Keeping(self._keep, _seconds(options), begun, self._frames),
            on_spark=self._spark,
        )

    def _sink(self, name: str) -> LineSink:
        """Where an output goes: to its file, or to standard output."""
        file = self.written.get(f"--output {name}")
        is_closed = name in self._closed
        if file is not None:
            return LineSink(name, file, is_closed=is_closed)
        if self._standard is None:
            self._standard = open_output(STANDARD, keeps=False)
            self._opened.callback(self._standard.close)
        return LineSink(name, self._standard, says_edge=True, is_closed=is_closed)

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _keep(self, state: State, is_finished: bool = False) -> None:
        """Take a checkpoint: what has left is on the disk before it."""
        if self._folder is None:
            return
        for written in self.written.values():
            written.settle()
        known = {
            "graph": self._fingerprint,
            "command": self._command(),
            "inputs": {name: lines.position for name, lines in self.lines.items()},
            "files": {use: (written.size, written.mark(written.size)) for use, written in self.written.items()},
            "closed": [name for name, sink in self.sinks.items() if sink.is_closed],
            "is_finished": is_finished,
        }
        self._folder.save(known, state)
        if self._frames is not None:
            self._frames.settle()

    def _keep_stopped(self, running: Running) -> None:
        """A last checkpoint of a run that was stopped; where it would need a job of Spark, the one before stays."""
        if self._folder is None or self._frames is None:
            return
        self._frames.stop()
        try:
            self._keep(running.capture())
        except NotKept as error:
            if not isinstance(error.__cause__, NotComputed):
                raise

    def _command(self) -> dict[str, Any]:
        """What has to be the same when a run is continued."""
        options = self.options
        return {
            "pipeline": place_of(options.pipeline),
            "--engine": options.engine,
            "--seed": options.seed,
            "inputs": sorted({*self.dataflow.sources, *self.inputs}),
            **{use: place_of(file) for use, file in self._named_inputs().items()},
            **{use: place_of(file) for use, file in self.files.items()},
        }

    def _check_state(self, folder: StateFolder, known: dict[str, Any]) -> None:
        """Refuse a state of another command, and files that do not hold what was written to them."""
        before, now = known["command"], self._command()
        for part in dict.fromkeys((*before, *now)):
            if before.get(part) != now.get(part):
                pair = (before.get(part), now.get(part))
                words = ["not there" if value is None else brief(value) for value in pair]
                what = f"the state in {folder.path} is of another command: {part} was {words[0]} and is {words[1]}"
                raise PointstampError("PS737", what, "the same command, or another DIR")
        if known["graph"] != self._fingerprint:
            what = f"the state in {folder.path} is of another graph than that of {self.options.pipeline}"
            raise PointstampError("PS737", what, "the same graph and nodes, or another DIR")
        for use, (size, mark) in known["files"].items():
            check_whole(Path(folder.path), self.files[use], size, mark)


def _seconds(options: argparse.Namespace) -> float:
    return 1.0 if options.every is None else float(options.every)
