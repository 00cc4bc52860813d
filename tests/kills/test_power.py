"""Power cuts at every operation of runs that are kept: what was not synced is gone, torn, scattered or empty."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.commands.calls import compiled
from tests.commands.forked import Forked
from tests.commands.pipelines import PATIENCE, environment
from tests.kills.disks import SECTOR, Disk, Loss, Operation
from tests.kills.of_one_order import Keyed, TwoInputs
from tests.kills.of_one_result import Loop
from tests.kills.power import ANOTHER_BOOT, Recorded
from tests.kills.program import Program
from tests.kills.seeds import MEMORY

RUNS: list[tuple[type[Program], tuple[str, ...]]] = [
    (TwoInputs, ("--engine=threads", "--synced")),
    (Keyed, ("--engine=threads", "--synced")),
    (Keyed, ("--engine=sim", "--synced")),
    (TwoInputs, ("--engine=asyncio",)),
    (Loop, ("--engine=threads", "--delivery=barrier")),
    (TwoInputs, ("--engine=threads", "--delivery=at-least-once")),
]
of_each_run = pytest.mark.parametrize(
    ("program", "keep"), RUNS, ids=[" ".join((program.name, *keep)) for program, keep in RUNS]
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that writes calls down."""
    return compiled(tmp_path_factory.mktemp("calls"))


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None, prefix="power-") as found:
        yield Path(found)


def check(recorded: Recorded, most: int | None = None) -> None:
    """Go on after all cuts, or after so many."""
    cuts = recorded.cuts()
    if most is not None:
        cuts = sorted(random.Random(7).sample(cuts, most), key=cuts.index)
    losses: Counter[Loss] = Counter()
    for cut, wrong in recorded.after(cuts):
        assert wrong == [], cut
        losses[cut.loss] += 1
    assert len(losses) == len(Loss) or most is not None


@pytest.mark.slow
@of_each_run
def test_some_cuts(folder: Path, calls: Path, program: type[Program], keep: tuple[str, ...]) -> None:
    check(Recorded(folder, calls, program("cut", 2), [*keep, "--every=0.005"]), 5)


@pytest.mark.soak
@of_each_run
def test_every_cut(folder: Path, calls: Path, program: type[Program], keep: tuple[str, ...]) -> None:
    check(Recorded(folder, calls, program("cut", 2), [*keep, "--every=0.005"]))


# What has to be synced is not, as code that stands before that of the pipeline.
NO_ORDER = "from progress.runtime.durable.order_log import OrderLog\nOrderLog.sync = lambda log: None\n"
NO_OUTPUT = "from graphs.running.line_sink import LineFile\nLineFile.settle = lambda file: None\n"


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "every"), [(NO_ORDER, "1000"), (NO_OUTPUT, "0.005")], ids=["order", "outputs"])
def test_what_is_not_synced_is_found(folder: Path, calls: Path, spoil: str, every: str) -> None:
    program = TwoInputs("cut", 2)
    program.files["killed.py"] = spoil + program.files["killed.py"]
    recorded = Recorded(folder, calls, program, ["--engine=threads", "--synced", f"--every={every}"])
    cuts = [cut for cut in recorded.cuts() if cut.loss is Loss.DROPPED and cut.after > 40]
    assert any(wrong for _, wrong in recorded.after(cuts))


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
@pytest.mark.parametrize("synced", [(), ("--synced",)], ids=["", "synced"])
def test_what_leaves_after_a_power_cut_is_not_taken_back_when_that_run_is_killed(
    tmp_path: Path, engine: str, synced: tuple[str, ...]
) -> None:
    """Though none of the checkpoints that it takes now and then was taken: a first one is, before anything leaves."""
    program = TwoInputs("cut")
    for name, text in program.files.items():
        (tmp_path / name).write_text(text)
    command = ["run", *program.arguments(), "--state=state", "--every=1000", f"--engine={engine}", *synced]
    path = tmp_path / "links"

    def life(boot: str, until: int) -> bytes:
        """What has left when it is killed, once so many values are there and more than before."""
        (tmp_path / "killed.py").write_text(boot + program.files["killed.py"])
        before = path.read_bytes() if path.exists() else b""
        process = Forked(command, tmp_path, environment())
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            content = path.read_bytes() if path.exists() else b""
            if content.count(b"value") >= until and content != before:
                break
        process.kill()
        process.communicate()
        return path.read_bytes()

    life("", 5)
    left = life(ANOTHER_BOOT, 10)
    process = Forked(command, tmp_path, environment())
    assert (process.communicate(timeout=PATIENCE), process.returncode) == ((b"", b""), 0)
    assert path.read_bytes().startswith(left)


def test_of_a_disk_there_is_what_was_synced_and_anything_that_was_not(folder: Path) -> None:
    """Worked out by hand, for each loss."""
    path, new, large = folder / "file", folder / "new", bytes(range(1, 251)) * 4
    done = [("open", path, folder, 0, b""), ("write", path, folder, 0, b"one"), ("sync", path, folder, 0, b"")]
    done += [("sync", folder, folder, 0, b""), ("rename", path, new, 0, b""), ("write", new, folder, 3, large)]
    disk = Disk(folder)
    for each in done:
        disk.do(Operation(*each))

    def found(loss: Loss) -> set[tuple[str, bytes | None]]:
        disks = [disk.after(loss, random.Random(seed)) for seed in range(100)]
        return {(name.name, content) for each in disks for name, content in each.items() if name != folder}

    assert found(Loss.KEPT) == {("new", b"one" + large)}
    assert found(Loss.DROPPED) == {("file", b"one")}
    first, whole = b"one" + large[: SECTOR - 3], b"one" + large
    assert found(Loss.TORN) == {(name, content) for name in ("file", "new") for content in (b"one", first, whole)}
    gap = b"one" + bytes(SECTOR - 3) + large[SECTOR - 3 :]
    assert found(Loss.SCATTERED) == found(Loss.TORN) | {("file", gap), ("new", gap)}
    assert found(Loss.EMPTY) == {(name, b"one" + bytes(1_000)) for name in ("file", "new")}
