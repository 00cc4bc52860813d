"""`TopologicalSorter` as `graphlib` has it, over graphs that may have cycles: a user changes an import.

On a graph without cycles it does what `graphlib.TopologicalSorter` does, in the same order. What `graphlib` refuses
with `CycleError` runs here in *rounds*. Nodes that lie on cycles together (a strongly connected component) are a loop:

* A round is one pass over all nodes of the loop. In a round a node waits for its predecessors in the same round, but
  for those that close a cycle (`feedback`): what these did in the round before is what it goes on from.
* A round begins when the one before is over. There is a next one when a node of the loop asked for it:
  `done(node, again=True)`. When nobody has asked, the loop is over, and what follows it becomes ready.

So a cycle whose nodes never ask runs once. Which edges close a cycle: those that lead back on a walk depth first from
where the loop is entered, that is from its nodes with predecessors outside, or from the node that was added first where
there are none; in the order in which nodes were added. `previous=` says it instead.

It is a `Tracker` on a graph whose times are rounds (A&I 4.2): a node is handed out when nothing at or before its round
can arrive at it any more. Every method may be called from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from graphs.graph import Graph
from progress.component import together
from progress.errors import PointstampError, brief
from progress.tracker import Tracker

Item = TypeVar("Item", bound=Hashable)


class SorterMisused(PointstampError, ValueError):
    """What `graphlib` refuses with `ValueError`, which this is, too."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("PS514", message, hint)

    def __str__(self) -> str:
        return self.message + (f" ({self.hint})" if self.hint else "")

    def __reduce__(self) -> Any:
        return SorterMisused, (self.message, self.hint)


class TopologicalSorter(Generic[Item]):
    """Hands nodes out when all that they wait for is done; cycles run in rounds.

    Parameters
    ----------
    graph : a mapping from each node to those before it, as `graphlib.TopologicalSorter` takes it; more with `add`

    Cost: O(nodes + edges) to prepare; to be told of a node costs its edges.

    Examples
    --------
    >>> from pointstamp import TopologicalSorter
    >>> list(TopologicalSorter({"bake": ["mix"], "eat": ["bake"]}).static_order())
    ['mix', 'bake', 'eat']
    """

    def __init__(self, graph: Mapping[Item, Iterable[Item]] | None = None) -> None:
        self._lock = threading.RLock()
        self._before: dict[Item, dict[Item, None]] = {}  # each node with what it waits for; in the order of adding
        self._after: dict[Item, dict[Item, None]] = {}  # the other way round, each at the place of its last mention
        self._previous: dict[Item, dict[Item, None]] = {}  # what the round before is waited for alone
        self._prepared: _Prepared[Item] | None = None
        if graph is not None:
            for node, predecessors in graph.items():
                self.add(node, *predecessors)

    # --- the graph ---------------------------------------------------------------------------------------------------

    def add(self, node: Item, *predecessors: Item, previous: Iterable[Item] = ()) -> None:
        """Add a node and those before it; again, and they are added to those that it has.

        `previous`: nodes whose work of the round before it goes on from. They close a cycle.
        """
        with self._lock:
            if self._prepared is not None:
                raise SorterMisused("Nodes cannot be added after a call to prepare()")
            before = self._node(node)
            for each in predecessors:
                self._node(each)
                before[each] = None
                after = self._after[each]
                after.pop(node, None)
                after[node] = None
            for each in previous:
                self._node(each)
                self._previous[node][each] = None

    def _node(self, node: Item) -> dict[Item, None]:
        if node not in self._before:
            self._before[node], self._after[node], self._previous[node] = {}, {}, {}
        return self._before[node]

    def prepare(self) -> None:
        """No more nodes are added; from now on they are handed out. A cycle is not an error: it is in `loops`."""
        with self._lock:
            if self._prepared is not None:
                raise SorterMisused("cannot prepare() more than once")
            self._prepared = _Prepared(self._before, self._previous)

    @property
    def loops(self) -> tuple[tuple[Item, ...], ...]:
        """The nodes of each loop, in the order in which they were added."""
        return tuple(tuple(loop) for loop in self._ready_for_work().loops)

    @property
    def feedback(self) -> tuple[tuple[Item, Item], ...]:
        """The edges that close cycles, each from a node to one whose next round goes on from it."""
        return tuple(self._ready_for_work().feedback)

    def _ready_for_work(self) -> _Prepared[Item]:
        if self._prepared is None:
            raise SorterMisused("prepare() must be called first")
        return self._prepared

    # --- handing out -------------------------------------------------------------------------------------------------

    def get_ready(self) -> tuple[Item, ...]:
        """The nodes that became ready since the last call, each once a round. Cost: O(r log r) for r nodes."""
        with self._lock:
            prepared = self._ready_for_work()
            return prepared.hand_out(prepared.tracker.get_ready())

    async def ready(self) -> tuple[Item, ...]:
        """What `get_ready` gives, as soon as it gives anything; nothing when all is done."""
        prepared = self._ready_for_work()
        found = await prepared.tracker.wait_ready()
        with self._lock:
            return prepared.hand_out(found)

    def done(self, *nodes: Item, again: bool = False) -> None:
        """What was handed out is done; all of it or, where one of them was not handed out, nothing.

        `again`: the loop in which each of them lies runs another round.
        """
        with self._lock:
            prepared = self._ready_for_work()
            for node in nodes:
                prepared.check(node, again)
            if len(set(nodes)) < len(nodes):
                twice = next(node for place, node in enumerate(nodes) if node in nodes[:place])
                raise SorterMisused(f"node {brief(twice)} was already marked done")
            prepared.deliver(nodes, again, self._after)

    def is_active(self) -> bool:
        """Whether there is anything left to hand out, or to be done."""
        return self._ready_for_work().tracker.is_active()

    def __bool__(self) -> bool:
        return self.is_active()

    def round(self, node: Item) -> int:
        """The round, from 0, of a node that was handed out last, or of the first where none was yet."""
        prepared = self._ready_for_work()
        if node not in prepared.numbers:
            raise _unknown(node)
        return prepared.rounds.get(node, 0)

    def static_order(self) -> Generator[Item, None, None]:
        """All nodes in an order in which they may be done, each once; needs neither `prepare` nor `done`."""
        self.prepare()
        while self.is_active():
            found = self.get_ready()
            yield from found
            self.done(*found)


class _Prepared(Generic[Item]):
    """The graph of rounds, its tracker, and who has been handed out."""

    def __init__(self, before: Mapping[Item, Iterable[Item]], previous: Mapping[Item, Iterable[Item]]) -> None:
        self.items = list(before)
        self.numbers = {item: number for number, item in enumerate(self.items)}
        self.loop_of, self.loops = _loops(self.numbers, before, previous)
        self.feedback = list(dict.fromkeys(_feedback(self.numbers, self.loop_of, before, previous)))
        self.out: dict[Item, int] = {}  # handed out, and not done: the round
        self.rounds: dict[Item, int] = {}
        self.asked = [0] * len(self.loops)  # the last round of each loop that anybody asked for
        self._ranks = list(range(-len(self.items), 0))  # in which order nodes are told, as `graphlib` does it
        self._told = 0
        # Eager: each node has a request of its own, so what one of them holds is seen at the next ones and ends there.
        requests = [(str(number), 0) for number in range(len(self.items))]
        self.tracker = Tracker(self._graph(before), requests=requests, engine="eager")

    def _graph(self, before: Mapping[Item, Iterable[Item]]) -> Graph:
        """Times are rounds; a loop's nodes send to its next round by one node of the loop's own.

        What leaves a loop is of time 0, whatever the round: those outside wait for all rounds.
        """
        graph, back = Graph(time="nat"), set(self.feedback)
        ways: list[tuple[str, str]] = []
        leaving: dict[Item, dict[str, Any]] = {}
        for item, predecessors in before.items():
            own = self.loop_of.get(item)
            for each in predecessors:
                if (each, item) in back:
                    continue
                way = str(self.numbers[each]), str(self.numbers[item])
                ways.append(way)
                if each in self.loop_of and self.loop_of[each] != own:
                    leaving.setdefault(each, {})["->".join(way)] = {"constant": 0}
        for item, number in self.numbers.items():
            graph.node(str(number), emits=leaving.get(item))
        for number, loop in enumerate(self.loops):
            graph.node(f"round {number}", summary={"advance": 1}, notify=False)
            for item in loop:
                ways += (str(self.numbers[item]), f"round {number}"), (f"round {number}", str(self.numbers[item]))
        for head, tail in ways:
            graph.edge(head, tail)
        return graph

    def hand_out(self, found: Iterable[tuple[str, int]]) -> tuple[Item, ...]:
        numbers = {int(name): time for name, time in found}
        told = tuple(self.items[number] for number in sorted(numbers, key=self._ranks.__getitem__))
        for item in told:
            self.out[item] = self.rounds[item] = numbers[self.numbers[item]]
        return told

    def check(self, node: Item, again: bool) -> None:
        """Refuse to mark done what is not handed out, and another round where there is no loop."""
        if node not in self.numbers:
            raise _unknown(node)
        if node not in self.out:
            last = self.asked[self.loop_of[node]] if node in self.loop_of else 0
            never = self.rounds.get(node, -1) < last
            said = "was not passed out (still not ready)" if never else "was already marked done"
            raise SorterMisused(f"node {brief(node)} {said}")
        if again and node not in self.loop_of:
            raise SorterMisused(f"node {brief(node)} lies on no cycle", "again=True is for nodes of a loop")

    def deliver(self, nodes: Iterable[Item], again: bool, after: Mapping[Item, Iterable[Item]]) -> None:
        """One step of the tracker: these are done, and the next round is asked for, if it is."""
        delivered, requests = [], []
        for node in nodes:
            delivered.append((str(self.numbers[node]), self.out[node]))
            loop = self.loop_of.get(node, -1)
            if again and self.asked[loop] == self.out[node]:
                self.asked[loop] += 1
                requests += [(str(self.numbers[item]), self.asked[loop]) for item in self.loops[loop]]
            for each in after[node]:
                self._ranks[self.numbers[each]] = self._told
                self._told += 1
        for node in nodes:
            del self.out[node]
        self.tracker.apply(delivered=delivered, requests=requests)


def _unknown(node: Any) -> SorterMisused:
    return SorterMisused(f"node {brief(node)} was not added using add()")


def _loops(
    numbers: Mapping[Item, int], before: Mapping[Item, Iterable[Item]], previous: Mapping[Item, Iterable[Item]]
) -> tuple[dict[Item, int], list[list[Item]]]:
    """The loop of each node that lies on a cycle, and the nodes of each loop."""
    ways = [(each, item) for item in before for each in (*before[item], *previous[item])]
    own = {item for each, item in ways if each == item}
    loops = [group for group in together(numbers, ways) if len(group) > 1 or group[0] in own]
    return {item: number for number, loop in enumerate(loops) for item in loop}, loops


def _feedback(
    numbers: Mapping[Item, int],
    loop_of: Mapping[Item, int],
    before: Mapping[Item, Iterable[Item]],
    previous: Mapping[Item, Iterable[Item]],
) -> Iterator[tuple[Item, Item]]:
    """The edges that close cycles: those that were called so, then those that a walk depth first finds to lead back."""
    for item, each_previous in previous.items():
        for each in each_previous:
            if item not in loop_of or loop_of.get(each) != loop_of[item]:
                said = f"no cycle joins {brief(item)} with {brief(each)}, so there is no round before it"
                raise SorterMisused(said, "name it among the predecessors")
            yield each, item
    inner_of, inner = _loops(numbers, before, dict.fromkeys(before, ()))
    after: dict[Item, list[Item]] = {}
    for item in inner_of:
        for each in before[item]:
            if inner_of.get(each) == inner_of[item]:
                after.setdefault(each, []).append(item)
    for number, loop in enumerate(inner):
        entered = [
            item for item in loop if any(inner_of.get(each) != number for each in (*before[item], *previous[item]))
        ]
        seen: set[Item] = set()
        for start in (*entered, *loop):
            if start in seen:
                continue
            seen.add(start)
            path = {start: iter(after[start])}
            while path:
                head, following = next(reversed(path.items()))
                for tail in following:
                    if tail in path:
                        yield head, tail
                    elif tail not in seen:
                        seen.add(tail)
                        path[tail] = iter(after[tail])
                        break
                else:
                    del path[head]
