"""`loop` and `iterate`, as operators of a stream and of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.by_value import MERGE, node_of
from graphs.streams.loops.nodes import AGAIN, BEGIN, DONE, NOW, OUTSIDE, START, TICK, Head, Repeat, port, unchanged
from graphs.streams.loops.scope import Loop
from graphs.streams.refusals import bad_step, check_function, check_number
from graphs.streams.step import Input, Origin, Step
from progress.errors import brief
from progress.runtime.node import Relay

if TYPE_CHECKING:
    from graphs.streams.flow import Flow
    from graphs.streams.scope import Scope
    from graphs.streams.stream import Stream


class RoundLoop(Loop):
    """The inside of a loop by rounds. `head` begins each of them; `repeated` is what is led into it from outside."""

    def __init__(self, flow: Flow[Any], outer: Scope, name: str) -> None:
        super().__init__(flow, outer, name)
        self.head: Step | None = None
        self.starts: list[Origin] = []  # what it begins with
        self.repeated: dict[Origin, Bags[Any, Any]] = {}

    def entered(self, stream: Bags[Any, Any]) -> Bags[Any, Any]:
        """By a step that sends it again whenever the head begins a round."""
        found = self.repeated.get(stream._origin)
        if found is None:
            assert self.head is not None
            inputs = (Input(stream._origin, OUTSIDE), Input(Origin(self.head, TICK), TICK))
            begin = tuple(Input(each, BEGIN) for each in self.starts)
            step = Step(f"{self.name}.{stream._name}", self, (*inputs, *begin), Repeat, keeps=True, notify=True)
            found = self.repeated[stream._origin] = self.flow._stream(Origin(self.flow._add(step)))
        return found


class StreamLoops(Bags[T, V]):
    """The operators of a stream that go round."""

    def loop(
        self,
        body: Callable[[Stream[tuple[T, int], V]], tuple[Bags[tuple[T, int], V], Bags[tuple[T, int], W]]],
        *,
        name: str | None = None,
    ) -> Stream[T, W]:
        """Values go round alone: `body(inside)` gives `(again, done)`, and what is done leaves at once.

        What goes again comes back one round later. The loop ends when nothing does, and it has no bound but that.

        >>> from pointstamp import Flow
        >>> def halve(numbers):
        ...     even, odd = numbers.branch(lambda n: n % 2 == 0)
        ...     return even.map(lambda n: n // 2), odd
        >>> flow = Flow()
        >>> flow.input("numbers").loop(halve).output("odd")
        >>> sorted(flow.run(sources={"numbers": [(0, 40), (1, 6)]})["odd"])
        [(0, 5), (1, 3)]
        """
        path = self._path("loop", name)
        check_function(path, body, "body")
        flow = self._flow
        outer, (start,) = beginning(flow, path, self)
        loop = Loop(flow, outer, path)
        head = flow._add(merging(f"{path}.now", loop, Input(start._origin)))
        inside = flow._stream(Origin(head))
        found: object = loop.written(body, inside)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise bad_step(path, f"its body gives {brief(found)}", "two streams: what goes again, and what is done")
        again = loop.result(found[0], [inside])
        done = loop.result(found[1], [])
        back = flow._add(Step(f"{path}.again", loop, (Input(again._origin),), own=Relay, summary="feedback"))
        head.inputs += (Input(Origin(back)),)
        sends_in = {"": outer}
        leave = Step(f"{path}.done", loop, (Input(done._origin),), own=Relay, summary="leave", sends_in=sends_in)
        return flow._stream(Origin(flow._add(leave)))

    def iterate(
        self,
        body: Callable[[Stream[tuple[T, int], V]], Bags[tuple[T, int], V]],
        until: Callable[[list[V], list[V], int], Any] = unchanged,
        *,
        most: int = 10_000,
        name: str | None = None,
    ) -> Stream[T, V]:
        """What `body` makes of a time's values, again and again: X(0) is what comes in, X(r + 1) = body(X(r)).

        Each round is whole: the next one begins when all of it is there. `until(before, now, round)` says of what a
        round has given whether it is the result; `unchanged` (the default) is when it gave what it began with,
        `rounds(n)` is after n of them. A loop that does not end within `most` rounds fails (PS817). Where nothing comes
        in there are no rounds.

        Streams from outside are there in every round. Cost a round: that of its steps, and O(values) for `unchanged`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").iterate(lambda all: all.map(lambda n: n // 2)).output("ends")
        >>> flow.run(sources={"numbers": [(0, 5), (1, 6)]})
        {'ends': [(0, 0), (1, 0)]}
        """
        path = self._path("iterate", name)
        check_function(path, body, "body")
        return iterated(self._flow, (self,), lambda each: (body(each),), until, most, path, is_single=True)[0]


def iterated(
    flow: Flow[Any],
    streams: tuple[Bags[Any, Any], ...],
    body: Callable[..., Any],
    until: Callable[[Any, Any, int], Any],
    most: int,
    path: str,
    is_single: bool = False,
) -> tuple[Stream[Any, Any], ...]:
    """A loop by rounds of one variable or several."""
    check_function(path, body, "body")
    check_function(path, until, "until")
    check_number(path, most, "most")
    if not streams:
        raise bad_step(path, "there are no streams", "a tuple of those that it begins with")
    outer, starts = beginning(flow, path, *streams)
    loop = RoundLoop(flow, outer, path)
    loop.starts = [each._origin for each in starts]
    numbers = range(len(streams))
    done = [port(DONE, number, is_single) for number in numbers]
    head = loop.head = flow._add(
        Step(
            path,
            loop,
            tuple(Input(each._origin, f"{START} {number}") for number, each in enumerate(starts)),
            partial(Head, variables=len(streams), until=until, most=most, is_single=is_single),
            keeps=True,
            notify=True,
            summary="feedback",
            emits=dict.fromkeys(done, "leave"),
            sends_in=dict.fromkeys(done, outer),
        )
    )
    inside = []
    for number, each in enumerate(starts):
        now = port(NOW, number, is_single)
        both = (Input(each._origin), Input(Origin(head, now)))
        inside.append(flow._stream(Origin(flow._add(merging(f"{path}.{now}", loop, *both)))))
    found: object = loop.written(body, *inside)
    if not (isinstance(found, tuple) and len(found) == len(streams)):
        right = f"a tuple of {len(streams)} streams, one for each variable"
        raise bad_step(path, f"its body gives {brief(found)}", right)
    for number, each in enumerate(found):
        given = loop.result(each, inside if is_single else [])  # of several, one may stay as it is
        head.inputs += (Input(given._origin, f"{AGAIN} {number}"),)
    return tuple(flow._stream(Origin(head, each)) for each in done)


def beginning(flow: Flow[Any], path: str, *streams: Bags[Any, Any]) -> tuple[Scope, list[Bags[Any, Any]]]:
    """Where a loop stands that begins with these streams, and they as they are there.

    Where the body of another loop is being written, it stands in that one, whose streams it may then read.
    """
    scopes = [each._scope for each in streams]
    if isinstance(flow._writing, Loop):
        scopes.append(flow._writing)
    outer = max(scopes, key=lambda scope: scope.depth())
    if not outer.is_open or not all(each._scope.holds(outer) for each in streams):
        raise flow._apart(path, streams, outer)
    return outer, [each if each._scope is outer else flow._entered(each, outer) for each in streams]


def merging(name: str, scope: Scope, *inputs: Input) -> Step:
    """A step that only brings streams together, in a scope that some of them are led into by their edges."""
    return Step(name, scope, inputs, partial(node_of, (MERGE,)), by_value=MERGE)
