"""Parquet with a commit log: a reader sees a time as a whole or not at all, and a replayed time is written once.

    FOLDER/_attempts/...            what is being written
    FOLDER/time=KEY/*.parquet       the rows of one time, moved here when all of them are written
    FOLDER/_commits/KEY@RUN.json    the commit: {"time": t, "folder": "time=KEY", "files": [...], "rows": n, ...}

A time is in the table from the instant at which its commit has its name. Everything before that can be done again: an
attempt is removed by the next run, and files that no commit names are not part of the table. A commit that takes the
place of others names them (`replaces`), so a reader has the one or the others; then they are removed. `read_committed`
reads what is committed. Who reads FOLDER itself sees whole times too, where renaming a folder is one step (not in an
object store), one run has written it and nothing was put together (`compaction`), with the time's key as a column
`time` if the rows have none of this name; for a moment there may be one that has no commit yet.

One run at a time writes to a folder; the state of a run is locked for the same reason.
"""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.plain import write_time
from progress.runtime.on_spark.folders import Folder, as_it_is, whole
from progress.runtime.on_spark.sinks.by_time import ByTime, TimedSink, key_of
from progress.runtime.on_spark.sinks.modes import (
    ERROR,
    IGNORE,
    OVERWRITE,
    OVERWRITE_PARTITIONS,
    checked_mode,
    foreign,
    there_already,
)
from progress.runtime.on_spark.sinks.turns import COMMITS, end, is_turn, take
from progress.runtime.on_spark.tables.arrow import Columns, is_without_spark
from progress.runtime.on_spark.tables.few_rows import count_in, few_rows_of, is_plain
from progress.runtime.on_spark.tables.schemas import check_columns, columns_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS, COMPACTED = "_attempts", "_compacted"
FILE = "part-00000.parquet"  # of what is written without a job
OF_A_TIME = "time="
KNOWN = {"time", "folder", "rows", "columns"}  # what a commit says at least


class ParquetSink(TimedSink):
    """A sink for an edge or a side output: a folder of Parquet files, a commit for each time, with the same columns.

    Parameters
    ----------
    folder : of this sink alone
    mode : what is done where another run has written something: `modes.checked_mode`
    writers : how many times are written at once

    Cost of a time: one job, and two renames. Its rows are counted where the files say how many they have, as on this
    machine, by a look at those, else while they are written (`Observation`). Rows that are known to be few are written
    without a job that writes (`tables.few_rows`).

    Examples
    --------
    >>> from pointstamp import ParquetSink
    >>> ParquetSink("totals", mode="append")  # doctest: +ELLIPSIS
    <...ParquetSink object at ...>
    """

    def __init__(self, folder: str | os.PathLike[str], mode: str = ERROR, *, writers: int = 1) -> None:
        self.folder = folder
        self.mode = checked_mode(mode)
        self.writers = writers

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        place = f"the folder {whole(self.folder)}"
        if is_without_spark(self.folder):
            from progress.runtime.on_spark.sinks.arrow import ArrowByTime, ArrowCommits

            return self._made(name, ArrowCommits(name, self), place, self.writers, ArrowByTime)
        return self._made(name, Commits(name, self), place, self.writers)


class Commits:
    """The commits of one run in a folder."""

    def __init__(self, name: str, sink: ParquetSink) -> None:
        self._what = f"what leaves at {brief(name)}"
        self._sink = sink
        self._columns: StructType | Columns | None = None
        self._own: set[str] = set()  # the commits of this run that were there when it began
        self._others: dict[str, list[str]] = {}  # by key of a time, the commits of other runs
        self._has_replaced = False  # all that was there
        self._compacted: dict[str, set[str]] = {}  # by turn, the commits whose files are put together in its own
        self._turn: str | None = None  # of a run that replaces commits
        self._lock = threading.Lock()
        self._run: str
        self._folder: Folder

    def begin(self, run: str, is_continued: bool) -> None:
        """Look at what is there. Cost: that of listing."""
        self._run = run
        self._folder = folder = self._reached(self._sink.folder)
        _check_own(folder)
        folder.make(COMMITS)
        if self._sink.mode in (OVERWRITE, OVERWRITE_PARTITIONS):
            self._turn = take(folder, run)  # nobody puts files together from now on
        names = [name for name in names_of(folder) if not is_turn(name)]
        self._own = own = {name for name in names if _parts(name)[1] == run}
        for name in names:
            key, other = _parts(name)
            if other != run:
                self._others.setdefault(key, []).append(name)
        if self._others and not is_continued and self._sink.mode == ERROR:
            raise there_already(f"the folder {brief(folder.path)}", _said(len(self._others)))
        self._compacted = _compacted(folder)
        if self._sink.mode == OVERWRITE:
            self._has_replaced = bool(own) or not self._others
            if own:
                self._remove(self._all_others())
        folder.delete(ATTEMPTS)
        known = sorted(own) or (names if self._sink.mode != OVERWRITE else [])
        if known:
            self._columns = self._known(_commit(folder, known[0])["columns"])

    def commit(self, time: Any, frame: Callable[[], DataFrame]) -> bool:
        """Write a time, if this run has no commit of it."""
        folder, mode = self._folder, self._sink.mode
        key = key_of(time)
        name = f"{key}@{self._run}.json"
        if folder.exists(f"{COMMITS}/{name}"):
            return False
        others = self._others.get(key, [])
        if others and mode == IGNORE:
            return True
        if mode == OVERWRITE_PARTITIONS and any(not hidden.isdisjoint(others) for hidden in self._compacted.values()):
            what = f"the rows at {brief(time)} in {brief(folder.path)} are in files with those of other times (compact)"
            raise PointstampError("PS780", what, "mode='overwrite'; or Delta Lake, where a time can be done again")
        rows = frame()
        with self._lock:
            if self._columns is None:
                self._columns = rows.schema
            check_columns(f"{self._what} at {brief(time)}", self._columns, rows.schema)
        attempt = f"{ATTEMPTS}/{uuid4().hex}"
        count = self._written(rows, attempt)
        commit = {
            "time": write_time(time),
            "folder": f"{OF_A_TIME}{key}",
            "files": self._moved(attempt, key, has_others=bool(others)),
            "rows": count,
            "columns": rows.schema.json(),
        }
        if mode == OVERWRITE:
            with self._lock:  # the first one takes the place of all
                if self._has_replaced:
                    self._write(name, commit, [])
                else:
                    self._write(name, commit, self._all_others())
                    self._has_replaced = True
        else:
            self._write(name, commit, others if mode == OVERWRITE_PARTITIONS else [])
        return bool(others)

    def end(self) -> None:
        """The run has written all."""
        if self._turn is not None:
            end(self._folder, self._turn, self._run)

    def _all_others(self) -> list[str]:
        """The commits of other runs, and those that have put together files of none but other runs."""
        others = [each for those in self._others.values() for each in those]
        return others + [turn for turn, hidden in self._compacted.items() if hidden.isdisjoint(self._own)]

    def _reached(self, folder: str | os.PathLike[str]) -> Folder:
        from progress.runtime.on_spark.session import start_session

        return Folder(start_session(graphframes=False), folder)

    def _known(self, columns: str) -> StructType | Columns:
        """Columns as a commit has them."""
        return columns_in(columns)

    def _written(self, rows: Any, attempt: str) -> int:
        """Write rows; how many they are. Cost: a job, or less where they are known to be few (`tables.few_rows`)."""
        from pyspark.sql import Observation, functions

        file = few_rows_of(rows)
        if file is not None:
            self._folder.make(attempt)
            self._folder.write_bytes(f"{attempt}/{FILE}", file)
            return count_in(io.BytesIO(file))
        place = self._folder.place(attempt)
        if self._folder.is_here and is_plain(rows.sparkSession):
            rows.write.parquet(place)
            files = self._folder.data(attempt)
            return sum(count_in(str(self._folder.here(f"{attempt}/{name}"))) for name in files)
        seen = Observation()
        counted = rows.observe(seen, functions.count(functions.lit(1)).alias("rows"))
        counted.write.parquet(place)
        return int(seen.get["rows"])

    def _write(self, name: str, commit: dict[str, Any], replaces: list[str]) -> None:
        """Commit; what it replaces is not part of the table from then on, and is removed."""
        if replaces:
            commit["replaces"] = replaces
        self._folder.write(f"{COMMITS}/{name}", json.dumps(commit, default=str))
        self._remove(replaces)

    def _moved(self, attempt: str, key: str, has_others: bool) -> list[str]:
        """Put what was written where it is read: as a whole, or beside what other runs have written at this time."""
        folder, place = self._folder, f"{OF_A_TIME}{key}"
        files = folder.data(attempt)
        if not has_others:
            folder.move(attempt, place)
            return files
        for number, name in enumerate(files):
            files[number] = f"{self._run}-{name}"
            folder.move(f"{attempt}/{name}", f"{place}/{files[number]}")
        folder.delete(attempt)
        return files

    def _remove(self, names: list[str]) -> None:
        """Remove commits, and then the files that they name."""
        folder = self._folder
        for name in names:
            if folder.exists(f"{COMMITS}/{name}"):
                commit = _commit(folder, name)
                folder.delete(f"{COMMITS}/{name}")
                for file in files_of(folder, commit):
                    folder.delete(file)
                if not folder.data(commit["folder"]):
                    folder.delete(commit["folder"])


def read_committed(session: SparkSession, folder: str | os.PathLike[str]) -> DataFrame:
    """The rows of all times that are committed now. Cost: that of listing and reading the commits.

    Returns
    -------
    A DataFrame, with the columns of the commits.

    Raises
    ------
    PointstampError
        PS777 where nothing is committed there.

    Examples
    --------
    >>> import tempfile
    >>> from pointstamp import PointstampError, read_committed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         read_committed(None, folder)  # nothing is there yet for which a session would be asked
    ...     except PointstampError as error:
    ...         print(error.code)
    PS777
    """
    there = Folder(session, folder)
    found = _commits(there)
    if not found:
        raise PointstampError("PS777", f"nothing is committed in {brief(there.path)}", "a folder of a ParquetSink")
    columns = columns_in(found[0]["columns"])
    files = [as_it_is(there.place(file)) for commit in found for file in files_of(there, commit)]
    return session.read.schema(columns).parquet(*files)


def committed(session: SparkSession, folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The commits of a folder, by the names of their times: {"time", "folder", "files", "rows", "columns"}.

    Returns
    -------
    Each as it stands in its file.

    Examples
    --------
    >>> import tempfile
    >>> from progress.runtime.on_spark import committed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     committed(None, folder)  # on this machine no session is asked
    []
    """
    return _commits(Folder(session, folder))


def commits_by_name(folder: Folder, names: list[str]) -> dict[str, dict[str, Any]]:
    """These commits. Cost: each is read."""
    return {name: _commit(folder, name) for name in names}


def _commits(folder: Folder) -> list[dict[str, Any]]:
    return list(in_place(commits_by_name(folder, names_of(folder))).values())


def in_place(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The commits that nothing has taken the place of."""
    replaced = {name for commit in found.values() for name in commit.get("replaces", ())}
    return {name: commit for name, commit in found.items() if name not in replaced and commit.get("run") is None}


def _compacted(folder: Folder) -> dict[str, set[str]]:
    """The commits that have put the files of others together, by name, and those others. Cost: each is read."""
    found = commits_by_name(folder, [name for name in names_of(folder) if is_turn(name)])
    return {name: set(commit["replaces"]) for name, commit in found.items() if "sources" in commit}


def files_of(folder: Folder, commit: dict[str, Any]) -> list[str]:
    """The files of a commit; those of one that does not name them are all in its folder."""
    place = commit["folder"]
    names = commit.get("files")
    if names is None:
        names = folder.data(place)
    return [f"{place}/{name}" for name in names]


def names_of(folder: Folder) -> list[str]:
    """The names of all commits, turns among them."""
    return [name for name in folder.names(COMMITS) if name.endswith(".json") and not name.startswith(".")]


def _parts(name: str) -> tuple[str, str]:
    """The key of the time of a commit, and its run."""
    key, _, run = name.removesuffix(".json").partition("@")
    return key, run


def _commit(folder: Folder, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(folder.read(f"{COMMITS}/{name}"))
    except ValueError:
        found = {}
    if not found.keys() >= KNOWN:
        what = f"{brief(folder.place(f'{COMMITS}/{name}'))} is not a commit"
        raise PointstampError("PS777", what, "as a ParquetSink wrote it")
    return found


def _check_own(folder: Folder) -> None:
    """Refuse (PS780) a folder in which there is something that no such sink has written."""
    names = folder.names()
    own = {ATTEMPTS, COMMITS, COMPACTED}
    has_log = COMMITS in names
    strange = [name for name in names if name not in own and not (has_log and name.startswith(OF_A_TIME))]
    if strange:
        raise foreign(f"the folder {brief(folder.path)}", strange)


def _said(times: int) -> str:
    return f"{times} {'time' if times == 1 else 'times'} of another run"
