"""What happens in a run, in the logs of the standard library."""

from __future__ import annotations

import logging
from typing import Any

from progress.runtime.actions.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed


class Logs(Observer):
    """Writes to a logger: starts and ends as INFO, failures as WARNING, late data as WARNING, each call as DEBUG.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.runtime.watching.logs import Logs
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), sources={"in->a": [(0, "x")]})
    >>> flow.run(observer=Logs())
    {'a->out': [(0, 'x')]}
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self.logger = logger or logging.getLogger("pointstamp")

    def started(self, core: Core) -> None:
        self.logger.info("run of %d nodes and %d edges begins", len(core.network.nodes), len(core.network.edges))

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is None:
            self.logger.debug("%s was notified of %r", node, time)
        else:
            self.logger.debug("%s consumed %d messages at %r from %s", node, count, time, edge)

    def failed(self, failure: NodeFailed) -> None:
        self.logger.warning("%s", failure, exc_info=failure.error)

    def refused(self, failure: SourceFailed) -> None:
        self.logger.warning("%s", failure, exc_info=failure.error)

    def brought(self, edge: str, count: int, late: int) -> None:
        if late:
            self.logger.warning("%d messages were late at %s", late, edge)

    def ended(self, core: Core, failure: BaseException | None) -> None:
        if failure is None:
            self.logger.info("run ended after %d steps", core.steps)
        else:
            self.logger.info("run stopped after %d steps: %s", core.steps, failure)
