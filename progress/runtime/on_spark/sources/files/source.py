"""A folder as a source: files that appear there are messages, by the times in their names or in their rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError
from progress.order import Domain
from progress.runtime.on_spark.sources.files.items import FileItems
from progress.runtime.on_spark.sources.files.names import FileNames, by_pattern
from progress.runtime.on_spark.sources.files.tables import FileTables
from progress.runtime.on_spark.sources.times import Reading
from progress.runtime.on_spark.tables.arrow import is_without_spark
from progress.runtime.sink import Sink

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

OFTEN = 0.5  # seconds between looks at the folder
NUMBER = r"(\d+)"
LENIENT = ("json", "csv")  # forms in which Spark makes nulls of what it cannot read, unless it is told to fail
SELF_DESCRIBING = ("parquet", "orc", "avro")


class FileSource:
    """The files of a folder. Those of one time that are found together are one message, a DataFrame.

    Parameters
    ----------
    folder : the folder; files in folders below it count as well, by their names from there: `day=3/part-0.parquet`
    time : finds the time in such a name: a pattern whose group is the time, a number if it has digits only (by default
        the first number), or a function. Or a column of Spark (`functions.col("day")`, or any expression): then the
        times stand in the rows, and the rows of one time in files that are found together are a message
    column : the name of such a column, which needs no Spark
    to, aside : as those of `FrameSource`, where the times stand in the rows
    form : of the files, as Spark reads it: parquet, orc, json, csv
    schema : the columns, as Spark writes them; without it those of the first file (`form` has to say them)
    options : more for Spark's reader. Lines of json and csv that do not fit the columns end the run with their file's
        name; with the option `mode` of Spark's reader, "PERMISSIVE" for instance, they do not
    complete : a rule: which times still come when files of a time have come: `lambda day: [day - 2]`
    marker : the name of a file that says that its time, read as that of the others, and all before it are complete:
        `_SUCCESS`
    after : the least times that are not at or before a time, for `marker`; not needed where times are numbers
    end : the name of a file directly in the folder after which nothing comes; with it, or with `live`, the folder is
        watched
    live : whether the source waits for more files when it has read those that are there
    every : the seconds between two looks

    Names that begin with "_" or "." are no messages, so a writer may write under such a name and rename. A file has to
    be whole when it has its name, and stays as it is: one that is written again is not read again. A time that is
    completed already makes a file late. A run that is kept writes each look down before it hands it on, and one that
    goes on from there has the same files together again: what was late is late. A folder that is not watched is what
    was there at the first look. A file that cannot be read, or has other columns, ends the run; where `on_error` has
    dead letters for the edge, it is one, by its name, and the run goes on, at the cost of a pass over new files.

    Cost of a look: O(folders), and O(files) in those that have changed. Where the times stand in the rows, one job over
    new files finds them and counts the rows of each (`counts`); it reads the column and nothing else where the form
    allows. Who uses a message reads its files, those of several times once for each.

    Examples
    --------
    >>> from pointstamp import FileSource
    >>> FileSource("in", "day=([0-9]+)", complete=lambda day: [day - 2])  # doctest: +ELLIPSIS
    <progress.runtime.on_spark.sources.files.source.FileSource object at ...>
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        time: str | Callable[[str], Any] | Column = NUMBER,
        *,
        column: str | None = None,
        to: Callable[[Any], Any] | None = None,
        aside: Sink | None = None,
        form: str = "parquet",
        schema: str | StructType | None = None,
        options: Mapping[str, Any] | None = None,
        complete: Callable[[Any], Iterable[Any]] | None = None,
        marker: str | None = None,
        after: Callable[[Any], Iterable[Any]] | None = None,
        end: str | None = None,
        live: bool = False,
        every: float = OFTEN,
    ) -> None:
        self.folder = folder
        self.column = column if column is not None or isinstance(time, str) or callable(time) else time
        self.time = time if callable(time) else by_pattern(time if isinstance(time, str) else NUMBER)
        self.to = to
        self.aside = aside
        self.counts: dict[Any, int] = {}
        self.form = form
        self.schema = schema
        self.options = dict(options or {})
        if form in LENIENT and not any(name.lower() == "mode" for name in self.options):
            self.options["mode"] = "FAILFAST"
        self.complete = complete
        self.marker = marker
        self.after = after
        self.end = end
        self.is_live = live or end is not None
        self.every = every
        if schema is None and form not in SELF_DESCRIBING:
            raise PointstampError("PS774", f"files of {form} do not say what columns they have", "`schema=`")
        if self.column is not None and marker is not None:
            what = "times stand in the rows of files, and a marker has none"
            raise PointstampError("PS774", what, "`complete=`, or `end=`")

    def items_for(self, engine: str, edge: str, domain: Domain) -> FileItems:
        """The items of one run: DataFrames of Spark, or of pandas where there is none (`arrow.py`)."""
        names = FileNames(self, edge, domain)
        reading = Reading("" if self.column is None else self.column, edge, domain, self.to, self.aside)
        kind = FileTables
        is_named = self.column is None or isinstance(self.column, str)
        if engine != "spark" and is_named and is_without_spark(self.folder):
            from progress.runtime.on_spark.sources.files.arrow import ArrowFiles

            kind = ArrowFiles
        tables = kind(self, edge, reading, names)
        return FileItems(self, edge, domain, names, tables, waits=engine not in ("sim", "asyncio"))
