"""When a run has to stop before its end: it was cancelled, or its time is up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import Any

from progress.errors import PointstampError
from progress.runtime.thread import Thread

OFTEN = 0.05  # seconds between looks at whether the run has to stop, while somebody else answers


class Cancelled(PointstampError):
    """Somebody cancelled the run."""

    def __init__(self) -> None:
        super().__init__("PS712", "the run was cancelled", "what had left by then is complete lines and whole values")


class TimedOut(PointstampError):
    """The run took longer than it was given."""

    def __init__(self, seconds: float) -> None:
        super().__init__("PS713", f"the run took more than {seconds:g} seconds", "a longer timeout, or a shorter input")


HAS_TO_STOP = (Cancelled, TimedOut)  # not since something went wrong: what runs comes to its end, and is entered


class Interrupted(BaseException):
    """What somebody waits for is cut short, since the run has to stop: no failure of whoever waits."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(reason)
        self.reason = reason


class Control:
    """Asked by engines between two actions, and while something is awaited, which is cancelled; what computes comes to
    its end first.

    Parameters
    ----------
    timeout : seconds from now; None: for ever
    cancel : set by whoever wants the run to stop
    """

    def __init__(self, timeout: float | None = None, cancel: threading.Event | None = None) -> None:
        self.timeout = timeout
        self._cancel = cancel
        self._until = None if timeout is None else monotonic() + timeout
        self.may_stop = timeout is not None or cancel is not None  # so that it is to be asked while nothing happens
        self._failure: BaseException | None = None
        self._is_hurried = False

    def fail(self, failure: BaseException) -> None:
        """What the run needs has failed, in a thread of its own: the run stops for this, as soon as it looks."""
        self._failure = self._failure or failure

    def hurry(self) -> None:
        """Whoever has the run does not wait for it any more."""
        self._is_hurried = True

    @property
    def is_hurried(self) -> bool:
        """Whether nothing is waited for at length any more: it was cancelled, or its time is up."""
        if self._is_hurried or (self._cancel is not None and self._cancel.is_set()):
            return True
        return self._until is not None and monotonic() > self._until

    def beside(self, ask: Callable[[], Any]) -> Any:
        """What `ask` gives, which is called in a thread of its own, since it may take long and hears no signal.

        Where the run has to stop, that is raised, and the call is left behind.
        """
        found: list[Any] = []
        failures: list[BaseException] = []

        def answer() -> None:
            try:
                found.append(ask())
            except BaseException as error:
                failures.append(error)

        thread = Thread(target=partial(copy_context().run, answer), daemon=True, name="asking servers")
        thread.start()
        while thread.is_alive():
            self.check()
            thread.join(OFTEN)
        for failure in failures:
            raise failure
        return found[0]

    def check(self) -> None:
        """Raise why the run has to stop, if it has to."""
        if self._failure is not None:
            raise self._failure
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        if self._until is not None and monotonic() > self._until:
            assert self.timeout is not None
            raise TimedOut(self.timeout)
