"""The mutants of `make mutants` still apply: each names a text that occurs once."""

from __future__ import annotations

import pytest

from tests.project.mutants import (
    ALGORITHMS,
    COPIED,
    ENGINE,
    KERNEL,
    MUTANTS,
    PROJECT,
    RECOVERY,
    RECURSION,
    SEMANTICS,
    Mutant,
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_applies(mutant: Mutant) -> None:
    source = (PROJECT / mutant.file).read_text()
    assert source.count(mutant.old) == 1
    assert mutant.new != mutant.old


def test_there_are_enough_of_them() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len(ALGORITHMS) >= 15
    assert len(ENGINE) >= 15
    assert len(RECURSION) >= 15
    assert len(RECOVERY) >= 15
    assert len(SEMANTICS) >= 40
    files = {mutant.file for mutant in ENGINE}
    assert "progress/engines/eager.py" in files
    assert any(file.startswith(KERNEL) for file in files)


@pytest.mark.parametrize("suite", sorted({mutant.suite for mutant in MUTANTS}))
def test_its_suite_is_there(suite: tuple[str, ...]) -> None:
    assert all((PROJECT / test.partition("::")[0]).is_file() for test in suite)


def test_every_package_is_copied_so_that_none_is_taken_from_where_nothing_is_broken() -> None:
    assert {file.parent.name for file in PROJECT.glob("*/__init__.py")} <= {*COPIED}
