"""A state that was altered, with a checksum that fits, is refused in one line, or read for what it says."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphs.command import main
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded
from tests.commands.pipelines import COLLATZ, COLLATZ_YAML, collatz_values, lines_of, message_lines, values_of, write

PLAIN = Plain()
EPOCHS = [[7, 3], [5], [], [6, 2]]
OUTPUTS = {"rounds": "out1", "ways": "out2", "longest": "out3"}
ENDS = [word for edge, file in OUTPUTS.items() for word in ("--output", f"{edge}={file}")]
COMMAND = ["run", "collatz.py", "--input", "numbers=in.jsonl", *ENDS, "--state", "state", "--every", "0"]
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    3,
    1 << 70,
    2.5,
    "",
    "step",
    [],
    [[]],
    {},
    {"step": 1},
    [1, 2],
    (7,),
    [[0, 1, "x"]],
)


class Kept:
    """A run of the engine `sim` that was stopped half-way, and its checkpoint taken apart."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        stops = "        if value == [5, 5]:\n            import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n"
        most = 'out.send("ways", time, value)\n'
        write(folder, collatz__yaml=COLLATZ_YAML, in__jsonl=message_lines(EPOCHS))
        write(folder, collatz__py=COLLATZ.replace(most, f"{most}{stops}"))
        assert self.run()[0] == 143
        write(folder, collatz__py=COLLATZ)
        self.files = {name: (folder / name).read_bytes() for name in OUTPUTS.values()}
        with closing(sqlite3.connect(folder / "state" / "checkpoint")) as rows:
            ((text,),) = rows.execute("SELECT known FROM kept")
            self.head = json.loads(text)
            found = rows.execute("SELECT part, place, content FROM piece").fetchall()
        assert {place for _, place, _ in found} == {0}
        self.parts: dict[str, bytes] = {part: content for part, _, content in found}
        self.state = {path.name: path.read_bytes() for path in (folder / "state").iterdir()}

    def run(self) -> tuple[int, str]:
        self.capsys.readouterr()
        code = main([*COMMAND, "--engine", "sim"])
        out, err = self.capsys.readouterr()
        assert out == ""
        return code, err

    def forge(self, head: Any, parts: dict[str, bytes]) -> tuple[int, str]:
        """Run on from an altered state, whose digests fit, with the outputs as they were."""
        for name, content in self.files.items():
            (self.folder / name).write_bytes(content)
        state = self.folder / "state"
        for path in state.iterdir():
            if path.name not in self.state:
                path.unlink()
        for name, content in self.state.items():
            (state / name).write_bytes(content)
        text = json.dumps(head)
        digests = {name: hashlib.sha256(part).digest() for name, part in parts.items()}
        with closing(sqlite3.connect(state / "checkpoint")) as rows:
            ((number, before, strands),) = rows.execute("SELECT number, before, strands FROM kept")
            pieces = [[name, 0, digests[name].hex()] for name in sorted(parts)]
            chain = hashlib.sha256(before + json.dumps([number, text, strands, pieces]).encode()).digest()
            rows.execute("UPDATE kept SET chain = ?, known = ?", (chain, text))
            rows.execute("DELETE FROM piece")
            for name, part in parts.items():
                rows.execute("INSERT INTO piece VALUES (?, 0, ?, ?)", (name, digests[name], part))
            rows.commit()
        said = f"{number:020} {chain.hex()} {'-':>10} "
        line = f"{said}{hashlib.sha256(said.encode()).hexdigest()}\n"
        (state / "head").write_text(line * 2)
        return self.run()

    def is_refused(self, found: tuple[int, str], what: object) -> bool:
        """Whether it is refused, in one line and with nothing touched; otherwise it is read, and is no defect."""
        code, err = found
        assert "defect" not in err, (what, err)
        if code == 2:
            assert len(err.splitlines()) == 1, (what, err)
            assert err.startswith(("pointstamp: PS736: ", "pointstamp: PS737: ", "pointstamp: in.jsonl: PS736: ")), err
            return True
        assert code in (0, 1), (what, err)
        return False


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.chdir(tmp_path)
    return Kept(tmp_path, capsys)


def as_bytes(value: Any) -> bytes:
    return encoded(value, PLAIN.parts)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in plain data."""
    yield path
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*path, key))
    elif isinstance(data, list | tuple):
        for number, item in enumerate(data):
            yield from places(item, (*path, number))


def altered(data: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """A copy, in which what is at the end of the way is something else."""
    if not path:
        return change(data)
    key, *rest = path
    if isinstance(data, tuple):
        return tuple(altered([*data], path, change))
    data = copy.copy(data)
    data[key] = altered(data[key], tuple(rest), change)
    return data


def without(data: Any, path: tuple[Any, ...]) -> Any:
    """A copy, in which this is not there."""
    *before, last = path
    return altered(data, tuple(before), lambda part: _less(part, last))


def _less(part: Any, key: Any) -> Any:
    if isinstance(part, dict):
        return {name: value for name, value in part.items() if name != key}
    return type(part)(item for number, item in enumerate(part) if number != key)


def test_as_it_is_it_goes_on(kept: Kept) -> None:
    assert kept.forge(kept.head, kept.parts) == (0, "")
    found = sum(
        (values_of(lines_of(Path(file).read_text()), edge) for edge, file in OUTPUTS.items()), start=values_of([])
    )
    assert found == collatz_values(EPOCHS)


def test_what_is_known_of_a_command_and_its_files_has_one_form(kept: Kept) -> None:
    """Each part of the head is something else, or is not there."""
    rng = random.Random(6)
    refused = 0
    for path in places(kept.head):
        for odd in rng.sample(ODD, 6):
            head = altered(kept.head, path, lambda _, odd=odd: odd)  # type: ignore[misc]
            refused += kept.is_refused(kept.forge(head, kept.parts), (path, odd))
        if path:
            is_refused = kept.is_refused(kept.forge(without(kept.head, path), kept.parts), path)
            there_was_none = path[0] in ("closed", "files", "delivery") or path[1:] in (("--seed",), ("--pickle",))
            assert is_refused or there_was_none, path
    assert refused > 100


def test_parts_that_are_not_there_or_are_something_else_are_refused(kept: Kept) -> None:
    for name in kept.parts:
        assert kept.is_refused(
            kept.forge(kept.head, {key: part for key, part in kept.parts.items() if key != name}), name
        )
        for odd in (b"", b"\x80", as_bytes(ODD), kept.parts[name][:-3]):
            found = kept.forge(kept.head, {**kept.parts, name: odd})
            assert kept.is_refused(found, (name, odd)) or name.startswith("node "), "a node takes what it restores"


def test_what_a_run_consists_of_has_to_fit_together(kept: Kept) -> None:
    """Each part of what was outstanding is something else, or is not there."""
    rng = random.Random(5)
    for name in ["progress", *(name for name in kept.parts if name.startswith("queue "))]:
        data = decoded(kept.parts[name], PLAIN)
        ways = [path for path in places(data) if path and path[0] != "random"]
        for path in rng.sample(ways, min(25, len(ways))):
            changed = [altered(data, path, lambda _, odd=odd: odd) for odd in rng.sample(ODD, 3)]  # type: ignore[misc]
            for each in (*changed, without(data, path)):
                kept.is_refused(kept.forge(kept.head, {**kept.parts, name: as_bytes(each)}), (name, path, each))


@pytest.mark.parametrize(
    "path", [("steps",), ("tracker",), ("feeds",), ("feeds", "numbers"), ("runnable",), ("ready",)]
)
def test_what_decides_how_it_goes_on_is_refused(kept: Kept, path: tuple[str, ...]) -> None:
    data = decoded(kept.parts["progress"], PLAIN)
    for odd in ("nothing", -1, [[1]]):
        parts = {**kept.parts, "progress": as_bytes(altered(data, path, lambda _, odd=odd: odd))}  # type: ignore[misc]
        assert kept.is_refused(kept.forge(kept.head, parts), (path, odd))
