"""What leaves as rows of a table of a database.

A table with the columns `time` and `value`, and no others, has the time and the value as JSON. Any other table has
rows: a value is a mapping, and what it has by the name of a column goes there. Where there is a column `time` and the
value says nothing of it, the time of the value goes there.

What JSON has as a number, and a database can count with, is a number of the database.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from progress.errors import PointstampError, brief
from progress.plain import write_time
from progress.runtime.sinks.json_text import expanded, json_text
from progress.runtime.sinks.place import Place
from progress.runtime.source_failure import as_row

TIME, VALUE = "time", "value"
LARGEST = 1 << 63
Columns = tuple[str, ...]
Row = tuple[Any, ...]


class Rows:
    """Makes rows of values.

    Parameters
    ----------
    place : of the table, for complaints
    columns : of the table, as it is
    """

    def __init__(self, place: Place, columns: Collection[str]) -> None:
        self._place = place
        self._columns = columns
        self._known = Counter(map(str.lower, columns))
        self._lack_time: dict[tuple[Any, ...], bool] = {}  # by the names of rows that were seen
        self._is_json = self._known == Counter((TIME, VALUE))

    def of(self, values: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Columns, list[Row]]]:
        """The rows of pairs (time, value), in their order: columns, and all the rows that follow with these.

        PS745 where a value is no row of the table, PS732 where it is to be JSON and is none.
        """
        rows = (self._row(time, each) for time, value in values for each in expanded([value]))
        for columns, several in groupby(rows, key=lambda row: row[0]):
            yield columns, [cells for _, cells in several]

    def _row(self, time: Any, value: Any) -> tuple[Columns, Row]:
        value = as_row(value)
        when = self._json(time, write_time(time), "the time")
        if self._is_json:
            return (TIME, VALUE), (when, self._json(time, value, "the value"))
        if not isinstance(value, Mapping):
            raise self._no_row(time, value, "is no mapping of columns")
        names = tuple(value)
        if names not in self._lack_time:
            self._lack_time[names] = self._lacks_time(time, value)
        cells = {TIME: when, **value} if self._lack_time[names] else value
        return tuple(map(str, cells)), tuple(self._cell(time, cell) for cell in cells.values())

    def _lacks_time(self, time: Any, value: Mapping[Any, Any]) -> bool:
        """Whether the time goes to its column, as these names do not say it; PS745 where they are no columns."""
        said = Counter(str(name).lower() for name in value)
        for name in value:
            there = self._known[str(name).lower()]
            if said[str(name).lower()] > there:
                how = f"{brief(name)} more than once" if there else f"{brief(name)}, which is none of them"
                raise self._no_row(time, value, f"has {how}")
        if not said and TIME not in self._known:
            raise self._no_row(time, value, "says nothing of a column")
        return TIME in self._known and TIME not in said

    def _cell(self, time: Any, cell: Any) -> Any:
        """What a column is given: what databases do not have is text, and what is put together is JSON."""
        if isinstance(cell, Mapping | list | tuple):
            return json_text(cell, "the value", self._place.edge, time)
        if isinstance(cell, datetime.date | datetime.time):
            return cell.isoformat()
        return str(cell) if isinstance(cell, decimal.Decimal) else cell

    def _json(self, time: Any, value: Any, what: str) -> Any:
        if type(value) is int and -LARGEST <= value < LARGEST:
            return value
        if type(value) is float and math.isfinite(value):
            return value
        return json_text(value, what, self._place.edge, time)

    def _no_row(self, time: Any, value: Any, how: str) -> PointstampError:
        columns = ", ".join(map(brief, self._columns))
        what = f"{self._place}, with the columns {columns}: {brief(value)}, at {brief(time)}, {how}"
        right = f"mappings with names of columns; or a table with the columns {TIME} and {VALUE} alone"
        return PointstampError("PS745", what, right)
