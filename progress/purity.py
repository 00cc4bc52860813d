"""Whether a node's step is a function of the state and the event, as g1(p) is (A&I 2.2), as far as can be seen.

A state has to be told apart from others by what it says, and has to stay what it is. Otherwise an exploration takes
known states for new ones, or new states for known ones, and what it finds says nothing. Such states are refused
(PS615). Whether a step does the same each time is found by trying it again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Set
from enum import Enum
from typing import Any

from progress.errors import PointstampError, brief

RIGHT = "a step is a function of the state and the event: give back a new state that compares by what is in it"


def refused(name: str, what: str) -> PointstampError:
    """What is said of a node whose step is not a function."""
    return PointstampError("PS615", f"the node {name!r} {what}", RIGHT)


def check_state(name: str, state: Any) -> None:
    """Refuse a state that is equal to nothing but itself, however alike (PS615). Cost: O(size of the state)."""
    found = _by_identity(state)
    if found is not None:
        raise refused(name, f"has a {type(found[0]).__name__} in its state, which is equal to nothing but itself")


def _by_identity(value: Any) -> tuple[Any] | None:
    """Something in a value that has attributes, or is used up, and is compared by identity."""
    if isinstance(value, Mapping):
        inside: Any = [each for pair in value.items() for each in pair]
    elif isinstance(value, tuple | list | Set):
        inside = value
    else:
        kind: Any = type(value)
        lives = bool(getattr(value, "__dict__", None)) or hasattr(value, "__next__") or bool(_slots(kind))
        is_one = isinstance(value, type | Enum) or _copies_as_itself(value)  # there is only one, which never changes
        return (value,) if lives and kind.__eq__ is object.__eq__ and not is_one else None
    return next((found for each in inside if (found := _by_identity(each)) is not None), None)


def _copies_as_itself(value: Any) -> bool:
    """Whether its class says that a second one would be the same, as of stacks, of which equal ones are one object."""
    return hasattr(type(value), "__deepcopy__") and copy.deepcopy(value) is value


def _slots(kind: type) -> list[str]:
    return [name for each in kind.__mro__ for name in getattr(each, "__slots__", ()) if name != "__weakref__"]


class Kept:
    """What a state was before a step, to see whether the step has changed it; nothing is kept of what cannot change."""

    __slots__ = ("before", "state")

    def __init__(self, state: Any) -> None:
        self.state = self.before = state
        try:
            before = copy.deepcopy(state)
        except Exception:
            return
        if before is not state and alike(before, state):
            self.before = before

    def check(self, name: str) -> None:
        """Refuse a step that has changed the state that it was given (PS615)."""
        if self.before is not self.state and not alike(self.before, self.state):
            raise refused(
                name, f"has changed its state {brief(self.before)}, which can be hashed, to {brief(self.state)}"
            )


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal, or at least look the same, as two that are not a number do."""
    try:
        if bool(one == other):
            return True
    except Exception:
        pass
    return repr(one) == repr(other)
