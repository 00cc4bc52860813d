"""What a run keeps as bytes and back: `python -m benchmarks.encoding`.

Nanoseconds of the processor for an entry of a dict, the least of some rounds: the compiled encoding, its twin in
Python, and pickle, which takes more kinds of values and runs code when it is read. All three read back what was written
before any time is printed. The search for reference cycles pauses for all of them, as `decoded` has it pause.
"""

from __future__ import annotations

import gc
import pickle
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from progress.garbage import without_cycle_search
from progress.kernel import BUILT
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded

ENTRIES = 100_000
PROTOCOL = 5


@dataclass
class Place:
    """A part of a part."""

    north: float
    east: float


@dataclass
class Trip:
    """What holds others of its kind."""

    name: str
    begin: Place
    stops: list[Place]


def states(rng: random.Random) -> dict[str, dict[Any, Any]]:
    """What keyed nodes keep."""

    def number() -> int:
        return rng.randrange(1_000_000)

    def place() -> Place:
        return Place(rng.random(), rng.random())

    return {
        "text to number": {f"key {number()} {each}": number() for each in range(ENTRIES)},
        "pair to list of 4 numbers": {(number(), f"k{each}"): [number() for _ in range(4)] for each in range(ENTRIES)},
        "number to set of 4": {each: {number() for _ in range(4)} for each in range(ENTRIES)},
        "number to 4 nested dataclasses": {
            each: Trip(f"trip {each}", place(), [place(), place()]) for each in range(ENTRIES // 10)
        },
    }


def least(work: Callable[[], Any], rounds: int) -> float:
    """The least seconds of the processor."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        with without_cycle_search():
            started = time.process_time()
            found = work()
            best = min(best, time.process_time() - started)
        del found
    return best


Measured = tuple[float, float, float]  # nanoseconds an entry of writing and of reading, its bytes


def measured(
    state: dict[Any, Any], write: Callable[[Any], bytes], read: Callable[[bytes], Any], rounds: int
) -> Measured:
    """Writing and reading of one state in one way."""
    content = write(state)
    if read(content) != state:
        sys.exit("what is read is not what was written")
    writing, reading = least(partial(write, state), rounds), least(partial(read, content), rounds)
    return writing / len(state) * 1e9, reading / len(state) * 1e9, len(content) / len(state)


def by_kernel(state: dict[Any, Any], kernel: bool, rounds: int) -> Measured:
    """The compiled encoding, or its twin."""
    plain = Plain()
    write = partial(encoded, parts=plain.parts, kernel=kernel)
    return measured(state, write, partial(decoded, kinds=plain, kernel=kernel), rounds)


def main() -> None:
    """A table: writing and reading by the kernel, by the twin and by pickle, and the kernel's part of the others."""
    if not BUILT:
        sys.exit("the compiled kernel is not there: install again with a C compiler")
    heads = "".join(f"{head:>15}" for head in ("this", "twin", "pickle", "this/twin", "this/pickle"))
    print(f"{'ns an entry, write / read':32}{heads}  bytes of this / pickle")
    for name, state in states(random.Random(1)).items():
        this, twin = by_kernel(state, True, 9), by_kernel(state, False, 3)
        peer = measured(state, partial(pickle.dumps, protocol=PROTOCOL), pickle.loads, 9)
        times = "".join(f"{f'{write:.0f} / {read:.0f}':>15}" for write, read, _ in (this, twin, peer))
        parts = "".join(f"{f'{this[0] / write:.2f} / {this[1] / read:.2f}':>15}" for write, read, _ in (twin, peer))
        print(f"{name:32}{times}{parts}  {this[2]:.0f} / {peer[2]:.0f}", flush=True)


if __name__ == "__main__":
    main()
