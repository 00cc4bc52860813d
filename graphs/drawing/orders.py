"""Orders of times as pictures: earlier times on the left, a line from each to the next later ones (Hasse diagrams).

Finite domains are shown whole; of others their first times, and those of the frontier: a line on which times are left
out says so by three dots. Pairs of numbers have a grid (`graphs.drawing.staircase`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from graphs.drawing.layout import laid_out
from graphs.drawing.plan import EdgePlan, NodePlan, Plan
from graphs.drawing.staircase import is_grid, staircase
from graphs.drawing.svg import Marks, svg
from graphs.drawing.text import shown
from graphs.terminal import bad_usage
from progress.antichain import minimal_elements
from progress.order import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged
from progress.plain import write_time

MOST = 200  # times of a picture


def picture_of_order(domain: Domain, frontier: Sequence[Any] | None, title: str) -> str:
    """The order of a domain as SVG; with a frontier, which times are at or above one of it.

    Cost: O(times * times * times) comparisons for the lines, of at most MOST times.
    """
    minimal = None if frontier is None else minimal_elements(domain, frontier)
    if is_grid(domain):
        return staircase(domain, minimal, title)
    plan, marks = hasse(domain, minimal)
    return svg(laid_out(plan), title, described(minimal), marks)


def described(frontier: Sequence[Any] | None) -> str:
    if frontier is None:
        return "Earlier times stand on the left; each line leads to a next later time"
    written = ", ".join(map(word, frontier)) or "nothing"
    return f"Times at or above {written} may still arrive; times with a dotted border are complete"


def word(time: Any) -> str:
    """A time as it is written."""
    return json.dumps(write_time(time), ensure_ascii=False, default=str)


def hasse(domain: Domain, frontier: Sequence[Any] | None) -> tuple[Plan, Marks]:
    """The times to show, with a line from each to the next later ones; which of them are minimal, and complete."""
    times = _times(domain, frontier or ())
    less = [[one is not other and _comes_before(domain, one, other) for other in times] for one in times]
    places = range(len(times))
    covers = [
        (one, other)
        for one in places
        for other in places
        if less[one][other] and not any(less[one][mid] and less[mid][other] for mid in places)
    ]
    names = [word(time) for time in times]
    nodes = tuple(NodePlan(name, (shown(name),)) for name in names)
    edges = tuple(
        EdgePlan(
            f"{names[one]} < {names[other]}", one, other, "…" if _is_between(domain, times[one], times[other]) else ""
        )
        for one, other in covers
    )
    if frontier is None:
        return Plan(nodes, edges), Marks()
    passed = [name for name, time in zip(names, times, strict=True) if not _may_arrive(domain, frontier, time)]
    return Plan(nodes, edges), Marks(way=[word(time) for time in frontier], passed=passed)


def _may_arrive(domain: Domain, frontier: Sequence[Any], time: Any) -> bool:
    return any(domain.less_equal(least, time) for least in frontier)


def _is_between(domain: Domain, one: Any, other: Any) -> bool:
    """Whether some time is known to stand between two."""
    found = _moved_up(domain, one)
    return any(_comes_before(domain, one, time) and _comes_before(domain, time, other) for time in found)


def _comes_before(domain: Domain, earlier: Any, later: Any) -> bool:
    return domain.less_equal(earlier, later) and not domain.less_equal(later, earlier)


def _moved_up(domain: Domain, time: Any) -> list[Any]:
    """The time with one of its numbers a step further, where times are made of numbers."""
    if isinstance(domain, Nat | Int):
        found = [time + 1]
    elif isinstance(domain, Product | Lex):
        found = [
            (*time[:place], up, *time[place + 1 :])
            for place, part in enumerate(domain.parts)
            for up in _moved_up(part, time[place])
        ]
    elif isinstance(domain, Sum):
        found = [Tagged(time.tag, up) for up in _moved_up(domain.summands[time.tag], time.value)]
    else:
        found = []
    return [each for each in found if domain.contains(each)]


def _times(domain: Domain, frontier: Sequence[Any]) -> list[Any]:
    given = list(domain.elements) if isinstance(domain, Finite) else [*domain.sample(), *frontier]
    times = sorted({word(time): time for time in given}.values(), key=domain.sort_key)
    if len(times) > MOST:
        raise bad_usage(f"the order has {len(times)} times, more than can be drawn", f"an order of at most {MOST}")
    return times
