"""A program of streams: its inputs, its steps, its outputs, and the dataflow that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, overload

from graphs.graph import Graph
from graphs.notation import read_domain
from graphs.streams.bags import Bags, T, V
from graphs.streams.building import build
from graphs.streams.refusals import check_name, refused
from graphs.streams.scope import Scope
from graphs.streams.step import Origin, Step
from graphs.streams.stream import Stream
from progress.errors import PointstampError
from progress.runtime.dataflow import Dataflow
from progress.runtime.failure import OnError
from progress.runtime.results import Results
from progress.runtime.sink import Sink
from progress.runtime.source import Source


class Flow(Generic[T]):
    """A program of streams. Nothing runs while it is written; `run` makes a graph of it, and runs that.

    Parameters
    ----------
    time : the domain of the times of its inputs, as in a graph file
    name : of the graph
    on_error : what is done when a step raises, by name or `"*"` for all (`Dataflow`)

    >>> from pointstamp import Flow
    >>> flow = Flow()
    >>> flow.input("words").key_on(str.lower, len).reduce(max).output("longest")
    >>> flow.run(sources={"words": [(0, "To"), (0, "be"), (1, "or")]})
    {'longest': [(0, ('to', 2)), (0, ('be', 2)), (1, ('or', 2))]}
    """

    @overload
    def __init__(
        self: Flow[int],
        time: Literal["nat", "int"] = "nat",
        *,
        name: str | None = None,
        on_error: OnError | Mapping[str, OnError] | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Flow[Any],
        time: Any,
        *,
        name: str | None = None,
        on_error: OnError | Mapping[str, OnError] | None = None,
    ) -> None: ...
    def __init__(
        self, time: Any = "nat", *, name: str | None = None, on_error: OnError | Mapping[str, OnError] | None = None
    ) -> None:
        self.name = name
        self.scope = Scope(read_domain(time, ("time",)))
        self.on_error = on_error
        self.steps: list[Step] = []
        self.inputs: dict[str, Step] = {}
        self.outputs: dict[str, Origin] = {}
        self.sources: dict[str, Source] = {}
        self.sinks: dict[str, Sink] = {}
        self._keeping: dict[str, Step] = {}  # steps that keep state, by name
        self._dataflow: Dataflow | None = None

    def __repr__(self) -> str:
        return f"Flow({len(self.steps)} steps, inputs {[*self.inputs]}, outputs {[*self.outputs]})"

    @overload
    def input(self, name: str, *, source: Source | None = None) -> Stream[T, Any]: ...
    @overload
    def input(self, name: str, of: type[V], *, source: Source | None = None) -> Stream[T, V]: ...
    def input(self, name: str, of: Any = None, *, source: Source | None = None) -> Stream[T, Any]:
        """What comes in on the input edge of this name. `of` is for type checkers: what its values are."""
        return self._stream(Origin(self._input(name, source)))

    def _input(self, name: str, source: Source | None) -> Step:
        self._check_name(name, "input")
        step = self.inputs[name] = self._add(Step(name, self.scope))
        if source is not None:
            self.sources[name] = source
        return step

    # --- the program as a dataflow -----------------------------------------------------------------------------------

    @property
    def dataflow(self) -> Dataflow:
        """The dataflow of the program as it is now."""
        if self._dataflow is None:
            graph, nodes = build(self)
            self._dataflow = Dataflow(graph, nodes, sources=self.sources, sinks=self.sinks, on_error=self.on_error)
        return self._dataflow

    @property
    def graph(self) -> Graph:
        """Its graph."""
        graph = self.dataflow.graph
        assert isinstance(graph, Graph)
        return graph

    def run(
        self,
        *,
        sources: Mapping[str, Source] | None = None,
        sinks: Mapping[str, Sink] | None = None,
        engine: str = "sim",
        seed: int | None = None,
        **options: Any,
    ) -> Results:
        """Run it to the end; all that `Dataflow.run` takes may be given, and it answers the same."""
        return self.dataflow.run(sources=sources, sinks=sinks, engine=engine, seed=seed, **options)

    # --- for operators -----------------------------------------------------------------------------------------------

    def _stream(self, origin: Origin) -> Stream[Any, Any]:
        return Stream(self, origin)

    def _add(self, step: Step) -> Step:
        """A step more. Those that keep state have names of their own, by which a state finds them again."""
        if step.keeps:
            other = self._keeping.setdefault(step.name, step)
            if other is not step:
                what = f"two steps are called {step.name} and keep state, the other in {other.where}"
                raise refused("PS813", what, "give one a name=")
        self.steps.append(step)
        self._dataflow = None
        return step

    def _output(self, name: str, stream: Bags[Any, Any], sink: Sink | None) -> None:
        self._check_name(name, "output")
        self.outputs[name] = stream._origin
        if sink is not None:
            self.sinks[name] = sink
        self._dataflow = None

    def _check_name(self, name: str, kind: str) -> None:
        check_name(kind, name)
        for known, what in ((self.inputs, "an input"), (self.outputs, "an output")):
            if name in known:
                raise refused("PS813", f"{name!r} is {what} already", "another name; merge joins several streams")

    def _apart(self, path: str, stream: Bags[Any, Any], scope: Scope) -> PointstampError:
        """The refusal of a stream that is not to be had where a step stands."""
        what = f"{path!r} is inside of a loop, {stream._name!r} is not in it"  # loops
        return refused("PS811", what, "use what iterate or loop gives")

    def _entered(self, stream: Bags[Any, Any], scope: Scope) -> Bags[Any, Any]:
        """A stream from outside, as it is inside of a loop: by an edge that enters."""
        return stream
