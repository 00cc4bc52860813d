"""An action as it is performed, and what its node's policy makes of a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, NamedTuple

from progress.runtime.actions.inbox import Action, Inbox
from progress.runtime.awaiting import is_by_yield
from progress.runtime.failure import DeadLetter, NodeFailed, OnError, Retry, Stop, dead_letters, failures, made_by_yield
from progress.runtime.out import Out


class Pause(NamedTuple):
    """The seconds before a call is made again."""

    seconds: float


Waits = Awaitable[Any] | Pause  # what has to be waited for before the next call


WAITING = BaseException("what comes out of the calls is waited for")  # what is raised in them meanwhile ends them


class Performed:
    """An action as it is performed, and what becomes of it, with what its node's policy says of failures.

    `consumed` says how many values, or notifications, are over; a fatal failure is the last one. `error` is what was
    raised where a call was waited for.
    """

    __slots__ = (
        "_tried",
        "_tries",
        "action",
        "consumed",
        "error",
        "failures",
        "go_on",
        "is_fatal",
        "mark",
        "out",
        "singly",
    )

    def __init__(self, action: Action, out: Out) -> None:
        self.action = action
        self.out = out
        self.mark = (0, 0, 0, 0, 0)  # of `out`, before the call that is being made
        self.consumed = 0
        self.error: BaseException | None = None
        self._tries = 0  # how often the call for what comes after `_tried` was made again
        self._tried = 0
        self.failures: tuple[NodeFailed, ...] = ()
        self.is_fatal = False
        self.go_on = True
        self.singly = False  # whether what takes several messages is given them one by one

    @property
    def is_whole(self) -> bool:
        """Whether all of it is over, and the node may go on with what waits as if what it did had been entered.

        A notification in whose call the node asks for another one may have asked for one that is ready already, which
        is to be asked for once.
        """
        if self.action.edge is None:
            return self.consumed == 1 and not self.out.requests
        return self.consumed == len(self.action.values) and not self.is_fatal

    @property
    def rest(self) -> Sequence[Any]:
        """The values that are still to be consumed."""
        return self.action.values[self.consumed :] if self.consumed else self.action.values

    def waits_for(self, result: Waits) -> Waits:
        """What is given to whoever makes the calls, to be waited for; `has_waited` follows."""
        self.error = WAITING
        return result

    def has_waited(self) -> None:
        """Raise what was raised where the call was waited for."""
        error, self.error = self.error, None
        if error is not WAITING and error is not None:
            raise error

    def failed(self, error: BaseException, inbox: Inbox) -> float | None:
        """Take back what the failing call did; the seconds to wait before it is made again, if it is."""
        self.out.take_back(self.mark)
        action = self.action
        if action.edge is not None and not self.singly and inbox.behaviour.fails_singly and dead_letters(inbox.policy):
            self.singly = True
            if len(self.rest) > 1:  # what fails by itself is to be found
                return None
        failure = self._failure(error, inbox)
        policy: OnError = inbox.policy
        if isinstance(policy, Retry):
            self._tries = self._tries + 1 if self._tried == self.consumed else 1
            self._tried = self.consumed
            if self._tries <= policy.times:
                return policy.pause(self._tries)
            policy = policy.then
        self.failures += (failure,)
        if isinstance(policy, DeadLetter) and action.edge is None:
            try:
                failure.value = inbox.behaviour.give_up(action.time)
            except failures() as other:
                self.failures += (
                    NodeFailed(inbox.exits.name, action.time, "when it gave up what it kept", None, other),
                )
                policy = Stop()
        if isinstance(policy, DeadLetter):
            self.consumed += len(self.rest) if self._is_of_several(inbox) else 1
            self.go_on = action.edge is not None and bool(self.rest)
        else:
            self.is_fatal = True
            self.go_on = False
        return None

    def _is_of_several(self, inbox: Inbox) -> bool:
        """Whether one call is handed all messages of the action."""
        return self.action.edge is not None and not self.singly and hasattr(inbox.behaviour, "on_messages")

    def _failure(self, error: BaseException, inbox: Inbox) -> NodeFailed:
        if isinstance(error, NodeFailed):
            return error
        action, name = self.action, inbox.exits.name
        if action.edge is None:
            return NodeFailed(name, action.time, "in the notification", None, error)
        if self._is_of_several(inbox):
            return NodeFailed(name, action.time, f"on messages from {action.edge!r}", list(self.rest), error)
        return NodeFailed(name, action.time, f"on a message from {action.edge!r}", self.rest[0], error)


def is_to_be_awaited(result: Any, inbox: Inbox) -> bool:
    """Whether a call gave something to be waited for; refused is what a stray `yield` gives."""
    if is_by_yield(result):
        raise made_by_yield(inbox.exits.name)
    return hasattr(result, "__await__")
