"""Time-aware operators beside the paper's definitions word for word: `python -m benchmarks.operators`.

Microseconds an event; the ratio is that of the fast form over the plain one, on the same stream, once both gave the
same. The stream has four rounds an epoch and 20 items, the last five epochs open. Plain forms keep lists, so they are
measured on 1,000 events alone; the fast ones on up to a million, where their cost an event has to stay what it was.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.engine import line
from progress import Domain, Nat, Product
from progress.operators import DT, WM, Event, Left, Right, batch, histogram, join, produce, total_histogram
from progress.operators import by_definition as plain

GRID = Product([Nat(), Nat(3)])


def events(size: int, side: Callable[[Any], Any] = lambda time: time, flat: bool = False) -> Iterator[Event]:
    """The stream."""
    for number in range(size // 25):
        for item in range(20):
            yield DT(side(number if flat else (number, item % 4)), item % 7)
        if number >= 5:
            yield WM(side(number - 5 if flat else (number - 5, 3)))


def two(size: int) -> Iterator[Event]:
    """The same on two sides."""
    for left, right in zip(events(size // 2, Left), events(size // 2, Right), strict=True):
        yield left
        yield right


def timed(work: Callable[[], Any], repeat: int = 3) -> float:
    """The least seconds."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def same(one: Any, other: Any) -> None:
    """Both must have put out the same before any time is printed."""
    if [*one] != [*other]:
        sys.exit("the productions differ")


def equal(one: int, other: int) -> int | None:
    """Equal items match."""
    return one if one == other else None


def main() -> None:
    """Every fast form beside its plain one, then alone at sizes that plain forms do not reach."""
    le = GRID.less_equal
    nat: Domain = Nat()
    rows: list[tuple[str, Any, Any, Callable[[int], Iterator[Event]]]] = [
        ("batch, pairs", batch(domain=GRID), plain.batch_op([], le), events),
        ("histogram, pairs", histogram(domain=GRID), plain.ihist_op([], [], le), events),
        (
            "total histogram, numbers",
            total_histogram(domain=nat),
            plain.total_ihist_op(Counter(), [], nat.less_equal),
            lambda size: events(size, flat=True),
        ),
        ("join by key, pairs", join(equal, keys=(str, str), domain=GRID), plain.join_op(equal, le), two),
    ]
    print("microseconds an event: 1,000 events, plain form, ratio; then the fast form at more events")
    for name, fast, slow, stream in rows:
        given = [*stream(1_000)]
        same(produce(fast, given), plain.produce(slow, given))
        mine = timed(lambda: deque(produce(fast, given), 0))  # noqa: B023 - called at once
        theirs = timed(lambda: plain.produce(slow, given), 1)  # noqa: B023
        line(name, mine / len(given) * 1e6, theirs / len(given) * 1e6, "1,000 events")
        for size in (10_000, 100_000, 1_000_000):
            count = sum(1 for _ in stream(size))
            spent = timed(lambda: deque(produce(fast, stream(size)), 0), 1) - timed(lambda: deque(stream(size), 0), 1)  # noqa: B023
            line("", spent / count * 1e6, None, f"{size:,} events")


if __name__ == "__main__":
    main()
