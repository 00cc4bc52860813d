"""Many pairs of numbers in one place: the outstanding times of a location, the requests that wait at one.

Kept in the order of their first coordinate, cut into chunks that know their least second coordinate, so that everything
below a step of a staircase is found without looking at what lies above it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import Any, TypeAlias

Entry: TypeAlias = tuple[Any, ...]  # x, y, and what the owner hangs on them

LONGEST_CHUNK = 128


class Pairs:
    """Entries (x, y, ...) of which each is distinct.

    Cost: O(chunks + log n) to add, to remove, and to find the first of a region; chunks are n / 64 to n / 128.
    """

    __slots__ = ("_chunks", "_firsts", "_lowest")

    def __init__(self) -> None:
        self._chunks: list[list[Entry]] = []
        self._firsts: list[Entry] = []
        self._lowest: list[Any] = []  # the least second coordinate of each chunk

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def __iter__(self) -> Any:
        for chunk in self._chunks:
            yield from chunk

    def add(self, entry: Entry) -> None:
        """Take an entry."""
        if not self._chunks:
            self._chunks.append([entry])
            self._firsts.append(entry)
            self._lowest.append(entry[1])
            return
        place = max(0, bisect_right(self._firsts, entry) - 1)
        chunk = self._chunks[place]
        insort(chunk, entry)
        self._firsts[place] = chunk[0]
        if entry[1] < self._lowest[place]:
            self._lowest[place] = entry[1]
        if len(chunk) > LONGEST_CHUNK:
            half = len(chunk) // 2
            self._chunks[place : place + 1] = [chunk[:half], chunk[half:]]
            self._firsts[place : place + 1] = [chunk[0], chunk[half]]
            self._lowest[place : place + 1] = [_lowest(chunk[:half]), _lowest(chunk[half:])]

    def remove(self, entry: Entry) -> None:
        """Drop an entry that is there."""
        place = bisect_right(self._firsts, entry) - 1
        chunk = self._chunks[place]
        del chunk[bisect_left(chunk, entry)]
        self._mend(place, entry[1])

    def first(self, start: Any, end: Any, below: Any) -> Entry | None:
        """The first entry with start <= x < end and y < below; None for an end or a below without limit."""
        place = max(0, bisect_right(self._firsts, (start,)) - 1)
        if below is not None and min(self._lowest[place:], default=below) >= below:
            return None
        for number in range(place, len(self._chunks)):
            chunk = self._chunks[number]
            if below is None or self._lowest[number] < below:
                for position in range(bisect_left(chunk, (start,)) if number == place else 0, len(chunk)):
                    entry = chunk[position]
                    if end is not None and entry[0] >= end:
                        return None
                    if below is None or entry[1] < below:
                        return entry
            elif end is not None and chunk[-1][0] >= end:
                return None
        return None

    def take(self, start: Any, end: Any, below: Any) -> list[Entry]:
        """All entries with start <= x < end and y < below, removed. Cost: that of `first`, and of what is taken."""
        taken: list[Entry] = []
        number = max(0, bisect_right(self._firsts, (start,)) - 1)
        while number < len(self._chunks) and (end is None or self._firsts[number][0] < end):
            if below is None or self._lowest[number] < below:
                kept = []
                for entry in self._chunks[number]:
                    if start <= entry[0] and (end is None or entry[0] < end) and (below is None or entry[1] < below):
                        taken.append(entry)
                    else:
                        kept.append(entry)
                if len(kept) < len(self._chunks[number]):
                    self._chunks[number] = kept
                    if self._mend(number, self._lowest[number]):
                        continue
            number += 1
        return taken

    def _mend(self, place: int, gone: Any) -> bool:
        """After something left a chunk: drop it when empty, else know its first and lowest; whether it was dropped."""
        chunk = self._chunks[place]
        if not chunk:
            del self._chunks[place], self._firsts[place], self._lowest[place]
            return True
        self._firsts[place] = chunk[0]
        if gone == self._lowest[place]:
            self._lowest[place] = _lowest(chunk, gone)
        return False


def _lowest(chunk: list[Entry], known: Any = None) -> Any:
    """The least second coordinate; the search ends early at `known`, when nothing can be lower."""
    lowest = chunk[0][1]
    for entry in chunk:
        if entry[1] < lowest:
            lowest = entry[1]
        if lowest == known:
            break
    return lowest
