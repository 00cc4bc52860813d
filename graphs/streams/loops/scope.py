"""The inside of a loop: its times are those around it, with the round as one coordinate more.

Rounds are numbers up to `LAST`, which none reaches. So a request at the last round of a time is granted when all its
rounds are over, and what was kept for them can go.

One loop alone has the product order: round 3 of one epoch need not wait for round 2 of the next, nor the other way
round. Where a loop stands in a loop, a message that leaves the inner one in round (1, 5) comes back to it in (2, 0),
which is later only lexicographically (Condition 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphs.streams.bags import Bags
from graphs.streams.refusals import bad_step, refused
from graphs.streams.scope import Scope
from progress.errors import brief
from progress.order import Domain, Lex, Nat, Product

LAST = 2**31 - 1
ROUNDS = Nat(LAST)
LEADS_BACK = "what its steps make of what it is given"


class Loop(Scope):
    """The inside of one loop. `is_open` while its body is being written."""

    def __init__(self, outer: Scope, name: str) -> None:
        super().__init__(None, outer, name)
        self.is_open = True

    def written(self, body: Callable[..., Any], *inside: Any) -> Any:
        """What the body gives for streams inside. When it has returned, nothing can be added to the loop any more."""
        try:
            return body(*inside)
        finally:
            self.is_open = False

    def result(self, given: Any, inside: Sequence[Bags[Any, Any]]) -> Bags[Any, Any]:
        """A stream that the body gave to go on with, looked at: it is one of this loop, and something was done there."""
        if not isinstance(given, Bags):
            raise bad_step(self.name, f"its body gives {brief(given)}", "a stream")
        if given._scope is not self:
            raise refused("PS831", f"the body of {self.name!r} gives {given._name!r}, which is outside of it", LEADS_BACK)
        if any(given._origin == each._origin for each in inside):
            raise refused("PS831", f"the body of {self.name!r} has no step: it gives what it was given", LEADS_BACK)
        return given

    def domain(self) -> Domain:
        """The times around, with one coordinate more; decided by whether this loop has to do with another one."""
        *loops, whole = [*self.around()]
        return with_rounds(whole.domain(), len(loops), is_nested=bool(self.inner) or len(loops) > 1)


class CollectionLoop(Loop):
    """The inside of a loop of collections, whose rounds are ordered as a product, however many loops there are."""

    def domain(self) -> Domain:
        *loops, whole = [*self.around()]
        return with_rounds(whole.domain(), len(loops), is_nested=False)


def with_rounds(epochs: Domain, depth: int, is_nested: bool) -> Domain:
    """The domain of times of loops that stand in each other, `depth` of them."""
    flat = epochs.parts if isinstance(epochs, Product | Lex) else (epochs,)
    kind = Lex if is_nested or isinstance(epochs, Lex) else Product
    return kind([*flat, *[ROUNDS] * depth])


def rounds_of(time: Any) -> int:
    """The round of the innermost loop."""
    found: int = time[-1]
    return found


def with_round(time: Any, number: int) -> Any:
    """A time in another round of the innermost loop."""
    return (*time[:-1], number)
