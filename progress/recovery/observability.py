"""Observability functions (FT 5.3, Definition 5.3): what an observer sees of a configuration, and never loses again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from progress.component import component_numbers
from progress.errors import PointstampError
from progress.semantics.explorer import Exploration
from progress.semantics.machine import Path
from progress.semantics.properties import Property, always_step
from progress.semantics.state import held, released


class Observability(NamedTuple):
    """O with its partial order ⊑: `of(c)` is what is observed, `below(one, other)` says whether one ⊑ other.

    Without `below` any partial order will do, as in the paper ("for some partial order"): then what is observed must
    not come back after something else was.

    Examples
    --------
    >>> from progress.recovery.observability import Observability
    >>> shown = Observability("what was shown", lambda state: state[1], frozenset.issubset)
    >>> shown.of(("drawn", frozenset({"x"})))
    frozenset({'x'})
    """

    name: str
    of: Callable[[Any], Any]
    below: Callable[[Any, Any], bool] | None = None

    def seen(self, c: Any) -> Hashable:
        """`of(c)` as something that can be hashed, and is equal for equal observations."""
        return held(self.of(c))

    def then(self, view: Observability) -> Observability:
        """view ∘ O: what is seen by somebody who sees the observations of this one through `view`."""
        return Observability(f"{view.name} of {self.name}", lambda c: view.of(self.of(c)), view.below)

    def only_grows(self) -> Property:
        """Definition 5.3 as a property of steps, where the order is given."""
        below = self.below
        if below is None:
            what = f"the observability function {self.name!r} has no order of its own"
            raise PointstampError("PS634", what, "Observability(name, of, below)")
        name = f"Definition 5.3: what is observed by {self.name} only grows"
        return always_step(name, lambda before, step, after: below(self.of(before), self.of(after)))


def not_monotonic(explored: Sequence[tuple[Exploration[Any], Observability]]) -> tuple[str, int, Path[Any]] | None:
    """Why observations that were explored do not only grow in one common order; None when they do.

    The answer says why, which of the explorations shows it, and gives a path that ends with a step that does. All have
    one order, since Lemma 5.7 needs that: with two, an execution that shows a then b could be "explained" by one that
    shows b then a. Without an order, some order exists exactly when no observation leads to another one and back.
    Cost: O(steps).
    """
    below = next((observe.below for _, observe in explored if observe.below is not None), None)
    number: dict[Hashable, int] = {}
    pairs: dict[tuple[int, int], tuple[int, int, Any, int]] = {}
    for which, (exploration, observe) in enumerate(explored):
        seen = [number.setdefault(observe.seen(state), len(number)) for state in exploration.states]
        for before, steps in enumerate(exploration.steps):
            for action, after in steps:
                if seen[before] != seen[after]:
                    pairs.setdefault((seen[before], seen[after]), (which, before, action, after))
    values = list(number)
    together = component_numbers(len(number), [one for one, _ in pairs], [other for _, other in pairs])
    for (one, other), (which, before, action, after) in pairs.items():
        if below is not None and below(released(values[one]), released(values[other])):
            continue
        if below is None and together[one] != together[other]:
            continue
        exploration, observe = explored[which]
        path = exploration.path(before)
        why = f"what is observed by {observe.name} does not only grow"
        return why, which, Path(path.start, (*path.steps, (action, exploration.states[after])))
    return None
