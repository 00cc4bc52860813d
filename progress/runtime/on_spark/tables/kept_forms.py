"""In which form a table is kept: cut off from what it was made of, and known again in the plans that are made of it.

* A local checkpoint, in the memory and on the disks of workers; on a cluster each part twice, on two workers, so that
  it survives the loss of one, after which Spark makes a second one again.
* Where the session has a folder for checkpoints (`spark.checkpoint.dir`), a checkpoint there, which survives any loss.
* With a name, a Parquet table below the folder of the run, which is there for other readers as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.runtime.on_spark.settings import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from progress.runtime.on_spark.folders import Folder


class Form(NamedTuple):
    """A table that was computed."""

    table: DataFrame
    mark: str  # by which plans that read it are known
    release: Callable[[], object]


def in_memory(table: DataFrame) -> Form:
    """Compute a table and cut it off. Cost: a job; a second one where there is a folder for checkpoints."""
    from pyspark import StorageLevel

    context = table.sparkSession.sparkContext
    if context.getCheckpointDir() is not None:
        return _as_checkpoint(table)
    twice = None if is_local(str(context.master)) else StorageLevel.MEMORY_AND_DISK_2
    found = table.localCheckpoint(eager=True, storageLevel=twice)
    rows = _rows_of(found)
    return Form(found, _mark_of(rows), lambda: rows.unpersist(False))


def kept_by_server(table: DataFrame) -> DataFrame:
    """Compute a table and cut it off over Spark Connect: a local checkpoint, each part twice. Cost: a job."""
    from pyspark import StorageLevel

    session = table.sparkSession
    twice = None if is_local(str(session.conf.get("spark.master", "local"))) else StorageLevel.MEMORY_AND_DISK_2
    return table.localCheckpoint(eager=True, storageLevel=twice)


def _as_checkpoint(table: DataFrame) -> Form:
    """A checkpoint in the folder of the session."""
    from progress.runtime.on_spark.folders import Folder

    found = table.checkpoint(eager=True)
    rows = _rows_of(found)
    files = Folder(table.sparkSession, rows.getCheckpointFile().get())
    return Form(found, _mark_of(rows), lambda: files.delete(""))


def as_files(table: DataFrame, folder: Folder, place: str) -> Form:
    """Write a table, and read it from there. Cost: a job."""
    from progress.runtime.on_spark.folders import as_it_is

    table.write.parquet(folder.place(place))
    found = folder.session.read.schema(table.schema).parquet(as_it_is(folder.place(place)))
    (mark,) = marks_in(found)
    return Form(found, mark, lambda: folder.delete(place))


def marks_in(table: DataFrame) -> Iterator[str]:
    """The marks of what a plan reads, if it was kept. Cost: a few calls of the JVM, and some for each that might be.

    Nothing is computed: it is a look at the leaves of the plan, and of the questions that stand in its expressions.
    """
    plan = table._jdf.queryExecution().analyzed()
    inner = plan.subqueriesAll()
    for each in (plan, *(inner.apply(number) for number in range(inner.size()))):
        leaves = each.collectLeaves()
        for number, name in enumerate(leaves.mkString("\0").split("\0")):
            if name.startswith("LogicalRDD"):
                yield _mark_of(leaves.apply(number).rdd())
            elif name.startswith("Relation"):
                location = getattr(leaves.apply(number).relation(), "location", None)
                if location is not None:
                    yield location().rootPaths().mkString(",")


def _rows_of(table: DataFrame) -> Any:
    return table._jdf.queryExecution().logical().rdd()


def _mark_of(rows: Any) -> str:
    return f"rows {rows.id()}"
