"""The inside of a loop: its times are those around it, with the round as one coordinate more.

No loop reaches the round `LAST`. So a request for it, at some time, is granted when all rounds of that time are over,
and what was kept for them can go.

Rounds are beside the epoch: round 3 of one epoch need not wait for round 2 of the next, nor the other way round. Where
a loop stands in a loop, a message that leaves the inner one in round (1, 5) comes back to it in (2, 0), which is later
only lexicographically (Condition 2); so times are `(epoch, (1, 5))` there, a product of the epoch with such rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags
from graphs.streams.refusals import bad_step, refused
from graphs.streams.scope import Scope
from progress.errors import brief
from progress.order import Domain, Lex, Nat, Product

if TYPE_CHECKING:
    from graphs.streams.flow import Flow

LAST = 2**31 - 1
ROUNDS = Nat()
LEADS_BACK = "what its steps make of what it is given"


class Loop(Scope):
    """The inside of one loop; steps can be added while its body is being written."""

    def __init__(self, flow: Flow[Any], outer: Scope, name: str) -> None:
        super().__init__(None, outer, name)
        self.flow = flow

    def written(self, body: Callable[..., Any], *inside: Any) -> Any:
        """What the body gives for streams inside. When it has returned, nothing can be added to the loop any more."""
        before, self.flow._writing = self.flow._writing, self
        try:
            return body(*inside)
        finally:
            self.flow._writing = before
            self.is_open = False

    def result(self, given: Any, inside: Sequence[Bags[Any, Any]]) -> Bags[Any, Any]:
        """A stream that the body gave, looked at: it is one of this loop, and none of those that were there before."""
        if not isinstance(given, Bags):
            raise bad_step(self.name, f"its body gives {brief(given)}", "a stream")
        if given._scope is not self:
            what = f"the body of {self.name!r} gives {given._name!r}, which is outside of it"
            raise refused("PS816", what, LEADS_BACK)
        if any(given._origin == each._origin for each in inside):
            raise refused("PS816", f"the body of {self.name!r} has no step: it gives what it was given", LEADS_BACK)
        return given

    def entered(self, stream: Bags[Any, Any]) -> Bags[Any, Any]:
        """A stream from outside, as it is in here."""
        what = f"{stream._name!r} is outside of the loop {self.name!r}, where values go round alone"
        raise refused("PS811", what, "join it, or lead it in with what begins the loop, or iterate")

    def domain(self) -> Domain:
        """The times around, with the rounds of all loops that this one stands in."""
        *loops, whole = [*self.around()]
        return with_rounds(whole.domain(), len(loops))

    def seen(self, time: Any) -> Any:
        """The time around, as it is seen there, and the round."""
        assert self.outer is not None
        if not isinstance(time[-1], tuple):
            around = time[:-1] if isinstance(self.outer.domain(), Product | Lex) else time[0]
            return self.outer.seen(around), time[-1]
        *before, number = time[-1]
        around = (*time[:-1], before[0] if len(before) == 1 else tuple(before))
        return self.outer.seen(around), number


class CollectionLoop(Loop):
    """The inside of a loop of collections, whose rounds are ordered as a product, however many loops there are."""

    def entered(self, stream: Bags[Any, Any]) -> Bags[Any, Any]:
        """As it is: what has been changed outside has been changed in every round, from the first on."""
        return stream

    def domain(self) -> Domain:
        *loops, whole = [*self.around()]
        parts, rounds = whole.domain(), [ROUNDS] * len(loops)
        return Product([*(parts.parts if isinstance(parts, Product) else (parts,)), *rounds])


def with_rounds(epochs: Domain, depth: int) -> Domain:
    """The domain of times of loops that stand in each other, `depth` of them."""
    rounds: list[Domain] = [ROUNDS] * depth
    if isinstance(epochs, Lex):
        return Lex([*epochs.parts, *rounds])
    flat = epochs.parts if isinstance(epochs, Product) else (epochs,)
    return Product([*flat, ROUNDS if depth == 1 else Lex(rounds)])


def rounds_of(time: Any) -> int:
    """The round of the innermost loop."""
    last = time[-1]
    found: int = last[-1] if isinstance(last, tuple) else last
    return found


def with_round(time: Any, number: int, levels: int = 1) -> Any:
    """A time in another round of the innermost loop, or in that of several of the innermost ones."""
    last = time[-1]
    if isinstance(last, tuple):
        return (*time[:-1], (*last[:-levels], *[number] * levels))
    return (*time[:-levels], *[number] * levels)
