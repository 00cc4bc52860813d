"""`pointstamp run --state` of nodes that keep a `State`, and sets: killed anywhere, they go on as if nothing was."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from graphs.command import main
from progress.runtime.durable.folder import checked
from tests.commands.pipelines import killed_everywhere, lines_of, message_lines, run, write

YAML = """\
pointstamp: 1
nodes: {index: {}, tell: {notify: false}}
edges:
  - {id: words, to: index}
  - {id: found, from: index, to: tell}
  - {id: told, from: tell}
"""
# What leaves says in which order mappings and sets are iterated over, and each value depends on all before it.
CODE = """\
from time import sleep
from graphs import load
from progress.runtime import Dataflow, Node, State

class Index(Node):
    def __init__(self):
        self.places, self.mixed, self.seen, self.texts = State(), State(), set(), set()
        self.count = 0

    def on_message(self, edge, time, value, out):
        self.count += 1
        word = value % 23
        self.places.setdefault(word, []).append(self.count)
        if self.count % 7 == 0:
            self.places.pop(value % 5, None)
        self.mixed[word] = self.mixed.get(word, set()) | {value, value * 31 % 101}
        if self.count % 3 == 0:
            self.mixed[word].discard(value)
        self.seen.add(value * 37 % 211)
        self.texts.add(f"text {value % 40}")
        if self.count % 5 == 0:
            self.seen.pop()
            self.texts.pop()
        out.send("found", time, [word, list(self.places.get(word, ())), list(self.mixed[word])])
        sleep(0.002)  # so that there are checkpoints
        out.request(time)

    def on_notify(self, time, out):
        places = [[word, *places] for word, places in self.places.items()]
        out.send("found", time, [places, [list(each) for each in self.mixed.values()]])
        out.send("found", time, [list(self.seen), list(self.texts)])

dataflow = Dataflow(load("index.yaml"), {"index": Index})
"""
COMMAND = ("index.py", "--input", "words=in.jsonl", "--output", "told=out", "--state", "state")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = random.Random(5)
    epochs = [[rng.randrange(200) for _ in range(12)] for _ in range(6)]
    write(tmp_path, index__yaml=YAML, index__py=CODE)
    (tmp_path / "in.jsonl").write_text(message_lines(epochs))
    return tmp_path


def values(text: str) -> list[str]:
    return [json.dumps(line["value"]) for line in lines_of(text) if "value" in line]


@pytest.mark.parametrize(("engine", "every"), [("sim", "0"), ("threads", "0"), ("asyncio", "0"), ("threads", "0.01")])
def test_killed_at_every_call_of_the_system(folder: Path, engine: str, every: str) -> None:
    """What leaves is compared with what had left: a mapping or set in another order would be refused (PS748)."""
    rounds = killed_everywhere(folder, 11, *COMMAND, "--engine", engine, "--every", every)
    assert len(rounds) > 8
    assert sum(each["kills"] for each in rounds) > len(rounds)
    assert {len(values(each["texts"]["out"])) for each in rounds} == {6 * 12 + 6 * 2}


def test_one_that_is_larger_than_memory_killed_at_every_call_of_the_system(folder: Path) -> None:
    write(folder, index__py=CODE.replace("= State(), State(), ", "= State(in_memory=5), State(in_memory=3), "))
    rounds = killed_everywhere(folder, 15, *COMMAND, "--engine", "sim", "--every", "0")
    assert sum(each["kills"] for each in rounds) > len(rounds)
    assert {len(values(each["texts"]["out"])) for each in rounds} == {6 * 12 + 6 * 2}
    commit = checked(folder / "state")
    assert commit is not None
    assert all(found.size > 3 for found in commit.sums.values())


@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_what_has_changed_is_added_and_all_of_it_written_anew_now_and_then(tmp_path: Path, engine: str) -> None:
    """The store does not grow with the number of checkpoints, and has what the nodes have."""
    write(tmp_path, index__yaml=YAML)
    rng = random.Random(6)
    (tmp_path / "in.jsonl").write_text(message_lines([[rng.randrange(200) for _ in range(40)] for _ in range(60)]))
    small = "from progress.runtime.durable.mappings import states\nstates.SMALL = 2_000\n"
    write(tmp_path, index__py=small + CODE)
    result = run(tmp_path, *COMMAND, "--engine", engine, "--every", "0")
    assert (result.exit_code, result.err) == (0, "")
    commit = checked(tmp_path / "state")
    assert commit is not None
    assert sorted(commit.sizes) == ['["index", "mixed"]', '["index", "places"]']
    assert all(strand.number > 4 for found in commit.strands.values() for strand in found)
    assert all(0 < size < 200_000 for size in commit.sizes.values())
    assert (tmp_path / "state" / "checkpoint").stat().st_size < 2_000_000


@pytest.mark.parametrize("in_memory", [None, 5])
@pytest.mark.parametrize("how", [(), ("--pickle",)])
def test_what_is_exported_is_what_the_node_has(
    folder: Path, capsys: pytest.CaptureFixture[str], in_memory: int | None, how: tuple[str, ...]
) -> None:
    write(folder, index__py=CODE.replace("State()", f"State(in_memory={in_memory})"))
    assert run(folder, *COMMAND, *how, "--every", "0").exit_code == 0
    *_, (places_of, _), _ = (line["value"] for line in lines_of((folder / "out").read_text()) if "value" in line)
    assert main(["state", "verify", str(folder / "state")]) == 0
    capsys.readouterr()
    assert main(["state", "export", str(folder / "state")]) == 0
    found = json.loads(capsys.readouterr().out)
    if how:
        kinds = {each["kind"] for *_, each in (*found["rows"], *found["changes"])}
        assert (kinds, bool(found["rows"])) == ({"pickle"}, in_memory is not None)
    else:
        places = found["mappings"]['["index", "places"]']
        assert [[word, *values] for word, values in places] == places_of


def test_a_state_that_is_no_attribute_by_itself_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = CODE.replace("self.count = 0", "self.count, self.inner = 0, [State()]")
    write(folder, index__py=code)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", *COMMAND]) == 1
    said = capsys.readouterr().err
    assert "PS735: the state of 'index', its attribute 'inner' at [0], cannot be kept" in said
    assert "a State is not an attribute of its node by itself" in said


def test_steps_that_keep_a_value_for_each_key_keep_it_as_a_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = """
from pointstamp import Flow
flow = Flow()
numbers = flow.input("numbers").key_on(lambda value: value % 10)
numbers.stateful_map(0, lambda total, value: (total + value, total + value), name="total").output("totals")
numbers.reduce(lambda one, other: one + other, accumulate=True, name="sum").output("sums")
dataflow = flow.dataflow
"""
    write(tmp_path, steps__py=code, in__jsonl=message_lines([[*range(30)], [*range(30, 60)]]))
    command = ("steps.py", "--input", "numbers=in.jsonl", "--output", "totals=totals", "--output", "sums=sums")
    result = run(tmp_path, *command, "--state", "state", "--every", "0")
    assert (result.exit_code, result.err) == (0, "")
    capsys.readouterr()
    assert main(["state", "export", str(tmp_path / "state")]) == 0
    found = json.loads(capsys.readouterr().out)["mappings"]
    expected = {key: sum(range(key, 60, 10)) for key in range(10)}
    assert {name: dict(values) for name, values in found.items()} == {
        '["total", "states"]': expected,
        '["sum", "sums"]': expected,
    }
