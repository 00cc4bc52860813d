"""What an event costs in the fast forms, counted in comparisons and additions: flat in the length of the stream."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from progress import Domain, Lex, Nat, Product
from progress.operators import DT, WM, Event, Left, Right, histogram
from progress.operators.batch import Batch
from progress.operators.histogram import Histogram
from progress.operators.join import join
from progress.operators.open_times import OpenTimes
from progress.operators.times import Times

SIZES = (1_000, 4_000, 16_000)
ROUNDS = 4


def stream(domain: Domain, size: int) -> Iterator[Event]:
    """Epochs of four rounds and 20 items each, the last 5 epochs open: a bounded number of open times."""
    for number in range(size // 25):
        for item in range(20):
            yield DT(number if isinstance(domain, Nat) else (number, item % ROUNDS), item % 7)
        done = number - 5
        if done >= 0:
            yield WM(done if isinstance(domain, Nat) else (done, ROUNDS - 1))


ORDERS: tuple[Domain, ...] = (Nat(), Product([Nat(), Nat(ROUNDS - 1)]), Lex([Nat(), Nat(ROUNDS - 1)]))


@pytest.mark.parametrize("domain", ORDERS, ids=str)
def test_batches_do_not_look_at_the_buffer(domain: Domain) -> None:
    costs = []
    for size in SIZES:
        one = Batch(Times(domain), [])
        events = 0
        for event in stream(domain, size):
            one.take(event)
            events += 1
        costs.append(one.open.comparisons / events)
    assert max(costs) <= 1.25 * min(costs), costs
    assert costs[-1] < 3


@pytest.mark.parametrize("domain", ORDERS, ids=str)
def test_histograms_add_what_is_new(domain: Domain) -> None:
    costs = []
    for size in SIZES:
        one: Histogram = histogram(domain=domain)
        events = 0
        for event in stream(domain, size):
            one.take(event)
            events += 1
        costs.append(one.complete.added / events)
    assert max(costs) <= 1.25 * min(costs), costs
    assert costs[-1] < 6


def test_a_histogram_in_a_chain_of_pythons_own_times_looks_at_one_group() -> None:
    one = histogram()
    for time in range(2_000):
        one.take(DT(time, "a"))
        one.take(WM(time))
    assert one.complete.added == 2_000


def test_a_watermark_looks_at_the_least_times_alone() -> None:
    """A chain of 5,000 open times: a watermark below all of them costs one comparison, one that takes k about k."""
    waiting = OpenTimes(Times(Nat()))
    for time in range(5_000):
        waiting.add(time, "a")
    before = waiting.comparisons
    assert waiting.taken(-1) == []
    assert waiting.comparisons - before == 1
    before = waiting.comparisons
    assert len(waiting.taken(9)) == 10
    assert waiting.comparisons - before < 4 * 5_000  # once: all hung under the first one, and are paired now
    before = waiting.comparisons
    for time in range(10, 1_000):
        assert len(waiting.taken(time)) == 1
    assert (waiting.comparisons - before) / 990 < 40


def test_a_join_by_key_matches_pairs_of_one_key_alone() -> None:
    plain, by_key = join(lambda one, other: None), join(lambda one, other: None, keys=(str, str))
    for operator in (plain, by_key):
        for item in range(300):
            operator.take(DT(Left(0), item))
            operator.take(DT(Right(0), item))
        operator.take(WM(Left(0)))
        operator.take(WM(Right(0)))
    assert plain.matched == 300 * 300
    assert by_key.matched == 300
