"""Many DataFrames of the same columns as one, however many they are.

`unionByName` one after the other makes a plan as deep as there are tables, and each step is analysed whole: a thousand
small tables at one time take minutes. Here they are the branches of one plan, which is analysed once, and computed by
no more tasks than their size is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from progress.runtime.on_spark.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MANY = 16  # branches from which on their number of tasks is looked at
WORTH_A_TASK = 64 << 20  # bytes


def union_of(frames: Sequence[DataFrame], differs: Callable[[DataFrame, DataFrame], None] | None = None) -> DataFrame:
    """The rows of all, by the names of their columns; what Spark raises where those do not fit.

    `differs` is told of the first and of one that may not have the same columns in the same order; it may raise.

    Cost: nothing is computed; O(n) calls of the JVM and one analysis where their columns are the same, in any order,
    else n unions, as a tree, and so over Spark Connect.
    """
    first = frames[0]
    if len(frames) == 1:
        return first
    if is_remote(first.sparkSession):
        if differs is not None:
            for frame in frames[1:]:
                differs(first, frame)  # which looks itself
        return _by_name(list(frames))
    wanted, names = _columns(first), first.columns
    alike: list[DataFrame] = []
    for frame in frames:
        if _columns(frame) == wanted:
            alike.append(frame)
            continue
        if differs is not None:
            differs(first, frame)
        if len(set(names)) == len(names) and sorted(frame.columns) == sorted(names):
            ordered = frame.select([frame["`" + name.replace("`", "``") + "`"] for name in names])
            if _columns(ordered) == wanted:
                alike.append(ordered)
    return _of_all(alike) if len(alike) == len(frames) else _by_name(list(frames))


def _columns(frame: DataFrame) -> str:
    return str(frame._jdf.schema().catalogString())


def _of_all(frames: list[DataFrame]) -> DataFrame:
    """One plan with a branch for each."""
    from pyspark.sql import DataFrame

    session = frames[0].sparkSession
    jvm: Any = session._jvm
    branches = jvm.scala.collection.immutable.Vector.newBuilder()
    for frame in frames:
        branches.addOne(frame._jdf.logicalPlan())
    plan = jvm.org.apache.spark.sql.catalyst.plans.logical.Union(branches.result(), False, False)
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    found = dataset.ofRows(session._jsparkSession, plan)
    if len(frames) >= MANY:
        size = int(str(found.queryExecution().analyzed().stats().sizeInBytes()))
        tasks = max(session.sparkContext.defaultParallelism, -(-size // WORTH_A_TASK))
        if tasks < len(frames):
            found = found.coalesce(tasks)
    return DataFrame(found, session)


def _by_name(frames: list[DataFrame]) -> DataFrame:
    """A tree, since each union is a plan that is analysed."""
    while len(frames) > 1:
        pairs = zip(frames[::2], frames[1::2], strict=False)
        frames = [one.unionByName(other) for one, other in pairs] + frames[len(frames) // 2 * 2 :]
    return frames[0]
