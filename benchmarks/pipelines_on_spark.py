"""Pipelines on Spark: what running times side by side brings, and what the tracking of progress costs.

    .venv/bin/python -m benchmarks.pipelines_on_spark [--master 'local[2]'] [--epochs 1000] [--job 10]

Four figures are measured, and the claims of docs/spark-pipelines.md are checked against them:

* 40 small times that are complete together, each with one job of two tasks, worked on one after the other
  (`at_once=1`) and side by side (`at_once=8`), alternating, the best of three runs each: at least 1.5 times faster;
* 1,000 epochs that come one after the other, each with one small job, beside the same jobs without a pipeline: what a
  time costs more is at most 25 ms; the time within the core and its tracker, all of which is on the driver, is less
  than 2% of the run's;
* how long after it is due the first checkpoint is on the disk while jobs of 10 s are in flight, of nodes that keep
  nothing, a dict of which they say by time what belongs to which call, and a dict: at most 2 s;
* how long after the first of such jobs is over, which have all cores, a checkpoint is on the disk that has to compute
  three tables, while other jobs wait for a core as well: at most 2 s.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from graphs import Graph
from progress.runtime import Complete, Dataflow, Messages, Out, Stage
from progress.runtime.actions.core import Core
from progress.runtime.control import Cancelled, Control
from progress.runtime.durable.folder import StateFolder
from progress.runtime.durable.rests import Keeping
from progress.runtime.on_spark.engine import OnSpark
from progress.runtime.on_spark.session import start_session
from progress.runtime.on_spark.sources.rows import FrameSource
from progress.runtime.on_spark.tables.kept_frames import KeptFrames
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running

TIMES = 40
DUE, LATE = 3.0, 2.0  # seconds until the first checkpoint is due, and that it may be late by
BEGUN: list[float] = []  # when long jobs have begun
FASTER, SHARE = 1.5, 0.02
WORKERS = 8
OVERHEAD = 0.025  # seconds a time
CORE = ("next_node", "take", "commit", "bring", "has_room")
SETTINGS = {"spark.ui.enabled": "false"}


def graph(domain: Any) -> Graph:
    """in -> job -> out."""
    return Graph(time=domain).node("job").edge(None, "job", "in").edge("job", None, "out")


class Job(Stage):
    """One small job for each time: a few hundred rows, grouped."""

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        """Group the rows of this time."""
        out.send("out", time, job(out.session))


def job(session: Any) -> int:
    """What is done at each time."""
    return len(session.range(0, 400, 1, 2).selectExpr("id % 7 as name", "id").groupBy("name").sum("id").collect())


def forty(session: Any, at_once: int) -> float:
    """Seconds for times that are complete together."""
    items = [((each, TIMES - each), 1) for each in range(TIMES)]
    dataflow = Dataflow(graph({"product": ["nat", "nat"]}), {"job": Job(at_once=at_once)})
    begin = perf_counter()
    results = dataflow.run(engine="spark", session=session, workers=WORKERS, sources={"in": items})
    seconds = perf_counter() - begin
    assert sorted(results["out"]) == [(time, 7) for time, _ in items]
    return seconds


class Inside:
    """The seconds that are spent within the core, on this driver."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, with its time added; calls of the core are made one at a time."""

        def call(*arguments: Any, **options: Any) -> Any:
            begin = perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds += perf_counter() - begin
                self.calls += 1

        return call


def epochs(session: Any, count: int) -> tuple[float, Inside]:
    """Seconds for so many epochs one after the other, and those within the core."""

    def items() -> Iterator[Any]:
        for epoch in range(count):
            yield epoch, 1
            yield Complete((epoch + 1,))

    inside = Inside()
    before = {name: getattr(Core, name) for name in CORE}
    try:
        for name, method in before.items():
            setattr(Core, name, inside.timed(method))
        begin = perf_counter()
        dataflow = Dataflow(graph("nat"), {"job": Job()})
        results = dataflow.run(engine="spark", session=session, sources={"in": items})
        seconds = perf_counter() - begin
    finally:
        for name, method in before.items():
            setattr(Core, name, method)
    assert sorted(results["out"]) == [(epoch, 7) for epoch in range(count)]
    return seconds, inside


def barely(session: Any, count: int) -> float:
    """Seconds for the jobs of so many epochs, one after the other."""
    begin = perf_counter()
    for _ in range(count):
        job(session)
    return perf_counter() - begin


class Long(Stage):
    """A job that takes long, for each time; some are in flight together."""

    def __init__(self, seconds: float) -> None:
        super().__init__(at_once=4)
        self.seconds = seconds

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        """Let a task sleep, and hand the table on."""
        BEGUN.append(perf_counter())
        sleep = f"java_method('java.lang.Thread', 'sleep', {int(1000 * self.seconds)}L)"
        out.session.range(0, 1, 1, 1).selectExpr(sleep).collect()
        out.send("out", time, tables["in"])


class KeepsByTime(Long):
    """The same, with a dict that changes in each call, of which it says what belongs to which."""

    by_time: Sequence[str] = ("seen",)

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seen: dict[Any, list[int]] = {}

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> None:
        """Remember how many rows there are, before the job and after it."""
        self.seen[time] = [1]
        super().on_tables(time, tables, out)
        self.seen[time].append(2)


class Keeps(KeepsByTime):
    """The same, and it says nothing of that."""

    by_time = ()


def lateness(session: Any, node: Long, folder: Path) -> float:
    """Seconds from when the first checkpoint is due to when it is on the disk; the jobs are still in flight then."""
    kept: list[float] = []
    BEGUN.clear()
    cancel = threading.Event()
    state = StateFolder(str(folder))

    def keep(parts: Any) -> None:
        state.store.write({}, parts)
        kept.append(perf_counter())
        if len(kept) == 2:  # the first of them is that of the beginning
            cancel.set()

    days = FrameSource(session.range(0, TIMES, 1, 1).selectExpr("id AS day"), "day")
    dataflow = Dataflow(graph("nat"), {"job": lambda: node}, sources={"in": days})
    with suppress(Cancelled), OnSpark(session) as on_spark:
        keeping = Keeping(keep, DUE, None, KeptFrames(folder))
        Running(
            dataflow,
            dataflow.sources,
            {},
            RunOptions("spark", keeping=keeping, control=Control(cancel=cancel), host=on_spark),
        ).run(None, WORKERS)
    state.close()
    due = kept[0] + DUE
    assert BEGUN[0] < due < kept[1] < BEGUN[0] + node.seconds, "no job was in flight then"
    return kept[1] - due


def behind(session: Any, seconds: float, folder: Path) -> float:
    """Seconds from the end of the first of the jobs that have all cores to a checkpoint that has computed tables."""
    cores = session.sparkContext.defaultParallelism
    begun: list[int] = []
    ended: list[float] = []
    kept: list[float] = []
    cancel = threading.Event()

    def sleeps(time: int, tables: dict[str, Any]) -> None:
        begun.append(time)
        sleep = f"java_method('java.lang.Thread', 'sleep', {int(1000 * seconds)}L)"
        session.range(0, 1, 1, 1).selectExpr(sleep).collect()
        ended.append(perf_counter())

    def tables() -> Iterator[Any]:
        while len(begun) < 2 * cores:
            cancel.wait(0.01)
        cancel.wait(1.0)  # they have all cores
        yield Messages(0, [session.range(0, 10_000 + number, 1, 1) for number in range(3)])
        cancel.wait()

    def keep(parts: Any) -> None:
        state.store.write({}, parts)
        if parts.get("queue table", b"").count(b"fields") == 3:
            kept.append(perf_counter())
            cancel.set()

    state = StateFolder(str(folder))
    two = Graph().node("job").edge(None, "job", "in").node("table").edge(None, "table", "tables")
    nodes = {"job": Stage(sleeps, at_once=2 * cores), "table": Stage(lambda time, found: None)}
    sources: dict[str, Any] = {"in": [(time, 1) for time in range(2 * cores)], "tables": tables}
    with suppress(Cancelled), OnSpark(session) as on_spark:
        keeping = Keeping(keep, 0.2, None, KeptFrames(folder))
        control = Control(cancel=cancel)
        running = Running(
            Dataflow(two, nodes), sources, {}, RunOptions("spark", keeping=keeping, control=control, host=on_spark)
        )
        running.run(None, WORKERS)
    state.close()
    return kept[0] - ended[0]


def main() -> int:
    """Measure, say what was found, and answer 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--epochs", type=int, default=1_000)
    parser.add_argument(
        "--job", type=float, default=10.0, help="seconds of the jobs that are in flight at a checkpoint"
    )
    options = parser.parse_args()
    session = start_session(options.master, SETTINGS, graphframes=False)
    for at_once in (1, 8, 1, 8):
        forty(session, at_once)  # the JVM compiles what it runs often
    one, many = [], []
    for _ in range(3):
        one.append(forty(session, 1))
        many.append(forty(session, 8))
    faster = min(one) / min(many)
    print(f"{TIMES} times one after the other  {min(one):6.2f} s")
    print(f"{TIMES} times, 8 at once           {min(many):6.2f} s   {faster:.2f} times faster")
    plain = [barely(session, options.epochs // 2)]
    seconds, inside = epochs(session, options.epochs)
    plain.append(barely(session, options.epochs // 2))
    share, overhead = inside.seconds / seconds, (seconds - sum(plain)) / options.epochs
    print(f"{options.epochs} epochs                  {seconds:6.2f} s   {1000 * seconds / options.epochs:.1f} ms each")
    print(f"  without a pipeline           {sum(plain):6.2f} s   {1000 * overhead:+.1f} ms each with it")
    print(f"  in the core and its tracker  {inside.seconds:6.2f} s   {100 * share:.2f}% of it")
    late = []
    with TemporaryDirectory() as folder:
        for kind in (Long, KeepsByTime, Keeps):
            late.append(lateness(session, kind(options.job), Path(folder) / kind.__name__))
            print(f"first checkpoint, {kind.__name__:12}{late[-1]:6.2f} s after it is due")
        late.append(behind(session, options.job, Path(folder) / "behind"))
        print(f"a checkpoint of three tables {late[-1]:6.2f} s after the first of the jobs that have all cores")
    session.stop()
    holds = max(late) <= LATE and faster >= FASTER and share < SHARE and overhead <= OVERHEAD
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
