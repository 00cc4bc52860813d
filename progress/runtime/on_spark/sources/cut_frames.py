"""The rows of a DataFrame cut by their times, in one pass, so that who uses those of one time reads no others.

    FOLDER/_cut               written when all is cut
    FOLDER/rows/key=HASH/...  the rows whose column of times has this hash

A hash may be that of two values, so what is read is filtered by the values all the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder, as_it_is
from progress.runtime.on_spark.sources.times import readable, with_one_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

DONE, ROWS, KEY, TIME = "_cut", "rows", "pointstamp_key", "pointstamp_time"


class CutFrame:
    """The rows of a DataFrame in a folder that is its own, by time.

    Parameters
    ----------
    frame : whose rows they are
    column : of times
    place : the folder
    edge : whose source it is
    """

    def __init__(self, frame: DataFrame, column: Column, place: str | os.PathLike[str], edge: str) -> None:
        self._frame = frame
        self._column = column
        self._folder = Folder(frame.sparkSession, place)
        self._edge = edge
        self._keys: dict[Any, str] = {}

    def write(self, *, again: bool) -> None:
        """Cut the rows, unless a process before this one has. Cost: one pass over all rows, and a shuffle."""
        from pyspark.sql import functions

        folder = self._folder
        names = set(folder.names())
        if not names <= {DONE, ROWS}:
            what = f"the folder {brief(folder.path)} of {brief(self._edge)} holds {brief(min(names - {DONE, ROWS}))}"
            raise PointstampError("PS774", what, "a folder for the rows of this source alone")
        if DONE in names and not again:
            return
        folder.delete(DONE)
        folder.make("")
        timed = self._frame.withColumn(TIME, self._column)
        keyed = timed.withColumn(KEY, functions.xxhash64(TIME)).repartition(KEY)
        with readable(f"the source of {brief(self._edge)}"):
            keyed.write.mode("overwrite").partitionBy(KEY).parquet(folder.place(ROWS))
        folder.write(DONE, "")

    def found(self) -> list[tuple[Any, int, int]]:
        """The values in the column, each with its rows and its hash. Cost: a job that reads the column."""
        from pyspark.sql import functions

        if not any(name.startswith(KEY) for name in self._folder.names(ROWS)):
            return []
        with readable(f"the source of {brief(self._edge)}"):
            cut = self._frame.sparkSession.read.schema(self._columns(KEY))
            rows = cut.parquet(as_it_is(self._folder.place(ROWS))).groupBy(TIME, KEY)
            return [(row[0], row[2], row[1]) for row in rows.agg(functions.count("*")).collect()]

    def rows_with(self, values: Sequence[Any], hashes: Sequence[int]) -> DataFrame:
        """The rows whose column has one of these values, which have these hashes. Cost: a plan that reads no others."""
        from pyspark.sql import functions

        paths = [as_it_is(self._folder.place(f"{ROWS}/{KEY}={each}")) for each in hashes]
        rows = self._frame.sparkSession.read.schema(self._columns()).parquet(*paths)
        return with_one_of(rows, functions.col(TIME), list(values)).drop(TIME)

    def _columns(self, *more: str) -> StructType:
        """The columns as they are written, with those of the folders' names."""
        from pyspark.sql.types import LongType

        found = self._frame.withColumn(TIME, self._column).schema
        for name in more:
            found = found.add(name, LongType())
        return found
