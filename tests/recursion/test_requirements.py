"""What A&I 3.4 requires of a graph with calls is missed exactly where it is not met: the checks and the reference."""

from __future__ import annotations

import random

import pytest

from graphs import from_data
from recursion import reference
from tests.recursion.random_calls import random_calls, random_unmet
from tests.reference.against_reference import Tally

CODES = ("PS411", "PS412", "PS413", "PS414", "PS415", "PS416")


@pytest.mark.slow
def test_what_is_reported_applies_and_something_is_reported_where_anything_does() -> None:
    tally = Tally()
    for seed in range(6_000):
        document = random_unmet(random.Random(seed))
        right = reference.requirements(reference.Graph(document))
        _, mismatches = from_data(document).resolve()
        found = {mismatch.error.code for mismatch in mismatches}
        assert found <= right, f"seed {seed}: reported {found}, right are {right}\n{document}"
        assert bool(found) == bool(right), f"seed {seed}: nothing of {right} is reported\n{document}"
        if "graphs" not in document["recursion"] and "PS415" not in right:
            assert found == right, f"seed {seed}: reported {found}, right are {right}\n{document}"
        for mismatch in mismatches:
            assert mismatch.location in {*document["nodes"], *reference.Graph(document).edges}
            tally.add(f"reported: {mismatch.error.code}")
        tally.add("graphs")
        tally.add("graphs: all is met", not right)
        tally.add("graphs: one code", len(right) == 1)
    for kind in (*(f"reported: {code}" for code in CODES), "graphs: all is met", "graphs: one code"):
        assert tally.counts[kind] >= tally.total / 100, tally.counts


def test_nothing_is_reported_where_all_is_met() -> None:
    for seed in range(600):
        document = random_calls(random.Random(seed))
        assert reference.requirements(reference.Graph(document)) == set(), f"seed {seed}"
        _, mismatches = from_data(document).resolve()
        assert mismatches == [], f"seed {seed}: {document}"
