"""A `State` and a dict to which the same is done: whatever a node may do with a mapping."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from progress.runtime import State


class Alike:
    """The two of them, which are compared after each use: as wholes now and then, since that hands all values out."""

    def __init__(self, seed: int, keys: Sequence[Any], state: State[Any, Any]) -> None:
        self.rng = random.Random(seed)
        self.keys = keys
        self.plain: dict[Any, Any] = {}
        self.state = state

    def use(self) -> None:
        """One thing that a node may do with a mapping."""
        key, value = self.rng.choice(self.keys), self.rng.randrange(100)
        match self.rng.randrange(12):
            case 0 | 1:
                self.plain[key] = self.state[key] = value
            case 2:
                self.plain[key], self.state[key] = [value], [value]
            case 3 | 4:
                assert self.state.pop(key, None) == self.plain.pop(key, None)
            case 5 | 6:  # what is handed out may be changed
                found: list[Any] = [each.get(key) for each in (self.plain, self.state)]
                if isinstance(found[0], list):
                    for each in found:
                        each.append(value)
                assert found[0] == found[1]
            case 7:
                for mapping in (self.plain, self.state):
                    for each in mapping.values():
                        if isinstance(each, list) and len(each) < 5:
                            each.append(value)
            case 8 if self.plain:
                assert self.state.popitem() == self.plain.popitem()
            case 9:
                assert self.state.setdefault(key, [0]) == self.plain.setdefault(key, [0])
            case 10:
                assert (key in self.state) == (key in self.plain)
                assert list(reversed(self.state)) == list(reversed(self.plain))
            case 11 if self.rng.random() < 0.1:
                self.plain.clear()
                self.state.clear()
        assert len(self.state) == len(self.plain)
        assert list(self.state) == list(self.plain)
        if self.rng.random() < 0.1:
            assert list(self.state.items()) == list(self.plain.items())
