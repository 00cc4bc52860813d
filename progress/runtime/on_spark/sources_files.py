"""A folder as a source: files that appear there are messages, by the times in their names."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, is_number, times_of
from progress.runtime.on_spark.folders import TEMPORARY, Folder
from progress.runtime.on_spark.schemas import check_columns
from progress.runtime.on_spark.sources_positions import Keyed, Positioned, in_order, still_to_come
from progress.runtime.on_spark.sources_times import unreadable
from progress.runtime.source import SILENT, Complete, Messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

OFTEN = 0.5  # seconds between looks at the folder
NUMBER = r"(\d+)"
SELF_DESCRIBING = ("parquet", "orc", "avro")


class FileSource:
    """The files of a folder. Those of one time that are found together are one message, a DataFrame.

    Parameters
    ----------
    folder : the folder; files in folders below it count as well, by their names from there: `day=3/part-0.parquet`
    time : finds the time in such a name: a pattern whose group is the time, a number if it has digits only (by default
        the first number), or a function
    form : of the files, as Spark reads it: parquet, orc, json, csv
    schema : the columns, as Spark writes them; without it those of the first file (`form` has to say them)
    options : more for Spark's reader
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
    completed already makes a file late. Cost of a look: O(files in the folder).
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        time: str | Callable[[str], Any] = NUMBER,
        *,
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
        self.time = time if callable(time) else _by_pattern(time)
        self.form = form
        self.schema = schema
        self.options = dict(options or {})
        self.complete = complete
        self.marker = marker
        self.after = after
        self.end = end
        self.is_live = live or end is not None
        self.every = every
        if schema is None and form not in SELF_DESCRIBING:
            raise PointstampError("PS774", f"files of {form} do not say what columns they have", "`schema=`")

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


class _FileItems(Positioned):
    def __init__(self, source: FileSource, edge: str, domain: Domain, waits: bool) -> None:
        super().__init__()
        self._source = source
        self._edge = edge
        self._domain = domain
        self._waits = waits
        self._schema: StructType | None = None
        self._stopped = threading.Event()

    def entered(self, key: Any) -> None:
        self.done += key

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        super().stop()
        self._stopped.set()

    def keyed(self) -> Iterator[Keyed]:
        from progress.spark_session import start_session

        source = self._source
        session = start_session(graphframes=False)
        folder = Folder(session, source.folder)
        if not folder.exists():
            raise PointstampError("PS774", f"there is no folder {brief(str(source.folder))}", "one that exists")
        seen, told = set(self.done), set()
        while not self.is_stopped:
            before = folder.files()  # a marker counts with the files that were there before it
            now = folder.files() if source.is_live else before
            is_last = not source.is_live or (source.end is not None and source.end in before)
            new = self._by_time(name for name in now if name not in seen and self._is_message(name))
            left = still_to_come(self._domain, list(new))
            for (time, names), rest in zip(new.items(), left, strict=False):
                yield tuple(names), Messages(time, [self._read(session, folder, names)])
                seen.update(names)
                if is_last:
                    yield None, rest
                elif source.complete is not None:
                    yield None, Complete(tuple(source.complete(time)))
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

    def _read(self, session: SparkSession, folder: Folder, names: list[str]) -> DataFrame:
        """The rows of some files. Cost: without a schema, a look at each file's own."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        source = self._source
        reader = session.read.format(source.form).options(**source.options)
        paths = [folder.place(name) for name in names]
        if source.schema is not None:
            return reader.schema(source.schema).load(paths)
        for name, path in zip(names, paths, strict=True):
            try:
                found = reader.load(path).schema
            except (PySparkException, Py4JError) as error:
                raise unreadable(f"the file {brief(name)} of {brief(self._edge)} cannot be read", error) from None
            if self._schema is None:
                self._schema = found
            check_columns(f"the file {brief(name)} of {brief(self._edge)}", self._schema, found)
        assert self._schema is not None
        return reader.schema(self._schema).load(paths)
