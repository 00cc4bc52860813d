"""An interrupt while the command starts, or comes to its end, ends it without a word."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.pipelines import PATIENCE, TOTALS, TOTALS_YAML, environment, write

# What the installed script does; an interrupt comes when something is imported for the n-th time, or when all is over.
SCRIPT = """
import atexit, os, sys
from pointstamp.__main__ import main
at, seen = int(sys.argv.pop(1)), 0
def interrupt():
    os.kill(os.getpid(), 2)
def hear(event, arguments):
    global seen
    if event == "import":
        seen += 1
        if seen == at:
            interrupt()
sys.addaudithook(hear)
code = main()
if at == 0:
    print(seen, file=sys.stderr)
elif at < 0:
    atexit.register(interrupt)
sys.exit(code)
"""
COMMANDS = {
    "check": ("check", "totals.yaml"),
    "run": ("run", "totals.py", "--input", "numbers=in.jsonl", "--output", "totals=out"),
    "track": ("track", "totals.yaml"),
}


def interrupted(folder: Path, at: int, command: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(at), *COMMANDS[command]],
        cwd=folder,
        env=environment(PYTHONPATH=str(Path(__file__).parents[2])),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_import_ends_the_command_without_a_word(tmp_path: Path, command: str) -> None:
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, in__jsonl='{"time": 0, "value": 3}\n')
    code, err = interrupted(tmp_path, 0, command)
    assert code == 0
    imports = int(err)
    assert imports > 50
    for at in (1, 2, *range(7, imports, imports // 5), imports, -1):
        assert interrupted(tmp_path, at, command) == (130, ""), f"at import {at} of {imports}"


def test_an_interrupt_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """As for what is started by nohup, or in the background of a script."""
    write(tmp_path, totals__yaml=TOTALS_YAML)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert interrupted(tmp_path, 60, "check") == (0, "")
    finally:
        signal.signal(signal.SIGINT, before)
