"""Pointstamps (A&I 3.1): a location and a time."""

from __future__ import annotations

from typing import Any, NamedTuple


class Pointstamp(NamedTuple):
    """A message on an edge, or an event or notification at a node, as far as progress is concerned."""

    location: str
    time: Any
