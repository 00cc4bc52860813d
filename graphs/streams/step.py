"""Steps: what a program of streams is made of, until it is whole and becomes a graph (`graphs.streams.building`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphs.streams.refusals import place
from progress.order import Domain
from progress.runtime.node import Node
from progress.runtime.run.own import Code

if TYPE_CHECKING:
    from graphs.streams.by_value import ByValue
    from graphs.streams.scope import Scope


class Origin(NamedTuple):
    """Where a stream comes from: what a step sends by one of its ports."""

    step: Step
    port: str = ""

    @property
    def scope(self) -> Scope:
        """Where the stream is."""
        return self.step.sends_in.get(self.port, self.step.scope)


class Input(NamedTuple):
    """What a step reads, and as what."""

    origin: Origin
    role: str = ""


class Wiring(NamedTuple):
    """What a node is told of the graph around it, once that is whole."""

    name: str
    domain: Domain
    roles: Mapping[str, str]  # edges that lead to it: as what each is read
    ports: Mapping[str, tuple[str, ...]]  # edges that leave it, by port
    seen: Callable[[Any], Any] = lambda time: time  # a time as functions of the user's see it


class Step:
    """A step of a program.

    Parameters
    ----------
    name : its path, which names its node
    scope : where it stands
    inputs : what it reads
    code : makes its node, once for each run; None for an input, which has a node only where it needs one
    own : code of the user's own instead
    keeps : whether it keeps state, so that its name has to be its own
    notify : whether it asks for notifications
    summary : what it does to times, as in a graph file
    emits : by port, where that is something else
    sends_in : by port, the scope of what leaves there, where it is not that of the step
    requests : at which times it asks for notifications, having received something
    by_value : what it does to each value by itself, if that is all it does
    reads, sends : names that edges have to have, by role and by port, for code that goes by them
    node : the node of a graph that was added, which it stands for
    """

    __slots__ = (
        "by_value", "code", "emits", "inputs", "keeps", "name", "node", "notify", "own", "reads", "requests", "scope",
        "sends", "sends_in", "summary", "where",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        scope: Scope,
        inputs: tuple[Input, ...] = (),
        code: Callable[[Wiring], Node] | None = None,
        *,
        own: Code | None = None,
        keeps: bool = False,
        notify: bool = False,
        summary: Any = "identity",
        emits: Mapping[str, Any] | None = None,
        sends_in: Mapping[str, Scope] | None = None,
        requests: Any = "identity",
        by_value: ByValue | None = None,
        reads: Mapping[str, str] | None = None,
        sends: Mapping[str, str] | None = None,
        node: str = "",
    ) -> None:
        self.name = name
        self.scope = scope
        self.inputs = inputs
        self.code = code
        self.own = own
        self.keeps = keeps
        self.notify = notify
        self.summary = summary
        self.emits = dict(emits or {})
        self.sends_in = dict(sends_in or {})
        self.requests = requests
        self.by_value = by_value
        self.reads = dict(reads or {})
        self.sends = dict(sends or {})
        self.node = node
        self.where = place()

    @property
    def is_input(self) -> bool:
        """Whether it is an input of the program."""
        return self.code is None and self.own is None and not self.node

    def __repr__(self) -> str:
        return f"<step {self.name}>"
