"""Six pipelines harmed at every call of the system that changes files: killed there, up to five times, or failed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.commands.pipelines import killed_everywhere
from tests.kills.program import WITNESS, Program, rows_of
from tests.kills.programs import PROGRAMS

NO_WITNESS = "import time\n\ndef saw(*what):\n    time.sleep(PAUSE)\n"
DEEP = 5  # kills one after the other: those in recovery of recovery included
of_each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
of_each_harm = pytest.mark.parametrize("error", [0, errno.ENOSPC, errno.EIO], ids=["killed", "ENOSPC", "EIO"])


def check(folder: Path, program: type[Program], error: int, every: int, engine: str) -> list[list[int]]:
    """How the children of each round ended. What has left once stays, and each failure is one line.

    Where the disk fails, the pipeline does not; so a line that says so is all that there is.
    """
    made = program("harmed", 2)
    made.files["killed.py"] = made.files["killed.py"].replace(WITNESS, NO_WITNESS)
    for name, text in made.files.items():
        (folder / name).write_text(text)
    ends = [word for each in made.arguments() for word in each.split("=", 1)]  # outputs are found by their option
    keep = ("--state", "state", "--every", "0", "--delivery", "deterministic", "--engine", engine)
    rounds = killed_everywhere(folder, every, *ends, *keep, error=error, deep=DEEP)
    for each in rounds:
        texts = each["texts"]
        assert all(texts[name].startswith(text) for before in each["before"] for name, text in before.items()), each
        rows = {name: rows_of(texts.get(name, "")) for name in made.outputs}
        assert not any(made.judge(rows, may_repeat=False)), each
        failed = [code for code in each["codes"] if code not in (0, -9)]
        assert len(each["said"]) == len(failed), each
        assert all(line.startswith("pointstamp: ") and line.endswith(")") for line in each["said"]), (
            each
        )  # what would be right
        assert {*failed} <= {1, 2}
    return [each["codes"] for each in rounds]


@pytest.mark.slow
@of_each_harm
@of_each_program
def test_harmed_at_some_calls(tmp_path: Path, program: type[Program], error: int) -> None:
    number = PROGRAMS.index(program)
    codes = check(tmp_path, program, error, 77, ("threads", "asyncio", "sim")[number % 3])
    assert max(map(len, codes)) > 3


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@of_each_harm
@of_each_program
def test_harmed_at_every_call(tmp_path: Path, program: type[Program], error: int, engine: str) -> None:
    codes = check(tmp_path, program, error, 1, engine)
    assert max(map(len, codes)) == DEEP + 1
