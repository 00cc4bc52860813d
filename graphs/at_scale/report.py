"""What the command line does on either engine: `pointstamp check` and `pointstamp close` with tables or `--engine`."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from graphs.arguments import settings_of
from graphs.at_scale.engine import Say, Tables, choose_engine, local_graph, open_in_spark
from graphs.at_scale.frames import frame_of
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.rounds import ROUNDS, Options, one_group
from graphs.at_scale.rounds_shown import rounds_shown
from graphs.checking.check import UNDECIDED, check_graph, mismatch_found, report_on, shape_findings, unreadable
from graphs.checking.diagnostic import FileReport
from graphs.files.document import read_file
from graphs.files.notation import shown
from graphs.files.reading import from_text
from graphs.graph import Graph, Mismatch
from graphs.sessions.ask import read_json
from progress.closure import close
from progress.conditions import Report
from progress.errors import PointstampError
from progress.order import NO_TIME, Domain, as_time, times_of
from progress.plain import read_time, times_by_place
from progress.runtime.on_spark.session import ends_on_interrupt, start_session
from progress.topology import Network

if TYPE_CHECKING:
    from graphs.at_scale.closure import SparkClosure


@ends_on_interrupt()
def check_tables(options: Namespace, say: Say) -> FileReport:
    """The report on a graph in two Parquet files, named after that of the edges."""
    return _checked(Tables(options.nodes, options.edges), options.edges, options, say)


@ends_on_interrupt()
def check_file(file: str, options: Namespace, say: Say) -> FileReport:
    """The report on a graph file, perhaps by Spark."""
    try:
        return _checked(from_text(read_file(file), file), file, options, say)
    except PointstampError as error:
        return _unreadable(file, error)


def _unreadable(file: str, error: PointstampError) -> FileReport:
    if not error.code.startswith("PS0"):  # Spark is what is missing, not the graph
        raise error
    return unreadable(file, error)


def _checked(graph: Graph | Tables, file: str, options: Namespace, say: Say) -> FileReport:
    choice = _said(graph, options.engine, say)
    try:
        if choice == "local":
            return check_graph(local_graph(graph), file)
        opened = _opened(graph, options)
        try:
            with _kept_to(options) as kept:
                return _in_spark(opened, graph if isinstance(graph, Graph) else Graph(), file, kept)
        finally:
            opened.release()
    except PointstampError as error:
        return _unreadable(file, error)


def _said(graph: Graph | Tables, engine: str | None, say: Say) -> str:
    """The engine that is chosen, by size where none is named; said where "auto" is, or where Spark is chosen so."""
    choice = choose_engine(graph, engine or "auto")
    if engine == "auto" or (engine is None and choice.engine == "spark"):
        say(f"pointstamp: {choice}")
    return choice.engine


def _opened(graph: Graph | Tables, options: Namespace) -> SparkGraph:
    """The graph in the session that the command line asks for."""
    return open_in_spark(graph, start_session(options.master, settings_of(options.conf)))


@contextmanager
def _kept_to(options: Namespace) -> Iterator[Options]:
    """The bound on rounds; each round is shown where somebody looks on."""
    most = options.rounds or ROUNDS
    with rounds_shown(most) as told:
        yield Options(rounds=most, on_round=told)


def _in_spark(opened: SparkGraph, graph: Graph, file: str, options: Options) -> FileReport:
    """The report; `graph` knows the lines of a file, where it is one."""
    from graphs.at_scale.conditions import check_in_spark
    from graphs.at_scale.shape import beginning_in_spark, dangling_in_spark, unreachable_in_spark

    if opened.mismatches:
        found = [mismatch_found(graph, Mismatch(each.location, each.error)) for each in opened.mismatches]
        return FileReport(file, UNDECIDED, found, readable=True)
    report = check_in_spark(opened, options)
    named = graph if graph.nodes else _Witnessed(opened, report)
    shape = (find(opened, options) for find in (unreachable_in_spark, dangling_in_spark, beginning_in_spark))
    findings = shape_findings(named, *shape)
    return report_on(named, report, findings, file)


class _Witnessed(Graph):
    """As much of the graph as its witnesses name, for those who describe them."""

    def __init__(self, opened: SparkGraph, report: Report) -> None:
        super().__init__()
        paths = (offence.path for offence in report.condition_2.witnesses)
        names = sorted({location for path in paths for location, _ in path})
        domains: dict[str, Domain] = {}
        if names:
            wanted = frame_of(opened.session, [(name,) for name in names], "name string")
            for table in (opened.nodes, opened.edges):
                domains |= {row["name"]: opened.domains[row["domain"]] for row in table.join(wanted, "name").collect()}
        self._known = Network(list(domains), list(domains.values()), [], [], [], [], [], [], [])

    def network(self) -> Network:
        """The named locations, as nodes without edges."""
        return self._known


# --- close -----------------------------------------------------------------------------------------------------------


@ends_on_interrupt()
def close_command(options: Namespace, say: Say) -> dict[str, list[Any]] | None:
    """The frontiers as `pointstamp close` shows them; None where they are in the file `options.output` already."""
    from graphs.arguments import pointstamp_in, read_graph

    graph = Tables(options.nodes, options.edges) if options.file is None else read_graph(options.file)
    if _said(graph, options.engine, say) == "local":
        local = local_graph(graph)
        return times_by_place(close(local, [pointstamp_in(local, text) for text in options.at]).frontiers)
    from graphs.at_scale.closure import close_in_spark

    opened = _opened(graph, options)
    try:
        if opened.mismatches:
            raise opened.mismatches[0].error
        with one_group(opened.session, Options(), "close"):
            starts = [_pointstamp(opened, text) for text in options.at]
        with _kept_to(options) as kept:
            closure = close_in_spark(opened, starts, kept)
        with one_group(opened.session, Options(), "write frontiers"):
            if options.output is None:
                return times_by_place(closure.frontiers)
            _write(closure, options.output)
            return None
    finally:
        opened.release()


def _pointstamp(graph: SparkGraph, text: str) -> tuple[str, Any]:
    """LOCATION=TIME, as `graphs.arguments.pointstamp_in` reads it."""
    from graphs.terminal import BadUsage

    cuts = [place for place, character in enumerate(text) if character == "="]
    names = frame_of(graph.session, [(text[:place],) for place in cuts], "name string")
    known = [row for table in (graph.nodes, graph.edges) for row in table.join(names, "name").collect()]
    row = min(known, key=lambda found: len(found["name"]), default=None)
    if row is None:
        raise BadUsage("usage", f"--at {shown(text)}: there is no such location", "LOCATION=TIME, like --at input=0")
    written = text[len(row["name"]) + 1 :]
    try:
        data = read_json(written)
    except PointstampError:
        data = written
    domain = graph.domains[row["domain"]]
    time = as_time(domain, read_time(data))
    if time is NO_TIME:
        raise BadUsage("usage", f"--at {shown(text)}: {shown(data)} is not a time there", times_of(domain))
    return row["name"], time


def _write(closure: SparkClosure, path: str) -> None:
    """The frontiers as one Parquet file, in order, without taking them through Python."""
    target = Path(path).resolve()
    columns = closure.graph.shapes.columns
    rows = closure.rows.orderBy("on_edge", "place", "shape", *columns)
    table = rows.selectExpr("location", f"{closure.graph.shapes.as_json()} AS time").coalesce(1)
    if target.exists() and not target.is_file():  # a file in place of a device would take that from everybody
        raise PointstampError("PS001", f"cannot write {path}: it is not a file", "a file, new or old")
    try:
        with TemporaryDirectory(dir=target.parent) as folder:
            table.write.mode("overwrite").parquet(Path(folder).as_uri())
            (part,) = Path(folder).glob("part-*.parquet")
            os.replace(part, target)  # noqa: PTH105
    except OSError as error:
        reason = error.strerror or str(error)
        raise PointstampError("PS001", f"cannot write {path}: {reason}", "a folder that exists") from None
