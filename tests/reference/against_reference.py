"""Random cases: the fast implementation against the reference twin, which shares no code with it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from math import prod
from multiprocessing import get_context
from typing import Any

from graphs import Graph, from_data
from progress import CouldResultIn, PointstampError, Report, check_conditions, close, eligible, reference
from progress.plain import read_time
from progress.reference.times import hull, sufficient_bound
from tests.reference.random_graphs import random_document, random_query

MOST_WINDOW = 250  # times a location that the reference may have to try for the conditions


class Tally:
    """How many cases of each kind were compared, so that a run can show that none of them was empty."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, kind: str, amount: int = 1) -> None:
        """Count cases."""
        self.counts[kind] = self.counts.get(kind, 0) + amount

    def merge(self, other: Tally) -> None:
        """Add the counts of another run."""
        for kind, count in other.counts.items():
            self.add(kind, count)

    @property
    def total(self) -> int:
        """All queries and verdicts compared."""
        return sum(count for kind, count in self.counts.items() if ":" not in kind)


def compare(seed: int, tally: Tally, queries: int = 6) -> None:
    """One random graph: some queries and, where the reference can try all times, the conditions."""
    rng = random.Random(seed)
    document = random_document(rng)
    graph, oracle = from_data(document), reference.Graph(document)
    for _ in range(queries):
        query = random_query(rng, document, graph=oracle)
        try:
            compare_query(graph, oracle, query, tally)
        except (AssertionError, PointstampError) as error:
            raise AssertionError(f"seed {seed}: {error}\n{document}\n{query}") from error
    bound = sufficient_bound(document)
    if max(_window_size(domain, bound) for domain in oracle.domain.values()) <= MOST_WINDOW:
        try:
            compare_conditions(check_conditions(graph), oracle, bound, tally)
        except (AssertionError, PointstampError) as error:
            raise AssertionError(f"seed {seed}: {error}\n{document}") from error


def _window_size(domain: Any, bound: int) -> int:
    """How many times the reference would have to try at a location of this domain."""
    match domain:
        case ("nat", maximum):
            return 1 + (bound if maximum is None else min(maximum, bound))
        case ("int",):
            return 2 * bound + 1
        case ("unit",):
            return 1
        case ("finite", elements, _):
            return len(elements)
        case ("sum", options):
            return sum(_window_size(part, bound) for _, part in options)
    return prod(_window_size(part, bound) for part in domain[1])


def _pointstamp(data: Any) -> tuple[str, Any]:
    return data[0], read_time(data[1])


def compare_query(graph: Graph, oracle: reference.Graph, query: dict[str, Any], tally: Tally) -> None:
    """The same answer from both; proofs are judged by the reference."""
    (kind, body), *_ = query.items()
    if kind == "could_result_in":
        start, end = map(_pointstamp, body)
        proof = CouldResultIn(graph).proof(start, end)
        expected = reference.could_result_in(oracle, start, end)
        assert (proof is not None) == expected, f"could_result_in is {expected}"
        if proof is not None:
            claimed = [tuple(pair) for pair in proof]
            assert reference.is_proof(oracle, claimed, start, end), f"no proof: {claimed}"
        tally.add("could_result_in")
        tally.add(f"could_result_in: {expected}")
        return
    try:
        if kind == "eligible":
            compare_eligible(graph, oracle, body, tally)
        else:
            starts = [_pointstamp(item) for item in (body["close"] if kind == "contains" else body)]
            wanted = reference.close(oracle, starts)
            closure = close(graph, starts)
            found = closure.frontiers
            assert {location: set(times) for location, times in found.items()} == {
                location: set(times) for location, times in wanted.items() if times
            }, f"frontiers {found}, expected {wanted}"
            for times in found.values():
                assert len(set(times)) == len(times)
            if kind == "contains":
                end = _pointstamp(body["pointstamp"])
                assert (end in closure) == reference.is_in(oracle, end, wanted)
            tally.add(kind)
    except reference.TooManySteps:
        tally.add("discarded: the reference did not finish")


def compare_eligible(graph: Graph, oracle: reference.Graph, body: dict[str, Any], tally: Tally) -> None:
    """The same requests eligible; every blocked one blocked by something that blocks it."""
    messages = [_pointstamp(item) for item in body["messages"]]
    requests = [_pointstamp(item) for item in body["requests"]]
    free, blocked = reference.eligible(oracle, messages, requests)
    answer = eligible(graph, messages, requests)
    assert set(answer.eligible) == set(free), f"eligible {answer.eligible}, expected {free}"
    assert {each.request for each in answer.blocked} == set(blocked)
    for request, by, proof, _ in answer.blocked:
        assert tuple(by) in reference.blockers(oracle, messages, requests, tuple(request))
        assert proof[0] == by
        assert proof[-1].location in oracle.incoming[request.location]
        assert proof[-1].time == request.time
    tally.add("eligible")
    if blocked:
        tally.add("eligible: some blocked")


def compare_conditions(report: Report, oracle: reference.Graph, bound: int, tally: Tally) -> None:
    """The four verdicts, and every witness judged by the reference."""
    expected_1 = reference.condition_1(oracle, bound)
    assert report.condition_1.holds == expected_1.holds, f"Condition 1 is {expected_1}"
    early = report.condition_1.witness
    if early:
        assert oracle.notifies[early.node]
        assert not oracle.less_equal(early.node, early.time, early.requests)
        requested = hull(oracle.requests[early.node], oracle.domain[early.node], oracle.domain[early.node], early.time)
        assert early.requests in requested
    expected_2 = reference.condition_2(oracle, bound)
    assert report.condition_2.holds == expected_2.holds, f"Condition 2 is {expected_2}, found {report.condition_2}"
    assert report.condition_2.strictly_below == expected_2.strictly_below, f"{expected_2}, found {report.condition_2}"
    for offence in report.condition_2.witnesses:
        end = (offence.edge, offence.arrives)
        path = [tuple(pair) for pair in offence.path]
        assert reference.is_proof(oracle, path, (offence.node, offence.time), end)
        assert oracle.destination[offence.edge] == offence.node
        assert not oracle.less_equal(offence.node, offence.time, offence.arrives)
        assert offence.strictly_below == oracle.less_equal(offence.node, offence.arrives, offence.time)
    assert report.transitive.holds == report.condition_2.holds
    if report.transitive.counterexample:
        first, second, third = map(tuple, report.transitive.counterexample)
        assert reference.could_result_in(oracle, first, second)
        assert reference.could_result_in(oracle, second, third)
        assert not reference.could_result_in(oracle, first, third)
    tally.add("condition 1")
    tally.add(f"condition 1: {expected_1.holds}")
    tally.add("condition 2")
    tally.add(f"condition 2: {expected_2.holds}")
    try:
        expected = reference.advancing(oracle, bound)
    except reference.TooManySteps:
        tally.add("discarded: the reference did not finish")
        return
    assert report.advancing.holds == expected.holds, f"advancing is {expected}, found {report.advancing}"
    for standstill in report.advancing.standstills:
        _check_round(oracle, standstill.cycle, [tuple(pair) for pair in standstill.round])
        assert standstill.notifies == any(oracle.notifies.get(location, False) for location in standstill.cycle)
    tally.add("advancing")
    tally.add(f"advancing: {expected.holds}")
    compare_severity(report, oracle, bound, tally)


def compare_severity(report: Report, oracle: reference.Graph, bound: int, tally: Tally) -> None:
    """A standstill through a node that asks, which is an error, is found wherever there is one."""
    try:
        expected = reference.advancing(oracle, bound, asking=True)
    except reference.TooManySteps:
        tally.add("discarded: the reference did not finish")
        return
    found = any(standstill.notifies for standstill in report.advancing.standstills)
    assert found == (not expected.holds), f"through a node that asks: {expected}, found {report.advancing}"
    tally.add("severity of PS301")
    if report.advancing.holds is False:
        tally.add(f"severity of PS301: {'error' if found else 'warning'}")


def _check_round(oracle: reference.Graph, cycle: Sequence[str], path: list[Any]) -> None:
    """The cycle is a closed walk of the graph, and its round arrives at or below where it started."""
    assert [location for location, _ in path] == list(cycle)
    node, start = path[0]
    edge, end = path[-1]
    assert oracle.destination[edge] == node
    assert end in reference.along(oracle, cycle, start) or any(
        oracle.less_equal(node, time, end) for time in reference.along(oracle, cycle, start)
    )
    assert oracle.less_equal(node, end, start)


def compare_seeds(seeds: Sequence[int]) -> Tally:
    """Many random graphs; the first disagreement is raised, with its seed, graph and query."""
    tally = Tally()
    for seed in seeds:
        compare(seed, tally)
    return tally


def compare_in_parallel(first: int, cases: int, processes: int = 2) -> Tally:
    """At least `cases` cases from the seed `first` on, over several processes."""
    tally = Tally()
    chunk = 50
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while tally.total < cases:
            batches = [range(first + number * chunk, first + (number + 1) * chunk) for number in range(4 * processes)]
            first += 4 * processes * chunk
            for part in pool.map(compare_seeds, batches):
                tally.merge(part)
    return tally
