"""The mutants of `make mutants` still apply: each names a text that occurs once."""

from __future__ import annotations

import ast
import signal
import sys
from pathlib import Path

import pytest

from tests.project.mutants import algorithms, engines, kernel, recovery, recursion, semantics, trying
from tests.project.mutants.every import MUTANTS, SUBJECTS
from tests.project.mutants.mutant import KERNEL, Mutant
from tests.project.mutants.trying import COPIED, PROJECT, Spent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_applies(mutant: Mutant) -> None:
    source = (PROJECT / mutant.file).read_text()
    assert source.count(mutant.old) == 1
    assert mutant.new != mutant.old


def test_there_are_enough_of_them() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len(algorithms.MUTANTS) >= 15
    assert len(engines.MUTANTS) >= 15
    assert len(recursion.MUTANTS) >= 15
    assert len(recovery.MUTANTS) >= 15
    assert len(semantics.MUTANTS) >= 40
    assert "progress/engines/eager.py" in {mutant.file for mutant in engines.MUTANTS}
    assert all(mutant.file.startswith(KERNEL) for mutant in kernel.MUTANTS)


def test_each_subject_is_tried() -> None:
    modules = {file.stem for file in (PROJECT / "tests/project/mutants").glob("*.py")}
    subjects = {subject.__name__.rpartition(".")[2] for subject in SUBJECTS}
    assert modules == subjects | {"__main__", "every", "mutant", "trying"}


@pytest.mark.parametrize("suite", sorted({mutant.suite for mutant in MUTANTS}))
def test_its_suite_is_there(suite: tuple[str, ...]) -> None:
    for test in suite:
        file, _, name = test.partition("::")
        tree = ast.parse((PROJECT / file).read_text("utf-8"))
        tests = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        assert any(each.startswith("test_") for each in tests), f"{file} has no tests"
        assert not name or name.partition("[")[0] in tests, f"{file} has no test {name}"


ENDLESS = {
    "it goes round and round": "while True: pass",
    "it waits for ever": "import time; time.sleep(1e6)",
}


@pytest.mark.parametrize("program", ENDLESS.values(), ids=ENDLESS)
def test_what_does_not_come_to_an_end_is_ended(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "STARTING", 0.1)
    code, _, spent = trying.run_within([sys.executable, "-c", program], tmp_path, Spent(0.1, 0.1))
    assert code in (-signal.SIGXCPU, -signal.SIGKILL)
    assert spent.processor < 60


def test_what_takes_long_beside_other_work_is_not_ended(tmp_path: Path) -> None:
    """Its own time counts, and how long the same took before: no limit is a number of seconds alone."""
    code, said, _ = trying.run_within(["sh", "-c", "sleep 0.5; echo done; exit 1"], tmp_path, Spent(0.0, 0.1))
    assert (code, said) == (1, "done\n")


def test_every_package_is_copied_so_that_none_is_taken_from_where_nothing_is_broken() -> None:
    assert {file.parent.name for file in PROJECT.glob("*/__init__.py")} <= {*COPIED}
