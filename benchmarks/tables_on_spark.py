"""Tables on Spark: how many times a second a sink commits, and a thousand tables at one time.

    .venv/bin/python -m benchmarks.tables_on_spark [--master 'local[2]']

Three figures are measured, and the claims of docs/spark-pipelines.md are checked against them:

* 200 small times that a `ParquetSink` with four writers commits, beside the same tables written barely by four threads:
  at least 25 a second, and in less time than barely, since their rows are known to be few;
* the same with rows of which that is not known, which Spark writes: at most twice as long as barely;
* 1,000 tables at one time, made by a node and written by a sink: at most three times as long as to make them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from graphs import Graph
from progress.order import Nat
from progress.runtime import Dataflow, Node, Out
from progress.runtime.on_spark.session import start_session
from progress.runtime.on_spark.sinks.parquet import ParquetSink, read_committed

WRITTEN, WRITERS, RATE, MOST = 200, 4, 25, 2.0
TABLES, AS_LONG = 1_000, 3.0


class Many(Node):
    """Makes so many tables at one time."""

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        """Send them one by one."""
        for each in range(value):
            out.send("out", time, out.table([{"shop": f"s{each}", "amount": each}], "shop string, amount bigint"))


def thousand(session: Any, folder: Path | None) -> float:
    """Seconds in which a node makes 1,000 tables at one time, and a sink writes them, if there is a folder."""
    sinks = {} if folder is None else {"out": ParquetSink(folder)}
    graph = Graph().node("job").edge(None, "job", "in").edge("job", None, "out")
    dataflow = Dataflow(graph, {"job": Many}, sources={"in": [(0, TABLES)]}, sinks=sinks)
    begin = perf_counter()
    dataflow.run(engine="spark", session=session)
    seconds = perf_counter() - begin
    assert folder is None or read_committed(session, folder).count() == TABLES
    return seconds


def committed(session: Any, folder: Path, rows: Callable[[Any], Any]) -> float:
    """Seconds in which a sink with four writers commits times that are complete together."""
    sink = ParquetSink(folder, writers=WRITERS).sink_for("out")
    sink.begins(Nat())
    sink.is_new()
    for time in range(WRITTEN):
        sink.write_all(time, [rows(session)])
    begin = perf_counter()
    sink.complete(())
    sink.settle()
    seconds = perf_counter() - begin
    sink.close()
    assert read_committed(session, folder).count() == 7 * WRITTEN
    return seconds


def bare(session: Any, folder: Path, rows: Callable[[Any], Any]) -> float:
    """Seconds in which four threads write the same tables, with nothing that says which of them are whole."""
    frames = [rows(session) for _ in range(WRITTEN)]
    begin = perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda number: frames[number].write.parquet(str(folder / str(number))), range(WRITTEN)))
    return perf_counter() - begin


def few(session: Any) -> Any:
    """A few rows, as a table of a time, and known to be few."""
    return session.range(0, 7, 1, 1).selectExpr("id", "id * id as square")


def perhaps_many(session: Any) -> Any:
    """As few, which Spark cannot tell before they are computed."""
    return session.range(0, 7, 1, 1).selectExpr("id", "explode(array(id * id)) as square")


def main() -> int:
    """Measure, say what was found, and answer 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--master", default="local[2]")
    options = parser.parse_args()
    session = start_session(options.master, {"spark.ui.enabled": "false"}, graphframes=False)
    rates, ratios = [], []
    with TemporaryDirectory() as folder:
        for kind in (few, perhaps_many):
            alternating = [
                (bare(session, place / "bare", kind), committed(session, place / "sink", kind))
                for place in (Path(folder) / kind.__name__ / str(number) for number in range(3))
            ]
            alone, whole = (min(each) for each in zip(*alternating, strict=True))
            rates.append(WRITTEN / whole)
            ratios.append(whole / alone)
            name = f"{WRITTEN} times of {kind.__name__.replace('_', ' ')} rows"
            print(f"{name}, written barely  {alone:6.2f} s   {WRITTEN / alone:.0f} a second")
            print(f"{name}, committed       {whole:6.2f} s   {rates[-1]:.0f} a second, {ratios[-1]:.2f} times as long")
        made = min(thousand(session, None) for _ in range(2))
        written = min(thousand(session, Path(folder) / str(number)) for number in range(2))
    print(f"{TABLES} tables at one time, made {made:6.2f} s")
    print(f"{TABLES} tables, made and written {written:6.2f} s   {written / made:.2f} times as long")
    session.stop()
    holds = rates[0] >= RATE and ratios[0] <= 1 and ratios[1] <= MOST and written <= AS_LONG * made
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
