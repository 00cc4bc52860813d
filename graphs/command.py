"""The command line: `pointstamp` (docs/README.md). Each command imports what it needs when it runs, to start fast.

Exit codes: 0 fine, 1 findings, 2 bad usage or input that is not a graph, 3 a defect of this project.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from graphs.arguments import check_of_use, pointstamp_in, read_graph, settings_of
from graphs.terminal import (
    DEFECT,
    FINDINGS,
    FINE,
    UNUSABLE,
    answer,
    bad_usage,
    complain,
    located,
    write,
    write_json,
)
from graphs.wording import printable
from progress.errors import PointstampError, not_written, one_of_the_graph, reason_of

if TYPE_CHECKING:
    from graphs.checking.diagnostic import FileReport
    from graphs.codes import Code
    from graphs.graph import Graph


class _Parser(argparse.ArgumentParser):
    """Bad usage gets one line."""

    def error(self, message: str) -> NoReturn:
        complain(f"{self.prog}: {message} (see {self.prog} --help)")
        sys.exit(UNUSABLE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and answer its exit code.

    Returns
    -------
    The exit code: 0 fine, 1 findings, 2 bad usage or input that is not a graph, 3 a defect of this project.

    Examples
    --------
    >>> from pointstamp import main
    >>> main(["explain", "PS301"]) == 0  # doctest: +ELLIPSIS
    PS301...
    True
    """
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is escaped, never an error
            stream.reconfigure(errors="backslashreplace")
    try:
        options, others = _parser().parse_known_args(arguments)
        if others:
            of = f"pointstamp {options.command}"
            complain(f"{of}: it does not take {' '.join(others)} (see {of} --help)")
            return UNUSABLE
        options.is_command = arguments is None  # this process is nothing else
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except PointstampError as error:
        complain(f"pointstamp: {located('', error)}")
        return FINDINGS if error.code.startswith(("PS1", "PS2", "PS3", "PS4", "PS6")) else UNUSABLE
    except BrokenPipeError:
        _discard_output()
        return FINE
    except OSError as error:
        complain(f"pointstamp: {not_written(error.filename or 'the answer', error)}")
        _discard_output()
        return UNUSABLE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        complain(f"pointstamp: internal error: {type(error).__name__}: {error}; this is a defect of pointstamp")
        return DEFECT


def _open_closed_streams() -> None:
    """A stream that the caller has closed is as if nobody reads it, or as if nothing is in it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _discard_output() -> None:
    """What is still to be written goes nowhere, so that the interpreter's own last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="pointstamp", description="May anything at or before time t still arrive at node v?")
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and end")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    check = commands.add_parser(
        "check", help="judge graphs: Conditions 1 and 2, transitivity, cycles that do not advance"
    )
    check.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="graph files, patterns like 'graphs/*.yaml', - for stdin; pipelines, *.py",
    )
    check.add_argument(
        "--from", dest="tool", metavar="TOOL", help="FILE is a target of this tool, like langgraph app:graph"
    )
    _add_engines(check)
    _add_format(check, "sarif", "github")
    for word, says in (
        ("error", "treat CODE as an error"),
        ("warn", "treat CODE as a warning"),
        ("ignore", "leave CODE out"),
    ):
        _add_listed(check, f"--{word}", "CODE", says)
    check.add_argument("--have", metavar="FILE", help="with --from: what has materialised, to find gaps in it")
    check.add_argument("--watch", action="store_true", help="again whenever a file changes, until Ctrl-C")
    check.add_argument("--draw", metavar="DIR", help="a picture of each finding, as SVG, into this folder")
    check.set_defaults(run=_check)

    complete = commands.add_parser("complete", help="whether all that a partition of another tool needs is there")
    complete.add_argument("--from", dest="tool", metavar="TOOL", required=True, help="airflow, dagster or dbt")
    complete.add_argument("target", metavar="TARGET", help="as for check --from, like module:defs")
    complete.add_argument("--have", metavar="FILE", required=True, help="what has materialised, as JSON")
    complete.add_argument("question", metavar="ASSET=PARTITION", help="ASSET alone where it has no partitions")
    _add_format(complete)
    complete.set_defaults(run=_complete)

    ask = commands.add_parser("ask", help="answer queries about a graph, one JSON object a line")
    ask.add_argument("file", metavar="FILE", help="a graph file; a pipeline, *.py")
    ask.set_defaults(run=_ask)

    track = commands.add_parser("track", help="the embedded scheduler: a step a line in, what is ready out")
    track.add_argument("file", metavar="FILE", help="a graph file; a pipeline, *.py")
    track.add_argument("--record", metavar="TRACE", help="write every line and its answer there, for replay")
    track.set_defaults(run=_track)

    replay = commands.add_parser("replay", help="play a recorded track session again, and show the state at any line")
    replay.add_argument("file", metavar="FILE", help="a graph file; a pipeline, *.py")
    replay.add_argument("trace", metavar="TRACE", help="the lines that track was fed, or what track --record wrote")
    replay.add_argument("--at", type=_positive, metavar="LINE", help="the state after this line, not at the end")
    _add_listed(replay, "--why", "NODE=TIME", "what keeps this request waiting there")
    _add_listed(replay, "--holding", "LOCATION", "who holds its frontier")
    _add_format(replay)
    _add_page(replay, "a page that goes back and forth in the trace; 0: any port")
    replay.set_defaults(run=_replay)

    why = commands.add_parser("why", help="what waits, oldest first: since when, who holds it, what would let it go")
    why.add_argument(
        "target", metavar="TARGET", help="a pipeline, *.py; a trace of track --record or run --trace; a live view's URL"
    )
    why.add_argument("request", nargs="?", metavar="NODE=TIME", help="this request alone, with all that holds it")
    why.add_argument("--graph", metavar="FILE", help="of a trace: its graph file, or its pipeline")
    why.add_argument("--line", type=_positive, metavar="N", help="of a trace: after this line, not at the end")
    _add_listed(why, "--input", "EDGE=FILE", "of a pipeline: what comes in there, as in run")
    why.add_argument(
        "--end", action="store_true", help="of a pipeline: an input is closed where its file ends, as in run"
    )
    why.add_argument("--seconds", type=float, metavar="S", help="of a pipeline: look after so long at the latest; 30")
    _add_format(why)
    why.set_defaults(run=_carried_out_by("graphs.running.why:why"))

    run = commands.add_parser("run", help="run the dataflow of a Python file between files of JSON lines")
    run.add_argument("pipeline", metavar="PIPELINE.py", help="a Python file that defines `dataflow`, or `flow`")
    _add_listed(run, "--input", "EDGE=FILE", "what comes in there; - for standard input")
    _add_listed(run, "--output", "EDGE=FILE", "what leaves there; all else: to stdout")
    run.add_argument("--engine", choices=("sim", "threads", "asyncio", "spark"), default="threads")
    run.add_argument("--seed", type=int, metavar="N", help="what decides every choice of the engine sim")
    run.add_argument("--order", metavar="FILE", help="choices of the engine sim: those that --save-order wrote")
    run.add_argument("--save-order", metavar="FILE", help="write every choice of the engine sim there")
    run.add_argument("--paused", action="store_true", help="with sim and --ui: the page chooses what happens next")
    run.add_argument("--workers", type=int, metavar="N", help="threads that run nodes, for threads and spark; 4")
    run.add_argument("--master", metavar="URL", help="of the engine spark; local[*]")
    _add_listed(run, "--conf", "KEY=VALUE", "a setting of the engine spark's session")
    run.add_argument("--tables", metavar="DIR", help="where the engine spark puts tables that nodes keep by name")
    run.add_argument("--state", metavar="DIR", help="keep the run there; start the same command again to go on")
    run.add_argument("--every", type=float, metavar="SECONDS", help="how often --state is written; 1")
    run.add_argument(
        "--delivery",
        choices=("deterministic", "barrier", "at-least-once"),
        help="whether what leaves a kept run comes the same again, waits for --state, or may come twice",
    )
    run.add_argument(
        "--synced", action="store_true", help="what a kept run does is the same again after a power cut, too; slower"
    )
    run.add_argument(
        "--pickle", action="store_true", help="keep what is not plain data too: --state runs code when read"
    )
    run.add_argument("--timeout", type=float, metavar="SECONDS", help="stop the run when it has taken so long")
    run.add_argument("--trace", metavar="FILE", help="write every step there, for replay")
    _add_page(run, "a page that shows the run live, on 127.0.0.1; 0: any port")
    run.set_defaults(run=_run)

    state = commands.add_parser("state", help="what a run has kept with --state: shown, compared, compacted, as JSON")
    state.add_argument("action", choices=("show", "verify", "compact", "export"))
    state.add_argument("folder", metavar="DIR", help="that of run --state DIR")
    _add_format(state)
    state.set_defaults(run=_carried_out_by("graphs.running.kept_state:state_command"))

    explore = commands.add_parser("explore", help="run a pipeline on small samples in every interleaving")
    explore.add_argument("pipeline", metavar="PIPELINE.py", help="a Python file that defines `dataflow`, or `flow`")
    _add_listed(explore, "--input", "EDGE=FILE", "a small sample of what comes in there")
    explore.add_argument("--any-order", action="store_true", help="what comes in may come in any order")
    explore.add_argument("--states", type=_positive, default=100_000, metavar="N", help="at most so many; 100000")
    explore.add_argument("--steps", type=_positive, default=2_000_000, metavar="N", help="at most so many; 2000000")
    explore.add_argument("--trace", metavar="FILE", help="write the first counterexample there, for replay")
    _add_format(explore)
    explore.set_defaults(run=_carried_out_by("graphs.running.explore:explore_pipeline"))

    close = commands.add_parser("close", help="the minimal times that given pointstamps can lead to, at every location")
    close.add_argument("file", nargs="?", metavar="FILE", help="a graph file, - for stdin; a pipeline, *.py")
    close.add_argument("--at", action="append", required=True, metavar="LOCATION=TIME", help="TIME as JSON")
    _add_engines(close)
    _add_format(close)
    close.add_argument("-o", dest="output", metavar="FRONTIERS.parquet", help="write the answer as a table")
    close.set_defaults(run=_close)

    _add_draw(commands.add_parser("draw", help="a graph as a picture: with a closure, a proof, or its times"))

    compose = commands.add_parser("compose", help="join two graphs at the edges they share")
    compose.add_argument("first", metavar="FILE")
    compose.add_argument("second", metavar="FILE")
    compose.add_argument("--name", help="the name of the whole")
    compose.add_argument("--format", choices=("text", "json"), default="text", help="text: YAML")
    compose.set_defaults(run=_compose)

    explain = commands.add_parser("explain", help="what a code means, why it matters, an example, a fix")
    explain.add_argument("code", nargs="?", metavar="CODE", help="like PS201; without it, all codes are listed")
    _add_format(explain)
    explain.set_defaults(run=_explain)
    return parser


def _carried_out_by(place: str) -> Callable[[argparse.Namespace], int]:
    """The function that carries out a command, `module:function`, imported when it does."""
    module, _, function = place.partition(":")
    return lambda options: getattr(import_module(module), function)(options)


def _add_format(command: argparse.ArgumentParser, *others: str) -> None:
    command.add_argument("--format", choices=("text", "json", *others), default="text")


def _add_listed(command: argparse.ArgumentParser, option: str, shown: str, says: str) -> None:
    """An option that may be given several times."""
    command.add_argument(option, action="append", default=[], metavar=shown, help=says)


def _add_page(command: argparse.ArgumentParser, says: str) -> None:
    command.add_argument("--ui", type=_address, metavar="[HOST:]PORT", help=says)
    command.add_argument("--ui-token", metavar="FILE", help="whose first line is asked of whoever opens the page")


def _add_engines(command: argparse.ArgumentParser) -> None:
    """What commands have in common that take graphs as tables, and Spark as their engine."""
    command.add_argument("--nodes", metavar="N.parquet", help="the nodes as a table, instead of FILE")
    command.add_argument("--edges", metavar="E.parquet", help="the edges as a table, instead of FILE")
    command.add_argument("--engine", choices=("local", "spark", "auto"), help="where; tables: auto, by their size")
    command.add_argument("--master", metavar="URL", help="of the engine spark; local[*]")
    _add_listed(command, "--conf", "KEY=VALUE", "a setting of the engine spark's session")
    command.add_argument("--rounds", type=_positive, metavar="N", help="the most rounds the engine spark may take")


def _add_draw(draw: argparse.ArgumentParser) -> None:
    draw.add_argument("file", metavar="FILE", help="a graph file, - for stdin; a pipeline, *.py")
    draw.add_argument(
        "-o", dest="output", default="-", metavar="PICTURE", help="*.svg, *.html, *.dot, *.mmd; - for stdout"
    )
    draw.add_argument("--to", choices=("svg", "html", "dot", "mmd"), help="the form, where the name does not say it")
    _add_listed(draw, "--at", "LOCATION=TIME", "what may arrive where, if this may happen")
    draw.add_argument(
        "--path", nargs=2, metavar=("FROM=TIME", "TO=TIME"), help="the proof that one could result in the other"
    )
    _add_listed(draw, "--open", "NAME", "do not fold what this node is in")
    draw.add_argument("--domains", action="store_true", help="which times each node has")
    draw.add_argument("--times", metavar="LOCATION", help="the order of the times there, instead of the graph")
    draw.set_defaults(run=_draw)


class _ShowVersion(argparse.Action):
    """The version is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        sys.stdout.write(f"pointstamp {version()}\n")
        sys.stdout.flush()
        parser.exit()


def version() -> str:
    """The version of the installed distribution."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("pointstamp")
    except PackageNotFoundError:
        return "(not installed)"


# --- check -----------------------------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    if not options.watch:
        return _check_once(options)
    from graphs.checking.watching import watch

    if not options.files or "-" in options.files or options.nodes or options.edges or options.tool is not None:
        raise bad_usage("check --watch watches files of graphs", "pointstamp check --watch loop.yaml")
    return watch(lambda: _expanded(options.files), lambda: _check_once(options))


def _check_once(options: argparse.Namespace) -> int:
    severities = _severities(options)
    if options.draw is not None and (
        options.tool is not None or "-" in options.files or options.nodes or options.edges
    ):
        raise bad_usage("--draw draws the findings of files", "pointstamp check loop.yaml --draw pictures")
    if options.have is not None and options.tool is None:
        raise bad_usage("--have is of no use without --from", "check --from dagster app:defs --have have.json")
    if options.tool is not None:
        reports = [_adjusted(report, severities) for report in _checked_targets(options)]
    elif _are_tables(options, bool(options.files), "check"):
        reports = [_adjusted(_checked_table(options), severities)]
    else:
        reports = [_adjusted(_checked(file, options), severities) for file in _expanded(options.files)]
    if options.draw is not None:
        _draw_findings(reports, options.draw)
    for report in reports:
        if not report.readable:
            found = report.diagnostics[0]
            error = PointstampError(found.code, found.message, found.hint, found.line, found.column)
            complain(f"pointstamp: {located(report.file, error)}")
    if options.format == "json":
        write_json({"format_version": 1, "files": [report.to_json() for report in reports]})
    elif options.format == "sarif":
        from graphs.checking.sarif import render as render_sarif

        write(render_sarif(reports, version()))
    elif options.format == "github":
        from graphs.checking.github import render as render_github

        write(render_github(reports))
    elif any(report.readable for report in reports):
        from graphs.checking.report_text import render as render_text

        write(render_text([report for report in reports if report.readable], color=sys.stdout.isatty()))
    if not all(report.readable for report in reports):
        return FINDINGS if all(report.readable or _has_failed(report) for report in reports) else UNUSABLE
    return FINE if all(report.valid for report in reports) else FINDINGS


def _draw_findings(reports: Sequence[FileReport], folder: str) -> None:
    from graphs.drawing.findings import draw_findings

    named: set[str] = set()
    for report in reports:
        if report.readable and report.diagnostics:
            graph = _graph_in(report.file, resolved=False)
            for picture in draw_findings(graph, report, folder, named):
                complain(f"pointstamp: drew {picture}")


def _are_tables(options: argparse.Namespace, named: bool, command: str) -> bool:
    """Whether the graph is two tables; bad usage where it is neither that nor in a file, or both."""
    tables = options.nodes is not None or options.edges is not None
    if tables == named or (tables and (options.nodes is None or options.edges is None)):
        example = f"pointstamp {command} loop.yaml{' --at input=0' * (command == 'close')}"
        raise bad_usage(f"{command} takes FILE, or both --nodes and --edges", example)
    if options.engine == "local" or (options.engine is None and not tables):
        check_of_use(options, ("master", "conf", "rounds"), "to the engine local", "--engine spark")
    settings_of(options.conf)
    return tables


def _checked_targets(options: argparse.Namespace) -> list[FileReport]:
    """The reports on graphs of another tool; bad usage where what they need is not there, or nothing is named."""
    if not options.files:
        raise bad_usage("check --from names no target", f"pointstamp check --from {options.tool} app:graph")
    check_of_use(options, ("nodes", "edges", "engine", "master", "conf", "rounds"), "with --from", "leave it out")
    from graphs.adapters import adapter
    from graphs.adapters.report import check_target

    read = adapter(options.tool)
    if options.have is not None:
        from functools import partial

        from graphs.adapters.complete import WITH_PARTITIONS, read_have

        if options.tool not in WITH_PARTITIONS:
            raise bad_usage(f"--have is of no use with --from {options.tool}", "leave it out")
        read = partial(read, have=read_have(options.have))  # type: ignore[call-arg]  # those with partitions take it
    return [check_target(read, target) for target in dict.fromkeys(options.files)]


def _checked_table(options: argparse.Namespace) -> FileReport:
    from graphs.at_scale.report import check_tables

    return check_tables(options, complain)


def _checked(file: str, options: argparse.Namespace) -> FileReport:
    from graphs.checking.check import check_text, unreadable
    from graphs.files.document import read_file

    if file.endswith(".py"):
        return _checked_pipeline(file)
    if options.engine in ("spark", "auto"):
        from graphs.at_scale.report import check_file

        return check_file(file, options, complain)
    try:
        return check_text(read_file(file), file)
    except PointstampError as error:
        return unreadable(file, error)


def _checked_pipeline(file: str) -> FileReport:
    """The report on the graph of a Python file, which is run."""
    from graphs.checking.check import check_graph, unreadable

    try:
        return check_graph(_graph_in(file), file)
    except PointstampError as error:
        return unreadable(file, error)


def _has_failed(report: FileReport) -> bool:
    """Whether it is about a pipeline whose own code raises, which is found, and no bad usage."""
    return [found.code for found in report.diagnostics] == ["PS733"]


def _expanded(files: Sequence[str]) -> list[str]:
    """The files, patterns replaced by what they match; a pattern without a match stays and will not be found."""
    found: list[str] = []
    for file in files:
        if any(character in file for character in "*?[") and not Path(file).exists():
            from glob import glob

            found += sorted(glob(file, recursive=True)) or [file]  # noqa: PTH207 - the pattern may be absolute
        else:
            found.append(file)
    return list(dict.fromkeys(found))


def _severities(options: argparse.Namespace) -> dict[str, str]:
    severities: dict[str, str] = {}
    for option in ("error", "warn", "ignore"):
        for given in getattr(options, option):
            for word in given.split(","):
                number = _code(word).number
                if number.startswith(("PS0", "PS90")) and option != "error":
                    raise bad_usage(f"--{option} {number}: a file that cannot be read stays an error", "PS101 and up")
                severities[number] = {"error": "error", "warn": "warning", "ignore": "ignore"}[option]
    return severities


def _adjusted(report: FileReport, severities: dict[str, str]) -> FileReport:
    kept = [
        diagnostic._replace(severity=severities.get(diagnostic.code, diagnostic.severity))  # type: ignore[arg-type]
        for diagnostic in report.diagnostics
        if severities.get(diagnostic.code) != "ignore"
    ]
    return report._replace(diagnostics=kept)


# --- the other commands ----------------------------------------------------------------------------------------------


def _complete(options: argparse.Namespace) -> int:
    from graphs.adapters.complete import complete, render

    found = complete(options.tool, options.target, options.have, options.question)
    answer(options.format, found.to_json, lambda: render(found))
    return FINE if found.complete else FINDINGS


def _ask(options: argparse.Namespace) -> int:
    from graphs.files.standard_input import standard_input
    from graphs.sessions.ask import Asker, lines_of

    if options.file == "-":
        raise bad_usage("ask reads its queries from stdin", "name the graph's file")
    asker = Asker(_graph_in(options.file))
    for line in lines_of(standard_input()):
        sys.stdout.write(asker.answer_line(line) + "\n")
        sys.stdout.flush()
    return FINE


def _track(options: argparse.Namespace) -> int:
    from graphs.files.standard_input import standard_input
    from graphs.sessions.track import track

    if options.file == "-":
        raise bad_usage("track reads its steps from stdin", "name the graph's file")
    graph = _graph_in(options.file)
    if options.record is None:
        track(graph, standard_input(), sys.stdout.buffer)
        return FINE
    with _new_file(options.record) as record:
        track(graph, standard_input(), sys.stdout.buffer, record)
    return FINE


def _new_file(path: str) -> BinaryIO:
    """A file to write to, which does not hold anything yet: nobody's recorded session is lost."""
    try:
        file = Path(path).open("ab")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise bad_usage(f"--record {path}: {reason_of(error)}", "a new file where one may be written") from None
    if file.seekable() and file.tell():
        file.close()
        raise bad_usage(f"--record {path}: there is something in the file", "a new file for each session")
    return file


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 19 or not int(text):
        raise argparse.ArgumentTypeError(f"{printable(text)!r} is not a number from 1 on")
    return int(text)


def _address(text: str) -> tuple[str, int]:
    """[HOST:]PORT, a host of numbers and colons in brackets."""
    host, colon, port = text.rpartition(":")
    if colon and not host.strip("[]"):
        raise argparse.ArgumentTypeError(f"{printable(text)!r} has no host before the colon")
    return host.strip("[]") or "127.0.0.1", _port(port)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{printable(text)!r} is not a port: they go from 0 to 65535")
    return int(text)


def _replay(options: argparse.Namespace) -> int:
    from graphs.sessions.replay import render, report
    from graphs.sessions.trace import played

    if options.file == options.trace == "-":
        raise bad_usage("replay reads the graph or the trace from stdin, not both", "name one of the files")
    graph = _graph_in(options.file)
    if options.ui is not None:
        from graphs.running.film import show_film

        return show_film(options, graph)
    if options.ui_token is not None:
        raise bad_usage("--ui-token is for a page, and there is none", "--ui PORT")
    why = [pointstamp_in(graph, text, "why") for text in options.why]
    network = graph.network()
    for node, _ in why:
        if network.numbers[node] >= len(network.nodes):
            raise bad_usage(f"--why: {node!r} is an edge", "a node, where requests are")
    for location in options.holding:
        if location not in network.numbers:
            right = one_of_the_graph(location, network.numbers)
            raise bad_usage(f"--holding: there is no location {location!r}", right)
    replay = played(options.trace, graph, options.at, "at")
    found = report(replay, options.at is not None, why, options.holding)
    answer(options.format, lambda: found, lambda: render(found))
    return FINE if replay.difference is None else FINDINGS


def _run(options: argparse.Namespace) -> int:
    if options.state is not None and options.is_command:
        from progress.runtime.durable.hash_seed import begin_with

        begin_with(Path(options.state))
    from graphs.running.run import run

    return run(options)


def _close(options: argparse.Namespace) -> int:
    if _are_tables(options, options.file is not None, "close") or options.engine in ("spark", "auto"):
        from graphs.at_scale.report import close_command

        frontiers = close_command(options, complain)
        if frontiers is None:  # written by Spark
            return FINE
    else:
        from progress.closure import close
        from progress.plain import times_by_place

        graph = _graph_in(options.file)
        frontiers = times_by_place(close(graph, [pointstamp_in(graph, text) for text in options.at]).frontiers)
    if options.output:
        from graphs.files.parquet import write_frontiers

        write_frontiers(options.output, frontiers)
    elif options.format == "json":
        write_json({"frontiers": frontiers})
    else:
        import json

        width = max((len(printable(location)) for location in frontiers), default=0)
        for location, times in frontiers.items():
            write(f"{printable(location):{width}}  {', '.join(map(json.dumps, times))}")
    return FINE


def _draw(options: argparse.Namespace) -> int:
    from graphs.drawing.command import draw_command

    return draw_command(options, _graph_in(options.file))


def _graph_in(file: str, resolved: bool = True) -> Graph:
    """The graph of a file, a pipeline's among them. What the code of one raises is shown with its traceback."""
    if not file.endswith(".py"):
        return read_graph(file, resolved)
    from graphs.running.pipeline import PipelineFailed, load_graph

    try:
        return load_graph(file)
    except PipelineFailed as error:
        for line in error.trace.splitlines():
            complain(line)
        raise


def _compose(options: argparse.Namespace) -> int:
    from graphs.composition import compose
    from graphs.files.writing import to_data, to_yaml

    data = to_data(compose(read_graph(options.first), read_graph(options.second), options.name))
    answer(options.format, lambda: data, lambda: to_yaml(data))
    return FINE


def _explain(options: argparse.Namespace) -> int:
    from graphs.codes import CODES
    from graphs.codes.explain import explain

    if options.code is None:
        if options.format == "json":
            write_json({"codes": [found.to_json() for found in CODES.values()]})
        else:
            for number, found in CODES.items():
                write(f"{number}  {found.name:28} {found.says}")
        return FINE
    found = _code(options.code)
    answer(options.format, found.to_json, lambda: explain(found.number))
    return FINE


def _code(word: str) -> Code:
    """The code of this number or name; bad usage where there is none."""
    from graphs.codes import code

    try:
        return code(word.strip())
    except PointstampError as error:
        raise bad_usage(error.message, error.hint) from None
