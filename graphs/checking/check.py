"""`pointstamp check`: from the engine's verdicts and the graph's shape to diagnostics (docs/conditions.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.checking.mending import Mending, advance_that_mends
from graphs.codes import Severity, code
from graphs.files.document import quoted
from graphs.files.notation import shown
from graphs.files.reading import from_text
from graphs.graph import Graph, Mismatch, emitting
from graphs.shape import beginning, dangling, never_called, unreachable
from graphs.wording import first_of
from progress.conditions import EarlyRequest, Offence, Report, Standstill, check_conditions
from progress.errors import PointstampError
from progress.plain import pairs, write_time
from progress.topology import not_a_graph

UNDECIDED: dict[str, dict[str, Any]] = {
    verdict: {"holds": None} for verdict in ("condition_1", "condition_2", "transitive", "advancing")
}
MOST_NAMES = 5
MOST_STEPS = 50  # at each end of a round whose stacks are deep; an even number, for nodes and edges take turns


def check_text(content: bytes, file: str) -> FileReport:
    """The report on a file's content; what cannot be read has one PS0xx diagnostic and undecided verdicts."""
    try:
        return check_graph(from_text(content, file), file)
    except PointstampError as error:
        return unreadable(file, error)


def unreadable(file: str, error: PointstampError) -> FileReport:
    """The report on a file that is not a graph."""
    return FileReport(file, UNDECIDED, [_diagnostic_of(error)], readable=False)


def check_graph(graph: Graph, file: str = "") -> FileReport:
    """The report on a graph. Cost: `progress.check_conditions`, and O(nodes + edges) for the shape.

    Returns
    -------
    The verdicts and findings.

    Raises
    ------
    PointstampError
        PS617 where it is no graph, as the name of a file.

    Examples
    --------
    >>> from pointstamp import check_graph, from_edges
    >>> [finding.code for finding in check_graph(from_edges([("a", "b"), ("b", "a")])).diagnostics]
    ['PS301']
    """
    if not isinstance(graph, Graph):
        raise not_a_graph(graph)
    network, mismatches = graph.resolve()
    diagnostics = [mismatch_found(graph, mismatch) for mismatch in mismatches]
    if mismatches:
        return FileReport(file, UNDECIDED, diagnostics, readable=True)
    return report_on(graph, check_conditions(network), _shape(graph), file)


def report_on(graph: Graph, report: Report, shape: Iterable[Diagnostic], file: str) -> FileReport:
    """The report on a graph that was judged already, with what was found of its shape."""
    diagnostics = list(shape)
    diagnostics += [_early_request(graph, early) for early in report.condition_1.witnesses]
    diagnostics += [_offence(graph, offence) for offence in report.condition_2.witnesses]
    diagnostics += [_standstill(graph, standstill) for standstill in report.advancing.standstills]
    diagnostics.sort(key=lambda found: (found.line or 0, found.column or 0, found.code))
    return FileReport(file, verdicts(report), diagnostics, readable=True)


def verdicts(report: Report) -> dict[str, dict[str, Any]]:
    """The four verdicts as docs/conditions.md shows them."""
    conditions: dict[str, dict[str, Any]] = {
        "condition_1": {"holds": report.condition_1.holds},
        "condition_2": {"holds": report.condition_2.holds},
        "transitive": {"holds": report.transitive.holds},
        "advancing": {"holds": report.advancing.holds},
    }
    if report.condition_1.witness:
        conditions["condition_1"]["witness"] = _early_witness(report.condition_1.witness)
    if report.condition_2.witness:
        conditions["condition_2"]["witness"] = _offence_witness(report.condition_2.witness)
    if report.transitive.counterexample:
        conditions["transitive"]["counterexample"] = pairs(report.transitive.counterexample)
    if report.advancing.cycle:
        conditions["advancing"]["cycle"] = list(report.advancing.cycle)
    return conditions


def _early_witness(early: EarlyRequest) -> dict[str, Any]:
    return {"node": early.node, "time": write_time(early.time), "requests": write_time(early.requests)}


def _offence_witness(offence: Offence) -> dict[str, Any]:
    return {
        "node": offence.node,
        "edge": offence.edge,
        "time": write_time(offence.time),
        "arrives": write_time(offence.arrives),
        "path": pairs(offence.path),
    }


# --- one diagnostic for each finding ---------------------------------------------------------------------------------


def _diagnostic(
    graph: Graph, number: str, location: str, message: str, hint: str, witness: dict[str, Any], severity: Severity
) -> Diagnostic:
    line, column = graph.position_of(location)
    return Diagnostic(number, code(number).name, severity, message, hint, line, column, witness)


def _diagnostic_of(error: PointstampError) -> Diagnostic:
    return Diagnostic(
        error.code, code(error.code).name, "error", error.message, error.hint, error.line, error.column, {}
    )


def mismatch_found(graph: Graph, mismatch: Mismatch) -> Diagnostic:
    error = mismatch.error
    witness = dict(mismatch.witness) or {"location": mismatch.location}
    return _diagnostic(graph, error.code, mismatch.location, error.message, error.hint, witness, "error")


def _early_request(graph: Graph, early: EarlyRequest) -> Diagnostic:
    message = (
        f"an event at {shown(early.time)} may make {quoted(early.node)} request a notification at "
        f"{shown(early.requests)}, which is not at or after it"
    )
    hint = f"let the requests of {quoted(early.node)} be identity, or advance them"
    return _diagnostic(graph, "PS101", early.node, message, hint, _early_witness(early), "error")


def _offence(graph: Graph, offence: Offence) -> Diagnostic:
    number = "PS201" if offence.strictly_below else "PS202"
    relation = "before it started" if offence.strictly_below else "neither before nor after it started"
    message = (
        f"a message from {quoted(offence.node)} at {shown(offence.time)} can come back to it on {quoted(offence.edge)} "
        f"at {shown(offence.arrives)}, {relation}"
    )
    fall = _first_fall(graph, offence)
    culprit = fall or offence.path[-2].location
    if offence.strictly_below:
        hint = f"change the summary of {quoted(culprit)} so that times do not move down"
        mending = None if fall else advance_that_mends(graph.network(), offence.path)
        if mending is not None:
            culprit, hint = mending.node, _advance(mending)
    else:
        hint = "order the loop counters with lex instead of product, if the outer loop should come first"
    return _diagnostic(
        graph,
        number,
        culprit,
        message,
        hint,
        _offence_witness(offence),
        "error" if offence.strictly_below else "warning",
    )


def _advance(mending: Mending) -> str:
    node, edge, word = mending
    return f"let {quoted(node)} advance the time on {quoted(edge)}, for instance with {emitting(edge, word)}"


def _first_fall(graph: Graph, offence: Offence) -> str | None:
    """The node whose step moves the time down, where its domain can tell."""
    network = graph.network()
    for (node, before), (edge, after) in zip(offence.path[::2], offence.path[1::2], strict=True):
        domain = network.domain(network.number(edge))
        if domain == network.domain(network.number(node)) and not domain.less_equal(before, after):
            return node
    return None


def _standstill(graph: Graph, standstill: Standstill) -> Diagnostic:
    start, end = standstill.round[0], standstill.round[-1]
    names = " -> ".join(map(quoted, standstill.cycle[:6])) + (" -> ..." if len(standstill.cycle) > 6 else "")
    message = (
        f"the cycle {names} can return to {quoted(start.location)} at {shown(end.time)}, "
        f"having left at {shown(start.time)}"
    )
    hint = "advance the time on the cycle, for instance with summary: {advance: 1} or feedback on one of its nodes"
    network = graph.network()
    if len({id(network.domain(network.number(location))) for location in standstill.cycle}) > 1:
        mending = advance_that_mends(network, standstill.round)
        hint = hint if mending is None else _advance(mending)
    if graph.recursion is not None:
        hint = "let each round be a call of its own: only calls tell rounds apart"
        hint += "; or notify: false for what runs there" if standstill.notifies else ""
    severity: Severity = "error" if standstill.notifies else "warning"
    witness: dict[str, Any] = {"cycle": list(standstill.cycle), "round": pairs(standstill.round)}
    if graph.recursion is not None:
        if len(standstill.round) > 2 * MOST_STEPS:
            witness["round"] = [*pairs(standstill.round[:MOST_STEPS]), *pairs(standstill.round[-MOST_STEPS:])]
            witness["left_out"] = len(standstill.round) - 2 * MOST_STEPS
        witness["times"] = "stack" if graph.time.epochs is None else ["epoch", "stack"]
    return _diagnostic(graph, "PS301", standstill.cycle[0], message, hint, witness, severity)


def _shape(graph: Graph) -> Iterator[Diagnostic]:
    if graph.recursion is not None:  # PS411 and PS412 say the rest
        yield from _never_called(graph)
        return
    network = graph.network()
    found = unreachable(network), dangling(network), beginning(network)
    yield from shape_findings(graph, *([network.name(location) for location in each] for each in found))


def shape_findings(
    graph: Graph, nothing_arrives: Sequence[str], no_effect: Sequence[str], begin: Sequence[str]
) -> Iterator[Diagnostic]:
    """What is unreachable (PS402), what is dangling (PS403), and what no edge leads to (PS404)."""
    for number, names, message, hint in (
        (
            "PS402",
            nothing_arrives,
            "nothing can ever arrive at {}: no input edge and no node that asks for notifications leads there",
            "add an edge to it, or remove it",
        ),
        (
            "PS403",
            no_effect,
            "what arrives at {} has no effect: no output edge and no node that asks for notifications follows",
            "let a node there ask for notifications, add an output edge, or remove it",
        ),
        (
            "PS404",
            begin,
            "no edge leads to {}: something happens there only if it begins by itself, with a notification that it "
            "asks for at the start",
            "add an input edge, or leave it as it is where that is meant",
        ),
    ):
        if names:
            witness = {"locations": list(names[:100])}
            severity = code(number).severity
            yield _diagnostic(graph, number, names[0], message.format(_listed(names)), hint, witness, severity)


def _never_called(graph: Graph) -> Iterator[Diagnostic]:
    for procedure in never_called(graph.call_graph()):
        names = [graph.call_graph().nodes[node] for node in procedure]
        message = f"nothing can ever arrive at {_listed(names)}: no call leads from the main graph to theirs"
        hint = "call it, or remove it"
        yield _diagnostic(graph, "PS402", names[0], message, hint, {"locations": names[:100]}, "warning")


def _listed(names: Sequence[str]) -> str:
    return first_of(names, MOST_NAMES, quoted)
