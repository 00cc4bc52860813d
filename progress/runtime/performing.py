"""Performing an action: the node's code runs, and its policy says what becomes of a failure.

A call that fails has no effect: what it sent and requested is taken back. What the calls of one action do is entered
all at once afterwards, by `Core.commit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from progress.runtime.failure import DeadLetter, NodeFailed, OnError, Retry
from progress.runtime.inbox import Action, Inbox
from progress.runtime.out import Out


class Performed:
    """An action as it is performed, and what becomes of it, with what its node's policy says of failures.

    `consumed` says how many values, or notifications, are over; a fatal failure is the last one.
    """

    __slots__ = ("_tried", "_tries", "action", "consumed", "failures", "go_on", "is_fatal", "mark", "out")

    def __init__(self, action: Action, out: Out) -> None:
        self.action = action
        self.out = out
        self.mark = (0, 0, 0)  # of `out`, before the call that is being made
        self.consumed = 0
        self._tries = 0  # how often the call for what comes after `_tried` was made again
        self._tried = 0
        self.failures: tuple[NodeFailed, ...] = ()
        self.is_fatal = False
        self.go_on = True

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

    def failed(self, error: Exception, inbox: Inbox) -> float | None:
        """Take back what the failing call did; the seconds to wait before it is made again, if it is."""
        self.out.take_back(self.mark)
        action = self.action
        failure = self._failure(error, inbox)
        policy: OnError = inbox.policy
        if isinstance(policy, Retry):
            self._tries = self._tries + 1 if self._tried == self.consumed else 1
            self._tried = self.consumed
            if self._tries <= policy.times:
                return policy.pause(self._tries)
            policy = policy.then
        self.failures += (failure,)
        if isinstance(policy, DeadLetter):
            self.consumed += len(self.rest) if _takes_together(action, inbox) else 1
            self.go_on = action.edge is not None and bool(self.rest)
        else:
            self.is_fatal = True
            self.go_on = False
        return None

    def _failure(self, error: Exception, inbox: Inbox) -> NodeFailed:
        if isinstance(error, NodeFailed):
            return error
        action, name = self.action, inbox.exits.name
        if action.edge is None:
            return NodeFailed(name, action.time, "in the notification", None, error)
        if _takes_together(action, inbox):
            return NodeFailed(name, action.time, f"on messages from {action.edge!r}", list(self.rest), error)
        return NodeFailed(name, action.time, f"on a message from {action.edge!r}", self.rest[0], error)


def _takes_together(action: Action, inbox: Inbox) -> bool:
    """Whether one call is handed all messages of the action."""
    return action.edge is not None and hasattr(inbox.behaviour, "on_messages")


def perform(action: Action, inbox: Inbox, pause: Callable[[float], object] | None) -> Performed:
    """Run the node's code for one action; `pause` waits the seconds before another attempt, None does not."""
    node, edge, time = inbox.behaviour, action.edge, action.time
    out = Out(inbox.exits, time)
    performed = Performed(action, out)
    while performed.go_on:
        try:
            if edge is None:
                result = node.on_notify(time, out)
                if result is not None:
                    waited_for(result)
                performed.consumed = 1
            elif (together := getattr(node, "on_messages", None)) is not None:
                result = together(edge, time, performed.rest, out)
                if result is not None:
                    waited_for(result)
                performed.consumed = len(action.values)
            else:
                on_message = node.on_message
                for value in performed.rest:
                    performed.mark = out.mark()
                    result = on_message(edge, time, value, out)
                    if result is not None:
                        waited_for(result)
                    performed.consumed += 1
            break
        except Exception as error:
            seconds = performed.failed(error, inbox)
            if seconds is not None and pause is not None:
                pause(seconds)
    out.close()
    return performed


async def perform_async(action: Action, inbox: Inbox, wait: Callable[[float], Any]) -> Performed:
    """`perform` for nodes whose methods may be `async def`."""
    node, edge, time = inbox.behaviour, action.edge, action.time
    out = Out(inbox.exits, time)
    performed = Performed(action, out)
    while performed.go_on:
        try:
            if edge is None:
                await _awaited(node.on_notify(time, out))
                performed.consumed = 1
            elif (together := getattr(node, "on_messages", None)) is not None:
                await _awaited(together(edge, time, performed.rest, out))
                performed.consumed = len(action.values)
            else:
                for value in performed.rest:
                    performed.mark = out.mark()
                    await _awaited(node.on_message(edge, time, value, out))
                    performed.consumed += 1
            break
        except Exception as error:
            seconds = performed.failed(error, inbox)
            if seconds is not None:
                await wait(seconds)
    out.close()
    return performed


def waited_for(result: Any) -> None:
    """Wait for what an `async def` method gives, in an event loop of its own. Cost: that of a loop."""
    if hasattr(result, "__await__"):
        import asyncio  # 20 ms that most programs need not pay

        asyncio.run(_awaited(result))


async def _awaited(result: Any) -> None:
    if result is not None and hasattr(result, "__await__"):
        await result
