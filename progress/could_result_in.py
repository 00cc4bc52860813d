"""Could-result-in, Definition 2 to the letter, with proofs (A&I 3.1).

(x, t) could-result-in (y, u) when x = y and t <= u, or along a path over *distinct* locations whose summaries lead from
t to some time <= u. Where Condition 2 holds, distinctness changes nothing; where it fails, it does, and both are told
apart here: a search over all walks of at most as many nodes as the graph has answers "no", or finds a walk; if the walk
visits no location twice, it is the proof; otherwise a search over simple paths decides, within a stated budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from progress.antichain import Antichain
from progress.cycles.finite_way import finite_way
from progress.errors import PointstampError
from progress.notebook import InNotebooks, Shown
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network, Topology, network_of

MOST_STEPS = 200_000


class SearchTooLong(PointstampError):
    """Definition 2 asks for a simple path, Condition 2 fails on the way, and the search exceeded its budget."""

    def __init__(self) -> None:
        super().__init__(
            "PS603",
            f"could-result-in needed more than {MOST_STEPS} steps, because Condition 2 fails on the way",
            "mend the cycle that `pointstamp check` shows, or ask `close`",
        )


class _Step(NamedTuple):
    """A node reached at a time, by an edge, from a step before."""

    node: int
    time: Any
    edge: int
    before: _Step | None


class CouldResultIn(InNotebooks):
    """The relation of one graph.

    A call costs O(edges * width) applications of summaries where Condition 2 holds; where it fails, at most
    `steps` and some for each edge, beyond which `SearchTooLong` is raised.

    Examples
    --------
    >>> from pointstamp import CouldResultIn, from_edges
    >>> leads = CouldResultIn(from_edges([("a", "b")], lambda edge: {"advance": 1}))
    >>> leads(("a", 3), ("b", 4)), leads(("a", 3), ("b", 3))
    (True, False)
    """

    def __init__(self, graph: Topology, steps: int = MOST_STEPS) -> None:
        self.network = network_of(graph)
        self._steps = steps
        self.spent = 0  # steps of all questions so far

    def __repr__(self) -> str:
        return f"CouldResultIn({self.network!r})"

    def _shown(self) -> Shown:
        how = "relation((location, time), (location, time)) asks it, relation.proof shows the way"
        return Shown(f"could-result-in of {self.network!r}: {how}", network=self.network)

    def __call__(self, start: tuple[str, Any], end: tuple[str, Any]) -> bool:
        """Whether `start` could-result-in `end`."""
        return self.proof(start, end) is not None

    def proof(self, start: tuple[str, Any], end: tuple[str, Any]) -> list[Pointstamp] | None:
        """Distinct locations, each with a time at which it can be reached, from `start` to `end`; None if there is
        none.

        Where both are at one location and t < u, the proof is these two pairs.
        """
        return self.proof_numbered(self.network.pointstamp(start), self.network.pointstamp(end))

    def proof_numbered(self, start: tuple[int, Any], end: tuple[int, Any]) -> list[Pointstamp] | None:
        """`proof` for numbered locations."""
        network = self.network
        (first, time), (last, limit) = start, end
        if network.relation is not None:
            return network.relation.proof(network, start, end)
        begin, goal = Pointstamp(network.name(first), time), Pointstamp(network.name(last), limit)
        if first == last:
            if not network.domain(first).less_equal(time, limit):
                return None
            return [begin] if time == limit else [begin, goal]
        count = len(network.nodes)
        node = first if first < count else network.targets[first - count]
        if node == NO_NODE:
            return None
        search = _Search(network, last, limit, self._steps)
        before = search.left
        try:
            path = search.path(node, time)
        finally:
            self.spent += before - search.left
        if path is None:
            return None
        proof = [begin]
        if first >= count:
            proof.append(Pointstamp(network.nodes[node], time))
        for edge, reached in path:
            proof.append(Pointstamp(network.edges[edge], reached))
            target = network.targets[edge]
            if edge + count != last:
                proof.append(Pointstamp(network.nodes[target], reached))
        if proof[-1].location == proof[0].location:
            return proof
        proof[-1] = goal
        return finite_way(network, proof)

    def walk(self, start: tuple[str, Any], end: tuple[str, Any]) -> Iterator[Pointstamp] | None:
        """The way from `start` to `end` step by step; None if there is none. Without calls it is that of `proof`.

        In a graph with calls the time of a proof jumps where it comes back to a location. Here every step is one of the
        split graph, from a node to an edge or from an edge to a node, with the stack that it leads to; after the last
        one the epoch may rise. A walk is as long as stacks are deep, and made as it is read.
        """
        return self.walk_numbered(self.network.pointstamp(start), self.network.pointstamp(end))

    def walk_numbered(self, start: tuple[int, Any], end: tuple[int, Any]) -> Iterator[Pointstamp] | None:
        """`walk` for numbered locations."""
        if self.network.relation is None:
            proof = self.proof_numbered(start, end)
            return None if proof is None else iter(proof)
        return self.network.relation.steps(self.network, start, end)


class _Search:
    """All ways to one end: `last` (a location) at or before `limit`."""

    def __init__(self, network: Network, last: int, limit: Any, steps: int) -> None:
        self.network = network
        self.limit = limit
        self.count = len(network.nodes)
        self.last_edge = last - self.count if last >= self.count else None
        self.last_node = network.sources[self.last_edge] if self.last_edge is not None else last
        self.less_equal = network.domain(last).less_equal
        self.left = steps + 100 * len(network.edges)
        self.useful = self._useful()

    def path(self, node: int, time: Any) -> list[tuple[int, Any]] | None:
        """Edges with the times on them, from `node` at `time` to the end, visiting no node twice."""
        if self.last_edge is None and node == self.last_node:
            return [] if self.less_equal(time, self.limit) else None
        if self.last_node == NO_NODE or node not in self.useful:
            return None
        return self._simple(node, time)

    def _simple(self, node: int, time: Any) -> list[tuple[int, Any]] | None:
        """Depth first over simple paths, pruned wherever even walks over the nodes that are left lead nowhere."""
        visited: set[int] = {node}
        taken: list[tuple[int, Any]] = []
        found = self._walk(node, time, visited)
        if found is None or (len({edge for edge, _ in found}) == len(found) and self._distinct(found, visited)):
            return found
        choices = [self._choices(node, time, visited)]
        nodes = [node]
        while choices:
            step = next(choices[-1], None)
            if step is None:
                choices.pop()
                visited.discard(nodes.pop())
                if taken:
                    taken.pop()
                continue
            edge, reached = step
            target = self.network.targets[edge]
            visited.add(target)
            found = self._walk(target, reached, visited)
            if found is None:
                visited.discard(target)
                continue
            if self._distinct(found, visited):
                return [*taken, (edge, reached), *found]
            taken.append((edge, reached))
            nodes.append(target)
            choices.append(self._choices(target, reached, visited))
        return None

    def _distinct(self, path: list[tuple[int, Any]], visited: set[int]) -> bool:
        inner = [self.network.targets[edge] for edge, _ in path if edge != self.last_edge]
        return len(set(inner)) == len(inner) and not visited.intersection(inner)

    def _choices(self, node: int, time: Any, visited: set[int]) -> Any:
        network = self.network
        for edge in network.outgoing[node]:
            if edge == self.last_edge or network.targets[edge] not in self.useful:
                continue
            if network.targets[edge] in visited or (network.targets[edge] == self.last_node and self.last_edge is None):
                continue
            for reached in self._apply(edge, time):
                yield edge, reached

    def _apply(self, edge: int, time: Any) -> Iterable[Any]:
        self._spend(1)
        summary = self.network.summaries[edge]
        assert summary is not None
        return summary.limits(time)

    def _spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise SearchTooLong

    def _walk(self, node: int, time: Any, visited: set[int]) -> list[tuple[int, Any]] | None:
        """A walk of fewest edges to the end that keeps off `visited`, times at each node kept as an antichain."""
        network, useful = self.network, self.useful
        reached: dict[int, Antichain] = {}
        level = [_Step(node, time, -1, None)]
        for _ in range(self.count + 1):
            following: list[_Step] = []
            for step in level:
                for edge in network.outgoing[step.node]:
                    target = network.targets[edge]
                    if edge != self.last_edge and target not in useful:
                        continue
                    for result in self._apply(edge, step.time):
                        ends = edge == self.last_edge or (self.last_edge is None and target == self.last_node)
                        if ends and self.less_equal(result, self.limit):
                            return self._unfolded(_Step(target, result, edge, step))
                        if target in visited or target not in useful:
                            continue
                        if target not in reached:
                            reached[target] = Antichain(network.domains[target])
                        self._spend(reached[target].cost)
                        if reached[target].insert(result):
                            following.append(_Step(target, result, edge, step))
            if not following:
                return None
            level = following
        return None

    def _unfolded(self, step: _Step | None) -> list[tuple[int, Any]]:
        path = []
        while step is not None and step.edge >= 0:
            path.append((step.edge, step.time))
            step = step.before
        path.reverse()
        return path

    def _useful(self) -> set[int]:
        """The nodes from which the end can be reached at all. Cost: O(edges)."""
        if self.last_node == NO_NODE:
            return set()
        network = self.network
        useful = {self.last_node}
        pending = [self.last_node]
        while pending:
            for edge in network.incoming[pending.pop()]:
                source = network.sources[edge]
                if source != NO_NODE and source not in useful:
                    useful.add(source)
                    pending.append(source)
        return useful
