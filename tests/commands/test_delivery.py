"""`pointstamp run --state --delivery`: what leaves comes the same again, waits for a checkpoint, or may come twice."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.commands.pipelines import PATIENCE, Result, lines_of, message_lines, run, started, write

TWO_YAML = """\
pointstamp: 1
nodes: {chain: {notify: true}, tell: {}}
edges:
  - {id: left, to: chain}
  - {id: right, to: chain}
  - {id: links, from: chain, to: tell}
  - {id: chained, from: tell}
  - {id: sums, from: chain}
"""
TWO = """\
import os, time
from pathlib import Path
from graphs import load
from progress.runtime import Dataflow, Node

class Chain(Node):
    {claim}
    def __init__(self):
        self.link, self.count, self.seen = 17, 0, set()

    def on_message(self, edge, at, value, out):
        if Path("slow").exists():
            time.sleep(float(Path("slow").read_text()))
        self.seen.add(value % 7)
        self.link = (self.link * 31 + value + (edge == "right")) % 1_000_003
        self.count += 1
        out.send("links", at, [edge, value, self.count, {link}, sorted(self.seen)])
        out.request(at)

    def on_notify(self, at, out):
        out.send("sums", at, [self.link, self.count])

class Tell(Node):
    def on_message(self, edge, at, value, out):
        out.send("chained", at, value)

dataflow = Dataflow(load("two.yaml"), {{"chain": Chain(), "tell": Tell()}})
"""
BOTH = ("--input", "left=left", "--input", "right=right", "--output", "chained=out", "--output", "sums=sums")
KEPT = ("two.py", *BOTH, "--state", "state")
LOTS = """
class Lots:
    __slots__ = ("number",)
    turns = follow = position = "none"
    def __init__(self): self.number = -1
    def __iter__(self): return self
    def __next__(self):
        self.number += 1
        if self.number == 2 and not Path("quick").exists():
            time.sleep(60)
        if self.number == 3:
            raise StopIteration
        return 0, self.number
    def draw(self): raise AssertionError("lots are drawn")
    @property
    def within(self): return self

dataflow = Dataflow(load("two.yaml"), {"chain": Chain(), "tell": Tell()}, sources={"left": Lots, "right": []})
"""
KEPT_LOTS = ("two.py", "--output", "chained=out", "--output", "sums=sums", "--state", "state")


def two(folder: Path, claim: str = "pass", link: str = "self.link", size: int = 60) -> None:
    """A pipeline whose results depend on the order in which the lines of two inputs come."""
    write(folder, two__yaml=TWO_YAML, two__py=TWO.format(claim=claim, link=link))
    for name, first in (("left", 0), ("right", 1000)):
        epochs = [[first + 10 * epoch + number for number in range(10)] for epoch in range(size // 10)]
        (folder / name).write_text(message_lines(epochs))


def check(folder: Path) -> None:
    """All lines are there once, and are what one order of the inputs makes of them; each input keeps its order."""
    found = [line["value"] for line in lines_of((folder / "out").read_text()) if "value" in line]
    given = {
        name: [line["value"] for line in map(json.loads, (folder / name).read_text().splitlines()) if "value" in line]
        for name in ("left", "right")
    }
    link, seen = 17, set()
    came: dict[str, list[int]] = {"left": [], "right": []}
    for number, (edge, value, count, said, kinds) in enumerate(found):
        seen.add(value % 7)
        link = (link * 31 + value + (edge == "right")) % 1_000_003
        assert (count, said, kinds) == (number + 1, link, sorted(seen))
        came[edge].append(value)
    assert {edge: Counter(values) for edge, values in came.items()} == {e: Counter(v) for e, v in given.items()}
    for edge, values in came.items():
        times = [given[edge].index(value) // 10 for value in values]
        by_time: dict[int, list[int]] = {}
        for at, value in zip(times, values, strict=True):
            by_time.setdefault(at, []).append(value)
        assert all(each == sorted(each) for each in by_time.values())
    sums = [line for line in lines_of((folder / "sums").read_text()) if "value" in line]
    assert Counter(line["time"] for line in sums) == Counter(range(len(given["left"]) // 10))
    assert lines_of((folder / "out").read_text())[-1] == {"complete": []}


def half(folder: Path, *more: str) -> bytes:
    """Leave a run half done, killed after its only checkpoint; what had left on `chained`."""
    write(folder, slow="0.0005")
    process = started(folder, *KEPT, "--every", "1000", *more)
    begin = time.monotonic()
    while not (folder / "out").exists() or (folder / "out").read_bytes().count(b"value") < 20:
        assert time.monotonic() < begin + PATIENCE
        time.sleep(0.001)
    process.kill()
    process.communicate()
    (folder / "slow").unlink()
    return (folder / "out").read_bytes()


@pytest.mark.parametrize("engine", ["threads", "asyncio", "sim"])
def test_a_node_that_claimed_to_be_deterministic_is_named_and_nothing_wrong_is_written(
    tmp_path: Path, engine: str
) -> None:
    two(tmp_path, link="os.getpid()")
    before = half(tmp_path, "--engine", engine)
    result = run(tmp_path, *KEPT, "--every", "1000", "--engine", engine)
    assert result.exit_code == 1
    assert "PS748: " in result.complaint
    assert "has left, and now" in result.complaint
    if engine != "sim":  # which needs no order that is written, and so no digests
        assert re.search(
            r"PS748: the node 'chain' did otherwise when it was run again, with \S.* that came on '[^']+' at \d+: ",
            result.complaint,
        )
    assert (tmp_path / "out").read_bytes() == before
    again = run(tmp_path, *KEPT, "--every", "1000", "--engine", engine, "--delivery", "at-least-once")
    assert again == Result(0, "", "")
    content = (tmp_path / "out").read_bytes()
    assert content.startswith(before[: before.rindex(b"\n") + 1])
    assert content.count(b'"value"') > 120


@pytest.mark.parametrize("cut", [1, 9])
@pytest.mark.parametrize("engine", ["threads", "sim"])
def test_a_torn_line_is_completed(tmp_path: Path, engine: str, cut: int) -> None:
    two(tmp_path)
    before = half(tmp_path, "--engine", engine)
    whole = before[: before.rindex(b"\n") + 1]
    (tmp_path / "out").write_bytes(whole[:-cut])
    assert run(tmp_path, *KEPT, "--every", "1000", "--engine", engine) == Result(0, "", "")
    assert (tmp_path / "out").read_bytes().startswith(whole)
    check(tmp_path)


def test_an_output_that_was_altered_is_refused_and_stays(tmp_path: Path) -> None:
    two(tmp_path)
    before = half(tmp_path).replace(b'"left", 3', b'"left", 4')
    (tmp_path / "out").write_bytes(before)
    result = run(tmp_path, *KEPT, "--every", "1000")
    assert (result.exit_code, "PS748: what leaves is something else than what has left: out, byte" in result.err) == (
        1,
        True,
    )
    assert (tmp_path / "out").read_bytes() == before


@pytest.mark.parametrize("engine", ["threads", "asyncio", "sim"])
def test_who_says_that_it_may_do_otherwise_waits_for_checkpoints(tmp_path: Path, engine: str) -> None:
    two(tmp_path, claim="deterministic = False")
    says = (
        "pointstamp: what leaves waits for checkpoints (--delivery barrier): the node 'chain' says that it may do "
        "otherwise when it is run again\n"
    )
    write(tmp_path, slow="0.05")
    process = started(tmp_path, *KEPT, "--engine", engine, "--every", "1000")
    time.sleep(0.5)
    assert not (tmp_path / "out").exists() or not (tmp_path / "out").read_bytes()
    process.kill()
    process.communicate()
    (tmp_path / "slow").unlink()
    assert run(tmp_path, *KEPT, "--engine", engine, "--every", "1000") == Result(0, "", says)
    check(tmp_path)


@pytest.mark.parametrize(
    ("claim", "arguments", "says"),
    [
        (
            "deterministic = False",
            ("--state", "s", "--delivery", "deterministic"),
            "--delivery deterministic: the node 'chain'",
        ),
        ("pass", ("--delivery", "barrier"), "--delivery says how outputs go with --state"),
        (
            "pass",
            ("--state", "s", "--delivery", "deterministic", "--engine", "spark"),
            "Spark computes in an order of its own",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, claim: str, arguments: tuple[str, ...], says: str) -> None:
    two(tmp_path, claim=claim)
    result = run(tmp_path, "two.py", *BOTH, *arguments)
    assert (result.exit_code, len(result.err.splitlines())) == (2, 1)
    assert says in result.complaint


def test_the_way_of_delivery_may_change_between_two_starts(tmp_path: Path) -> None:
    two(tmp_path)
    half(tmp_path)
    for delivery in ("barrier", "deterministic"):
        write(tmp_path, slow="0.002")
        process = started(tmp_path, *KEPT, "--every", "0.02", "--delivery", delivery)
        time.sleep(0.2)
        process.kill()
        process.communicate()
    (tmp_path / "slow").unlink()
    assert run(tmp_path, *KEPT) == Result(0, "", "")
    check(tmp_path)


TURNS = """
def one(name, first):
    def items():
        if Path(f"{name} is late").exists():
            time.sleep(0.4)
        for number in range(12):
            yield 0, first + number
            time.sleep(0.01)
    return items

sources = {"left": one("left", 0), "right": one("right", 1000)}
dataflow = Dataflow(load("two.yaml"), {"chain": Chain(), "tell": Tell()}, sources=sources)
"""


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_what_has_left_comes_in_its_order_also_where_it_waits_from_now_on(tmp_path: Path, engine: str) -> None:
    """The other input comes first when the run goes on; what was written down counts."""
    two(tmp_path)
    write(tmp_path, two__py=(tmp_path / "two.py").read_text() + TURNS)
    (tmp_path / "left is late").touch()
    process = started(tmp_path, *KEPT_LOTS, "--every", "3600", "--engine", engine)
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "out").exists() or (tmp_path / "out").read_text().count("value") < 5:
        assert time.monotonic() < end
        time.sleep(0.001)
    process.kill()
    process.communicate()
    (tmp_path / "left is late").rename(tmp_path / "right is late")
    result = run(tmp_path, *KEPT_LOTS, "--engine", engine, "--delivery", "barrier")
    assert (result.exit_code, result.err) == (0, "")
    found = [line["value"][1] for line in lines_of((tmp_path / "out").read_text()) if "value" in line]
    assert found[:5] == [1000, 1001, 1002, 1003, 1004]
    assert sorted(found) == [*range(12), *range(1000, 1012)]


def values(result: Any) -> int:
    return sum("value" in line for line in lines_of(result.out))


def test_standard_output_waits_too(tmp_path: Path) -> None:
    two(tmp_path)
    command = ("two.py", *BOTH[:4], "--state", "state", "--delivery", "barrier", "--every", "1000")
    result = run(tmp_path, *command)
    assert (result.exit_code, result.err, values(result)) == (0, "", 126)
    assert not run(tmp_path, *command).out


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "asyncio", "sim"])
@pytest.mark.parametrize("every", ["3600", "0"])
def test_who_writes_one_pipe_after_the_other_may_begin_with_either(tmp_path: Path, engine: str, every: str) -> None:
    """What the killed run had first comes last now, behind more than a pipe holds: nobody waits for the other."""
    two(tmp_path)
    left, right = range(5), range(5, 205)
    texts = {
        name: "".join(f'{{"time": 0, {" " * 900}"value": {number}}}\n' for number in numbers)
        for name, numbers in (("left", left), ("right", right))
    }
    for name in texts:
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)

    def told() -> list[int]:
        """The values of whole lines: the last one may be half there while it is written."""
        text = (tmp_path / "out").read_text() if (tmp_path / "out").exists() else ""
        return [line["value"][1] for line in lines_of(text[: text.rfind("\n") + 1]) if "value" in line]

    def fed(first: str, second: str, until: Sequence[int]) -> None:
        with (tmp_path / "left").open("w") as to_left, (tmp_path / "right").open("w") as to_right:
            to = {"left": to_left, "right": to_right}
            for name, count in zip((first, second), until, strict=True):
                to[name].write(texts[name])
                to[name].flush()
                end = time.monotonic() + PATIENCE
                while len(told()) < count and time.monotonic() < end:
                    time.sleep(0.001)
            if until[1]:
                process.kill()
                process.communicate()

    process = started(tmp_path, *KEPT, "--every", every, "--engine", engine)
    fed("left", "right", (5, 205))
    assert [*told()] == [*left, *right]
    process = started(tmp_path, *KEPT, "--every", every, "--engine", engine)
    feeding = threading.Thread(target=fed, args=("right", "left", (0, 0)), daemon=True)
    feeding.start()
    assert (process.communicate(timeout=PATIENCE), process.returncode) == ((b"", b""), 0)
    feeding.join()
    assert [*told()] == [*left, *right]


@pytest.mark.parametrize("engine", ["threads", "asyncio"])
def test_a_source_of_the_pipeline_may_have_names_like_those_of_ours(tmp_path: Path, engine: str) -> None:
    """It draws lots, and is within something; when what it brought is done again, nobody calls or follows that."""
    two(tmp_path)
    code = (tmp_path / "two.py").read_text() + LOTS
    (tmp_path / "two.py").write_text(code)
    process = started(tmp_path, *KEPT_LOTS, "--every", "3600", "--engine", engine)
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "out").exists() or "value" not in (tmp_path / "out").read_text():
        assert time.monotonic() < end
        time.sleep(0.001)
    process.kill()
    process.communicate()
    (tmp_path / "quick").touch()
    process = started(tmp_path, *KEPT_LOTS, "--every", "3600", "--engine", engine)
    assert (process.communicate(timeout=PATIENCE), process.returncode) == ((b"", b""), 0)
    values = [line["value"][1] for line in lines_of((tmp_path / "out").read_text()) if "value" in line]
    assert sorted(values) == list(range(3))
