"""Streams whose values have keys: what is done to all values of a key, a family of operators a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphs.streams.aggregation import KeyedAggregation
from graphs.streams.asof import KeyedAsOf
from graphs.streams.bags import K, T, V
from graphs.streams.in_order import KeyedInOrder
from graphs.streams.join import KeyedJoin
from graphs.streams.refusals import NotThere, refused
from graphs.streams.session import KeyedSessions


class KeyedStream(
    KeyedAggregation[T, K, V], KeyedJoin[T, K, V], KeyedAsOf[T, K, V], KeyedSessions[T, K, V], KeyedInOrder[T, K, V]
):
    """A stream whose values have keys. It is not a step: what follows takes key and value out of each value.

    Examples
    --------
    >>> from pointstamp import Flow
    >>> flow = Flow()
    >>> flow.input("words").key_on(len, lambda word: 1).reduce(max).output("lengths")
    >>> flow.run(sources={"words": [(0, "to"), (0, "be")]})
    {'lengths': [(0, (2, 1))]}
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An operator for streams without keys is refused in words; anything else is not there."""
            from graphs.streams.stream import Stream

            if not name.startswith("_") and hasattr(Stream, name):
                what = f"{self._stream._name}.{name}: its values have keys, which only operators by key look at"
                raise refused(
                    "PS814", what, f"{name} before key_on; or an operator by key between, as reduce", NotThere
                )
            raise AttributeError(f"a stream with keys has no {name!r}", name=name, obj=self)
