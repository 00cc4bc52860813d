"""A DataFrame as a source: the message at a time is the DataFrame of that time's rows.

One of pandas, or a table of Arrow, is a source with Spark and without it, of the same rows at the same times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from progress.order import Domain
from progress.runtime.durable.codec import Beside
from progress.runtime.inputs.read_of import TIMES, ReadOf
from progress.runtime.on_spark.sources.arrow_times import rows_by_time_of
from progress.runtime.on_spark.sources.cut_frames import CutFrame
from progress.runtime.on_spark.sources.positions import Keyed, Positioned, still_to_come
from progress.runtime.on_spark.sources.times import (
    ByTime,
    Reading,
    frame_of,
    rows_by_time,
    split,
    table_named,
    time_column,
    with_one_of,
)
from progress.runtime.on_spark.tables.arrow import on_spark, table_in
from progress.runtime.sink import Sink
from progress.runtime.source import Aside, Messages
from progress.runtime.tables import is_of_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from progress.runtime.on_spark.sources.times import TimeColumn


class FrameSource:
    """The rows of a DataFrame, by time, earlier times first; a time is completed when its rows have been handed on.

    Parameters
    ----------
    frame : the DataFrame, or a function that makes it when the run begins, or the name of a table that a catalog of the
        session knows, `lake.sales.totals`. One of pandas, or a table of Arrow, needs no
        Spark: in the engine `spark` it becomes a DataFrame of Spark, in the others messages are of pandas
    time : the column that holds the time, or an expression of Spark for it
    to : makes a time of what stands in the column, on the driver: `lambda day: (day - FIRST).days`
    aside : a sink for the rows without a time of the edge, as one DataFrame; without it they are refused (PS771, PS772)
    folder : where the rows are cut by their times first, in one pass, so that who uses those of one time reads no
        others; it belongs to this source alone, and is written anew by a run that continues no other; not used where
        messages are of pandas

    Cost: one job finds the times, and counts the rows of each (`counts`) in the same pass; it reads the column and
    nothing else where the format allows. Each message is a plan, and who uses it reads the rows of that time: cheap
    where the DataFrame is partitioned or sorted by it, else every time costs a pass over all rows; with `folder` one
    pass cuts them. With `--state` the DataFrame has to be the same one again.

    Examples
    --------
    >>> import pandas
    >>> from pointstamp import Dataflow, FrameSource, from_edges
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> rows = pandas.DataFrame({"day": [0, 1, 1], "amount": [5, 3, 4]})
    >>> [
    ...     (day, int(frame["amount"].sum()))
    ...     for day, frame in flow.run(sources={"in->a": FrameSource(rows, "day")})["a->out"]
    ... ]
    [(0, 5), (1, 7)]
    """

    def __init__(
        self,
        frame: Any,
        time: TimeColumn,
        *,
        to: Callable[[Any], Any] | None = None,
        aside: Sink | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.frame = frame
        self.time = time
        self.folder = folder
        self.to = to
        self.aside = aside
        self.counts: dict[Any, int] = {}

    def items_for(self, engine: str, edge: str, domain: Domain) -> _FrameItems:
        """The items of one run."""
        return _FrameItems(self, Reading(self.time, edge, domain, self.to, self.aside), engine == "spark")


class _FrameItems(Positioned):
    def __init__(self, source: FrameSource, reading: Reading, on_spark: bool) -> None:
        super().__init__()
        self._on_spark = on_spark
        self._made: Any = None  # the DataFrame, once it was asked for
        self._source = source
        self._reading = reading
        self._beside: Beside | None = None
        self._count = 0  # times that were found
        self.aside = source.aside

    @property
    def read_of(self) -> ReadOf | None:
        """How many times there are; those that have entered the run."""
        if not self._count:
            return None
        return ReadOf(0, self._count, TIMES, is_all=True, came=[(key[0], 1) for key in [*self.done] if key])

    def keep_beside(self, beside: Beside, edge: str) -> None:
        self._beside = beside
        beside.add_source(edge, self._rows_with)

    def _rows_with(self, of: Any) -> DataFrame:
        """The message that is made of the rows with these values in their column."""
        values, hashes = of
        frame = self._frame()
        column = time_column(frame, self._reading)
        if self._source.folder is None:
            return with_one_of(frame, column, values)
        return CutFrame(frame, column, self._source.folder, self._reading.edge).rows_with(values, hashes)

    def _frame(self) -> Any:
        """What the source was given: a DataFrame of Spark, or a table of Arrow where the engine has no Spark."""
        if self._made is None:
            given = self._source.frame
            made = given() if callable(given) else given
            if isinstance(made, str):
                made = table_named(made, self._reading.edge)
            table = table_in(made)
            if table is None:
                self._made = frame_of(made, self._reading.edge)
            else:
                self._made = on_spark(table) if self._on_spark else table
        return self._made

    def _found(self, frame: Any) -> tuple[ByTime, dict[str, int]]:
        """The rows of each time, and the hashes of values by which they are cut."""
        source, reading = self._source, self._reading
        if not is_of_spark(frame):
            return rows_by_time_of(frame, reading), {}
        if source.folder is None:
            return rows_by_time(frame, reading), {}
        column = time_column(frame, reading)
        cut = CutFrame(frame, column, source.folder, reading.edge)
        cut.write(again=not self.is_continued)
        values = cut.found()
        hashes = {repr(value): key for value, _, key in values}
        times, aside = split(frame, column, [(value, count) for value, count, _ in values], reading)
        parts = [
            each._replace(frame=cut.rows_with(each.values, [hashes[repr(value)] for value in each.values]))
            for each in times
        ]
        return ByTime(parts, aside), hashes

    def keyed(self) -> Iterator[Keyed]:
        source, edge = self._source, self._reading.edge
        (found, aside), hashes = self._found(self._frame())
        source.counts.clear()
        source.counts.update((each.time, each.rows) for each in found)
        self._count = len(found)
        done = set(self.done)
        if aside is not None and () not in done:
            yield (), Aside([aside])
        left = still_to_come(self._reading.domain, [each.time for each in found])
        for each, complete in zip(found, left, strict=False):
            if (each.time,) not in done:
                if self._beside is not None and is_of_spark(each.frame):
                    of = each.values, [hashes[repr(value)] for value in each.values if hashes]
                    self._beside.is_made_by(edge, each.frame, of)
                yield (each.time,), Messages(each.time, [each.frame])
            yield None, complete
