"""A folder as a source: files that appear there are messages, by the times in their names or in their rows."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, is_number, times_of
from progress.runtime.checkpoint import Beside
from progress.runtime.on_spark.arrow_tables import Columns, is_without_spark
from progress.runtime.on_spark.folders import TEMPORARY, Folder, as_it_is
from progress.runtime.on_spark.losses import loss
from progress.runtime.on_spark.schemas import check_columns
from progress.runtime.on_spark.sources_looks import Look, Looks
from progress.runtime.on_spark.sources_positions import Keyed, Positioned, in_order, still_to_come
from progress.runtime.on_spark.sources_times import Reading, readable, rows_by_time, with_one_of
from progress.runtime.sink import Sink
from progress.runtime.source import SILENT, Aside, Complete, Messages
from progress.runtime.source_failure import Refused

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader
    from pyspark.sql.types import StructType

OFTEN = 0.5  # seconds between looks at the folder
NUMBER = r"(\d+)"
LENIENT = ("json", "csv")  # forms in which Spark makes nulls of what it cannot read, unless it is told to fail
Made: TypeAlias = tuple[list[str], list[Any] | None]  # of which files, and which of their rows
# what Spark says where it is the file
UNREAD = ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "UNABLE_TO_INFER_SCHEMA", "MALFORMED_RECORD")
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
        self.time = time if callable(time) else _by_pattern(time if isinstance(time, str) else NUMBER)
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
        """The items of one run: DataFrames of Spark, or of pandas where there is none (`arrow_source`)."""
        waits = engine not in ("sim", "asyncio")
        if (
            engine != "spark"
            and (self.column is None or isinstance(self.column, str))
            and is_without_spark(self.folder)
        ):
            from progress.runtime.on_spark.arrow_source import ArrowItems

            return ArrowItems(self, edge, domain, waits)
        return FileItems(self, edge, domain, waits)


def _by_pattern(pattern: str) -> Callable[[str], Any]:
    def time_of(name: str) -> Any:
        found = re.search(pattern, name)
        if found is None:
            return NO_TIME
        text = found[1] if found.re.groups else found[0]
        return int(text) if text.isdecimal() else text

    return time_of


class Found(NamedTuple):
    """A message: some files of one time, or the rows of a time in all the files of one look."""

    time: Any
    frame: DataFrame
    of: Made


class FileItems(Positioned):
    """The items of one run: look after look, each written down before it is handed on (`sources_looks`).

    The position: how many looks are behind the run, and how many items of the next one.
    """

    def __init__(self, source: FileSource, edge: str, domain: Domain, waits: bool) -> None:
        super().__init__()
        self.done = [0, 0]
        self.aside = source.aside
        self._source = source
        self._edge = edge
        self._domain = domain
        self._waits = waits
        self._is_continued = False
        self._before: list[Look] = []  # of the processes before this one
        self._columns: StructType | Columns | None = None
        self._stopped = threading.Event()
        self._looks = Looks(None, edge)
        self._beside: Beside | None = None
        self._reached: Folder | None = None

    def keep_beside(self, beside: Beside, edge: str) -> None:
        self._beside = beside
        self._looks = Looks(beside.file(edge), edge)
        beside.add_source(edge, self._made_of)

    def entered(self, key: Any) -> None:
        self.done = list(key)

    def go_to(self, position: Any) -> None:
        super().go_to(position)
        self._is_continued = True
        begun, skipped = self.done
        self._before = self._looks.written(begun + (skipped > 0))
        for look in self._before:  # what waits in the run may be made of files that were found first
            self._take_columns(look)

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        super().stop()
        self._stopped.set()

    def keyed(self) -> Iterator[Keyed]:
        source, folder = self._source, self._folder
        if not folder.exists():
            raise PointstampError("PS774", f"there is no folder {brief(str(source.folder))}", "one that exists")
        seen: set[str] = set()  # files and markers
        if not self._is_continued:
            self._looks.begin()
        begun, skipped = self.done
        for number, look in enumerate(self._before):
            seen.update(look.all)
            if number >= begun:
                yield from islice(self._numbered(number, look), skipped if number == begun else 0, None)
            if look.is_last:
                return
        while not self.is_stopped:
            found = self._look(seen)
            if found is not None:
                seen.update(found.all)
                yield from self._numbered(self._looks.add(found), found)
                if found.is_last:
                    return
            if self._waits:
                self._stopped.wait(source.every)
            elif found is None:
                yield None, SILENT

    def _look(self, seen: Collection[str]) -> Look | None:
        """What is new; None where nothing is. Cost: that of listing, twice where a marker or the end is new."""
        source = self._source
        found = self._folder.files()
        markers = [name for name in found if self._is_marker(name) and name not in seen]
        is_last = not source.is_live or (source.end is not None and source.end in found)
        if source.is_live and (markers or is_last):
            found = self._folder.files()  # all that were there before the marker, of which some may have been missed
        names = [name for name in found if name not in seen and self._is_message(name)]
        if not (names or markers or is_last):
            return None
        refused: dict[str, list[str]] = {}
        if self.sets_apart:
            refused = self._refused(names)
            names = [name for name in names if name not in refused]
        else:
            self._check(names)
        columns = None if self._columns is None else self._columns.json()
        return Look(tuple(names), tuple(markers), is_last, columns, refused)

    def _numbered(self, number: int, look: Look) -> Iterator[Keyed]:
        """The items of a look, the same each time: each is known by its look and by how many go before it."""
        for place, item in enumerate(self._items_of(look), 1):
            yield (number, place), item

    def _items_of(self, look: Look) -> Iterator[Any]:
        for name, (code, says, right) in look.refused.items():
            yield Refused(name, PointstampError(code, says, right))
        new, aside = self._found(look.names)
        if aside is not None:
            yield Aside([aside])
        rule = self._source.complete
        left = still_to_come(self._domain, [found.time for found in new])
        for found, rest in zip(new, left, strict=False):
            if self._beside is not None:
                self._beside.is_made_by(self._edge, found.frame, found.of)
            yield Messages(found.time, [found.frame])
            if look.is_last:
                yield rest
            elif rule is not None:
                yield Complete(tuple(rule(found.time)))
        for name in look.markers:
            yield Complete(tuple(self._after(self._time(name))))

    def _found(self, names: Sequence[str]) -> tuple[list[Found], DataFrame | None]:
        """The messages in new files, earlier times first, and the rows that have no time."""
        source = self._source
        if source.column is None:
            by_time = self._by_time(names).items()
            return [Found(time, self._read(those), (those, None)) for time, those in by_time], None
        if not names:
            return [], None
        reading = Reading(source.column, self._edge, self._domain, source.to, source.aside)
        times, aside = rows_by_time(self._read(names), reading)
        for each in times:
            source.counts[each.time] = source.counts.get(each.time, 0) + each.rows
        return [Found(each.time, each.frame, ([*names], each.values)) for each in times], aside

    def _made_of(self, of: Made) -> DataFrame:
        """A message made anew: the rows of some files, or those of them whose column has some values."""
        from pyspark.sql import functions

        names, values = of
        frame = self._read(names)
        if values is None:
            return frame
        column = self._source.column
        assert column is not None
        return with_one_of(frame, functions.col(column) if isinstance(column, str) else column, values)

    def _is_marker(self, name: str) -> bool:
        return self._source.marker is not None and name.rpartition("/")[2] == self._source.marker

    def _is_message(self, name: str) -> bool:
        return name != self._source.end and not any(part.startswith(TEMPORARY) for part in name.split("/"))

    def _by_time(self, names: Iterable[str]) -> dict[Any, list[str]]:
        found: dict[Any, list[str]] = {}
        for name in names:
            found.setdefault(self._time(name), []).append(name)
        return {time: found[time] for time in in_order(self._domain, found)}

    def _time(self, name: str) -> Any:
        time = self._source.time(name)
        found = NO_TIME if time is NO_TIME else as_time(self._domain, time)
        if found is NO_TIME:
            has = "no time in its name" if time is NO_TIME else f"{brief(time)} in its name, which is no time there"
            what = f"the source of {brief(self._edge)} has a file {brief(name)} with {has}"
            raise PointstampError("PS772", what, f"{times_of(self._domain)}; `time=` finds it")
        return found

    def _after(self, time: Any) -> Iterable[Any]:
        if self._source.after is not None:
            return self._source.after(time)
        if is_number(self._domain):
            return [time + 1]
        what = f"the marker of {brief(self._edge)} completes {brief(time)}, and which times come after it is not known"
        raise PointstampError("PS774", what, "`after=`, a function that says so")

    @property
    def _folder(self) -> Folder:
        from progress.runtime.on_spark.session import start_session

        if self._reached is None:
            self._reached = Folder(start_session(graphframes=False), self._source.folder)
        return self._reached

    def _read(self, names: Sequence[str]) -> DataFrame:
        """The rows of some files. Cost: none, it is a plan."""
        schema: Any = self._source.schema if self._source.schema is not None else self._columns
        with readable(f"the file {brief(names[0])} of {brief(self._edge)}"):
            return self._reader.schema(schema).load([self._path(name) for name in names])

    def _check(self, names: Sequence[str]) -> None:
        """Refuse new files that cannot be read so. Cost: without a schema, a small job for each finds its columns."""
        for name in names:
            what = f"the file {brief(name)} of {brief(self._edge)}"
            if ":" in name:
                right = "a name without one: Hadoop's file systems cannot read it"
                raise PointstampError("PS774", f"{what} has a colon in its name", right)
            if self._source.column is None:
                self._time(name)
            if self._source.schema is None:
                with readable(what):
                    found = self._reader.load(self._path(name)).schema
                if self._columns is None:
                    self._columns = found
                check_columns(what, self._columns, found)

    def _refused(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The files that cannot be read. Cost: a job that reads all, and one for each file if that fails."""
        refused: dict[str, list[str]] = {}
        for name in names:
            try:
                self._check([name])
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

    def _unread(self, names: Sequence[str]) -> PointstampError | None:
        """Why not all rows of these files can be read, if that is because of a file."""
        try:
            with readable(f"the file {brief(names[0])} of {brief(self._edge)}"):
                self._read(names).write.format("noop").mode("overwrite").save()
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
        return any(word in str(said) for word in UNREAD) and loss(error, self._folder.session) is None

    def _take_columns(self, look: Look) -> None:
        """The columns that files had before, so that later ones have the same."""
        from pyspark.sql.types import StructType

        if look.columns is not None:
            self._columns = StructType.fromJson(json.loads(look.columns))

    @property
    def _reader(self) -> DataFrameReader:
        return self._folder.session.read.format(self._source.form).options(**self._source.options)

    def _path(self, name: str) -> str:
        return as_it_is(self._folder.place(name))
