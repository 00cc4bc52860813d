"""Every engine of the tracker and the reference agree on random sessions over all domains."""

from __future__ import annotations

import pytest

from tests.reference.against_reference import Tally
from tests.reference.against_sessions import compare_in_parallel

EVERY_KIND = (
    "step: state compared",
    "step: taken",
    "step: broken off",
    *(f"refused: PS50{digit}" for digit in range(1, 10)),
    "ready: some",
    "ready: none",
    "complete: True",
    "complete: False",
    "why: blocked",
    "why: free",
    "held by: input",
    "held by: message",
    "held by: request",
    "holding: some",
    "subscription: moved",
    "snapshot: restored",
    "start: refused",
)
EVERY_GRAPH = (
    *(f"domain: {kind}" for kind in ("nat", "int", "unit", "product", "lex", "finite", "sum")),
    "graph: built-in",
    "graph: of the user's own",
)


def check_spread(tally: Tally) -> None:
    """No kind of case was left out, every engine was tried, and what the reference could not finish is little."""
    counts = tally.counts
    for kind in EVERY_KIND:
        assert counts.get(kind, 0) >= tally.total / 40, f"{kind}: {counts}"
    for kind in EVERY_GRAPH:
        assert counts.get(kind, 0) >= tally.total / 500, f"{kind}: {counts}"
    for kind in ("condition 2: True", "condition 2: False", "proof: passes a location twice"):
        assert counts.get(kind, 0) >= tally.total / 5000, f"{kind}: {counts}"
    for engine in ("eager", "hierarchical"):
        for kernel in ("", " on the kernel"):
            assert counts.get(f"tracker: {engine}{kernel}", 0) >= tally.total / 10, f"{engine}{kernel}: {counts}"
    assert counts.get("without end: named", 0) > 0
    assert counts.get("discarded: the reference did not finish", 0) < tally.total / 20


@pytest.mark.slow
def test_ten_thousand_sessions() -> None:
    """One tracker each, which begins with another engine in every session and changes it at every snapshot."""
    tally = compare_in_parallel(0, 10_000, trackers=1)
    assert tally.total >= 10_000
    check_spread(tally)


@pytest.mark.soak
def test_half_a_million_sessions() -> None:
    tally = compare_in_parallel(10_000_000, 500_000, trackers=4)
    assert tally.total >= 500_000
    check_spread(tally)
