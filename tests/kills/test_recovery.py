"""Who goes on from what a kill has left: two at once, the same checkpoint twice, in another order of completion."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from progress.errors import PointstampError
from progress.runtime.durable.folder import Mappings, checked
from tests.commands.forked import Forked
from tests.commands.pipelines import ENGINES, PATIENCE, environment
from tests.kills.of_one_order import Keyed, TwoInputs
from tests.kills.program import Found, Program, Rows, overtaken, rows_of
from tests.kills.seeds import MEMORY

every_engine = pytest.mark.parametrize("engine", ENGINES)


class Half:
    """A run that was killed when so many values had left.

    What has left once has to be there, at its place, in all that goes on from it.
    """

    def __init__(self, folder: Path, program: Program, engine: str, every: str = "0.01", values: int = 8) -> None:
        self.folder = folder
        self.program = program
        for name, text in program.files.items():
            (folder / name).write_text(text)
        self._command = ["run", *program.arguments(), "--state=state", f"--every={every}", f"--engine={engine}"]
        process = self.started()
        first = folder / program.outputs[0]
        self.killed(process, lambda: first.exists() and first.read_bytes().count(b'"value"') >= values)
        self.left = self.outputs()

    @staticmethod
    def killed(process: Forked, at: Callable[[], bool]) -> None:
        """Kill a process once something is so."""
        end = time.monotonic() + PATIENCE
        while not at() and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.0005)
        process.kill()
        _, err = process.communicate()
        assert process.returncode == -9, err

    def started(self) -> Forked:
        """The command, running."""
        return Forked(self._command, self.folder, environment())

    def ended(self) -> tuple[int, str]:
        """The command, run to its end: its exit code, and what it said."""
        process = self.started()
        out, err = process.communicate(timeout=PATIENCE)
        assert out == b""
        assert process.returncode is not None
        return process.returncode, err.decode()

    def outputs(self) -> dict[str, bytes]:
        """What is in each output."""
        paths = [self.folder / name for name in self.program.outputs]
        return {path.name: path.read_bytes() for path in paths if path.is_file()}

    def check(self) -> dict[str, bytes]:
        """What is there in the end, which is right."""
        found = self.outputs()
        assert all(found[name].startswith(content) for name, content in self.left.items())
        rows = {name: rows_of(content) for name, content in found.items()}
        assert not any(self.program.judge(rows, may_repeat=False))
        return found


@every_engine
def test_of_two_that_go_on_at_once_one_does_and_the_other_is_refused(tmp_path: Path, engine: str) -> None:
    half = Half(tmp_path, TwoInputs("race"), engine)
    both = [half.started(), half.started()]
    said = [process.communicate(timeout=PATIENCE) for process in both]
    assert sorted(process.returncode or 0 for process in both) == [0, 2], "who is second finds the first at work"
    words = b"".join(out + err for out, err in said).decode()
    assert words.startswith("pointstamp: PS738: another run uses the state in state")
    assert words.count("\n") == 1
    half.check()
    assert half.ended() == (0, "")
    half.check()


@pytest.mark.parametrize("program", [TwoInputs, Keyed], ids=lambda program: program.name)
@every_engine
def test_from_one_checkpoint_two_go_on_one_after_the_other(tmp_path: Path, engine: str, program: type[Program]) -> None:
    """The folder and the outputs are put back as they were; with `sim` and one order both do the same to the byte."""
    folder = tmp_path / "run"
    folder.mkdir()
    half = Half(folder, program("twice"), engine)
    shutil.copytree(folder, tmp_path / "copy")
    assert half.ended() == (0, "")
    first = half.check()
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder)
    assert half.ended() == (0, "")
    assert half.check() == first or program is TwoInputs or engine != "sim"


class Permuted(Program):
    """Three nodes take their time, and others in each life; a chain says in which order they were done.

    Each life but the last comes to a stop a little further on, so that it is killed before it ends, however late.
    """

    name = "permuted"
    outputs = ("chained",)
    many = 30

    def code(self) -> str:
        return """
import asyncio, math, random, sys
from graphs import Graph
from progress.runtime import Dataflow, Node
from pathlib import Path

LIFE = Path("life").read_text()
LAST = math.inf if LIFE == "end" else 7 * (int(LIFE) + 1)
SLOW = random.Random(LIFE)
IN_LOOP = "--engine=asyncio" in sys.argv

def pause(value):
    return SLOW.random() * 0.004 if value < LAST else 600

class Takes(Node):
    def __init__(self, name):
        self.name = name

    def on_message(self, edge, at, value, out):
        time.sleep(pause(value))
        out.send(f"{self.name} done", at, [self.name, value])

class Awaits(Takes):
    async def on_message(self, edge, at, value, out):
        await asyncio.sleep(pause(value))
        out.send(f"{self.name} done", at, [self.name, value])

class Chain(Node):
    def __init__(self):
        self.link = 17

    def on_message(self, edge, at, value, out):
        self.link = (self.link * 31 + ord(value[0]) * 1_000 + value[1]) % 1_000_003
        out.send("chained", at, [*value, self.link])

graph = Graph().node("chain").edge("chain", None, "chained")
nodes = {"chain": Chain}
for name in "abc":
    taker = f"take {name}"
    graph.node(taker, notify=False).edge(None, taker, name).edge(taker, "chain", f"{name} done")
    nodes[taker] = (Awaits if IN_LOOP else Takes)(name)
dataflow = Dataflow(graph, nodes)
"""

    def begin(self) -> None:
        for edge in "abc":
            self._input(edge, [[number] for number in range(self.many)])

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        link, disorder = 17, []
        came: dict[str, list[int]] = {"a": [], "b": [], "c": []}
        for _, (name, value, said) in found["chained"]:
            link = (link * 31 + ord(name) * 1_000 + value) % 1_000_003
            came[name].append(value)
            disorder += [] if said == link else [f"{name} {value} follows from something else"]
        right = [*range(self.many)]
        disorder += [each for values in came.values() for each in overtaken(values, right)]
        return Found([], [name for name in came if sorted(came[name]) != right], disorder)


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_calls_that_come_to_their_ends_in_another_order_are_entered_as_they_were(tmp_path: Path, engine: str) -> None:
    """Killed again and again before any checkpoint but the first, what has left comes again as it was."""
    (tmp_path / "life").write_text("0")
    half = Half(tmp_path, Permuted("permuted"), engine, every="1000", values=15)
    order = [row[1][0] for row in rows_of(half.left["chained"])]
    assert order != sorted(order), "one after the other they show nothing"
    for life in range(1, 4):
        (tmp_path / "life").write_text(str(life))
        more = len(half.left["chained"]) + 300
        half.killed(half.started(), lambda more=more: (tmp_path / "chained").stat().st_size >= more)  # type: ignore[misc]
        found = half.outputs()
        assert found["chained"].startswith(half.left["chained"])
        half.left = found
    (tmp_path / "life").write_text("end")
    assert half.ended() == (0, "")
    half.check()


# --- damage -----------------------------------------------------------------------------------------------------------


class Copied:
    """A run that was killed, which is harmed and goes on, again and again from what the kill had left."""

    def __init__(self, folder: Path, program: Program, every: str, values: int) -> None:
        self._folder, self._copy = folder / "run", folder / "copy"
        self._folder.mkdir()
        self.half = Half(self._folder, program, "threads", every, values)
        shutil.copytree(self._folder, self._copy)
        state = {f"state/{path.name}": path.read_bytes() for path in (self._copy / "state").iterdir()}
        self.state = {name: content for name, content in state.items() if content and not name.endswith("-shm")}

    def after(self, harm: Callable[[Path], object]) -> str:
        """What becomes of the run: `right`, or the code by which it is refused in one line, with nothing lost."""
        shutil.rmtree(self._folder)
        shutil.copytree(self._copy, self._folder)
        harm(self._folder)
        before = self.half.outputs()
        code, said = self.half.ended()
        if (code, said) == (0, ""):
            self.half.check()
            return "right"
        assert code in (1, 2), said
        assert said.count("\n") == 1, said
        found = self.half.outputs()
        assert all(found[name].startswith(content) for name, content in before.items()), said
        return said.removeprefix("pointstamp: ")[:5]


def in_place(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """The harm of changing a file's bytes."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def flipped(name: str, place: int, bit: int) -> Callable[[Path], object]:
    """One bit is another one."""
    return in_place(name, lambda whole: whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])


def cut(name: str, size: int) -> Callable[[Path], object]:
    """The end is gone."""
    return in_place(name, lambda whole: whole[:size])


def instead(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Something else is there."""

    def harm(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return harm


def test_outputs_that_were_shortened_replaced_or_cannot_be_written_are_refused(tmp_path: Path) -> None:
    """Put back as they were, the run goes on; shortened behind the last checkpoint, what is gone comes again."""
    copied = Copied(tmp_path, Keyed("outputs", 12), "0", 40)
    commit = checked(copied.half.folder / "state")
    assert commit is not None
    known, size = commit.known["outlets"]["--output told"]["size"], len(copied.half.left["told"])
    for each in {0, known // 2, max(0, known - 1), known, (known + size) // 2, size - 1}:
        assert copied.after(cut("told", each)) == ("PS736" if each < known else "right")
    assert copied.after(in_place("told", lambda whole: b"x" * len(whole))) == ("PS736" if known else "PS748")
    assert copied.after(in_place("told", lambda whole: whole + b"x")) == "PS748"
    assert copied.after(instead("told", lambda path: None)) == ("PS736" if known else "right")
    assert copied.after(instead("told", Path.mkdir)) != "right"
    assert copied.after(instead("told", lambda path: path.symlink_to("/dev/full"))) == "PS740"
    assert copied.after(lambda folder: None) == "right"


def order_of(copied: Copied) -> list[str]:
    """The files that have the order since the last checkpoint, of which there is something to harm."""
    found = [name for name in copied.state if name.startswith("state/order.")]
    assert sum(len(copied.state[name]) for name in found) > 300
    return found


def test_damage_in_some_bytes_is_refused_or_has_no_effect(tmp_path: Path) -> None:
    rng = random.Random(6)
    copied = Copied(tmp_path, Keyed("3", 3), "0.003", 8)
    for name, content in copied.state.items():
        for place in rng.sample(range(len(content)), 4):
            assert copied.after(flipped(name, place, rng.randrange(8))) in ("right", "PS736", "PS748"), (name, place)
            assert copied.after(cut(name, place)) in ("right", "PS736", "PS748"), (name, place)


@pytest.mark.soak
def test_an_order_that_is_damaged_in_any_byte_is_refused_or_has_no_effect(tmp_path: Path) -> None:
    """What was done is then not known any more, and may be done otherwise; but nothing that has left is taken back."""
    rng = random.Random(7)
    copied = Copied(tmp_path, TwoInputs("3"), "1000", 12)
    ends = {
        copied.after(harm)
        for name in order_of(copied)
        for place in range(len(copied.state[name]))
        for harm in (flipped(name, place, rng.randrange(8)), cut(name, place))
    }
    assert ends <= {"right", "PS736", "PS748"}
    assert "PS736" in ends


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder to which is written without waiting for a disk."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None, prefix="damage-") as found:
        yield Path(found)


@pytest.mark.soak
@pytest.mark.parametrize("is_closed", [True, False])
def test_rows_and_strands_that_are_damaged_in_any_byte_are_refused_or_have_no_effect(
    in_memory: Path, is_closed: bool
) -> None:
    """What is read is all that was there, mappings included, or it is refused. Of a log every so manieth byte is."""
    rng = random.Random(8)
    for number in range(20):  # until a kill comes when there are both
        program = Keyed(str(number), 6 if is_closed else 12)
        code = program.files["killed.py"]
        program.files["killed.py"] = code.replace("State(), State()", "State(in_memory=3), State()")
        folder = in_memory / str(number)
        folder.mkdir()
        half = Half(folder, program, "threads", "0", 5 if is_closed else 22)
        if is_closed:
            assert half.ended() == (0, "")
        right = all_of_it(folder / "state")
        if all(right[1]):
            break
    refused = 0
    for name in ("checkpoint", "checkpoint-wal", "head"):
        path = folder / "state" / name
        content = path.read_bytes() if path.exists() else b""
        for place in range(0, len(content), 1 if is_closed else 29):
            other = bytes([content[place] ^ 1 << rng.randrange(8)])
            for harmed in (content[:place] + other + content[place + 1 :], content[:place]):
                path.write_bytes(harmed)
                try:
                    found = all_of_it(folder / "state")
                except PointstampError as error:
                    found, refused = right, refused + (error.code == "PS736")
                assert found == right, (name, place)
                path.write_bytes(content)
    assert refused > 5_000


def all_of_it(state: Path) -> tuple[Any, Mappings]:
    """The checkpoint of a folder, and all that is kept of mappings."""
    mappings = Mappings([], [])
    return checked(state, is_ours=True, mappings=mappings), mappings
