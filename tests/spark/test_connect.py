"""Pipelines over Spark Connect: with a real server, in a process of its own, and without one that answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from progress.errors import PointstampError
from progress.runtime.on_spark.connect import address, check_reach, remote_of
from tests.spark.spark_cluster import WAIT

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "700m",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}
PIPELINE = """
from pathlib import Path
from pointstamp import Dataflow, FrameSource, Graph, Stage
from beside import twice

def frame():
    from pyspark.sql import SparkSession
    return SparkSession.active().range(0, 40, 1, 2).selectExpr("id", "id % 4 AS day")

def more(frames):
    for each in frames:
        yield each.assign(id=each["id"].map(own))

def own(value):
    return twice(value) + 1

graph = Graph().node("more").edge(None, "more", "in").edge("more", None, "out")
node = Stage(lambda day, tables: tables["in"].select("id").mapInPandas(more, "id bigint"))
dataflow = Dataflow(graph, {"more": node}, sources={"in": FrameSource(frame, "day")})
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on this machine."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("server")
    settings = [word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}")]
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                submit,
                *settings,
                "--conf",
                f"spark.connect.grpc.binding.port={port}",
                "--class",
                SERVER,
                "spark-internal",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + WAIT
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1.0).close()
                break
            except OSError:
                said = (folder / "log").read_text("utf-8", "replace")[-2_000:]
                assert process.poll() is None, said
                assert time.monotonic() < until, said
                time.sleep(0.05)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def in_a_process(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_pipelines_that_need_no_jvm_run_over_spark_connect(server: str, tmp_path: Path) -> None:
    found = in_a_process(["tests.spark.over_connect", server, str(tmp_path)], tmp_path)
    said = "\n".join(line for line in found.stderr.splitlines() if not line.startswith("\tat "))
    assert (found.returncode, found.stdout) == (0, "all of it is so\n"), said[-3_000:]


@pytest.mark.parametrize("how", ["--master", "SPARK_REMOTE"])
def test_the_command_runs_over_spark_connect_and_goes_on_from_its_state(server: str, tmp_path: Path, how: str) -> None:
    """The code of the pipeline, and of modules beside it, is at the workers of the server."""
    (tmp_path / "beside.py").write_text("def twice(value):\n    return 2 * value\n", "utf-8")
    (tmp_path / "pipeline.py").write_text(PIPELINE, "utf-8")
    words = ["graphs", "run", "pipeline.py", "--engine", "spark", "--state", "state", "--output", "out=out.jsonl"]
    master, variables = (["--master", server], {}) if how == "--master" else ([], {"SPARK_REMOTE": server})
    found = in_a_process([*words, *master], tmp_path, **variables)
    assert found.returncode == 0, found.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    pairs = sorted((line["time"], line["value"]["id"]) for line in lines if "value" in line)
    assert pairs == sorted((each % 4, 2 * each + 1) for each in range(40))
    assert "Traceback" not in found.stderr


def test_a_server_that_does_not_answer_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(PointstampError, match=r"^PS756: no server of Spark Connect answers at 127.0.0.1:1: connection"):
        check_reach("sc://127.0.0.1:1/;use_ssl=false")
    with pytest.raises(PointstampError, match=r"^PS756: 'sc://' is not the address of a server"):
        address("sc://")
    assert address("sc://[::1]:7") == ("::1", 7)
    assert address("sc://spark.example") == ("spark.example", 15002)


def test_a_server_is_asked_for_by_the_master_the_environment_or_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote_of("sc://one", {"spark.remote": "sc://two"}) == "sc://one"
    assert remote_of("local[2]", {"spark.remote": "sc://two"}) is None
    assert remote_of(None, {"spark.remote": "sc://two"}) == "sc://two"
    monkeypatch.setenv("SPARK_REMOTE", "sc://three")
    assert remote_of(None, {"spark.remote": "sc://two"}) == "sc://three"
