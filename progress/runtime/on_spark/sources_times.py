"""The times that stand in a DataFrame: found, with the rows of each counted, in one pass over the time's column.

A time may be any expression of Spark; a struct or an array is a tuple. `to` makes times of what stands there, on the
driver, once for each value and not for each row. Rows without a time (PS771) and rows whose time is none of the edge
(PS772) are refused together, with their number and one of them, or are given to a sink of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, times_of
from progress.runtime.on_spark.said import said
from progress.runtime.on_spark.sources_positions import in_order
from progress.runtime.sink import Sink, Sinks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    TimeColumn: TypeAlias = str | Column

ASIDE = "aside"


class AtTime(NamedTuple):
    """The rows of one time."""

    time: Any
    frame: DataFrame
    rows: int


class Reading(NamedTuple):
    """How the times of a DataFrame are read.

    time : the column, or an expression
    edge, domain : whose times they are
    to : makes a time of what stands there
    aside : where rows go that have no time of the edge; None: they are refused
    """

    time: TimeColumn
    edge: str
    domain: Domain
    to: Callable[[Any], Any] | None = None
    aside: Sink | None = None


def rows_by_time(frame: DataFrame, reading: Reading) -> list[AtTime]:
    """The rows of each time, earlier times first. Cost: one job that reads the time's column, and one on refusal."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions

    column = functions.col(reading.time) if isinstance(reading.time, str) else reading.time
    try:
        counts = frame.groupBy(column.alias("time")).agg(functions.count("*").alias("rows"))
    except AnalysisException as error:
        raise unreadable(f"the source of {brief(reading.edge)} has no column {brief(reading.time)}", error) from None
    found: dict[Any, tuple[list[Any], int]] = {}
    nulls, wrong = 0, []
    for value, count in counts.collect():
        time = NO_TIME if value is None else _time(value, reading)
        if value is None:
            nulls = count
        elif time is NO_TIME:
            wrong.append((value, count))
        else:
            values, before = found.get(time, ([], 0))
            found[time] = ([*values, value], before + count)
    if nulls or wrong:
        _set_aside(frame, column, nulls, wrong, reading)
    return [
        AtTime(time, frame.where(_is_one_of(column, found[time][0])), found[time][1])
        for time in in_order(reading.domain, found)
    ]


def unreadable(what: str, error: Exception) -> PointstampError:
    """A source that cannot be read (PS774), with what Spark says of it."""
    return PointstampError("PS774", f"{what}: {said(error)}", "columns that are there, and files of this form")


def _time(value: Any, reading: Reading) -> Any:
    plain = _plain(value)
    if reading.to is not None:
        plain = reading.to(plain)
    try:
        return as_time(reading.domain, plain)
    except TypeError:  # nothing that has no hash is a time
        return NO_TIME


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


def _is_one_of(column: Column, values: list[Any]) -> Column:
    from functools import reduce

    return reduce(lambda one, other: one | other, (_is(column, value) for value in values))


def _is(column: Column, value: Any) -> Column:
    """Whether a column holds a value: part by part in a struct, so that Spark can pass over files by each of them."""
    from functools import reduce

    from pyspark.sql import functions

    fields = getattr(value, "__fields__", None)
    if fields is not None:
        parts = [_is(column.getField(name), part) for name, part in zip(fields, value, strict=True)]
        return reduce(lambda one, other: one & other, parts)
    if isinstance(value, list):
        return column == functions.array(*map(functions.lit, value))
    return column.isNull() if value is None else column == functions.lit(value)


def _set_aside(frame: DataFrame, column: Column, nulls: int, wrong: list[tuple[Any, int]], reading: Reading) -> None:
    """Give the rows without a time of the edge to their sink, or refuse them."""
    bad = column.isNull()
    if wrong:
        bad = bad | _is_one_of(column, [value for value, _ in wrong])
    rows = frame.where(bad)
    if reading.aside is not None:
        sinks = Sinks({ASIDE: reading.aside})
        sinks.deliver(ASIDE, None, [rows])
        return
    first = rows.where(column.isNull()) if nulls else rows
    example = brief(first.first())
    source = f"the source of {brief(reading.edge)}"
    if nulls:
        what = f"{source} has {_rows(nulls)} without a time, such as {example}"
        raise PointstampError("PS771", what, "a time in every row, or `aside=` for those that have none")
    rows_wrong = _rows(sum(count for _, count in wrong))
    what = f"{source} has {rows_wrong} at {brief(wrong[0][0])} and the like, such as {example}"
    raise PointstampError("PS772", what, f"{times_of(reading.domain)}; `to=` makes times, `aside=` takes such rows")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
