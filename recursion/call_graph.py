"""Call graphs: a dataflow graph with calls to whole graphs, split into call and return parts (A&I 3.4).

From a graph with `in`, `out`, ordinary nodes and call nodes come two others. In the *split graph* a call node c is
`call-c` and `ret-c`, with a back edge from `call-c` to `in` and one from `out` to `ret-c`; it is where messages travel.
In the *alternative graph* a forward edge leads from `call-c` to `ret-c` instead; `CallGraph.reach` is reachability in
it, a bit set a node, and all that the order of stacks needs to know.

Beyond the paper: several graphs, each a `Procedure`, may call each other, and a stack is then a chain of calls each of
which stands in the procedure that the one before it enters; and input and output edges may join the graph to the
outside, with an epoch in front of each stack (docs/recursion.md says what of the propositions still holds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from progress.component import component_numbers
from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.topology import NO_NODE
from recursion.stack import Call, Procedure, Stack, Stacks


class Body(NamedTuple):
    """A graph that can be called, by names: its `in`, its `out`, and for each call node in it the body it calls.

    Examples
    --------
    >>> from recursion import Body
    >>> Body("begin", "end", {"again": "main"}).calls
    {'again': 'main'}
    """

    entrance: str
    exit: str
    calls: Mapping[str, str]


class CallEdge(NamedTuple):
    """An edge by names, as it is written: an input edge has no source, an output edge no target.

    Examples
    --------
    >>> from recursion import CallEdge
    >>> CallEdge("numbers", None, "begin").target
    'begin'
    """

    name: str
    source: str | None
    target: str | None


class CallGraph:
    """A graph with calls, its nodes and edges numbered after the split.

    `nodes` and `edges` are the names of the locations of the split graph; `origin` has, for each location, the name of
    the node or edge that was written. Cost: O(nodes * nodes / word) for `reach`.

    Parameters
    ----------
    nodes : name and whether it asks for notifications
    edges : the edges between them
    bodies : the graphs that can be called, by name
    main : the one that runs when no call was made
    epochs : the domain of what stands in front of each stack; None: nothing does, and there are no inputs and outputs

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> graph.nodes
    ['begin', 'call-again', 'ret-again', 'end']
    """

    def __init__(
        self,
        nodes: Mapping[str, bool],
        edges: Sequence[CallEdge],
        bodies: Mapping[str, Body],
        main: str,
        epochs: Domain | None = None,
    ) -> None:
        self.given_nodes, self.given_edges, self.bodies, self.main = nodes, edges, bodies, main
        self.epochs = epochs
        self.nodes: list[str] = []
        self.notifies: list[bool] = []
        self.edges: list[str] = []
        self.sources: list[int] = []
        self.targets: list[int] = []
        self.pushes: dict[int, Call] = {}  # by the number of the edge `call-c->in`
        self.pops: dict[int, Call] = {}  # by the number of the edge `out->ret-c`
        self.origin: dict[str, str] = {}
        self._check_bodies()
        self._number_nodes()
        self._number_calls()
        self._number_edges()
        sources, targets = self.alternative()
        self.component = component_numbers(len(self.nodes), sources, targets)
        self.reach = self._reachability(sources, targets)
        for call in self.calls:
            call.follows_itself = bool(self.reach[call.returns] >> call.call & 1)
        self.within = self._standings()
        self.stacks = Stacks(self.procedures[main])

    # --- construction ------------------------------------------------------------------------------------------------

    def _check_bodies(self) -> None:
        if self.main not in self.bodies:
            listed = ", ".join(map(brief, list(self.bodies)[:20]))
            raise bad_recursion(f"main is {brief(self.main)}, which is not a graph here", f"one of {listed}", "main")
        for name, body in self.bodies.items():
            for word, node in (("in", body.entrance), ("out", body.exit)):
                if node not in self.given_nodes:
                    what = f"{word} is {brief(node)}, which is not a node"
                    raise bad_recursion(what, "name a node of the graph", name, word, unknown=node)
            for call, callee in body.calls.items():
                if call not in self.given_nodes:
                    what = f"calls names {brief(call)}, which is not a node"
                    raise bad_recursion(what, "name nodes of the graph", name, "calls", call, unknown=call)
                if callee not in self.bodies:
                    what = f"{brief(call)} calls {brief(callee)}, which is not a graph here"
                    raise bad_recursion(what, "name one of the graphs", name, "calls", call)
        roles: dict[str, str] = {}
        for name, body in self.bodies.items():
            for word, node in (("in", body.entrance), ("out", body.exit), *(("calls", call) for call in body.calls)):
                role = "a call" if word == "calls" else word
                if node in roles:
                    both = f"{roles[node]} and {role}" if roles[node] != role else f"{role} of two graphs"
                    place = (name, word, node) if word == "calls" else (name, word)
                    raise bad_recursion(f"{brief(node)} is {both} at once", "take different nodes", *place)
                roles[node] = role

    def _number_nodes(self) -> None:
        called = {call for body in self.bodies.values() for call in body.calls}
        self._entering: dict[str, int] = {}  # where an edge to this node leads
        self._leaving: dict[str, int] = {}  # where an edge from this node begins
        for name, notifies in self.given_nodes.items():
            parts = (f"call-{name}", f"ret-{name}") if name in called else (name,)
            self._entering[name] = len(self.nodes)
            self._leaving[name] = len(self.nodes) + len(parts) - 1
            for part in parts:
                self._name(part, name)
                self.nodes.append(part)
                self.notifies.append(notifies)

    def _name(self, name: str, origin: str) -> None:
        other = self.origin.get(name, name if name != origin and name in self.given_nodes else None)
        if other is not None:
            part, whole = (other, origin) if name == other else (origin, other)
            raise BadCallGraph(
                "PS010",
                f"{brief(name)} names a part of the call {brief(whole)}, and something else",
                "give one of them another name",
                location=part,
            )
        self.origin[name] = origin

    def _number_calls(self) -> None:
        self.procedures = {
            name: Procedure(name, self._entering[body.entrance], self._entering[body.exit])
            for name, body in self.bodies.items()
        }
        self.calls: list[Call] = []
        for name, body in self.bodies.items():
            procedure = self.procedures[name]
            for call_name, callee in body.calls.items():
                call = Call(
                    call_name,
                    len(self.calls),
                    self._entering[call_name],
                    self._leaving[call_name],
                    procedure,
                    self.procedures[callee],
                )
                procedure.calls[call_name] = call
                self.calls.append(call)

    def _number_edges(self) -> None:
        for name, source, target in self.given_edges:
            for end in (source, target):
                if end is not None and end not in self.given_nodes:
                    what = f"the edge {brief(name)} names {brief(end)}, which is not a node"
                    raise BadCallGraph("PS011", what, "declare the node", location=name)
            self._edge(
                name,
                name,
                NO_NODE if source is None else self._leaving[source],
                NO_NODE if target is None else self._entering[target],
            )
        for call in self.calls:
            entrance, exit = call.enters.entrance, call.enters.exit
            self.pushes[len(self.edges)] = call
            self._edge(f"call-{call.name}->{self.nodes[entrance]}", call.name, call.call, entrance)
            self.pops[len(self.edges)] = call
            self._edge(f"{self.nodes[exit]}->ret-{call.name}", call.name, exit, call.returns)

    def _edge(self, name: str, origin: str, source: int, target: int) -> None:
        self._name(name, origin)
        self.edges.append(name)
        self.sources.append(source)
        self.targets.append(target)

    # --- the alternative graph ---------------------------------------------------------------------------------------

    def alternative(self) -> tuple[list[int], list[int]]:
        """The alternative graph: sources and targets of its edges."""
        backwards = self.pushes.keys() | self.pops.keys()
        ends = [
            (source, target)
            for edge, (source, target) in enumerate(zip(self.sources, self.targets, strict=True))
            if edge not in backwards and NO_NODE not in (source, target)
        ]
        ends += [(call.call, call.returns) for call in self.calls]
        return [source for source, _ in ends], [target for _, target in ends]

    @cached_property
    def leaving(self) -> list[list[int]]:
        """The edges that leave each node for another, without the back edges."""
        lists: list[list[int]] = [[] for _ in self.nodes]
        for edge, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            if edge not in self.pushes and edge not in self.pops and NO_NODE not in (source, target):
                lists[source].append(edge)
        return lists

    @cached_property
    def following(self) -> list[list[int]]:
        """For each node those to which an edge of the alternative graph leads."""
        lists: list[list[int]] = [[] for _ in self.nodes]
        for source, target in zip(*self.alternative(), strict=True):
            lists[source].append(target)
        return lists

    @cached_property
    def reached_from(self) -> list[int]:
        """`reach`, turned round: for each node a bit set of the nodes from which a path leads to it."""
        sources, targets = self.alternative()
        return self._reachability(targets, sources, backwards=True)

    def _reachability(self, sources: list[int], targets: list[int], backwards: bool = False) -> list[int]:
        """For each node a bit set of the nodes that a path of these edges leads to, itself included.

        The edges are those of the alternative graph, or these turned round.
        """
        members: list[list[int]] = [[] for _ in range(max(self.component, default=-1) + 1)]
        following: list[set[int]] = [set() for _ in members]
        for node, component in enumerate(self.component):
            members[component].append(node)
        for source, target in zip(sources, targets, strict=True):
            if self.component[source] != self.component[target]:
                following[self.component[source]].add(self.component[target])
        reached = [0] * len(members)
        components = range(len(members))
        for component in reversed(components) if backwards else components:  # edges lead to lower numbers
            bits = sum(1 << node for node in members[component])
            for later in following[component]:
                bits |= reached[later]
            reached[component] = bits
        return [reached[component] for component in self.component]

    # --- stacks ------------------------------------------------------------------------------------------------------

    def stack(self, *names: str) -> Stack:
        """The stack of these calls, outermost first."""
        found = self.stacks.of(names)
        if found is None:
            raise PointstampError("PS503", f"{list(names)!r} is not a stack of this graph", self.stacks_hint)
        return found

    @property
    def stacks_hint(self) -> str:
        """What a stack is here, in words."""
        names = [brief(call.name) for call in self.calls[:9]]
        listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return f"a list of calls, outermost first: {listed}" if names else "[] alone: there are no calls"

    def _standings(self) -> list[Procedure]:
        """The procedure in which each node stands, whose edges alone lead to it and from it.

        Where edges join two of them, which is not allowed (PS416), one that has a way from `in` through the node to
        `out`. Cost: O(edges + nodes * graphs).
        """
        main = self.procedures[self.main]
        if len(self.procedures) == 1:
            return [main] * len(self.nodes)
        found: dict[int, Procedure] = {call.call: call.within for call in self.calls}
        found |= {call.returns: call.within for call in self.calls}
        for procedure in self.procedures.values():
            found |= {procedure.entrance: procedure, procedure.exit: procedure}
        for procedure in self.procedures.values():
            if not self.reach[procedure.entrance] >> procedure.exit & 1:
                continue
            for node in members(self.reach[procedure.entrance]):
                if node not in found and self.reach[node] >> procedure.exit & 1:
                    found[node] = procedure
        beside: list[list[int]] = [[] for _ in self.nodes]
        for source, target in zip(*self.alternative(), strict=True):
            beside[source].append(target)
            beside[target].append(source)
        pending = list(found)
        for node in pending:
            for other in beside[node]:
                if other not in found:
                    found[other] = found[node]
                    pending.append(other)
        return [found.get(node, main) for node in range(len(self.nodes))]

    def name(self, location: int) -> str:
        """The name of a location."""
        return [*self.nodes, *self.edges][location]

    def procedure_of(self, location: int) -> Procedure:
        """The procedure in which a location stands, at whose stacks alone it has times: of an edge, its destination's.

        So the back edge `call-c->in` stands in what c enters, and `out->ret-c` in what c stands in.
        """
        edge = location - len(self.nodes)
        if edge < 0:
            return self.within[location]
        return self.within[self.sources[edge] if self.targets[edge] == NO_NODE else self.targets[edge]]


def members(bits: int) -> Iterator[int]:
    """The numbers in a bit set, from the smallest. Cost: O(the largest)."""
    digits = bin(bits)[:1:-1]
    found = digits.find("1")
    while found >= 0:
        yield found
        found = digits.find("1", found + 1)


class BadCallGraph(PointstampError):
    """What is not a call graph. `place`: a body, a key of it, a call there; or else `location`: a node or an edge.

    `unknown`: a name that should be one of a node.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str,
        place: tuple[str, ...] = (),
        location: str | None = None,
        unknown: str | None = None,
    ) -> None:
        super().__init__(code, message, hint)
        self.place = place
        self.location = location
        self.unknown = unknown


def bad_recursion(message: str, hint: str, *place: str, unknown: str | None = None) -> BadCallGraph:
    """A description of calls that describes none."""
    return BadCallGraph("PS016", message, hint, place, unknown=unknown)
