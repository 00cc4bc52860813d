"""Performing an action: the node's code runs, and its policy says what becomes of a failure.

A call that fails sends and requests nothing: that is taken back, which a node's own state is not. What the calls of
one action do is entered all at once afterwards, by `Core.commit`.

A method may give something to be waited for, as `async def` does. Then the calls stop until whoever makes them has
waited for it: in an event loop of its own, or in that of the engine `asyncio`, where other nodes go on meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from progress.runtime.actions.by_value import calls_by_value
from progress.runtime.actions.inbox import Inbox
from progress.runtime.actions.performed import WAITING, Pause, Performed, Waits, is_to_be_awaited
from progress.runtime.awaiting import close
from progress.runtime.control import Interrupted
from progress.runtime.failure import STARTED, NodeFailed, cancellations, failures, in_a_loop, task_of_now
from progress.runtime.out import Out

if TYPE_CHECKING:
    from progress.runtime.node import Mapped

OFTEN = 0.02  # seconds between looks at whether the run has to stop, while something is awaited


def calls(performed: Performed, inbox: Inbox) -> Iterator[Waits]:
    """Make the calls of an action; gives what has to be waited for before it goes on.

    Where that raises, `performed.error` is set to it. Cost: that of the calls, and of copying a list for `on_messages`,
    which may do with it what it likes.
    """
    node, out = inbox.behaviour, performed.out
    _, edge, time, values = performed.action
    if edge is not None and inbox.by_value:
        yield from calls_by_value(performed, cast("Mapped", node), inbox)
        out.close()
        return
    while performed.go_on:
        try:
            if edge is None:
                result = node.on_notify(time, out)
                if result is not None and is_to_be_awaited(result, inbox):
                    yield performed.waits_for(result)
                    performed.has_waited()
                performed.consumed = 1
            elif (together := getattr(node, "on_messages", None)) is not None:
                for several in [[value] for value in performed.rest] if performed.singly else [[*values]]:
                    count = len(several)
                    performed.mark = out.mark()
                    result = together(edge, time, several, out)
                    if result is not None and is_to_be_awaited(result, inbox):
                        yield performed.waits_for(result)
                        performed.has_waited()
                    performed.consumed += count
            else:
                on_message = node.on_message
                for value in performed.rest:
                    performed.mark = out.mark()
                    result = on_message(edge, time, value, out)
                    if result is not None and is_to_be_awaited(result, inbox):
                        yield performed.waits_for(result)
                        performed.has_waited()
                    performed.consumed += 1
            break
        except failures() as error:
            if performed.error is WAITING:  # nobody goes on with it
                raise
            seconds = performed.failed(error, inbox)
            if seconds is not None:
                yield Pause(seconds)
    out.close()


def perform(
    performed: Performed,
    made: Iterator[Waits],
    pause: Callable[[float], object] | None,
    check: Callable[[], None] | None = None,
) -> None:
    """Make the calls of an action; `pause` waits the seconds before another attempt, None does not.

    What is waited for is cut short when `check` raises; then that is raised, and nothing of the action has happened.
    """
    for waits in made:
        if isinstance(waits, Pause):
            if pause is not None:
                pause(waits.seconds)
        else:
            try:
                waited_for(waits, check)
            except failures() as error:
                performed.error = error
            except Interrupted as error:
                raise error.reason from error.reason.__cause__


async def go_on(
    performed: Performed,
    made: Iterator[Waits],
    waits: Waits | None,
    pause: Callable[[float], Awaitable[object]],
    is_stopping: Callable[[], bool],
) -> Performed:
    """Go on with an action that waits, in an event loop. What is raised because the run stops is not a failure."""
    task = task_of_now()
    while waits is not None:
        if isinstance(waits, Pause):
            await pause(waits.seconds)
        else:
            try:
                await waits
            except failures() as error:
                if is_stopping() or task_of_now() is not task:  # or it is thrown away together with the loop
                    raise
                performed.error = error
        waits = next(made, None)
    return performed


def waited_for(result: Any, check: Callable[[], None] | None = None) -> None:
    """Wait for what an `async def` method gives, in an event loop of its own. Cost: that of a loop.

    With `check`, which raises when the run has to stop, it is cancelled then (`Interrupted`).
    """
    if is_in_a_loop():
        close(result)
        raise in_a_loop("what is `async def` is waited for")
    import asyncio

    asyncio.run(awaited(result) if check is None else awaited_until(result, check))


async def awaited(result: Any) -> None:
    """What gives nothing, after it has been waited for."""
    await result


async def awaited_until(result: Any, check: Callable[[], None]) -> None:
    """`awaited`, and a look every few milliseconds at whether the run has to stop."""
    import asyncio

    task = asyncio.ensure_future(awaited(result))
    try:
        while not (await asyncio.wait((task,), timeout=OFTEN))[0]:
            try:
                check()
            except BaseException as reason:
                raise Interrupted(reason) from None
    except BaseException:  # who waits may be cancelled as well
        task.cancel()
        await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # whatever it raises now is of no account
        raise
    task.result()


def is_in_a_loop() -> bool:
    """Whether an event loop runs in this thread, which cannot run another one."""
    if "asyncio" not in sys.modules:
        return False
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# --- the beginning ----------------------------------------------------------------------------------------------------


@contextmanager
def starting(inbox: Inbox) -> Iterator[Out]:
    """What a node may do when the run begins; what it raises is a failure, unless it is the run that is cancelled.

    Where what is awaited was cut short because the run has to stop, that is raised.
    """
    out = inbox.exits.out(inbox.exits, None, is_start=True)
    task = task_of_now()
    try:
        yield out
    except failures() as error:
        if task_of_now() is not task or (isinstance(error, cancellations()) and task and task.cancelling()):
            raise
        raise NodeFailed(inbox.exits.name, None, STARTED, None, error) from error
    except Interrupted as error:
        raise error.reason from error.reason.__cause__
    out.close()
