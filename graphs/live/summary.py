"""A graph that is too large for a picture of every node: its parts as boxes, and what waits in each of them.

The parts are those of `graphs.drawing.folding`: strongly connected components, chains, layers.
"""

from __future__ import annotations

from typing import Any

from graphs.drawing.folding import folded
from graphs.drawing.layout import Layout, laid_out
from graphs.drawing.planning import plan_of
from progress.plain import write_time
from progress.topology import Network
from progress.tracking.wait import Waits

MOST_PARTS = 200


class Summary:
    """The parts of one graph. Cost: O(nodes + edges), and the layout of at most MOST_PARTS boxes."""

    def __init__(self, network: Network, room: int) -> None:
        plan = folded(plan_of(network, {}, room), (), MOST_PARTS)
        self.picture: Layout = laid_out(plan)
        self._part = {name: node.name for node in plan.nodes for name in node.stands_for or (node.name,)}

    def waits(self, waits: Waits) -> list[dict[str, Any]]:
        """The parts where something waits, the one that waits longest first: how many requests, and the oldest.

        Cost: O(requests that wait).
        """
        found: dict[str, dict[str, Any]] = {}
        for wait in waits:
            node, time = wait.request
            part = self._part[node]
            if part not in found:
                oldest = {"request": [node, write_time(time)], "steps": wait.steps}
                if wait.age is not None:
                    oldest["age"] = round(wait.age, 3)
                found[part] = {"part": part, "waiting": 0, "oldest": oldest}
            found[part]["waiting"] += 1
        return [*found.values()]
