"""Two streams by key, values of one time: `join` (inner, left, outer, semi, anti) and `cogroup`.

A match can never be taken back, so it leaves at once; that there is none is known when the time is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from graphs.streams.bags import K, R, T, V, W
from graphs.streams.keys import Keyed, Keys
from graphs.streams.operator import OfOpenTimes, Operator
from graphs.streams.refusals import bad_step, check_function, refused
from graphs.streams.step import Wiring
from progress.errors import brief, one_of
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream

HOW = ("inner", "left", "outer", "semi", "anti")
LEFT, RIGHT = "left", "right"
Bag = dict[Any, list[Any]]  # values by key
OTHER = {LEFT: RIGHT, RIGHT: LEFT}


def entered(bag: Bag, more: Bag) -> None:
    """Add values to those that are there; what is added may be used elsewhere."""
    for key, values in more.items():
        if key in bag:
            bag[key] += values
        else:
            bag[key] = values


def matches(f: Callable[[Any, Any, Any], Any], side: str, came: Bag, others: Bag) -> list[Any]:
    """What `f` makes of each value that came on a side with each of its key on the other one. Cost: O(1) a pair."""
    few, many = (came, others) if len(came) <= len(others) else (others, came)
    both = [key for key in few if key in many]
    if side == LEFT:
        return [f(key, left, right) for key in both for left in came[key] for right in others[key]]
    return [f(key, left, right) for key in both for right in came[key] for left in others[key]]


class TwoSides(OfOpenTimes):
    """Keeps what came on each side, by time and key, until the time is complete."""

    open: dict[Any, dict[str, Bag]]

    def __init__(self, keys: dict[str, Keys], f: Callable[[Any, Any, Any], Any], wiring: Wiring) -> None:
        super().__init__(wiring)
        self.keys = keys
        self.f = f

    def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """What a call makes is entered when all of it is made: one that fails has changed nothing."""
        out.request(time)
        side = self.wiring.roles[edge]
        sides = self.open.get(time) or {LEFT: {}, RIGHT: {}}
        came = self.keys[side].bags(values)
        self.meet(side, came, sides, out)
        self.open[time] = sides

    def meet(self, side: str, came: Bag, sides: dict[str, Bag], out: Out) -> None:
        """What came on a side meets the other one, and is kept."""
        entered(sides[side], came)

    def leave(self, time: Any, sides: dict[str, Bag], out: Out) -> None:
        """What is known now leaves."""
        self.send(self.rest(sides), out)

    def rest(self, sides: dict[str, Bag]) -> list[Any]:
        """What leaves at the end."""
        return []


class Joining(TwoSides):
    """Inner, left and outer joins. Cost: O(1) a value and O(1) a pair; kept are both bags of open times."""

    def __init__(
        self, keys: dict[str, Keys], f: Callable[[Any, Any, Any], Any], unmatched: tuple[str, ...], wiring: Wiring
    ) -> None:
        super().__init__(keys, f, wiring)
        self.unmatched = unmatched  # sides whose values leave alone where they meet nothing

    def meet(self, side: str, came: Bag, sides: dict[str, Bag], out: Out) -> None:
        """Each value that came, with each of its key on the other side."""
        self.send(matches(self.f, side, came, sides[OTHER[side]]), out)
        entered(sides[side], came)

    def rest(self, sides: dict[str, Bag]) -> list[Any]:
        """What met nothing."""
        f = self.f
        found = []
        if LEFT in self.unmatched:
            rights = sides[RIGHT]
            found += [f(key, left, None) for key, lefts in sides[LEFT].items() if key not in rights for left in lefts]
        if RIGHT in self.unmatched:
            lefts = sides[LEFT]
            found += [
                f(key, None, right) for key, rights in sides[RIGHT].items() if key not in lefts for right in rights
            ]
        return found


class Semi(TwoSides):
    """Values of the left side whose key is on the right as well, once each, at once.

    Kept are those without, and the keys of the right side.
    """

    def meet(self, side: str, came: Bag, sides: dict[str, Bag], out: Out) -> None:
        """What is matched leaves and is forgotten."""
        f, lefts, rights = self.f, sides[LEFT], sides[RIGHT]
        if side == LEFT:
            matched = {key: values for key, values in came.items() if key in rights}
        else:
            matched = {key: lefts[key] for key in came if key in lefts}
        self.send([f(key, left, None) for key, values in matched.items() for left in values], out)
        if side == LEFT:
            entered(lefts, {key: values for key, values in came.items() if key not in matched})
        else:
            rights.update({key: [] for key in came})
            for key in matched:
                del lefts[key]


class Anti(TwoSides):
    """Values of the left side whose key is not on the right, at the end; kept are they, and the right side's keys."""

    def meet(self, side: str, came: Bag, sides: dict[str, Bag], out: Out) -> None:
        """What is matched is forgotten."""
        lefts, rights = sides[LEFT], sides[RIGHT]
        if side == LEFT:
            entered(lefts, {key: values for key, values in came.items() if key not in rights})
        else:
            rights.update({key: [] for key in came})
            for key in came:
                lefts.pop(key, None)

    def rest(self, sides: dict[str, Bag]) -> list[Any]:
        """What is not matched."""
        return [self.f(key, left, None) for key, values in sides[LEFT].items() for left in values]


class Cogrouping(TwoSides):
    """For each key both bags together, at the end."""

    def rest(self, sides: dict[str, Bag]) -> list[Any]:
        """One result for each key of either side; lists that are nobody else's."""
        lefts, rights = sides[LEFT], sides[RIGHT]
        return [self.f(key, [*lefts.get(key, ())], [*rights.get(key, ())]) for key in {**lefts, **rights}]


class KeyedJoin(Keyed[T, K, V]):
    """What brings two streams with keys together."""

    @overload
    def join(
        self,
        other: Keyed[Any, K, W],
        f: Callable[[K, V, W], R],
        *,
        how: Literal["inner"] = "inner",
        name: str | None = None,
    ) -> Stream[T, R]: ...
    @overload
    def join(
        self,
        other: Keyed[Any, K, W],
        f: Callable[[K, V, W | None], R],
        *,
        how: Literal["left"],
        name: str | None = None,
    ) -> Stream[T, R]: ...
    @overload
    def join(
        self,
        other: Keyed[Any, K, W],
        f: Callable[[K, V | None, W | None], R],
        *,
        how: Literal["outer"],
        name: str | None = None,
    ) -> Stream[T, R]: ...
    @overload
    def join(
        self,
        other: Keyed[Any, K, Any],
        f: Callable[[K, V, None], R],
        *,
        how: Literal["semi", "anti"],
        name: str | None = None,
    ) -> Stream[T, R]: ...
    def join(
        self, other: Keyed[Any, K, Any], f: Callable[..., Any], *, how: str = "inner", name: str | None = None
    ) -> Stream[T, Any]:
        """f(key, left, right) for each two values of one key and time.

        What meets nothing has None on the other side: with `left` values of this stream, with `outer` of both. `semi`
        gives each value of this stream whose key the other one has, `anti` each whose key it has not; `f` is given None
        for the right. Matches leave at once, the rest when the time is complete. Cost: O(1) a value and a pair.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> orders = flow.input("orders").keyed()
        >>> orders.join(flow.input("paid").keyed(), lambda who, order, paid: (who, order, paid), how="left").output(
        ...     "all"
        ... )
        >>> flow.run(sources={"orders": [(0, ("ann", "tea")), (0, ("bob", "jam"))], "paid": [(0, ("ann", 3))]})
        {'all': [(0, ('ann', 'tea', 3)), (0, ('bob', 'jam', None))]}
        """
        path = self._stream._path("join", name)
        check_function(path, f)
        if how not in HOW:
            raise bad_step(path, f"how is {brief(how)}", one_of(how, HOW))
        keys = both_keys(path, self, other)
        unmatched = {"inner": (), "left": (LEFT,), "outer": (LEFT, RIGHT)}.get(how)

        def together(wiring: Wiring) -> TwoSides:
            if unmatched is None:
                return (Semi if how == "semi" else Anti)(keys, f, wiring)
            return Joining(keys, f, unmatched, wiring)

        make: Callable[[Wiring], Operator] = together
        levels = self._stream._scope.depth() - other._stream._scope.depth()
        if how == "inner" and levels:
            from graphs.streams.loops.join import JoinOutside  # which is an operator of this kind

            left, right = self._stream, other._stream
            make = partial(JoinOutside, keys, f, RIGHT if levels > 0 else LEFT, abs(levels))
            left, right = left._flow._at_the_door(left, right._scope), left._flow._at_the_door(right, left._scope)
            return left._follow(
                path, right, code=make, roles=(LEFT, RIGHT), keeps_outside=True, keeps=True, notify=True
            )
        return self._stream._follow(path, other._stream, code=make, roles=(LEFT, RIGHT), keeps=True, notify=True)

    def cogroup(
        self, other: Keyed[Any, K, W], f: Callable[[K, list[V], list[W]], R], *, name: str | None = None
    ) -> Stream[T, R]:
        """f(key, left values, right values) for each key and time that either stream has, when the time is complete.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> ours, theirs = flow.input("ours").keyed(), flow.input("theirs").keyed()
        >>> ours.cogroup(theirs, lambda key, left, right: (key, len(left), len(right))).output("sizes")
        >>> flow.run(sources={"ours": [(0, ("a", 1)), (0, ("a", 2))], "theirs": [(0, ("b", 3))]})
        {'sizes': [(0, ('a', 2, 0)), (0, ('b', 0, 1))]}
        """
        path = self._stream._path("cogroup", name)
        check_function(path, f)
        keys = both_keys(path, self, other)
        return self._stream._follow(
            path,
            other._stream,
            code=lambda wiring: Cogrouping(keys, f, wiring),
            roles=(LEFT, RIGHT),
            keeps=True,
            notify=True,
        )


def both_keys(path: str, one: Keyed[Any, Any, Any], other: object) -> dict[str, Keys]:
    """How keys are taken out of the values of each side; refused where the other one has none."""
    if not isinstance(other, Keyed):
        raise refused("PS812", f"{path} with {brief(other)}, which has no key", "key_on, or keyed, for both")
    return {LEFT: one._keys, RIGHT: other._keys}
