"""What a run is on: this process alone, or Spark as well (`on_spark/engine.py`), which overrides what is so here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Self

from progress.runtime.durable.rests import WORK
from progress.runtime.out import IN_MEMORY
from progress.runtime.tables import Tables
from progress.runtime.thread import Thread

if TYPE_CHECKING:
    from progress.runtime.actions.core import Core
    from progress.runtime.actions.inbox import Action
    from progress.runtime.actions.performed import Performed
    from progress.runtime.observer import Observer
    from progress.runtime.sink import Sinks


class Host:
    """One that adds nothing: threads of this process, tables in its memory, nothing to cancel.

    `tables`: where tables are that nodes send. `work`: how many times as long as a checkpoint holds the run is worked
    before the next. `is_alone`: what nodes know is known here alone, so a checkpoint writes what has changed between
    later actions, and a node without code passes on without a call of its own.
    """

    tables: Tables = IN_MEMORY
    work = WORK
    is_alone = True

    def observed(self, observer: Observer | None) -> Observer | None:
        """Who is told of the run: whoever was to be, and who of the host's wants to be."""
        return observer

    def begin(self, core: Core, sinks: Sinks) -> None:
        """The run begins."""

    def performer(self, core: Core) -> Callable[[Action], Performed]:
        """What runs the code of a node."""
        return core.perform

    def thread(self, target: Callable[[], None], name: str, *, is_daemon: bool = False) -> Thread:
        """A worker or a reader."""
        return Thread(target=target, name=name, daemon=is_daemon)

    def reading(self, edge: str) -> AbstractContextManager[None]:
        """This thread reads the source of an edge."""
        return nullcontext()

    def checkpoint(self) -> AbstractContextManager[None]:
        """This thread takes a checkpoint."""
        return nullcontext()

    def check(self) -> None:
        """Raise where the host is gone."""

    def stop(self) -> None:
        """Cancel what runs; what has not begun will not begin."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """The run is over."""


HERE = Host()
