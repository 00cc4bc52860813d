"""The pipelines in examples/spark: what they should give, on Spark with its DataFrames and elsewhere with pandas."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from graphs import load
from graphs.checking.check import check_graph
from tests.commands.pipelines import environment
from tests.runtime.tools import GUARD
from tests.spark.examples_on_spark import INPUTS, PIPELINES, expected, found, values
from tests.spark.spark import spark_session

ROOT = Path(__file__).resolve().parents[2]
folders = pytest.mark.parametrize("folder", INPUTS)


def test_every_pipeline_is_tested_and_on_the_page() -> None:
    assert {path.name for path in PIPELINES.iterdir() if (path / "pipeline.py").exists()} == set(INPUTS)
    page = (PIPELINES / "README.md").read_text("utf-8")
    assert all(f"[{folder}]({folder})" in page for folder in INPUTS)


@folders
def test_the_graph_is_good(folder: str) -> None:
    report = check_graph(load(PIPELINES / folder / "graph.yaml"))
    assert report.valid
    assert report.diagnostics == []


@folders
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_pipeline_gives_what_it_should_with_pandas(folder: str, engine: str, tmp_path: Path) -> None:
    for edge, lines in found(folder, tmp_path, engine).items():
        assert lines == expected(folder, edge)


@folders
def test_a_pipeline_gives_the_same_in_any_order_of_events(folder: str, tmp_path: Path) -> None:
    for seed in range(4):
        for edge, lines in found(folder, tmp_path, "sim", seed=seed).items():
            assert lines == expected(folder, edge), seed


@pytest.mark.spark
@folders
def test_a_pipeline_gives_what_it_should_on_spark(folder: str, tmp_path: Path) -> None:
    session = spark_session()
    before = set(session.sparkContext._jsc.getPersistentRDDs())
    for edge, lines in found(folder, tmp_path, "spark", session=session).items():
        assert lines == expected(folder, edge)
    assert set(session.sparkContext._jsc.getPersistentRDDs()) <= before


# --- the command -----------------------------------------------------------------------------------------------------


def command(folder: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path, name = PIPELINES / folder, INPUTS[folder]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "graphs",
            "run",
            str(path / "pipeline.py"),
            "--input",
            f"{name}={path / name}.jsonl",
            *options,
        ],
        cwd=ROOT,
        env=environment(PYTHONPATH=str(ROOT), **variables),
        capture_output=True,
        encoding="utf-8",
        timeout=3 * GUARD,
        check=False,
    )


@pytest.mark.spark
@pytest.mark.slow
def test_a_pipeline_runs_by_the_command_with_master_and_settings(tmp_path: Path) -> None:
    settings = {
        "spark.driver.memory": "1g",
        "spark.app.name": "a=b",
    }
    options = [f"--conf={key}={value}" for key, value in settings.items()]
    done = command(
        "month", "--engine", "spark", "--master", "local[1]", "--workers", "2", *options,
        "--output", f"reports={tmp_path / 'reports'}",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert values((tmp_path / "reports").read_text("utf-8"), "reports") == expected("month", "reports")
    assert values(done.stdout, "late") == expected("month", "late")


def test_an_interrupt_while_spark_starts_ends_the_command_without_a_word(tmp_path: Path) -> None:
    month = PIPELINES / "month"
    process = subprocess.Popen(
        [sys.executable, "-m", "graphs", "run", str(month / "pipeline.py"), "--engine", "spark"],
        cwd=ROOT,
        env=environment(PYTHONPATH=str(ROOT), JAVA_HOME=str(java_that_waits(tmp_path))),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until = monotonic() + GUARD
    while not (tmp_path / "waits").exists():
        assert monotonic() < until
        sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=GUARD) == (b"", b"")
    assert process.returncode == 130
    launched = int((tmp_path / "waits").read_text())
    until = monotonic() + GUARD
    while Path(f"/proc/{launched}").exists():  # whoever was to become the JVM has ended with the command
        assert monotonic() < until
        sleep(0.05)


def java_that_waits(folder: Path) -> Path:
    """A JVM that says its version, and otherwise starts for ever."""
    (folder / "bin").mkdir()
    script = f"""#!/bin/sh
case "$*" in *-version*) echo 'openjdk version "17"' >&2; exit;; esac
echo $PPID > {folder}/waits.new
mv {folder}/waits.new {folder}/waits
exec sleep 600 >/dev/null 2>&1
"""
    (folder / "bin" / "java").write_text(script, encoding="utf-8")
    (folder / "bin" / "java").chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("options", "variables", "says"),
    [
        ((), {"JAVA_HOME": os.sep + "nowhere"}, "PS752: Spark runs on Java, and there is none in JAVA_HOME (/nowhere)"),
        (("--master", "sc://127.0.0.1:1"), {}, "PS756: no server of Spark Connect answers at 127.0.0.1:1: connection"),
        (("--master", "local[x"), {}, "PS756: 'local[x' is not a master of Spark"),
        (
            ("--master", "spark://127.0.0.1:1"),
            {},
            "PS756: no master answers at spark://127.0.0.1:1: connection refused",
        ),
        (("--conf", "spark.sql.ansi.enabled=banana"), {}, "PS756: spark.sql.ansi.enabled=banana is not a setting: "),
    ],
    ids=["java", "connect", "master", "nobody", "setting"],
)
def test_what_keeps_spark_from_starting_is_one_line(
    options: tuple[str, ...], variables: dict[str, str], says: str
) -> None:
    done = command("month", "--engine", "spark", *options, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pointstamp: {says}")
    assert len(done.stderr.splitlines()) == 1
