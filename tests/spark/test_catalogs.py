"""Tables that a catalog knows by name, of Delta Lake, Iceberg and plain files; merges: each time is there once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from progress import PointstampError
from progress.order import Nat
from progress.runtime.on_spark import DeltaSink, ParquetSink, TableSink
from progress.runtime.on_spark.sinks.by_time import key_of
from tests.project.pages import fences, said
from tests.spark.spark import spark_session
from tests.spark.tools import frame, refused

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parent.parent.parent

START = """
import sys
from progress.runtime.on_spark.session import DELTA, DELTA_SETTINGS, ICEBERG, ICEBERG_SETTINGS, start_session
from tests.spark.spark import SETTINGS

folder = sys.argv[1]
extensions = DELTA_SETTINGS["spark.sql.extensions"] + "," + ICEBERG_SETTINGS["spark.sql.extensions"]
session = start_session(
    "local[2]",
    {
        **SETTINGS,
        **DELTA_SETTINGS,
        "spark.sql.extensions": extensions,
        "spark.driver.memory": "900m",
        "spark.sql.shuffle.partitions": "1",  # a few rows: what there is to see is in the commits
        "spark.default.parallelism": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.warehouse.dir": folder + "/warehouse",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": folder + "/lake",
    },
    graphframes=False,
    packages=[DELTA, ICEBERG],
)

for script in sys.argv[4:]:
    exec(script, {"session": session, "folder": folder, "page": sys.argv[2], "tables": sys.argv[3].split("\\n")})
    print("==")
session.stop()
"""

SCRIPT = """
import pyarrow
from progress.errors import PointstampError
from progress.order import Nat
from progress.runtime import Messages
from progress.runtime.on_spark import DeltaSink, FrameSource, TableSink, compact
from progress.runtime.on_spark.sinks.delta import merge

def frame(rows):
    columns = zip(("day", "id", "name"), zip(*rows), (pyarrow.int32(), pyarrow.int32(), pyarrow.string()))
    return session.createDataFrame(pyarrow.table({name: pyarrow.array(found, kind) for name, found, kind in columns}))

def write(make, times, run=None, mode="append", **more):
    # one run of a sink; with a run, one that was killed goes on, and all times come again
    given = make(mode=mode, **more)
    sink = given.sink_for("out")
    sink.begins(Nat())
    if run is None:
        sink.is_new()
    else:
        sink.restore((run, None, 0, {}))
    for time, rows in times.items():
        sink.write_all(time, [frame([(time, *row) for row in rows])])
    sink.complete(())
    sink.close()
    return sink.snapshot()[0], sink.already

def refused(*arguments, **more):
    try:
        write(*arguments, **more)
    except PointstampError as error:
        return error.code, str(error).isprintable()

def rows(name):
    table = session.read.format("delta").load(name) if name.startswith("/") else session.table(name)
    found = sorted(map(tuple, table.select("day", "id", "name").collect()))
    return " ".join(f"{day}{id}{name}" for day, id, name in found)

A, B, C, D = (1, "a"), (2, "b"), (3, "c"), (4, "d")

def day(time):
    return f"day = {time}"

def tried(name, make):
    print("--", name.rpartition("/")[2])
    table = name
    run, _ = write(make, {0: [A, B], 1: [C]}, mode="error", writers=2)
    print(rows(table))
    write(make, {0: [D], 1: [D], 2: [D]}, mode="error", run=run)  # 0 and 1 come again, and are there
    print(rows(table))
    if name == "default.delta":
        print(refused(make, {3: [A]}, mode="error"))
        return  # the same store as above
    print(refused(make, {3: [A]}, mode="error"))
    print(write(make, {2: [A], 3: [A]}, mode="ignore")[1], rows(table))
    print(write(make, {3: [B]})[1], rows(table))
    if name != "lake.db.iceberg":
        print(compact(session, name).into, rows(table).count(" "))
    run, _ = write(make, {3: [C]}, mode="overwritePartitions", where=day)
    write(make, {3: [D]}, mode="overwritePartitions", where=day, run=run)
    print(rows(table))
    keyed = {"mode": "merge", "keys": ["day", "id"]}
    run, already = write(make, {0: [(2, "B"), D]}, **keyed)
    write(make, {0: [(2, "x")]}, run=run, **keyed)
    print(already, rows(table))
    run, _ = write(make, {0: [(2, "b"), C]}, where=day, **keyed)  # the day again: what is not written again goes
    write(make, {0: [A], 1: [(3, "C")]}, run=run, where=day, **keyed)
    print(rows(table))
    try:
        frame([(1, 1, "z")]).selectExpr("day as other").createOrReplaceTempView("other")
        sink = make(mode="append").sink_for("out")
        sink.begins(Nat())
        sink.write_all(9, [session.table("other")])
        sink.complete(())
        sink.close()
    except PointstampError as error:
        print(error.code, rows(table).count(" "))
    run, _ = write(make, {7: [A], 8: [B]}, mode="overwrite")
    write(make, {7: [A], 8: [B], 9: [C]}, mode="overwrite", run=run)
    print(rows(table))

tried(folder + "/delta", lambda **more: DeltaSink(folder + "/delta", **more))
tried("default.delta", lambda **more: TableSink("default.delta", form="delta", **more))
session.sql("CREATE NAMESPACE lake.db")
tried("lake.db.iceberg", lambda **more: TableSink("lake.db.iceberg", form="iceberg", **more))

print("-- transactions")
there = frame([(7, 1, "again")])
log = session.read.json(folder + "/delta/_delta_log/*.json").select("txn.*").collect()
known = [row.appId for row in log if row.appId]
merge(there, folder + "/delta", ["day", "id"], {"txnAppId": known[-1], "txnVersion": "0"}, None)
print(rows(folder + "/delta"))
merge(there, folder + "/delta", ["day", "id"], {"txnAppId": "another", "txnVersion": "0"}, None)
print(rows(folder + "/delta"))

print("-- sources")
for name in ("lake.db.iceberg", "default.delta"):
    items = FrameSource(name, "day").items_for("spark", "in", Nat())
    print([(item.time, item.values[0].count()) for item in items if isinstance(item, Messages)])

print("-- page")
known = {}
exec(page, known)  # the session is there, and has what the page says
print(known["session"].sparkContext is session.sparkContext, sorted(map(session.conf.get, list(known["catalog"])[:2])))

print("-- plain")
session.sql("CREATE TABLE plain (id int, name string, day int) USING parquet PARTITIONED BY (day)")
def plain(**more):
    return TableSink("plain", **more)
run, _ = write(plain, {0: [A, B], 1: [C]}, mode="overwritePartitions")
write(plain, {0: [A], 2: [D]}, mode="overwritePartitions", run=run)
print(rows("plain"))
print(refused(plain, {0: [A]}, mode="append"), refused(plain, {0: [A]}, mode="merge", keys="id"))
session.sql("CREATE TABLE whole (id int, name string, day int) USING parquet")
print(refused(lambda **more: TableSink("whole", **more), {0: [A]}, mode="overwritePartitions"))
print(refused(lambda **more: TableSink("default.none", **more), {0: [A]}))
print(refused(lambda **more: TableSink("nowhere.db.none", **more), {0: [A]}))
"""

FIRST = [
    "01a 02b 13c",
    "01a 02b 13c 24d",
    "('PS780', True)",
    "1 01a 02b 13c 24d 31a",
    "1 01a 02b 13c 24d 31a 32b",
]
THEN = [
    "01a 02b 13c 24d 33c",
    "1 01a 02B 04d 13c 24d 33c",
    "02b 03c 13C 24d 33c",
    "PS773 4",
]


REPLAYED = """
from pathlib import Path
from progress.order import Nat, Product
from progress.runtime.on_spark.sinks.delta import DeltaSink
from tests.project.spark_page import run_page

folder = tables[0]

def write(application, domain, *times, column="v", run=None, mode="append", where=None, writers=1):
    sink = DeltaSink(folder, application, mode=mode, where=where, writers=writers).sink_for("out")
    sink.begins(domain)
    if run is None:
        sink.is_new()
    else:  # goes on where another process was killed
        sink.restore((run, None, 0, {}))
    for number, time in enumerate(times):
        sink.write_all(time, [session.sql(f"select explode(cast(array({number}) as array<int>)) as {column}")])
    sink.complete(())
    sink.close()
    return sink.snapshot()[0], sink.already

def rows():
    return sorted(row.v for row in session.read.format("delta").load(folder).collect())

def refused(*arguments, **options):
    try:
        write(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__} {error.code} {len(str(error).splitlines())}"

run, _ = write("first", Nat(), 0, 1, mode="error")
print(rows())
write("first", Nat(), 1, 0, 2, run=run, mode="error", writers=3)  # 0 and 1 come again
print(rows())
pairs = Product([Nat(), Nat()])
run, _ = write("second", pairs, (1, 0))
write("second", pairs, (0, 1), (1, 0), run=run)
print(rows())
print(refused("first", Nat(), 3, column="w"), refused("first", Nat(), 3, mode="error"))
print(write("first", Nat(), 2, 3, mode="ignore")[1], rows())
print(write("first", Nat(), 2, 4)[1], rows())
where = lambda time: f"v = {time}"
print(write("first", Nat(), 0, mode="overwritePartitions", where=where)[1], rows())
run, _ = write("first", Nat(), 7, 8, 9, mode="overwrite")
print(rows())
write("first", Nat(), 9, 10, run=run, mode="overwrite")
print(rows())
folder = tables[1]
print(refused("first", Nat(), 0), refused("first", Nat(), 0, run=run))
folder = tables[2]  # in which a run was killed before its first transaction was there
print(refused("first", Nat(), 0))
write("first", Nat(), 0, 1, run=run, mode="error")
print(rows())
folder = tables[0]
session.conf.set("spark.sql.codegen.wholeStage", "true")  # as users have it
session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
session.conf.set("spark.sql.shuffle.partitions", "2")
run_page(session, Path(folder).parent)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both scripts, which run in one process: what takes longest is to start it."""
    return tmp_path_factory.mktemp("catalogs")


@pytest.fixture(scope="module")
def printed(place: Path) -> list[list[str]]:
    """What the scripts print, and what was said on stderr."""
    fences_ = fences((ROOT / "docs" / "on-a-cluster.md").read_text(encoding="utf-8"))
    (page,) = [fence for fence in fences_ if said(fence.marker).get("file") == "iceberg.py"]
    (place / "strange").mkdir()
    (place / "strange" / "notes.txt").touch()
    (place / "killed" / "_delta_log").mkdir(parents=True)
    for name in ("part-00000-dddb50e7-c000.snappy.parquet", ".part-00000-dddb50e7-c000.snappy.parquet.crc"):
        (place / "killed" / name).write_bytes(b"cut sh")
    tables = "\n".join(str(place / name) for name in ("table", "strange", "killed"))
    run = subprocess.run(
        [sys.executable, "-c", START, str(place / "forms"), page.text, tables, SCRIPT, REPLAYED],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [part.splitlines() for part in run.stdout.split("==\n")]
    assert len(found) == 3, run.stdout + run.stderr[-3_000:]
    return found


def test_each_time_is_there_once_in_tables_of_all_forms(printed: list[list[str]]) -> None:
    last = "71a 82b 93c"
    assert printed[0] == [
        *("-- delta", *FIRST, "1 5", *THEN, last),
        *("-- default.delta", *FIRST[:3]),
        *("-- lake.db.iceberg", *FIRST, *THEN, last),
        *("-- transactions", last, "71again 82b 93c"),
        *("-- sources", "[(7, 1), (8, 1), (9, 1)]", "[(0, 2), (1, 1), (2, 1)]"),
        *("-- page", "True ['hadoop', 'org.apache.iceberg.spark.SparkCatalog']"),
        *("-- plain", "01a 13c 24d", "('PS780', True) ('PS780', True)", *["('PS780', True)"] * 2, "('PS774', True)"),
    ]


def test_delta_lake_takes_a_replayed_time_once_and_the_page_runs(place: Path, printed: list[list[str]]) -> None:
    assert printed[1] == [
        "[0, 1]",
        "[0, 1, 2]",
        "[0, 0, 0, 1, 2]",
        "PointstampError PS773 1 PointstampError PS780 1",
        "1 [0, 0, 0, 1, 1, 2]",  # 2 was there, and stays as it was
        "1 [0, 0, 0, 0, 1, 1, 1, 2]",  # 2 was there, and has more rows now
        "1 [0, 1, 1, 1, 2]",
        "[0, 1, 2]",
        "[0, 1, 1, 2]",
        "PointstampError PS780 1 PointstampError PS780 1",
        "PointstampError PS780 1",
        "[0, 1]",
        "the page is so",
    ]
    log = [
        json.loads(line)
        for path in sorted((place / "table" / "_delta_log").glob("*.json"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    found = [entry["txn"]["appId"].rpartition("/")[0] for entry in log if "txn" in entry]
    assert found[:2] == ["first/0", "first/1"]
    assert found[3:5] == [f"second/{key_of((1, 0))}", f"second/{key_of((0, 1))}"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeltaSink("t", mode="merge"),
        lambda: DeltaSink("t", keys=["id"]),
        lambda: DeltaSink("t", mode="overwritePartitions"),
        lambda: ParquetSink("t", "merge"),
        lambda: TableSink("t", mode="merge"),
        lambda: TableSink("t", form="parquet"),
        lambda: TableSink("t", where=lambda day: f"day = {day}"),
        lambda: TableSink("t", mode="replace"),
    ],
)
def test_what_a_sink_cannot_do_is_refused_when_it_is_made(make: Any) -> None:
    with pytest.raises(PointstampError) as caught:
        make()
    assert caught.value.code == "PS780"
    assert str(caught.value).isprintable()


def test_a_table_that_is_not_there_is_refused_unless_it_is_said_what_it_is_made_as(tmp_path: Path) -> None:
    spark_session()
    out = TableSink("default.there_is_none").sink_for("out")
    out.begins(Nat())
    error = refused(out.is_new)
    assert (error.code, "there is no table 'default.there_is_none'" in error.message) == ("PS780", True)
    out = TableSink("default.there_is_none", form="iceberg").sink_for("out")
    out.begins(Nat())
    out.write_all(0, [frame(1)])
    out.complete(())
    assert refused(out.close).code in ("PS773", "PS778")  # this session has no Iceberg
