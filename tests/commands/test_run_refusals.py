"""What `pointstamp run` refuses of the files around it, and how it says that it could not write (docs/running.md)."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from progress import PointstampError
from progress.runtime.durable import order_log
from progress.runtime.durable.order_log import OrderLog
from progress.runtime.on_spark.tables.kept_frames import FOLDER, LOOKS
from tests.commands.pipelines import (
    COMMAND,
    ENGINES,
    PATIENCE,
    TOTALS,
    TOTALS_YAML,
    Result,
    environment,
    run,
    started,
    write,
)

LINES = '{"time": 0, "value": 3}\n{"time": 1, "value": 5}\n'
RUN = ("totals.py", "--input", "numbers=in.jsonl")
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, in__jsonl=LINES)
    return tmp_path


def in_shell(folder: Path, script: str) -> Result:
    """Run a line of sh, in which `pointstamp` is the command."""
    done = subprocess.run(
        ["sh", "-c", script.replace("pointstamp", COMMAND)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


# --- what cannot be written -----------------------------------------------------------------------------------------


@every_engine
@pytest.mark.parametrize("option", ["--output totals=/dev/full", "--trace /dev/full"])
def test_a_file_without_room_is_named(folder: Path, engine: str, option: str) -> None:
    result = run(folder, *RUN, *option.split(), "--engine", engine)
    assert result.exit_code == 2
    assert result.complaint.startswith("pointstamp: PS740: cannot write /dev/full: no space left on device (")


@pytest.mark.parametrize("command", ["run totals.py --input numbers=in.jsonl", "check totals.yaml", "explain PS201"])
def test_standard_output_without_room_is_named(folder: Path, command: str) -> None:
    result = in_shell(folder, f"pointstamp {command} > /dev/full")
    assert result.exit_code == 2
    name = "standard output" if command.startswith("run") else "the answer"
    assert result.complaint.startswith(f"pointstamp: PS740: cannot write {name}: no space left on device (")


@every_engine
def test_a_file_that_may_grow_no_more_is_named_and_the_run_goes_on_later(folder: Path, engine: str) -> None:
    write(folder, in__jsonl="".join(f'{{"time": {n}, "value": {n}}}\n' for n in range(200)))
    command = f"{' '.join(RUN)} --output totals=out --state state --every 0 --engine {engine}"
    result = in_shell(folder, f"ulimit -f 64; pointstamp run {command}")
    assert result.exit_code == 2
    assert result.complaint.startswith("pointstamp: PS740: cannot write ")
    assert "file too large" in result.complaint or "write state/checkpoint: disk i/o error" in result.complaint
    assert run(folder, *command.split()) == Result(0, "", "")
    lines = (folder / "out").read_text().splitlines()
    assert [line for line in lines if "value" in line] == [f'{{"time": {n}, "value": {n}}}' for n in range(200)]


# --- what cannot be read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "track totals.yaml",
        "ask totals.yaml",
        "check -",
        "replay totals.yaml -",
        "run totals.py --input numbers=-",
        "run own.py",
    ],
)
def test_standard_input_that_cannot_be_read_is_refused_in_one_line(folder: Path, command: str) -> None:
    """A folder there is refused by Python itself, before any code of this project is run."""
    source = 'sources={"numbers": JsonLines("-")}'
    code = TOTALS.replace('"total": Total()}', f'"total": Total()}}, {source}').replace(
        "import load", "import JsonLines, load"
    )
    write(folder, own__py=code)
    result = in_shell(folder, f"pointstamp {command} 0> other")
    assert result.exit_code == 2
    assert "PS001" in result.err + result.out
    assert len(result.err.splitlines()) <= 1
    assert "bad file descriptor" in result.err + result.out
    assert "Traceback" not in result.err


# --- files of others ------------------------------------------------------------------------------------------------


OWN = ["totals.yaml", "helper.py", "settings.json", "./deep/../totals.yaml", "linked", "hard"]


@pytest.mark.parametrize(("file", "option"), [*((file, "--output totals=") for file in OWN), (OWN[0], "--trace ")])
def test_no_output_goes_onto_a_file_of_the_pipeline(folder: Path, file: str, option: str) -> None:
    code = 'import helper\nhelper.settings = open("settings.json").read()\n'
    write(folder, totals__py=code + TOTALS, helper__py="settings = None\n", settings__json="{}")
    (folder / "deep").mkdir()
    (folder / "linked").symlink_to("helper.py")
    os.link(folder / "totals.yaml", folder / "hard")
    assert run(folder, *RUN).exit_code == 0  # Python has compiled the module now, and reads it no more
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = run(folder, *RUN, *f"{option}{file}".split())
    assert result.exit_code == 2
    assert result.complaint.endswith(f'"{file}" is a file that totals.py reads (a file of its own)')
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@every_engine
def test_no_output_goes_onto_the_file_of_a_run_that_goes_on(folder: Path, engine: str) -> None:
    first = started(folder, "totals.py", "--input", "numbers=-", "--output", "totals=out", "--engine", engine)
    try:
        assert first.stdin is not None
        first.stdin.write(b'{"time": 0, "value": 3}\n{"complete": [1]}\n')
        first.stdin.flush()
        begin = time.monotonic()
        while not (folder / "out").exists() or b"complete" not in (folder / "out").read_bytes():
            assert time.monotonic() - begin < PATIENCE
            time.sleep(0.01)
        before = (folder / "out").read_bytes()
        for option in (("--output", "totals=out"), ("--trace", "./out")):
            result = run(folder, *RUN, *option)
            assert result.exit_code == 2
            assert result.complaint.startswith("pointstamp: another run writes ")
            assert (folder / "out").read_bytes() == before
        assert run(folder, "totals.py", "--input", "numbers=out").exit_code in (0, 2)  # it may be read
        _, err = first.communicate(timeout=PATIENCE)
        assert (first.returncode, err) == (0, b"")
    finally:
        first.kill()
        first.wait()
    assert run(folder, *RUN, "--output", "totals=out") == Result(0, "", "")


# --- the folder of the state ----------------------------------------------------------------------------------------

KEPT = (*RUN, "--output", "totals=out", "--state", "deep/state")


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.iterdir())}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_folder_of_a_state_is_its_owners_alone(folder: Path, umask: int) -> None:
    result = in_shell(folder, f"umask {umask:o}; pointstamp run {' '.join(KEPT)}")
    assert result == Result(0, "", "")
    state = folder / "deep" / "state"
    assert modes(state) == {"state": "0o700", **dict.fromkeys(("checkpoint", "head", "lock"), "0o600")}
    assert stat.S_IMODE((folder / "deep").stat().st_mode) == 0o777 & ~umask, "folders on the way are as any other"
    assert stat.S_IMODE((folder / "out").stat().st_mode) == 0o666 & ~umask, "outputs are for others to read"


@pytest.mark.parametrize("there", ["", FOLDER, LOOKS])
def test_a_folder_that_others_may_read_is_hidden(folder: Path, there: str) -> None:
    """One that is empty, or has what a run on Spark makes there."""
    (folder / "deep" / "state" / there).mkdir(parents=True)
    (folder / "deep" / "state").chmod(0o755)
    assert run(folder, *KEPT) == Result(0, "", "")
    assert modes(folder / "deep" / "state")["state"] == "0o700"


def test_a_folder_with_other_things_in_it_keeps_its_rights(folder: Path) -> None:
    """As the current folder would be, or a home: nobody asked for it to be hidden."""
    state = folder / "deep" / "state"
    state.mkdir(parents=True)
    state.chmod(0o755)
    write(state, others="what is there\n")
    for _ in range(2):
        assert run(folder, *KEPT) == Result(0, "", "")
        assert modes(state) == {
            "state": "0o755",
            "others": modes(state)["others"],
            **dict.fromkeys(("checkpoint", "head", "lock"), "0o600"),
        }


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    state = folder / "deep" / "state"
    state.mkdir(parents=True)
    state.chmod(mode)
    result = run(folder, *KEPT)
    assert result.exit_code == 2
    assert result.complaint.startswith("pointstamp: PS730: others may write to deep/state")
    assert ([*state.iterdir()], (folder / "out").exists()) == ([], False)
    state.chmod(0o700)
    assert run(folder, *KEPT) == Result(0, "", "")


AS_ANOTHER = """
import os, sys
import graphs.command, graphs.running.run
from progress.runtime.durable import folder
os.geteuid = lambda: 12345
sys.exit(graphs.command.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("what", ["deep/state", "deep/state/checkpoint"])
def test_what_belongs_to_somebody_else_is_refused(folder: Path, what: str) -> None:
    """Who this process is is changed, and for the checkpoint who owns the folder: tests own all their files."""
    assert run(folder, *KEPT) == Result(0, "", "")
    code = AS_ANOTHER
    if what.endswith("checkpoint"):
        code = code.replace("os.geteuid =", "folder._check_private = lambda path: None\nos.geteuid =")
    done = subprocess.run(
        [sys.executable, "-c", code, "run", *KEPT],
        cwd=folder,
        env=environment(PYTHONPATH=str(Path(__file__).parents[2])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"pointstamp: PS730: {what} belongs to another user, of number {os.geteuid()}, ")
    assert len(done.stderr.splitlines()) == 1


def test_names_are_on_the_disk_before_what_depends_on_them(folder: Path) -> None:
    """Each folder that is made is synced where it was made, and so is the folder of each output."""
    code = """
import os, sys
fsync, synced = os.fsync, []
def noted(handle):
    synced.append(os.readlink(f"/proc/self/fd/{handle}"))
    fsync(handle)
os.fsync = noted
from graphs.command import main
code = main(sys.argv[1:])
print("\\n".join(synced))
sys.exit(code)
"""
    (folder / "results").mkdir()
    command = [part.replace("totals=out", "totals=results/out") for part in KEPT]
    done = subprocess.run(
        [sys.executable, "-c", code, "run", *command],
        cwd=folder,
        env=environment(PYTHONPATH=str(Path(__file__).parents[2])),
        capture_output=True,
        text=True,
        check=True,
    )
    synced = [str(Path(line).relative_to(folder)) for line in done.stdout.splitlines()]
    for places in ((".", "deep", "deep/state/head", "deep/state", "results/out"), (".", "results", "results/out")):
        assert [synced.index(name) for name in places] == sorted(synced.index(name) for name in places)


@pytest.mark.parametrize(("trials", "is_taken"), [(3, True), (1_000_000, False)])
def test_an_order_whose_file_cannot_be_opened_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: int, is_taken: bool
) -> None:
    """A checkpoint needs no descriptor that a run does not have already; the order behind it does."""
    left = trials
    opened = os.open

    def refusing(file: Any, *more: Any) -> int:
        nonlocal left
        if left:
            left -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(file, *more)

    monkeypatch.setattr(os, "open", refusing)
    monkeypatch.setattr(order_log, "AGAIN", 0.0)
    monkeypatch.setattr(order_log, "PATIENCE", PATIENCE if is_taken else 0.05)
    log = OrderLog(tmp_path, 5, is_read=False)
    if is_taken:
        log.write(b"something")
        log.close()
        assert (tmp_path / "order.5").read_bytes() == b"something"
        assert left == 0
    else:
        with pytest.raises(PointstampError, match=r"PS740: cannot write .*order\.5: too many open files"):
            log.write(b"something")
        assert left < trials - 1
