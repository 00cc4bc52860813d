"""Collections: bags that change. What is there at a time is the sum of all changes at or before it.

A collection is a stream of changes, `(value, count)`: so many more of a value, or fewer. Every operator answers with
the changes of its result, so that after a small change little is computed, in loops as well (Differential Dataflow).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphs.streams.bags import K, T, V, W
from graphs.streams.collections.moments import Moments
from graphs.streams.collections.nodes import AGAIN, START, Count, Distinct, Join, Net, Reduce, Variable
from graphs.streams.collections.refusals import not_a_change
from graphs.streams.join import LEFT, RIGHT
from graphs.streams.loops.looping import beginning, merging
from graphs.streams.loops.scope import CollectionLoop
from graphs.streams.refusals import NotThere, bad_step, check_function, check_number, refused
from graphs.streams.step import Input, Origin, Step, Wiring
from progress.errors import brief
from progress.order import Lex
from progress.runtime.node import Relay

if TYPE_CHECKING:
    from graphs.streams.scope import Scope
    from graphs.streams.stream import Stream

X = TypeVar("X", bound=Hashable)
A = TypeVar("A")
B = TypeVar("B")


class Collection(Generic[T, V]):
    """A bag that changes: what `Flow.collection` gives, and each operator. Values need a hash.

    Examples
    --------
    >>> from pointstamp import Flow
    >>> flow = Flow()
    >>> flow.collection("words").distinct().changes().output("kinds")
    >>> flow.run(sources={"words": [(0, ("a", 2)), (1, ("a", -2))]})
    {'kinds': [(0, ('a', 1)), (1, ('a', -1))]}
    """

    def __init__(self, changes: Stream[T, tuple[V, int]], is_net: bool = False) -> None:
        self._changes = changes
        self._is_net = is_net  # whether at each time there is one change of a value, when all of them are known

    def __repr__(self) -> str:
        return f"<collection {self._changes._name}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An operator of streams is refused in words; anything else is not there."""
            from graphs.streams.keyed import KeyedStream
            from graphs.streams.stream import Stream

            if not name.startswith("_") and (hasattr(Stream, name) or hasattr(KeyedStream, name)):
                what = f"{self._changes._name}.{name}: a collection has changes, and {name} is for streams"
                raise refused("PS814", what, "changes() before it, which is a stream", NotThere)
            raise AttributeError(f"a collection has no {name!r}", name=name, obj=self)

    # --- value by value ----------------------------------------------------------------------------------------------

    def map(self, f: Callable[[V], W], *, name: str | None = None) -> Collection[T, W]:
        """What `f` makes of each value. Cost: O(1) a change.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("words").map(len).changes().output("lengths")
        >>> flow.run(sources={"words": [(0, ("to", 1)), (0, ("be", 1)), (1, ("be", -1))]})
        {'lengths': [(0, (2, 2)), (1, (2, -1))]}
        """
        path = self._checked("map", name, f)
        return Collection(self._changes.map(partial(_mapped, f), name=path))

    def filter(self, f: Callable[[V], Any], *, name: str | None = None) -> Collection[T, V]:
        """The values for which `f` is true. Cost: O(1) a change.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("words").filter(str.islower).changes().output("small")
        >>> flow.run(sources={"words": [(0, ("To", 1)), (0, ("be", 1)), (1, ("be", -1))]})
        {'small': [(0, ('be', 1)), (1, ('be', -1))]}
        """
        path = self._checked("filter", name, f)
        return Collection(self._changes.filter(partial(_kept, f), name=path))

    def flat_map(self, f: Callable[[V], Iterable[W]], *, name: str | None = None) -> Collection[T, W]:
        """Each of the values that `f` makes of each value. Cost: O(1) a change made.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("lines").flat_map(str.split).changes().output("words")
        >>> flow.run(sources={"lines": [(0, ("to be", 1)), (1, ("to be", -1)), (1, ("to", 1))]})
        {'words': [(0, ('to', 1)), (0, ('be', 1)), (1, ('be', -1))]}
        """
        path = self._checked("flat_map", name, f)
        return Collection(self._changes.flat_map(partial(_all_mapped, f), name=path))

    def concat(self, *others: Collection[Any, W], name: str | None = None) -> Collection[T, V | W]:
        """The values of this collection and of others, each as often as all of them have it. Cost: O(1) a change.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("ours").concat(flow.collection("theirs")).count().changes().output("all")
        >>> flow.run(sources={"ours": [(0, ("a", 1))], "theirs": [(0, ("a", 1))]})
        {'all': [(0, (('a', 2), 1))]}
        """
        path = self._path("concat", name)
        return Collection(self._changes.merge(*(self._other(path, each) for each in others), name=path))

    def negate(self, *, name: str | None = None) -> Collection[T, V]:
        """Each value as often less than never: together with another collection, what is taken away from it.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> asked, answered = flow.collection("asked"), flow.collection("answered")
        >>> asked.concat(answered.negate()).changes().output("open")
        >>> flow.run(sources={"asked": [(0, ("a", 1)), (0, ("b", 1))], "answered": [(0, ("a", 1)), (1, ("b", 1))]})
        {'open': [(0, ('b', 1)), (1, ('b', -1))]}
        """
        return Collection(self._changes.map(_negated, name=self._path("negate", name)))

    # --- what looks at several values --------------------------------------------------------------------------------

    def reduce(
        self: Collection[T, tuple[K, W]], f: Callable[[K, list[W]], Iterable[X]], *, name: str | None = None
    ) -> Collection[T, tuple[K, X]]:
        """(key, result) for each result of `f(key, values)`, which is asked again whenever the values are others.

        A value is in the list as often as it is there; their order means nothing. Where there is no value, `f` is not
        asked, and nothing is there. Cost: O(changes kept for the key) for each time at which it changes.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("prices").reduce(lambda shop, prices: [min(prices)]).changes().output("lowest")
        >>> sorted(
        ...     flow.run(sources={"prices": [(0, (("a", 5), 1)), (0, (("a", 3), 1)), (1, (("a", 3), -1))]})["lowest"]
        ... )
        [(0, (('a', 3), 1)), (1, (('a', 3), -1)), (1, (('a', 5), 1))]
        """
        return self._reduction(Reduce, "reduce", name, f)

    def distinct(self, *, name: str | None = None) -> Collection[T, V]:
        """Each value once that is there at least once. Cost: that of `reduce`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("words").distinct().changes().output("known")
        >>> flow.run(sources={"words": [(0, ("to", 2)), (1, ("to", -1)), (2, ("to", -1))]})
        {'known': [(0, ('to', 1)), (2, ('to', -1))]}
        """
        return self._reduction(Distinct, "distinct", name)

    def count(self, *, name: str | None = None) -> Collection[T, tuple[V, int]]:
        """(value, how often it is there), for each that is there. Cost: that of `reduce`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("words").count().changes().output("counts")
        >>> sorted(flow.run(sources={"words": [(0, ("to", 2)), (1, ("to", -1))]})["counts"])
        [(0, (('to', 2), 1)), (1, (('to', 1), 1)), (1, (('to', 2), -1))]
        """
        return self._reduction(Count, "count", name)

    def join(
        self: Collection[T, tuple[K, A]],
        other: Collection[Any, tuple[K, B]],
        f: Callable[[K, A, B], W],
        *,
        name: str | None = None,
    ) -> Collection[T, W]:
        """What `f(key, left, right)` makes of each pair of values with one key, while both are there.

        Cost: O(1) for each pair and change of one of its sides.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> ages, homes = flow.collection("ages"), flow.collection("homes")
        >>> ages.join(homes, lambda who, age, home: f"{who}, {age}, {home}").changes().output("people")
        >>> flow.run(sources={"ages": [(0, (("ann", 7), 1))], "homes": [(1, (("ann", "Ulm"), 1))]})
        {'people': [(1, ('ann, 7, Ulm', 1))]}
        """
        path = self._path("join", name)
        check_function(path, f)
        right = self._other(path, other)
        scope = max(self._changes._scope, right._scope, key=lambda each: each.depth())
        roles = (LEFT, RIGHT)
        return Collection(
            self._changes._follow(path, right, code=partial(_join, scope, f), roles=roles, keeps=True, notify=True)
        )

    # --- loops -------------------------------------------------------------------------------------------------------

    def iterate(
        self,
        body: Callable[[Collection[tuple[T, int], V]], Collection[tuple[T, int], V]],
        *,
        most: int = 10_000,
        name: str | None = None,
    ) -> Collection[T, V]:
        """What is there when `body` changes it no more: it begins with this collection, then with what `body` gave.

        Collections from outside are in every round as they are there. After a change nothing is computed again but
        what it makes different, round by round; so the result is right after deletions, too. Loops may stand in each
        other. A loop that still changes after `most` rounds fails (PS817).

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> links, pages = flow.collection("links"), flow.collection("pages")
        >>> def spread(known):
        ...     return known.map(lambda page: (page, None)).join(links, lambda page, _, to: to).concat(pages).distinct()
        >>> pages.iterate(spread).changes().output("reached")
        >>> changes = {"links": [(0, (("a", "b"), 1)), (0, (("b", "a"), 1)), (1, (("a", "b"), -1))]}
        >>> flow.run(sources={**changes, "pages": [(0, ("a", 1))]})
        {'reached': [(0, ('a', 1)), (0, ('b', 1)), (1, ('b', -1))]}
        """
        path = self._path("iterate", name)
        check_function(path, body, "body")
        check_number(path, most, "most")
        flow = self._changes._flow
        outer, (changes,) = beginning(flow, path, self._changes)
        epochs = [*outer.around()][-1].domain()
        if isinstance(epochs, Lex):  # a coordinate more would be ordered after them, not beside
            right = "times that are numbers, or a product; roll_up before"
            raise refused("PS815", f"{path!r} goes round beside its epochs, which are {epochs!r}", right)
        loop = CollectionLoop(flow, outer, path)
        start = Input(changes._origin, START)
        head = flow._add(
            Step(path, loop, (start,), partial(Variable, most=most), keeps=True, notify=True, summary="feedback")
        )
        now = flow._add(merging(f"{path}.now", loop, Input(changes._origin), Input(Origin(head))))
        inside: Collection[Any, V] = Collection(flow._stream(Origin(now)))
        found = loop.written(body, inside)
        if not isinstance(found, Collection):
            raise bad_step(path, f"its body gives {brief(found)}", "the collection with which the next round begins")
        again = loop.result(found._changes, [inside._changes])
        head.inputs += (Input(again._origin, AGAIN),)
        last = Step(f"{path}.last", loop, (Input(again._origin),), own=Relay, summary="leave", sends_in={"": outer})
        return Collection(flow._stream(Origin(flow._add(last))))._net(f"{path}.result")

    # --- and back to streams -----------------------------------------------------------------------------------------

    def changes(self, *, name: str | None = None) -> Stream[T, tuple[V, int]]:
        """The changes as a stream, when their time is complete: for each value how many more there are, if not 0.

        A step only where they are not so already, as after `reduce` and `iterate`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.collection("words").changes().output("changes")
        >>> flow.run(sources={"words": [(0, ("to", 1)), (0, ("be", 1)), (0, ("be", -1)), (1, ("to", -1))]})
        {'changes': [(0, ('to', 1)), (1, ('to', -1))]}
        """
        path = self._path("changes", name)
        return self._changes if self._is_net else self._net(path)._changes

    def _net(self, path: str) -> Collection[T, V]:
        return Collection(self._changes._follow(path, code=Net, keeps=True, notify=True), is_net=True)

    def _reduction(self, kind: Callable[..., Any], word: str, name: str | None, *functions: Any) -> Collection[T, Any]:
        path = self._path(word, name)
        for function in functions:
            check_function(path, function)
        code = partial(_reduction, kind, self._changes._scope, functions)
        return Collection(self._changes._follow(path, code=code, keeps=True, notify=True), is_net=True)

    def _path(self, word: str, name: str | None) -> str:
        return self._changes._path(word, name)

    def _checked(self, word: str, name: str | None, function: object) -> str:
        path = self._path(word, name)
        check_function(path, function)
        return path

    def _other(self, path: str, other: object) -> Stream[Any, Any]:
        if not isinstance(other, Collection):
            raise bad_step(
                path, f"{brief(other)} is not a collection", "what flow.collection or one of its operators gives"
            )
        return other._changes


def as_change(name: str, value: Any) -> tuple[Any, int]:
    """A change as it comes in; lists, as JSON has them, are tuples here, which have a hash."""
    found: Any = _as_tuples(value) if isinstance(value, list) else value
    if type(found) is not tuple or len(found) != 2 or type(found[1]) is not int:
        raise not_a_change(name, value)
    return found


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def moments_of(scope: Scope) -> Moments:
    """The order of the times of a scope."""
    *_, whole = scope.around()
    return Moments(whole.domain(), scope.depth())


def _reduction(kind: Callable[..., Any], scope: Scope, functions: tuple[Any, ...], wiring: Wiring) -> Any:
    return kind(wiring, moments_of(scope), *functions)


def _join(scope: Scope, function: Callable[[Any, Any, Any], Any], wiring: Wiring) -> Join:
    return Join(wiring, moments_of(scope), function)


def _mapped(function: Callable[[Any], Any], change: tuple[Any, int]) -> tuple[Any, int]:
    return function(change[0]), change[1]


def _kept(function: Callable[[Any], Any], change: tuple[Any, int]) -> Any:
    return function(change[0])


def _all_mapped(function: Callable[[Any], Any], change: tuple[Any, int]) -> list[tuple[Any, int]]:
    count = change[1]
    return [(value, count) for value in function(change[0])]


def _negated(change: tuple[Any, int]) -> tuple[Any, int]:
    return change[0], -change[1]
