"""What all streams are: for each time a bag of values, and the step that sends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphs.streams.refusals import bad_step, check_name, refused
from graphs.streams.step import Input, Origin, Step, Wiring
from progress.errors import brief
from progress.runtime.node import Node
from progress.runtime.sink import Sink

if TYPE_CHECKING:
    from graphs.streams.flow import Flow
    from graphs.streams.scope import Scope
    from graphs.streams.stream import Stream

T = TypeVar("T")  # times
V = TypeVar("V")  # values
W = TypeVar("W")  # other values
K = TypeVar("K")  # keys
S = TypeVar("S")  # states
R = TypeVar("R")  # results


LONGEST_PATH = 500  # a name may have 1,000, and edges are called after two of them


class Bags(Generic[T, V]):
    """For each time a bag of values. Order within a time means nothing."""

    def __init__(self, flow: Flow[Any], origin: Origin) -> None:
        self._flow = flow
        self._origin = origin

    def __repr__(self) -> str:
        return f"<stream {self._name}>"

    @property
    def _name(self) -> str:
        step, port = self._origin
        return f"{step.name}.{port}" if port else step.name

    @property
    def _scope(self) -> Scope:
        return self._origin.scope

    def output(self, name: str, *, sink: Sink | None = None) -> None:
        """Let the values leave by an output edge of this name; to the sink, where one is given.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").output("same", sink=lambda time, value: print(time, value))
        >>> flow.run(sources={"numbers": [(0, 3)]})
        0 3
        {}
        """
        self._flow._output(name, self, sink)

    # --- for operators -----------------------------------------------------------------------------------------------

    def _path(self, word: str, name: str | None) -> str:
        """The name of a step that follows: the one that was given, or the path that leads there."""
        path = f"{self._name}.{word}"
        if name is None and len(path) > LONGEST_PATH:
            raise bad_step(f"...{path[-40:]}", f"its path has {len(path)} characters", "a name= for it")
        if name is not None:
            check_name(path, name)
        return path if name is None else name

    def _follow(
        self,
        path: str,
        *others: Bags[Any, Any],
        code: Callable[[Wiring], Node] | None = None,
        roles: tuple[str, ...] = (),
        keeps_outside: bool = False,
        port: str = "",
        **options: Any,
    ) -> Stream[Any, Any]:
        """A step that reads this stream and others; the stream that it gives.

        It stands in the innermost of their scopes. `roles` says as what each is read. A stream from outside of that
        scope is led into it (`Flow._entered`), unless the node keeps what is outside for all rounds by itself.
        """
        streams: list[Bags[Any, Any]] = [self, *others]
        given: list[object] = [*others]
        for each in given:
            if not isinstance(each, Bags):
                raise bad_step(path, f"{brief(each)} is not a stream", "what an operator of a stream gives")
        for stream in streams:
            if stream._flow is not self._flow:
                raise refused("PS811", f"{path!r} joins streams of two flows", "one Flow() for a program")
        scope = max((stream._scope for stream in streams), key=lambda scope: scope.depth())
        for stream in streams:
            if not stream._scope.holds(scope) or not scope.is_open:
                raise self._flow._apart(path, streams, scope)
        inputs = []
        for number, stream in enumerate(streams):
            role = roles[number] if roles else ""
            if stream._scope is not scope and not keeps_outside:
                stream = self._flow._entered(stream, scope)
            inputs.append(Input(stream._origin, role))
        return self._another(Origin(self._flow._add(Step(path, scope, tuple(inputs), code, **options)), port))

    def _another(self, origin: Origin) -> Stream[Any, Any]:
        return self._flow._stream(origin)
