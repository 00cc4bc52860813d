"""The fast implementation and the reference twin agree on random graphs over all domains."""

from __future__ import annotations

import pytest

from tests.reference.against_reference import Tally, compare_in_parallel

EVERY_KIND = (
    "could_result_in: True",
    "could_result_in: False",
    "close",
    "contains",
    "eligible: some blocked",
    "condition 1: True",
    "condition 1: False",
    "condition 2: True",
    "condition 2: False",
    "advancing: True",
    "advancing: False",
)


def check_spread(tally: Tally) -> None:
    """No kind of case was left out, and what the reference could not finish is a small part."""
    for kind in EVERY_KIND:
        assert tally.counts.get(kind, 0) >= tally.total / 200, f"{kind}: {tally.counts}"
    assert tally.counts.get("discarded: the reference did not finish", 0) < tally.total / 20


@pytest.mark.slow
def test_twenty_thousand_cases() -> None:
    tally = compare_in_parallel(0, 20_000)
    assert tally.total >= 20_000
    check_spread(tally)


@pytest.mark.soak
def test_half_a_million_cases() -> None:
    tally = compare_in_parallel(10_000_000, 500_000)
    assert tally.total >= 500_000
    check_spread(tally)
