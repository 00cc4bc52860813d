"""The text of `pointstamp check`: a verdict a file, every finding with its witness drawn, and a last line that counts.

A walk is drawn downwards: `●` is a node, `↓` an edge, and the rail on the left leads back to where it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphs.checking.diagnostic import Diagnostic, FileReport
from graphs.checking.witness import Step, Walk, walk_of
from graphs.wording import plural, printable

RED, GREEN, YELLOW, CYAN, BOLD, DIM = "31", "32", "33", "36", "1", "2"
COLORS = {"error": RED, "warning": YELLOW, "note": CYAN}
MOST_ROWS = 20  # a walk of more rows is shortened in the middle
END_ROWS = 6  # what is kept of it at either end
FALLS = 3  # and around so many of the steps where the time falls

VERDICTS = {
    "condition_1": "Condition 1",
    "condition_2": "Condition 2",
    "transitive": "transitive",
    "advancing": "advancing",
}
NOT_JUDGED = {"PS401": "all times fit together", "PS41": "the graph is one that calls can run"}
UNDECIDED = "on a cycle with a summary of your own, or one that would take too many steps to decide"


def render(reports: Sequence[FileReport], color: bool = False) -> str:
    """The whole report, ended by a newline. `color`: with the 16 colours of every terminal."""
    paint = _Paint(color)
    explained: set[str] = set()
    blocks = ["\n\n".join(_file(report, paint, explained)) for report in reports]
    separated: list[str] = []
    for block in blocks:  # a verdict without findings stands close to its neighbours
        apart = separated and ("\n" in block or "\n" in separated[-1])
        separated.append(f"\n{block}" if apart else block)
    last = _summary(reports, paint)
    return "\n".join([*separated, f"\n{last}" if reports else last]) + "\n"


class _Paint:
    """Colours, or none."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.color and text else text


def _file(report: FileReport, paint: _Paint, explained: set[str]) -> Iterable[str]:
    yield _verdict(report, paint)
    for diagnostic in report.diagnostics:
        yield "\n".join(_diagnostic(report.file, diagnostic, paint, explained))


def _verdict(report: FileReport, paint: _Paint) -> str:
    errors, warnings, found = _found([report])
    if not report.readable:
        mark, words = paint("✗", BOLD, RED), "cannot be read as a graph"
    elif errors:
        mark, words = paint("✗", BOLD, RED), found
    elif warnings:
        mark, words = paint("!", BOLD, YELLOW), f"good, with {found}"
    else:
        mark, words = paint("✓", BOLD, GREEN), f"good, with {found}" if found else "good"
    sentences = "".join(f" {sentence}." for sentence in _proved(report))
    return f"{mark} {paint(printable(report.file), BOLD)}: {words}.{sentences}"


def _proved(report: FileReport) -> Iterable[str]:
    """What is known of the four verdicts; nothing of a file that is not a graph."""
    if not report.readable:
        return
    named: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for key, words in VERDICTS.items():
        named[report.conditions[key]["holds"]].append(words)
    if len(named[None]) == len(VERDICTS):
        for beginning, why in NOT_JUDGED.items():
            if any(diagnostic.code.startswith(beginning) for diagnostic in report.diagnostics):
                yield f"Not judged before {why}"
                return
    if named[True]:
        yield f"Proved: {', '.join(named[True])}"
    if named[False]:
        yield f"Fails: {', '.join(named[False])}"
    if named[None]:
        yield f"Undecided: {', '.join(named[None])} ({UNDECIDED})"


def _diagnostic(file: str, diagnostic: Diagnostic, paint: _Paint, explained: set[str]) -> Iterable[str]:
    color = COLORS[diagnostic.severity]
    place = ":".join(str(part) for part in (printable(file), diagnostic.line, diagnostic.column) if part is not None)
    severity, name = paint(diagnostic.severity, BOLD, color), paint(diagnostic.name, BOLD)
    yield f"{paint(place, BOLD)}: {severity} {diagnostic.code} {name}"
    yield f"  {printable(diagnostic.message)}"
    walk = walk_of(diagnostic)
    if walk:
        yield ""
        yield from _drawn(walk, paint, color)
        yield ""
    if diagnostic.hint:
        yield f"  {paint('hint:', CYAN)} {printable(diagnostic.hint)}"
    if diagnostic.code not in explained:
        explained.add(diagnostic.code)
        yield f"  {paint('more:', CYAN)} pointstamp explain {diagnostic.code}"


def _drawn(walk: Walk, paint: _Paint, color: str) -> Iterable[str]:
    kept = _kept(walk.steps)
    shown = [walk.steps[position] for position in kept]
    names = max(len(step.location) for step in shown)
    times = max(len(step.time) for step in shown)
    last = len(walk.steps) - 1
    before = -1
    for position, step in zip(kept, shown, strict=True):
        rail = "" if not walk.returns else "╭─" if position == 0 else "╰─" if position == last else "│ "
        if position > before + 1:
            left_out = position - before - 1
            if before < len(walk.steps) // 2 <= position:
                left_out += walk.left_out
            yield f"    {paint('│ ' if walk.returns else '', DIM)}⋮ {paint(f'{left_out} more steps', DIM)}"
        before = position
        mark, name = "●" if step.is_node else "↓", step.location.ljust(names)
        row = f"    {paint(rail, DIM)}{mark} {name}  {paint(step.time, CYAN)}"
        if step.note:
            row += " " * (times - len(step.time) + 3)
            row += paint(step.note, color if step.falls or position == last else DIM)
        yield row


def _kept(steps: Sequence[Step]) -> list[int]:
    """The rows to draw: all of a short walk; of a long one both ends, and the steps where the time first falls."""
    if len(steps) <= MOST_ROWS:
        return list(range(len(steps)))
    kept = {*range(END_ROWS), *range(len(steps) - END_ROWS, len(steps))}
    falls = [position for position, step in enumerate(steps) if step.falls][:FALLS]
    kept.update(position + offset for position in falls for offset in (-1, 0))
    gaps = [position for position in range(len(steps)) if position - 1 in kept and position + 1 in kept]
    return sorted(kept.union(gaps))


def _count(reports: Iterable[FileReport], severity: str) -> int:
    return sum(diagnostic.severity == severity for report in reports for diagnostic in report.diagnostics)


def _found(reports: Sequence[FileReport]) -> tuple[int, int, str]:
    """How many errors and warnings there are, and all findings counted in words."""
    errors, warnings, notes = (_count(reports, severity) for severity in COLORS)
    return errors, warnings, _counted((errors, "error"), (warnings, "warning"), (notes, "note"))


def _counted(*numbers: tuple[int, str]) -> str:
    """`1 error, 2 warnings`; what there is none of is left out."""
    return ", ".join(f"{number} {plural(number, word)}" for number, word in numbers if number)


def _summary(reports: Sequence[FileReport], paint: _Paint) -> str:
    errors, warnings, found = _found(reports)
    files = f"{_counted((len(reports), 'file')) or 'no files'} checked"
    if len(reports) > 1:
        files += f", {sum(report.valid for report in reports)} good"
    color = RED if errors else YELLOW if warnings else GREEN
    return f"{files}: {paint(found or 'nothing to complain about', color)}."
