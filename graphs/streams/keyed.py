"""Streams whose values have keys: what is done to all values of a key, a family of operators a file."""

from __future__ import annotations

from graphs.streams.aggregation import KeyedAggregation
from graphs.streams.bags import K, T, V


class KeyedStream(KeyedAggregation[T, K, V]):
    """A stream whose values have keys. It is not a step: what follows takes key and value out of each value."""
