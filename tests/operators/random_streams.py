"""Random time-aware streams over total, product and finite orders, monotone and not, with and without buffers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from progress import Domain, Finite, Lex, Nat, Product
from progress.operators import DT, WM, Event, Left, Right

DIAMOND = Finite(
    ["t0", "t1", "t2", "t3", "t4", "t5"],
    [("t0", "t1"), ("t1", "t4"), ("t0", "t2"), ("t2", "t5"), ("t0", "t3"), ("t3", "t5")],
)
DOMAINS: tuple[Domain, ...] = (
    Nat(),
    Nat(4),
    Product([Nat(), Nat()]),
    Product([Nat(3), Nat(), Nat(1)]),
    Lex([Nat(), Nat(2)]),
    DIAMOND,
    Product([Finite(["x", "y"]), Nat()]),
)


class Given(NamedTuple):
    """A random case: an order, a stream over it, and data of before."""

    domain: Domain
    events: tuple[Event, ...]
    buffer: tuple[tuple[Any, Any], ...]


def time_of(domain: Domain, chosen: random.Random) -> Any:
    """A small time."""
    match domain:
        case Nat(maximum=maximum):
            return chosen.randint(0, 5 if maximum is None else maximum)
        case Finite(elements=elements):
            return chosen.choice(elements)
        case Product(parts=parts) | Lex(parts=parts):
            return tuple(time_of(part, chosen) for part in parts)
    raise AssertionError(domain)


def random_case(seed: int, domain: Domain | None = None, monotone: bool | None = None) -> Given:
    """Streams of up to 14 events; two of three are monotone."""
    chosen = random.Random(f"stream {seed}")
    order = domain or chosen.choice(DOMAINS)
    is_monotone = chosen.random() < 0.67 if monotone is None else monotone
    less_equal = order.less_equal
    passed: list[Any] = []
    events: list[Event] = []
    for _ in range(chosen.randint(0, 14)):
        time = time_of(order, chosen)
        if chosen.random() < 0.35:
            passed.append(time)
            events.append(WM(time))
        elif not is_monotone or not any(less_equal(time, each) for each in passed):
            events.append(DT(time, chosen.choice("abc")))
    buffer = tuple((time_of(order, chosen), chosen.choice("abc")) for _ in range(chosen.choice((0, 0, 0, 1, 3))))
    return Given(order, tuple(events), buffer)


def two_streams(seed: int, domain: Domain, monotone: bool = True) -> tuple[Event, ...]:
    """Two random streams merged into one, whose times are `Left` and `Right`."""
    chosen = random.Random(f"two streams {seed}")
    sides = [
        (Left, [*random_case(2 * seed, domain, monotone).events]),
        (Right, [*random_case(2 * seed + 1, domain, monotone).events]),
    ]
    merged: list[Event] = []
    while any(events for _, events in sides):
        side, events = chosen.choice([each for each in sides if each[1]])
        merged.append(at_side(side, events.pop(0)))
    return tuple(merged)


def at_side(side: Callable[[Any], Any], event: Event) -> Event:
    """The event on one of two sides."""
    return DT(side(event.time), event.data) if isinstance(event, DT) else WM(side(event.time))
