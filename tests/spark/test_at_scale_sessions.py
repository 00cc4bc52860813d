"""What keeps Spark from answering, in one line; cancelling; which engine is chosen; Parquet; the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from graphs import Graph, at_scale, load
from graphs.at_scale import Options, Round, Tables
from graphs.command import main
from graphs.files.parquet import _arrow
from progress import PointstampError, close
from progress.runtime.on_spark.session import check_installed, check_java, check_session, start_session
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
START = "from progress.runtime.on_spark.session import start_session\nstart_session({})"


def started_elsewhere(arguments: str, **environment: str) -> str:
    """What a process of its own says that starts a session."""
    kept = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "SPARK_REMOTE")}
    run = subprocess.run(
        [sys.executable, "-c", START.format(arguments)],
        cwd=ROOT,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    return run.stderr.splitlines()[-1].removeprefix("progress.errors.PointstampError: ")


def test_a_machine_without_java_is_told_so(tmp_path: Path) -> None:
    said = started_elsewhere("", PATH=str(tmp_path))
    assert said.startswith("PS752: Spark runs on Java, and there is none on the PATH")
    with patch.dict(os.environ, JAVA_HOME=str(tmp_path)), pytest.raises(PointstampError, match="none in JAVA_HOME"):
        check_java()


def test_an_old_java_is_refused(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    with patch.dict(os.environ, JAVA_HOME=str(tmp_path)), pytest.raises(PointstampError) as caught:
        check_java()
    assert str(caught.value).startswith("PS752: this is Java 8, and Spark needs 17 or newer")


def test_a_package_that_nobody_has_is_named() -> None:
    said = started_elsewhere("graphframes='org.nowhere:nothing:1.0'")
    assert said.startswith("PS754: no repository in reach has org.nowhere:nothing:1.0 (")


def test_a_session_without_graphframes_is_refused() -> None:
    session = spark_session()
    with patch("progress.runtime.on_spark.session.GRAPHFRAMES_CLASS", "org.graphframes.Nothing"):
        with pytest.raises(PointstampError) as caught:
            check_session(session)
        check_session(session, graphframes=False)
    assert str(caught.value).startswith("PS754: the session's JVM has no GraphFrames")


def test_the_active_session_is_used_as_it_is() -> None:
    session = spark_session()
    assert start_session(app_name="another", settings={"spark.sql.shuffle.partitions": 77}) is session
    assert session.conf.get("spark.sql.shuffle.partitions") == "2"
    assert session.conf.get("spark.driver.host") == session.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert session.conf.get("spark.ui.enabled") == "false"


@pytest.mark.parametrize("version", ["3.5.7", "4.0.1", "4.2.0", "4.3.0", "4.4.0"])
def test_another_version_of_spark_is_refused(version: str) -> None:
    with patch("pyspark.__version__", version), pytest.raises(PointstampError) as caught:
        check_installed()
    assert str(caught.value).startswith(f"PS753: this is Spark {version}, and GraphFrames needs Spark 4.1")


@pytest.mark.parametrize("version", ["4.1.4", "4.2.1", "4.3.0"])
def test_pipelines_need_no_graphframes(version: str) -> None:
    with patch("pyspark.__version__", version), patch.dict(sys.modules, graphframes=None):
        check_installed(graphframes=False)


@pytest.mark.parametrize("version", ["3.5.7", "4.0.1", "4.4.0"])
def test_pipelines_need_one_of_the_versions_that_were_tried(version: str) -> None:
    with patch("pyspark.__version__", version), pytest.raises(PointstampError) as caught:
        check_installed(graphframes=False)
    assert str(caught.value).startswith(f"PS753: this is Spark {version}, and Spark 4.1 to 4.3 is needed")


def test_a_spark_that_has_graphframes_in_it_needs_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pyspark

    from progress.runtime.on_spark import graphframes as spark_graphframes

    assert not spark_graphframes.comes_with_spark()
    (tmp_path / "graphframes").mkdir()
    own = "class GraphFrame:\n    def __init__(self, *tables): self.tables = tables\n"
    (tmp_path / "graphframes" / "__init__.py").write_text(own, encoding="utf-8")
    monkeypatch.setattr(pyspark, "__path__", [*pyspark.__path__, str(tmp_path)])
    monkeypatch.setitem(sys.modules, "graphframes", None)
    assert spark_graphframes.comes_with_spark()
    assert spark_graphframes.choices(None, {}) == [""]
    try:
        assert spark_graphframes.graph_frame(1, 2).tables == (1, 2)
    finally:
        del sys.modules["pyspark.graphframes"], pyspark.graphframes
    check_installed()
    monkeypatch.setattr(pyspark, "__version__", "4.3.0")
    check_installed()


def test_spark_connect_is_refused_in_words() -> None:
    kind = type("SparkSession", (SimpleNamespace,), {"__module__": "pyspark.sql.connect.session"})
    with pytest.raises(PointstampError, match=r"^PS755: a session of Spark Connect has no JVM"):
        check_session(kind())


def test_what_only_python_can_compute_is_refused() -> None:
    class Twice:
        def apply(self, time: int) -> list[int]:
            return [2 * time]

    with pytest.raises(PointstampError) as caught:
        at_scale.close(Graph().node("a", summary=Twice()), [("a", 0)], "spark", spark_session())
    assert (caught.value.code, caught.value.hint) == ("PS757", 'engine="local"')


# --- cancelling ------------------------------------------------------------------------------------------------------


def test_a_run_is_cancelled_between_rounds_and_within_a_job() -> None:
    graph = Graph()
    for number in range(6):
        graph.node(f"n{number}")
    for number in range(5):
        graph.edge(f"n{number}", f"n{number + 1}")
    opened = at_scale.open_in_spark(graph, spark_session())
    cancel = threading.Event()

    def at_the_second(found: Round) -> None:
        if found.number == 1:
            cancel.set()

    with pytest.raises(PointstampError) as caught:
        at_scale.close(opened, [("n0", 0)], options=Options(cancel=cancel, on_round=at_the_second))
    assert caught.value.code == "PS759"


def test_a_job_that_runs_is_ended() -> None:
    from graphs.at_scale.rounds import one_group

    session = spark_session()
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    with pytest.raises(PointstampError) as caught, one_group(session, Options(cancel=cancel), "for ever"):
        session.range(1 << 60, numPartitions=2).selectExpr("max(hash(id))").collect()
    assert caught.value.code == "PS759"
    assert session.range(3).count() == 3


# --- which engine ----------------------------------------------------------------------------------------------------


def test_auto_chooses_by_size_and_says_so(tmp_path: Path) -> None:
    graph = loop_of_two()
    tables = written(graph, tmp_path)
    assert at_scale.choose_engine(graph).engine == "local"
    assert str(at_scale.choose_engine(graph, crossover=4)) == "engine spark: 4 edges, 4 or more"
    assert str(at_scale.choose_engine(tables, crossover=5)) == "engine local: 4 edges, fewer than 5"
    assert at_scale.choose_engine(tables, "spark").reason == "as asked for"
    calls = Graph(recursion={"in": "a", "out": "b", "calls": ["c"]})
    assert at_scale.choose_engine(calls, crossover=0) == ("local", "the graph has calls")
    with pytest.raises(PointstampError, match=r"^PS512: there is no engine 'sparkle'"):
        at_scale.choose_engine(graph, "sparkle")
    said: list[str] = []
    at_scale.check_conditions(graph, say=said.append)
    assert said == ["engine local: 4 edges, fewer than 5000000"]


# --- files and the command line --------------------------------------------------------------------------------------


def loop_of_two() -> Graph:
    return (
        Graph(time={"product": ["nat", "nat"]})
        .node("body")
        .node("back", summary={"advance": [0, 1]}, notify=False)
        .edge(None, "body", "input")
        .edge("body", "back", "out")
        .edge("back", "body", "again")
        .edge("body", None, "result")
    )


def written(graph: Graph, folder: Path) -> Tables:
    """The graph as two Parquet files."""
    from graphs import to_data

    arrow, parquet = _arrow()
    data = to_data(graph)
    nodes = [{"id": name, "time": data["time"], **node} for name, node in data["nodes"].items()]
    for name, rows in (("nodes", nodes), ("edges", data["edges"])):
        columns = sorted({key for row in rows for key in row})
        texts: dict[str, list[Any]] = {}
        for key in columns:
            values = [row.get(key) for row in rows]
            texts[key] = [json.dumps(value) if isinstance(value, dict) else value for value in values]
        parquet.write_table(arrow.table(texts), folder / f"{name}.parquet")
    return Tables(folder / "nodes.parquet", folder / "edges.parquet")


def test_the_command_closes_alike_on_both_engines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spark_session()
    _, parquet = _arrow()
    tables = written(loop_of_two(), tmp_path)
    command = ["close", "--nodes", str(tables.nodes), "--edges", str(tables.edges), "--at", "input=[2, 3]"]
    answers = {}
    for engine in ("local", "spark"):
        assert main([*command, "--engine", engine, "--format", "json"]) == 0
        answers[engine] = json.loads(capsys.readouterr().out)
        path = tmp_path / f"{engine}.parquet"
        assert main([*command, "--engine", engine, "-o", str(path)]) == 0
        answers[f"{engine} table"] = parquet.read_table(path).to_pylist()
    assert answers["spark"] == answers["local"]
    assert answers["spark table"] == answers["local table"] != []
    assert answers["spark"]["frontiers"]["again"] == [[2, 4]]
    assert main([*command, "--engine", "auto"]) == 0
    assert "engine local: 4 edges" in capsys.readouterr().err


def test_the_command_checks_alike_on_both_engines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spark_session()
    broken = load(str(ROOT / "examples" / "broken_loop.yaml"))
    broken.node("lost", notify=False).edge("lost", None, "nowhere")
    tables = written(broken, tmp_path)
    answers = []
    for engine in ("local", "spark"):
        arguments = ["check", "--nodes", str(tables.nodes), "--edges", str(tables.edges), "--engine", engine]
        assert main([*arguments, "--format", "json"]) == 1
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert {found["code"] for found in answers[0]["files"][0]["diagnostics"]} == {"PS201", "PS301", "PS402"}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--at", "input=null"], 2, "null is not a time there"),
        (["--at", 'input="noon"'], 2, '"noon" is not a time there'),
        (["--at", "nowhere=1"], 2, "there is no such location"),
        (["--at", "input=0", "--nodes", "missing.parquet"], 2, "PS001: cannot read missing.parquet: no such file"),
    ],
)
def test_the_command_refuses_in_one_line(
    arguments: list[str], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark_session()
    tables = written(Graph().node("body").edge(None, "body", "input"), tmp_path)
    command = ["close", "--nodes", str(tables.nodes), "--edges", str(tables.edges), "--engine", "spark", *arguments]
    assert main(command) == code
    found = capsys.readouterr()
    assert says in found.err
    assert (found.err.count("\n"), found.out) == (1, ""), found.err[:400]


def test_frontiers_are_a_table_too() -> None:
    graph = loop_of_two()
    found = at_scale.close(graph, [("input", (0, 0))], "spark", spark_session())
    assert not isinstance(found, type(close(graph, [])))
    rows = found.table().collect()  # type: ignore[union-attr]
    assert {(row["location"], row["time"]) for row in rows} == {
        (location, json.dumps(list(time)))
        for location, times in close(graph, [("input", (0, 0))]).frontiers.items()
        for time in times
    }
