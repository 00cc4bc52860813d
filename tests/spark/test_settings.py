"""Whose settings a session has: the user's, wherever Spark reads them; and what is filled in where they say nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import pytest

from progress.runtime.on_spark.settings import fill, found, properties

ROOT = Path(__file__).resolve().parents[2]

ASKED = """
import json
from progress.runtime.on_spark.session import start_session
session = start_session({}, graphframes=False)
print(json.dumps(dict(session.sparkContext.getConf().getAll())))
"""

DEFAULTS = """
# what our team has everywhere
spark.master                   local[1]
spark.sql.shuffle.partitions   77
spark.driver.memory            512m
spark.scheduler.mode=FIFO
spark.app.name: the \\
    nightly run
spark.driver.extraJavaOptions  -XX:TieredStopAtLevel=1 -Dteam=a=b
"""


def settings_of(arguments: str = "", **environment: str) -> dict[str, str]:
    """The settings of a session that a process of its own starts."""
    run = subprocess.run(
        [sys.executable, "-c", ASKED.format(arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-2_000:]
    answer: dict[str, str] = json.loads(run.stdout)
    return answer


@pytest.mark.spark
@pytest.mark.slow
def test_what_the_user_has_set_stays_and_only_the_rest_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(DEFAULTS, encoding="utf-8")
    flags = "--conf spark.sql.session.timeZone=Asia/Tokyo --conf spark.sql.ansi.enabled=false pyspark-shell"
    asked = "settings={'spark.sql.ansi.enabled': True}"
    has = settings_of(asked, SPARK_CONF_DIR=str(tmp_path), PYSPARK_SUBMIT_ARGS=flags)
    assert {key: has.get(key) for key in WANTED} == WANTED


WANTED = {
    "spark.master": "local[1]",
    "spark.sql.shuffle.partitions": "77",
    "spark.driver.memory": "512m",
    "spark.scheduler.mode": "FIFO",
    "spark.app.name": "the nightly run",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.ansi.enabled": "true",  # what is given goes before all of it
    "spark.default.parallelism": "2",  # nobody has said it, and it is this machine
    "spark.ui.enabled": "false",
    "spark.log.level": "FATAL",
}


# --- without Spark ---------------------------------------------------------------------------------------------------


def found_with(folder: Path, **environment: str) -> dict[str, str]:
    with patch.dict(os.environ, {"SPARK_CONF_DIR": str(folder), **environment}):
        return found()


def test_small_settings_are_for_this_machine_alone() -> None:
    small = {"spark.ui.enabled", "spark.sql.shuffle.partitions", "spark.default.parallelism", "spark.log.level"}
    small.add("spark.driver.memory")
    assert small <= fill("local[2]", {}).keys()
    for master in ("spark://somewhere:7077", "yarn", "k8s://https://somewhere:6443"):
        filled = fill(master, {})
        assert not small & filled.keys()
        assert filled["spark.master"] == master
        assert "spark.driver.host" not in filled
    here = fill("spark://127.0.0.1:7077", {})
    assert not small & here.keys()
    assert here["spark.driver.host"] == here["spark.driver.bindAddress"] == "127.0.0.1"


def test_nothing_is_filled_in_twice() -> None:
    for key in fill("local[*]", {}):
        assert key not in fill("local[*]", {key: "what somebody has said"})


def test_a_folder_that_says_how_to_log_is_listened_to(tmp_path: Path) -> None:
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = warn\n", encoding="utf-8")
    with patch.dict(os.environ, SPARK_CONF_DIR=str(tmp_path)):
        assert "spark.log.level" not in fill("local[2]", {})


@pytest.mark.parametrize(
    ("environment", "finds"),
    [
        ({}, {"spark.a": "1"}),
        ({"PYSPARK_SUBMIT_ARGS": "--conf spark.a=2 --conf=spark.b=x=y a.py"}, {"spark.a": "2", "spark.b": "x=y"}),
        ({"PYSPARK_SUBMIT_ARGS": "--master yarn --driver-memory=3g --queue fast"}, {"spark.master": "yarn"}),
        ({"PYSPARK_SUBMIT_ARGS": "--conf 'spark.b=two words' pyspark-shell"}, {"spark.b": "two words"}),
        ({"MASTER": "local", "SPARK_DRIVER_MEMORY": "9g"}, {"spark.master": "local", "spark.driver.memory": "9g"}),
        ({"PYSPARK_SUBMIT_ARGS": "--master yarn", "MASTER": "local[7]"}, {"spark.master": "yarn"}),
        ({"PYSPARK_SUBMIT_ARGS": "--properties-file {folder}/other"}, {"spark.a": None, "spark.c": "3"}),
    ],
)  # fmt: skip
def test_settings_are_found_where_spark_finds_them(
    environment: Mapping[str, str], finds: Mapping[str, str | None], tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.a 1\n", encoding="utf-8")
    (tmp_path / "other").write_text("spark.c 3\n", encoding="utf-8")
    environment = {key: value.format(folder=tmp_path) for key, value in environment.items()}
    said = found_with(tmp_path, **environment)
    assert {key: said.get(key) for key in finds} == finds


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("spark.a   b c ", ("spark.a", "b c")),
        ("  spark.a=b=c", ("spark.a", "b=c")),
        ("spark.a : b", ("spark.a", "b")),
        ("spark.a\tb\\\n   c", ("spark.a", "bc")),
        ("spark.a c:\\\\dir", ("spark.a", "c:\\dir")),
        ("spark.a \\u0041\\t.", ("spark.a", "A\t.")),
        ("spark\\ a=b", ("spark a", "b")),
        ("spark.a", ("spark.a", "")),
    ],
)
def test_files_are_read_as_java_reads_them(line: str, pair: tuple[str, str]) -> None:
    assert list(properties(f"# comment\n\n! another\n{line}\n")) == [pair]
