"""What pipelines do over Spark Connect, in a process whose only session is one of a server: its URL, and a folder."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

from graphs import Graph
from progress.errors import PointstampError
from progress.runtime import Dataflow, Out, Stage
from progress.runtime.on_spark import DeltaSink, FileSource, FrameSource, ParquetSink, StreamSource
from progress.runtime.on_spark.connect import is_remote
from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.session import active_session, check_session, start_session
from progress.runtime.tables import rows_of

DAYS, IDS = 3, 30
FOR_EVER = "java_method('java.lang.Thread', 'sleep', 40000L)"


def graph() -> Graph:
    """in -> halve -> out."""
    return Graph().node("halve").edge(None, "halve", "in").edge("halve", None, "out")


class Halve(Stage):
    """Halves the ids of a day in rounds until none is left, and says in how many; every round cuts off what it made."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        from pyspark.sql import functions as F

        rows, rounds = tables["in"].select("id"), 0
        self.tags.update(out.session.getTags())
        while rows.where("id > 0").count():
            rows = out.keep(rows.withColumn("id", F.floor(F.col("id") / 2)), until=time)
            assert out.keep(rows, until=time) is rows
            rounds += 1
        out.send("out", time, out.table([{"day": time, "rounds": rounds}], "day bigint, rounds bigint"))


def frame(session: Any) -> Any:
    """Ids by day."""
    return session.range(1, IDS + 1, 1, 2).selectExpr("id", f"id % {DAYS} AS day")


def rounds() -> dict[int, int]:
    """In how many rounds the largest id of a day has become 0."""
    return {day: max(each for each in range(1, IDS + 1) if each % DAYS == day).bit_length() for day in range(DAYS)}


def run_it(session: Any) -> None:
    """Times side by side, tables that are kept, tables that are made, and rows that leave."""
    node = Halve()
    dataflow = Dataflow(graph(), {"halve": lambda: node}, sources={"in": FrameSource(frame(session), "day")})
    results = dataflow.run(engine="spark", session=session)
    found = {day: rows_of(table) for day, table in results["out"]}
    assert found == {day: [{"day": day, "rounds": count}] for day, count in rounds().items()}
    assert sorted(tag.split(" ", 1)[1] for tag in node.tags) == [f"halve {day}" for day in range(DAYS)]
    assert not session.getTags()


def stop_it(session: Any) -> None:
    """What runs is cancelled when the run has to stop, and its jobs are over."""
    begun: list[str] = []

    class Sleeps(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            begun.extend(out.session.getTags())
            out.session.range(1).selectExpr(FOR_EVER).collect()

    cancel = threading.Event()

    def wait() -> None:
        while len(begun) < 2:
            sleep(0.01)
        sleep(0.3)
        cancel.set()

    threading.Thread(target=wait, daemon=True).start()
    dataflow = Dataflow(graph(), {"halve": Sleeps()}, sources={"in": [(0, 1), (1, 1)]})
    with pytest.raises(PointstampError, match=r"^PS712"):
        dataflow.run(engine="spark", session=session, cancel=cancel)
    assert [session.interruptTag(tag) for tag in begun] == [[], []]


def fail_it(session: Any) -> None:
    """An error is one line with node and time."""
    node = Stage(lambda time, tables: session.range(1).selectExpr("raise_error('too much')").collect())
    with pytest.raises(PointstampError) as caught:
        Dataflow(graph(), {"halve": node}).run(engine="spark", session=session, sources={"in": [(3, 1)]})
    assert caught.value.message.startswith("'halve' failed in the notification at 3: ")
    assert "too much" in caught.value.message
    assert len(caught.value.message.splitlines()) == 1


def refuse_it(session: Any, folder: Path) -> None:
    """What needs the JVM is refused in words."""

    def refused(says: str, node: Any = None, **options: Any) -> None:
        dataflow = Dataflow(graph(), {"halve": node or Stage(lambda time, tables: tables["in"])})
        with pytest.raises(PointstampError, match=says) as caught:
            dataflow.run(engine="spark", session=session, **{"sources": {"in": [(0, 1)]}, **options})
        assert "Spark Connect keeps out of reach" in str(caught.value)

    class Names(Stage):
        def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
            out.keep(session.range(1), until=time, name="labels")

    refused("PS755: a table that is kept as 'labels' needs Spark's JVM", Names(), folder=str(folder))
    stream = session.readStream.schema("id bigint").parquet(str(folder))
    source = StreamSource(stream, "id", folder / "stream")
    refused("PS755: the StreamSource of 'in' needs Spark's JVM", sources={"in": source})
    refused("PS755: at 'out', looking for io.delta", sinks={"out": DeltaSink(folder / "delta")})
    refused("PS755: at 'out', looking at the folder 's3a://b/days'", sinks={"out": ParquetSink("s3a://b/days")})
    with pytest.raises(PointstampError, match="PS755: a session of Spark Connect has no JVM"):
        check_session(session)
    kind: Any = type("SparkSession", (SimpleNamespace,), {"__module__": "pyspark.sql.connect.session"})
    builder = SimpleNamespace(endpoint="spark.example:15002")
    with pytest.raises(PointstampError, match="PS755: looking at the folder"):
        Folder(kind(client=SimpleNamespace(_builder=builder)), folder)


def write_it(session: Any, folder: Path) -> None:
    """Files of this machine, where the server is on it, too: read, and written once by commits."""
    from pyarrow import parquet  # type: ignore[import-untyped]

    frame(session).repartition("day").write.partitionBy("day").parquet(str(folder / "in"))
    files = FileSource(folder / "in", lambda name: int(name.split("/")[0].removeprefix("day=")))
    dataflow = Dataflow(graph(), {"halve": Stage(lambda time, tables: tables["in"])}, sources={"in": files})
    dataflow.run(engine="spark", session=session, sinks={"out": ParquetSink(folder / "out")})
    names = [path for path in (folder / "out").rglob("*.parquet") if "_attempts" not in path.parts]
    ids = [each for name in names for each in parquet.ParquetFile(name).read(["id"])["id"].to_pylist()]
    assert sorted(ids) == list(range(1, IDS + 1))


def batch_it(session: Any, folder: Path) -> None:
    """A pipeline runs within `foreachBatch` at the server, on the session that a batch has there."""
    frame(session).write.parquet(str(folder / "stream"))
    mine, place = os.getpid(), str(folder / "batches")

    def each(batch: Any, number: int) -> None:
        theirs = batch.sparkSession
        assert is_remote(theirs)
        assert os.getpid() != mine
        dataflow = Dataflow(graph(), {"halve": Halve()}, sources={"in": FrameSource(batch, "day")})
        results = dataflow.run(engine="spark", session=theirs)
        for _, table in results["out"]:
            table.write.mode("append").parquet(place)

    stream = session.readStream.schema("id bigint, day bigint").parquet(str(folder / "stream"))
    query = stream.writeStream.foreachBatch(each).option("checkpointLocation", str(folder / "query"))
    query.trigger(availableNow=True).start().awaitTermination()
    found = {row.day: row.rounds for row in session.read.parquet(place).collect()}
    assert found == rounds()


def main(url: str, folder: Path) -> None:
    """All of it with one session."""
    session = start_session(url, {"spark.sql.shuffle.partitions": 2}, graphframes=False)
    assert is_remote(session)
    assert session.conf.get("spark.sql.shuffle.partitions") == "2"
    seen: list[Any] = []
    asks = threading.Thread(target=lambda: seen.append(active_session()))
    asks.start()
    asks.join()
    assert seen == [session] == [start_session(graphframes=False)]
    run_it(session)
    stop_it(session)
    fail_it(session)
    refuse_it(session, folder)
    write_it(session, folder)
    batch_it(session, folder)
    session.stop()
    with pytest.raises(PointstampError, match="PS741: the session was stopped"):
        Dataflow(graph()).run(engine="spark", session=session)
    print("all of it is so")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
