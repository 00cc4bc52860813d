"""Where the nodes and edges of a graph stand in a picture: in layers, from the left to the right.

Edges of cycles that lead back run from the right to the left. Every edge passes a place of its own between two layers,
where its label stands, so that labels and parallel edges do not cover each other. The order within layers is chosen
against crossings, by the mean places of neighbours (Sugiyama, Tagawa and Toda, 1981).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from progress.topology import NO_NODE, Network

MOST_PLACES = 2_500  # nodes and bends of edges; what is larger is no picture for a person
SWEEPS = 12
HEIGHT = 60  # pixels from one place of a layer to the next
GAP = 34  # pixels between two layers
LETTER = 7.5  # pixels
NARROWEST, WIDEST = 64, 190  # pixels of a layer


def picture(network: Network) -> dict[str, Any] | None:
    """The places of nodes and the points of edges, as data for a page; None for a graph that is too large.

    Cost: O(SWEEPS * places * log places).
    """
    layers = _layers(network)
    places = _Places(network, layers)
    if places.count > MOST_PLACES:
        return None
    places.order()
    across, down = places.across(), places.down()
    spots = [
        [round(across[column] + places.widths[column] / 2), round(y)]
        for column, y in zip(places.columns, down, strict=True)
    ]
    return {
        "width": round(across[-1] + places.widths[-1] if across else 0),
        "height": round(max(down, default=0.0) + HEIGHT),
        "nodes": [[*spots[node], round(places.widths[places.columns[node]])] for node in range(len(network.nodes))],
        "edges": [{"points": [spots[place] for place in way], "label": spots[label]} for way, label in places.ways],
    }


def _layers(network: Network) -> list[int]:
    """A layer for each node: edges lead to a later one, but for those that lead back to a node that is being visited.

    Cost: O(nodes + edges).
    """
    count = len(network.nodes)
    entered = {target for source, target in _ends(network) if source == NO_NODE}
    starts = [*sorted(entered - {NO_NODE}), *range(count)]
    state = [0] * count  # 1: being visited, 2: done
    following: list[list[int]] = [[] for _ in range(count)]
    done: list[int] = []
    for start in starts:
        if state[start]:
            continue
        state[start] = 1
        way = [(start, iter(network.outgoing[start]))]
        while way:
            node, edges = way[-1]
            edge = next(edges, None)
            if edge is None:
                state[node] = 2
                done.append(node)
                way.pop()
                continue
            target = network.targets[edge]
            if target == NO_NODE:
                continue
            if state[target] != 1:
                following[node].append(target)
            if not state[target]:
                state[target] = 1
                way.append((target, iter(network.outgoing[target])))
    layers = [0] * count
    for node in reversed(done):
        for target in following[node]:
            layers[target] = max(layers[target], layers[node] + 1)
    return layers


def _ends(network: Network) -> list[tuple[int, int]]:
    return list(zip(network.sources, network.targets, strict=True))


class _Places:
    """Places in columns: nodes in the even ones, labels and bends of edges in all of them.

    A place has a number: nodes first. `ways` has, for each edge, its places from its source to its target, and which
    of them has the label.
    """

    def __init__(self, network: Network, layers: Sequence[int]) -> None:
        first = 1 if any(source == NO_NODE for source in network.sources) else 0
        self.columns = [2 * layer + 2 * first for layer in layers]
        self.ways: list[tuple[list[int], int]] = []
        self.neighbours: list[list[int]] = [[] for _ in layers]
        room = [0.0] * (max(self.columns, default=0) + 3)
        for node, column in enumerate(self.columns):
            room[column] = max(room[column], len(network.nodes[node]) * LETTER + 24)
        self.count = len(layers)
        for edge, (source, target) in enumerate(_ends(network)):
            self._way(source, target)
            if self.count > MOST_PLACES:
                return
            column = self.columns[self.ways[-1][1]]
            room[column] = max(room[column], len(network.edges[edge]) * LETTER + 8)
        self.widths = [min(max(each, NARROWEST), WIDEST) for each in room[: max(self.columns, default=0) + 1]]
        self.rows: list[list[int]] = [[] for _ in self.widths]
        for place, column in enumerate(self.columns):
            self.rows[column].append(place)

    def _way(self, source: int, target: int) -> None:
        """The places of an edge, one in each column between its ends; the label is at the first of them."""
        if source == NO_NODE:
            columns = [self.columns[target] - 2, self.columns[target] - 1]
            way = [*map(self._new, columns), target]
        elif target == NO_NODE:
            columns = [self.columns[source] + 1, self.columns[source] + 2]
            way = [source, *map(self._new, columns)]
        else:
            start, end = self.columns[source], self.columns[target]
            step = 1 if end > start else -1
            way = [source, *map(self._new, range(start + step, end, step)), target]
        for one, other in pairwise(way):
            self.neighbours[one].append(other)
            self.neighbours[other].append(one)
        self.ways.append((way, way[1]))

    def _new(self, column: int) -> int:
        self.columns.append(column)
        self.neighbours.append([])
        self.count += 1
        return self.count - 1

    # --- the order within columns ------------------------------------------------------------------------------------

    def order(self) -> None:
        """Sort each column by the mean place of its neighbours, to and fro; keep what crosses least."""
        best, fewest = [list(row) for row in self.rows], self._crossings()
        for sweep in range(SWEEPS):
            forwards = sweep % 2 == 0
            step = -1 if forwards else 1
            columns = range(len(self.rows)) if forwards else range(len(self.rows) - 1, -1, -1)
            position = self._positions()
            for column in columns:
                means = {}
                for place in self.rows[column]:
                    near = [position[other] for other in self.neighbours[place] if self.columns[other] == column + step]
                    means[place] = sum(near) / len(near) if near else float(position[place])
                self.rows[column].sort(key=means.__getitem__)
                for number, place in enumerate(self.rows[column]):
                    position[place] = number
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _positions(self) -> list[int]:
        position = [0] * self.count
        for row in self.rows:
            for number, place in enumerate(row):
                position[place] = number
        return position

    def _crossings(self) -> int:
        """How many pairs of lines cross between neighbouring columns."""
        position = self._positions()
        count = 0
        for column, row in enumerate(self.rows):
            seen: list[int] = []
            for place in row:
                targets = sorted(
                    position[other] for other in self.neighbours[place] if self.columns[other] == column + 1
                )
                count += sum(len(seen) - bisect_right(seen, target) for target in targets)
                for target in targets:
                    insort(seen, target)
        return count

    # --- pixels ------------------------------------------------------------------------------------------------------

    def across(self) -> list[float]:
        """Where each column begins."""
        found, at = [], 0.0
        for width in self.widths:
            found.append(at)
            at += width + GAP / 2
        return found

    def down(self) -> list[float]:
        """How far down each place stands: near its neighbours, in the order of its column."""
        heights = [0.0] * self.count
        for row in self.rows:
            for number, place in enumerate(row):
                heights[place] = number * HEIGHT
        for sweep in range(SWEEPS):
            for row in self.rows if sweep % 2 == 0 else reversed(self.rows):
                wished = [
                    sum(heights[other] for other in near) / len(near) if (near := self.neighbours[place]) else 0.0
                    for place in row
                ]
                for place, height in zip(row, _apart(wished), strict=True):
                    heights[place] = height
        least = min(heights, default=0.0)
        return [height - least + HEIGHT / 2 for height in heights]


def _apart(wished: Sequence[float]) -> list[float]:
    """The heights nearest to those wished, in the same order, each HEIGHT below the one before: pooled neighbours."""
    blocks: list[tuple[float, int]] = []  # mean of what is wished, less what stands above; how many
    for number, wish in enumerate(wished):
        mean, size = wish - number * HEIGHT, 1
        while blocks and blocks[-1][0] >= mean:
            above, more = blocks.pop()
            mean, size = (above * more + mean * size) / (more + size), more + size
        blocks.append((mean, size))
    found: list[float] = []
    for mean, size in blocks:
        found += [mean + (len(found) + place) * HEIGHT for place in range(size)]
    return found
