"""Summaries in normal form as columns: a row for each piece, joined to the edges it belongs to and applied by SQL.

A piece (`progress.normal_form.pieces`) has a box, `low0 <= c0 <= high0` and so on, and a move for each coordinate:
`max(c + add, floor)`; without `add` it is the constant `floor`; a chain of roundings is an array of numbers, folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphs.at_scale.errors import not_here, too_large_a_number
from graphs.at_scale.frames import frame_of
from graphs.at_scale.shapes import BOUND, Shapes
from progress.normal_form.coordinate import Move, slack
from progress.normal_form.pieces import Piece
from progress.summary import NormalSummary, Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Pieces:
    """The pieces of the graph's distinct summaries, numbered as `summaries` lists them."""

    def __init__(self, shapes: Shapes, summaries: Sequence[Summary]) -> None:
        self.shapes = shapes
        self.rounded: set[int] = set()
        self.bounded: set[int] = set()
        self.endless = False
        self.rows: list[dict[str, Any]] = []
        self.most_added = 1  # how far a number moves in one step, at most
        for number, summary in enumerate(summaries):
            if not isinstance(summary, NormalSummary):
                raise not_here("a summary of your own")
            for piece in summary.pieces:
                self.rows.append(self._row(number, summary, piece))

    def _row(self, number: int, summary: NormalSummary, piece: Piece) -> dict[str, Any]:
        row: dict[str, Any] = {
            "summary": number,
            "shape": self.shapes.numbers[summary.source, piece.source_case],
            "after": self.shapes.numbers[summary.target, piece.target_case],
        }
        for place, low, high in piece.box:
            row[f"low{place}"], row[f"high{place}"] = low, high
            self.bounded.add(place)
        for place, (word, floor) in enumerate(piece.moves):
            row[f"floor{place}"] = floor
            if word is not None:
                row[f"add{place}"] = word[0]
                self.most_added = max(self.most_added, *map(abs, slack(word)))
                if len(word) > 1:
                    row[f"word{place}"] = list(word)
                    self.rounded.add(place)
            elif floor is None:
                self.endless = row["endless"] = True
        numbers = [value for key, value in row.items() if key not in ("endless", "shape") and type(value) is int]
        if any(abs(value) >= BOUND for value in numbers):
            raise too_large_a_number()
        return row

    def frame(self, session: SparkSession) -> DataFrame:
        """A row for each piece; small, so that joins send it to everybody."""
        types = {"summary": "int", "shape": "int", "after": "int", "endless": "boolean"}
        types |= {column: "array<bigint>" if column.startswith("word") else "bigint" for column in self.columns}
        rows = [tuple(row.get(name) for name in types) for row in self.rows]
        return frame_of(session, rows, ", ".join(f"{name} {kind}" for name, kind in types.items()))

    def apply(self, rows: DataFrame, pieces: DataFrame, keep: Sequence[str]) -> DataFrame:
        """The times that follow: `rows` has `summary`, `shape`, `c0`, ...; the answer `keep`, `shape`, `c0`, ..."""
        from pyspark.sql import functions

        joined = rows.join(functions.broadcast(pieces), ["summary", "shape"])
        if self.bounded:
            joined = joined.where(self._is_inside("", ""))
        moved = [f"{self._move(place, '', '')} AS c{place}" for place in range(self.shapes.width)]
        endless = ["endless"] if self.endless else []
        return joined.selectExpr(*keep, "after AS shape", *moved, *endless)

    @property
    def columns(self) -> list[str]:
        """The columns of `frame` that say what a piece does."""
        places = range(self.shapes.width)
        found = [f"{word}{place}" for place in places for word in ("add", "floor")]
        found += [f"{word}{place}" for place in sorted(self.bounded) for word in ("low", "high")]
        return found + [f"word{place}" for place in sorted(self.rounded)]

    def message(self, times: str, piece: str) -> str:
        """What follows from an array of times by a piece whose columns are those of the struct `piece`, as an array."""
        inside = f"filter({times}, time -> {self._is_inside('time.', f'{piece}.')})" if self.bounded else times
        moved = ", ".join(
            f"{self._move(place, 'time.', f'{piece}.')} AS c{place}" for place in range(self.shapes.width)
        )
        return f"transform({inside}, time -> struct({moved}))"

    def _is_inside(self, time: str, piece: str) -> str:
        """Whether a time is in the box; the two are prefixes of columns."""
        return " AND ".join(
            f"({piece}low{place} IS NULL OR {time}c{place} >= {piece}low{place}) AND "
            f"({piece}high{place} IS NULL OR {time}c{place} <= {piece}high{place})"
            for place in sorted(self.bounded)
        )

    def _move(self, place: int, time: str, piece: str) -> str:
        added = f"{time}c{place} + {piece}add{place}"
        if place in self.rounded:  # (a0, n1, a1, ...): add a0, round up to a multiple of n1, add a1, and so on
            word = f"{piece}word{place}"
            step = f"element_at({word}, 2 * turn)"
            turns = f"sequence(1, cast((size({word}) - 1) / 2 AS int))"
            round_up = f"number + pmod(-number, {step}) + element_at({word}, 2 * turn + 1)"
            added = f"if({word} IS NULL, {added}, aggregate({turns}, {added}, (number, turn) -> {round_up}))"
        return f"coalesce(greatest({added}, {piece}floor{place}), 0L)"


def may_fall_far(summaries: Sequence[Summary]) -> list[int]:
    """The summaries that can move a number down each time they are applied: only cycles through them fall on and on."""

    def falls(move: Move) -> bool:
        return move.word is not None and slack(move.word)[0] < 0

    return [
        number
        for number, summary in enumerate(summaries)
        if isinstance(summary, NormalSummary) and any(falls(move) for piece in summary.pieces for move in piece.moves)
    ]
