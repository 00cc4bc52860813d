"""State machines (A&I 4.1): initial states, a next-state relation, and what of a state is visible from outside.

A behaviour is an infinite sequence of states; stuttering, a step that changes nothing, is always allowed and never
listed. So every finite path is the beginning of a behaviour, and safety is a matter of paths.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)


class Machine(Protocol[S]):
    """What the explorer explores.

    Examples
    --------
    >>> from progress.semantics import explore
    >>> class Counter:
    ...     def initial(self):
    ...         return [0]
    ...
    ...     def successors(self, state):
    ...         return [("up", state + 1)] if state < 3 else []
    ...
    ...     def representative(self, state):
    ...         return state
    ...
    ...     def visible(self, state):
    ...         return state
    >>> explore(Counter()).states
    [0, 1, 2, 3]
    """

    def initial(self) -> Iterable[S]:
        """F: the states in which a behaviour may begin."""

    def successors(self, state: S) -> Iterable[tuple[Any, S]]:
        """N: what may happen in a state, with the state after it."""

    def representative(self, state: S) -> Hashable:
        """The same for symmetric states, which behave alike; the state itself where there is no symmetry."""

    def visible(self, state: S) -> Hashable:
        """The externally visible part of a state."""


class Path(NamedTuple, Generic[S]):
    """The beginning of a behaviour: a state, then what happened, each time with the state after it.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> path = explore(quiet).path(1)
    >>> len(path.steps), path.state
    (1, a->out: 0)
    """

    start: S
    steps: tuple[tuple[Any, S], ...] = ()

    @property
    def state(self) -> S:
        """The state at the end."""
        return self.steps[-1][1] if self.steps else self.start

    def __str__(self) -> str:
        lines = [f"0. {self.start}"]
        for number, (action, state) in enumerate(self.steps, 1):
            lines += [f"{number}. {action}", f"   {state}"]
        return "\n".join(lines)
