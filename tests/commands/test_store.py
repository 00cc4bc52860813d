"""The store of `run --state`: killed and failing at every call that changes a file, damaged in every byte, claimed."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from progress.errors import PointstampError
from progress.runtime.durable.folder import StateFolder
from progress.runtime.durable.head import LENGTH, Head, HeadFile, read_head
from progress.runtime.durable.store import PIECE
from progress.runtime.durable.stored import Commit, Damaged, read
from tests.commands.calls import compiled
from tests.commands.pipelines import COMMAND, environment
from tests.commands.store_killed import known, parts

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = ("checkpoint", "checkpoint-wal", "head")


# --- killed, failing --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that kills or fails calls of the system."""
    return compiled(tmp_path_factory.mktemp("calls"))


@pytest.mark.parametrize("error", [0, errno.ENOSPC, errno.EIO])
def test_a_store_whose_calls_fail_or_are_the_last_has_what_was_committed(
    tmp_path: Path, calls: Path, error: int
) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "store_killed.py"), str(tmp_path / "state"), str(error)],
        env=environment(PYTHONPATH=str(ROOT), LD_PRELOAD=str(calls)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) > (120 if error == 0 else 60), "calls of opening, of each commit, of closing"
    assert [each for each in rounds if each["wrong"]] == []
    assert {each["codes"][2] for each in rounds} == {0}, "the one that is left alone comes to its end"
    firsts = [each["codes"][0] for each in rounds]
    assert firsts.count(-signal.SIGKILL if error == 0 else 1) > 55
    assert firsts.count(0) >= 1


# --- damaged ----------------------------------------------------------------------------------------------------------


class Small:
    """A store of two commits, closed or as a kill leaves it, of which copies are damaged."""

    def __init__(self, folder: Path, has_log: bool) -> None:
        state = StateFolder(str(folder / "first"))
        for number in (1, 2):
            state.store.write(known(number), parts(1))
        self.folder = folder / "copy"
        if has_log:
            shutil.copytree(folder / "first", self.folder)
        state.close()
        if not has_log:
            shutil.copytree(folder / "first", self.folder)
        self.commit = read(self.folder)
        assert self.commit is not None
        assert (self.commit.known, self.commit.parts) == (known(2), parts(1))
        self.good = {name: (self.folder / name).read_bytes() for name in FILES if (self.folder / name).exists()}
        assert ("checkpoint-wal" in self.good) == has_log

    def restore(self) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        for name, content in self.good.items():
            (self.folder / name).write_bytes(content)

    def is_refused(self, what: object) -> bool:
        """Whether it is refused; otherwise it is read as it was written. Nothing is touched."""
        before = {name: (self.folder / name).read_bytes() for name in self.good if (self.folder / name).exists()}
        try:
            found = read(self.folder)
        except Damaged:
            found = None
        else:
            assert self.is_right(found), what
        assert before == {name: (self.folder / name).read_bytes() for name in before}, what
        return found is None

    def is_right(self, found: Commit | None) -> bool:
        assert self.commit is not None
        return found is not None and found[1:5] == self.commit[1:5]

    def goes_on(self, what: object) -> None:
        """What was not refused goes on: what is committed on it is there afterwards, or that is refused."""
        try:
            state = StateFolder(str(self.folder))
            try:
                state.load()
                state.store.write(known(3), parts(2))
            finally:
                state.close()
            found = read(self.folder)
        except (PointstampError, Damaged):
            return
        assert found is not None, what
        assert (found.known, found.parts) == (known(3), parts(2)), what


@pytest.fixture(params=[False, True], ids=["closed", "killed"])
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Small:
    return Small(tmp_path, request.param)


def flipped(small: Small, every: int, bits: Callable[[], int]) -> int:
    """Flip a bit of each byte of each file, or of some; how many were refused."""
    refused = 0
    for name, good in small.good.items():
        for place in [*range(0, 64, 1 if every == 1 else 5), *range(64, len(good), every if name != "head" else 2)]:
            small.restore()
            changed = bytearray(good)
            changed[place] ^= 1 << bits()
            (small.folder / name).write_bytes(changed)
            if small.is_refused((name, place)):
                refused += 1
            elif every == 1 or place % 7 == 0:
                small.goes_on((name, place))
    return refused


def test_another_bit_is_found_or_has_no_effect(small: Small) -> None:
    rng = random.Random(4)
    assert flipped(small, 61, lambda: rng.randrange(8)) > 40


@pytest.mark.soak
def test_another_bit_in_every_byte_is_found_or_has_no_effect(small: Small) -> None:
    rng = random.Random(5)
    assert flipped(small, 1, lambda: rng.randrange(8)) > 4_000


def cut(small: Small, every: int) -> int:
    refused = 0
    for name, good in small.good.items():
        for length in {*range(0, len(good), every), *range(0, 64, 7), len(good) - 1}:
            small.restore()
            (small.folder / name).write_bytes(good[:length])
            if small.is_refused((name, length)):
                refused += 1
            else:
                small.goes_on((name, length))
    return refused


def test_what_is_cut_short_is_found_or_has_no_effect(small: Small) -> None:
    assert cut(small, 509) > 30


@pytest.mark.soak
def test_what_is_cut_short_at_every_byte_is_found_or_has_no_effect(small: Small) -> None:
    assert cut(small, 1) > 10_000


def test_files_that_are_missing_are_refused_and_what_sqlite_makes_anew_is_not(small: Small) -> None:
    for name in small.good:
        small.restore()
        (small.folder / name).unlink()
        assert small.is_refused(name)
    small.restore()
    (small.folder / "checkpoint-shm").write_bytes(b"\xff" * 32_768)
    assert not small.is_refused("checkpoint-shm")


def test_a_log_that_has_lost_its_last_commit_is_refused_though_sqlite_finds_it_whole(tmp_path: Path) -> None:
    """The fault that only a head outside of the file finds."""
    small = Small(tmp_path, has_log=True)
    log = small.good["checkpoint-wal"]
    changed = bytearray(log)
    changed[-100] ^= 1
    (small.folder / "checkpoint-wal").write_bytes(changed)
    with closing(sqlite3.connect(small.folder / "checkpoint")) as rows:
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rows.execute("SELECT number FROM kept").fetchone() == (1,)
    small.restore()
    (small.folder / "checkpoint-wal").write_bytes(changed)
    with pytest.raises(Damaged, match="checkpoint is behind its head: what was written last is missing"):
        read(small.folder)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("PRAGMA user_version = 9", "checkpoint is of version 9, and this pointstamp reads 5"),
        ("PRAGMA application_id = 7", "checkpoint is a database of something else"),
        ("CREATE TABLE more (x)", "checkpoint has other tables than one has"),
        ("CREATE TRIGGER t AFTER UPDATE ON kept BEGIN DELETE FROM piece; END", "checkpoint has other tables"),
        ("DELETE FROM piece WHERE part = 'stays'", "its digest does not fit"),
        ("UPDATE piece SET content = x'00' WHERE part = 'stays'", "the digest of 'stays' does not fit"),
        ("UPDATE piece SET place = 1 WHERE part = 'stays'", "a piece of 'stays' is missing"),
        ("UPDATE piece SET content = 'text' WHERE part = 'stays'", "checkpoint does not say what one says"),
        ("UPDATE kept SET known = known || ' '", "its digest does not fit"),
        ("UPDATE kept SET number = 5", "its digest does not fit"),
        ("DELETE FROM kept", "checkpoint does not say what one says"),
        ("INSERT INTO kept SELECT * FROM kept", "checkpoint does not say what one says"),
    ],
)
def test_a_database_that_somebody_has_altered_is_refused_in_words(tmp_path: Path, sql: str, says: str) -> None:
    small = Small(tmp_path, has_log=False)
    with closing(sqlite3.connect(small.folder / "checkpoint")) as rows:
        rows.execute(sql)
        rows.commit()
    with pytest.raises(Damaged, match=says):
        read(small.folder)


def test_a_store_that_was_put_back_is_behind_its_head_and_one_of_another_run_is_another(tmp_path: Path) -> None:
    small = Small(tmp_path, has_log=False)
    state = StateFolder(str(small.folder))
    state.load()
    state.store.write(known(3), parts(3))
    state.close()
    later = (small.folder / "checkpoint").read_bytes()
    (small.folder / "checkpoint").write_bytes(small.good["checkpoint"])
    assert small.is_refused("put back")
    (small.folder / "checkpoint").write_bytes(later)
    with closing(HeadFile(small.folder)) as head:
        head.begin(Head(3, bytes(range(32))))
    with pytest.raises(Damaged, match="checkpoint is another one than that of its head"):
        read(small.folder)
    with closing(HeadFile(small.folder)) as head:
        head.begin(Head(2, bytes(range(32))))
    with pytest.raises(Damaged, match="checkpoint does not follow from its head"):
        read(small.folder)


def test_one_line_of_a_head_that_is_torn_leaves_the_other(tmp_path: Path) -> None:
    head = HeadFile(tmp_path)
    head.begin(Head(4, b"a" * 32, "17"))
    head.put(Head(5, b"b" * 32, "17"))
    head.close()
    good = (tmp_path / "head").read_bytes()
    assert read_head(tmp_path) == Head(5, b"b" * 32, "17")
    for length in range(LENGTH):
        (tmp_path / "head").write_bytes(good[:LENGTH] + good[LENGTH : LENGTH + length] + b"x" * (LENGTH - length))
        assert read_head(tmp_path) == Head(4, b"a" * 32, "17")
    (tmp_path / "head").write_bytes(b"x" * 2 * LENGTH)
    assert read_head(tmp_path) is None


# --- what is written --------------------------------------------------------------------------------------------------


def test_pieces_that_are_the_same_are_not_written_again(tmp_path: Path) -> None:
    """Counted by the bytes that the log grows by."""
    state = StateFolder(str(tmp_path / "state"))
    large = bytearray(os.urandom(8 * PIECE))
    log = tmp_path / "state" / "checkpoint-wal"
    state.store.write(known(1), {"large": bytes(large), "small": b"1"})
    with closing(sqlite3.connect(tmp_path / "state" / "checkpoint")) as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    state.store.write(known(2), {"large": bytes(large), "small": b"2"})
    before = log.stat().st_size
    assert before < PIECE // 8
    large[3 * PIECE] ^= 1
    state.store.write(known(3), {"large": bytes(large), "small": b"2"})
    assert PIECE < log.stat().st_size - before < 1.2 * PIECE
    state.close()
    found = read(tmp_path / "state")
    assert found is not None
    assert found.parts == {"large": bytes(large), "small": b"2"}


# --- held, claimed ----------------------------------------------------------------------------------------------------


def test_closing_another_descriptor_of_the_lock_lets_nobody_in(tmp_path: Path) -> None:
    state = StateFolder(str(tmp_path / "state"))
    os.close(os.open(tmp_path / "state" / "lock", os.O_RDWR))
    code = "import sys; from progress.runtime.durable.folder import StateFolder; StateFolder(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "state")],
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PS738: another run uses the state in" in done.stderr
    state.close()


ORPHAN = """
import os, sys, time
from progress.runtime.durable.folder import StateFolder
state = StateFolder(sys.argv[1])
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
os.close(1)
time.sleep(600)
"""


def test_a_process_that_was_forked_does_not_hold_the_lock_of_its_parent(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(tmp_path / "state")],
        env=environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    child = int(done.stdout)
    try:
        os.kill(child, 0)
        StateFolder(str(tmp_path / "state")).close()
    finally:
        os.kill(child, signal.SIGKILL)


def test_who_has_lost_its_claim_commits_nothing(tmp_path: Path) -> None:
    """A lock that somebody has deleted lets two in: the later one has the store."""
    first = StateFolder(str(tmp_path / "state"))
    first.store.write(known(1), parts(1))
    (tmp_path / "state" / "lock").unlink()
    second = StateFolder(str(tmp_path / "state"))
    assert second.load() == (known(1), parts(1))
    claimed = second.store
    for _ in range(2):
        with pytest.raises(PointstampError, match="PS738: another run has taken over the state in"):
            first.store.write(known(7), parts(7))
    claimed.write(known(2), parts(2))
    with pytest.raises(PointstampError, match="PS738"):
        first.store.write(known(7), parts(7))
    first.close()
    second.store.write(known(3), parts(3))
    second.close()
    found = read(tmp_path / "state")
    assert found is not None
    assert (found.known, found.parts) == (known(3), parts(3))


# --- the seed of hashes -----------------------------------------------------------------------------------------------

SETS = """
import os, signal
from pointstamp import Dataflow, Graph
from progress.runtime import Node

class Words(Node):
    def __init__(self):
        self.words = set()

    def on_message(self, edge, time, value, out):
        self.words.add(value)
        if len(self.words) == 20 and os.path.exists("stop"):
            os.remove("stop")
            os.kill(os.getpid(), signal.SIGKILL)
        out.send("out", time, list(self.words))

graph = Graph().node("words").edge(None, "words", "in").edge("words", None, "out")
dataflow = Dataflow(graph, {"words": Words}, sources={"in": [(number, f"word {number}") for number in range(30)]})
"""


def test_sets_of_texts_have_one_order_in_all_processes_of_a_run(tmp_path: Path) -> None:
    """Each process would have an order of its own; what comes again then would be something else than what has left."""
    (tmp_path / "words.py").write_text(SETS)
    (tmp_path / "stop").touch()
    clean = {name: value for name, value in environment().items() if name != "PYTHONHASHSEED"}

    def started(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "run", "words.py", "--engine", "sim", "--state", "state", "--output", "out=out"],
            cwd=tmp_path,
            env={**clean, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    assert started().returncode == -signal.SIGKILL
    head = read_head(tmp_path / "state")
    assert head is not None
    assert head.seed.isdecimal()
    assert not (tmp_path / "stop").exists()
    before = (tmp_path / "out").read_text()
    assert before
    done = started(PYTHONHASHSEED="5")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out").read_text().startswith(before)
    assert (after := read_head(tmp_path / "state")) is not None
    assert after.seed == head.seed
    expected = subprocess.run(
        [COMMAND, "run", "words.py", "--engine", "sim", "--output", "out=other"],
        cwd=tmp_path,
        env={**clean, "PYTHONHASHSEED": head.seed},
        check=False,
    )
    assert expected.returncode == 0
    assert (tmp_path / "other").read_text() == (tmp_path / "out").read_text()


@pytest.mark.parametrize("given", ["017", "random", None])
def test_a_seed_that_is_given_is_kept(tmp_path: Path, given: str | None) -> None:
    (tmp_path / "words.py").write_text(SETS)
    clean = {name: value for name, value in environment().items() if name != "PYTHONHASHSEED"}
    if given is not None:
        clean["PYTHONHASHSEED"] = given
    done = subprocess.run(
        [COMMAND, "run", "words.py", "--engine", "sim", "--state", "state", "--output", "out=out"],
        cwd=tmp_path,
        env=clean,
        check=False,
    )
    head = read_head(tmp_path / "state") if done.returncode == 0 else None
    assert head is not None
    assert head.seed == "17" if given == "017" else head.seed.isdecimal()
