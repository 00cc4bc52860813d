"""What comes in in the jobs of `streams.py`: lists that depend on nothing but their sizes, for both programs.

The peer's program imports it, too, in an environment that knows nothing of this project.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

LINE = 10  # words of a line
WINDOW = 10  # times of a window
GAP = 5  # times without a value that end a session
BEST = 10


def lines(words: int, keys: int, times: int) -> list[tuple[int, str]]:
    """Lines of words, so many words in all, as many at each time."""
    each = words // times
    return [
        (time, " ".join(f"w{number * 7919 % keys}" for number in range(begin, begin + LINE)))
        for time in range(times)
        for begin in range(time * each, (time + 1) * each, LINE)
    ]


def sides(values: int, keys: int) -> tuple[list[Any], list[Any]]:
    """Two lists of values by key: each key once a time on the left, two of three on the right, in another order."""
    left = [(number // keys, (f"k{number % keys}", number)) for number in range(values)]
    right = [
        (number // keys, (f"k{(number * 7) % keys}", -number)) for number in range(values) if number * 7 % keys % 3
    ]
    return left, right


def events(values: int, keys: int, each: int) -> list[tuple[int, tuple[str, int]]]:
    """Values by key, `each` a time; a key is silent in one of three stretches of twenty times."""
    found = []
    for number in range(values):
        time, key = number // each, number * 7919 % keys
        if (time // 20 + key) % 3:
            found.append((time, (f"k{key}", number * 31 % 1009)))
    return found


def digest(results: list[Any]) -> tuple[int, str]:
    """How many results there are, and what stands for all of them in any order."""
    return len(results), hashlib.sha256("\n".join(sorted(map(json.dumps, results))).encode()).hexdigest()
