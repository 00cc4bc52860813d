"""Whether what was kept of a run fits together: a state that was altered is refused when it is read, not met later on.

What is outstanding stands in it twice, in the tracker and in the queues of nodes. So do the requests that are ready,
and where inputs stand. Cost: O(what is outstanding).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from progress.runtime.actions.core import Core
from progress.runtime.source import Feed
from progress.tracker import Tracker


def check_whole(core: Core, tracker: Tracker, feeds: Sequence[Feed]) -> None:
    """Raise a `ValueError` that says what does not fit, before the run goes on with this tracker."""
    queued: dict[tuple[str, Any], int] = {}
    for inbox in core.inboxes:
        for edge, time, values in inbox.queued():
            queued[edge, time] = queued.get((edge, time), 0) + len(values)
        if inbox.has_work and not inbox.is_listed:
            raise ValueError(f"{inbox.exits.name!r} has something to do and is not said to")
    if queued != tracker.messages():
        raise ValueError("what waits at nodes is not what is outstanding")
    ready = [(inbox.exits.name, time) for inbox in core.inboxes for time in inbox.all_ready()]
    reported = tracker.snapshot()["reported"]
    if len(ready) != len(set(ready)) or len(ready) != len(reported) or not set(ready) <= {*tracker.pending()}:
        raise ValueError("what is ready at nodes is not what was handed out")
    inputs = tracker.inputs()
    for feed in feeds:
        opened, is_over, taken = position = feed.position
        if set(opened) != set(inputs[feed.edge]) or (is_over and opened):
            raise ValueError(f"the input {feed.edge!r} stands elsewhere")
        if [type(part) for part in position[1:]] != [bool, int] or taken < 0:
            raise ValueError(f"nobody knows how far the input {feed.edge!r} was read")
