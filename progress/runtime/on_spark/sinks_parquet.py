"""Parquet with a commit log: a reader sees a time as a whole or not at all, and a replayed time is written once.

    FOLDER/_attempts/...        what is being written
    FOLDER/time=KEY/*.parquet   the rows of one time, moved here when all of them are written
    FOLDER/_commits/KEY.json    the commit: {"time": t, "folder": "time=KEY", "rows": n, "columns": "..."}

A time is in the table from the instant at which its commit has its name. Everything before that can be done again: an
attempt is removed by the next run, and a folder without a commit is replaced. `read_committed` reads what is committed.
Who reads FOLDER itself sees whole times too, where renaming a folder is one step (not in an object store), with the
time's key as a column `time` if the rows have none of this name; for a moment there may be one that has no commit yet.

One run at a time writes to a folder; the state of a run is locked for the same reason.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.plain import write_time
from progress.runtime.on_spark.folders import Folder, as_it_is, whole
from progress.runtime.on_spark.schemas import check_columns
from progress.runtime.on_spark.sinks_by_time import ByTime, key_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS, COMMITS = "_attempts", "_commits"


class ParquetSink:
    """A sink for an output edge: a folder of Parquet files, a commit for each time. All times have the same columns.

    Cost of a time: one job, which counts its rows as it writes them (`Observation`), and two renames.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = folder

    def sink_for(self, name: str) -> ByTime:
        """The sink of one run."""
        return ByTime(name, _Commits(name, self.folder), f"the folder {whole(self.folder)}")


class _Commits:
    def __init__(self, name: str, path: str | os.PathLike[str]) -> None:
        self._what = f"what leaves at {brief(name)}"
        self._path = path
        self._folder: Folder | None = None
        self._columns: StructType | None = None

    def commit(self, time: Any, frame: DataFrame) -> None:
        """Write a time, if it has no commit."""
        from pyspark.sql import Observation, functions

        folder = self._folder or self._opened(frame.sparkSession)
        key = key_of(time)
        if folder.exists(f"{COMMITS}/{key}.json"):
            return
        if self._columns is not None:
            check_columns(f"{self._what} at {brief(time)}", self._columns, frame.schema)
        seen = Observation()
        attempt = f"{ATTEMPTS}/{uuid4().hex}"
        rows = frame.observe(seen, functions.count(functions.lit(1)).alias("rows"))
        rows.write.parquet(folder.place(attempt))
        folder.move(attempt, f"time={key}")
        commit = {
            "time": write_time(time),
            "folder": f"time={key}",
            "rows": seen.get["rows"],
            "columns": frame.schema.json(),
        }
        folder.write(f"{COMMITS}/{key}.json", json.dumps(commit, default=str))
        self._columns = frame.schema

    def _opened(self, session: SparkSession) -> Folder:
        """The folder, without the attempts of a run that was killed."""
        from pyspark.sql.types import StructType

        self._folder = folder = Folder(session, self._path)
        folder.delete(ATTEMPTS)
        commits = _names(folder)
        if commits:
            self._columns = StructType.fromJson(json.loads(_commit(folder, commits[0])["columns"]))
        return folder


def read_committed(session: SparkSession, folder: str | os.PathLike[str]) -> DataFrame:
    """The rows of all times that are committed now. Cost: that of listing and reading the commits."""
    from pyspark.sql.types import StructType

    there = Folder(session, folder)
    found = [_commit(there, name) for name in _names(there)]
    if not found:
        raise PointstampError("PS777", f"nothing is committed in {brief(there.path)}", "a folder of a ParquetSink")
    columns = StructType.fromJson(json.loads(found[0]["columns"]))
    return session.read.schema(columns).parquet(*(as_it_is(there.place(commit["folder"])) for commit in found))


def committed(session: SparkSession, folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The commits of a folder, by the names of their times: {"time", "folder", "rows", "columns"}."""
    there = Folder(session, folder)
    return [_commit(there, name) for name in _names(there)]


def _names(folder: Folder) -> list[str]:
    return [name for name in folder.names(COMMITS) if name.endswith(".json") and not name.startswith(".")]


def _commit(folder: Folder, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(folder.read(f"{COMMITS}/{name}"))
    except ValueError:
        found = {}
    if not {"time", "folder", "rows", "columns"} <= found.keys():
        what = f"{brief(folder.place(f'{COMMITS}/{name}'))} is no commit"
        raise PointstampError("PS777", what, "as a ParquetSink wrote it")
    return found
