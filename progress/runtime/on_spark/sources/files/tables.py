"""Files as DataFrames: which columns they have, whether they can be read, and whose rows are at which time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder, as_it_is
from progress.runtime.on_spark.jobs.losses import loss
from progress.runtime.on_spark.sources.files.looks import Look
from progress.runtime.on_spark.sources.files.names import FileNames
from progress.runtime.on_spark.sources.times import ByTime, Reading, readable, rows_by_time, with_one_of
from progress.runtime.on_spark.tables.arrow import Columns
from progress.runtime.on_spark.tables.schemas import check_columns, columns_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader
    from pyspark.sql.types import StructType

    from progress.runtime.on_spark.sources.files.source import FileSource

Made: TypeAlias = tuple[list[str], list[Any] | None]  # of which files, and which of their rows
# what Spark says where it is the file
UNREAD = ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "UNABLE_TO_INFER_SCHEMA", "MALFORMED_RECORD")


class Found(NamedTuple):
    """A message: some files of one time, or the rows of a time in all the files of one look."""

    time: Any
    frame: DataFrame
    of: Made


class FileTables:
    """The files of one source in one run."""

    makes_anew = True  # a message whose process has ended, of what it was made of

    def __init__(self, source: FileSource, edge: str, reading: Reading, names: FileNames) -> None:
        self._source = source
        self._edge = edge
        self._reading = reading
        self._names = names
        self._columns: StructType | Columns | None = None
        self._reached: Folder | None = None

    @property
    def columns(self) -> str | None:
        """Those of all files so far, as JSON; None where they are given."""
        return None if self._columns is None else self._columns.json()

    @property
    def folder(self) -> Folder:
        """The folder, reached when it is first asked for."""
        from progress.runtime.on_spark.session import start_session

        if self._reached is None:
            self._reached = Folder(start_session(graphframes=False), self._source.folder)
        return self._reached

    def found(self, names: Sequence[str]) -> tuple[list[Found], DataFrame | None]:
        """The messages in new files, earlier times first, and the rows that have no time."""
        source = self._source
        if source.column is None:
            by_time = self._names.by_time(names).items()
            return [Found(time, self._message(those), (those, None)) for time, those in by_time], None
        if not names:
            return [], None
        times, aside = self._by_time(names)
        for each in times:
            source.counts[each.time] = source.counts.get(each.time, 0) + each.rows
        return [Found(each.time, each.frame, ([*names], each.values)) for each in times], aside

    def made_of(self, of: Made) -> DataFrame:
        """A message made anew: the rows of some files, or those of them whose column has some values."""
        from pyspark.sql import functions

        names, values = of
        frame = self._message(names)
        if values is None:
            return frame
        column = self._source.column
        assert column is not None
        return with_one_of(frame, functions.col(column) if isinstance(column, str) else column, values)

    def check(self, names: Sequence[str]) -> None:
        """Refuse new files that cannot be read so. Cost: without a schema, a small job for each finds its columns."""
        for name in names:
            what = f"the file {brief(name)} of {brief(self._edge)}"
            if ":" in name:
                right = "a name without one: Hadoop's file systems cannot read it"
                raise PointstampError("PS774", f"{what} has a colon in its name", right)
            if self._source.column is None:
                self._names.time(name)
            if self._source.schema is None:
                with readable(what):
                    found = self._reader.load(self._path(name)).schema
                if self._columns is None:
                    self._columns = found
                check_columns(what, self._columns, found)

    def refused(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The files that cannot be read. Cost: a job that reads all, and one for each file if that fails."""
        refused: dict[str, list[str]] = {}
        for name in names:
            try:
                self.check([name])
            except PointstampError as error:
                if not self._is_of_a_file(error):
                    raise
                refused[name] = [error.code, error.message, error.hint]
        left = [name for name in names if name not in refused]
        if left and self._unread(left) is not None:
            for name in left:
                found = self._unread([name])
                if found is not None:
                    refused[name] = [found.code, found.message, found.hint]
        return refused

    def take_columns(self, look: Look) -> None:
        """The columns that files had before, so that later ones have the same."""
        if look.columns is not None:
            self._columns = columns_in(look.columns)

    # --- reading -----------------------------------------------------------------------------------------------------

    def _message(self, names: Sequence[str]) -> DataFrame:
        """The rows of some files. Cost: none, it is a plan."""
        schema: Any = self._source.schema if self._source.schema is not None else self._columns
        with readable(f"the file {brief(names[0])} of {brief(self._edge)}"):
            return self._reader.schema(schema).load([self._path(name) for name in names])

    def _by_time(self, names: Sequence[str]) -> ByTime:
        """The rows of some files, by the times that stand in them."""
        return rows_by_time(self._message(names), self._reading)

    def _unread(self, names: Sequence[str]) -> PointstampError | None:
        """Why not all rows of these files can be read, if that is because of a file."""
        try:
            with readable(f"the file {brief(names[0])} of {brief(self._edge)}"):
                self._message(names).write.format("noop").mode("overwrite").save()
        except PointstampError as error:
            if not self._is_of_a_file(error):
                raise
            return error
        return None

    def _is_of_a_file(self, error: PointstampError) -> bool:
        """Whether it is the file that is wrong: one cannot be read either when the JVM or a worker is lost."""
        said = error.__context__
        if said is None:  # it can be read, and is not as it has to be
            return True
        return any(word in str(said) for word in UNREAD) and loss(error, self.folder.session) is None

    @property
    def _reader(self) -> DataFrameReader:
        return self.folder.session.read.format(self._source.form).options(**self._source.options)

    def _path(self, name: str) -> str:
        return as_it_is(self.folder.place(name))
