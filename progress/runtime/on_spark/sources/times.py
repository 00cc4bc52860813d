"""The times that stand in a DataFrame: found, with the rows of each counted, in one pass over the time's column.

Who writes the rows anyhow has their times observed in that pass (`times_seen`), and needs no other.

A time may be any expression of Spark; a struct or an array is a tuple. `to` makes times of what stands there, on the
driver, once for each value and not for each row. Rows without a time (PS771) and rows whose time is none of the edge
(PS772) are refused together, with their number and one of them, or are set aside for a sink of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, times_of
from progress.runtime.on_spark.jobs.reasons import said
from progress.runtime.on_spark.sources.positions import in_order
from progress.runtime.sink import Sink
from progress.runtime.tables import is_of_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    TimeColumn: TypeAlias = str | Column

TIMES = "times"
NOT_COMPARED = re.compile(r"\b(map<|variant\b)")  # types in which no two values can be told apart


class AtTime(NamedTuple):
    """The rows of one time: those whose column has one of these values."""

    time: Any
    frame: DataFrame
    rows: int
    values: list[Any]


class ByTime(NamedTuple):
    """The rows of each time, earlier times first, and those that have none, if they are to be set aside."""

    times: list[AtTime]
    aside: DataFrame | None


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


def rows_by_time(frame: DataFrame, reading: Reading) -> ByTime:
    """The rows of each time, earlier times first. Cost: one job that reads the time's column, and two on refusal."""
    from pyspark.sql import functions

    column = time_column(frame, reading)
    with readable(f"the source of {brief(reading.edge)}"):
        counts = frame.groupBy(column.alias("time")).agg(functions.count("*").alias("rows")).collect()
    return split(frame, column, [(value, count) for value, count in counts], reading)


def time_column(frame: DataFrame, reading: Reading) -> Column:
    """The column of times, if the DataFrame has it and rows can be told apart by it. Cost: no job."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions

    column = functions.col(reading.time) if isinstance(reading.time, str) else reading.time
    try:
        kind = frame.select(column.alias("time")).schema.fields[0].dataType.simpleString()
    except AnalysisException as error:
        raise unreadable(f"the source of {brief(reading.edge)} has no column {brief(reading.time)}", error) from None
    if NOT_COMPARED.search(kind):
        what = f"the source of {brief(reading.edge)} has times of the type {kind}"
        raise PointstampError("PS772", what, f"{times_of(reading.domain)}; or a column of which `to=` makes one")
    return column


def times_seen(column: Column) -> Column:
    """What to observe (`Observation`) while rows are written, so that `found_in` has their times afterwards."""
    from pyspark.sql import functions

    return functions.collect_set(functions.struct(column.alias("time"))).alias(TIMES)  # in a struct, nulls count


def found_in(seen: dict[str, Any]) -> list[Any]:
    """The values of `times_seen` that were observed."""
    return [row["time"] for row in seen[TIMES]]


def split(frame: DataFrame, column: Column, values: Iterable[tuple[Any, int]], reading: Reading) -> ByTime:
    """The rows of each time, when it is known which values the column has, each in how many rows.

    Cost: none; two jobs on refusal.
    """
    found: dict[Any, tuple[list[Any], int]] = {}
    wrong = []
    for value, count in values:
        time = NO_TIME if value is None else time_of(value, reading)
        if time is NO_TIME:
            wrong.append(value)
        else:
            known, before = found.get(time, ([], 0))
            found[time] = ([*known, value], before + count)
    if wrong and reading.aside is None:
        raise _refused(frame, column, wrong, reading)
    times = [
        AtTime(time, with_one_of(frame, column, found[time][0]), found[time][1], found[time][0])
        for time in in_order(reading.domain, found)
    ]
    return ByTime(times, with_one_of(frame, column, wrong) if wrong else None)


def with_one_of(frame: DataFrame, column: Column, values: list[Any]) -> DataFrame:
    """The rows whose column has one of these values. Cost: a plan."""
    return frame.where(_is_one_of(column, values))


def frame_of(given: Any, edge: str) -> DataFrame:
    """The DataFrame that a source was given, or a function that makes it; anything else is refused (PS774)."""
    made = given() if callable(given) else given
    if not is_of_spark(made):
        kind = type(made)
        is_what = "None" if made is None else f"of the type {kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise PointstampError("PS774", f"the source of {brief(edge)} is {is_what}", "a DataFrame of Spark")
    found: DataFrame = made
    return found


def table_named(name: str, edge: str) -> DataFrame:
    """The table that a catalog of the session knows by this name (PS774)."""
    from progress.runtime.on_spark.session import start_session

    with readable(f"the source of {brief(edge)}, the table {brief(name)},"):
        return start_session(graphframes=False).table(name)


def unreadable(what: str, error: Exception) -> PointstampError:
    """A source that cannot be read (PS774), with what Spark says of it."""
    return PointstampError("PS774", f"{what}: {said(error)}", "columns that are there, and rows and files of this form")


@contextmanager
def readable(what: str) -> Iterator[None]:
    """What Spark raises here says that this cannot be read, in one line."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise unreadable(f"{what} cannot be read", error) from None


def time_of(value: Any, reading: Reading) -> Any:
    """The time of the edge that a value of the column is, or NO_TIME."""
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
    return reduce(lambda one, other: one | other, (_is(column, value) for value in values))


def _is(column: Column, value: Any) -> Column:
    """Whether a column holds a value: part by part in a struct, so that Spark can pass over files by each of them."""
    from pyspark.sql import functions

    fields = getattr(value, "__fields__", None)
    if fields is not None:
        parts = [_is(column.getField(name), part) for name, part in zip(fields, value, strict=True)]
        return reduce(lambda one, other: one & other, parts)
    if isinstance(value, list):
        return column == functions.array(*map(functions.lit, value))
    return column.isNull() if value is None else column == functions.lit(value)


def _refused(frame: DataFrame, column: Column, wrong: list[Any], reading: Reading) -> PointstampError:
    """The rows without a time of the edge, all whose column has one of these values, in one line. Cost: two jobs."""
    are_nulls = any(value is None for value in wrong)
    rows = frame.where(column.isNull() if are_nulls else _is_one_of(column, wrong))
    with readable(f"the source of {brief(reading.edge)}"):
        return no_times(reading, wrong, rows.count(), brief(rows.first()))


def no_times(reading: Reading, wrong: list[Any], count: int, example: str) -> PointstampError:
    """So many rows are refused: they have no time (PS771), or one that is none of the edge (PS772)."""
    source = f"the source of {brief(reading.edge)} has {'1 row' if count == 1 else f'{count} rows'}"
    if any(value is None for value in wrong):
        what = f"{source} without a time, such as {example}"
        return PointstampError("PS771", what, "a time in every row, or `aside=` for those that have none")
    what = f"{source} at {brief(wrong[0])} and the like, such as {example}"
    return PointstampError("PS772", what, f"{times_of(reading.domain)}; `to=` makes times, `aside=` takes such rows")
