"""What the live view shows of a run: what waits and why, frontiers, queues, what was delivered, what is late.

While the run goes, this counts and appends; everything else is asked of the run's tracker when somebody looks, whose
lock makes each answer one of a moment between two steps. Values of messages are not shown, only where they are, at
which times, and how many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from secrets import token_hex
from time import monotonic
from typing import Any

from graphs.live.outstanding import by_edge, graph_to_json, outstanding, summary_of, told_waits, told_why
from graphs.live.series import Series
from progress.errors import PointstampError
from progress.plain import read_time, write_time
from progress.runtime.actions.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed
from progress.topology import Network

MOST_TOLD = 30  # of the last notifications, late messages and dead letters
MOST_KEPT = 1_000  # notifications that are remembered


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
        self._passed = dict.fromkeys(network.edges, 0)  # messages consumed of each edge, or that have left there
        self._told: deque[tuple[float, str, Any]] = deque(maxlen=MOST_KEPT)
        self._letters: deque[tuple[float, str, str, int]] = deque(maxlen=MOST_TOLD)
        self.summary = summary_of(network)
        self._run = token_hex(8)  # a page that was opened for another run knows that this is not its own
        self.series = Series(network.edges)

    # --- the run ------------------------------------------------------------------------------------------------------

    def started(self, core: Core) -> None:
        self._begun = self._clock()
        self._phase = "runs"
        self._core = core

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is not None:
            self._messages += count
            self._passed[edge] += count
        elif count:
            self._notifications += count
            self._told.append((self._clock(), node, time))

    def left(self, edge: str, time: Any, count: int) -> None:
        self._passed[edge] += count

    def failed(self, failure: NodeFailed) -> None:
        self._failures += 1
        self._letters.append((self._clock(), "dead", str(failure), 1))

    def refused(self, failure: SourceFailed) -> None:
        self._failures += 1
        kind = type(failure.error).__name__  # what it says may have the value
        says = f"{failure.code}: what came at {failure.edge!r} is malformed: {kind}"
        self._letters.append((self._clock(), "dead", says, 1))

    def brought(self, edge: str, count: int, late: int) -> None:
        if late:
            self._late += late
            self._letters.append((self._clock(), "late", edge, late))

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._seconds = self._now()
        self._phase = "is over" if failure is None else "was stopped"
        self._reason = "" if failure is None else str(failure)

    def _now(self) -> float:
        return self._at(self._clock()) if self._seconds is None else self._seconds

    def _at(self, moment: float) -> float:
        return round(moment - self._begun, 3)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def graph(self) -> dict[str, Any]:
        """What does not change: names, ends, and the picture, of every node or of parts."""
        return graph_to_json(self.name, self.network, self.summary) | {"engine": self.engine, "run": self._run}

    def state(self) -> dict[str, Any]:
        """What changes. Cost: a frontier for each location that is shown, a look at all that is outstanding."""
        state: dict[str, Any] = {
            "run": self._run,
            "phase": self._phase,
            "reason": self._reason,
            "seconds": self._now(),
            "messages": self._messages,
            "notifications": self._notifications,
            "late": self._late,
            "failures": self._failures,
            "told": self._delivered(MOST_TOLD),
            "letters": [
                {"seconds": self._at(moment), "kind": kind, "says": says, "count": count}
                for moment, kind, says, count in [*self._letters]
            ],
            "passed": {edge: count for edge, count in [*self._passed.items()] if count},
        }
        core = self._core
        if core is not None:
            state |= self._outstanding(core)
        return state

    def _outstanding(self, core: Core) -> dict[str, Any]:
        inside = {
            name: (inbox.size, inbox.busy)
            for name, inbox in zip(self.network.nodes, core.inboxes, strict=True)
            if inbox.size or inbox.busy
        }
        held = [self.network.nodes[node] for node in [*core.held]]
        return {"steps": core.steps, "held": held, **outstanding(core.tracker, inside)}

    def delivered(self) -> list[dict[str, Any]]:
        """The notifications that were delivered last, the latest at the end."""
        return self._delivered(MOST_KEPT)

    def _delivered(self, most: int) -> list[dict[str, Any]]:
        known = [*self._told]
        first = self._notifications - len(known)  # one may come meanwhile: then numbers are one too high, once
        return [
            {"number": first + place, "seconds": self._at(moment), "node": node, "time": write_time(time)}
            for place, (moment, node, time) in [*enumerate(known, 1)][-most:]
        ]

    def sample(self) -> None:
        """Note rates and lengths of queues, if it is time to; called again and again. Costs little, see `Series`."""
        core = self._core
        if core is not None and self._seconds is None and self.series.is_due(now := self._clock()):
            queued = by_edge(core.tracker.messages())
            self.series.add(self._at(now), self._passed, queued, now, self._clock() - now)

    def waits(self) -> dict[str, Any]:
        """What waits, the longest first (`graphs.sessions.waiting`), `at` this second of the run.

        Cost: that of `Tracker.why`.
        """
        core = self._core
        if core is None:
            return {"waiting": 0, "ready": 0, "steps": 0, "waits": [], "at": 0.0}
        return told_waits(core.tracker.why(), self.summary) | {"at": self._now()}

    def why(self, node: str, time: Any) -> dict[str, Any]:
        """Who blocks a request, as `track` answers it; the first so many."""
        core = self._core
        if core is None:
            return {"blocked": False, "by": [], "all": 0}
        try:
            _, at = self.network.pointstamp((node, read_time(time)))
            return {"request": [node, time], **told_why(core.tracker, node, at)}
        except PointstampError as error:
            return {"error": error.message, "hint": error.hint}
