"""Streams: ready-made operators with a builder, whose result is a `Dataflow` over an ordinary graph."""

from graphs.streams.collections.collection import Collection
from graphs.streams.flow import Flow
from graphs.streams.keyed import KeyedStream
from graphs.streams.loops.nodes import rounds, unchanged
from graphs.streams.stream import Stream

__all__ = ["Collection", "Flow", "KeyedStream", "Stream", "rounds", "unchanged"]
