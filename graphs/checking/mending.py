"""Where on a cycle an advance mends it: so that the hint of a finding names a node whose change makes it go away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphs.graph import bind
from progress.cycles.judging import FEW_COMPOSITIONS
from progress.cycles.walk import Budget, relations_of
from progress.normal_form.coordinate import Undecided
from progress.normal_form.declared import Advance, Feedback
from progress.order import is_number, is_row
from progress.pointstamp import Pointstamp
from progress.summary import NormalSummary
from progress.topology import Network

LONGEST = 40  # walks of more edges are not looked at


class Mending(NamedTuple):
    """If what `node` sends on `edge` had the summary `word`, the walk would rise."""

    node: str
    edge: str
    word: str


def advance_that_mends(network: Network, path: Sequence[Pointstamp]) -> Mending | None:
    """An advance in place of one summary of a closed walk after which it rises, or at least returns beside its start.

    Nodes that ask for nothing come first, the last ones on the walk first. Cost: the square of the walk's length, in
    compositions of summaries; where that is more than `FEW_COMPOSITIONS`, nothing is named.
    """
    budget = Budget(FEW_COMPOSITIONS)
    count = len(network.nodes)
    walk = [network.number(location) - count for location, _ in path[1::2]]
    if network.relation is not None or len(walk) > LONGEST:
        return None
    if not all(isinstance(network.summaries[edge], NormalSummary) for edge in walk):
        return None
    places = sorted(range(len(walk)), key=lambda place: (network.notifies[network.sources[walk[place]]], -place))
    beside: Mending | None = None
    for place in places:
        edge = walk[place]
        node, domain = network.sources[edge], network.edge_domains[edge]
        if domain != network.domains[node] or not (is_number(domain) or is_row(domain)):
            continue
        declared, word = (Advance(1), "{advance: 1}") if is_number(domain) else (Feedback(), "feedback")
        bound = bind(declared, domain, domain)  # of one piece
        assert isinstance(bound, NormalSummary)
        try:
            relations = set(relations_of(network, walk, budget, {place: bound}))
        except Undecided:
            continue
        mending = Mending(network.nodes[node], network.edges[edge], word)
        if relations == {">"}:
            return mending
        if relations and relations <= {">", "|"}:
            beside = beside or mending
    return beside
