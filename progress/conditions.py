"""Condition 1, Condition 2, transitivity and advancing of a graph, every negative verdict with a witness (A&I 3.2).

* Condition 1: an event at t triggers notification requests only at times >= t.
* Condition 2: for every node p and internal edge e into p, (p, t) could-result-in (e, u) implies t <= u.
* Theorem 1: could-result-in is transitive exactly when Condition 2 holds.
* Advancing (beyond the paper): no closed walk returns to a location at or below the time at which it left; otherwise a
  request on it may block itself for ever.

Conditions are judged inside strongly connected components (`progress.cycles.judging`); cycles are never listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from progress.component import components
from progress.cycles.judging import (
    BELOW_OR_AT,
    BELOW_OR_BESIDE,
    COMPOSITIONS,
    Verdict,
    judge,
    preferred,
    surely_advances,
)
from progress.cycles.rising import is_silent_on_any_order, rises_on_any_order
from progress.cycles.sampling import relation, sampled_walks
from progress.cycles.walk import Budget, Found, followed, layout_at, visited
from progress.errors import PointstampError, brief
from progress.garbage import without_cycle_search
from progress.normal_form.coordinate import Relation, Undecided
from progress.normal_form.endless import low_enough, lower_than
from progress.normal_form.layout import layout_of
from progress.normal_form.pieces import piece_relations
from progress.notebook import Shown, as_html, walked
from progress.pointstamp import Pointstamp
from progress.summary import NormalSummary, Summary
from progress.topology import NO_NODE, Network, Topology, network_of


class EarlyRequest(NamedTuple):
    """A violation of Condition 1: an event at `time` may ask `node` for a notification at `requests`."""

    node: str
    time: Any
    requests: Any


class Offence(NamedTuple):
    """A violation of Condition 2: from `node` at `time` to its incoming `edge` at `arrives`, along `path`.

    `strictly_below`: it arrives below where it started, not only beside it.
    """

    node: str
    edge: str
    time: Any
    arrives: Any
    path: tuple[Pointstamp, ...]
    strictly_below: bool


class Standstill(NamedTuple):
    """A cycle that can return at or below its start: its locations, and the times of one such round from `node`.

    `notifies`: a node on it asks for notifications, which it may wait for for ever.
    """

    cycle: tuple[str, ...]
    round: tuple[Pointstamp, ...]
    notifies: bool


class Condition1(NamedTuple):
    """Whether Condition 1 holds (None: undecided), and every node where it fails."""

    holds: bool | None
    witnesses: tuple[EarlyRequest, ...]

    @property
    def witness(self) -> EarlyRequest | None:
        """The first violation."""
        return self.witnesses[0] if self.witnesses else None


class Condition2(NamedTuple):
    """Whether Condition 2 holds (None: undecided), with one violation for each component where it fails."""

    holds: bool | None
    witnesses: tuple[Offence, ...]

    @property
    def witness(self) -> Offence | None:
        """A violation, one that arrives strictly below its start if there is any."""
        return min(self.witnesses, key=lambda offence: not offence.strictly_below, default=None)

    @property
    def strictly_below(self) -> bool:
        """Whether some violation arrives strictly below its start (PS201), not only beside it (PS202)."""
        return any(offence.strictly_below for offence in self.witnesses)


class Transitivity(NamedTuple):
    """Theorem 1: the same verdict as Condition 2, with a => b and b => c but not a => c."""

    holds: bool | None
    counterexample: tuple[Pointstamp, Pointstamp, Pointstamp] | None


class Advancing(NamedTuple):
    """Whether every cycle advances (None: undecided), with one standstill for each component that has one."""

    holds: bool | None
    standstills: tuple[Standstill, ...]

    @property
    def cycle(self) -> tuple[str, ...] | None:
        """The locations of a cycle that does not, one through a node that asks for notifications if there is any."""
        worst = min(self.standstills, key=lambda standstill: not standstill.notifies, default=None)
        return worst.cycle if worst else None


class Report(NamedTuple):
    """The four verdicts on a graph.

    Examples
    --------
    >>> from pointstamp import check_conditions, from_edges
    >>> report = check_conditions(from_edges([("a", "b"), ("b", "a")]))
    >>> report.condition_2.holds, report.advancing.holds
    (True, False)
    """

    condition_1: Condition1
    condition_2: Condition2
    transitive: Transitivity
    advancing: Advancing

    def __repr__(self) -> str:
        return f"Report({', '.join(f'{name}: {verdict}' for name, verdict, _ in self._rows())})"

    def _rows(self) -> list[tuple[str, str, str]]:
        """Each verdict in a word, and what shows that it fails."""
        early, offence = self.condition_1.witness, self.condition_2.witness
        cycle = self.advancing.cycle
        shows = (
            "" if early is None else f"{early.node!r} at {brief(early.time)} asks for {brief(early.requests)}",
            "" if offence is None else walked(offence.path),
            "" if self.transitive.counterexample is None else walked(self.transitive.counterexample),
            "" if cycle is None else " -> ".join(map(brief, cycle)),
        )
        words = {True: "holds", False: "fails", None: "undecided"}
        names = ("condition 1", "condition 2", "transitive", "advancing")
        verdicts = (self.condition_1.holds, self.condition_2.holds, self.transitive.holds, self.advancing.holds)
        return [(name, words[holds], show) for name, holds, show in zip(names, verdicts, shows, strict=True)]

    def _shown(self) -> Shown:
        return Shown("verdicts on a graph", ("", "verdict", "shown by"), self._rows())

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return as_html(self._shown())

    def raise_if_broken(self) -> None:
        """Raise a `PointstampError` that names the first thing that keeps the graph from running well.

        Incomparable arrivals (PS202) are no such thing: no request blocks itself on them.
        """
        if self.condition_1.witness:
            node, time, requests = self.condition_1.witness
            raise PointstampError(
                "PS101",
                f"an event at {time!r} may make {node!r} request a notification at {requests!r}",
                "request later times",
            )
        offence = self.condition_2.witness
        if offence and offence.strictly_below:
            path = " -> ".join(f"({location}, {time!r})" for location, time in offence.path)
            raise PointstampError(
                "PS201", f"{offence.node!r} sends into the past: {path}", "let the cycle move times up"
            )
        if any(standstill.notifies for standstill in self.advancing.standstills):
            raise PointstampError(
                "PS301",
                f"a cycle does not advance: {' -> '.join(self.advancing.cycle or ())}",
                "advance the time on the cycle",
            )


def check_conditions(graph: Topology) -> Report:
    """Judge a graph.

    Cost: O(nodes + edges) for the components; inside them O(edges) a coordinate where no summary moves times down,
    `progress.cycles.potential` where some do, and at most `progress.cycles.judging.COMPOSITIONS`
    compositions for the whole graph where neither decides; what they leave open is None.

    Returns
    -------
    The four verdicts, each with its witness where it does not hold.

    Raises
    ------
    PointstampError
        PS401 where domains and summaries do not fit together.

    Examples
    --------
    >>> from pointstamp import check_conditions, from_edges
    >>> check_conditions(from_edges([("a", "b"), ("b", "a")], lambda edge: {"advance": 1}))
    Report(condition 1: holds, condition 2: holds, transitive: holds, advancing: holds)
    """
    network = network_of(graph)
    if network.relation is not None:
        return network.relation.conditions(network)
    with without_cycle_search():
        return _report(network)


def _report(network: Network) -> Report:
    condition_1 = _condition_1(network)
    holds: bool | None = True
    advances: bool | None = True
    offences: list[Offence] = []
    standstills: list[Standstill] = []
    budget = Budget(COMPOSITIONS)
    for edges in components(_doubtful_edges(network), network.sources, network.targets, len(network.nodes)):
        verdict = _judged(network, edges, budget)
        holds = _and(holds, verdict.rises)
        advances = _and(advances, verdict.advances)
        if verdict.offence:
            offences.append(_offence(network, verdict.descent or verdict.offence, verdict.descent is not None))
        if verdict.standstill:
            standstills.append(_standstill(network, verdict.standstill))
    condition_2 = Condition2(holds, tuple(offences))
    return Report(
        condition_1,
        condition_2,
        Transitivity(holds, _counterexample(condition_2.witness)),
        Advancing(advances, tuple(standstills)),
    )


def _and(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else None if one is None or other is None else True


def _doubtful_edges(network: Network) -> list[int]:
    """The internal edges that a closed walk can have on which anything is sent and the conditions are in doubt.

    Where no summary of the whole graph falls, a closed walk cannot fall, and it stands still on still edges only.
    """
    kinds, known = network.drifts
    distinct = {id(summary): summary for summary in network.summaries}
    silent = {number for number, summary in distinct.items() if _is_silent(summary)}
    ends = zip(network.sources, network.targets, strict=True)
    edges = [edge for edge, (source, target) in enumerate(ends) if source != NO_NODE and target != NO_NODE]
    if silent:
        edges = [edge for edge in edges if id(network.summaries[edge]) not in silent]
    drifts = {kind: known[kind] for kind in {kinds[edge] for edge in edges}}
    if any(drift is None or not drift.falls_nowhere for drift in drifts.values()):
        return edges
    still = {kind for kind, drift in drifts.items() if drift is not None and drift.is_still}
    return [edge for edge in edges if kinds[edge] in still]


def _is_silent(summary: Summary | None) -> bool:
    return not summary.pieces if isinstance(summary, NormalSummary) else is_silent_on_any_order(summary)


def nodes_in_doubt(network: Network) -> frozenset[int]:
    """A node of each component that is not known to advance after a short look; looked for once a network."""
    found = network.derived.get("nodes in doubt")
    if not isinstance(found, frozenset):
        parts = components(_doubtful_edges(network), network.sources, network.targets, len(network.nodes))
        found = frozenset(network.sources[edges[0]] for edges in parts if not surely_advances(network, edges))
        network.derived["nodes in doubt"] = found
    return found


def _judged(network: Network, edges: Sequence[int], budget: Budget) -> Verdict:
    """The verdict, with what sampled times show where it is undecided."""
    verdict = judge(network, edges, budget)
    if verdict.rises is not None and verdict.advances is not None and verdict.worst_known:
        return verdict
    found = sampled_walks(network, edges)

    def first(wanted: frozenset[str]) -> Found | None:
        return next((each for each in found if wanted & each.relations.keys()), None)

    offence = verdict.offence or (first(BELOW_OR_BESIDE) if verdict.rises is None else None)
    standing = [verdict.standstill] if verdict.standstill else []
    standstill = preferred(network, [*standing, *(each for each in found if BELOW_OR_AT & each.relations.keys())])
    return Verdict(
        False if offence else verdict.rises,
        offence,
        verdict.descent or (first(frozenset("<")) if offence else None),
        False if standstill else verdict.advances,
        standstill,
        verdict.worst_known,
    )


def _condition_1(network: Network) -> Condition1:
    """Each distinct summary is judged once. Cost: O(nodes) besides."""
    known: dict[int, tuple[bool | None, Any]] = {}
    holds: bool | None = True
    witnesses = []
    for node, summary in enumerate(network.requests):
        if not network.notifies[node]:
            continue
        if id(summary) not in known:
            known[id(summary)] = _requests_rise(network, node, summary)
        rises, time = known[id(summary)]
        holds = _and(holds, rises)
        if rises is False:
            domain = network.domains[node]
            requested = next(result for result in summary.limits(time) if not domain.less_equal(time, result))
            if layout_of(domain) is not None:
                requested = low_enough(requested, lower_than(time))
            witnesses.append(EarlyRequest(network.nodes[node], time, requested))
    return Condition1(holds, tuple(witnesses))


def _requests_rise(network: Network, node: int, summary: Summary) -> tuple[bool | None, Any]:
    found: dict[Relation, Any] = {}
    decided: bool | None = True
    try:
        if rises_on_any_order(summary):
            return True, None
        if not isinstance(summary, NormalSummary):
            raise Undecided("the requests are a summary of the user's own")
        layout = layout_at(network, node)
        for piece in summary.pieces:
            for compared, row in piece_relations(layout.rows[piece.source_case], piece).items():
                found.setdefault(compared, layout.decode(piece.source_case, row))
    except Undecided:
        decided = None
        for time in network.domains[node].sample():
            for result in summary.apply(time):
                found.setdefault(relation(network.domains[node], time, result), time)
    early = next((found[compared] for compared in BELOW_OR_BESIDE if compared in found), None)
    return (decided, None) if not BELOW_OR_BESIDE & found.keys() else (False, early)


def _offence(network: Network, found: Found, strictly: bool) -> Offence:
    """The witness that a reader can follow: the times along the walk, from a start where it goes wrong."""
    node = network.sources[found.walk[0]]
    domain = network.domains[node]
    start = found.relations["<" if strictly else "|" if "|" in found.relations else "<"]
    ranks = {"<": 2, "|": 1, "=": 0, ">": 0} if strictly else {"|": 2, "<": 1, "=": 0, ">": 0}
    path = followed(network, found.walk, start, lambda time: ranks[relation(domain, start, time)])
    assert path is not None
    last = path[-1]
    return Offence(network.nodes[node], last.location, start, last.time, tuple(path), strictly)


def _standstill(network: Network, found: Found) -> Standstill:
    node = network.sources[found.walk[0]]
    domain = network.domains[node]
    start = found.relations.get("=", found.relations.get("<"))
    ranks = {"=": 2, "<": 1, "|": 0, ">": 0}
    path = followed(network, found.walk, start, lambda time: ranks[relation(domain, start, time)])
    assert path is not None
    notifies = any(network.notifies[network.sources[edge]] for edge in found.walk)
    return Standstill(tuple(visited(network, found.walk)), tuple(path), notifies)


def _counterexample(offence: Offence | None) -> tuple[Pointstamp, Pointstamp, Pointstamp] | None:
    """(e, t) leads to (p, t), which leads to (e, u); but (e, t) cannot lead to (e, u), since t <= u does not hold."""
    if offence is None:
        return None
    edge, time = offence.edge, offence.time
    return Pointstamp(edge, time), Pointstamp(offence.node, time), Pointstamp(edge, offence.arrives)
