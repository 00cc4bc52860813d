"""Who fetches packages for Spark: one process at a time, where there is something to be fetched."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from progress.runtime.on_spark.packages import LOCK, fetched_by_one, is_kept
from tests.runtime.tools import GUARD

SETTINGS = "spark.jars.packages"


def is_locked(folder: Path) -> bool:
    """Whether somebody fetches into a folder of Ivy."""
    if not (folder / LOCK).exists():
        return False
    with (folder / LOCK).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_who_fetches_is_alone(tmp_path: Path) -> None:
    settings = {"spark.jars.ivy": str(tmp_path / "ivy"), SETTINGS: "org.here:this:1.0,org.here:that:2.0"}
    begun, ended, fetched = threading.Event(), threading.Event(), []

    def fetch() -> None:
        begun.set()
        with fetched_by_one(settings):
            fetched.append(ended.is_set())

    other = threading.Thread(target=fetch)
    with fetched_by_one(settings):
        assert is_locked(tmp_path / "ivy")
        other.start()
        assert begun.wait(GUARD)
        other.join(0.2)
        assert not fetched
        ended.set()
    other.join(GUARD)
    assert fetched == [True]
    assert not is_locked(tmp_path / "ivy")


def test_where_all_is_kept_or_nothing_is_wanted_nobody_waits(tmp_path: Path) -> None:
    settings = {"spark.jars.ivy": str(tmp_path), SETTINGS: "org.here:this:1.0"}
    with fetched_by_one({"spark.jars.ivy": str(tmp_path)}):
        assert not is_locked(tmp_path)
    (tmp_path / "jars").mkdir()
    assert not is_kept("org.here:this:1.0", settings)
    (tmp_path / "jars" / "org.here_this-1.0.jar").touch()
    assert is_kept("org.here:this:1.0", settings)
    with fetched_by_one(settings):
        assert not is_locked(tmp_path)


def test_a_folder_that_cannot_be_written_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with fetched_by_one({"spark.jars.ivy": str(tmp_path / "file"), SETTINGS: "org.here:this:1.0"}):
        pass
    with (
        pytest.raises(OSError, match="of its own"),
        fetched_by_one({"spark.jars.ivy": str(tmp_path), SETTINGS: "org.here:this:1.0"}),
    ):
        raise OSError("of its own")
    assert not is_locked(tmp_path)
