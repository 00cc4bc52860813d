"""The calls of a function, one for each value: what one of them raises is a failure of its value alone.

Where nothing is to be waited for and nothing raises, the results of all values are sent together. From the first value
on that needs more, each is a step of its own, in which only what failed is called again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from progress.errors import brief
from progress.runtime.actions.inbox import Inbox
from progress.runtime.actions.performed import WAITING, Pause, Performed, Waits, is_to_be_awaited
from progress.runtime.awaiting import BY_YIELD, PLAIN, Following, close, is_by_yield
from progress.runtime.failure import failures
from progress.runtime.node import Mapped
from progress.runtime.out import Out


class Raised(NamedTuple):
    """Stands among results for what was raised instead of one."""

    error: BaseException


def calls_by_value(performed: Performed, node: Mapped, inbox: Inbox) -> Iterator[Waits]:
    """Make the calls of a function for all values of an action, as `performing.calls` does.

    Cost: that of the calls, and a step for each value; more from the first on that has to be waited for, or raises.
    """
    left: deque[Any] = deque()  # for the first values that are not consumed: results, or what was raised
    try:
        ways = node.ways(performed.out)
    except failures() as error:
        left.append(Raised(error))
    else:
        made: list[Any] = []
        try:
            function = node.at(performed.action.time)
            for value in performed.action.values:  # a `map` would end where the function raises StopIteration
                made.append(function(value))
        except failures() as error:
            left.append(Raised(error))
        kinds = set(map(type, made))
        is_copied = type(performed.out) is not Out  # each may be one that cannot be
        is_special = not kinds <= PLAIN and (
            any(hasattr(kind, "__await__") for kind in kinds) or not (node.flat or kinds.isdisjoint(BY_YIELD))
        )
        if is_copied or is_special:
            left.extendleft(reversed(made))
        else:
            found = _flat(made, left) if node.flat else made
            performed.consumed = len(made)
            node.hand_on(found, ways, performed.out)
    if performed.consumed < len(performed.action.values):
        yield from _one_by_one(performed, node, left, inbox)


def check_several(made: Any) -> None:
    """Say in words what a function gave that is to give several values."""
    try:
        iter(made)
    except TypeError:
        what = f"its function gave {brief(made)}, where several values are wanted"
        raise TypeError(f"{what} (a list of them; [] for none)") from None


def _flat(made: list[Any], left: deque[Any]) -> list[Any]:
    """All that several results hold; from one on that raises when it is looked at, they go to what is left."""
    found: list[Any] = []
    for place, several in enumerate(made):
        before = len(found)
        try:
            try:
                found += several
            except TypeError:
                check_several(several)
                raise
        except failures() as error:
            del found[before:]
            left.extendleft(reversed([Raised(error), *made[place + 1 :]]))
            del made[place:]
            break
    return found


def _one_by_one(performed: Performed, node: Mapped, left: deque[Any], inbox: Inbox) -> Iterator[Waits]:
    """Consume what is left, each value by itself; one that failed is called again as its policy says."""
    out, values, time = performed.out, performed.action.values, performed.action.time
    performed.mark = out.mark()
    is_again = False
    try:
        while performed.go_on:
            try:
                result = left.popleft() if left and not is_again else node.at(time)(values[performed.consumed])
                is_again = False
                if type(result) is Raised:
                    raise result.error
                if not (node.flat and is_by_yield(result)) and is_to_be_awaited(result, inbox):
                    found: list[Any] = []
                    yield performed.waits_for(Following([result], found.extend))
                    performed.has_waited()
                    (result,) = found
                if node.flat:
                    check_several(result)
                node.hand_on([*result] if node.flat else [result], node.ways(out), out)
                performed.mark = out.mark()
                performed.consumed += 1
                performed.go_on = performed.consumed < len(values)
            except failures() as error:
                if performed.error is WAITING:  # nobody goes on with it
                    raise
                seconds = performed.failed(error, inbox)
                is_again = seconds is not None
                if seconds is not None:
                    yield Pause(seconds)
    finally:
        for result in left:
            close(result)
