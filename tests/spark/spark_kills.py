"""A pipeline of 33 days on Spark that is killed again and again, and what has to be in its tables then.

Files come while it runs: some late, some damaged. Days are cleaned, and a loop counts for each month, whose state may
say what belongs to which month, or not; days go to a Parquet table, months to one of Delta Lake, what is late and what
cannot be read to tables of their own. A kill ends the driver, its JVM, or both. `check` reads the tables with pyarrow
alone, by their commits and their log, and shares nothing with what has written them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from progress.runtime.on_spark.session import DELTA, DELTA_SETTINGS

ROOT = Path(__file__).resolve().parents[2]
DAYS, MONTH = 33, 11
WAIT = 300.0  # seconds for a process to come to an end

GRAPH = """
pointstamp: 1
name: days and months
nodes:
  clean: {time: {product: [nat, nat]}, emits: {months: leave}}
  enter: {summary: enter, notify: false}
  step:  {time: {product: [nat, nat]}, emits: {found: leave}}
  again: {time: {product: [nat, nat]}, summary: feedback, notify: false}
edges:
  - {id: files, to: clean}
  - {id: days, from: clean, time: {product: [nat, nat]}}
  - {id: months, from: clean, to: enter}
  - {id: begin, from: enter, to: step}
  - {id: changed, from: step, to: again}
  - {id: round, from: again, to: step}
  - {id: found, from: step, time: nat}
"""

PIPELINE = """
import re
from pathlib import Path

from pyspark.sql import functions as F

from graphs import load
from progress.runtime import Dataflow, Stage
from progress.runtime.failure import DeadLetter
from progress.runtime.on_spark.sinks.delta import DeltaSink
from progress.runtime.on_spark.session import active_session
from progress.runtime.on_spark.sinks.parquet import ParquetSink
from progress.runtime.on_spark.sources.files.source import FileSource

HERE = Path(__file__).parent
MONTH = 11
if not (HERE / "jars").exists():  # what Spark has found for its packages, for the processes after this one
    (HERE / "jars").write_text(active_session().sparkContext.getConf().get("spark.jars"))


def clean(day, tables):
    return tables["files"].select("id", F.lit(MONTH * day[0] + day[1]).alias("day"))


class Step(Stage):
    # halves what is left of each id until nothing is: a loop that ends where its month does
    # KEEPS

    def __init__(self):
        super().__init__()
        self.rounds = {}

    def on_tables(self, at, tables, out):
        month, round_ = at
        self.rounds[month] = round_ + 1
        rows = tables["begin"].withColumn("left", F.col("id")) if round_ == 0 else tables["round"]
        rows = out.keep(rows.withColumn("left", F.floor(F.col("left") / 64)), until=(month, round_ + 1))
        if rows.where("left > 0").count():
            out.send("changed", at, rows)
        else:
            found = rows.select("id", "day", F.lit(month).alias("month"))
            out.send("found", month, out.keep(found, until=month, at="found"))
            del self.rounds[month]


def day_of(name):
    return tuple(map(int, re.match(r"m=([0-9]+)/d=([0-9]+)/", name).groups()))


def after(day):
    # what comes after a file: days from the one before it on
    next_ = max(0, MONTH * day[0] + day[1] - 1)
    return [divmod(next_, MONTH), (next_ // MONTH + 1, 0)]


files = FileSource(HERE / "in", day_of, schema="id bigint", end="_END", every=0.05, complete=after)
dataflow = Dataflow(
    load(HERE / "graph.yaml"),
    {"clean": Stage(clean), "step": Step()},
    sources={"files": files},
    sinks={
        "days": ParquetSink(HERE / "days", writers=2),
        "found": DeltaSink(HERE / "months"),
        "late": ParquetSink(HERE / "late"),
        "bad": ParquetSink(HERE / "bad"),
    },
    on_error={"files": DeadLetter("bad")},
)
"""

SETTINGS = {
    **DELTA_SETTINGS,
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
}


class Dropped(NamedTuple):
    """A file that comes: its name, and what is in it; None: what is no Parquet."""

    name: str
    ids: range | None


def files(rng: random.Random) -> list[Dropped]:
    """All files in the order in which they come; a tenth of them late by days, a few damaged."""
    found: list[tuple[float, Dropped]] = []
    start = 0
    for day in range(DAYS):
        for part in range(rng.randint(1, 2)):
            place = f"m={day // MONTH}/d={day % MONTH}/{part}"
            late = rng.randint(3, 9) if part and rng.random() < 0.4 else rng.random()
            ids = range(start, start := start + rng.randint(1, 40))
            found.append((day + late, Dropped(f"{place}.parquet", ids)))
        if rng.random() < 0.1:
            found.append((day + rng.random(), Dropped(f"{place}-damaged.parquet", None)))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


class Trial:
    """One pipeline with its files and its kills."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.files = files(self.rng)
        self.kills: Counter[str] = Counter()
        self._left = list(self.files)
        self._last = ""
        self._groups: list[int] = []  # of drivers that were killed alone
        (folder / "in").mkdir()
        (folder / "graph.yaml").write_text(GRAPH, encoding="utf-8")
        keeps = (
            "by_time, entry = ('rounds',), lambda self, at: at[0]" if seed % 2 else ""
        )  # so months go side by side, too
        (folder / "pipeline.py").write_text(PIPELINE.replace("# KEEPS", keeps), encoding="utf-8")

    def drop(self, *, is_last: bool = False) -> None:
        """The next file comes, once the one before it was seen: so what is late is late."""
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet

        if not self._left or not (is_last or self._is_seen()):
            return
        name, ids = self._left.pop(0)
        self._last = name
        place = self.folder / "in" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f".{place.name}")
        if ids is None:
            fresh.write_bytes(b"nothing of the kind")
        else:
            parquet.write_table(pyarrow.table({"id": pyarrow.array(ids, pyarrow.int64())}), fresh)
        fresh.rename(place)

    def live(self, kill: str) -> None:
        """One process: files come, and at some instant it is killed."""
        process = self._started()
        try:
            before = self._progress()
            wanted = self.rng.randint(1, 3)
            beyond = self.rng.random()
            until = time.monotonic() + WAIT
            while self._progress() < before + wanted:
                assert time.monotonic() < until, self.said
                assert process.poll() is None, self.said
                self.drop()
                time.sleep(0.02)
            time.sleep(beyond)
            assert process.poll() is None, self.said
            self._kill(process, kill)
            self.kills[kill] += 1
        except BaseException:
            _end(process.pid)
            raise
        if kill != "driver":
            _end(process.pid)
        process.wait()

    def end(self) -> None:
        """The last process: what is left comes, and it runs to its end."""
        while self._left:
            self.drop(is_last=True)
        (self.folder / "in" / "_END").touch()
        process = self._started(every="5")  # nobody kills it
        try:
            assert process.wait(WAIT) == 0, self.said
        finally:
            for group in (process.pid, *self._groups):
                _end(group)
            process.wait()

    def _is_seen(self) -> bool:
        looks = (self.folder / "state" / "looks").glob("*")
        return not self._last or any(self._last in path.read_text(encoding="utf-8") for path in looks)

    @property
    def said(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-3_000:]

    def _started(self, every: str = "0.3") -> subprocess.Popen[bytes]:
        jars = self.folder / "jars"
        packages = {"spark.jars": jars.read_text("utf-8")} if jars.exists() else {"spark.jars.packages": DELTA}
        settings = [f"--conf={key}={value}" for key, value in {**SETTINGS, **packages}.items()]
        options = ("--engine", "spark", "--master", "local[2]", "--state", "state", "--every", every, *settings)
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "graphs", "run", "pipeline.py", *options],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _progress(self) -> int:
        """How many times are committed, and checkpoints taken since."""
        days = len(list((self.folder / "days" / "_commits").glob("[!.]*.json")))
        return days + len(list((self.folder / "months" / "_delta_log").glob("[0-9]*.json")))

    def _kill(self, process: subprocess.Popen[bytes], kill: str) -> None:
        if kill == "both":
            os.killpg(process.pid, signal.SIGKILL)
        elif kill == "driver":  # its JVM may go on for a moment
            process.kill()
            self._groups.append(process.pid)
        else:
            before = (self.folder / "log").stat().st_size
            for pid in _children(process.pid, "java"):
                os.kill(pid, signal.SIGKILL)
            assert process.wait(WAIT) == 1, self.said  # though there may be nothing for it to do
            assert b"PS762: Spark's JVM is gone" in (self.folder / "log").read_bytes()[before:], self.said

    def check(self) -> None:
        """Every row is in exactly one table, every damaged file is named once, and months are what their days are."""
        days, late = _committed(self.folder / "days"), _committed(self.folder / "late")
        there = Counter(row["id"] for row in (*days, *late))
        wanted = Counter(each for file in self.files if file.ids is not None for each in file.ids)
        assert there == wanted, f"lost {wanted - there}, twice {there - wanted}"
        day_of = {each: _day(file.name) for file in self.files if file.ids is not None for each in file.ids}
        assert all(row["day"] == day_of[row["id"]] for row in days)
        bad = Counter(row["value"] for row in _committed(self.folder / "bad"))
        assert bad == Counter(file.name for file in self.files if file.ids is None)
        found = Counter((row["id"], row["day"], row["month"]) for row in _in_delta(self.folder / "months"))
        assert found == Counter((row["id"], row["day"], row["day"] // MONTH) for row in days)
        assert late, "nothing was late"


def _day(name: str) -> int:
    month, day, _ = name.split("/")
    return MONTH * int(month[2:]) + int(day[2:])


def _committed(folder: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = []
    times: list[str] = []
    for path in (folder / "_commits").glob("[!.]*.json"):
        commit = json.loads(path.read_text(encoding="utf-8"))
        found = [
            row
            for file in commit["files"]
            for row in parquet.ParquetFile(folder / commit["folder"] / file).read().to_pylist()
        ]
        assert len(found) == commit["rows"]
        rows += found
        times.append(json.dumps(commit["time"]))
    assert len(set(times)) == len(times)
    return rows


def _in_delta(folder: Path) -> list[dict[str, Any]]:
    """What a table of Delta Lake has, by its log."""
    from pyarrow import parquet

    there: dict[str, None] = {}
    for path in sorted((folder / "_delta_log").glob("[0-9]*.json")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "add" in entry:
                there[entry["add"]["path"]] = None
            if "remove" in entry:
                del there[entry["remove"]["path"]]
    return [row for name in there for row in parquet.ParquetFile(folder / name).read().to_pylist()]


def _children(pid: int, name: str) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended
            continue
        if f"({name})" in text and int(text.rpartition(")")[2].split()[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def _end(group: int) -> None:
    """End what is left of a process and those that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
