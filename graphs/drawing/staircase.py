"""The grid of pairs of numbers, and a frontier in it: a staircase, above and right of which times may still arrive."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from graphs.drawing.routes import decimal
from graphs.drawing.svg import document, safe
from graphs.drawing.text import SIZE, width
from progress.order import Domain, Int, Nat, Product

STEP = 40.0  # pixels from one number to the next
LARGEST = 720.0  # pixels of the grid, beyond which its numbers move together
AROUND = 2  # numbers that are shown beyond those of the frontier
LOW = 22.0  # pixels that two written times stand apart at least


def is_grid(domain: Domain) -> bool:
    """Whether times are pairs of numbers, of which neither comes first."""
    return (
        isinstance(domain, Product) and len(domain.parts) == 2 and all(isinstance(p, Nat | Int) for p in domain.parts)
    )


def staircase(domain: Domain, frontier: Sequence[Any] | None, title: str) -> str:
    """The grid as SVG. `frontier` is an antichain; None: every time may arrive, so there is no staircase."""
    assert isinstance(domain, Product)
    return _Grid(domain, frontier).drawn(title)


class _Grid:
    def __init__(self, domain: Product, frontier: Sequence[Any] | None) -> None:
        self.frontier = sorted(frontier or (), key=lambda pair: (pair[0], -pair[1]))
        self.known = frontier is not None
        ranges = [self._range(part, axis) for axis, part in enumerate(domain.parts)]
        self.low: list[int] = [low for low, _ in ranges]
        self.high: list[int] = [high for _, high in ranges]
        spans = [max(1, high - low) for low, high in zip(self.low, self.high, strict=True)]
        self.step = [min(STEP, LARGEST / span) for span in spans]
        self.left = 24 + max([width(_written(pair)) for pair in self.frontier], default=0.0)
        self.top = 30.0
        self.across = [span * step for span, step in zip(spans, self.step, strict=True)]

    def _range(self, part: Domain, axis: int) -> tuple[int, int]:
        numbers = [pair[axis] for pair in self.frontier] or [0]
        low, high = min(numbers) - AROUND, max(numbers) + AROUND + 1
        if isinstance(part, Nat):
            low = max(low, 0) if max(numbers) > 12 else 0
            if part.maximum is not None:
                high = min(high, part.maximum)
        return low, max(high, low)

    def x(self, number: float) -> float:
        return self.left + (number - self.low[0]) * self.step[0]

    def y(self, number: float) -> float:
        return self.top + self.across[1] - (number - self.low[1]) * self.step[1]

    def drawn(self, title: str) -> str:
        right, bottom = self.left + self.across[0] + 30, self.top + self.across[1] + 50
        body = [*self._region(), *self._axes(), *self._dots(), *self._corners()]
        written = ", ".join(map(_written, self.frontier)) or "nothing"
        says = f"Times at or above {written} may still arrive" if self.known else "Every pair is a time"
        return document(right, bottom, title, f"{says}; the first number to the right, the second upwards", body)

    def _region(self) -> list[str]:
        """What may still arrive, and the staircase below it."""
        if not self.frontier:
            return []
        end_x, end_y = self.x(self.high[0]) + 14, self.y(self.high[1]) - 14
        stairs = [(self.x(self.frontier[0][0]), end_y)]
        stairs += [(self.x(self.frontier[0][0]), self.y(self.frontier[0][1]))]
        for (_, above), (right, below) in pairwise(self.frontier):
            stairs += [(self.x(right), self.y(above)), (self.x(right), self.y(below))]
        stairs.append((end_x, self.y(self.frontier[-1][1])))
        path = "M" + "L".join(f"{decimal(x)} {decimal(y)}" for x, y in stairs)
        area = f"{path}L{decimal(end_x)} {decimal(end_y)}Z"
        return [
            f'<g class="region"><title>what may still arrive</title><path d="{area}"/>'
            f'<path class="stairs" d="{path}"/></g>'
        ]

    def _numbers(self, axis: int) -> list[int]:
        low, high = self.low[axis], self.high[axis]
        if self.step[axis] >= LOW:
            return list(range(low, high + 1))
        apart = max(1, -(-(high - low) // 10))
        return list(range(low, high + 1, apart))

    def _axes(self) -> list[str]:
        bottom = self.top + self.across[1] + 36
        found = [f'<text x="{decimal(self.x(n))}" y="{decimal(bottom)}">{n}</text>' for n in self._numbers(0)]
        found += [f'<text x="14" y="{decimal(self.y(n) + SIZE / 3)}">{n}</text>' for n in self._numbers(1)]
        return ['<g class="axis"><title>the numbers of the two coordinates</title>', *found, "</g>"]

    def _dots(self) -> list[str]:
        """Every pair, where there is room for them; those that may still arrive filled."""
        if min(self.step) < LOW:
            return []
        found = []
        for one in self._numbers(0):
            for other in self._numbers(1):
                if self._under_a_label(self.x(one), self.y(other)):
                    continue
                arrives = not self.known or any(a <= one and b <= other for a, b in self.frontier)
                kind = "dot" if arrives else "dot passed"
                says = f"[{one}, {other}] {'may still arrive' if arrives else 'is complete'}"
                found.append(
                    f'<g class="{kind}"><title>{says}</title>'
                    f'<circle cx="{decimal(self.x(one))}" cy="{decimal(self.y(other))}" r="3"/></g>'
                )
        return found

    def _under_a_label(self, x: float, y: float) -> bool:
        for pair in self.frontier:
            right, top = self.x(pair[0]) - 4, self.y(pair[1])
            if right - width(_written(pair)) - 8 < x < right and top - 2 < y < top + SIZE + 10:
                return True
        return False

    def _corners(self) -> list[str]:
        found = []
        last = float("-inf")
        for pair in self.frontier:
            x, y = self.x(pair[0]), self.y(pair[1])
            says = ""
            if y - last >= LOW:
                last = y
                at = f'x="{decimal(x - 8)}" y="{decimal(y + SIZE + 3)}"'
                says = f'<text class="end" {at}>{safe(_written(pair))}</text>'
            found.append(
                f'<g class="corner"><title>{safe(_written(pair))} is a minimal time</title>'
                f'<circle cx="{decimal(x)}" cy="{decimal(y)}" r="5"/>{says}</g>'
            )
        return found


def _written(pair: Sequence[int]) -> str:
    return f"[{pair[0]}, {pair[1]}]"
