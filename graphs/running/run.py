"""`pointstamp run`: runs the dataflow of a Python file, live, between files of JSON lines (docs/running.md).

Results leave when they are complete. With `--state` the run is kept: every second it rests, its outputs are put on the
disk, and a checkpoint is taken; whoever starts the same command again goes on from there, outputs being cut to where
they stood. So each value is in its file once, whenever the process was killed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from graphs.running.order_log import OrderLog, remove_others
from graphs.running.own_files import own_files
from graphs.running.pipeline import PipelineFailed, is_own
from graphs.running.signals import Signals
from graphs.running.state import StateFolder, boot, damaged, fingerprint
from graphs.running.tables import say_already, say_held, say_one_at_a_time
from graphs.running.view import UI, check_view, serve
from graphs.terminal import FINDINGS, FINE, bad_usage, complain
from graphs.wording import printable
from progress.errors import PointstampError, brief
from progress.runtime import Dataflow
from progress.runtime.checkpoint import State
from progress.runtime.choosing import Chooser
from progress.runtime.control import Cancelled, Control, TimedOut
from progress.runtime.core import WaitsForEver
from progress.runtime.display import Display
from progress.runtime.durable.codec import NotKept
from progress.runtime.durable.delivery import AT_LEAST_ONCE, BARRIER, DETERMINISTIC, has_one_order, why_not
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer, Observers
from progress.runtime.on_spark.kept_frames import KeptFrames, NotComputed
from progress.runtime.options import RunOptions
from progress.runtime.rests import Keeping
from progress.runtime.running import Running
from progress.runtime.sink import IN as IN_A_SINK
from progress.runtime.source import Feed
from progress.runtime.source_failure import SourceFailed

if TYPE_CHECKING:
    from graphs.running.lines_from_page import Given
    from graphs.running.stepping import Stepping
    from progress.runtime.on_spark.engine import OnSpark

OTHERWISE = "what leaves is something else than what has left"
WITH_WORKERS = ("threads", "spark")  # each source is read by a thread that may wait for it
OWN_FAULTS = ("PS713", "PS732", "PS733", "PS735", "PS739", "PS748", "PS762")  # of the run; others are of the command


def run(options: argparse.Namespace, observer: Observer | None = None) -> int:
    """Run a pipeline, and answer the exit code. `observer` is told of what happens."""
    _check(options)

    def act() -> int:
        with ExitStack() as opened:
            spark = on_spark(options, opened)
            return Command(options, load_on(spark, options.pipeline), opened, spark).run(observer)

    return told(options.pipeline, act)


def told(pipeline: str, act: Callable[[], int]) -> int:
    """The exit code of what is done with a pipeline; where its own code fails, its traceback and one line."""
    try:
        return act()
    except NodeFailed as failure:
        value = "" if failure.value is None else f"; the message: {brief(failure.value)}"
        return _failed(PipelineFailed("", failure.error).trace, f"{failure}{value}")
    except SourceFailed as failure:
        if isinstance(failure.error, PointstampError):  # what came in is at fault, not the pipeline
            raise
        return _failed(PipelineFailed("", failure.error).trace, str(failure))
    except PipelineFailed as failure:
        return _failed(failure.trace, str(failure))
    except PointstampError as error:
        if error.code not in OWN_FAULTS:
            raise
        return _failed("", str(error))
    except (Exception, SystemExit) as error:  # a node that exits has not done what the command is for
        if not is_own(error):
            raise
        where = "".join(f" {note}" for note in getattr(error, "__notes__", ()) if note.startswith(IN_A_SINK))
        found = PipelineFailed(f"{pipeline} failed{where}", error)
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
    for option in ("order", "save_order", "paused"):
        if getattr(options, option):
            word = "--" + option.replace("_", "-")
            if options.engine != "sim":
                raise bad_usage(f"{word} is of no use to the engine {options.engine}", "--engine sim")
            if options.state is not None:
                raise bad_usage(f"{word} is of no use with --state", "one of the two: an order begins with its run")
    if options.workers is not None and options.workers < 1:
        raise bad_usage(f"--workers {options.workers}: nobody would work", "1 or more")
    if options.every is not None and options.state is None:
        raise bad_usage("--every says how often --state is written", "--state DIR")
    if options.delivery is not None and options.state is None:
        raise bad_usage("--delivery says how outputs go with --state", "--state DIR")
    if options.delivery is not None and options.engine == "spark":
        raise bad_usage(
            "--delivery: the engine spark has ways of its own", "sinks of tables, which write each time once"
        )
    if options.pickle and options.state is None:
        raise bad_usage("--pickle says how --state is written", "--state DIR")
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
        self.sinks: dict[str, LineSink] = {}
        self.given: dict[str, Given] = {}
        self._opened = opened
        self._standard: LineFile | None = None
        self._check: Callable[[], None] = lambda: None  # raises when the run has to stop
        self._stepping: Stepping | None = None
        self._order = None if options.order is None else read_order(options.order, dataflow.network)
        self._closed: set[str] = set()  # edges of which the run that this one continues said that they are complete
        self._feeds: Sequence[Feed] = ()
        self._folder: StateFolder | None = None
        self._frames: KeptFrames | None = None
        self._fingerprint = ""
        self._delivery = AT_LEAST_ONCE
        self._log: OrderLog | None = None

    def _named_inputs(self) -> dict[str, str]:
        """The files that are read."""
        files = self.inputs.items()
        return {f"--input {name}": file for name, file in files if name not in self.from_page}

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
                self._check_ended(self._folder, known)
                self._log = OrderLog(self._folder.path, known["order"], is_read=self._is_same_machine(known))
                if known["is_finished"]:
                    return FINE
            else:
                self._log = OrderLog(self._folder.path, 0, is_read=False)
            self._folder.claim()
            remove_others(self._folder.path, self._log.number)
            self._opened.callback(self._log.close)
        self._open_given()
        observer = self._watched(observer or (Display(reading=self._read) if self._has_terminal() else None))
        with Signals() as signals:
            control = Control(self.options.timeout, signals.came)
            running: Running | None = None
            try:
                for name in self.inputs:
                    self._open_input(name, known.get("inputs", {}).get(name), control)
                self._open_outputs(control)
                self._closed = set(known.get("closed", ()))
                cut = partial(self._cut_outputs, known)
                running = self._running(begun, control, observer, cut)
                if begun is None:
                    cut()
                self._feeds = running.feeds
                self._choose_delivery(running)
                say_held(running)
                say_one_at_a_time(running)
                running.run(self.options.seed, self.options.workers or 4, self._chooser())
                say_already(running)
                self._finish()
            except (Cancelled, TimedOut, WaitsForEver) as stopped:
                if running is not None and self._may_keep(running):
                    self._keep_stopped(running)
                if isinstance(stopped, Cancelled):
                    return 128 + signals.number
                raise
        if self._folder is not None:
            if self._delivery == BARRIER:
                self._keep(running.capture())
            self._keep(running.capture(), is_finished=True)
        return FINE

    def _finish(self) -> None:
        """Nothing leaves any more: say so of each edge of which its frontier has not."""
        for name in self.edges:
            if name in self.sinks:
                self.sinks[name].finish()
        for written in self.written.values():
            written.finish()

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

    def _may_keep(self, running: Running) -> bool:
        """Whether a run that was stopped has a last checkpoint: if it is kept, and is nowhere half-way.

        Where something was to be written and was not, the run has it as if it had left.
        """
        files = [*self.written.values(), *([] if self._standard is None else [self._standard])]
        if self._folder is None or any(file.has_given_up for file in files):
            return False
        return running.core.rests and (running.replay is None or running.replay.is_over)

    def _watched(self, observer: Observer | None) -> Observer | None:
        """The observer, and the live view beside it, if there is to be one."""
        if self.options.paused:
            from graphs.running.stepping import Stepping

            self._stepping = Stepping()
        watch = serve(self.options, self.dataflow.network, self.given, self._stepping, self._opened)
        if watch is None:
            return observer
        return watch if observer is None else Observers(observer, watch)

    def _read(self) -> tuple[int, int] | None:
        """How many bytes of the inputs were read, and how many there are; None where one of them is not a file."""
        known = [lines.read_of for lines in [*self.lines.values()]]
        if not known or None in known:
            return None
        return sum(each[0] for each in known if each), sum(each[1] for each in known if each)

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
            keeps=self._folder is not None,
            start=None if position is None else Position(*position),
        )
        return self.lines[name]

    def _open_outputs(self, control: Control) -> None:
        self._check = control.check
        for use, file in self.files.items():
            self.written[use] = open_output(file, self._folder is not None, control.check)
            self._opened.callback(self.written[use].close)

    def _cut_outputs(self, known: dict[str, Any]) -> None:
        """The run begins, or goes on: what was written beyond the checkpoint comes again."""
        for use, written in self.written.items():
            size = known["files"][use][0] if known else 0
            if not known or self._spark is not None or not self._is_same_machine(known):
                written.cut(size)
            elif self.options.delivery == AT_LEAST_ONCE:
                written.go_on_behind(size)
            else:
                written.go_on(size)
        for use, lines in known.get("outbox", {}).items():  # covered, and not written before the kill, or nobody knows
            self._file_of(use).put(lines.encode())

    def _is_same_machine(self, known: dict[str, Any]) -> bool:
        """Whether what was written and not synced is there: the machine goes on since that state was written."""
        return bool(known["boot"] == boot())

    def _choose_delivery(self, running: Running) -> None:
        """How what leaves goes with checkpoints; says so where it is not what somebody would expect."""
        keeping, log = running.keeping, self._log
        if keeping is None or log is None or self._spark is not None:
            return
        chosen = self.options.delivery
        why = why_not(self.dataflow.sources, running.feeds, running.core.inboxes)
        if chosen == DETERMINISTIC and why is not None:
            raise bad_usage(f"--delivery {chosen}: {why}", f"--delivery {BARRIER}")
        if chosen is None and why is not None:
            complain(f"pointstamp: what leaves waits for checkpoints (--delivery {BARRIER}): {why}")
        self._delivery = chosen or (DETERMINISTIC if why is None else BARRIER)
        is_one = has_one_order(self.options.engine, running.feeds) and self._stepping is None
        if self._delivery == DETERMINISTIC and not is_one:
            running.keeping = keeping._replace(log=log)
        for written in self.written.values():
            written.holds = self._delivery == BARRIER
            written.why = lambda: (running.replay and running.replay.why) or OTHERWISE
        if self._standard is not None:
            self._standard.holds = self._delivery == BARRIER

    def _file_of(self, use: str) -> LineFile:
        return self._standard_file() if use == STANDARD else self.written[use]

    def _running(
        self, begun: State | None, control: Control, observer: Observer | None, restored: Callable[[], None]
    ) -> Running:
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
                keeping=(
                    None
                    if self._folder is None
                    else Keeping(self._keep, _seconds(options), begun, self._frames, options.pickle, restored)
                ),
                on_spark=self._spark,
            ),
        )

    def _sink(self, name: str) -> LineSink:
        """Where an output goes: to its file, or to standard output."""
        file = self.written.get(f"--output {name}")
        is_closed = name in self._closed
        if file is not None:
            return LineSink(name, file, is_closed=is_closed)
        return LineSink(name, self._standard_file(), says_edge=True, is_closed=is_closed)

    def _standard_file(self) -> LineFile:
        """Standard output."""
        if self._standard is None:
            self._standard = open_output(STANDARD, keeps=False, check=self._check)
            self._standard.holds = self._delivery == BARRIER
            self._opened.callback(self._standard.close)
        return self._standard

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _keep(self, state: State, is_finished: bool = False) -> None:
        """Take a checkpoint: what has left is on the disk before it."""
        if self._folder is None:
            return
        for written in self.written.values():
            written.settle()
        ended = {feed.edge for feed in self._feeds if feed.is_over}
        files = {**self.written, **({} if self._standard is None else {STANDARD: self._standard})}
        known = {
            "graph": self._fingerprint,
            "command": self._command(),
            "inputs": {name: lines.position for name, lines in self.lines.items()},
            "ended": [name for name in self.lines if name in ended],
            "files": {use: (written.size, written.mark(written.size)) for use, written in self.written.items()},
            "closed": [name for name, sink in self.sinks.items() if sink.is_closed],
            "is_finished": is_finished,
            "boot": boot(),
            "order": 0 if self._log is None else self._log.number + 1,
            "outbox": {use: written.held.decode() for use, written in files.items() if written.held},
        }
        self._folder.save(known, state)
        if self._log is not None:
            self._log.turn()
        for written in files.values():
            written.release()
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
            "--pickle": True if options.pickle else None,
            "inputs": sorted({*self.dataflow.sources, *self.inputs}),
            **{use: place_of(file) for use, file in self._named_inputs().items()},
            **{use: place_of(file) for use, file in self.files.items()},
        }

    def _check_ended(self, folder: StateFolder, known: dict[str, Any]) -> None:
        """Refuse inputs that have changed since the run read their end: nobody would read what is new."""
        for name in known.get("ended", ()):
            file = self.inputs[name]
            if file != STANDARD and not Path(file).is_file():
                continue  # a pipe is not opened for this; a file that is done with may be gone
            if self._open_input(name, known["inputs"][name], Control()).has_more:
                what = f"the run in {folder.path} has read {file} to its end, and it has grown since"
                right = "the input as it was; or another DIR, and other outputs, to begin anew"
                raise PointstampError("PS736", f"{what}: nobody would read what is new", right)

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
        if known["files"].keys() != self.files.keys() or known["inputs"].keys() != self.inputs.keys():
            raise damaged(folder.path, "checkpoint knows other files than those of its command")
        for use, (size, mark) in known["files"].items():
            check_whole(Path(folder.path), self.files[use], size, mark)


def _in_python(files: Mapping[str, Any]) -> dict[str, str]:
    """The files of JSON lines that the pipeline names itself: read, written and kept as those of the command are."""
    return {name: str(file.path) for name, file in files.items() if isinstance(file, JsonLines)}


def _seconds(options: argparse.Namespace) -> float:
    return 1.0 if options.every is None else float(options.every)
