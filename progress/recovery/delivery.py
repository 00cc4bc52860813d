"""What an observer may rely on: exactly once, at most once, at least once.

*Delivery, consistency, and determinism* (Trofimov, Kuralenok, Marshalkin, Novikov), section III.

A stream processing system is (Gamma, D, F): elements, what may become of them, and how it recovers (Definition 1). It
makes *input*, *output*, *transform* and *failure* steps, chosen by nobody (`Input`, `Output`, `Internal`, `Failure`
here). An observer sees A, what has entered, and B, what has left. A system is judged by what may leave next: b is
*consistent* with A and B if a system whose recovery is the reference F*, which loses nothing, might put it out, too
(Definitions 2 to 5). F* restores the working set as it was, so the reference is the system without failures.

* exactly once (6): every output is consistent with A and B.
* at most once (7): every output is consistent with B and a part of A.
* at least once (8): every output is consistent with B and an input in which elements of A come again.

In 7 and 8 the other input is chosen for each output: by the letter it would be one for all that may leave next, and no
system that may lose an element, or may not, would ever be at most once.

Probabilities are taken as possible or not, and all runs up to a number of failures are explored, by the explorer of
`progress.semantics`. B is the sequence of what has left, since an observer sees one output after the other; and `END`
leaves when all input has come and nothing else will, since an observer who waits sees that, too. Without it a system
that loses everything could not be told from one that is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple, Protocol

from progress.errors import PointstampError, brief
from progress.semantics.explorer import Exploration, explore
from progress.semantics.machine import Machine, Path

Channels = tuple[tuple[Hashable, ...], ...]
Seen = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]  # A, sorted, and B


class Input(NamedTuple):
    """An element enters."""

    element: Any

    def __str__(self) -> str:
        return f"{self.element} enters"


class Output(NamedTuple):
    """An element leaves."""

    element: Any

    def __str__(self) -> str:
        return f"{self.element} leaves"


class Internal(NamedTuple):
    """A transform step, or something is saved: nothing that an observer sees."""

    what: str

    def __str__(self) -> str:
        return self.what


class Failure(NamedTuple):
    """What is not saved is lost, and the recovery function gives the working set."""

    def __str__(self) -> str:
        return "failure and recovery"


class _End:
    def __repr__(self) -> str:
        return "END"


END = _End()  # all input has come, and nothing else will leave


class System(Protocol):
    """What can be judged: for any input, a machine whose `visible` is (A, B) and whose actions are the steps."""

    @property
    def channels(self) -> Channels:
        """What comes in, in order on each channel; every element once."""

    def machine(self, channels: Channels, failures: int) -> Machine[Any]:
        """The system with this input and at most so many failures."""


Next = Mapping[Seen, frozenset[Any]]


def seen(entered: Iterable[Hashable], left: Sequence[Hashable]) -> Seen:
    """A and B as `visible` gives them."""
    return tuple(sorted(entered, key=repr)), tuple(left)


def what_may_leave(exploration: Exploration[Any]) -> dict[Seen, frozenset[Any]]:
    """For each A and B that is reached, all elements that may leave next (Definition 2), where all was visited.

    Cost: O(steps), which are those of the exploration: none is taken again.
    """
    machine = exploration.machine
    found: dict[Seen, set[Any]] = {}
    for state, steps in zip(exploration.states, exploration.steps, strict=True):
        outputs = found.setdefault(machine.visible(state), set())  # type: ignore[arg-type]
        outputs.update(action.element for action, _ in steps if type(action) is Output)
    return {key: frozenset(outputs) for key, outputs in found.items()}


class Guarantee(NamedTuple):
    """Whether a system gives it, and the shortest run that shows that it does not; None where a budget ran out."""

    name: str
    holds: bool | None
    run: Path[Any] | None = None
    output: Any = None

    def __str__(self) -> str:
        if self.run is None:
            return f"{self.name}: {'undecided' if self.holds is None else 'yes'}"
        steps = [str(action) for action, _ in self.run.steps]
        return f"{self.name}: no. " + "; ".join([*steps, f"{self.output} may leave"])


class Classified(NamedTuple):
    """What a system guarantees, and whether it is deterministic (Definition 10)."""

    exactly_once: Guarantee
    at_most_once: Guarantee
    at_least_once: Guarantee
    deterministic: Guarantee

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    @property
    def strongest(self) -> str:
        """The strongest of the three that holds; "none", or "undecided" where one of them may hold."""
        names = [each.name for each in self[:3] if each.holds]
        if self.exactly_once.holds:
            return "exactly once"
        if not names and any(each.holds is None for each in self[:3]):
            return "undecided"
        return " and ".join(names) or "none"


MOST_STATES = 200_000


def explored(system: System, failures: int, most_states: int = MOST_STATES) -> Exploration[Any]:
    """All runs of a system with at most so many failures."""
    return explore(system.machine(system.channels, failures), most_states=most_states)


def exactly_once(faulty: Exploration[Any], reference: Exploration[Any]) -> Guarantee:
    """Definition 6: what may leave in a system with failures may leave in the reference, after the same A and B."""
    if not (reference.finished and faulty.finished):
        return Guarantee("exactly once", None)
    allowed = what_may_leave(reference)
    return _judged("exactly once", faulty, lambda key, output: output in allowed.get(key, ()))


def deterministic(reference: Exploration[Any]) -> Guarantee:
    """Definition 10: after any A and B one output at most may leave next."""
    if not reference.finished:
        return Guarantee("deterministic", None)
    allowed = what_may_leave(reference)
    return _judged("deterministic", reference, lambda key, output: len(allowed[key]) == 1)


def classify(system: System, failures: int = 1, most_states: int = MOST_STATES) -> Classified:
    """Judge a system by Definitions 6, 7, 8 and 10 over all runs with at most so many failures.

    Cost: the exploration of the system with failures; if that is not exactly once, those of the reference for each part
    of the input and for each way to repeat elements of it: exponential in the number of elements, so few will do. There
    all input is there from the start, since what has entered and is not read changes nothing. Each exploration has the
    budget `most_states`; where one exceeds it, what may be consistent with its outputs is undecided.

    Returns
    -------
    A verdict on each of the three guarantees, and on determinism.

    Raises
    ------
    PointstampError
        PS637 where it is not a system, or its channels are not in order.

    Examples
    --------
    >>> from progress.recovery.delivery import classify
    >>> from progress.recovery.protocols import PROTOCOLS
    >>> [verdict.holds for verdict in classify(PROTOCOLS[0])]
    [True, True, True, False]
    """
    if isinstance(system, type) or not (hasattr(system, "machine") and hasattr(system, "channels")):
        right = "something with channels and machine(channels, failures), such as those of progress.recovery.protocols"
        raise PointstampError("PS637", f"{brief(system)} is not a system", right)
    if not all(isinstance(channel, tuple | list) for channel in system.channels):
        right = 'for each channel what comes in, in order: (("a", "c"), ("b",))'
        raise PointstampError("PS637", f"the channels are {brief(system.channels)}", right)
    faulty, reference = explored(system, failures, most_states), explored(system, 0, most_states)
    once = exactly_once(faulty, reference)
    if once.holds is not False:  # with A itself, if it holds
        others = (Guarantee("at most once", once.holds), Guarantee("at least once", once.holds))
        return Classified(once, *others, deterministic(reference))
    channels = system.channels
    fewer = _references(system, parts(channels), most_states)
    more = _references(system, repeated(channels, failures), most_states)
    return Classified(
        once,
        _explained("at most once", faulty, fewer, is_part),
        _explained("at least once", faulty, more, has_part),
        deterministic(reference),
    )


def _references(system: System, inputs: Iterable[Channels], most_states: int) -> tuple[References, bool]:
    """What may leave in references with these inputs, up to the first that exceeds the budget; whether none does."""
    found: list[Next] = []
    for channels in inputs:
        reference = explore(Filled(system.machine(channels, 0)), most_states=most_states)
        if not reference.finished:
            return by_output(found), False
        found.append(what_may_leave(reference))
    return by_output(found), True


def _explained(
    name: str, faulty: Exploration[Any], found: tuple[References, bool], fits: Callable[[Any, Any], bool]
) -> Guarantee:
    """Whether each output is consistent with what has left, for some other input; open where not all were looked at."""
    references, are_all = found
    judged = _judged(name, faulty, lambda key, output: _is_explained(key, output, references, fits))
    return judged if judged.holds or are_all else Guarantee(name, None)


class Filled:
    """A machine that starts when all input has entered."""

    def __init__(self, machine: Machine[Any]) -> None:
        self._machine = machine
        self.successors, self.representative, self.visible = machine.successors, machine.representative, machine.visible

    def initial(self) -> Iterator[Any]:
        """The states after all input steps."""
        for state in self._machine.initial():
            while entering := [after for action, after in self.successors(state) if type(action) is Input]:
                state = entering[0]
            yield state


References = Mapping[tuple[Hashable, ...], list[tuple[tuple[Hashable, ...], frozenset[Any]]]]


def by_output(references: Iterable[Next]) -> References:
    """What may leave next in several references: by B, each A with the outputs."""
    found: dict[tuple[Hashable, ...], dict[tuple[Hashable, ...], frozenset[Any]]] = {}
    for reference in references:
        for (entered, left), outputs in reference.items():
            same = found.setdefault(left, {})
            same[entered] = same.get(entered, frozenset()) | outputs
    return {left: list(same.items()) for left, same in found.items()}


def _judged(name: str, exploration: Exploration[Any], is_right: Callable[[Seen, Any], bool]) -> Guarantee:
    """The shortest run after which an output may leave that is wrong."""
    machine = exploration.machine
    for number, (state, steps) in enumerate(zip(exploration.states, exploration.steps, strict=True)):
        for action, _ in steps:
            if type(action) is Output and not is_right(machine.visible(state), action.element):  # type: ignore[arg-type]
                return Guarantee(name, False, exploration.path(number), action.element)
    return Guarantee(name, True)


def _is_explained(key: Seen, output: Any, references: References, fits: Callable[[Any, Any], bool]) -> bool:
    """Whether an output is consistent with what has left, for some other input."""
    entered, left = key
    return any(output in expected and fits(other, entered) for other, expected in references.get(left, ()))


def is_part(one: tuple[Hashable, ...], other: tuple[Hashable, ...]) -> bool:
    """Whether one multiset is part of the other."""
    rest = list(other)
    for element in one:
        if element not in rest:
            return False
        rest.remove(element)
    return True


def has_part(one: tuple[Hashable, ...], other: tuple[Hashable, ...]) -> bool:
    """Whether one multiset has all of the other, and nothing else than its elements."""
    return is_part(other, one) and set(one) <= set(other)


def parts(channels: Channels) -> Iterator[Channels]:
    """Every input that lacks some elements."""
    elements = [(number, place) for number, channel in enumerate(channels) for place in range(len(channel))]
    for size in range(len(elements) + 1):
        for chosen in combinations(elements, size):
            yield tuple(
                tuple(element for place, element in enumerate(channel) if (number, place) in chosen)
                for number, channel in enumerate(channels)
            )


def repeated(channels: Channels, times: int) -> Iterator[Channels]:
    """Every input that has entered so far, with some of its elements again, each on a channel of its own."""
    for lengths in product(*(range(len(channel) + 1) for channel in channels)):
        entered = tuple(channel[:length] for channel, length in zip(channels, lengths, strict=True))
        elements = [element for channel in entered for element in channel] * times
        again = {
            tuple(sorted(chosen, key=repr))
            for size in range(len(elements) + 1)
            for chosen in combinations(elements, size)
        }
        for chosen in sorted(again, key=repr):
            yield (*entered, *((element,) for element in chosen))
