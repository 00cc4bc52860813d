"""What the nodes of collections cannot go on with: a failure of the run, with a code."""

from __future__ import annotations

from typing import Any

from progress.errors import brief
from progress.runtime.failure import NotAllowed


def not_a_change(name: str, value: Any) -> NotAllowed:
    """What came in for a collection is not a change."""
    return NotAllowed("PS818", f"{brief(value)} came in for the collection {brief(name)}", "a change: (value, count)")


def not_a_pair(name: str, value: Any) -> NotAllowed:
    """A value has no key."""
    what = f"{brief(name)} needs pairs of a key and a value, and {brief(value)} came"
    return NotAllowed("PS818", what, "map before it, to (key, value)")


def taken_too_often(name: str, value: Any, count: int) -> NotAllowed:
    """More of a value was taken away than was there."""
    what = f"{brief(value)} is there {count:,} times where {brief(name)} looks at it"
    return NotAllowed("PS819", what, "take away what is there; distinct() takes what is there less often for absent")


def without_end(name: str, most: int) -> NotAllowed:
    """A loop that goes on beyond its bound."""
    what = f"{brief(name)} still changes after {most:,} rounds"
    return NotAllowed("PS817", what, "a loop that comes to rest, or iterate(..., most=) with more rounds")
