"""The conditions (A&I 3.2) of a graph in Spark: components are found there, and judged by the local engine.

Outside of components there are no closed walks, and most edges of a large graph are outside, or advance: where no
summary of the whole graph falls, only edges that leave times as they are can be on a closed walk that stands still.
What is left is taken out in batches that fit (`Options.fits`) and judged by `progress.check_conditions`, with its
witnesses. A component that does not fit is judged in Spark (`graphs.at_scale.large_components`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from graphs.at_scale.collected import network_of
from graphs.at_scale.components import Inside, components
from graphs.at_scale.frames import numbers_frame
from graphs.at_scale.graph_in_spark import Requests, SparkGraph
from graphs.at_scale.large_components import judge_huge
from graphs.at_scale.rounds import Options, cut, one_group
from progress.conditions import (
    Advancing,
    Condition1,
    Condition2,
    EarlyRequest,
    Offence,
    Report,
    Standstill,
    Transitivity,
    check_conditions,
)
from progress.cycles.drift import drift
from progress.pointstamp import Pointstamp
from progress.topology import Network

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_in_spark(graph: SparkGraph, options: Options) -> Report:
    """The four verdicts.

    Cost: a pass over the nodes and one over the edges; `components` of the doubtful edges; `progress.check_conditions`
    on what is inside components.
    """
    with one_group(graph.session, options, "check"):
        early = _condition_1(graph)
        reports = list(_inside(graph, options))
    holds = _all(report.condition_2.holds for report in reports)
    offences: list[Offence] = [found for report in reports for found in report.condition_2.witnesses]
    standstills: list[Standstill] = [found for report in reports for found in report.advancing.standstills]
    condition_2 = Condition2(holds, tuple(offences))
    return Report(
        early,
        condition_2,
        Transitivity(holds, _counterexample(condition_2)),
        Advancing(_all(report.advancing.holds for report in reports), tuple(standstills)),
    )


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    seen = set(verdicts)
    return False if False in seen else None if None in seen else True


def _counterexample(condition: Condition2) -> tuple[Pointstamp, Pointstamp, Pointstamp] | None:
    offence = condition.witness
    if offence is None:
        return None
    edge, time = offence.edge, offence.time
    return Pointstamp(edge, time), Pointstamp(offence.node, time), Pointstamp(edge, offence.arrives)


def _condition_1(graph: SparkGraph) -> Condition1:
    """Each distinct summary is judged once, as a graph of one node; only where it fails are nodes looked at."""
    verdicts = [(each, check_conditions(_one_node(graph, each)).condition_1) for each in graph.requests]
    early: list[tuple[int, EarlyRequest]] = []
    for each, verdict in verdicts:
        if verdict.witness is None:
            continue
        nodes = graph.nodes.where(f"notifies AND domain = {each.domain}")
        text = nodes["requests"]
        nodes = nodes.where(text.isNull() if each.text is None else text == each.text)
        early += [(row[0], verdict.witness._replace(node=row[1])) for row in nodes.select("id", "name").collect()]
    holds = _all(verdict.holds for _, verdict in verdicts)
    return Condition1(holds, tuple(found for _, found in sorted(early, key=lambda pair: pair[0])))


def _one_node(graph: SparkGraph, requests: Requests) -> Network:
    return Network(["node"], [graph.domains[requests.domain]], [requests.summary], [True], [], [], [], [], [])


def doubtful_edges(graph: SparkGraph) -> DataFrame:
    """The edges between nodes that a closed walk can have on which a condition is in doubt."""
    steps = graph.steps()
    used = [row[0] for row in steps.select("summary").distinct().collect()]
    drifts = {number: drift(graph.summaries[number]) for number in used}
    if any(found is None or not found.falls_nowhere for found in drifts.values()):
        return steps
    still = [number for number, found in drifts.items() if found is not None and found.is_still]
    return steps.where(steps["summary"].isin(still)) if still else steps.where("false")


def _inside(graph: SparkGraph, options: Options) -> Iterator[Report]:
    """A report on each batch of components, and on each that is too large for one."""
    edges = doubtful_edges(graph)
    inside = components(graph, edges, options)
    kept = inside._replace(edges=cut(inside.edges))
    sizes = kept.edges.groupBy("component").count().collect()
    if sum(size for _, size in sizes) <= options.fits:
        if sizes:
            yield check_conditions(network_of(graph, kept.edges)[0])
        return
    for batch in _batches([(row[0], row[1]) for row in sizes], options.fits):
        chosen = numbers_frame(graph.session, {"component": batch})
        part = kept.edges.join(chosen, "component", "left_semi")
        count = part.count()
        if count <= options.fits:
            yield check_conditions(network_of(graph, part)[0])
        else:
            yield judge_huge(graph, Inside(kept.nodes.join(chosen, "component", "left_semi"), part), count, options)


def _batches(sizes: list[tuple[int, int]], fits: int) -> Iterator[list[int]]:
    """Components together as long as they fit."""
    batch: list[int] = []
    total = 0
    for component, size in sorted(sizes):
        if batch and total + size > fits:
            yield batch
            batch, total = [], 0
        batch.append(component)
        total += size
    if batch:
        yield batch
