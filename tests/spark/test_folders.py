"""Folders of a file system that is not this machine's: what is in them, and what it costs to ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from progress.runtime.on_spark.folders import Folder
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark

NAMES = ["day=0/a.parquet", "day=0/_SUCCESS", "day=1/deep/ä b.parquet", "50%25, 2.csv", "new\nline", "_END"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> str:
    """The path at which Hadoop has this folder in another file system, which is not `file:`."""
    (tmp_path / "in").mkdir()
    settings: Any = spark_session()._jsc.hadoopConfiguration()
    name = "".join(each for each in tmp_path.name if each.isalnum())  # Hadoop keeps what it has opened by its name
    settings.set(f"fs.viewfs.mounttable.{name}.link./in", f"file://{tmp_path}/in")
    return f"viewfs://{name}/in"


def fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def calls_of_files(folder: Folder) -> tuple[list[str], int]:
    """What a look finds, and how many calls of the JVM it takes."""
    client = spark_session()._sc._gateway._gateway_client  # type: ignore[union-attr]
    with patch.object(client, "send_command", wraps=client.send_command) as sent:
        found = folder.files()
    asked = [call.args[0] for call in sent.call_args_list]
    return found, sum(not text.startswith("m\nd\n") for text in asked)  # that Python has let something go is no call


def test_files_elsewhere_are_found_as_they_are_here_by_the_same_few_calls_however_many(
    tmp_path: Path, elsewhere: str
) -> None:
    folder = Folder(spark_session(), elsewhere)
    assert not folder.is_here
    assert folder.files() == []
    fill(tmp_path / "in", NAMES)
    found, few = calls_of_files(folder)
    assert found == sorted(NAMES) == Folder(spark_session(), tmp_path / "in").files()
    many = [*NAMES, *(f"day={number % 3}/{number}.parquet" for number in range(300))]
    fill(tmp_path / "in", many)
    assert calls_of_files(Folder(spark_session(), f"{elsewhere}/")) == (sorted(many), few)


def test_a_folder_elsewhere_that_is_not_there_has_no_files(elsewhere: str) -> None:
    assert Folder(spark_session(), f"{elsewhere}/more").files() == []
