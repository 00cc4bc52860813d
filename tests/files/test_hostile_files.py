"""Every hostile file is answered by the command: the right exit code, one clear line, no traceback, 2 s, 512 MB."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.commands.forked import Forked
from tests.files.hostile_files import YAML, Hostile, cases, large_mistakes

ROOT = Path(__file__).resolve().parents[2]
# The address space, which holds all memory and more, and seconds of the processor, however busy the machine is.
LIMITS = {"RLIMIT_AS": 512 * 1024 * 1024, "RLIMIT_CPU": 2}
LIMITED = 'ulimit -v 524288 2>/dev/null; ulimit -t 2; exec "$@"'  # the same, where a shell can limit the memory
MODES = ("json", "text")


class Answer(NamedTuple):
    exit_code: int
    output: bytes
    complaints: bytes


def ask(mode: str, file: str, folder: Path) -> Answer:
    """What `pointstamp check` answers in a process of its own under limits; killed when it hangs."""
    run = Forked(["check", "--format", mode, "--", file], cwd=folder, limits=LIMITS)
    killer = threading.Timer(30, run.kill)
    killer.start()
    try:
        output, complaints = run.communicate()
    finally:
        killer.cancel()
    return Answer(run.wait(), output, complaints)


def ask_on_standard_input(mode: str, folder: Path, content: bytes) -> Answer:
    """The same of an interpreter of its own, which is given the file on its standard input."""
    command = ["sh", "-c", LIMITED, "sh", sys.executable, "-P", "-m", "graphs", "check", "--format", mode, "--", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        command, cwd=folder, env=environment, input=content, capture_output=True, timeout=30, check=False
    )
    return Answer(run.returncode, run.stdout, run.stderr)


def only_printable(text: str) -> bool:
    """Nothing in it moves a cursor, reverses the direction of writing or colours a terminal."""
    return all(character.isprintable() or character in "\n\t" for character in text)


def diagnostics_of(output: str) -> list[dict[str, Any]]:
    report = json.loads(output)
    (entry,) = report["files"]
    found: list[dict[str, Any]] = entry["diagnostics"]
    assert entry["valid"] == all(diagnostic["severity"] != "error" for diagnostic in found), "valid"
    return found


def check(case: Hostile, mode: str, answer: Answer) -> None:
    """AssertionError where the answer is not what the case asks for."""
    output, complaints = answer.output.decode("utf-8"), answer.complaints.decode("utf-8")
    assert "Traceback" not in output + complaints, complaints[-500:]
    assert answer.exit_code == case.exit_code, f"exit code {answer.exit_code}, not {case.exit_code}: {complaints[:300]}"
    assert only_printable(output), "characters for a terminal on standard output"
    assert only_printable(complaints), "characters for a terminal on standard error"
    if case.exit_code == 2:
        assert len(complaints.splitlines()) == 1, f"{len(complaints.splitlines())} lines on standard error"
        assert len(complaints) < 2_000, f"a line of {len(complaints)} characters on standard error"
    else:
        assert complaints == "", complaints[:300]
    if mode == "json":
        found = diagnostics_of(output)
        codes = [diagnostic["code"] for diagnostic in found]
        if case.expected:
            assert any(code.startswith(case.expected) for code in codes), f"{codes[:5]}, not {case.expected}"
        assert (case.exit_code == 2) == any(code.startswith("PS0") for code in codes), codes[:5]
        assert all(diagnostic["message"] for diagnostic in found)
        if case.exit_code == 2:
            assert all(diagnostic["hint"] for diagnostic in found), found[:2]


def complaint(case: Hostile, mode: str, folder: Path) -> str | None:
    """What is wrong with the answer to one case."""
    answer = ask(mode, case.name, folder)
    try:
        check(case, mode, answer)
    except (AssertionError, ValueError, LookupError, TypeError) as error:
        return f"{case.name} ({mode}): {type(error).__name__}: {error}".splitlines()[0]
    return None


def test_the_list_is_long_and_covers_every_exit_code() -> None:
    found = cases()
    assert len(found) >= 220
    assert {case.exit_code for case in found} == {0, 1, 2}
    assert {case.expected for case in found} >= {f"PS00{number}" for number in (1, 2, 3, 4, 5, 7)}


@pytest.mark.slow
def test_every_hostile_file_is_answered(tmp_path: Path) -> None:
    for case in cases():
        case.write(tmp_path)
    work = [*((case, "json") for case in cases()), *((case, "text") for case in large_mistakes())]  # small ones alike
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        wrong = [found for found in pool.map(lambda item: complaint(item[0], item[1], tmp_path), work) if found]
    assert not wrong, f"{len(wrong)} of {len(work)}:\n" + "\n".join(wrong)
    assert not (tmp_path / "hostile").exists(), "a tag was obeyed"


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        Hostile("fine", YAML.encode(), 0),
        Hostile("empty", b"", 2, "PS007"),
        Hostile("binary", b"\0\1\2", 2, "PS001"),
        Hostile("broken", b"a: [", 2, "PS002"),
        Hostile("large", b" " * (33 * 1024 * 1024), 2, "PS004"),
    ],
    ids=lambda case: case.name,
)
@pytest.mark.parametrize("mode", MODES)
def test_standard_input(case: Hostile, mode: str, tmp_path: Path) -> None:
    assert isinstance(case.content, bytes)
    check(case, mode, ask_on_standard_input(mode, tmp_path, case.content))
