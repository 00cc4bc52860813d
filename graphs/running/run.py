"""`pointstamp run`: runs the dataflow of a Python file, live, between files of JSON lines (docs/running.md).

Results leave when they are complete. With `--state` the run is kept (`KeptRun`): whoever starts the same command again
goes on from its last checkpoint, and what has left since is compared with what leaves again, or has waited for the next
one. So each value is in its file once, whenever the process was killed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from graphs.arguments import check_of_use
from graphs.running.files import (
    STANDARD,
    check_apart,
    check_outside,
    check_own,
    check_standard_output,
    check_whole,
    named,
    open_input,
    open_output,
    place_of,
    side_outputs,
)
from graphs.running.json_lines import JsonLines
from graphs.running.line_sink import LineFile, LineSink, recorder
from graphs.running.line_source import Lines, Position
from graphs.running.on_spark import check_options, load_on, on_spark
from graphs.running.order import Noted, Ordered, read_order
from graphs.running.own_files import own_files
from graphs.running.pipeline import told
from graphs.running.signals import Signals
from graphs.running.tables import say_already, say_held, say_one_at_a_time
from graphs.running.view import UI, check_view, serve
from graphs.terminal import FINE, bad_usage, complain
from progress.errors import PointstampError
from progress.garbage import short_cycle_searches
from progress.runtime import Dataflow
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable.delivery import BARRIER, DETERMINISTIC
from progress.runtime.durable.folder import damaged
from progress.runtime.durable.kept_run import KeptRun
from progress.runtime.durable.outlets import Going
from progress.runtime.engines.choosing import Chooser
from progress.runtime.engines.host import HERE
from progress.runtime.inputs.read_of import ReadOf, read_of
from progress.runtime.observer import Observer, Observers
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from progress.runtime.source import Feed
from progress.runtime.watching.display import Display

if TYPE_CHECKING:
    from graphs.running.lines_from_page import Given
    from graphs.running.stepping import Stepping
    from progress.runtime.on_spark.engine import OnSpark

WITH_WORKERS = ("threads", "spark")  # each source is read by a thread that may wait for it
OF_SIM = ("order", "save_order", "paused")  # options that choose what happens next
OF_STATE = {  # options that are of no use without --state
    "every": "how often --state is written",
    "delivery": "how outputs go with --state",
    "synced": "how --state is written",
    "pickle": "how --state is written",
}


def run(options: argparse.Namespace, observer: Observer | None = None) -> int:
    """Run a pipeline, and answer the exit code. `observer` is told of what happens."""
    _check(options)

    def act() -> int:
        with ExitStack() as opened:
            spark = on_spark(options, opened)
            return Command(options, load_on(spark, options.pipeline), opened, spark).run(observer)

    return told(options.pipeline, act)


def _check(options: argparse.Namespace) -> None:
    check_options(options)
    for option, engines in (("seed", ("sim",)), ("workers", WITH_WORKERS)):
        if getattr(options, option) is not None and options.engine not in engines:
            raise bad_usage(f"--{option} is of no use to the engine {options.engine}", f"--engine {engines[0]}")
    if options.engine != "sim":
        check_of_use(options, OF_SIM, f"to the engine {options.engine}", "--engine sim")
    if options.state is not None:
        check_of_use(options, OF_SIM, "with --state", "one of the two: an order begins with its run")
    if options.workers is not None and options.workers < 1:
        raise bad_usage(f"--workers {options.workers}: nobody would work", "1 or more")
    for option, says in OF_STATE.items():
        given = getattr(options, option)
        if given is not None and given is not False and options.state is None:
            raise bad_usage(f"--{option} says {says}", "--state DIR")
    if options.delivery == DETERMINISTIC and options.engine == "spark":
        raise bad_usage(f"--delivery {DETERMINISTIC}: Spark computes in an order of its own", f"--delivery {BARRIER}")
    if options.every is not None and not 0 <= options.every < float("inf"):
        raise bad_usage(f"--every {options.every}: no number of seconds", "0 or more")
    if options.timeout is not None and not 0 < options.timeout < float("inf"):
        raise bad_usage(f"--timeout {options.timeout:g}: the run would have no time", "a number of seconds above 0")


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
        self.edges = list(dataflow.network.outputs)
        self.side_outputs = [name for name in side_outputs(dataflow) if name not in self.edges]
        named_inputs = named(options.input, "input", dataflow.network.inputs)
        check_view(options, named_inputs)
        self.from_page = [name for name, file in named_inputs.items() if file == UI]
        self.inputs = _in_python(dataflow.sources) | named_inputs
        named_outputs = named(options.output, "output", [*self.edges, *self.side_outputs])
        self.outputs = _in_python(dataflow.sinks) | named_outputs
        self.files = {f"--output {name}": file for name, file in self.outputs.items()}
        for use, file in (("--trace", options.trace), ("--save-order", options.save_order)):
            if file is not None:
                self.files[use] = file
        order = {} if options.order is None else {"--order": options.order}
        check_apart({"PIPELINE.py": options.pipeline, **order, **self._named_inputs()}, self.files)
        check_own(options.pipeline, own_files(), self.files)
        if options.state is not None:
            check_outside(options.state, self.files)
        elsewhere = self.outputs.keys() | dataflow.sinks.keys()
        if STANDARD in self.files.values() or any(name not in elsewhere for name in self.edges):
            check_standard_output()
        self.written: dict[str, LineFile] = {}
        self.lines: dict[str, Lines] = {}
        self._feeds: Sequence[Feed] = ()
        self.sinks: dict[str, LineSink] = {}
        self.given: dict[str, Given] = {}
        self._opened = opened
        self._standard: LineFile | None = None
        self._check: Callable[[], None] = lambda: None  # raises when the run has to stop
        self._stepping: Stepping | None = None
        self._order = None if options.order is None else read_order(options.order, dataflow.network)
        self._kept: KeptRun | None = None

    def _named_inputs(self) -> dict[str, str]:
        """The files that are read."""
        files = self.inputs.items()
        return {f"--input {name}": file for name, file in files if name not in self.from_page}

    def run(self, observer: Observer | None) -> int:
        """Run to the end, or to a signal."""
        kept = self._kept = self._opened_state()
        if kept is not None and kept.is_finished:
            return FINE
        known = {} if kept is None else kept.known
        self._open_given()
        observer = self._watched(observer or (Display(reading=self._read) if self._has_terminal() else None))
        with Signals(self.options.timeout) as signals:
            control = Control(self.options.timeout, signals.came)
            try:
                for name in self.inputs:
                    self._open_input(name, known.get("inputs", {}).get(name), control)
                self._open_outputs(control)
                if kept is not None:
                    kept.outlets.update(self.written)
                    if STANDARD in known.get("outlets", ()):
                        self._standard_file()
                running = self._running(control, observer)
                self._feeds = running.feeds
                if kept is None:
                    for written in self.written.values():
                        written.begin(None, Going.ANEW)
                else:
                    self._choose_delivery(kept, running)
                say_held(running)
                say_one_at_a_time(running)
                with short_cycle_searches():
                    running.run(self.options.seed, self.options.workers or 4, self._chooser())
                say_already(running)
            except Cancelled:
                return 128 + signals.number
        return FINE

    def _opened_state(self) -> KeptRun | None:
        """The folder of `--state`, and what is known there; refused where it is of something else."""
        if self.options.state is None:
            return None
        options = self.options
        kept = KeptRun(options.state, self.dataflow, self._command(), self._spark or HERE, synced=options.synced)
        self._opened.callback(kept.close)
        if kept.known:
            self._check_files(kept)
            sources = {**self.dataflow.sources, **{name: JsonLines(file) for name, file in self.inputs.items()}}
            for name in self.from_page:
                del sources[name]
            kept.check_ended(sources, Control(options.timeout))
        return kept

    def _chooser(self) -> Callable[[Chooser], Chooser] | None:
        """Who chooses what happens next before the seed does, or turns do: an order, then the page; written down."""
        options, stepping, written = self.options, self._stepping, self.written.get("--save-order")
        if options.order is None and stepping is None and written is None:
            return None

        def chooser(usual: Chooser) -> Chooser:
            if stepping is not None:
                usual = stepping.instead_of(usual)
            if self._order is not None:
                usual = Ordered(str(options.order), self._order, usual)
            return usual if written is None else Noted(written, usual)

        return chooser

    def _watched(self, observer: Observer | None) -> Observer | None:
        """The observer, and the live view beside it, if there is to be one."""
        if self.options.paused:
            from graphs.running.stepping import Stepping

            self._stepping = Stepping()
        watch = serve(self.options, self.dataflow.network, self.given, self._stepping, self._opened)
        if watch is None:
            return observer
        return watch if observer is None else Observers(observer, watch)

    def _read(self) -> dict[str, ReadOf | None]:
        """How far each input is, where that is known."""
        return read_of((feed.edge, self.lines.get(feed.edge, feed.items)) for feed in self._feeds)

    def _has_terminal(self) -> bool:
        """Whether a line that changes may be shown: standard error is a terminal that no output writes to."""
        elsewhere = all(self.outputs.get(name, STANDARD) != STANDARD for name in self.edges)
        return sys.stderr.isatty() and (elsewhere or not sys.stdout.isatty())

    # --- what is opened ----------------------------------------------------------------------------------------------

    def _open_given(self) -> None:
        """What the page gives, where an input takes that."""
        if not self.from_page:
            return
        from graphs.running.lines_from_page import Given

        network = self.dataflow.network
        for name in self.from_page:
            self.given[name] = Given(name, network.domain(network.numbers[name]))
            self._opened.callback(self.given[name].close)

    def _open_input(self, name: str, position: Any, control: Control) -> Lines:
        network = self.dataflow.network
        handle = self.given[name].handle if name in self.given else open_input(self.inputs[name])
        self._opened.callback(os.close, handle)
        self.lines[name] = Lines(
            self.inputs[name],
            handle,
            name,
            network.domain(network.numbers[name]),
            waits=self.options.engine in WITH_WORKERS,
            check=control.check,
            keeps=self._kept is not None,
            start=None if position is None else Position(*position),
        )
        return self.lines[name]

    def _open_outputs(self, control: Control) -> None:
        self._check = control.check
        for use, file in self.files.items():
            self.written[use] = open_output(file, self._kept is not None, control.check)
            self._opened.callback(self.written[use].close)

    def _choose_delivery(self, kept: KeptRun, running: Running) -> None:
        """How what leaves goes with checkpoints; says so where it is not what somebody would expect."""
        chosen = self.options.delivery
        try:
            why = kept.choose(running, chosen, is_chosen_elsewhere=self._stepping is not None)
        except PointstampError as error:
            if error.code != "PS715":
                raise
            raise bad_usage(f"--{error.message}", f"--delivery {BARRIER}") from None
        if chosen is None and why is not None and self._spark is None:
            complain(f"pointstamp: what leaves waits for checkpoints (--delivery {BARRIER}): {why}")

    def _running(self, control: Control, observer: Observer | None) -> Running:
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
            RunOptions(
                options.engine,
                observer,
                None if trace is None else recorder(trace),
                control=control,
                otherwise=self._sink,
                keeping=None if self._kept is None else self._kept.keeping(_seconds(options), options.pickle),
                host=self._spark or HERE,
            ),
        )

    def _sink(self, name: str) -> LineSink:
        """Where an output goes: to its file, or to standard output."""
        file = self.written.get(f"--output {name}")
        return LineSink(name, self._standard_file(), says_edge=True) if file is None else LineSink(name, file)

    def _standard_file(self) -> LineFile:
        """Standard output."""
        if self._standard is None:
            self._standard = open_output(STANDARD, keeps=False, check=self._check)
            self._opened.callback(self._standard.close)
            if self._kept is not None:
                self._kept.add_outlet(STANDARD, self._standard)
        return self._standard

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _command(self) -> dict[str, Any]:
        """What has to be the same when a run is continued."""
        options = self.options
        return {
            "pipeline": place_of(options.pipeline),
            "--engine": options.engine,
            "--seed": options.seed,
            "--pickle": True if options.pickle else None,
            "inputs": sorted({*self.dataflow.sources, *self.inputs}),
            **{use: place_of(file) for use, file in self._named_inputs().items()},
            **{use: place_of(file) for use, file in self.files.items()},
        }

    def _check_files(self, kept: KeptRun) -> None:
        """Refuse files that do not hold what was written to them."""
        outlets = {use: known for use, known in kept.known["outlets"].items() if use in self.files}
        if outlets.keys() != self.files.keys() or kept.known["inputs"].keys() != self.inputs.keys():
            raise damaged(kept.folder.path, "checkpoint knows other files than those of its command")
        for use, known in outlets.items():
            check_whole(kept.folder.path, self.files[use], known["size"], known["mark"])


def _in_python(files: Mapping[str, Any]) -> dict[str, str]:
    """The files of JSON lines that the pipeline names itself: read, written and kept as those of the command are."""
    return {name: str(file.path) for name, file in files.items() if isinstance(file, JsonLines)}


def _seconds(options: argparse.Namespace) -> float:
    return 1.0 if options.every is None else float(options.every)
