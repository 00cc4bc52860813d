"""What a kept run has written outside of its folder, and how far: what checkpoints know of it.

A sink that can say so has an `outlet`, or is one: a file of lines (`graphs/running/line_sink.py`), a place that keeps
bundles (`bundles.py`). A checkpoint has what an outlet was at the border, and what waited there. When a run goes on, it
has to be there again, and what has left since comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol


class Going(Enum):
    """How a run begins to write where there may be something already."""

    ANEW = "what is there is of no use"
    AGAIN = "what has left comes again, is compared with what is there, and leaves once"
    ONWARD = "what has left stays, and what comes again leaves again"
    BACK = "what has left since the checkpoint may not be there as it was: it goes"
    BACK_ONWARD = "the same; where it cannot go, what comes again leaves again"


class Outlet(Protocol):
    """One of them.

    `holds` says whether what comes waits for a checkpoint that covers it; `is_loose` whether values come again in the
    same order, but where frontiers move between them may be elsewhere; `why` tells of the first node that has done
    otherwise when it was run again. One that is a file which the pipeline names itself has its path as `named`, so that
    `pointstamp state` finds it.
    """

    holds: bool
    is_loose: bool
    why: Callable[[], str]

    def check(self, known: Any) -> None:
        """Refuse (PS736) what is not as a checkpoint knows it. Nothing is changed."""
        ...

    def begin(self, known: Any, going: Going) -> None:
        """The run begins; `known` is what the checkpoint has from which it goes on, None where it is new."""
        ...

    def border(self) -> Callable[[], Any]:
        """A checkpoint is taken here. What is given makes sure that what has left outlives the machine.

        It answers what is to be known, as JSON, and is called by another thread.
        """
        ...

    def covered(self) -> None:
        """The checkpoint is on the disk: what waited for it leaves."""
        ...

    def finish(self) -> None:
        """Nothing leaves any more: refuse (PS748) an end before that of the run before."""
        ...

    @property
    def is_behind(self) -> bool:
        """Whether something has left before a kill that has not come again."""
        ...

    @property
    def has_given_up(self) -> bool:
        """Whether something was to be written, and was not: no checkpoint may say that it was."""
        ...
