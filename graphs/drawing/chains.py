"""Edges led anew, one after the other: the places of one are taken out and put back where they cross least.

A shortest path: its steps are the gaps that the edge passes, its places the slots of each column. What a line from slot
s to slot t crosses follows from what it crosses from s to t - 1, so that a gap costs one addition for each pair of
slots. The work is counted, and bounded: MOST_CELLS pairs in all.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from graphs.drawing.crossings import crossings
from graphs.drawing.places import Places

MOST_CELLS = 1_000_000
PASSES = 3
SHIFT = 1 << 20  # a cost carries the slot that it came from in its lowest bits


def lead_anew(places: Places, fewest: int) -> int:
    """Lead every edge anew while crossings go; how many are left."""
    cells = MOST_CELLS
    for _ in range(PASSES):
        before = fewest
        for edge, way in enumerate(places.ways):
            items = [item for item in way if item >= len(places.boxes)]
            cells -= sum(
                len(places.columns[places.column[one]]) * len(places.columns[places.column[other]])
                for one, other in pairwise(items)
            ) + sum(len(places.columns[places.column[item]]) for item in items)
            if cells < 0:
                return crossings(places)
            fewest -= _Led(places, edge).gained
        if fewest == before:
            break
    return crossings(places)


class _Led:
    """One edge led anew. `gained`: how many crossings have gone."""

    def __init__(self, places: Places, edge: int) -> None:
        self.places = places
        self.edge = edge
        way = places.ways[edge]
        boxes = len(places.boxes)
        self.items = [item for item in way if item >= boxes]
        self.source = way[0] if way[0] < boxes else None
        self.target = way[-1] if way[-1] < boxes else None
        self.backwards = places.back[edge]
        old = {item: places.index[item] for item in self.items}
        for item in self.items:
            places.columns[places.column[item]].pop(old[item])
        for item in self.items:
            self._number(places.column[item])
        former = [old[item] for item in self.items]
        self.rows = [
            self._rows(places.column[one], places.column[other])
            for one, other in zip(self.items, self.items[1:], strict=False)
        ]
        self.first = self._from_box(self.source, places.column[self.items[0]], after=True)
        self.last = self._from_box(self.target, places.column[self.items[-1]], after=False)
        found, cost = self._cheapest()
        before = self._cost_of(former)
        chosen = found if cost < before else former
        for item, slot in zip(self.items, chosen, strict=True):
            places.columns[places.column[item]].insert(slot, item)
            self._number(places.column[item])
        self.gained = before - min(cost, before)

    def _number(self, column: int) -> None:
        for position, item in enumerate(self.places.columns[column]):
            self.places.index[item] = position

    def _chords(self, gap: int) -> list[tuple[int, int]]:
        """Those of all other edges."""
        edge, mine = self.places.edge, self.edge
        return [pair for pair in self.places.chords(gap) if edge[pair[0]] != mine and edge[pair[1]] != mine]

    # --- what slots cost ----------------------------------------------------------------------------------------------

    def _cheapest(self) -> tuple[list[int], int]:
        """The slots of the cheapest way, and its cost."""
        costs = self.first
        came: list[list[int]] = []
        for rows in self.rows:
            best: list[int] = []
            for slot, row in enumerate(rows):
                lead = costs[slot] * SHIFT + slot
                here = [lead + cost * SHIFT for cost in row]
                best = list(map(min, best, here)) if best else here
            costs = [cost // SHIFT for cost in best]
            came.append([cost % SHIFT for cost in best])
        costs = [cost + more for cost, more in zip(costs, self.last, strict=True)]
        cost = min(costs)
        slots = [costs.index(cost)]
        for row in reversed(came):
            slots.append(row[slots[-1]])
        return slots[::-1], cost

    def _cost_of(self, slots: list[int]) -> int:
        steps = zip(self.rows, slots, slots[1:], strict=False)
        return self.first[slots[0]] + self.last[slots[-1]] + sum(rows[one][other] for rows, one, other in steps)

    def _from_box(self, box: int | None, column: int, after: bool) -> list[int]:
        """What each slot of a column costs on the way to or from a box, or to the outside."""
        places = self.places
        if box is None:
            return [0] * (len(places.columns[column]) + 1)
        gap = places.column[box] if after else places.column[box] - 1
        if places.column[box] == column:
            return self._turn(box, gap)
        return self._line(box, column, gap)

    def _line(self, box: int, column: int, gap: int) -> list[int]:
        """Chords that a line from a box crosses, for each slot of the column beside it."""
        places = self.places
        steps = [0] * len(places.columns[column])
        start = 0
        mine = self._own_spot(box)
        for one, other in self._chords(gap):
            inside = [places.column[one] == column, places.column[other] == column]
            if inside[0] and inside[1]:  # a turn there: crossed between its ends
                low, high = sorted((places.index[one], places.index[other]))
                steps[low] += 1
                steps[high] -= 1
            elif inside[0] or inside[1]:
                end, here = (one, other) if inside[0] else (other, one)
                theirs = self._spot_at(here, end)
                if theirs < mine:  # crossed by a line that ends above it
                    start += 1
                    steps[places.index[end]] -= 1
                elif theirs > mine:
                    steps[places.index[end]] += 1
            else:
                one_spot, other_spot = self._spot_at(one, other), self._spot_at(other, one)
                start += min(one_spot, other_spot) < mine < max(one_spot, other_spot)
        return list(accumulate(steps, initial=start))

    def _turn(self, box: int, gap: int) -> list[int]:
        """Chords that a turn from a box crosses, for each slot of its own column."""
        places = self.places
        column = places.column[box]
        mine = self._own_spot(box)
        length = len(places.columns[column])
        ends: list[list[float]] = [[] for _ in range(length)]  # where chords at an item end besides; NaN: elsewhere
        own_above = own_below = 0
        for one, other in self._chords(gap):
            at_one, at_other = places.column[one] == column, places.column[other] == column
            for here, there, is_here, is_there in ((one, other, at_one, at_other), (other, one, at_other, at_one)):
                if not is_here:
                    continue
                spot = self._spot_at(here, there)
                if here == box:
                    own_above += spot < mine
                    own_below += spot > mine
                ends[places.index[here]].append(self._spot_at(there, here) if is_there else float("nan"))
        position = places.index[box]
        costs = [0] * (length + 1)
        # downwards: own joints below are between; each further item adds its chords that end elsewhere
        cost = own_below
        costs[position + 1] = cost
        for index in range(position + 1, length):
            for end in ends[index]:
                cost += 0 if end == mine else -1 if mine < end < index else 1
            costs[index + 1] = cost
        cost = own_above
        costs[position] = cost
        for index in range(position - 1, -1, -1):
            for end in ends[index]:
                cost += 0 if end == mine else -1 if index + 1 <= end < mine else 1
            costs[index] = cost
        return costs

    def _own_spot(self, box: int) -> float:
        """Where the edge itself is joined to a box: its index, and a part for a fixed joint."""
        item = self.items[0] if box == self.source else self.items[-1]
        return self._spot_at(box, item)

    def _spot_at(self, item: int, other: int) -> float:
        rank = self.places.rank.get((item, other), 0)
        return self.places.index[item] + rank / (1 + len(self.places.left[item]) + len(self.places.right[item]))

    # --- between two columns ------------------------------------------------------------------------------------------

    def _rows(self, column: int, following: int) -> list[list[int]]:
        """For each slot of a column what a line from there costs, for each slot of the next one on the way."""
        places = self.places
        if following < column:
            rows = self._rows(following, column)
            return [list(row) for row in zip(*rows, strict=True)]
        left, right = places.columns[column], places.columns[following]
        steps = [0] * len(right)
        starts = [0] * (len(left) + 1)
        lines: list[list[int]] = [[] for _ in left]
        for one, other in self._chords(column):
            if places.column[one] == places.column[other]:
                low, high = sorted((places.index[one], places.index[other]))
                if places.column[one] == column:
                    starts[low + 1] += 1
                    starts[high + 1] -= 1
                else:
                    steps[low] += 1
                    steps[high] -= 1
            else:
                lines[places.index[one]].append(places.index[other])
                steps[places.index[other]] += 1
        rows = []
        start = 0
        for slot in range(len(left) + 1):
            start += starts[slot]
            if slot:
                for end in lines[slot - 1]:
                    steps[end] -= 2
                    start += 1
            rows.append(list(accumulate(steps, initial=start)))
        return rows
