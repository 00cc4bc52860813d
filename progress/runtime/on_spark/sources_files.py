"""A folder as a source: files that appear there are messages, by the times in their names or in their rows."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, is_number, times_of
from progress.runtime.on_spark.folders import TEMPORARY, Folder, as_it_is
from progress.runtime.on_spark.schemas import check_columns
from progress.runtime.on_spark.sources_positions import Keyed, Positioned, in_order, still_to_come
from progress.runtime.on_spark.sources_times import Reading, readable, rows_by_time
from progress.runtime.sink import Sink
from progress.runtime.source import SILENT, Complete, Messages

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

OFTEN = 0.5  # seconds between looks at the folder
NUMBER = r"(\d+)"
TOLD = object()  # the key of what the rule says
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
    completed already makes a file late. Cost of a look: O(files in the folder). Where the times stand in the rows, one
    job over new files finds them and counts the rows of each (`counts`); it reads the column and nothing else where the
    form allows. Who uses a message reads its files, those of several times once for each.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        time: str | Callable[[str], Any] | Column = NUMBER,
        *,
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
        self.column = None if isinstance(time, str) or callable(time) else time
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

    def items_for(self, engine: str, edge: str, domain: Domain) -> _FileItems:
        """The items of one run."""
        return _FileItems(self, edge, domain, waits=engine not in ("sim", "asyncio"))


def _by_pattern(pattern: str) -> Callable[[str], Any]:
    def time_of(name: str) -> Any:
        found = re.search(pattern, name)
        if found is None:
            return NO_TIME
        text = found[1] if found.re.groups else found[0]
        return int(text) if text.isdecimal() else text

    return time_of


class _Found(NamedTuple):
    """A message: some files of one time, or the rows of a time in all the files of one look."""

    time: Any
    names: tuple[str, ...]
    place: int  # among the messages of these files, from 1 on
    is_last: bool  # of them
    frame: DataFrame | None  # None: all rows of the files


class _FileItems(Positioned):
    """The items of one run.

    The position: the files that are behind the run; those of which only the first times are, with how many these are;
    and the time whose rule has not been told yet, though its rows are in the run.
    """

    def __init__(self, source: FileSource, edge: str, domain: Domain, waits: bool) -> None:
        super().__init__()
        self._begun: tuple[list[str], int] = ([], 0)
        self._untold: list[Any] = []
        self._source = source
        self._edge = edge
        self._domain = domain
        self._waits = waits
        self._schema: StructType | None = None
        self._stopped = threading.Event()
        self._folder: Folder

    def entered(self, key: Any) -> None:
        if key is TOLD:
            self._untold = []
            return
        found, self._untold = key
        if found.is_last:
            self.done += found.names
        self._begun = ([], 0) if found.is_last else (list(found.names), found.place)

    @property
    def position(self) -> Any:
        return list(self.done), self._begun, list(self._untold)

    def go_to(self, position: Any) -> None:
        done, self._begun, untold = position
        self.done, self._untold = list(done), list(untold)

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        super().stop()
        self._stopped.set()

    def keyed(self) -> Iterator[Keyed]:
        from progress.spark_session import start_session

        source = self._source
        self._folder = folder = Folder(start_session(graphframes=False), source.folder)
        if not folder.exists():
            raise PointstampError("PS774", f"there is no folder {brief(str(source.folder))}", "one that exists")
        seen, told = set(self.done), set()
        yield from self._go_on(seen)
        while not self.is_stopped:
            before = folder.files()  # a marker counts with the files that were there before it
            now = folder.files() if source.is_live else before
            is_last = not source.is_live or (source.end is not None and source.end in before)
            names = [name for name in now if name not in seen and self._is_message(name)]
            seen.update(names)
            new = self._found(names)
            left = still_to_come(self._domain, [found.time for found in new])
            for found, rest in zip(new, left, strict=False):
                yield from self._hand_on(found, tells=not is_last)
                if is_last:
                    yield None, rest
            for name in before:
                if source.marker is not None and name not in told and name.rpartition("/")[2] == source.marker:
                    told.add(name)
                    yield None, Complete(tuple(self._after(self._time(name))))
            if is_last:
                return
            if self._waits:
                self._stopped.wait(source.every)
            elif not new:
                yield None, SILENT

    def _go_on(self, seen: set[str]) -> Iterator[Keyed]:
        """What another process had begun: the rule of the last time, and the other times of the same files."""
        rule = self._source.complete
        if self._untold and rule is not None:
            yield TOLD, Complete(tuple(rule(self._untold[0])))
        names, count = self._begun
        seen.update(names)
        for found in self._found(names)[count:]:
            yield from self._hand_on(found, tells=True)

    def _hand_on(self, found: _Found, *, tells: bool) -> Iterator[Keyed]:
        rule = self._source.complete
        frame = self._read(found.names) if found.frame is None else found.frame
        if rule is None or not tells:
            yield (found, []), Messages(found.time, [frame])
        else:
            yield (found, [found.time]), Messages(found.time, [frame])
            yield TOLD, Complete(tuple(rule(found.time)))

    def _found(self, names: Sequence[str]) -> list[_Found]:
        """The messages in new files, earlier times first."""
        source = self._source
        if source.column is None:
            return [_Found(time, tuple(those), 1, True, None) for time, those in self._by_time(names).items()]
        if not names:
            return []
        reading = Reading(source.column, self._edge, self._domain, source.to, source.aside)
        found = rows_by_time(self._read(names), reading)
        for each in found:
            source.counts[each.time] = source.counts.get(each.time, 0) + each.rows
        places = enumerate(found, 1)
        return [_Found(each.time, tuple(names), place, place == len(found), each.frame) for place, each in places]

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

    def _read(self, names: Sequence[str]) -> DataFrame:
        """The rows of some files. Cost: without a schema, a small job for each file that finds its own."""
        source = self._source
        reader = self._folder.session.read.format(source.form).options(**source.options)
        paths = [as_it_is(self._folder.place(name)) for name in names]
        for name, path in zip(names, paths, strict=True):
            if ":" in name:
                what = f"the file {brief(name)} of {brief(self._edge)} has a colon in its name"
                raise PointstampError("PS774", what, "a name without one: Hadoop's file systems cannot read it")
            if source.schema is None:
                with readable(f"the file {brief(name)} of {brief(self._edge)}"):
                    found = reader.load(path).schema
                if self._schema is None:
                    self._schema = found
                check_columns(f"the file {brief(name)} of {brief(self._edge)}", self._schema, found)
        with readable(f"the file {brief(names[0])} of {brief(self._edge)}"):
            schema = source.schema if source.schema is not None else self._schema
            assert schema is not None
            return reader.schema(schema).load(paths)
