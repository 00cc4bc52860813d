"""Who takes the checkpoints of a run that is kept: at the border, then in slices, then in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Protocol

from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.mappings.states import States
from progress.runtime.durable.store import Store
from progress.runtime.thread import Thread

SOON = 0.001  # seconds after which it is looked again whether another thread, or a call, has come to its end
Known = dict[str, Any]  # what a checkpoint knows besides the run, as JSON


class Outside(Protocol):
    """What a run has outside of its folder: files that it reads and writes, and the like."""

    def border(self) -> Callable[[], Known]:
        """A checkpoint is taken here. What is given makes sure that all that has left outlives the machine.

        It answers what is to be known of it, as it was at the border, and is called by another thread.
        """
        ...

    def covered(self) -> None:
        """The checkpoint is on the disk."""
        ...


class Keeper:
    """Takes the checkpoints of one run.

    Parameters
    ----------
    store : where they are kept
    outside : what the run has besides
    """

    def __init__(self, store: Store, outside: Outside) -> None:
        self.store = store
        self.outside = outside
        self.states = States(store)
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._taking: Taking | None = None

    def keep(self, parts: State) -> Taking:
        """A checkpoint of a run whose parts these are; this is its border. The one before is finished."""
        self.store.begin()
        self._taking = Taking(self, parts, self.outside.border())
        return self._taking

    def finish(self) -> None:
        """Finish the checkpoint that was taken last: until then a `State` has the border of that one alone."""
        if self._taking is not None:
            self._taking.finish()

    def beside(self, work: Callable[[], None]) -> None:
        """Have something done by another thread."""
        if self._thread is None:
            self._thread = Thread(target=self._worked, name="commits", daemon=True)
            self._thread.start()
        self._work.put(work)

    def _worked(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def close(self) -> None:
        """Wait for what is being committed; what is not will never be."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
        self.store.give_up()


class Taking:
    """A checkpoint that is being taken: what has changed is written, then committed, then things are tidied up.

    Once that has failed it fails for good: what could not be written would be missing in it.
    """

    def __init__(self, keeper: Keeper, parts: State, known: Callable[[], Known]) -> None:
        self.after: Callable[[], None] = lambda: None
        self.pause = 0.0
        self._keeper = keeper
        self._parts = parts
        self._known = known
        self._is_begun = False
        self._has_ended = threading.Event()  # the commit
        self._is_covered = False
        self._failure: BaseException | None = None

    def go_on(self) -> bool:
        """Do a little of what is left; whether nothing is. Raises what went wrong with the commit."""
        states = self._keeper.states
        with self._failing():
            self.pause = 0.0
            if self._is_covered:
                return not states.tidy()
            if self._has_ended.is_set():
                self._cover()
            elif self._is_begun:
                self.pause = SOON
            elif not states.write():
                if states.is_written:
                    self._is_begun = True
                    self._keeper.beside(self._commit)
                self.pause = SOON
        return False

    def finish(self) -> None:
        """Do all that is left, in this thread."""
        states = self._keeper.states
        with self._failing():
            if not self._is_begun:
                while states.write():
                    pass
                assert states.is_written
                self._is_begun = True
                self._commit()
            self._has_ended.wait()
            if not self._is_covered:
                self._cover()
            while states.tidy():
                pass

    @contextmanager
    def _failing(self) -> Iterator[None]:
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except BaseException as error:
            self._failure = error
            raise

    def _commit(self) -> None:
        store, states = self._keeper.store, self._keeper.states
        try:
            self._grown = store.commit(self._known(), self._parts, *states.strands())
        except BaseException as error:
            store.give_up()
            self._failure = error
        self._has_ended.set()

    def _cover(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._keeper.states.committed(self._keeper.store.strands, self._grown)
        self._is_covered = True
        self._keeper.outside.covered()
        self.after()
