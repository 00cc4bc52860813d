"""The grid of pairs of numbers, and a frontier in it: a staircase, above and right of which times may still arrive."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

from graphs.drawing.routes import decimal
from graphs.drawing.svg import document, safe
from graphs.drawing.text import SIZE, shown, width
from progress.order import Domain, Int, Nat, Product

STEP = 40.0  # pixels from one number to the next
LARGEST = 720.0  # pixels of the grid, beyond which its numbers move together
AROUND = 2  # numbers that are shown beyond those of the frontier
LONGEST = 24  # characters of a number
BESIDE = 10.0  # pixels from the numbers beside the grid to its first column, at least
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
        self.span = [max(1, high - low) for low, high in zip(self.low, self.high, strict=True)]
        self.across = [min(STEP * min(span, LARGEST), LARGEST) for span in self.span]
        self.widest = [
            max(width(_number(low)), width(_number(high))) for low, high in zip(self.low, self.high, strict=True)
        ]
        self.gutter = max(28.0, self.widest[1] + 8)  # in which the numbers of the second coordinate stand
        self.left = self.gutter + max([BESIDE, *(width(_written(pair)) - 4 for pair in self.frontier)])
        self.top = 30.0

    def _range(self, part: Domain, axis: int) -> tuple[int, int]:
        numbers = [pair[axis] for pair in self.frontier] or [0]
        low, high = min(numbers) - AROUND, max(numbers) + AROUND + 1
        if isinstance(part, Nat):
            low = max(low, 0) if max(numbers) > 12 else 0
            if part.maximum is not None:
                high = min(high, part.maximum)
        return low, max(high, low)

    def x(self, number: int) -> float:
        return self.left + (number - self.low[0]) / self.span[0] * self.across[0]

    def y(self, number: int) -> float:
        return self.top + self.across[1] - (number - self.low[1]) / self.span[1] * self.across[1]

    def drawn(self, title: str) -> str:
        right, bottom = self.left + self.across[0] + max(30, self.widest[0] / 2 + 4), self.top + self.across[1] + 50
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

    def _labelled(self, axis: int, room: float) -> list[int]:
        """The numbers that are written along an axis, each with so much room: all, or round ones."""
        low, high = self.low[axis], self.high[axis]
        least = -(-self.span[axis] // max(1, int(self.across[axis] // room)))
        apart = next(number for tens in count() for number in (10**tens, 2 * 10**tens, 5 * 10**tens) if number >= least)
        return list(range(-(-low // apart) * apart, high + 1, apart)) or [low]

    def _axes(self) -> list[str]:
        bottom = self.top + self.across[1] + 36
        found = [
            f'<text x="{decimal(self.x(n))}" y="{decimal(bottom)}">{_number(n)}</text>'
            for n in self._labelled(0, max(LOW, self.widest[0] + 8))
        ]
        found += [
            f'<text x="{decimal(self.gutter / 2)}" y="{decimal(self.y(n) + SIZE / 3)}">{_number(n)}</text>'
            for n in self._labelled(1, LOW)
        ]
        return ['<g class="axis"><title>the numbers of the two coordinates</title>', *found, "</g>"]

    def _dots(self) -> list[str]:
        """Every pair, where there is room for them; those that may still arrive filled."""
        if max(self.span) > LARGEST / LOW:
            return []
        found = []
        for one in range(self.low[0], self.high[0] + 1):
            for other in range(self.low[1], self.high[1] + 1):
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
                f'<g class="corner"><title>[{pair[0]}, {pair[1]}] is a minimal time</title>'
                f'<circle cx="{decimal(x)}" cy="{decimal(y)}" r="5"/>{says}</g>'
            )
        return found


def _written(pair: Sequence[int]) -> str:
    return f"[{_number(pair[0])}, {_number(pair[1])}]"


def _number(number: int) -> str:
    return shown(str(number), LONGEST)
