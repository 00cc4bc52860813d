"""Performing an action: the node's code runs, and its policy says what becomes of a failure.

A call that fails sends and requests nothing: that is taken back, which a node's own state is not. What the calls of
one action do is entered all at once afterwards, by `Core.commit`.

A method may give something to be waited for, as `async def` does. Then the calls stop until whoever makes them has
waited for it: in an event loop of its own, or in that of the engine `asyncio`, where other nodes go on meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from progress.runtime.failure import (
    FAILURES,
    STARTED,
    DeadLetter,
    NodeFailed,
    OnError,
    Retry,
    in_a_loop,
    made_by_yield,
)
from progress.runtime.following import close, is_by_yield
from progress.runtime.inbox import Action, Inbox
from progress.runtime.out import Out


class Pause(NamedTuple):
    """The seconds before a call is made again."""

    seconds: float


Waits = Awaitable[Any] | Pause  # what has to be waited for before the next call


class Performed:
    """An action as it is performed, and what becomes of it, with what its node's policy says of failures.

    `consumed` says how many values, or notifications, are over; a fatal failure is the last one. `error` is what was
    raised where a call was waited for.
    """

    __slots__ = ("_tried", "_tries", "action", "consumed", "error", "failures", "go_on", "is_fatal", "mark", "out")

    def __init__(self, action: Action, out: Out) -> None:
        self.action = action
        self.out = out
        self.mark = (0, 0, 0)  # of `out`, before the call that is being made
        self.consumed = 0
        self.error: BaseException | None = None
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

    def raise_error(self) -> None:
        """Raise what was raised where the call was waited for."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def failed(self, error: BaseException, inbox: Inbox) -> float | None:
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
            if action.edge is None:
                failure.value = inbox.behaviour.give_up(action.time)
            self.consumed += len(self.rest) if _takes_together(action, inbox) else 1
            self.go_on = action.edge is not None and bool(self.rest)
        else:
            self.is_fatal = True
            self.go_on = False
        return None

    def _failure(self, error: BaseException, inbox: Inbox) -> NodeFailed:
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


def calls(performed: Performed, inbox: Inbox) -> Iterator[Waits]:
    """Make the calls of an action; gives what has to be waited for before it goes on.

    Where that raises, `performed.error` is set to it. Cost: that of the calls, and of copying a list for `on_messages`,
    which may do with it what it likes.
    """
    node, out = inbox.behaviour, performed.out
    _, edge, time, values = performed.action
    while performed.go_on:
        try:
            if edge is None:
                result = node.on_notify(time, out)
                if result is not None and is_to_be_awaited(result, inbox):
                    yield result
                    performed.raise_error()
                performed.consumed = 1
            elif (together := getattr(node, "on_messages", None)) is not None:
                result = together(edge, time, [*values], out)
                if result is not None and is_to_be_awaited(result, inbox):
                    yield result
                    performed.raise_error()
                performed.consumed = len(values)
            else:
                on_message = node.on_message
                for value in performed.rest:
                    performed.mark = out.mark()
                    result = on_message(edge, time, value, out)
                    if result is not None and is_to_be_awaited(result, inbox):
                        yield result
                        performed.raise_error()
                    performed.consumed += 1
            break
        except FAILURES as error:
            seconds = performed.failed(error, inbox)
            if seconds is not None:
                yield Pause(seconds)
    out.close()


def is_to_be_awaited(result: Any, inbox: Inbox) -> bool:
    """Whether a call gave something to be waited for; refused is what a stray `yield` gives."""
    if is_by_yield(result):
        raise made_by_yield(inbox.exits.name)
    return hasattr(result, "__await__")


def begin(action: Action, inbox: Inbox) -> tuple[Performed, Iterator[Waits]]:
    """An action to be performed, and the calls that it takes."""
    performed = Performed(action, Out(inbox.exits, action.time))
    return performed, calls(performed, inbox)


def perform(action: Action, inbox: Inbox, pause: Callable[[float], object] | None) -> Performed:
    """Run the node's code for one action; `pause` waits the seconds before another attempt, None does not."""
    performed = Performed(action, Out(inbox.exits, action.time))
    for waits in calls(performed, inbox):
        if isinstance(waits, Pause):
            if pause is not None:
                pause(waits.seconds)
        else:
            try:
                waited_for(waits)
            except FAILURES as error:
                performed.error = error
    return performed


async def go_on(
    performed: Performed,
    made: Iterator[Waits],
    waits: Waits | None,
    pause: Callable[[float], Awaitable[object]],
    is_stopping: Callable[[], bool],
) -> Performed:
    """Go on with an action that waits, in an event loop. What is raised because the run stops is no failure."""
    while waits is not None:
        if isinstance(waits, Pause):
            await pause(waits.seconds)
        else:
            try:
                await waits
            except FAILURES as error:
                if is_stopping():
                    raise
                performed.error = error
        waits = next(made, None)
    return performed


def waited_for(result: Any) -> None:
    """Wait for what an `async def` method gives, in an event loop of its own. Cost: that of a loop."""
    if is_in_a_loop():
        close(result)
        raise in_a_loop("what is `async def` is waited for")
    asyncio.run(awaited(result))


async def awaited(result: Any) -> None:
    """What gives nothing, after it has been waited for."""
    await result


def is_in_a_loop() -> bool:
    """Whether an event loop runs in this thread, which cannot run another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# --- the beginning ----------------------------------------------------------------------------------------------------


@contextmanager
def starting(inbox: Inbox) -> Iterator[Out]:
    """What a node may do when the run begins; what it raises is a failure, unless it is the run that is cancelled."""
    out = Out(inbox.exits, None, is_start=True)
    try:
        yield out
    except FAILURES as error:
        if isinstance(error, asyncio.CancelledError) and is_in_a_loop() and _is_cancelled():
            raise
        raise NodeFailed(inbox.exits.name, None, STARTED, None, error) from error
    out.close()


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
