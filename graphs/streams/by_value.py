"""What is done to each value by itself, and several such steps as one: `map`, `filter`, `flat_map`, `branch`.

Steps that follow each other become one function, so that a value goes through all of them without a message between. A
value for which one of them raises has failed by itself, and the others have not (`progress.runtime.actions.by_value`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.refusals import bad_step, check_function
from graphs.streams.step import Origin, Wiring
from progress.runtime.actions.by_value import check_several
from progress.runtime.node import Mapped, Relay
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream

Kind = Literal["map", "filter", "flat_map", "inspect", "branch", "merge"]


class ByValue(NamedTuple):
    """What a step does to a value; `timed`: its function is given the time before the value."""

    kind: Kind
    function: Callable[..., Any]
    timed: bool = False

    @property
    def is_flat(self) -> bool:
        """Whether it makes any number of values of one."""
        return self.kind in ("filter", "flat_map")

    @property
    def is_last(self) -> bool:
        """Whether nothing after it is part of the same node."""
        return self.kind == "branch"


def composed(steps: Sequence[ByValue]) -> tuple[Callable[[Any], Any], bool]:
    """All these one after the other, and whether the result is any number of values. None of them is timed."""
    found: Callable[[Any], Any] | None = None
    flat = False
    for step in steps:
        function = step.function
        if step.kind == "merge":
            continue
        if step.kind == "inspect":
            function = partial(_looked, function)
        elif step.kind == "branch":
            function = partial(_judged, function)
        if found is None:
            found = partial(_kept, function) if step.kind == "filter" else function
        elif flat:
            found = partial(_ON_FLAT[step.kind], found, function)
        else:
            found = partial(_ON_ONE[step.kind], found, function)
        flat = flat or step.is_flat
    return (_same if found is None else found), flat


def _same(value: Any) -> Any:
    return value


MERGE = ByValue("merge", _same)


def _looked(function: Callable[[Any], Any], value: Any) -> Any:
    function(value)
    return value


def _judged(function: Callable[[Any], Any], value: Any) -> tuple[bool, Any]:
    return bool(function(value)), value


def _kept(function: Callable[[Any], Any], value: Any) -> tuple[Any, ...]:
    return (value,) if function(value) else ()


def _one_mapped(before: Callable[[Any], Any], function: Callable[[Any], Any], value: Any) -> Any:
    return function(before(value))


def _one_kept(before: Callable[[Any], Any], function: Callable[[Any], Any], value: Any) -> tuple[Any, ...]:
    made = before(value)
    return (made,) if function(made) else ()


def _all_mapped(before: Callable[[Any], Any], function: Callable[[Any], Any], value: Any) -> list[Any]:
    several = before(value)
    try:
        return [function(made) for made in several]
    except TypeError:
        check_several(several)
        raise


def _all_kept(before: Callable[[Any], Any], function: Callable[[Any], Any], value: Any) -> list[Any]:
    several = before(value)
    try:
        return [made for made in several if function(made)]
    except TypeError:
        check_several(several)
        raise


def _all_flat(before: Callable[[Any], Any], function: Callable[[Any], Any], value: Any) -> list[Any]:
    several = before(value)
    try:
        return [each for made in several for each in function(made)]
    except TypeError:
        check_several(several)
        raise


_ON_ONE: dict[Kind, Callable[..., Any]] = {
    "map": _one_mapped, "inspect": _one_mapped, "branch": _one_mapped, "flat_map": _one_mapped, "filter": _one_kept,
}  # fmt: skip
_ON_FLAT: dict[Kind, Callable[..., Any]] = {
    "map": _all_mapped, "inspect": _all_mapped, "branch": _all_mapped, "flat_map": _all_flat, "filter": _all_kept,
}  # fmt: skip


class ByValueNode(Mapped):
    """Several steps by value as one node. Cost a value: that of their functions, and a call for each."""

    def __init__(self, steps: Sequence[ByValue], wiring: Wiring) -> None:
        self.steps = steps
        self.wiring = wiring
        self.timed = any(step.timed for step in steps)
        function, flat = composed(steps)
        super().__init__(function, flat)

    def at(self, time: Any) -> Callable[[Any], Any]:
        """The function for values of a time."""
        if not self.timed:
            return self.function
        seen = self.wiring.seen(time)
        steps = [step._replace(function=partial(step.function, seen)) if step.timed else step for step in self.steps]
        return composed(steps)[0]


class BranchNode(ByValueNode):
    """Steps by value of which the last one is a branch."""

    def hand_on(self, found: list[Any], ways: list[tuple[str, Any]], out: Out) -> None:
        """Send each value by the port that was chosen for it."""
        ports = self.wiring.ports
        for wanted, port in ((True, "yes"), (False, "no")):
            leaving = [way for way in ways if way[0] in ports[port]]
            if leaving:
                super().hand_on([value for holds, value in found if holds is wanted], leaving, out)


def node_of(steps: Sequence[ByValue], wiring: Wiring) -> ByValueNode:
    """The node for several steps by value."""
    return (BranchNode if steps[-1].kind == "branch" else ByValueNode)(steps, wiring)


class StreamByValue(Bags[T, V]):
    """The operators of a stream that look at one value at a time; what they give leaves at once."""

    def map(self, f: Callable[[V], W], *, name: str | None = None) -> Stream[T, W]:
        """What `f` makes of each value.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").map(lambda n: n * n).output("squares")
        >>> flow.run(sources={"numbers": [(0, 2), (1, 3)]})
        {'squares': [(0, 4), (1, 9)]}
        """
        return self._by_value("map", f, name)

    def filter(self, f: Callable[[V], Any], *, name: str | None = None) -> Stream[T, V]:
        """The values for which `f` is true.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").filter(lambda n: n > 2).output("large")
        >>> flow.run(sources={"numbers": [(0, 2), (1, 3)]})
        {'large': [(1, 3)]}
        """
        return self._by_value("filter", f, name)

    def flat_map(self, f: Callable[[V], Iterable[W]], *, name: str | None = None) -> Stream[T, W]:
        """Each of the values that `f` makes of each value.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("lines").flat_map(str.split).output("words")
        >>> flow.run(sources={"lines": [(0, "to be"), (1, "")]})
        {'words': [(0, 'to'), (0, 'be')]}
        """
        return self._by_value("flat_map", f, name)

    def inspect(self, f: Callable[[V], Any], *, name: str | None = None) -> Stream[T, V]:
        """The same values; `f` is shown each. What it answers is not looked at.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> seen = []
        >>> flow.input("numbers").inspect(seen.append).output("same")
        >>> flow.run(sources={"numbers": [(0, 2), (1, 3)]}), seen
        ({'same': [(0, 2), (1, 3)]}, [2, 3])
        """
        return self._by_value("inspect", f, name)

    def branch(self, f: Callable[[V], Any], *, name: str | None = None) -> tuple[Stream[T, V], Stream[T, V]]:
        """Two streams: the values for which `f` is true, and the others.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> even, odd = flow.input("numbers").branch(lambda n: n % 2 == 0)
        >>> even.output("even")
        >>> odd.output("odd")
        >>> flow.run(sources={"numbers": [(0, 2), (1, 3)]})
        {'even': [(0, 2)], 'odd': [(1, 3)]}
        """
        step = self._by_value("branch", f, name)._origin.step
        return self._another(Origin(step, "yes")), self._another(Origin(step, "no"))

    def map_at(self, f: Callable[[T, V], W], *, name: str | None = None) -> Stream[T, W]:
        """What `f` makes of each time and value.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").map_at(lambda time, n: n - time).output("less")
        >>> flow.run(sources={"numbers": [(0, 2), (1, 3)]})
        {'less': [(0, 2), (1, 2)]}
        """
        return self._by_value("map", f, name, "map_at")

    def merge(self, *others: Bags[Any, W], name: str | None = None) -> Stream[T, V | W]:
        """The values of this stream and of others, each as often as they have it.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("ours").merge(flow.input("theirs")).output("all")
        >>> flow.run(sources={"ours": [(0, "a")], "theirs": [(0, "b")]})
        {'all': [(0, 'a'), (0, 'b')]}
        """
        path = self._path("merge", name)
        return self._follow(path, *others, code=lambda wiring: Relay(), by_value=MERGE)

    def _by_value(self, kind: Kind, f: Callable[..., Any], name: str | None, word: str = "") -> Stream[T, Any]:
        path = self._path(word or kind, name)
        check_function(path, f)
        if iscoroutinefunction(f):
            raise bad_step(path, f"{getattr(f, '__name__', 'f')} is async", "map_async for what has to be waited for")
        what = ByValue(kind, f, word == "map_at")
        return self._follow(path, code=partial(node_of, (what,)), by_value=what)
