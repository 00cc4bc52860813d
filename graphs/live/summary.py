"""A graph that is too large for a picture of every node: its parts as boxes that open, and what waits in each of them.

The parts are those of `graphs.drawing.folding`: strongly connected components, chains, layers, pieces; a part that is
opened shows its own.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from time import monotonic, sleep, thread_time
from typing import Any

from graphs.drawing.folding import Part, parts_of, shown_as
from graphs.drawing.layout import laid_out
from graphs.drawing.planning import plan_of
from graphs.live.site import Asked, NotAnswered, as_json
from progress.plain import write_time
from progress.topology import Network
from progress.tracking.wait import Waits

MOST_PARTS = 200  # at first, and in each part that is opened
MOST_BOXES = 1_000  # of a picture with parts that are opened
MOST_PICTURES = 30  # that are kept
MOST_TOLD = 1_000  # parts in which something waits
SHARE = 2  # times what a picture took of the processor passes before the next one is made: the run has that time
LONGEST = 2.0  # seconds that this is at most, as somebody waits


class Summary:
    """The parts of one graph. `first` is what is shown before anything is opened.

    Cost: O(nodes + edges), and the layout of at most MOST_PARTS boxes.
    """

    def __init__(self, network: Network, room: int) -> None:
        self._plan = plan_of(network, {}, room)
        self._lock = threading.Lock()
        self._next = 0.0  # when a picture may be made again
        self._kept: dict[frozenset[str], bytes] = {}
        self._names: dict[str, str] = {}  # of the parts that somebody has seen, by key
        self._parts: dict[str, list[str]] = {}  # the keys of those that a node is in
        self.first: Mapping[str, Any] = self._shown(frozenset())

    def answer(self, asked: Asked) -> bytes:
        """The picture with parts opened, those that are asked for by their keys: JSON, made once for all who ask.

        Cost: the first time about a millisecond for each box, of which there are at most MOST_BOXES.
        """
        opened = _keys(asked)
        kept = self._kept.get(opened)
        if kept is not None:
            return kept
        with self._lock:
            return self._made(opened)

    def _made(self, opened: frozenset[str]) -> bytes:
        if opened in self._kept:  # somebody else has asked meanwhile
            return self._kept[opened]
        sleep(max(0.0, self._next - monotonic()))
        begun = thread_time()
        try:
            found = as_json(self._shown(opened)).encode()
        finally:
            self._next = monotonic() + min(SHARE * (thread_time() - begun), LONGEST)
        self._kept = dict([*[*self._kept.items()][1 - MOST_PICTURES :], (opened, found)])
        return found

    def _shown(self, opened: frozenset[str]) -> dict[str, Any]:
        parts = parts_of(self._plan, lambda part: part.key in opened, MOST_PARTS)
        plan = shown_as(self._plan, parts)
        if plan.boxes() > MOST_BOXES:
            boxes = f"{plan.boxes():,} boxes, and at most {MOST_BOXES:,} are shown"
            raise NotAnswered(f"this would be {boxes}: close a part")
        everything = [part for top in parts for part in top.all()]
        for part in everything:
            if part.key not in self._names:
                self._names[part.key] = part.box.name
                for name in part.names:
                    self._parts.setdefault(name, []).append(part.key)
        return {"picture": laid_out(plan).to_json(), "parts": [*map(_told, everything)]}

    def waits(self, waits: Waits) -> list[dict[str, Any]]:
        """The parts where something waits, the one that waits longest first: how many requests, and the oldest.

        Those that somebody has seen: the first ones, and those in parts that were opened.

        Cost: O(requests that wait * depth).
        """
        found: dict[str, dict[str, Any]] = {}
        for wait in waits:
            node, time = wait.request
            for part in self._parts[node]:
                if part in found:
                    found[part]["waiting"] += 1
                elif len(found) < MOST_TOLD:
                    oldest = {"request": [node, write_time(time)], "steps": wait.steps}
                    if wait.age is not None:
                        oldest["age"] = round(wait.age, 3)
                    found[part] = {"part": part, "name": self._names[part], "waiting": 1, "oldest": oldest}
        return [*found.values()]


def _told(part: Part) -> dict[str, Any]:
    return {
        "key": part.key,
        "name": part.box.name,
        "says": ", ".join(part.box.lines),
        "nodes": len(part.names),
        "open": bool(part.within),
    }


def _keys(asked: Asked) -> frozenset[str]:
    try:
        keys: Sequence[str] = json.loads(asked["open"])
    except (KeyError, ValueError, RecursionError):
        keys = ""
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise NotAnswered('open=["0", "0.3"] is asked for: the keys of parts')
    return frozenset(keys)
