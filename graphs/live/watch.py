"""What the live view shows of a run: frontiers, what waits where, who is blocked and by whom.

Everything is asked of the run's tracker, whose lock makes each answer one of a moment between two steps. Values of
messages are not shown, only where they are, at which times, and how many.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from graphs.drawing.in_the_page import picture
from graphs.sessions.track import blocker_to_json, frontier_to_json
from graphs.sessions.waiting import wait_to_json, waits_to_json
from progress.errors import PointstampError
from progress.order import NO_TIME, as_time
from progress.plain import read_time, write_time
from progress.runtime.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed
from progress.topology import NO_NODE, Network

MOST_LOCATIONS = 400  # whose frontiers are shown all; of more, those on the border and those where something is
MOST_ROWS = 100  # of a table
MOST_TOLD = 30  # of the last notifications and failures
MOST_BLOCKERS = 20


class Watch(Observer):
    """The state of one run, as data for a page. `state` may be asked by any thread."""

    def __init__(self, name: str, network: Network, engine: str, clock: Callable[[], float] = monotonic) -> None:
        self.name = name
        self.network = network
        self.engine = engine
        self._clock = clock
        self._begun = clock()
        self._core: Core | None = None
        self._seconds: float | None = None  # once the run is over
        self._phase = "starts"
        self._reason = ""
        self._messages = self._notifications = self._late = self._failures = 0
        self._told: deque[dict[str, Any]] = deque(maxlen=MOST_TOLD)
        self._failed: deque[dict[str, Any]] = deque(maxlen=MOST_TOLD)

    # --- the run ------------------------------------------------------------------------------------------------------

    def started(self, core: Core) -> None:
        self._begun = self._clock()
        self._phase = "runs"
        self._core = core

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is not None:
            self._messages += count
        elif count:
            self._notifications += count
            self._told.append({"seconds": self._now(), "node": node, "time": write_time(time)})

    def failed(self, failure: NodeFailed) -> None:
        self._failures += 1
        self._failed.append({"seconds": self._now(), "message": str(failure)})

    def refused(self, failure: SourceFailed) -> None:
        self._failures += 1
        kind = type(failure.error).__name__  # what it says may have the value
        says = f"{failure.code}: what came at {failure.edge!r} is malformed: {kind}"
        self._failed.append({"seconds": self._now(), "message": says})

    def brought(self, edge: str, count: int, late: int) -> None:
        self._late += late

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._seconds = self._now()
        self._phase = "is over" if failure is None else "was stopped"
        self._reason = "" if failure is None else str(failure)

    def _now(self) -> float:
        return round(self._clock() - self._begun if self._seconds is None else self._seconds, 3)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def graph(self) -> dict[str, Any]:
        """What does not change: names, ends, and the picture, None where the graph is too large for one."""
        network = self.network
        names = [*network.nodes, None]
        return {
            "name": self.name,
            "engine": self.engine,
            "nodes": list(network.nodes),
            "edges": [
                {"name": name, "from": names[source], "to": names[target]}
                for name, source, target in zip(network.edges, network.sources, network.targets, strict=True)
            ],
            "picture": picture(network),
        }

    def state(self) -> dict[str, Any]:
        """What changes. Cost: a frontier for each location that is shown, a look at all that is outstanding."""
        state: dict[str, Any] = {
            "phase": self._phase,
            "reason": self._reason,
            "seconds": self._now(),
            "messages": self._messages,
            "notifications": self._notifications,
            "late": self._late,
            "failures": self._failures,
            "told": list(self._told),
            "failed": list(self._failed),
        }
        core = self._core
        if core is not None:
            state |= self._outstanding(core)
        return state

    def _outstanding(self, core: Core) -> dict[str, Any]:
        tracker = core.tracker
        messages, pending, eligible = tracker.messages(), tracker.pending(), set(tracker.eligible())
        queued: dict[str, int] = {}
        for (edge, _), count in messages.items():
            queued[edge] = queued.get(edge, 0) + count
        requests: dict[str, int] = {}
        for node, _ in pending:
            requests[node] = requests.get(node, 0) + 1
        nodes = {
            name: [requests.get(name, 0), inbox.size, inbox.busy]
            for name, inbox in zip(self.network.nodes, core.inboxes, strict=True)
            if name in requests or inbox.size or inbox.busy
        }
        shown = self._shown({*queued, *nodes})
        return {
            "steps": core.steps,
            "held": [self.network.nodes[node] for node in [*core.held]],
            "queued": queued,
            "nodes": nodes,
            "frontiers": {name: frontier_to_json(tracker, name) for name in shown},
            "requests": [
                {"node": node, "time": write_time(time), "ready": (node, time) in eligible}
                for node, time in pending[:MOST_ROWS]
            ],
            "all_requests": len(pending),
            "blocked": len(pending) - len(eligible),
            "waiting": [
                {"edge": edge, "time": write_time(time), "count": count}
                for (edge, time), count in list(messages.items())[:MOST_ROWS]
            ],
            "all_waiting": sum(queued.values()),
        }

    def _shown(self, busy: set[str]) -> Sequence[str]:
        network = self.network
        if len(network.nodes) + len(network.edges) <= MOST_LOCATIONS:
            return (*network.nodes, *network.edges)
        ends = zip(network.edges, network.sources, network.targets, strict=True)
        border = [name for name, source, target in ends if NO_NODE in (source, target)]
        return [*border[:MOST_LOCATIONS], *sorted(busy.difference(border))[:MOST_LOCATIONS]]

    def waits(self) -> dict[str, Any]:
        """What waits, oldest first (`graphs.sessions.waiting`). Cost: that of `Tracker.why`."""
        core = self._core
        return (
            {"waiting": 0, "ready": 0, "steps": 0, "waits": []} if core is None else waits_to_json(core.tracker.why())
        )

    def why(self, node: str, time: Any) -> dict[str, Any]:
        """Who blocks a request, as `track` answers it; the first so many."""
        core = self._core
        if core is None:
            return {"blocked": False, "by": [], "all": 0}
        try:
            number = self.network.numbers.get(node)
            if number is None or as_time(self.network.domain(number), read_time(time)) is NO_TIME:
                raise PointstampError("PS502", "there is no such request", "one that is listed")
            found = core.tracker.why(node, read_time(time))
            wait = core.tracker.why().of(node, read_time(time))
        except PointstampError as error:
            return {"error": str(error)}
        by = [blocker_to_json(blocker) for blocker in found.by[:MOST_BLOCKERS]]
        return {
            "request": [node, time],
            "blocked": found.blocked,
            "by": by,
            "all": len(found.by),
            "wait": None if wait is None else wait_to_json(wait),
        }


def as_json(data: Any) -> str:
    """JSON in one line; a time of a user's own domain is a text."""
    return json.dumps(data, default=str, separators=(",", ":"))
