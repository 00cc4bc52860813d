"""Streams: ready-made operators with a builder, whose result is a `Dataflow` over an ordinary graph."""

from graphs.streams.flow import Flow
from graphs.streams.keyed import KeyedStream
from graphs.streams.stream import Stream

__all__ = ["Flow", "KeyedStream", "Stream"]
