"""Connected components to a fixed point, epoch by epoch: `python -m benchmarks.components`.

Roads come and go. Milliseconds an epoch, once all of these gave the same for it:

* by hand: plain Python tells each place the least name that a neighbour knows, round by round, of all roads anew;
* `iterate`: the same by a program of streams that is given all roads of each epoch;
* a collection that is given the changes, and computes only what they make different.

The ratio is that to the first. Where most places hang together a small change reaches far, so there are two shapes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any

from pointstamp import Complete, Flow, Messages

Road = tuple[int, int]
EPOCHS = 20


def by_hand(roads: list[Road]) -> dict[int, int]:
    """The least name of each place's component."""
    near: dict[int, list[int]] = {}
    for one, other in roads:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    labels = {place: place for place in near}
    told = labels
    while told:
        heard: dict[int, int] = {}
        for place, label in told.items():
            for neighbour in near[place]:
                if label < heard.get(neighbour, labels[neighbour]):
                    heard[neighbour] = label
        labels |= heard
        told = heard
    return labels


def epochs(count: int, places: int, changes: int) -> tuple[list[list[tuple[Road, int]]], list[list[Road]]]:
    """The changes of each epoch, and the roads after it."""
    random = Random(1)

    def road() -> Road:
        return random.randrange(places), random.randrange(places)

    there = [road() for _ in range(count)]
    changed: list[list[tuple[Road, int]]] = [[(each, 1) for each in there]]
    states = [there]
    for _ in range(EPOCHS):
        there = [*there]
        now: list[tuple[Road, int]] = []
        for _ in range(changes // 2):
            at = random.randrange(count)
            new = road()
            now += [(there[at], -1), (new, 1)]
            there[at] = new
        changed.append(now)
        states.append(there)
    return changed, states


def with_streams(states: list[list[Road]]) -> tuple[list[float], list[dict[int, int]]]:
    """The seconds of each epoch, and the labels."""
    flow: Flow[int] = Flow()
    roads = flow.input("roads")
    both = roads.flat_map(lambda r: [r, r[::-1]]).keyed()

    def spread(labels: Any) -> Any:
        told = labels.keyed().join(both, lambda place, label, neighbour: (neighbour, label))
        return labels.merge(told).keyed().reduce(min)

    places = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()
    places.iterate(spread, name="components").output("labels")
    took: list[float] = []
    found = flow.run(sources={"roads": lambda: timed(states, took)})
    labels: list[dict[int, int]] = [{} for _ in states]
    for epoch, (place, label) in found["labels"]:
        labels[epoch][place] = label
    return took, labels


def with_a_collection(changes: list[list[tuple[Road, int]]]) -> tuple[list[float], list[dict[int, int]]]:
    """The seconds of each epoch, and the labels."""
    flow: Flow[int] = Flow()
    roads = flow.collection("roads")
    both = roads.flat_map(lambda r: [r, r[::-1]])
    start = roads.flat_map(lambda r: [(place, place) for place in r]).distinct()
    labels = start.iterate(
        lambda labels: (
            labels.join(both, lambda place, label, neighbour: (neighbour, label))
            .concat(start)
            .reduce(lambda place, names: [min(names)])
        ),
        name="components",
    )
    labels.changes().output("labels")
    took: list[float] = []
    found = flow.run(sources={"roads": lambda: timed(changes, took)})
    by_epoch: list[list[tuple[Road, int]]] = [[] for _ in changes]
    for epoch, change in found["labels"]:
        by_epoch[epoch].append(change)
    now: dict[int, int] = {}
    states = []
    for each in by_epoch:
        for (place, _), _ in filter(lambda change: change[1] < 0, each):
            del now[place]
        now |= dict(label for label, count in each if count > 0)
        states.append(dict(now))
    return took, states


def timed(values: list[list[Any]], took: list[float]) -> Iterator[Any]:
    """A source that completes each epoch before the next one, and notes how long each of them took."""
    for epoch, each in enumerate(values):
        started = time.process_time()
        yield Messages(epoch, each)
        yield Complete([epoch + 1])
        took.append(time.process_time() - started)


def measure(roads: int, places: int, changes: int) -> None:
    """One shape."""
    changed, states = epochs(roads, places, changes)
    hand: list[float] = []
    right = []
    for state in states:
        started = time.process_time()
        right.append(by_hand(state))
        hand.append(time.process_time() - started)
    rounds, by_rounds = with_streams(states[:4])
    incremental, by_changes = with_a_collection(changed)
    if by_rounds != right[:4] or by_changes != right:
        raise SystemExit("the labels differ")

    def mean(seconds: list[float]) -> float:
        return 1e3 * sum(seconds) / len(seconds)

    plain = mean(hand)
    print(f"{roads:,} roads, {places:,} places, {changes} changes an epoch")
    print(f"  {'by hand, all anew':40} {plain:10.1f} ms")
    for name, value in (
        ("iterate, all anew", mean(rounds)),
        ("collection, the first epoch", 1e3 * incremental[0]),
        ("collection, an epoch of changes", mean(incremental[1:])),
    ):
        print(f"  {name:40} {value:10.1f} ms {value / plain:10.2f}")


def main() -> None:
    """All shapes."""
    for places in (20_000, 12_000):
        for changes in (2, 20):
            measure(10_000, places, changes)
    measure(1_000, 2_000, 2)


if __name__ == "__main__":
    main()
