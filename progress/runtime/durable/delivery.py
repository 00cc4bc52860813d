"""How what leaves a kept run goes with its checkpoints (*Delivery, consistency, and determinism*, III and V).

* `deterministic`: it leaves at once and is never taken back. What is done again after a kill leaves the same, and is
  compared with what has left. Where the order in which things happen may be another one, it is written down first.
* `barrier`: it waits for the checkpoint that covers it, for nodes that may do otherwise when they are run again.
* `at-least-once`: it leaves at once, and what is done again after a kill leaves again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from progress.errors import brief
from progress.runtime.inbox import Inbox
from progress.runtime.source import Feed

DETERMINISTIC, BARRIER, AT_LEAST_ONCE = MODES = ("deterministic", "barrier", "at-least-once")


class Log(Protocol):
    """Where the order is kept since the last checkpoint."""

    content: bytes  # what the run before has written, if this one goes on from it

    def write(self, content: bytes) -> None:
        """Append it; it outlives the process."""
        ...


def why_not(sources: Mapping[str, Any], feeds: Iterable[Feed], inboxes: Iterable[Inbox]) -> str | None:
    """Why a run may do otherwise in the same order, or its order cannot be followed; None where it does the same."""
    for inbox in inboxes:
        if not inbox.behaviour.deterministic:
            return f"the node {brief(inbox.exits.name)} says that it may do otherwise when it is run again"
    for feed in feeds:
        if _follows_clock(sources.get(feed.edge)):
            return f"the source of {brief(feed.edge)} goes by the clock"
        if feed.ahead is not None or hasattr(feed.items, "go_to") or not hasattr(feed.items, "__next__"):
            return f"what the source of {brief(feed.edge)} brings cannot be brought again in the same order"
    return None


def _follows_clock(source: Any) -> bool:
    """Whether what it brings depends on when that is, or that of a source within."""
    while source is not None and not getattr(source, "follows_clock", False):
        source = getattr(source, "within", None)
    return source is not None


def has_one_order(engine: str, feeds: Iterable[Feed]) -> bool:
    """Whether an engine leaves nothing of the order to chance: `sim`, where no source takes its time but one pipe."""
    found = list(feeds)
    return engine == "sim" and all(feed.is_prompt for feed in found) and sum(f.handle is not None for f in found) < 2
