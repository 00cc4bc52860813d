"""One result for each key and time, of all values that have them: `reduce`, `fold`, `count`, `min`, `max`, `top`.

It leaves when its time is complete. With `accumulate=True` it is that of all values at the time and before it
(`graphs.streams.so_far`); with `early` something is said before the end (`graphs.streams.early`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.aggregate import Aggregate, counting, folding, largest, reducing
from graphs.streams.bags import K, S, T, V
from graphs.streams.early import Said
from graphs.streams.keys import Keyed
from graphs.streams.refusals import bad_step, check_function, check_given, check_number
from graphs.streams.so_far import so_far
from progress.errors import brief

if TYPE_CHECKING:
    from graphs.streams.aggregated import Aggregated


class KeyedAggregation(Keyed[T, K, V]):
    """What makes one result of all values of a key and time."""

    def reduce(
        self, f: Callable[[V, V], V], *, accumulate: bool = False, within: int | None = None, name: str | None = None
    ) -> Aggregated[T, K, V]:
        """(key, result) for each key and time; `f` makes one value of two, in any order.

        With `accumulate` the result is that of all values at the time and before it, for the keys that came at it;
        with `within` as well, of those that are at most so long ago.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> sold = flow.input("sold").key_on(lambda sale: sale["shop"], lambda sale: sale["amount"])
        >>> sold.reduce(lambda a, b: a + b).output("totals")
        >>> flow.run(sources={"sold": [(0, {"shop": "x", "amount": 3}), (0, {"shop": "x", "amount": 4})]})
        {'totals': [(0, ('x', 7))]}
        """
        path = self._stream._path("reduce", name)
        check_function(path, f)
        return self._aggregate(path, reducing(f), accumulate, within)

    def fold(
        self,
        start: S,
        step: Callable[[S, V], S],
        *,
        merge: Callable[[S, S], S] | None = None,
        accumulate: bool = False,
        within: int | None = None,
        name: str | None = None,
    ) -> Aggregated[T, K, S]:
        """(key, result) for each key and time; `step` makes the next result of one and a value, from `start` on.

        All keys begin with the same `start`, so it is a value that cannot change. `merge` makes one result of those of
        two bags; `accumulate` needs it.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("words").key_on(len).fold("", lambda text, word: text + word).output("texts")
        >>> flow.run(sources={"words": [(0, "to"), (0, "be"), (0, "or")]})
        {'texts': [(0, (2, 'tobeor'))]}
        """
        path = self._stream._path("fold", name)
        check_start(path, start)
        check_function(path, step, "step")
        check_given(path, merge=merge)
        return self._aggregate(path, folding(start, step, merge), accumulate, within)

    def count(
        self, *, accumulate: bool = False, within: int | None = None, name: str | None = None
    ) -> Aggregated[T, K, int]:
        """(key, how many) for each key and time at which there are any.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> words = flow.input("words").key_on(str.lower)
        >>> words.count().output("each day")
        >>> words.count(accumulate=True, name="so far").output("so far")
        >>> flow.run(sources={"words": [(0, "To"), (0, "be"), (1, "to")]})["each day"]
        [(0, ('to', 1)), (0, ('be', 1)), (1, ('to', 1))]
        >>> flow.run(sources={"words": [(0, "To"), (0, "be"), (1, "to")]})["so far"]
        [(0, ('to', 1)), (0, ('be', 1)), (1, ('to', 2))]
        """
        return self._aggregate(self._stream._path("count", name), counting(), accumulate, within)

    def min(
        self,
        by: Callable[[V], Any] | None = None,
        *,
        accumulate: bool = False,
        within: int | None = None,
        name: str | None = None,
    ) -> Aggregated[T, K, V]:
        """(key, the smallest value), as `by` compares them; of equal ones the first to come.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("prices").keyed().min().output("best")
        >>> flow.run(sources={"prices": [(0, ("tea", 3)), (0, ("tea", 2))]})
        {'best': [(0, ('tea', 2))]}
        """
        path = self._stream._path("min", name)
        return self._aggregate(path, reducing(_chosen(path, min, by), "min"), accumulate, within)

    def max(
        self,
        by: Callable[[V], Any] | None = None,
        *,
        accumulate: bool = False,
        within: int | None = None,
        name: str | None = None,
    ) -> Aggregated[T, K, V]:
        """(key, the largest value), as `by` compares them; of equal ones the first to come.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("words").key_on(lambda word: word[0]).max(len).output("longest")
        >>> flow.run(sources={"words": [(0, "to"), (0, "tell")]})
        {'longest': [(0, ('t', 'tell'))]}
        """
        path = self._stream._path("max", name)
        return self._aggregate(path, reducing(_chosen(path, max, by), "max"), accumulate, within)

    def top(
        self,
        n: int,
        by: Callable[[V], Any] | None = None,
        *,
        accumulate: bool = False,
        within: int | None = None,
        name: str | None = None,
    ) -> Aggregated[T, K, list[V]]:
        """(key, the n largest values), the largest first, as `by` compares them. Cost a value: O(log n).

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("scores").keyed().top(2).output("best")
        >>> flow.run(sources={"scores": [(0, ("ann", 3)), (0, ("ann", 9)), (0, ("ann", 5))]})
        {'best': [(0, ('ann', [9, 5]))]}
        """
        path = self._stream._path("top", name)
        check_number(path, n, "n")
        check_given(path, by=by)
        return self._aggregate(path, largest(n, by), accumulate, within)

    def _aggregate(self, path: str, how: Aggregate, accumulate: bool, within: int | None) -> Aggregated[T, K, Any]:
        keys, said = self._keys, Said()
        if accumulate or within is not None:
            make = so_far(path, keys, how, accumulate, within, self._stream._scope)
            said.refused = "the result of all times so far is known when they are complete"
        else:
            make = said.made_by(keys, how)
        stream = self._stream._follow(path, code=make, keeps=True, notify=True)
        return self._stream._flow._aggregated(stream._origin, said)


def check_start(path: str, start: object) -> None:
    """Refuse a start that all keys would share and one of them could change, or one that is meant to be called."""
    if callable(start):
        raise bad_step(path, f"it starts with {brief(start)}, a function", "a value, as 0 or ()")
    try:
        hash(start)
    except TypeError:
        what = f"it starts with {brief(start)}, which all keys would share"
        raise bad_step(path, what, "a value that cannot change, as () instead of []") from None


def _chosen(path: str, choose: Callable[..., Any], by: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    """The function that keeps one of two."""
    if by is None:
        return choose
    check_function(path, by, "by")
    return lambda one, other: choose(one, other, key=by)
