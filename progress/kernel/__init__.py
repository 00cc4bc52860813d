"""The way to the compiled kernel (`kernel/`), for graphs whose times are numbers or flat rows, and for plain data.

On graphs it is the twin of `progress.engines.eager` and gives the same answers. It takes part where it was compiled,
where no summary rounds or leads down without end, and where every component is known to advance; numbers beyond 61 bits
are left to the twin. Plain data it writes and reads as `progress.runtime.durable` does, wherever it was compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from progress.normal_form.backwards import reaches
from progress.order import Domain, Nat, is_flat, is_number
from progress.summary import NormalSummary, Summary

if TYPE_CHECKING:
    from progress.engines.arcs import Arcs

try:
    from progress import _kernel
    from progress._kernel import Kernel, PlainData

    BUILT = True
    TooMuchForKernel: type[Exception] = _kernel.TooMuchWork
except ImportError:  # no compiler was there when this was installed: the twin does the same, slower
    BUILT = False
    TooMuchForKernel = type("TooMuchForKernel", (Exception,), {})  # which nobody raises

MOST_PLACES = 8
MOST_PIECES = 64

Piece = tuple[tuple[Any, ...], tuple[Any, ...]]


def compiled(graph: Arcs) -> Compiled | None:
    """The kernel on a graph; None where it was not compiled or does not fit. Cost: O(vertices + arcs)."""
    if not BUILT or graph.endless or _has_stubborn_unit(graph):
        return None
    sources, targets = [source for source, _, _ in graph.arcs], [target for _, target, _ in graph.arcs]
    return kernel_over(graph.domains, graph.component, sources, targets, [summary for _, _, summary in graph.arcs])


def kernel_over(
    domains: Sequence[Domain],
    component: Sequence[int],
    sources: Sequence[int],
    targets: Sequence[int],
    summaries: Sequence[Summary | None],
) -> Compiled | None:
    """The kernel on vertices and arcs in parallel lists, arcs without a source, a target or a summary left out."""
    forms: list[tuple[int, bool, bool]] = []
    form_numbers: dict[int, int] = {}
    for domain in {id(domain): domain for domain in domains}.values():
        shape = shape_of(domain)
        if shape is None:
            return None
        form_numbers[id(domain)] = len(forms)
        forms.append(shape)
    kinds: list[tuple[int, int, tuple[Piece, ...]]] = []
    kind_numbers: dict[int, int] = {id(None): -1}
    for summary in {id(summary): summary for summary in summaries}.values():
        if summary is None:
            continue
        pieces, before, after = pieces_of(summary), shape_of(summary.source), shape_of(summary.target)
        if pieces is None or before is None:
            return None
        kind_numbers[id(summary)] = len(kinds) if after is not None else -1  # an output edge's times may be any
        if after is not None:
            kinds.append((before[0], after[0], pieces))
    highest = max(component, default=0)
    try:
        return Compiled(
            forms,
            [form_numbers[id(domain)] for domain in domains],
            [highest - number for number in component],
            kinds,
            list(sources),
            list(targets),
            [kind_numbers[id(summary)] for summary in summaries],
        )
    except OverflowError:
        return None


def plain_data(
    not_plain: type[Exception],
    not_read: type[Exception],
    hashed: Callable[[Any], Iterable[Any]],
    deepest: int,
    largest_key: int,
    most: int,
) -> PlainData | None:
    """Who writes and reads plain data within these limits; None where the kernel was not compiled. Cost: O(1)."""
    return PlainData(not_plain, not_read, hashed, deepest, largest_key, most) if BUILT else None


if BUILT:

    class Compiled(Kernel):
        """The kernel as `progress.engines.propagation` wants it."""

        __slots__ = ()
        name = "eager"

        @property
        def kernel(self) -> Compiled:
            """The kernel: this is it."""
            return self

        def freed(self, woken: list[int]) -> list[int]:
            """Of the waiters that were released, those that nothing blocks: here all."""
            return woken

        def reaches(self, vertex: int, summary: Summary, time: Any) -> bool:
            """Whether something may come to the vertex that the summary moves to `time` or below."""
            return reaches(summary, time, partial(self.covers, vertex), lambda: self.times(vertex))


def shape_of(domain: Domain) -> tuple[int, bool, bool] | None:
    """How many numbers a time has, whether it is a row, and whether any two are comparable."""
    if is_number(domain):
        return 1, False, True
    if not is_flat(domain) or len(domain.parts) > MOST_PLACES:  # type: ignore[attr-defined]
        return None
    return len(domain.parts), True, domain.is_total  # type: ignore[attr-defined]


def limits_of(domain: Domain) -> tuple[tuple[int | None, int | None], ...]:
    """The least and the greatest number of each place of a flat domain; None where there is none."""
    parts = (domain,) if is_number(domain) else domain.parts  # type: ignore[attr-defined]
    return tuple((0, part.maximum) if isinstance(part, Nat) else (None, None) for part in parts)


def pieces_of(summary: Summary) -> tuple[Piece, ...] | None:
    """The pieces of a summary as the kernel reads them; None where one rounds or leads down without end."""
    if not isinstance(summary, NormalSummary) or len(summary.pieces) > MOST_PIECES:
        return None
    found = []
    for piece in summary.pieces:
        moves = []
        for word, floor in piece.moves:
            if (word is None and floor is None) or (word is not None and len(word) > 1):
                return None
            moves.append((None if word is None else word[0], floor))
        found.append((tuple(tuple(limit) for limit in piece.box), tuple(moves)))
    return tuple(found)


def _has_stubborn_unit(graph: Arcs) -> bool:
    seen: set[int] = set()
    for vertex in graph.stubborn:
        if graph.component[vertex] in seen:
            return True
        seen.add(graph.component[vertex])
    return False
