"""`pointstamp state show|verify|compact|export DIR`: what a run has kept, for people and programs."""

from __future__ import annotations

import datetime
import json
import os
import signal
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from graphs import JsonLines, from_edges
from graphs.command import main
from graphs.running.kept_state import Names, as_json
from progress.runtime import Dataflow, SqliteTable
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded
from progress.runtime.durable.folder import StateFolder
from progress.runtime.durable.kept_run import KeptRun
from tests.commands.pipelines import (
    COLLATZ,
    COLLATZ_YAML,
    Result,
    collatz_values,
    lines_of,
    message_lines,
    started,
    stop,
    values_of,
    write,
)
from tests.commands.store_killed import known, parts

EPOCHS = [[7, 3], [5], [], [6, 2]]
OUTPUTS = {"rounds": "out1", "ways": "out2", "longest": "out3"}
ENDS = [word for edge, file in OUTPUTS.items() for word in ("--output", f"{edge}={file}")]
COMMAND = ("collatz.py", "--input", "numbers=in.jsonl", *ENDS, "--state", "state", "--every", "0", "--engine", "sim")
ACTIONS = ("show", "verify", "compact", "export")


class Kept:
    """A run that was stopped half-way by a signal, and commands about it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        stops = "        if value == [5, 5]:\n            import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n"
        most = 'out.send("ways", time, value)\n'
        write(folder, collatz__yaml=COLLATZ_YAML, in__jsonl=message_lines(EPOCHS))
        write(folder, collatz__py=COLLATZ.replace(most, f"{most}{stops}"))
        assert self("run", *COMMAND).exit_code == 143
        write(folder, collatz__py=COLLATZ)

    def __call__(self, *arguments: str) -> Result:
        self._capsys.readouterr()
        code = main(arguments)
        return Result(code, *self._capsys.readouterr())

    def answer(self, *arguments: str) -> Any:
        found = self("state", *arguments, "--format", "json")
        assert (found.exit_code, found.err) == (0, "")
        return json.loads(found.out)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / "state").iterdir()}


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.chdir(tmp_path)
    return Kept(tmp_path, capsys)


def test_what_is_shown_is_where_the_files_of_the_run_stand(kept: Kept) -> None:
    before = kept.files()
    found = kept.answer("show", "state")
    assert (found["pipeline"], found["engine"]) == (str(kept.folder / "collatz.py"), "sim")
    assert (found["finished"], found["in_use"], found["pickle"]) == (False, False, False)
    (numbers,) = found["inputs"]
    text = message_lines(EPOCHS)
    assert numbers["file"] == str(kept.folder / "in.jsonl")
    assert text.encode()[: numbers["bytes"]].count(b"\n") == numbers["lines"]
    assert {each["output"]: each["bytes"] for each in found["outputs"]} == {
        name: (kept.folder / file).stat().st_size for name, file in OUTPUTS.items()
    }
    assert all(each["bytes"] == each["there"] for each in found["outputs"])
    assert {each["node"] for each in found["nodes"]} >= {"enter", "step", "again", "most"}
    sizes = sum(size for each in found["nodes"] for name, size in each.items() if name != "node")
    assert sizes + sum(found["other"].values()) == found["size"]
    shown = kept("state", "show", "state")
    assert (shown.exit_code, shown.err) == (0, "")
    assert "collatz.py on sim, a run that was stopped" in shown.out
    assert f"checkpoint {found['commits']}, " in shown.out
    assert kept("state", "verify", "state").exit_code == 0
    assert kept("state", "export", "state").exit_code == 0
    assert kept.files() == before, "to look at it changes nothing"


def test_after_each_of_them_the_run_goes_on(kept: Kept) -> None:
    for action in ACTIONS:
        assert kept("state", action, "state").exit_code == 0
    assert kept("run", *COMMAND) == Result(0, "", "")
    found = sum((values_of(lines_of(Path(file).read_text()), edge) for edge, file in OUTPUTS.items()), values_of([]))
    assert found == collatz_values(EPOCHS)
    assert kept.answer("show", "state")["finished"] is True


TO_A_TABLE = """
from pointstamp import Dataflow, SqliteTable, from_edges

dataflow = Dataflow(
    from_edges([(None, "double"), ("double", None)]),
    {"double": lambda value: 2 * value},
    sinks={"double->out": SqliteTable("numbers.db", "doubles")},
)
"""


def test_a_sink_that_keeps_bundles_is_shown(kept: Kept) -> None:
    write(kept.folder, doubles__py=TO_A_TABLE, few__jsonl=message_lines([[7, 3], [5]]))
    assert kept("run", "doubles.py", "--input", "in->double=few.jsonl", "--state", "table").exit_code == 0
    (shown,) = kept.answer("show", "table")["outputs"]
    assert shown == {"output": "double->out", "file": None, "deliveries": shown["deliveries"], "waiting": 0}
    assert shown["deliveries"] > 0
    found = kept("state", "show", "table")
    assert (found.exit_code, found.err) == (0, "")
    assert found.out.splitlines()[-1].split() == ["double->out", str(shown["deliveries"]), "deliveries"]
    assert kept("state", "verify", "table").exit_code == 0


def test_files_that_a_program_names_itself_are_compared(kept: Kept) -> None:
    write(kept.folder, few__jsonl=message_lines([[7, 3], [5]]))
    flow = Dataflow(from_edges([(None, "double"), ("double", None), (None, "other"), ("other", None)]))
    flow.run(
        sources={"in->double": JsonLines("few.jsonl"), "in->other": [(0, 1)]},
        sinks={"double->out": JsonLines("doubles.jsonl"), "other->out": SqliteTable("numbers.db", "others")},
        state="program",
    )
    found = kept.answer("verify", "program")
    assert (found["inputs"], found["outputs"], found["not_compared"]) == (1, 1, ["output other->out"])
    assert "not compared: output other->out\n" in kept("state", "verify", "program").out
    shown = kept.answer("show", "program")
    assert [each["file"] for each in shown["inputs"]] == [str(kept.folder / "few.jsonl")]
    assert [each["file"] for each in shown["outputs"]] == [str(kept.folder / "doubles.jsonl"), None]
    for file in ("doubles.jsonl", "few.jsonl"):
        good = Path(file).read_bytes()
        Path(file).write_bytes(bytes(byte ^ 1 for byte in good))
        refused = kept("state", "verify", "program")
        assert (refused.exit_code, refused.out) == (2, "")
        assert f"{file} holds something else" in refused.complaint
        Path(file).write_bytes(good)
    assert kept("state", "verify", "program").exit_code == 0


def test_a_state_that_knows_no_files_of_a_program_is_read(kept: Kept) -> None:
    """It was written before these were kept: it says what it could not compare, and the run goes on."""
    border = KeptRun.border

    def without(run: Any) -> Any:
        settled = border(run)
        return lambda: {name: part for name, part in settled().items() if name != "files"}

    flow = Dataflow(from_edges([(None, "double"), ("double", None)]), sources={"in->double": [(0, 1)]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptRun, "border", without)
        flow.run(sinks={"double->out": JsonLines("doubles.jsonl")}, state="program")
        assert kept.answer("verify", "program")["not_compared"] == ["output double->out"]
    assert flow.run(sinks={"double->out": JsonLines("doubles.jsonl")}, state="program") == {}


def test_a_file_that_is_gone_is_said_to_be_so(kept: Kept) -> None:
    """The state is whole then, and is not said to be damaged."""
    size = (kept.folder / "out1").stat().st_size
    (kept.folder / "out1").unlink()
    found = kept("state", "verify", "state")
    assert found.complaint.startswith("pointstamp: PS736: a file of the run in state is not as it was left: ")
    assert f"out1 is not there, and {size} bytes were written to it (the file as it was; or " in found.complaint


def test_verify_names_what_is_not_as_it_was_left(kept: Kept) -> None:
    assert kept.answer("verify", "state")["whole"] is True
    for path, says in (
        (kept.folder / "out1", "out1 holds something else than what was written"),
        (kept.folder / "in.jsonl", "in.jsonl holds something else than what was read, or is shorter"),
        (kept.folder / "state" / "checkpoint", "the state in state is damaged: "),
        (kept.folder / "state" / "head", "head does not say what one says"),
    ):
        good = path.read_bytes()
        path.write_bytes(bytes(byte ^ 1 for byte in good))
        found = kept("state", "verify", "state")
        assert (found.exit_code, found.out) == (2, "")
        assert "PS736: " in found.complaint
        assert says in found.complaint
        path.write_bytes(good)
    assert kept("state", "verify", "state").exit_code == 0


def test_compact_gives_room_back_and_keeps_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = StateFolder(str(tmp_path / "state"))
    state.store.write(known(1), {"large": os.urandom(1_000_000)})
    state.store.write({**known(2), "command": {"pipeline": "p", "--engine": "sim"}}, parts(2))
    state.close()
    before = (tmp_path / "state" / "checkpoint").stat().st_size
    assert before > 1_000_000
    assert main(["state", "compact", str(tmp_path / "state"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    after = (tmp_path / "state" / "checkpoint").stat().st_size
    assert (found["before"], found["after"]) == (before, after)
    assert after < 150_000
    state = StateFolder(str(tmp_path / "state"))
    loaded = state.load()
    assert loaded is not None
    assert loaded[1] == parts(2)
    state.close()


def test_a_run_that_goes_on_is_shown_and_not_compacted(kept: Kept) -> None:
    process = started(kept.folder, *COMMAND[:2], "numbers=-", *ENDS, "--state", "other", "--every", "0")
    try:
        assert process.stdin is not None
        process.stdin.write(message_lines(EPOCHS[:2]).encode())
        process.stdin.flush()
        while not (kept.folder / "out3").exists() or b"[2]" not in (kept.folder / "out3").read_bytes():
            assert process.poll() is None
            time.sleep(0.005)
        for _ in range(20):
            found = kept.answer("show", "other")
            assert (found["in_use"], found["finished"]) == (True, False)
            assert kept("state", "verify", "other").exit_code == 0
        refused = kept("state", "compact", "other")
        assert refused.exit_code == 2
        assert "PS738: another run uses the state in other" in refused.complaint
        process.send_signal(signal.SIGTERM)
        assert process.communicate()[1] == b""
        assert process.returncode == 143
    finally:
        stop(process)


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_no_state_is_refused_in_one_line_and_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for name, says in (("none", "no such folder"), ("file", "no such folder"), ("empty", "nothing is kept there")):
        assert main(["state", action, str(tmp_path / name)]) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert says in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]
    assert [*(tmp_path / "empty").iterdir()] == []


def test_what_is_exported_names_kinds_and_shows_an_object_once() -> None:
    shared = [1, 2]
    value: dict[str, Any] = {
        "numbers": [1, 1.5, True, None, 1 << 60, float("inf")],
        "shared": [shared, shared],
        "bytes": b"\x00\xff",
        "set": {3},
        "keys": {1: "a", (2, "b"): shared},
        "word": {"kind": "a word"},
        "day": datetime.date(2026, 11, 19),
        "amount": Decimal("1.50"),
    }
    value["itself"] = value
    found = as_json(decoded(encoded(value, Plain().parts), Names()))
    json.dumps(found)
    assert found["numbers"] == [1, 1.5, True, None, {"kind": "int", "of": hex(1 << 60)}, {"kind": "float", "of": "inf"}]
    assert found["shared"] == [[1, 2], {"kind": "again", "of": "#/shared/0"}]
    assert found["bytes"] == {"kind": "bytes", "of": "AP8="}
    assert found["set"] == {"kind": "set", "of": [3]}
    assert found["keys"] == {"kind": "dict", "of": [[1, "a"], [[2, "b"], {"kind": "again", "of": "#/shared/0"}]]}
    assert found["word"] == {"kind": "dict", "of": [["kind", "a word"]]}
    assert found["itself"] == {"kind": "again", "of": "#"}
    assert "date" in found["day"]["kind"]
    assert "1.50" in json.dumps(found["amount"])


FORBIDDEN = """
import dataclasses
from pathlib import Path
from graphs import Graph
from progress.runtime import Dataflow, Node

@dataclasses.dataclass
class Word:
    text: str

class Words(Node):
    def __init__(self):
        self.words = {}
    def on_message(self, edge, time, value, out):
        self.words[time] = Word(value)
        out.send("out", time, value)

graph = Graph().node("words").edge(None, "words", "in").edge("words", None, "out")
dataflow = Dataflow(graph, {"words": Words}, sources={"in": [(0, "one"), (1, "two")]})
"""


def test_export_runs_no_code_of_the_pipeline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, words__py=FORBIDDEN)
    assert main(["run", "words.py", "--state", "state", "--output", "out=out"]) == 0
    (tmp_path / "words.py").unlink()
    capsys.readouterr()
    assert main(["state", "export", "state"]) == 0
    kept = json.loads(capsys.readouterr().out)["parts"]["node words"]
    assert "Word" in json.dumps(kept)
    assert "one" in json.dumps(kept)
    assert main(["state", "verify", "state"]) == 0
