"""Streams whose values have keys: what is done to all values of a key, a family of operators a file."""

from __future__ import annotations

from graphs.streams.aggregation import KeyedAggregation
from graphs.streams.asof import KeyedAsOf
from graphs.streams.bags import K, T, V
from graphs.streams.in_order import KeyedInOrder
from graphs.streams.join import KeyedJoin
from graphs.streams.session import KeyedSessions


class KeyedStream(
    KeyedAggregation[T, K, V], KeyedJoin[T, K, V], KeyedAsOf[T, K, V], KeyedSessions[T, K, V], KeyedInOrder[T, K, V]
):
    """A stream whose values have keys. It is not a step: what follows takes key and value out of each value."""
