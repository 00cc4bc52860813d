"""A stream: for each time a bag of values, with all that can be done to it, a family of operators a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from graphs.streams.awaiting import StreamAwaiting
from graphs.streams.bags import K, T, V, W
from graphs.streams.by_value import StreamByValue
from graphs.streams.distinct import StreamDistinct
from graphs.streams.keyed import KeyedStream
from graphs.streams.keys import Keys
from graphs.streams.loops.looping import StreamLoops
from graphs.streams.own import StreamThrough
from graphs.streams.refusals import NotThere, check_function, check_given, refused
from graphs.streams.tables import StreamTables
from graphs.streams.whole import StreamWhole
from graphs.streams.windows import StreamWindows


class Stream(
    StreamByValue[T, V],
    StreamAwaiting[T, V],
    StreamDistinct[T, V],
    StreamWhole[T, V],
    StreamWindows[T, V],
    StreamLoops[T, V],
    StreamThrough[T, V],
    StreamTables[T, V],
):
    """For each time a bag of values. Operators make streams of streams; order within a time means nothing.

    `Flow.input` gives one, and so does each operator. Its values are shared by all who read it: nobody changes them.

    Examples
    --------
    >>> from pointstamp import Flow
    >>> flow = Flow()
    >>> flow.input("words").map(str.upper).output("loud")
    >>> flow.run(sources={"words": [(0, "to")]})
    {'loud': [(0, 'TO')]}
    """

    @overload
    def key_on(self, key: Callable[[V], K]) -> KeyedStream[T, K, V]: ...
    @overload
    def key_on(self, key: Callable[[V], K], value: Callable[[V], W]) -> KeyedStream[T, K, W]: ...
    def key_on(self, key: Callable[[V], K], value: Callable[[V], Any] | None = None) -> KeyedStream[T, K, Any]:
        """Give each value a key, and with `value` take a part of it. It is not a step: it costs nothing by itself.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("words").key_on(str.lower, len).max().output("lengths")
        >>> flow.run(sources={"words": [(0, "To"), (0, "be")]})
        {'lengths': [(0, ('to', 2)), (0, ('be', 2))]}
        """
        check_function(f"{self._name}.key_on", key, "key")
        check_given(f"{self._name}.key_on", value=value)
        return KeyedStream(self, Keys(key, value))

    def keyed(self: Stream[T, tuple[K, W]]) -> KeyedStream[T, K, W]:
        """Values that are pairs, of a key and a value.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("sold").keyed().count().output("sales")
        >>> flow.run(sources={"sold": [(0, ("tea", 3)), (0, ("tea", 4))]})
        {'sales': [(0, ('tea', 2))]}
        """
        return KeyedStream(self, Keys())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An operator for values with keys is refused in words; anything else is not there."""
            if not name.startswith("_") and hasattr(KeyedStream, name):
                raise refused("PS812", f"{name} of {self._name!r} has no key", "key_on before it, or whole", NotThere)
            raise AttributeError(f"a stream has no {name!r}", name=name, obj=self)
