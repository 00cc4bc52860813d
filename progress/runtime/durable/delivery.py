"""How what leaves a kept run goes with its checkpoints (*Delivery, consistency, and determinism*, III and V).

* `deterministic`: it leaves at once and is never taken back. What is done again after a kill leaves the same, and is
  compared with what has left. Where the order in which things happen may be another one, it is written down first.
* `barrier`: it waits for the checkpoint that covers it, for nodes that may do otherwise when they are run again.
* `at-least-once`: it leaves at once, and what is done again after a kill leaves again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from progress.errors import PointstampError, brief
from progress.runtime.policies.policy import Items, Policy
from progress.runtime.source import takes_turns
from progress.topology import NO_NODE

if TYPE_CHECKING:
    from progress.runtime.run.running import Running
    from progress.runtime.source import Feed

DETERMINISTIC, BARRIER, AT_LEAST_ONCE = MODES = ("deterministic", "barrier", "at-least-once")


class Log(Protocol):
    """Where the order is kept since the last checkpoint that is on the disk."""

    is_torn: bool  # whether its last part may end in what was not synced
    contents: list[bytes]  # what the run before has written, if this one goes on from it: a part for each border

    def write(self, content: bytes) -> None:
        """Append it; it outlives the process."""
        ...

    def turn(self) -> None:
        """This is the border of a checkpoint: what is written from now on follows it."""
        ...


def why_not(running: Running) -> str | None:
    """Why a run may do otherwise in the same order, or its order cannot be followed; None where it does the same."""
    for inbox in running.core.inboxes:
        if not inbox.behaviour.deterministic:
            return f"the node {brief(inbox.exits.name)} says that it may do otherwise when it is run again"
    for feed in running.feeds:
        if feed.ahead is not None or hasattr(feed.items, "go_to"):
            return f"what the source of {brief(feed.edge)} brings cannot be brought again in the same order"
    return None


def check_turns(feeds: Iterable[Feed]) -> None:
    """Refuse (PS715) a source whose turns nobody would know, as it stands in a policy, which begins anew."""
    for feed in feeds:
        items: Any = feed.items
        while isinstance(items, Items):  # a source of the user's own may have names like ours
            items = items.within
        if takes_turns(items) and not feed.takes_turns:
            what = f"what comes on {brief(feed.edge)} has several parts, whose order a policy does not keep"
            raise PointstampError("PS715", what, "the source itself, which gives its items their times; or no state=")


def is_logged(source: Any, feed: Feed) -> bool:
    """Whether what a source brings is written down: it goes by the clock, or is waited for in an event loop."""
    return _follows_clock(source) or not hasattr(feed.items, "__next__")


def _follows_clock(source: Any) -> bool:
    """Whether what it brings depends on when that is, or that of a source within."""
    while isinstance(source, Policy) and not source.follows_clock:
        source = source.within
    return getattr(source, "follows_clock", False) is True


def is_in_order(running: Running) -> bool:
    """Whether what leaves has one order whatever comes first, since all nodes take their messages in order.

    What is late or fails leaves beside that, where what several sources and nodes bring has no order.
    """
    network = running.dataflow.network
    passes = any(source == target == NO_NODE for source, target in zip(network.sources, network.targets, strict=True))
    comes_again = not any(feed.is_logged or feed.takes_turns for feed in running.feeds)
    leaves_there = set(running.sinks.outlets()) <= set(network.outputs)
    return running.dataflow.ordered and not passes and comes_again and leaves_there


def has_one_order(running: Running) -> bool:
    """Whether an engine leaves nothing of the order to chance: `sim`, where no source takes its time but one pipe."""
    feeds = running.feeds
    if any(feed.is_logged or feed.takes_turns for feed in feeds):
        return False
    pipes = sum(feed.handle is not None for feed in feeds)
    return running.engine == "sim" and all(feed.is_prompt for feed in feeds) and pipes < 2
