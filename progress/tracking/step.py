"""A step as users write it: filled within `with`, taken whole at the end."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from progress.errors import brief
from progress.tracking.refusal import unknown_place, wrong_form

if TYPE_CHECKING:
    from progress.tracker import Tracker


class Step:
    """Collects what one atomic step changes. Nothing of it shows before the end of its `with` block.

    An exception inside the block, or a step that is refused, leaves no trace. A step is taken once.

    Examples
    --------
    >>> from pointstamp import Tracker, from_edges
    >>> tracker = Tracker(from_edges([(None, "a")]))
    >>> with tracker.step() as step:
    ...     step.message("in->a", 0)
    ...     step.input("in->a", [1])
    >>> tracker.frontier("a")
    (0,)
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._inputs: dict[str, Iterable[Any]] = {}
        self._messages: list[tuple[str, Any, int]] = []
        self._requests: list[tuple[str, Any]] = []
        self._delivered: list[tuple[str, Any]] = []
        self._over = False
        self._entered = False

    def message(self, edge: str, time: Any, change: int = 1) -> None:
        """Messages sent on an edge; a negative change consumes."""
        self._open()
        self._messages.append((edge, time, change))

    def consumed(self, edge: str, time: Any, count: int = 1) -> None:
        """Messages taken from an edge; they hold their time until the step is committed."""
        if type(count) is not int:
            raise wrong_form(f"{brief(count)} messages are consumed", "a whole number")
        self.message(edge, time, -count)

    def request(self, node: str, time: Any) -> None:
        """The node asks to be told when nothing at or before `time` can arrive any more; twice is once."""
        self._open()
        self._requests.append((node, time))

    def delivered(self, node: str, time: Any) -> None:
        """A ready request is delivered, and over."""
        self._open()
        self._delivered.append((node, time))

    def input(self, edge: str, times: Iterable[Any]) -> None:
        """From now on an input brings messages only at or above one of `times`; none closes it for ever."""
        self._open()
        if not isinstance(edge, str):
            raise unknown_place(edge, self._tracker.network.edges)
        if edge in self._inputs:
            raise wrong_form(
                f"the input {brief(edge)} moves twice in one step", "once, to where it stands after the step"
            )
        self._inputs[edge] = times

    def _open(self) -> None:
        if self._over:
            raise wrong_form("this step is over", "tracker.step() begins a new one")
        if not self._entered:
            raise wrong_form("this step has not begun, and would never be taken", "with tracker.step() as step: ...")

    def __enter__(self) -> Step:
        entered, self._entered = self._entered, True
        self._open()
        if entered:
            raise wrong_form("this step has begun already", "tracker.step() begins another one")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open()
        self._over = True
        if kind is None:
            self._tracker.apply(
                inputs=self._inputs, messages=self._messages, requests=self._requests, delivered=self._delivered
            )
