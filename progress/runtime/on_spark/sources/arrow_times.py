"""The times that stand in a table of Arrow, as `times.py` finds them in a DataFrame of Spark: the same times, in
the same order, with the same refusals; the rows of each are a table of pandas.
"""

from __future__ import annotations

import datetime
from typing import Any

from progress.errors import PointstampError, brief
from progress.order import NO_TIME
from progress.runtime.on_spark.sources.positions import in_order
from progress.runtime.on_spark.sources.times import AtTime, ByTime, Reading, no_times, time_of
from progress.runtime.on_spark.tables.arrow import pandas_of


def rows_by_time_of(table: Any, reading: Reading) -> ByTime:
    """The rows of each time, earlier times first, and those that have none. Cost: O(rows).

    `to` is asked once for each value.
    """
    column = reading.time
    if not isinstance(column, str):
        what = f"the source of {brief(reading.edge)} has an expression of Spark for its times, and no table of Spark"
        raise PointstampError("PS774", what, "the name of a column, and `to=`")
    if column not in table.column_names:
        what = f"the source of {brief(reading.edge)} has no column {brief(column)}"
        raise PointstampError("PS774", what, f"one of {', '.join(table.column_names)}")
    places: dict[Any, list[int]] = {}
    for place, value in enumerate(table[column].to_pylist()):
        places.setdefault(as_spark_has_it(value), []).append(place)
    found: dict[Any, tuple[list[Any], list[int]]] = {}
    wrong: list[Any] = []
    without: list[int] = []
    for value, those in places.items():
        time = NO_TIME if value is None else time_of(value, reading)
        if time is NO_TIME:
            wrong.append(value)
            without += those
        else:
            values, rows = found.setdefault(time, ([], []))
            values.append(value)
            rows += those
    if wrong and reading.aside is None:
        nulls = places.get(None)
        refused = nulls if nulls is not None else without
        raise no_times(reading, wrong, len(refused), brief(table.take(refused[:1]).to_pylist()[0]))
    times = [
        AtTime(time, pandas_of(table.take(sorted(found[time][1]))), len(found[time][1]), found[time][0])
        for time in in_order(reading.domain, found)
    ]
    return ByTime(times, pandas_of(table.take(sorted(without))) if without else None)


def as_spark_has_it(value: Any) -> Any:
    """A value of a column as Spark hands it to Python: tuples for structs and lists, times of day without a zone."""
    if isinstance(value, dict):
        return tuple(as_spark_has_it(part) for part in value.values())
    if isinstance(value, list):
        return tuple(map(as_spark_has_it, value))
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone().replace(tzinfo=None)
    return value
