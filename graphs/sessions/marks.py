"""Marks in a trace: where a line ends in its file, and all that is outstanding there.

Marks are compressed, and together no larger than so many bytes: when they would be, every second one is let go.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple


class Mark(NamedTuple):
    """Where a line ends, and how things stand there."""

    line: int
    end: int  # of the line, in bytes from the beginning of the file
    packed: bytes  # what `standing` gives
    delivered: int  # the nodes that got a notification since the mark before, as bits
    freed: int  # the nodes with a request that became free since then

    def standing(self) -> dict[str, Any]:
        """What `Replay.standing` gave there. Cost: O(what is outstanding)."""
        found: dict[str, Any] = json.loads(zlib.decompress(self.packed))
        return found

    def waits(self, request: list[Any]) -> bool:
        """Whether a request, as JSON data, waits there."""
        snapshot = self.standing()["session"]["tracker"] or {"requests": (), "reported": ()}
        return request in snapshot["requests"] and request not in snapshot["reported"]


class Marks(list[Mark]):
    """The marks of a trace in the order of their lines, and the nodes noted since the last one."""

    def __init__(self, most_bytes: int) -> None:
        self.bytes = 0  # of all of them
        self.delivered = self.freed = 0
        self._most_bytes = most_bytes

    def set(self, line: int, end: int, standing: dict[str, Any]) -> int:
        """Set one more; how many times every second one was let go for it."""
        packed = zlib.compress(json.dumps(standing, separators=(",", ":")).encode(), 1)
        self.append(Mark(line, end, packed, self.delivered, self.freed))
        self.delivered = self.freed = 0
        self.bytes += len(packed)
        times = 0
        while self.bytes > self._most_bytes and len(self) > 2:
            self._thin_out()
            times += 1
        return times

    def _thin_out(self) -> None:
        kept = self[:1]
        for gone, mark in zip(self[1::2], self[2::2], strict=False):
            kept.append(mark._replace(delivered=gone.delivered | mark.delivered, freed=gone.freed | mark.freed))
        if len(self) % 2 == 0:
            self.delivered, self.freed = self[-1].delivered, self[-1].freed
        self[:] = kept
        self.bytes = sum(len(mark.packed) for mark in kept)

    def before(self, line: int) -> Mark:
        """The last one at or before a line."""
        return self[self.after(line) - 1]

    def after(self, line: int) -> int:
        """The place of the first one after a line."""
        return bisect_left(self, line + 1, key=lambda mark: mark.line)

    def stretches(self, line: int, end: int) -> Iterator[tuple[Mark, Mark]]:
        """From each mark to the next, and from the last to a line and where it ends."""
        yield from pairwise((*self, Mark(line, end, b"", self.delivered, self.freed)))
