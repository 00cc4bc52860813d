"""What tests of Spark share: runs into a sink, and what is read of it afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from progress import PointstampError
from progress.order import Nat
from progress.runtime.on_spark.sinks.by_time import ByTime
from progress.runtime.on_spark.sinks.parquet import ParquetSink, read_committed
from tests.spark.spark import spark_session

SOON = 120.0  # seconds in which something has to happen, on a slow machine that has much else to do
FOR_EVER = "java_method('java.lang.Thread', 'sleep', 600000L)"


def frame(*rows: int, column: str = "v") -> Any:
    """Rows of which Spark does not know that they are few, and for which no process of Python is needed."""
    values = ", ".join(map(str, rows))
    return spark_session().sql(f"select explode(cast(array({values}) as array<int>)) as {column}")


def slow() -> Any:
    """A table that is not made within any test."""
    return spark_session().range(1).selectExpr(f"{FOR_EVER} as v")


def quick(value: int) -> Any:
    """A table of one value."""
    return spark_session().range(1).selectExpr(f"'{value}' as v")


def read(folder: Path) -> list[int]:
    return sorted(row.v for row in read_committed(spark_session(), folder).collect())


def by_commits(folder: Path) -> list[int]:
    """What is committed, read without Spark and without what wrote it."""
    from pyarrow import parquet  # type: ignore[import-untyped]

    commits = {path.name: json.loads(path.read_text("utf-8")) for path in (folder / "_commits").glob("[!.]*.json")}
    replaced = {name for commit in commits.values() for name in commit.get("replaces", ())}
    files = [
        folder / commit["folder"] / file
        for name, commit in commits.items()
        if name not in replaced
        for file in commit["files"]
    ]
    return sorted(v for file in files for v in parquet.ParquetFile(file).read()["v"].to_pylist())


def sink(folder: Path, domain: Any = None, mode: str = "error", writers: int = 1) -> ByTime:
    found = ParquetSink(folder, mode, writers=writers).sink_for("out")
    found.begins(domain or Nat())
    return found


def gone_on(before: ByTime, folder: Path, mode: str = "error") -> ByTime:
    """The sink of a process that goes on with what the first checkpoint of another one says."""
    found = sink(folder, mode=mode)
    found.restore((before.snapshot()[0], None, 0, {}))
    return found


def refused(call: Callable[[], object]) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        call()
    assert str(caught.value).isprintable()
    return caught.value


def whole_run(folder: Path, mode: str, *rows: tuple[int, int], run: str | None = None) -> ByTime:
    """One run that writes these rows at these times; one that goes on, where it has a name."""
    out = sink(folder, mode=mode)
    if run is None:
        out.is_new()
    else:
        out.restore((run, None, 0, {}))
    for time, value in rows:
        out.write_all(time, [frame(value)])
    out.complete(())
    out.close()
    return out


def pools() -> list[Any]:
    """Those of Spark's scheduler: what runs and what waits for a core, without the delay of what it tells others."""
    found = spark_session().sparkContext._jsc.sc().getAllPools()
    return [found.apply(number) for number in range(found.size())]


def running_tasks() -> int:
    """How many tasks have a core."""
    return sum(int(pool.runningTasks()) for pool in pools())


class Gate:
    """Tasks of Spark that have begun, and go on when they are let: no test has to guess how long one takes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder

    def before(self, rows: Any) -> Any:
        """The rows, behind a gate: each of their tasks waits there."""
        place, patience = str(self._folder), 10 * SOON

        def wait(batches: Iterator[Any]) -> Iterator[Any]:
            import time
            from pathlib import Path

            from pyspark import TaskContext

            task = TaskContext.get()
            assert task is not None
            number = task.taskAttemptId()
            (Path(place) / f"{number}.begun").touch()
            until = time.monotonic() + patience
            while not any((Path(place) / f"{name}.go").exists() for name in (number, "all")):
                assert time.monotonic() < until
                time.sleep(0.01)
            yield from batches

        return rows.mapInArrow(wait, rows.schema)

    def begun(self) -> list[int]:
        """The tasks that have begun; the numbers of tasks are in the order in which Spark has begun them."""
        return sorted(int(path.stem) for path in self._folder.glob("*.begun"))

    def let(self, task: int | str = "all") -> None:
        """Let a task go on, or all of them."""
        (self._folder / f"{task}.go").touch()


def wait_until(is_so: Callable[[], object]) -> None:
    """Until it is so; what does not become so is a failure, long after it should have."""
    until = monotonic() + SOON
    while not is_so():
        assert monotonic() < until
        sleep(0.01)


def drop(folder: Path, name: str, rows: Sequence[Any], columns: str = "v int") -> None:
    """A file under its name at once, as a careful writer makes it."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    kinds = {"int": arrow.int32(), "string": arrow.string()}
    fields = [field.split() for field in columns.split(", ")]
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    schema = arrow.schema([(column, kinds[kind]) for column, kind in fields])
    table = [arrow.array([row[number] for row in rows], schema.types[number]) for number in range(len(fields))]
    parquet.write_table(arrow.Table.from_arrays(table, schema=schema), place.with_name(f"_{place.name}"))
    place.with_name(f"_{place.name}").rename(place)
