"""Small files put together, so that a table of many times is read by few tasks.

Each time that a sink commits has files of its own, and where times are small, so are these. `compact` writes the rows
of many commits into few files below FOLDER/_compacted and commits them at once, by a commit that names those whose
place it takes (`replaces`). Who reads by the commits (`read_committed`) has the ones or the others, each row once; a
kill before that commit has changed nothing. The commits that gave way stay: by them a run knows what it has written.
Their files stay until the next call, for readers that have begun.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.connect import beyond_reach, is_remote
from progress.runtime.on_spark.folders import Folder, as_it_is, whole
from progress.runtime.on_spark.sinks.parquet import COMPACTED, commits_by_name, files_of, in_place, names_of
from progress.runtime.on_spark.sinks.turns import COMMITS, check_none_is_open, is_turn, next_turn
from progress.runtime.on_spark.tables.schemas import columns_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZE = 128 << 20  # bytes of a file


class Compacted(NamedTuple):
    """What was done: so many files gave way to so many."""

    files: int
    into: int


def compact(session: SparkSession, place: str | os.PathLike[str], size: int = SIZE, *, keep: bool = True) -> Compacted:
    """Put the small files of a table together.

    Parameters
    ----------
    place : the folder of a `ParquetSink`, or the table of a `DeltaSink`
    size : about so many bytes are in a file then; commits with files of half of that stay as they are (Delta Lake has
        settings of its own)
    keep : whether files that gave way stay until the next call, for readers that have begun; Delta Lake keeps them
        until `VACUUM`

    A run may go on beside it; one whose mode replaces what others have written is refused, as long as it is not over
    (PS780). A table of Delta Lake decides which of two that come into conflict has to begin anew. Cost: the small files
    are read, and written in one job.

    Returns
    -------
    How many files there were, and how many there are instead.

    Raises
    ------
    PointstampError
        PS777 where nothing is committed there, PS780 where a run that replaces it is not over or comes between, PS755
        over Spark Connect.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.runtime.on_spark import ParquetSink, compact
    >>> from progress.runtime.on_spark.session import start_session
    >>> session, folder = start_session(graphframes=False), mkdtemp()
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), sinks={"a->out": ParquetSink(folder)})
    >>> rows = [(time, session.sql("select explode(array(1, 2)) as v")) for time in range(3)]
    >>> flow.run(engine="spark", session=session, sources={"in->a": rows})
    {}
    >>> compact(session, folder).files > 1
    True
    """
    if is_remote(session):
        raise beyond_reach("putting files together")
    there = Folder(session, place)
    if there.exists("_delta_log"):
        return _by_delta(session, whole(place))
    names = names_of(there)
    if not names:
        raise PointstampError("PS777", f"nothing is committed in {brief(there.path)}", "a folder of a ParquetSink")
    check_none_is_open(there, names)
    turn = next_turn(names)
    found = commits_by_name(there, names)
    _remove_what_gave_way(there, found, turn)
    small = {name: commit for name, commit in in_place(found).items() if _is_small(there, commit, size)}
    before = [file for commit in small.values() for file in files_of(there, commit)]
    wanted = max(1, -(-sum(map(there.size, before)) // size))
    if len(before) <= wanted:
        return Compacted(0, 0)
    commit = _together(session, there, list(small.values()), f"{COMPACTED}/{turn.removesuffix('.json')}-", wanted)
    hidden = [each for name in small for each in (name, *found[name].get("replaces", ()))]
    commit |= {"replaces": list(dict.fromkeys(hidden)), "sources": list(small)}
    if not there.write_new(f"{COMMITS}/{turn}", json.dumps(commit, default=str)):
        there.delete(commit["folder"])
        what = f"in the folder {brief(there.path)} a run, or who else compacts, has come between; nothing is changed"
        raise PointstampError("PS780", what, "another call")
    if not keep:
        _remove(there, [found[name] for name in small])
    return Compacted(len(before), len(commit["files"]))


def _is_small(folder: Folder, commit: dict[str, Any], size: int) -> bool:
    files = files_of(folder, commit)
    return bool(files) and sum(map(folder.size, files)) < len(files) * size / 2


def _together(
    session: SparkSession, folder: Folder, commits: list[dict[str, Any]], start: str, count: int
) -> dict[str, Any]:
    """Write the rows of these commits into so many files; what a commit of them says."""
    from pyspark.sql import Observation, functions

    columns, place = commits[0]["columns"], start + uuid4().hex
    files = [as_it_is(folder.place(file)) for commit in commits for file in files_of(folder, commit)]
    rows = session.read.schema(columns_in(columns)).parquet(*files).coalesce(count)
    seen = Observation()
    rows.observe(seen, functions.count(functions.lit(1)).alias("rows")).write.parquet(folder.place(place))
    wanted = sum(commit["rows"] for commit in commits)
    if seen.get["rows"] != wanted:
        folder.delete(place)
        what = f"the files of {brief(folder.path)} have {seen.get['rows']} rows, and their commits {wanted}"
        raise PointstampError("PS777", what, "as a ParquetSink wrote it")
    return {
        "time": None,
        "times": [time for commit in commits for time in commit.get("times", [commit["time"]])],
        "folder": place,
        "files": folder.data(place),
        "rows": wanted,
        "columns": columns,
    }


def _remove_what_gave_way(folder: Folder, found: dict[str, dict[str, Any]], turn: str) -> None:
    """Remove the files that the last call has put together, and what calls have left that were killed.

    Files of a turn that is still to be taken may be those of a call that goes on.
    """
    last = max((name for name in found if is_turn(name) and "sources" in found[name]), default=None)
    if last is not None:
        _remove(folder, [found[name] for name in found[last]["sources"] if name in found])
    known = {commit["folder"] for commit in found.values()}
    for name in folder.names(COMPACTED):
        if f"{COMPACTED}/{name}" not in known and name.rpartition("-")[0] + ".json" < turn:
            folder.delete(f"{COMPACTED}/{name}")


def _remove(folder: Folder, commits: list[dict[str, Any]]) -> None:
    """Remove the files of commits, and their folders where nobody has put other files there."""
    for commit in commits:
        for file in files_of(folder, commit):
            place, _, name = file.rpartition("/")
            folder.delete(file)
            folder.delete(f"{place}/.{name}.crc")
        for name in ("_SUCCESS", "._SUCCESS.crc"):
            folder.delete(f"{commit['folder']}/{name}")
        folder.delete_if_empty(commit["folder"])


def _by_delta(session: SparkSession, path: str) -> Compacted:
    from progress.runtime.on_spark.sinks.delta import check_delta

    check_delta(session)
    jvm: Any = session._jvm
    row = jvm.io.delta.tables.DeltaTable.forPath(session._jsparkSession, path).optimize().executeCompaction().head()
    metrics = row.getStruct(row.fieldIndex("metrics"))
    return Compacted(*(int(metrics.getAs(name)) for name in ("numFilesRemoved", "numFilesAdded")))
