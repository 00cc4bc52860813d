"""Gordan's alternative: weights that make every cycle rise, or a mixture of cycles that does not.

Given the totals of some cycles, one vector each, either there are weights >= 0 under which every cycle gains, or some
cycles, each taken some number of times, together gain in no coordinate. Solved as a matrix game in exact fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm


def weigh(vectors: Sequence[Sequence[int]]) -> tuple[int, list[int], list[int]]:
    """The sign of the game's value, weights for the coordinates and multiplicities for the vectors.

    Sign 1: every vector's weighted sum is positive. Sign -1: the mixture is negative in every coordinate. Sign 0: every
    weighted sum is >= 0 and the mixture is <= 0 in every coordinate. Cost: a small linear program (simplex, Bland's
    rule).
    """
    width = len(vectors[0])
    shift = 1 - min(min(vector) for vector in vectors)
    # maximise the sum of y >= 0 subject to: for each coordinate, the sum of y[j] * (vectors[j] + shift) is at most 1
    table = [
        [Fraction(vector[row] + shift) for vector in vectors]
        + [Fraction(int(row == slack)) for slack in range(width)]
        + [Fraction(1)]
        for row in range(width)
    ]
    costs = [Fraction(-1)] * len(vectors) + [Fraction(0)] * (width + 1)
    basis = [len(vectors) + row for row in range(width)]
    while True:
        entering = next((column for column in range(len(costs) - 1) if costs[column] < 0), None)
        if entering is None:
            break
        ratios = [
            (table[row][-1] / table[row][entering], basis[row], row) for row in range(width) if table[row][entering] > 0
        ]
        _, _, leaving = min(ratios)  # never empty: all entries of the vectors' columns are positive at the start
        pivot = table[leaving][entering]
        table[leaving] = [entry / pivot for entry in table[leaving]]
        for row in range(width):
            if row != leaving and table[row][entering]:
                factor = table[row][entering]
                table[row] = [entry - factor * other for entry, other in zip(table[row], table[leaving], strict=True)]
        factor = costs[entering]
        costs = [entry - factor * other for entry, other in zip(costs, table[leaving], strict=True)]
        basis[leaving] = entering
    total = costs[-1]
    value = 1 / total - shift
    mixture = [Fraction(0)] * len(vectors)
    for row, column in enumerate(basis):
        if column < len(vectors):
            mixture[column] = table[row][-1]
    weights = costs[len(vectors) : len(vectors) + width]
    return (value > 0) - (value < 0), _whole(weights), _whole(mixture)


def _whole(fractions: Sequence[Fraction]) -> list[int]:
    scale = lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions]
