"""Looking for closed walks that do not rise by trying times: all that can be done for summaries of the user's own.

What is found is a fact; what is not found proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from progress.antichain import minimal_elements
from progress.cycles.walk import Found
from progress.normal_form.coordinate import Relation
from progress.summary import NoMinimalTimes
from progress.topology import Network

MOST_STEPS = 20_000


def relation(domain: Any, start: Any, result: Any) -> Relation:
    """How `result` compares to `start`."""
    below, above = domain.less_equal(result, start), domain.less_equal(start, result)
    return "=" if below and above else "<" if below else ">" if above else "|"


def sampled_walks(network: Network, edges: Sequence[int]) -> list[Found]:
    """Closed walks over distinct nodes on which a sampled time returns otherwise than above itself.

    Cost: at most `MOST_STEPS` applications of summaries, fewer where each gives many times.
    """
    outgoing: dict[int, list[int]] = {}
    for edge in edges:
        outgoing.setdefault(network.sources[edge], []).append(edge)
    found: list[Found] = []
    left = MOST_STEPS
    for start in sorted(outgoing, key=lambda node: not network.notifies[node]):
        domain = network.domains[start]
        for time in domain.sample():
            pending: list[tuple[int, Any, tuple[int, ...]]] = [(start, time, ())]
            while pending and left > 0:
                node, here, walk = pending.pop(0)
                for edge in outgoing[node]:
                    summary, target = network.summaries[edge], network.targets[edge]
                    assert summary is not None
                    left -= 1
                    if target != start and any(network.targets[other] == target for other in walk):
                        continue
                    try:
                        results = minimal_elements(summary.target, summary.apply(here))
                    except NoMinimalTimes:  # whatever comes of it, no time stands for it
                        continue
                    left -= len(results) ** 2 // 16  # they were compared to each other
                    for result in results:
                        if target != start:
                            pending.append((target, result, (*walk, edge)))
                            continue
                        verdict = relation(domain, time, result)
                        if verdict != ">":
                            found.append(Found((*walk, edge), {verdict: time}))
    return found
