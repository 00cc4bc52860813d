"""Times of a graph with calls: a stack, or an epoch in front of a stack.

A graph that is joined to the outside has many top-level calls in flight, each with its epoch, which calls and returns
leave as it is: (p, (d, f)) could result in (q, (e, g)) where d <= e and (p, f) could result in (q, g). So a time is a
pair, and its order at a location the product of the epochs' order and the order of stacks there.
"""

from __future__ import annotations

from typing import Any

from progress.order import Domain
from recursion.order import StackKey, StackOrder
from recursion.stack import Call, Stack, Stacks


class EpochOrder:
    """Pairs of an epoch and a stack at one location, ordered componentwise."""

    is_total = False

    def __init__(self, epochs: Domain, stacks: StackOrder) -> None:
        self.epochs = epochs
        self.stacks = stacks

    def __repr__(self) -> str:
        return f"{{product: [{self.epochs!r}, stack]}}"

    def in_words(self) -> str:
        """What a time is here, for a hint."""
        return f"a pair: a time of {self.epochs!r}, and {self.stacks.in_words()}"

    def contains(self, value: object) -> bool:
        """Whether the value is an epoch with a stack at which the location can run."""
        return (
            type(value) is tuple
            and len(value) == 2
            and self.stacks.contains(value[1])
            and self.epochs.contains(value[0])
        )

    def read(self, value: object) -> tuple[Any, Stack] | None:
        """The time that an epoch with a tuple of names stands for; None where it is none. Cost: O(depth)."""
        if not isinstance(value, tuple) or len(value) != 2 or not self.epochs.contains(value[0]):
            return None
        stack = self.stacks.read(value[1])
        return None if stack is None else (value[0], stack)

    def less_equal(self, earlier: tuple[Any, Stack], later: tuple[Any, Stack]) -> bool:
        """Whether both the epoch and the stack are at or before the other's. Cost: O(log depth)."""
        return self.epochs.less_equal(earlier[0], later[0]) and self.stacks.less_equal(earlier[1], later[1])

    def canonical(self, time: tuple[Any, Stack]) -> tuple[Any, Stack]:
        """The epoch with the stack that stands for all that are equivalent. Cost: O(calls * log depth)."""
        return time[0], self.stacks.canonical(time[1])

    def minimal_upper_bounds(self, one: tuple[Any, Stack], other: tuple[Any, Stack]) -> tuple[tuple[Any, Stack], ...]:
        """Minimal epochs with minimal stacks; `NoMinimalTimes` where there is no finite set of those."""
        stacks = self.stacks.minimal_upper_bounds(one[1], other[1])
        epochs = self.epochs.minimal_upper_bounds(one[0], other[0])
        return tuple((epoch, stack) for epoch in epochs for stack in stacks)

    def least(self) -> tuple[tuple[Any, Stack], ...]:
        """The least epochs with the minimal stacks; none where no finite set stands for those."""
        stacks = self.stacks.least()
        return tuple((epoch, stack) for epoch in self.epochs.least() for stack in stacks)

    def opening(self) -> tuple[tuple[Any, Stack], ...]:
        """The least epochs with the empty stack: where an input opens that nobody opened, no call being made yet."""
        empty = self.stacks.graph.stacks.empty
        return tuple((epoch, empty) for epoch in self.epochs.least()) if self.stacks.contains(empty) else ()

    def sort_key(self, value: tuple[Any, Stack]) -> tuple[Any, StackKey]:
        """A key whose order is a linear extension."""
        return self.epochs.sort_key(value[0]), self.stacks.sort_key(value[1])

    def sample(self) -> list[tuple[Any, Stack]]:
        """A few epochs with a few stacks."""
        return [(epoch, stack) for epoch in self.epochs.sample()[:3] for stack in self.stacks.sample()[:6]]


class Along:
    """What a step does to a time: nothing. The other two steps change its stack."""

    endless = False

    def __init__(self, source: Domain, target: Domain, with_epochs: bool = False) -> None:
        self.source = source
        self.target = target
        self.with_epochs = with_epochs

    def apply(self, time: Any) -> tuple[Any, ...]:
        """The times after the step: one, or none where it cannot be taken."""
        if not self.with_epochs:
            stack = self.after(time)
            return () if stack is None else (stack,)
        stack = self.after(time[1])
        return () if stack is None else ((time[0], stack),)

    def limits(self, time: Any) -> tuple[Any, ...]:
        """As `apply`: a step leads to one time or to none."""
        return self.apply(time)

    def time_before(self, time: Any) -> Any:
        """The time before the step; None where it leads to no such time."""
        if not self.with_epochs:
            return self.before(time)
        stack = self.before(time[1])
        return None if stack is None else (time[0], stack)

    def after(self, stack: Stack) -> Stack | None:
        """The stack after the step."""
        return stack

    def before(self, stack: Stack) -> Stack | None:
        """The stack before the step."""
        return stack


class Push(Along):
    """A step from `call-c` to `in`: the stack with c."""

    def __init__(self, source: Domain, target: Domain, with_epochs: bool, stacks: Stacks, call: Call) -> None:
        super().__init__(source, target, with_epochs)
        self._stacks = stacks
        self._call = call

    def after(self, stack: Stack) -> Stack | None:
        return self._stacks.push(stack, self._call)

    def before(self, stack: Stack) -> Stack | None:
        return stack.parent if stack.call is self._call else None


class Pop(Push):
    """A step from `out` to `ret-c`: the stack without c, where c is the innermost call."""

    def after(self, stack: Stack) -> Stack | None:
        return stack.parent if stack.call is self._call else None

    def before(self, stack: Stack) -> Stack | None:
        return self._stacks.push(stack, self._call)
