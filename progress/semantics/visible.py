"""Spec as a set of externally visible behaviours (A&I 4.1, 4.2), compared between two explorations.

A visible behaviour is the sequence of visible states of a behaviour, without stuttering. Every finite one may go on
unchanged for ever, and from a state only finitely many steps lead on: so the sets of infinite behaviours are equal
exactly when those of finite ones are, and these are the words of a finite automaton.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, TypeAlias

from progress.component import reached
from progress.semantics.explorer import Exploration

Seen: TypeAlias = tuple[Hashable, ...]  # visible states one after the other, no two neighbours equal


class Comparison(NamedTuple):
    """A shortest visible behaviour that only the first has, and one that only the second has; None: there is none.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, compare, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> found = explore(Specification(system, Variant(inputs=Inputs.FORBIDDEN)))
    >>> compare(found, found)
    Comparison(only_first=None, only_second=None)
    """

    only_first: Seen | None
    only_second: Seen | None

    @property
    def equal(self) -> bool:
        """Whether both have the same externally visible behaviours."""
        return self.only_first is None and self.only_second is None


def compare(first: Exploration[Any], second: Exploration[Any]) -> Comparison:
    """Whether two systems have the same externally visible behaviours.

    Cost: in the worst case exponential in the number of states, as for automata; near to their product in practice.

    Returns
    -------
    A shortest visible behaviour of each that the other does not have; None where there is none.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, compare, explore, with_buffers
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Variant(inputs=Inputs.FORBIDDEN)
    >>> alone, behind = (explore(Specification(each, quiet)) for each in (system, with_buffers(system)))
    >>> compare(alone, behind).equal
    False
    """
    one, other = _Automaton(first), _Automaton(second)
    return Comparison(_not_in(one, other), _not_in(other, one))


class _Automaton:
    """What is visible of an exploration."""

    def __init__(self, exploration: Exploration[Any]) -> None:
        if not exploration.finished:
            raise ValueError(f"behaviours of an exploration that is {exploration.outcome.value}")
        seen = self.seen = [exploration.machine.visible(state) for state in exploration.states]
        self.start = range(exploration.beginnings)
        self.hidden: list[list[int]] = []
        self.shown: list[list[int]] = []
        for number, steps in enumerate(exploration.steps):
            after = dict.fromkeys(target for _, target in steps)
            self.hidden.append([target for target in after if seen[target] == seen[number]])
            self.shown.append([target for target in after if seen[target] != seen[number]])

    def unseen(self, states: Iterable[int]) -> frozenset[int]:
        """All that can be reached without anything visible."""
        return frozenset(reached(states, self.hidden.__getitem__))

    def after(self, states: frozenset[int], seen: Hashable) -> frozenset[int]:
        """Where these states can be when the next thing visible is `seen`."""
        return self.unseen(after for state in states for after in self.shown[state] if self.seen[after] == seen)


def _not_in(one: _Automaton, other: _Automaton) -> Seen | None:
    """A shortest visible behaviour of one that the other lacks."""
    queue: deque[tuple[int, frozenset[int], Seen]] = deque()
    known: set[tuple[int, frozenset[int]]] = set()

    def meet(state: int, others: frozenset[int], way: Seen, first: bool = False) -> None:
        if (state, others) not in known:
            known.add((state, others))
            (queue.appendleft if first else queue.append)((state, others, way))

    for state in one.start:
        seen = one.seen[state]
        meet(state, other.unseen(each for each in other.start if other.seen[each] == seen), (seen,))
    while queue:
        state, others, way = queue.popleft()
        if not others:
            return way
        for after in one.hidden[state]:
            meet(after, others, way, first=True)
        for after in one.shown[state]:
            seen = one.seen[after]
            meet(after, other.after(others, seen), (*way, seen))
    return None
