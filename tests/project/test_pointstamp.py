"""The package `pointstamp`: what it has, what importing it costs, and what it says where a package is not its own."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pointstamp

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("progress", "recursion", "graphs")

# The beginning of what the library of progress bars has in its place.
BARS = """# Copyright (c) 2012 Georgios Verigakis <verigak@gmail.com>
from __future__ import division, print_function
class Infinite(object):
    pass
class Progress(Infinite):
    pass
"""


def python(*arguments: str, path: Path = ROOT, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Python with this on its path, away from this project unless `path` says so."""
    environment = os.environ | {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_every_name_is_that_of_the_package_where_it_lives() -> None:
    stub = ast.parse((ROOT / "pointstamp" / "__init__.pyi").read_text(encoding="utf-8"))
    declared = {}
    for statement in stub.body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                assert alias.asname == alias.name
                declared[alias.name] = statement.module
    assert sorted(declared) == pointstamp.__all__
    assert set(dir(pointstamp)) >= set(declared)
    for name, module in declared.items():
        assert module is not None
        __import__(module)
        assert getattr(pointstamp, name) is getattr(sys.modules[module], name)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Grap'"):
        getattr(pointstamp, "Grap")  # noqa: B009 - mypy knows that it is not there
    assert re.fullmatch(r"\d+\.\d+\.\d+", pointstamp.__version__)


def test_importing_it_imports_nothing_else_of_the_project() -> None:
    code = "import sys; before = set(sys.modules); import pointstamp; print(*sorted(set(sys.modules) - before))"
    run = python("-c", code)
    assert run.stdout.split() == ["pointstamp"], run.stderr


def test_a_name_of_the_engine_brings_the_engine_alone() -> None:
    code = "import sys; from pointstamp import Tracker; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(python("-c", code).stdout.split())
    assert "progress" in loaded
    assert not loaded & {"graphs", "recursion", "yaml", "numpy", "pyspark", "networkx"}


def test_python_m_pointstamp_is_the_command() -> None:
    run = python("-m", "pointstamp", "check", "examples/loop.yaml")
    assert (run.returncode, run.stderr) == (0, "")
    assert "good" in run.stdout
    assert python("-m", "pointstamp", "--version").stdout.startswith("pointstamp ")


def test_documentation_and_examples_import_what_it_has_from_it() -> None:
    """Nothing that `pointstamp` re-exports is imported from elsewhere in what users read."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    offending = []
    for page in pages:
        for line in page.read_text(encoding="utf-8").splitlines():
            found = re.match(r" *from (graphs|progress|progress\.runtime|graphs\.command) import (.+)", line)
            if found and set(re.findall(r"\w+", found[2])) & set(pointstamp.__all__):
                offending.append(f"{page.relative_to(ROOT)}: {line.strip()}")
    assert not offending


# --- another distribution's package in place of one of ours -----------------------------------------------------------


def copied(folder: Path) -> Path:
    """The packages as an installation has them, in a folder of their own."""
    for name in (*PACKAGES, "pointstamp"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "kernel", "*.so"))
    return folder


def check_complaint(path: Path, folder: Path, package: str, *words: str) -> None:
    """Import and command say so in one line each, with what to do."""
    command = python("-S", "-m", "pointstamp", "--version", path=path, folder=folder)
    assert (command.returncode, command.stdout) == (2, "")
    (line,) = command.stderr.splitlines()
    for word in (repr(package), "install Pointstamp again", *words):
        assert word in line
    imported = python("-S", "-c", "from pointstamp import load", path=path, folder=folder)
    assert imported.returncode == 1
    assert imported.stderr.splitlines()[-1] == f"ImportError: {line.removeprefix('pointstamp: ')}"
    assert len([each for each in imported.stderr.splitlines() if package in each]) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_that_was_overwritten(package: str, tmp_path: Path) -> None:
    there = copied(tmp_path / "site")
    (there / package / "__init__.py").write_text(BARS)
    check_complaint(there, tmp_path, package, f"pip uninstall {package}", str(there / package))


def test_a_package_in_front_of_ours(tmp_path: Path) -> None:
    front = tmp_path / "front"
    (front / "progress").mkdir(parents=True)
    (front / "progress" / "__init__.py").write_text(BARS)
    check_complaint(Path(f"{front}{os.pathsep}{ROOT}"), tmp_path, "progress", "pip uninstall progress", str(front))


def test_a_package_of_which_uninstalling_the_other_has_left_a_part(tmp_path: Path) -> None:
    there = copied(tmp_path / "site")
    (there / "progress" / "__init__.py").unlink()
    check_complaint(there, tmp_path, "progress", "missing or damaged")


def test_the_distribution_that_has_put_it_there_is_named(tmp_path: Path) -> None:
    there = copied(tmp_path / "site")
    (there / "progress" / "__init__.py").write_text(BARS)
    described = there / "progress-1.6.1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: progress\nVersion: 1.6.1\n")
    (described / "RECORD").write_text("progress/__init__.py,,\n")
    (described / "top_level.txt").write_text("progress\n")
    check_complaint(there, tmp_path, "progress", "the distribution 'progress' has put its own there")


@pytest.mark.parametrize("own", ["recursion.py", "progress/__init__.py", "graphs.py"])
def test_a_file_of_ones_own_with_the_name_of_a_package(own: str, tmp_path: Path) -> None:
    """No distribution has put it there, so there is none to uninstall."""
    file = tmp_path / own
    file.parent.mkdir(exist_ok=True)
    file.write_text("print('mine')\n")
    hiding = file.parent if file.name == "__init__.py" else file
    says = f"{hiding} stands in front of Pointstamp's package {hiding.stem!r}; give it another name"
    command = python("-m", "pointstamp", "--version", path=ROOT, folder=tmp_path)
    assert (command.returncode, command.stdout, command.stderr) == (2, "", f"pointstamp: {says}\n")
    imported = python("-c", "from pointstamp import load", path=ROOT, folder=tmp_path)
    assert imported.stderr.splitlines()[-1] == f"ImportError: {says}"
    (tmp_path / "program.py").write_text("from pointstamp import load\n")
    program = python("program.py", path=ROOT, folder=tmp_path)
    assert program.stderr.splitlines()[-1] == f"ImportError: {says}"


def test_the_installed_command_looks_first(tmp_path: Path) -> None:
    """What `[project.scripts]` names is importable whatever is in place of the other packages."""
    there = copied(tmp_path / "site")
    (there / "progress" / "__init__.py").write_text(BARS)
    run = python(
        "-c", "import sys; from pointstamp.__main__ import main; sys.exit(main())", path=there, folder=tmp_path
    )
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1


def test_what_is_not_a_graph_is_refused_in_words() -> None:
    wrong: Any
    asks: list[Callable[[Any], Any]] = [
        pointstamp.Tracker,
        pointstamp.CouldResultIn,
        pointstamp.Dataflow,
        pointstamp.check_conditions,
        pointstamp.check_graph,
        pointstamp.from_networkx,
        pointstamp.to_data,
        pointstamp.to_networkx,
        lambda graph: pointstamp.compose(pointstamp.Graph(), graph),
        lambda graph: pointstamp.call(graph, {}, 3),
        lambda graph: pointstamp.close(graph, []),
        lambda graph: pointstamp.eligible(graph),
        lambda graph: pointstamp.check_behaviours(graph, {}, {}),
    ]
    for wrong in ("loop.yaml", 5, None, pointstamp.Graph):
        for ask in asks:
            with pytest.raises(pointstamp.PointstampError, match=r"PS617: .* is not a graph"):
                ask(wrong)


def test_a_name_that_is_nearly_right_is_found_by_python() -> None:
    run = python("-c", "import pointstamp; pointstamp.Grap")
    assert run.stderr.splitlines()[-1].endswith("Did you mean: 'Graph'?")
