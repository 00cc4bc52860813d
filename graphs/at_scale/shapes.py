"""Times as rows of numbers in Spark: no Python runs where they are compared.

A time is its *shape* and the numbers `c0`, `c1`, ... of its leaves (`progress.normal_form.layout`). A shape is a domain
with a case of it, numbered over the whole graph; times of different shapes at one location are incomparable. Shapes
whose orders are decided alike are of one *kind*, so that most graphs need one expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphs.at_scale.errors import not_here, too_large_a_number
from graphs.at_scale.order_in_sql import json_of, less_equal, minimal_of
from progress.normal_form.layout import Case, Rows, layout_of
from progress.order import Domain

BOUND = 1 << 62  # Spark's long numbers, with room for one more addition


class Shape(NamedTuple):
    """A domain, a case of it, and its leaves."""

    domain: Domain
    case: Case
    rows: Rows


class Shapes:
    """All shapes of the given domains, numbered from 0."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self.shapes: list[Shape] = []
        self.numbers: dict[tuple[Domain, Case], int] = {}
        for domain in dict.fromkeys(domains):
            layout = layout_of(domain)
            if layout is None:
                raise not_here(f"{domain!r}, a domain of your own,")
            for case, rows in layout.rows.items():
                self.numbers[domain, case] = len(self.shapes)
                self.shapes.append(Shape(domain, case, rows))
        self.width = max([1, *(len(shape.rows.leaves) for shape in self.shapes)])
        kinds: dict[Any, list[int]] = {}
        for number, shape in enumerate(self.shapes):
            orders = tuple(None if leaf.numeric else leaf.order for leaf in shape.rows.leaves)
            kinds.setdefault((shape.rows.structure, orders), []).append(number)
        self.kinds = list(kinds.values())

    @property
    def columns(self) -> list[str]:
        """The names of the columns with numbers."""
        return [f"c{place}" for place in range(self.width)]

    @property
    def times_type(self) -> str:
        """The type of an array of times, as Spark writes it."""
        return f"array<struct<{', '.join(f'{column}: bigint' for column in self.columns)}>>"

    @property
    def as_struct(self) -> str:
        """The columns of a row as one struct."""
        return f"struct({', '.join(self.columns)})"

    def encode(self, domain: Domain, time: Any) -> tuple[int, list[int]]:
        """The shape and the numbers of a time, filled up to the width."""
        layout = layout_of(domain)
        assert layout is not None
        case, numbers = layout.encode(time)
        if any(not -BOUND < number < BOUND for number in numbers):
            raise too_large_a_number()
        return self.numbers[domain, case], [*numbers, *[0] * (self.width - len(numbers))]

    @staticmethod
    def check(largest: int) -> None:
        """Refuse (PS761) to go on where a number might be beyond what a column holds."""
        if largest >= BOUND:
            raise too_large_a_number()

    def decode(self, shape: int, numbers: Sequence[int]) -> Any:
        """The inverse of `encode`."""
        domain, case, rows = self.shapes[shape]
        layout = layout_of(domain)
        assert layout is not None
        return layout.decode(case, tuple(numbers[: len(rows.leaves)]))

    # --- expressions -------------------------------------------------------------------------------------------------

    def minimal(self, times: str) -> str:
        """The minimal ones of an array of times of one shape, each once; the column `shape` says which."""
        return self._by_kind(lambda shape: minimal_of(shape.rows, times))

    def not_above(self, times: str, known: str) -> str:
        """Those of `times` that lie at or above none of `known`."""
        return self._by_kind(
            lambda shape: (
                f"filter({times}, one -> NOT exists({known}, other -> {less_equal(shape.rows, 'other', 'one')}))"
            )
        )

    def _by_kind(self, expression: Callable[[Shape], str]) -> str:
        """What depends on the kind of times, which the column `shape` says."""
        if len(self.kinds) == 1:
            return expression(self.shapes[0])
        branches = [
            f"WHEN shape IN ({', '.join(map(str, numbers))}) THEN {expression(self.shapes[numbers[0]])}"
            for numbers in self.kinds
        ]
        return f"CASE {' '.join(branches)} END"

    def as_json(self) -> str:
        """A time as JSON text, written as Python writes it, from the columns `shape` and `c0`, ..."""
        branches = [
            f"WHEN shape = {number} THEN concat({', '.join(json_of(shape.domain, shape.case))})"
            for number, shape in enumerate(self.shapes)
        ]
        return f"CASE {' '.join(branches)} END"
