"""Tasks and their states (FT 4.2, Figure 7)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from progress.semantics.state import released

Function: TypeAlias = Callable[[Any, Any], tuple[Any, Iterable[Any]]]


@dataclass(frozen=True)
class Task:
    """TK⟨f, S, o⟩ with a name, and the state in which it begins.

    Parameters
    ----------
    name : of the task, the paper's p
    function : f, `function(state, event) -> (state, [event, ...])`; pure, since a recovery may run it again
    inputs : names of the streams that it reads
    output : name of the stream that it writes
    initial : its state at first, epoch 0 of its archive

    Examples
    --------
    >>> from progress.recovery.tasks import Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> tasks[0].function(4, 5)
    (9, [9])
    """

    name: str
    function: Function
    inputs: Sequence[str]
    output: str
    initial: Any = None


class Normal(NamedTuple):
    """⟨e, v⟩: the epoch in which a task is, and the value of its state."""

    epoch: int
    value: Hashable


class TaskState(NamedTuple):
    """⟨a, σV⟩: the archive, which survives failures, and the volatile state, which does not.

    `archive[e]` is the state at the end of epoch e: epochs are closed in order, so dom(a) is 0, 1, ... without a gap.
    """

    archive: tuple[Hashable, ...]
    volatile: Normal | None  # None is fl, the state of a task that has failed

    @property
    def failed(self) -> bool:
        """Whether the volatile state is fl."""
        return self.volatile is None

    def __repr__(self) -> str:
        kept = ", ".join(f"{epoch}: {released(value)!r}" for epoch, value in enumerate(self.archive))
        now = "failed" if self.volatile is None else f"{released(self.volatile.value)!r} in epoch {self.volatile.epoch}"
        return f"{now}, archive {{{kept}}}"
