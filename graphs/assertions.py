"""Graphs in the tests of those who use them: an assertion with the report of `pointstamp check` as its message."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from graphs.checking.check import check_graph, check_text, unreadable
from graphs.checking.diagnostic import FileReport
from graphs.checking.report_text import render
from graphs.codes import code
from graphs.files.document import read_file
from graphs.files.reading import from_data
from graphs.graph import Graph
from progress.errors import PointstampError

AssertValidGraph: TypeAlias = Callable[..., FileReport]


def assert_valid_graph(
    graph: Any, *, tool: str | None = None, ignore: Collection[str] | str = (), strict: bool = False
) -> FileReport:
    """Raise AssertionError with what `pointstamp check` prints where a graph has errors; else answer the report.

    Parameters
    ----------
    graph : a `Graph`, the path of a graph file, its data as a mapping, a networkx graph, or anything that has one of
        them as `graph`: a `Dataflow`, a `Flow`
    tool : of whose graph the other argument is the target, as for `check --from`: `("app:graph", tool="langgraph")`
    ignore : codes (`"PS402"`) or names (`"unreachable"`) of findings that are left out
    strict : warnings are errors, too

    Returns
    -------
    The report, with what is left to say.

    Raises
    ------
    AssertionError
        where the graph has errors, or there is none in what is given.
    PointstampError
        PS614 where `ignore` names a code that does not exist.

    Examples
    --------
    >>> from pointstamp import assert_valid_graph, from_edges
    >>> report = assert_valid_graph(from_edges([(None, "a"), ("a", None)]))
    >>> report.valid
    True
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not this one
    left_out = {code(word).number for word in ([ignore] if isinstance(ignore, str) else ignore)}
    report = report_of(graph, tool)
    report = report._replace(diagnostics=[found for found in report.diagnostics if found.code not in left_out])
    serious = ("error", "warning") if strict else ("error",)
    if any(found.severity in serious for found in report.diagnostics):
        raise AssertionError(_said(report))
    return report


def report_of(graph: Any, tool: str | None = None) -> FileReport:
    """What `pointstamp check` says of a graph; `graph` and `tool` as for `assert_valid_graph`."""
    if tool is not None:
        from graphs.adapters import adapter
        from graphs.adapters.report import check_target

        return check_target(adapter(tool), str(graph))
    if isinstance(graph, str | os.PathLike):
        file = os.fspath(graph)
        try:
            return check_text(read_file(str(file)), str(file))
        except PointstampError as error:
            return unreadable(str(file), error)
    try:
        found = _graph_of(graph)
    except PointstampError as error:
        return unreadable("the graph", error)
    return check_graph(found, found.name or "the graph")


def _graph_of(value: Any) -> Graph:
    if isinstance(value, Graph):
        return value
    if isinstance(value, Mapping):
        return from_data(value)
    if hasattr(value, "is_directed") and hasattr(value, "nodes"):
        from graphs.adapters.networkx import from_networkx

        return from_networkx(value)
    inner = getattr(value, "graph", None)
    if isinstance(inner, Graph):
        return inner
    said = f"what is to be checked is {type(value).__name__}"
    raise PointstampError("PS617", said, "a Graph, a path, the data of a graph, a networkx graph, or a Dataflow")


def _said(report: FileReport) -> str:
    if report.readable:
        return f"the graph is not valid\n\n{render([report])}"
    found = report.diagnostics[0]
    place = ":".join(str(part) for part in (report.file, found.line, found.column) if part is not None)
    return f"{place}: {PointstampError(found.code, found.message, found.hint)}"
