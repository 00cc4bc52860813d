"""From a program that is whole to its graph and the code of its nodes.

Each step becomes a node, but

* steps by value that follow each other become one;
* a merge that one step alone reads is left out: its edges lead there;
* an input that one step of its own scope alone reads is an edge to it.

Names: a node has that of its (last) step. Where an edge has it, or another node, it gets a dot more: `words·`. Inputs
and outputs have the names that they were given; then come steps that keep state, whose names are their own, so that
they are found again in a state whatever else is changed; then the others, in the order of the program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from graphs.graph import Graph
from graphs.streams.by_value import node_of
from graphs.streams.scope import Scope
from graphs.streams.step import Input, Origin, Step, Wiring
from progress.runtime.node import Node, Relay
from progress.runtime.run.own import Code

if TYPE_CHECKING:
    from graphs.streams.flow import Flow

DOT = "·"


class Unit:
    """What becomes a node: a step, or several by value that follow each other."""

    def __init__(self, step: Step) -> None:
        self.steps = [step]
        self.inputs = [*step.inputs]
        self.name = ""

    @property
    def last(self) -> Step:
        """The step whose results leave it."""
        return self.steps[-1]

    @property
    def is_mere_merge(self) -> bool:
        """Whether it only brings several streams together."""
        by_value = self.last.by_value
        return len(self.steps) == 1 and by_value is not None and by_value.kind == "merge"

    @property
    def reads(self) -> dict[str, str]:
        """Names that the edges to it have to have, by role."""
        return self.steps[0].reads

    def code(self, wiring: Wiring) -> Node:
        """The code of its node, for one run."""
        if len(self.steps) > 1:
            return node_of([step.by_value for step in self.steps if step.by_value is not None], wiring)
        make = self.last.code
        return Relay() if make is None else make(wiring)


def build(flow: Flow[Any]) -> tuple[Graph, dict[str, Code]]:
    """The graph of a program, and the code of its nodes. Cost: O(steps and what they read)."""
    return _Building(flow).run()


class _Building:
    """One pass over the steps of a program."""

    def __init__(self, flow: Flow[Any]) -> None:
        self.flow = flow
        self.names = flow.names
        self.leaving: dict[Origin, list[str]] = {}  # outputs, by what leaves there
        for name, origin in self.names.outputs.items():
            self.leaving.setdefault(origin, []).append(name)
        self.readers: dict[Origin, list[Unit]] = {}  # each as often as it reads this
        self.units: dict[Step, Unit] = {}  # by each of their steps
        self.taken = {*self.names.inputs, *self.names.outputs, *self.names.edges}
        for part in flow.parts:
            self.taken |= {*part.graph.nodes, *part.graph.edges}

    def run(self) -> tuple[Graph, dict[str, Code]]:
        """Units, then names, then nodes and edges."""
        self._gather()
        self._leave_out_merges()
        self._put_at_doors()
        self._put_between()
        units = [unit for unit in dict.fromkeys(self.units.values()) if not self._is_edge(unit)]
        for unit in sorted(units, key=lambda unit: not unit.last.keeps):
            unit.name = unit.last.node or self._free(unit.last.name)
        graph = Graph(time=self.flow.scope.domain(), name=self.flow.name)
        nodes: dict[str, Code] = {}
        for part in self.flow.parts:
            part.copy_to(graph, {edge for edge, origin in self.names.edges.items() if self._is_joined(edge, origin)})
            nodes |= part.nodes
        edges: list[tuple[str | None, str | None, str]] = []
        times = {name: origin.scope.domain() for origin, names in self.leaving.items() for name in names}
        roles: dict[Unit, dict[str, str]] = {unit: {} for unit in units}
        ports: dict[Unit, dict[str, list[str]]] = {unit: {} for unit in units}
        emits: dict[Unit, dict[str, Any]] = {unit: {} for unit in units}
        for unit in units:
            if unit.last.is_input:
                edges.append((None, unit.name, unit.last.name))
            for origin, role in unit.inputs:
                before = self.units[origin.step]
                if self._is_edge(before):
                    name = before.last.name
                    edges.append((None, unit.name, name))
                else:
                    fixed = unit.reads.get(role) or origin.step.sends.get(origin.port)
                    name = fixed or self._free(self._edge_name(before, origin.port, unit, role))
                    edges.append((before.name, unit.name, name))
                    ports[before].setdefault(origin.port, []).append(name)
                    emits[before][name] = self._summary(origin, unit.steps[0].scope)
                roles[unit][name] = role
        for origin, names in self.leaving.items():
            unit = self.units[origin.step]
            for name in names:
                edges.append((unit.name, None, name))
                ports[unit].setdefault(origin.port, []).append(name)
                emits[unit][name] = self._summary(origin, origin.scope)
        for unit in units:
            last = unit.last
            if last.node:
                continue
            different = {edge: summary for edge, summary in emits[unit].items() if summary != last.summary}
            graph.node(
                unit.name, time=last.scope.domain(), summary=last.summary, emits=different, requests=last.requests,
                notify=last.notify,
            )  # fmt: skip
            leaving = {port: tuple(names) for port, names in ports[unit].items()}
            wiring = Wiring(unit.name, last.scope.domain(), roles[unit], defaultdict(tuple, leaving), last.scope.seen)
            nodes[unit.name] = partial(unit.code, wiring) if last.own is None else last.own
        for source, target, name in edges:
            graph.edge(source, target, id=name, time=times.get(name))
        return graph, nodes

    def _gather(self) -> None:
        """Steps by value go to the unit of the step before them, where they alone read it.

        One that has a policy of its own for failures has a node of its own.
        """
        policies = {*self.flow.on_error} if isinstance(self.flow.on_error, Mapping) else set()
        count = Counter(origin for step in self.flow.steps for origin, _ in step.inputs)
        for step in self.flow.steps:
            unit = None
            if step.by_value is not None and len(step.inputs) == 1:
                origin = step.inputs[0].origin
                before = origin.step.by_value
                joins = before is not None and not before.is_last and origin.scope is step.scope
                joins = joins and policies.isdisjoint({origin.step.name, step.name})
                if joins and count[origin] == 1 and origin not in self.leaving:
                    unit = self.units[origin.step]
                    unit.steps.append(step)
            self.units[step] = Unit(step) if unit is None else unit
        for unit in dict.fromkeys(self.units.values()):
            for origin, _ in unit.inputs:
                self.readers.setdefault(origin, []).append(unit)

    def _leave_out_merges(self) -> None:
        """Where one unit alone reads a merge, it reads what the merge does."""
        for step, unit in [*self.units.items()]:
            origin = Origin(step)
            readers = self.readers.get(origin, [])
            if not unit.is_mere_merge or len(readers) != 1 or origin in self.leaving:
                continue
            reader = readers[0]
            leads_to_itself = any(self.units[each.step] is reader for each, _ in unit.inputs)  # as no edge can
            if reader.reads or leads_to_itself:
                continue
            place = next(number for number, each in enumerate(reader.inputs) if each.origin == origin)
            role = reader.inputs[place].role
            reader.inputs[place : place + 1] = [Input(each, role) for each, _ in unit.inputs]
            for each, _ in unit.inputs:
                self.readers[each] = [reader if known is unit else known for known in self.readers[each]]
            del self.units[step]

    def _put_at_doors(self) -> None:
        """A node between, where code of the user's own leads into a loop, since it sends at times outside.

        And where what leaves a loop enters another one: the times between are those of a node.
        """
        for unit in dict.fromkeys(self.units.values()):
            for number, (origin, role) in enumerate(unit.inputs):
                leaves = origin.scope is not origin.step.scope
                is_own = origin.step.own not in (None, Relay) or bool(origin.step.node)
                if (is_own or leaves) and origin.scope is not unit.steps[0].scope:
                    door = Unit(Step(f"{origin.step.name}.in", origin.scope, (Input(origin),), own=Relay))
                    self.units[door.last] = door
                    unit.inputs[number] = Input(Origin(door.last), role)
                    readers = self.readers[origin]
                    readers[readers.index(unit)] = door
                    self.readers[Origin(door.last)] = [unit]

    def _put_between(self) -> None:
        """Where one edge has to have a name, and there are several or it has to have another: a node that sends on."""
        for name, origin in self.names.edges.items():
            sends = origin.step.sends.get(origin.port) == name
            readers, leaving = self.readers.get(origin, []), self.leaving.get(origin, [])
            if not sends or (leaving == [name] and not readers):
                continue
            if not leaving and len(readers) == 1 and not readers[0].reads:
                continue
            if not leaving and not readers and origin.step.node:
                continue
            between = Unit(Step(name, origin.step.scope, (Input(origin),), lambda wiring: Relay()))
            new = Origin(between.last)
            self.units[between.last] = between
            for unit in readers:
                unit.inputs = [Input(new, role) if each == origin else Input(each, role) for each, role in unit.inputs]
            self.readers[origin], self.readers[new] = [between], readers
            if leaving:
                self.leaving[new] = self.leaving.pop(origin)

    def _is_joined(self, edge: str, origin: Origin) -> bool:
        """Whether an edge of a graph that was added is joined to something; one that leaves it is where it is read."""
        sends = origin.step.sends.get(origin.port) == edge
        return not sends or bool(self.readers.get(origin) or self.leaving.get(origin))

    def _is_edge(self, unit: Unit) -> bool:
        """Whether it is an input that is an edge to the one unit that reads it."""
        step = unit.last
        origin = Origin(step)
        readers = self.readers.get(origin, [])
        if not step.is_input or len(readers) != 1 or origin in self.leaving:
            return False
        reader = readers[0]
        role = next(role for each, role in reader.inputs if each == origin)
        return reader.steps[0].scope is step.scope and reader.reads.get(role, step.name) == step.name

    def _edge_name(self, before: Unit, port: str, unit: Unit, role: str) -> str:
        source = f"{before.name}.{port}" if port else before.name
        return f"{source}->{unit.name}.{role}" if role else f"{source}->{unit.name}"

    def _summary(self, origin: Origin, target: Scope) -> Any:
        """What happens to times on an edge: what the step says, and what leads into the scope of the one that reads."""
        step = origin.step
        summary = step.emits.get(origin.port, step.summary)
        inward = target.depth() - origin.scope.depth()
        return summary if inward <= 0 else {"then": [summary, *["enter"] * inward]}

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += DOT
        self.taken.add(name)
        return name
