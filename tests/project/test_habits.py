"""What lets people keep their habits: the pytest plugin, the hook of pre-commit, the action, clients of `track`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import networkx
import pytest
import yaml

from graphs import Graph
from graphs.assertions import assert_valid_graph, report_of
from progress import PointstampError
from progress.runtime import Dataflow, Relay

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LOOP = ROOT / "examples" / "loop.yaml"
BROKEN = ROOT / "examples" / "broken_loop.yaml"
WITH_COMMAND = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}

# --- pytest -----------------------------------------------------------------------------------------------------------


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_fixtures_are_there_without_any_setting(tmp_path: Path) -> None:
    (tmp_path / "test_graphs.py").write_text(
        f"""
def test_good(assert_valid_graph):
    assert_valid_graph({str(LOOP)!r})

def test_bad(assert_valid_graph):
    assert_valid_graph({str(BROKEN)!r})

def test_report(graph_report):
    assert [found.code for found in graph_report({str(BROKEN)!r}).diagnostics] == ["PS201", "PS301"]
"""
    )
    ran = pytest_in(tmp_path, "--no-header")
    assert "1 failed, 2 passed" in ran.stdout, ran.stdout
    assert "PS201 sends-into-the-past" in ran.stdout  # the report of the command
    assert ">       assert_valid_graph(" in ran.stdout  # the line of the test
    assert "assertions.py" not in ran.stdout.replace("assertions.py:", "")  # and none of this project


def test_it_costs_nothing_where_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        """
import sys

def test_other(request):
    assert request.config.pluginmanager.hasplugin("pointstamp")
    ours = [name for name in sys.modules if name.split(".")[0] in ("pointstamp", "graphs", "progress", "recursion")]
    assert sorted(ours) == ["pointstamp", "pointstamp.pytest_plugin"]
"""
    )
    ran = pytest_in(tmp_path)
    assert ran.returncode == 0, ran.stdout


def graph_with_a_warning() -> Graph:
    graph = Graph().node("a").node("b", notify=False)
    return graph.edge(None, "a", id="in").edge("a", "b")


def test_what_is_a_graph_for_the_assertion() -> None:
    drawing: Any = networkx.DiGraph([("a", "b")])
    flow = Dataflow(Graph().node("a").edge(None, "a", id="in").edge("a", None, id="out"), {"a": Relay()})
    for given in (LOOP, str(LOOP), drawing, flow, {"pointstamp": 1, "nodes": {"a": {}}, "edges": []}):
        assert assert_valid_graph(given).valid
    for bad, says in (
        ("nowhere.yaml", "PS001"),
        ({"pointstamp": 1, "nodes": 3}, "PS007"),
        (7, "PS617"),
        (networkx.Graph(), "undirected"),
        (BROKEN, "PS201"),
    ):
        with pytest.raises(AssertionError, match=says):
            assert_valid_graph(bad)


def test_a_graph_of_another_tool_is_named_as_for_the_command(tmp_path: Path) -> None:
    (tmp_path / "drawings.py").write_text(
        "import networkx\n"
        "standing = networkx.DiGraph([('a', 'b'), ('b', 'a')])\n"
        "moving = networkx.DiGraph()\n"
        "moving.add_edge('a', 'b', summary={'advance': 1})\n"
        "moving.add_edge('b', 'a')\n"
        "both_ways = networkx.Graph([('a', 'b')])\n"
        "number = 3\n"
    )
    file = tmp_path / "drawings.py"
    assert assert_valid_graph(f"{file}:moving", tool="networkx").valid
    for name, says in (("standing", "PS301"), ("both_ways", "undirected"), ("number", "PS903"), ("none", "PS903")):
        with pytest.raises(AssertionError, match=says):
            assert_valid_graph(f"{file}:{name}", tool="networkx")
    with pytest.raises(PointstampError, match="PS901"):
        assert_valid_graph("x:y", tool="networks")
    ran = subprocess.run([BIN / "pointstamp", "check", "--from", "networkx", f"{file}:standing"], capture_output=True)
    assert ran.returncode == 1


def test_findings_are_left_out_and_warnings_counted_as_asked() -> None:
    graph = graph_with_a_warning()
    assert [found.code for found in report_of(graph).diagnostics] == ["PS403"]
    assert_valid_graph(graph)
    with pytest.raises(AssertionError, match="PS403"):
        assert_valid_graph(graph, strict=True)
    assert assert_valid_graph(graph, strict=True, ignore="dangling").diagnostics == []
    assert assert_valid_graph(BROKEN, ignore=["PS201", "PS301"]).valid
    with pytest.raises(PointstampError, match="PS614"):
        assert_valid_graph(graph, ignore=["PS999"])


# --- pre-commit, GitHub -----------------------------------------------------------------------------------------------


def test_the_hook_calls_the_command_with_files_of_its_pattern() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    command, *arguments = hook["entry"].split()
    assert command in scripts
    assert hook["language"] == "python"
    pattern = re.compile(hook["files"])
    assert [
        bool(pattern.search(name)) for name in ("a/b.graph.yaml", "b.graph.json", "b.yaml", "b.graph.yaml.orig")
    ] == [
        True,
        True,
        False,
        False,
    ]
    for files, code in (([LOOP], 0), ([LOOP, BROKEN], 1)):
        ran = subprocess.run([BIN / command, *arguments, *files], capture_output=True, check=False)
        assert ran.returncode == code


def action_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    return steps


def test_the_action_says_what_is_wrong_at_the_lines_of_the_files(tmp_path: Path) -> None:
    install, check = action_steps()
    assert '"$PLACE/bin/pip"' in install["run"]
    for script in (install, check):
        for value in script["env"].values():
            assert not re.search(r"\$\{\{(?! (inputs|github|runner)\.\w+ \}\})", value)
        assert "${{" not in script["run"]  # what others write never becomes a part of a script
    place = tmp_path / "place"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "pointstamp").symlink_to(BIN / "pointstamp")
    folder = tmp_path / "work"
    (folder / "deep" / "er").mkdir(parents=True)
    shutil.copy(BROKEN, folder / "deep" / "er" / "broken.yaml")
    shutil.copy(LOOP, folder / "loop.yaml")

    def run(files: str, arguments: str = "") -> subprocess.CompletedProcess[str]:
        given = {"PLACE": str(place), "FILES": files, "ARGUMENTS": arguments}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", check["run"]],
            cwd=folder,
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            check=False,
        )

    found = run("**/*.yaml")
    assert found.returncode == 1
    assert re.match(
        r"::error file=deep/er/broken\.yaml,line=\d+,col=\d+,title=PS201 sends-into-the-past::", found.stdout
    )
    assert run("loop.yaml").returncode == 0
    assert run("**/*.yaml", "--ignore PS201,PS301").returncode == 0
    assert run("$(touch taken)").returncode == 2
    assert not (folder / "taken").exists()


# --- clients of track -------------------------------------------------------------------------------------------------

SAYS = "body is complete at 0\nrefused: PS507\n"


@pytest.fixture(scope="module")
def languages() -> None:
    """Node.js, Go and rustc are there, or one line says which is missing."""
    made = subprocess.run(
        ["sh", str(ROOT / "scripts" / "set_up_clients.sh")], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("apt", "says"),
    [
        (None, "missing: nodejs golang-go rustc; install these packages, then run again"),
        ("exit 100", "apt-get could not install nodejs golang-go rustc"),
        ("exit 0", "apt-get says that it has installed nodejs golang-go rustc, which cannot be found"),
        ('for each in node go rustc; do echo >"${0%/*}/$each"; chmod +x "${0%/*}/$each"; done', None),
    ],
)
def test_languages_that_are_missing_are_fetched_or_named(tmp_path: Path, apt: str | None, says: str | None) -> None:
    """On a machine whose PATH has none of them, as root; `apt` is what its apt-get does."""
    for name in ("sh", "chmod"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    for name, does in (("id", "echo 0"), *([("apt-get", apt)] if apt else [])):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    script = str(ROOT / "scripts" / "set_up_clients.sh")
    run = subprocess.run(
        ["sh", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.returncode, run.stderr) == ((1, f"set-up of clients: {says}\n") if says else (0, ""))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("track.mjs", ["node"]),
        ("track.go", ["go", "build", "-o", "client", "track.go"]),
        ("track.rs", ["rustc", "-D", "warnings", "-o", "client", "track.rs"]),
    ],
)
def test_a_client_talks_to_the_command(languages: None, tmp_path: Path, name: str, build: list[str]) -> None:
    shutil.copy(ROOT / "examples" / "clients" / name, tmp_path)
    shutil.copy(LOOP, tmp_path)
    run = [*build, name]
    if len(build) > 1:
        made = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        run = ["./client"]
    ran = subprocess.run(
        [*run, "loop.yaml"], cwd=tmp_path, env=WITH_COMMAND, capture_output=True, text=True, check=False, timeout=120
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, SAYS, "")
