"""What may leave a run before a checkpoint covers it: what comes out the same when it is computed again.

A run that goes on after a kill computes again what came since its last checkpoint. Where that may come out otherwise,
nothing of it must have been released (*Delivery, consistency, and determinism*, Theorem 1). It comes out the same where
all that is before it is replayed alike: sources whose items have `replays_alike`, and those that are a list; nodes that
say so of themselves, as those do that get all of a time together.
"""

from __future__ import annotations

from collections.abc import Iterable

from progress.component import reached
from progress.errors import brief
from progress.runtime.actions.inbox import Inbox
from progress.runtime.source import Feed
from progress.topology import NO_NODE, Network


def why_held(name: str, network: Network, feeds: Iterable[Feed], inboxes: list[Inbox]) -> str | None:
    """Why what leaves here is held until a checkpoint covers it; None where it is not. Cost: O(nodes and edges)."""
    edges = {edge: number for number, edge in enumerate(network.edges)}
    if name not in edges:
        return "it is a side output, and what several sources bring there has no order"
    before = _before(edges[name], network)
    for feed in feeds:
        is_before = edges[feed.edge] in before or (feed.late_edge and edges[feed.late_edge] in before)
        if is_before and not (feed.is_replayed_alike or feed.is_at_hand):
            return f"the source of {brief(feed.edge)} may bring something else when it is read again"
    for inbox in inboxes:
        number = network.numbers[inbox.exits.name]
        if not inbox.behaviour.replays_alike and any(edge in before for edge in network.outgoing[number]):
            return f"the node {brief(inbox.exits.name)} may do otherwise when it is run again"
    return None


def _before(edge: int, network: Network) -> set[int]:
    """The edges from which something may come to this one, and itself."""
    into = [() if node == NO_NODE else network.incoming[node] for node in network.sources]
    return reached([edge], into.__getitem__)
