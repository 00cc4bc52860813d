"""Names in a program: of inputs, outputs, steps that keep state, and edges that code goes by; each taken once.

A name that is taken twice is refused in the line that takes it again (PS813). An edge that code goes by may be an input
or an output of the program, where it is the only edge that leads from there.
"""

from __future__ import annotations

from graphs.streams.refusals import check_name, refused
from graphs.streams.step import Origin, Step
from progress.errors import PointstampError


class Names:
    """The names of one program."""

    def __init__(self) -> None:
        self.inputs: dict[str, Step] = {}
        self.outputs: dict[str, Origin] = {}
        self.edges: dict[str, Origin] = {}  # those that code goes by, with what comes on each
        self._keeping: dict[str, Step] = {}  # steps that keep state
        self._read: set[Origin] = set()  # what some step reads, or leaves
        self._alone: dict[Origin, str] = {}  # what one edge alone leads from

    def input(self, step: Step) -> None:
        """An input of the program."""
        self._check_end(step.name, "input")
        if step.name in self.edges:
            raise _taken(step.name, "another name for the input")
        self.inputs[step.name] = step

    def output(self, name: str, origin: Origin) -> None:
        """An output of the program."""
        self._check_end(name, "output")
        self._check_free(origin)
        if name in self.edges:
            if self.edges[name] != origin or origin in self._read:
                raise _taken(name, "another name for the output")
            self._alone[origin] = name
        self._read.add(origin)
        self.outputs[name] = origin

    def step(self, step: Step) -> None:
        """A step, with what it reads and the edges that it goes by."""
        other = self._keeping.get(step.name)
        if step.keeps and other is not None:
            what = f"two steps are called {step.name} and keep state, the other in {other.where}"
            raise refused("PS813", what, "give one a name=")
        origins = [origin for origin, _ in step.inputs]
        for origin in origins:
            self._check_free(origin)
        for name in step.sends.values():
            if name in self.edges or name in self.inputs or name in self.outputs:
                raise _taken(name, "another name, where code goes by it")
        for origin, role in step.inputs:
            name = step.reads.get(role, "")
            is_this_input = bool(name) and self.inputs.get(name) is origin.step
            if name in self.edges or name in self.outputs or (name in self.inputs and not is_this_input):
                raise _taken(name, "another name, where code goes by it")
            if is_this_input and (origin in self._read or origins.count(origin) > 1):
                raise _taken(name, "another name, where code goes by it, since others read the input as well")
        for origin, role in step.inputs:
            if role in step.reads:
                self.edges[step.reads[role]] = origin
                if step.reads[role] in self.inputs:
                    self._alone[origin] = step.reads[role]
        self.edges |= {name: Origin(step, port) for port, name in step.sends.items()}
        self._read.update(origins)
        if step.keeps:
            self._keeping[step.name] = step

    def _check_end(self, name: str, kind: str) -> None:
        check_name(kind, name)
        for known, what in ((self.inputs, "an input"), (self.outputs, "an output")):
            if name in known:
                raise refused("PS813", f"{name!r} is {what} already", "another name; merge joins several streams")

    def _check_free(self, origin: Origin) -> None:
        """Refuse a second edge from where there can be one alone."""
        name = self._alone.get(origin)
        if name is not None:
            what = f"{name!r} is the one edge that leads from there, since code goes by its name"
            raise refused("PS813", what, "another name, where code goes by it")


def _taken(name: str, right: str) -> PointstampError:
    return refused("PS813", f"an edge is called {name!r} already", right)
