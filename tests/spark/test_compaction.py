"""Small files are put together; readers have each row once, whoever is killed, and whoever goes on beside it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.sinks import compaction
from progress.runtime.on_spark.sinks.by_time import ByTime
from progress.runtime.on_spark.sinks.compaction import Compacted, compact
from progress.runtime.on_spark.sinks.parquet import committed
from tests.spark.spark import spark_session
from tests.spark.tools import by_commits, frame, gone_on, read, refused, sink, whole_run

pytestmark = pytest.mark.spark
STEPS = ("move", "write", "write_new", "write_bytes", "delete", "delete_if_empty", "make")
TIMES = 6


class Killed(BaseException):
    pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a file for each of some times, of two runs."""
    folder = tmp_path_factory.mktemp("whole")
    whole_run(folder, "error", *((time, time) for time in range(TIMES - 1)))
    whole_run(folder, "append", (1, 10), (TIMES - 1, TIMES - 1))
    return folder


@pytest.fixture
def table(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "table")
    return tmp_path / "table"


ROWS = sorted([*range(TIMES), 10])


def files(folder: Path) -> int:
    return len(list(folder.rglob("*.parquet")))


def killed_at(instant: int, patch: pytest.MonkeyPatch) -> None:
    """A kill before the step of this number; each change of the file system is one."""
    steps = iter(range(instant))

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counts(*arguments: Any) -> Any:
            if next(steps, None) is None:
                raise Killed
            return call(*arguments)

        return counts

    for name in STEPS:
        patch.setattr(Folder, name, counted(getattr(Folder, name)))


def test_many_small_files_are_one_and_the_commits_say_so(table: Path) -> None:
    before = files(table)
    assert before > TIMES
    assert compact(spark_session(), table) == Compacted(before, 1)
    assert read(table) == by_commits(table) == ROWS
    (commit,) = committed(spark_session(), table)
    assert (sorted(commit["times"]), commit["rows"]) == (sorted([*range(TIMES), 1]), TIMES + 1)
    assert files(table) == before + 1  # for readers that have begun
    assert compact(spark_session(), table) == Compacted(0, 0)
    assert files(table) == 1
    assert not list(table.glob("time=*"))
    assert read(table) == by_commits(table) == ROWS


def test_what_is_large_stays_and_later_times_join(table: Path) -> None:
    compact(spark_session(), table, keep=False)
    assert files(table) == 1
    whole_run(table, "append", (20, 20), (21, 21))
    before = files(table)
    assert compact(spark_session(), table, keep=False) == Compacted(before, 1)
    assert (files(table), read(table), by_commits(table)) == (1, [*ROWS, 20, 21], [*ROWS, 20, 21])
    whole_run(table, "append", (22, 22), (23, 23))
    (large,) = table.glob("_compacted/*/*.parquet")
    assert compact(spark_session(), table, size=1) == Compacted(0, 0)
    assert large.exists()


@pytest.mark.parametrize("keep", [True, False])
def test_a_kill_at_any_instant_leaves_each_row_once(table: Path, keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    instant, is_killed = 0, True
    while is_killed:
        place = table.with_name(f"killed at {instant}")
        shutil.copytree(table, place)
        with monkeypatch.context() as patch:
            killed_at(instant, patch)
            try:
                compact(spark_session(), place, keep=keep)
                is_killed = False
            except Killed:
                pass
        assert by_commits(place) == ROWS, instant
        compact(spark_session(), place)
        compact(spark_session(), place)
        assert read(place) == by_commits(place) == ROWS, instant
        assert files(place) == 1, instant
        instant += 1
    assert instant > (2 if keep else 10)


def test_a_reader_that_has_begun_reads_on(table: Path) -> None:
    from progress.runtime.on_spark.sinks.parquet import read_committed

    before = read_committed(spark_session(), table)
    compact(spark_session(), table)
    assert sorted(row.v for row in before.collect()) == ROWS


def test_a_run_that_goes_on_beside_it_is_not_disturbed(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It commits before, while the files are written, and after; and begins anew, which removes attempts."""
    out = sink(table, mode="append")
    out.is_new()

    def commits(out: ByTime, time: int) -> None:
        out.write_all(time, [frame(100 + time)])
        out.complete((time + 1,))
        out.settle()

    commits(out, 0)
    together = compaction._together

    def meanwhile(*arguments: Any) -> Any:
        found = together(*arguments)
        commits(gone_on(out, table, "append"), 1)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(compaction, "_together", meanwhile)
        assert compact(spark_session(), table, keep=False).into == 1
    commits(out, 2)
    commits(gone_on(out, table, "append"), 0)  # comes again, and is there
    wanted = sorted([*ROWS, 100, 101, 102])
    assert read(table) == by_commits(table) == wanted
    compact(spark_session(), table, keep=False)
    assert (read(table), files(table)) == (wanted, 1)


def test_of_two_at_once_one_is_refused_and_changes_nothing(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = compaction._together

    def meanwhile(*arguments: Any) -> Any:
        found = together(*arguments)
        monkeypatch.setattr(compaction, "_together", together)
        compact(spark_session(), table)
        return found

    monkeypatch.setattr(compaction, "_together", meanwhile)
    error = refused(lambda: compact(spark_session(), table))
    assert (error.code, "has come between" in error.message) == ("PS780", True)
    assert read(table) == by_commits(table) == ROWS
    compact(spark_session(), table)
    assert files(table) == 1


@pytest.mark.parametrize("mode", ["overwrite", "overwritePartitions"])
def test_while_a_run_replaces_what_others_have_written_nothing_is_put_together(
    table: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = sink(table, mode=mode)
    out.is_new()
    error = refused(lambda: compact(spark_session(), table))
    assert (error.code, "a run replaces" in error.message) == ("PS780", True)
    again = gone_on(out, table, mode)  # it was killed
    again.write_all(0, [frame(50)])
    again.complete(())
    again.close()
    after = [50] if mode == "overwrite" else sorted([*ROWS[1:], 50])
    assert by_commits(table) == after
    compact(spark_session(), table)
    assert by_commits(table) == after
    whole_run(table, "append", (70, 70), (71, 71))
    meanwhile, together = sink(table, mode=mode), compaction._together

    def begins(*arguments: Any) -> Any:
        found = together(*arguments)
        meanwhile.is_new()
        return found

    monkeypatch.setattr(compaction, "_together", begins)
    error = refused(lambda: compact(spark_session(), table))
    assert (error.code, "has come between" in error.message) == ("PS780", True)
    assert by_commits(table) == [*after, 70, 71]


def test_what_was_put_together_gives_way_as_a_whole_or_not_at_all(table: Path) -> None:
    compact(spark_session(), table)
    assert whole_run(table, "ignore", (0, 99), (30, 30)).already == 1
    error = refused(lambda: whole_run(table, "overwritePartitions", (0, 99)))
    assert (error.code, "in files with those of other times" in error.message) == ("PS780", True)
    assert by_commits(table) == [*ROWS, 30]
    (table / "_commits" / "turn-000002.json").unlink()  # as the line says, since that run never goes on
    last = whole_run(table, "overwrite", (0, 7), (1, 8))
    assert by_commits(table) == [7, 8]
    assert not list(table.glob("_compacted/*"))
    compact(spark_session(), table, keep=False)
    whole_run(table, "overwrite", (0, 7), (2, 9), run=last.snapshot()[0])  # the same run: 0 is there
    assert read(table) == by_commits(table) == [7, 8, 9]


def test_a_table_with_other_rows_than_its_commits_say_is_left_as_it_is(table: Path) -> None:
    path = sorted((table / "_commits").glob("[!.]*.json"))[0]
    commit = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**commit, "rows": 17}), encoding="utf-8")
    before = sorted(each for each in table.rglob("*.parquet"))
    assert refused(lambda: compact(spark_session(), table)).code == "PS777"
    assert sorted(each for each in table.rglob("*.parquet")) == before


def test_where_nothing_is_committed_there_is_nothing_to_put_together(tmp_path: Path) -> None:
    assert refused(lambda: compact(spark_session(), tmp_path)).code == "PS777"


# --- kills of processes ----------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parent.parent.parent
LIVE = """
import random
import sys
import threading

from progress.errors import PointstampError
from progress.order import Nat
from progress.runtime.on_spark import ParquetSink, compact
from tests.spark.spark import spark_session

folder, times = sys.argv[1], int(sys.argv[2])
session = spark_session()
sink = ParquetSink(folder, writers=2).sink_for("out")
sink.begins(Nat())
sink.restore(("the run", None, 0, {}))
for time in range(times):
    sink.write_all(time, [session.sql(f"select explode(array({time})) as v")])
sink.complete(())
is_over = threading.Event()
threading.Thread(target=lambda: (sink.close(), is_over.set())).start()
while not is_over.is_set():
    try:
        compact(session, folder, keep=random.random() < 0.5)
    except PointstampError as error:
        if error.code != "PS777":  # nothing is committed yet
            raise
compact(session, folder)
compact(session, folder)
session.stop()
"""


@pytest.mark.soak
def test_a_process_that_writes_and_compacts_is_killed_again_and_again(tmp_path: Path) -> None:
    rng, times, kills = random.Random(5), 400, 12
    folder = tmp_path / "table"

    def started() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", LIVE, str(folder), str(times)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )

    def progress() -> int:
        return len(list(folder.glob("_commits/[!.]*.json")))

    compacted = 0
    for _ in range(kills):
        process, before = started(), progress()
        while progress() <= before and process.poll() is None:
            time.sleep(0.02)
        time.sleep(2 * rng.random())
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        rows = by_commits(folder)
        assert len(set(rows)) == len(rows)
        assert len(rows) >= before - len(list(folder.glob("_commits/turn-*.json")))
        compacted = len(list(folder.glob("_commits/turn-*.json")))
    assert compacted > kills / 2
    process = started()
    assert process.wait(600) == 0
    assert by_commits(folder) == [*range(times)]
    assert files(folder) == 1
