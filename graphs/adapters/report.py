"""From what an adapter found to a report of `pointstamp check`.

The graph is judged by the engine like one of a file. Its shape is not: a tool's graph begins and ends as the tool says,
and what would be wrong there the adapter says in the tool's words.
"""

from __future__ import annotations

from graphs.adapters import Adapter, Finding, Found
from graphs.adapters.target import failed, is_theirs
from graphs.checking.check import UNDECIDED, check_graph, unreadable
from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.codes import code
from progress.errors import PointstampError

ABOUT_SHAPE = ("PS402", "PS403", "PS404")


def check_target(read: Adapter, target: str) -> FileReport:
    """The report on a target. Cost: reading it, and `graphs.checking.check.check_graph` of its graph."""
    try:
        return report_on(read(target), target)
    except PointstampError as error:
        return unreadable(target, error)
    except Exception as error:
        if is_theirs(error):  # a method of the user's, which the tool or its adapter has called
            return unreadable(target, failed(target, error))
        raise


def report_on(found: Found, target: str) -> FileReport:
    """The report on what was found: findings first, then the engine's own, then what stays unknown."""
    judged = check_graph(found.graph, target) if found.graph.nodes else FileReport(target, UNDECIDED, [], readable=True)
    diagnostics = [_diagnostic(finding) for finding in found.findings]
    diagnostics += [each for each in judged.diagnostics if each.code not in (*ABOUT_SHAPE, *found.told)]
    diagnostics += [_diagnostic(Finding("PS919", sentence)) for sentence in found.unknown]
    return judged._replace(diagnostics=diagnostics)


def _diagnostic(finding: Finding) -> Diagnostic:
    entry = code(finding.code)
    severity = finding.severity or entry.severity
    witness = dict(finding.witness)
    return Diagnostic(entry.number, entry.name, severity, finding.message, finding.hint, None, None, witness)
