"""A program of streams: its inputs, its steps, its outputs, and the dataflow that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Concatenate, Generic, Literal, ParamSpec, overload

from graphs.files.notation import read_domain
from graphs.graph import Graph
from graphs.streams.aggregated import Aggregated
from graphs.streams.bags import Bags, R, T, V
from graphs.streams.building import build
from graphs.streams.collections.collection import Collection, as_change
from graphs.streams.early import Said
from graphs.streams.loops.looping import iterated
from graphs.streams.loops.nodes import unchanged
from graphs.streams.loops.scope import Loop
from graphs.streams.names import Names
from graphs.streams.parts import Part
from graphs.streams.refusals import check_name, check_number, refused
from graphs.streams.scope import Scope
from graphs.streams.step import Input, Origin, Step
from graphs.streams.stream import Stream
from graphs.streams.times import as_messages
from progress.errors import PointstampError
from progress.notebook import InNotebooks, Shown
from progress.order import Domain
from progress.runtime.dataflow import Dataflow
from progress.runtime.failure import OnError
from progress.runtime.node import Relay
from progress.runtime.run.own import Code
from progress.runtime.run.results import Results
from progress.runtime.sink import Sink
from progress.runtime.source import Source

P = ParamSpec("P")


def takes_what(
    other: Callable[Concatenate[Any, P], R],
) -> Callable[[Callable[..., R]], Callable[Concatenate[Any, P], R]]:
    """Mark a method that takes what another one takes, for type checkers."""
    return lambda method: method


class Flow(InNotebooks, Generic[T]):
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
        self: Flow[Any], time: Any, *, name: str | None = None, on_error: OnError | Mapping[str, OnError] | None = None
    ) -> None: ...
    def __init__(
        self, time: Any = "nat", *, name: str | None = None, on_error: OnError | Mapping[str, OnError] | None = None
    ) -> None:
        self.name = name
        self.scope = Scope(read_domain(time, ("time",)))
        self._roots: dict[Domain, Scope] = {self.scope.domain(): self.scope}
        self.on_error = on_error
        self.steps: list[Step] = []
        self.names = Names()
        self.sources: dict[str, Source] = {}
        self.sinks: dict[str, Sink] = {}
        self.ahead: dict[str, int] = {}  # how many times of an input may be in the program at once
        self.parts: list[Part] = []  # graphs that were added
        self._times: set[str] = set()  # inputs of times alone
        self._dataflow: Dataflow | None = None
        self._writing = self.scope  # the loop whose body is being written

    def __repr__(self) -> str:
        return f"Flow({len(self.steps)} steps, inputs {[*self.names.inputs]}, outputs {[*self.names.outputs]})"

    def _shown(self) -> Shown:
        try:
            found = self.dataflow._shown()
        except PointstampError as error:  # it is not whole yet
            return Shown(f"{self!r}: {error}")
        return found._replace(title=repr(self))

    @overload
    def input(self, name: str, *, source: Source | None = None, ahead: int | None = None) -> Stream[T, Any]: ...
    @overload
    def input(
        self, name: str, of: type[V], *, source: Source | None = None, ahead: int | None = None
    ) -> Stream[T, V]: ...
    @overload
    def input(
        self, name: str, of: object, *, source: Source | None = None, ahead: int | None = None
    ) -> Stream[T, Any]: ...
    def input(
        self, name: str, of: Any = None, *, source: Source | None = None, ahead: int | None = None
    ) -> Stream[T, Any]:
        """What comes in on the input edge of this name.

        `of` is for type checkers: the class of its values, as `Order` or `tuple[str, int]`; where they are of none, as
        `int | None`, annotate the stream. `ahead` is how many of its times may be in the program at once, where its
        source says what is complete (`progress.runtime.inputs.ahead`): the next waits until one of them is over.

        >>> from pointstamp import Complete, Flow
        >>> flow = Flow()
        >>> flow.input("epochs", ahead=1).whole(lambda time, all: [sum(all)]).output("sums")
        >>> flow.run(sources={"epochs": [(0, 3), (0, 4), Complete([1]), (1, 5)]})
        {'sums': [(0, 7), (1, 5)]}
        """
        return self._stream(Origin(self._input(name, source, ahead)))

    @overload
    def collection(
        self, name: str, *, source: Source | None = None, ahead: int | None = None
    ) -> Collection[T, Any]: ...
    @overload
    def collection(
        self, name: str, of: type[V], *, source: Source | None = None, ahead: int | None = None
    ) -> Collection[T, V]: ...
    def collection(
        self, name: str, of: Any = None, *, source: Source | None = None, ahead: int | None = None
    ) -> Collection[T, Any]:
        """A bag that changes: changes `(value, count)` come in on the input edge of this name.

        `of` is for type checkers: what its values are. Lists, as JSON has them, become tuples. `ahead` is that of
        `input`: many times at once cost more each than one after the other.
        """
        changes = self._stream(Origin(self._input(name, source, ahead)))
        return Collection(changes.map(partial(as_change, name), name=name))

    def iterate(
        self,
        streams: tuple[Bags[T, Any], ...],
        body: Callable[..., tuple[Bags[Any, Any], ...]],
        until: Callable[[Any, Any, int], Any] = unchanged,
        *,
        most: int = 10_000,
        name: str = "iterate",
    ) -> tuple[Stream[T, Any], ...]:
        """`Stream.iterate` with several variables: `body(a, b)` gives a tuple of as many streams.

        `until` is given tuples of bags. The result is a tuple of streams, the values of all variables after the last
        round.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> def swap(left, right):
        ...     return right.map(lambda n: n // 2), left
        >>> left, right = flow.iterate((flow.input("a"), flow.input("b")), swap, name="swap")
        >>> left.merge(right).output("ends")
        >>> flow.run(sources={"a": [(0, 5)], "b": [(0, 6)]})
        {'ends': [(0, 0), (0, 0)]}
        """
        check_name("iterate", name)
        return iterated(self, streams, body, until, most, name)

    def _input(self, name: str, source: Source | None, ahead: int | None = None) -> Step:
        if ahead is not None:
            check_number(f"input {name!r}", ahead, "ahead")
            self.ahead[name] = ahead
        step = Step(name, self.scope)
        self.names.input(step)
        self._add(step)
        if source is not None:
            self.sources[name] = source
        return step

    def times(self, name: str, *, source: Any = None) -> Stream[T, T]:
        """An input of times alone: its values are its times. Merged in, it has something come at each of them.

        Its source gives times: `[0, 1, 2]`. One that gives messages, as a policy or `JsonLines`, is taken as well, and
        their values are not looked at.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> none = flow.times("days").map(lambda day: ("visits", 0))
        >>> flow.input("visits").map(lambda who: ("visits", 1)).merge(none).keyed().reduce(lambda a, b: a + b).output(
        ...     "n"
        ... )
        >>> flow.run(sources={"days": [0, 1, 2], "visits": [(0, "ann"), (2, "bob"), (2, "ann")]})
        {'n': [(0, ('visits', 1)), (1, ('visits', 0)), (2, ('visits', 2))]}
        """
        step = self._input(name, None if source is None else as_messages(source))
        self._times.add(name)
        return self._stream(Origin(step)).map_at(lambda time, _: time, name=f"{name}.times")

    def add(
        self, graph: Graph, nodes: Mapping[str, Code] | None = None, streams: Mapping[str, Bags[Any, Any]] | None = None
    ) -> dict[str, Stream[Any, Any]]:
        """Add a graph with the code of its nodes. The answer: what leaves by its output edges, by their names.

        `streams` lead to its input edges; those without one are inputs of the program. An output edge of which nothing
        is made stays one. All names stay what they are.

        >>> from pointstamp import Batch, Flow, Graph
        >>> class Total(Batch):
        ...     def on_batch(self, time, messages, out):
        ...         out.send("totals", time, sum(messages["numbers"]))
        >>> graph = Graph().node("total").edge(None, "total", "numbers").edge("total", None, "totals")
        >>> flow = Flow()
        >>> squares = flow.input("roots").map(lambda n: n * n)
        >>> flow.add(graph, {"total": Total}, {"numbers": squares})["totals"].filter(lambda n: n > 9).output("large")
        >>> flow.run(sources={"roots": [(0, 2), (0, 3), (1, 1)]})
        {'large': [(0, 13)]}
        """
        part = Part(graph, nodes or {})
        found = part.join(self, streams or {})
        self.parts.append(part)
        self._changed()
        return {edge: self._stream(origin) for edge, origin in found.items()}

    # --- the program as a dataflow -----------------------------------------------------------------------------------

    @property
    def dataflow(self) -> Dataflow:
        """The dataflow of the program as it is now."""
        if self._dataflow is None:
            graph, nodes = build(self)
            self._dataflow = Dataflow(
                graph, nodes, sources=self.sources, sinks=self.sinks, on_error=self.on_error, ahead=self.ahead
            )
        return self._dataflow

    @property
    def graph(self) -> Graph:
        """Its graph."""
        graph = self.dataflow.graph
        assert isinstance(graph, Graph)
        return graph

    @takes_what(Dataflow.run)
    def run(self, *, sources: Mapping[str, Source] | None = None, **options: Any) -> Results:
        """Run it to the end; all that `Dataflow.run` takes may be given, and it answers the same."""
        own = {name: as_messages(source) if name in self._times else source for name, source in (sources or {}).items()}
        return self.dataflow.run(sources=own, **options)

    # --- for operators -----------------------------------------------------------------------------------------------

    def _stream(self, origin: Origin) -> Stream[Any, Any]:
        return Stream(self, origin)

    def _root(self, domain: Domain) -> Scope:
        """Where streams have times of this domain, outside of loops."""
        return self._roots.setdefault(domain, Scope(domain))

    def _aggregated(self, origin: Origin, said: Said) -> Aggregated[Any, Any, Any]:
        return Aggregated(self, origin, said)

    def _changed(self) -> None:
        """The program is another one: its dataflow is made again."""
        self._dataflow = None

    def _add(self, step: Step) -> Step:
        """A step more."""
        self.names.step(step)
        self.steps.append(step)
        self._changed()
        return step

    def _output(self, name: str, stream: Bags[Any, Any], sink: Sink | None) -> None:
        if not stream._scope.is_open:
            raise self._apart(name, [stream], stream._scope)
        self.names.output(name, stream._origin)
        if sink is not None:
            self.sinks[name] = sink
        self._changed()

    def _apart(self, path: str, streams: Sequence[Bags[Any, Any]], scope: Scope) -> PointstampError:
        """The refusal of a step that reads streams which are not to be had in one place."""
        whole = [*scope.around()][-1]
        for stream in streams:
            its = [*stream._scope.around()][-1]
            if its is not whole:
                times = f"which has times of {its.domain()!r}, with times of {whole.domain()!r}"
                what = f"{path!r} joins {stream._name!r}, {times}"
                return refused("PS811", what, "roll_up brings times to a coarser domain")
        inside = next((stream._name for stream in streams if stream._scope is scope), scope.name)
        other = next((stream._name for stream in streams if not stream._scope.holds(scope)), None)
        other = other or next((stream._name for stream in streams if stream._scope is not scope), path)
        what = f"{inside!r} is inside of a loop, {other!r} is not"
        return refused("PS811", what, "use what iterate or loop gives")

    def _entered(self, stream: Bags[Any, Any], scope: Scope) -> Bags[Any, Any]:
        """A stream from outside, as it is inside of a loop, or of several in each other."""
        inward = [each for each in scope.around() if not each.holds(stream._scope)]
        for loop in reversed(inward):
            assert isinstance(loop, Loop)
            stream = loop.entered(stream)
        return stream

    def _at_the_door(self, stream: Bags[Any, Any], scope: Scope) -> Bags[Any, Any]:
        """A stream from outside of several loops in each other, before the innermost of them, as it comes in."""
        inward = [each for each in scope.around() if not each.holds(stream._scope)]
        for loop in reversed(inward[1:]):
            step = Step(f"{loop.name}.{stream._name}", loop, (Input(stream._origin),), own=Relay)
            stream = self._stream(Origin(self._add(step)))
        return stream
