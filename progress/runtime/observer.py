"""Who wants to know what happens in a run: logs, metrics, a progress bar. An observer may do any of these, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from progress.runtime.actions.core import Core
    from progress.runtime.failure import NodeFailed
    from progress.runtime.source_failure import SourceFailed


class Observer:
    """Told of a run as it goes, one call at a time; what it raises stops the run.

    `of_one_run`: it keeps what is of one run. It may be given to one after the other, not to two at once (PS723).
    """

    of_one_run = False

    def started(self, core: Core) -> None:
        """The run begins."""

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        """A node has consumed `count` messages of an edge and time, or a notification, where there is no edge."""

    def left(self, edge: str, time: Any, count: int) -> None:
        """A node has sent so many messages on an edge that leaves the graph."""

    def failed(self, failure: NodeFailed) -> None:
        """A node has raised; the run stops or goes on as its policy says."""

    def refused(self, failure: SourceFailed) -> None:
        """Something has come in that no message can be made of; it is a dead letter."""

    def brought(self, edge: str, count: int, late: int) -> None:
        """A source has brought messages, and some that were late."""

    def ended(self, core: Core, failure: BaseException | None) -> None:
        """The run is over."""


def of_one_run(observer: Observer | None) -> list[Observer]:
    """Those of an observer's parts, or it itself, that are one run's at a time."""
    if isinstance(observer, Observers):
        return [part for each in observer.each for part in of_one_run(each)]
    return [observer] if observer is not None and getattr(observer, "of_one_run", False) else []


class Observers(Observer):
    """Several observers as one, told one after the other."""

    def __init__(self, *observers: Observer) -> None:
        self.each = observers

    def started(self, core: Core) -> None:
        for each in self.each:
            each.started(core)

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        for each in self.each:
            each.performed(node, edge, time, count)

    def left(self, edge: str, time: Any, count: int) -> None:
        for each in self.each:
            each.left(edge, time, count)

    def failed(self, failure: NodeFailed) -> None:
        for each in self.each:
            each.failed(failure)

    def refused(self, failure: SourceFailed) -> None:
        for each in self.each:
            each.refused(failure)

    def brought(self, edge: str, count: int, late: int) -> None:
        for each in self.each:
            each.brought(edge, count, late)

    def ended(self, core: Core, failure: BaseException | None) -> None:
        for each in self.each:
            each.ended(core, failure)
