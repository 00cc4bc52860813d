"""Pipelines that one process loads one after the other: each has the modules beside it, whatever they are called."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from graphs.adapters.target import load_module
from graphs.beside import look_first_in
from graphs.command import main
from graphs.running.pipeline import load_pipeline

PIPELINE = """
from pathlib import Path
from pointstamp import Dataflow, Graph
from helper import NAME
{words}

graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
dataflow = Dataflow(graph, {{"a": lambda value: f"{{value}} {{NAME}} {{word}}"}})
"""


def written(folder: Path, words: str, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in {"helper.py": f"NAME = {folder.name!r}\n", **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "pipeline.py").write_text(PIPELINE.format(words=words), "utf-8")
    (folder / "in.jsonl").write_text('{"time": 0, "value": "x"}\n', "utf-8")
    return folder


def says(folder: Path) -> str:
    command = ["run", str(folder / "pipeline.py"), "--input", f"in={folder / 'in.jsonl'}"]
    assert main([*command, "--output", f"out={folder / 'out.jsonl'}"]) == 0
    lines = map(json.loads, (folder / "out.jsonl").read_text("utf-8").splitlines())
    (found,) = [line["value"] for line in lines if "value" in line]
    (folder / "out.jsonl").unlink()
    return str(found)


def test_each_has_the_modules_beside_it_whichever_was_loaded_before(tmp_path: Path) -> None:
    """`shop` is a module of one, and a package of the others."""
    one = written(tmp_path / "one", "from shop import word", {"shop.py": "word = 'module'\n"})
    two, three = (
        written(
            tmp_path / name,
            "from shop.words import word",
            {"shop/__init__.py": "", "shop/words.py": f"word = 'package of {name}'\n"},
        )
        for name in ("two", "three")
    )
    path = list(sys.path)
    wanted = {one: "x one module", two: "x two package of two", three: "x three package of three"}
    for folder in (one, two, three, one, three, two, two):
        assert says(folder) == wanted[folder]
        assert sys.path[0] == str(folder)
    assert sys.path == [*map(str, (two, three, one)), *path]


def test_what_came_from_elsewhere_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of Python's, one of a folder that somebody has named, and one that only the other pipeline has."""
    named = tmp_path / "named"
    named.mkdir()
    (named / "helper.py").write_text("NAME = 'named'\n", "utf-8")
    monkeypatch.syspath_prepend(named)
    import helper  # type: ignore[import-not-found]

    broken = {"json.py": "raise ValueError\n"}
    one = written(tmp_path / "one", "from only import word", {"only.py": "word = 'only'\n", **broken})
    two = written(tmp_path / "two", "word = 0", broken)
    python, only = sys.modules["json"], ""
    for folder in (one, two):
        load_pipeline(str(folder / "pipeline.py"))
        assert sys.modules["helper"] is helper
        assert sys.modules["json"] is python
        only = only or str(sys.modules["only"].__file__)
    assert str(sys.modules["only"].__file__) == only == str(one / "only.py")


def test_files_that_are_targets_have_the_modules_beside_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (written(tmp_path / name, "", {}) / f"target_of_{name}.py").write_text("from helper import NAME\n", "utf-8")
    for name in ("one", "two", "one"):
        found = load_module(str(tmp_path / name / f"target_of_{name}.py"))
        assert vars(found)["NAME"] == name


def test_a_folder_that_somebody_has_named_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "before")
    path = list(sys.path)
    look_first_in(tmp_path)
    assert sys.path == path
