"""The pipelines in examples/pipelines, in every engine, from Python and from the command line."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks import agent_joins
from graphs import Graph, from_data, load, to_data
from graphs.checking.check import check_graph
from graphs.running.pipeline import load_pipeline
from progress.runtime import SILENT, Complete, Dataflow
from progress.runtime.actions.core import Core
from progress.runtime.observer import Observer

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = ROOT / "examples" / "pipelines"
GUARD = 60.0


class Sample(NamedTuple):
    """An input of a pipeline, and what comes of it."""

    folder: str
    edge: str
    file: str
    expected: str = "expected.jsonl"
    engine: str = "threads"  # that `python pipeline.py` uses
    argument: str = ""  # that it wants

    def __str__(self) -> str:
        return f"{self.folder}-{self.file.partition('.')[0]}"


SAMPLES = [
    Sample("road_map", "readings", "readings.jsonl"),
    Sample("agent", "questions", "questions.jsonl", engine="asyncio"),
    Sample("month", "files", "files.jsonl"),
    Sample("yesterday", "sales", "sales.jsonl"),
    Sample("collatz", "numbers", "numbers.jsonl"),
    Sample("spanning_tree", "graphs", "graphs.jsonl"),
    Sample("word_count", "lines", "batch.jsonl", "expected-batch.jsonl", argument="batch"),
    Sample("word_count", "lines", "stream.jsonl", "expected-stream.jsonl", argument="stream"),
]
samples = pytest.mark.parametrize("sample", SAMPLES, ids=str)
BY_NAME = {str(sample): sample for sample in SAMPLES}

Lines = list[dict[str, Any]]


def lines_of(text: str) -> Lines:
    return [json.loads(line) for line in text.splitlines()]


def read(folder: str, name: str) -> Lines:
    return lines_of((PIPELINES / folder / name).read_text(encoding="utf-8"))


def pipeline(folder: str, file: str = "pipeline.py") -> Dataflow:
    """The dataflow, with new nodes."""
    return load_pipeline(str(PIPELINES / folder / file))


def graph_of(dataflow: Dataflow) -> Graph:
    assert isinstance(dataflow.graph, Graph)
    return dataflow.graph


def items(dataflow: Dataflow, edge: str, lines: Lines) -> list[Any]:
    """What the lines of an input say, as a source says it."""
    graph = graph_of(dataflow)
    found: list[Any] = []
    for line in lines:
        if "complete" in line:
            found.append(Complete(tuple(graph.time_from_json(edge, time) for time in line["complete"])))
        else:
            found.append((graph.time_from_json(edge, line["time"]), line["value"]))
    return found


def multiset(lines: Lines) -> Counter[str]:
    return Counter(json.dumps([line["edge"], line["time"], line["value"]]) for line in lines if "value" in line)


def run(sample: Sample, engine: str, seed: int | None = None) -> Lines:
    dataflow = pipeline(sample.folder)
    source = items(dataflow, sample.edge, read(sample.folder, sample.file))
    results = dataflow.run(engine=engine, seed=seed, sources={sample.edge: source}, timeout=GUARD)
    return [{"edge": edge, "time": time, "value": value} for edge, pairs in results.items() for time, value in pairs]


def test_every_pipeline_is_tested() -> None:
    folders = {path.name for path in PIPELINES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {sample.folder for sample in SAMPLES}
    page = (PIPELINES / "README.md").read_text(encoding="utf-8")
    assert all(f"[{folder}]({folder})" in page for folder in folders)


@samples
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_pipeline_gives_what_it_should_in_every_engine(sample: Sample, engine: str) -> None:
    assert multiset(run(sample, engine)) == multiset(read(sample.folder, sample.expected))


@samples
def test_a_pipeline_gives_the_same_in_any_order_of_events(sample: Sample) -> None:
    expected = multiset(read(sample.folder, sample.expected))
    for seed in range(25):
        assert multiset(run(sample, "sim", seed)) == expected, seed


# --- the same as programs of streams ---------------------------------------------------------------------------------

BY_HAND = {"yesterday"}  # which says why
as_streams = pytest.mark.parametrize("sample", [each for each in SAMPLES if each.folder not in BY_HAND], ids=str)


def run_stream(sample: Sample, engine: str, seed: int | None = None) -> Lines:
    dataflow = pipeline(sample.folder, "stream.py")
    source = items(dataflow, sample.edge, read(sample.folder, sample.file))
    results = dataflow.run(engine=engine, seed=seed, sources={sample.edge: source}, timeout=GUARD)
    return [{"edge": edge, "time": time, "value": value} for edge, pairs in results.items() for time, value in pairs]


@as_streams
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_a_program_of_streams_gives_the_same_as_the_pipeline(sample: Sample, engine: str) -> None:
    expected = multiset(read(sample.folder, sample.expected))
    assert multiset(run_stream(sample, engine)) == expected
    if engine == "sim":
        for seed in range(6):
            assert multiset(run_stream(sample, engine, seed)) == expected, seed


@as_streams
def test_the_graph_of_a_program_of_streams_is_good(sample: Sample) -> None:
    assert check_graph(graph_of(pipeline(sample.folder, "stream.py"))).valid


def lines_of_code(path: Path) -> int:
    """Lines without comments, documentation and what is empty."""
    text = path.read_text(encoding="utf-8")
    left = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            first = (
                node.body[0]
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                else None
            )
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                left -= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    return len(left)


def test_the_lengths_are_those_that_are_written_down() -> None:
    """Of each example but one, before and after: nodes and graph by hand, and the program of streams."""
    written = {}
    for line in (PIPELINES / "README.md").read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"\| (\w+) \| (\d+) and (\d+) \| (\d+) \|", line)
        if found:
            written[found[1]] = tuple(map(int, found.groups()[1:]))
    folders = {sample.folder for sample in SAMPLES} - BY_HAND
    assert written == {
        folder: tuple(lines_of_code(PIPELINES / folder / name) for name in ("pipeline.py", "graph.yaml", "stream.py"))
        for folder in folders
    }
    assert not (PIPELINES / "yesterday" / "stream.py").exists()


@pytest.mark.parametrize("folder", sorted({sample.folder for sample in SAMPLES}))
def test_the_graph_of_a_pipeline_is_good(folder: str) -> None:
    report = check_graph(load(PIPELINES / folder / "graph.yaml"))
    assert report.valid
    assert report.diagnostics == []


def command(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"},
        capture_output=True,
        encoding="utf-8",
        timeout=GUARD,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
@samples
def test_a_pipeline_runs_as_a_program(sample: Sample) -> None:
    said = lines_of(command(PIPELINES / sample.folder / "pipeline.py", *([sample.argument] if sample.argument else [])))
    assert multiset(said) == multiset(read(sample.folder, sample.expected))
    edges = {line["edge"] for line in said} - {"late"}
    assert all({"edge": edge, "complete": []} in said for edge in edges)


@pytest.mark.slow
@samples
def test_a_pipeline_runs_by_the_command(sample: Sample, tmp_path: Path) -> None:
    expected = read(sample.folder, sample.expected)
    outputs = sorted({line["edge"] for line in expected} - {"late"})
    options = [f"--output={edge}={tmp_path / edge}" for edge in outputs]
    path = PIPELINES / sample.folder
    rest = command(
        "-m", "graphs", "run", path / "pipeline.py", "--input", f"{sample.edge}={path / sample.file}",
        "--engine", sample.engine, *options, cwd=ROOT,
    )  # fmt: skip
    found = lines_of(rest)
    for edge in outputs:
        lines = lines_of((tmp_path / edge).read_text(encoding="utf-8"))
        assert lines[-1] == {"complete": []}
        found += [{"edge": edge, **line} for line in lines]
    assert multiset(found) == multiset(expected)


# --- what each of them is about --------------------------------------------------------------------------------------


def by_edge(lines: Lines, edge: str) -> list[tuple[Any, Any]]:
    return [(line["time"], line["value"]) for line in lines if line["edge"] == edge]


def test_the_map_follows_every_reading_and_the_paths_wait_for_the_batch() -> None:
    dataflow = pipeline("road_map")
    (*first, complete), rest = read("road_map", "readings.jsonl")[:5], read("road_map", "readings.jsonl")[5:]
    roads: list[Any] = []
    paths: list[Any] = []

    def readings() -> Iterator[Any]:
        for item in items(dataflow, "readings", first):
            before = len(roads)
            yield item
            yield SILENT
            assert len(roads) == before + 1
        assert paths == []
        yield from items(dataflow, "readings", [complete])
        assert {time for time, _ in paths} == {0}
        assert len(paths) == 3
        yield from items(dataflow, "readings", rest)

    dataflow.run(
        sources={"readings": readings},
        sinks={"roads": lambda *said: roads.append(said), "shortest": lambda *said: paths.append(said)},
    )
    assert Counter(time for time, _ in paths) == {0: 3, 1: 3, 2: 3}


def test_the_slow_road_by_the_market_is_avoided_from_the_second_batch_on() -> None:
    paths = by_edge(read("road_map", "expected.jsonl"), "shortest")
    ways = {
        time: value["way"] for time, value in paths if (value["way"][0], value["way"][-1]) == ("harbour", "station")
    }
    assert ways == {
        0: ["harbour", "market", "station"],
        1: ["harbour", "school", "church", "station"],
        2: ["harbour", "school", "church", "station"],
    }


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_the_agent_answers_each_question_once_with_all_there_is(engine: str) -> None:
    asked = [line for line in read("agent", "questions.jsonl") if "value" in line]
    answers = by_edge(run(BY_NAME["agent-questions"], engine), "answers")
    assert sorted(time for time, _ in answers) == [line["time"] for line in asked]
    notes = {time: value["notes"] for time, value in answers}
    for line in asked:
        fails, attempts = line["value"].get("fails", 0), [note for note in notes[line["time"]] if "attempt" in note]
        assert len(attempts) == (fails < 3)
        assert all(f"(attempt {fails + 1})" in note for note in attempts)
        assert any("the sum is" in note for note in notes[line["time"]]) is ("add" in line["value"])


def test_the_table_of_the_agent_is_what_was_found_on_langgraph() -> None:
    """`make bench` says whether it is still found."""
    kept = json.loads(agent_joins.KEPT.read_text("utf-8"))
    page = (PIPELINES / "agent" / "README.md").read_text("utf-8")
    assert agent_joins.table(kept["answered"]) in page
    assert f"measured on langgraph {kept['version']} " in page
    pins = (ROOT / "benchmarks" / "peers-requirements.txt").read_text("utf-8").splitlines()
    assert f"langgraph=={kept['version']}" in pins


@pytest.mark.parametrize("kept", ["kept", "other"])
def test_a_table_that_has_become_another_is_a_failure(
    kept: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LangGraph is not here, but who asks it is."""
    found = json.loads(agent_joins.KEPT.read_text("utf-8"))
    monkeypatch.setattr(agent_joins, "measured", lambda: found)
    if kept == "other":
        monkeypatch.setattr(agent_joins, "KEPT", tmp_path / "other.json")
        (tmp_path / "other.json").write_text(json.dumps({**found, "version": "0"}), encoding="utf-8")
        with pytest.raises(SystemExit, match=r"not what other\.json has"):
            agent_joins.main()
    else:
        agent_joins.main()
    assert "| never |" in capsys.readouterr().out


class Keep(Observer):
    """Keeps the core of a run."""

    def started(self, core: Core) -> None:
        self.core = core


def test_the_month_runs_once_and_why_names_the_files_that_are_missing() -> None:
    module = pipeline("month")
    missing = sys.modules["pipeline"].missing
    reports: list[Any] = []
    told: list[tuple[int, list[str]]] = []
    observer = Keep()

    def files() -> Iterator[Any]:
        for item in items(module, "files", read("month", "files.jsonl")):
            yield item
            if type(item) is Complete:
                tracker = observer.core.tracker
                told.append((len(reports), missing(tracker, 1)))

    results = module.run(
        sources={"files": files}, sinks={"reports": lambda *said: reports.append(said)}, observer=observer
    )
    assert told == [(0, ["2024-01-17.csv", "2024-01-23.csv"]), (0, ["2024-01-17.csv"]), (1, [])]
    assert [(month, report["files"]) for month, report in reports] == [(1, 31), (2, 29)]
    days = [line["value"] for line in read("month", "files.jsonl") if "value" in line and line["time"][0] == 1]
    assert reports[0][1]["total"] == sum(sum(day["amounts"]) for day in days[:31])
    assert [value["file"] for _, value in results["late"]] == ["2024-01-05-corrected.csv"]


def test_the_line_that_the_page_of_the_month_shows_is_right(tmp_path: Path) -> None:
    path, trace = PIPELINES / "month", tmp_path / "month.jsonl"
    command("-m", "graphs", "run", path / "pipeline.py", "--input", f"files={path / 'files.jsonl'}",
            "--engine", "sim", "--trace", trace, cwd=ROOT)  # fmt: skip
    page = (path / "README.md").read_text(encoding="utf-8")
    shown = page.split("```text\n")[1].split("```")[0]
    for line, files in ((96, 1), (92, 2)):
        said = command(
            "-m", "graphs", "replay", path / "graph.yaml", trace, "--at", str(line), "--why", "month=1", cwd=ROOT
        )
        assert said.count("  input files [1, ") == files
        assert said.endswith(shown) is (files == 1)


def test_without_the_days_the_two_assets_would_need_themselves() -> None:
    data = to_data(load(PIPELINES / "yesterday" / "graph.yaml"))
    for node in data["nodes"].values():
        del node["emits"]
    report = check_graph(from_data(data))
    assert [finding.code for finding in report.diagnostics] == ["PS301"]


def test_the_stock_goes_by_the_orders_of_the_day_before() -> None:
    sold: Counter[int] = Counter()
    for line in read("yesterday", "sales.jsonl"):
        if "value" in line:
            sold[line["time"]] += line["value"]
    stock, orders = [100], [0]
    for day in range(5):
        stock.append(stock[-1] - sold[day] + orders[day])
        orders.append(max(0, 100 - stock[day]))
    expected = read("yesterday", "expected.jsonl")
    assert dict(by_edge(expected, "levels")) == dict(enumerate(stock[1:]))
    assert dict(by_edge(expected, "placed")) == {day: max(0, 100 - level) for day, level in enumerate(stock)}


def collatz(number: int) -> int:
    return 0 if number == 1 else 1 + collatz(number // 2 if number % 2 == 0 else 3 * number + 1)


def test_every_number_goes_round_as_often_as_it_must() -> None:
    numbers = [(line["time"], line["value"]) for line in read("collatz", "numbers.jsonl") if "value" in line]
    expected = read("collatz", "expected.jsonl")
    assert {(time, value["number"], value["steps"]) for time, value in by_edge(expected, "steps")} == {
        (time, number, collatz(number)) for time, number in numbers
    }
    for time, record in by_edge(expected, "record"):
        assert record["steps"] == max(collatz(number) for at, number in numbers if at == time)


def kruskal(edges: list[list[Any]]) -> tuple[int, list[list[str]]]:
    part = {vertex: vertex for one, other, _ in edges for vertex in (one, other)}
    weight, tree = 0, []
    for cost, one, other in sorted((cost, one, other) for one, other, cost in edges):
        left, right = part[one], part[other]
        if left != right:
            weight += cost
            tree.append(sorted([one, other]))
            part = {vertex: left if name == right else name for vertex, name in part.items()}
    return weight, sorted(tree)


def test_the_nested_loops_find_the_smallest_tree() -> None:
    trees = dict(by_edge(read("spanning_tree", "expected.jsonl"), "tree"))
    graphs = {line["time"]: line["value"] for line in read("spanning_tree", "graphs.jsonl") if "value" in line}
    assert trees.keys() == graphs.keys()
    for time, edges in graphs.items():
        assert (trees[time]["weight"], trees[time]["edges"]) == kruskal(edges)
    assert {tree["rounds"] for tree in trees.values()} >= {1, 2, 3}


def test_batch_and_stream_count_the_same_words() -> None:
    lines = [line["value"] for line in read("word_count", "batch.jsonl")]
    assert lines == [line["value"] for line in read("word_count", "stream.jsonl") if "value" in line]
    common = {"a", "and", "in", "is", "it", "of", "that", "the", "to"}
    words = Counter(word.strip(",.").lower() for line in lines for word in line.split())
    words = Counter({word: count for word, count in words.items() if word not in common})
    batch, stream = (read("word_count", f"expected-{mode}.jsonl") for mode in ("batch", "stream"))
    for found in (batch, stream):
        last = dict(word for _, word in sorted(by_edge(found, "counts")))
        assert last == words
        _, report = max(by_edge(found, "reports"), key=lambda pair: pair[0])
        assert report["words"] == words.total()
        assert report["first"] == [list(word) for word in sorted(words.items(), key=lambda w: (-w[1], w[0]))[:3]]
    assert [time for time, _ in by_edge(batch, "reports")] == [0]
    assert sorted(time for time, _ in by_edge(stream, "reports")) == [0, 1, 2]
    assert len(pipeline("word_count").network.nodes) == 7
