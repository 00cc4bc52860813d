"""`loop` and `iterate`, as operators of a stream and of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.loops.nodes import AGAIN, DONE, NOW, START, Head, unchanged
from graphs.streams.loops.scope import Loop
from graphs.streams.refusals import bad_step, check_function, check_number
from graphs.streams.step import Input, Origin, Step
from progress.errors import brief

if TYPE_CHECKING:
    from graphs.streams.flow import Flow
    from graphs.streams.stream import Stream


class RoundLoop(Loop):
    """The inside of a loop by rounds. `head` begins each of them."""

    head: Step
    repeated: dict[Origin, Step]  # what is led into it from outside


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
        >>> flow.run(sources={"numbers": [(0, 40), (1, 6)]})
        {'odd': [(0, 5), (1, 3)]}
        """
        path = self._path("loop", name)
        check_function(path, body, "body")
        flow = self._flow
        loop = Loop(self._scope, path)
        head = flow._add(Step(path, loop, (Input(self._origin),)))
        inside = self._another(Origin(head))
        found = loop.written(body, inside)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise bad_step(path, f"its body gives {brief(found)}", "two streams: what goes again, and what is done")
        again = loop.result(found[0], [inside])
        done = loop.result(found[1], [])
        back = flow._add(Step(f"{path}.again", loop, (Input(again._origin),), summary="feedback"))
        head.inputs += (Input(Origin(back)),)
        leave = Step(f"{path}.done", loop, (Input(done._origin),), summary="leave", sends_in={"": loop.around_it})
        return self._another(Origin(flow._add(leave)))

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
        `rounds(n)` is after n of them. A loop that does not end within `most` rounds fails (PS832).

        Streams from outside are there in every round. Cost a round: that of its steps, and O(values) for `unchanged`.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("numbers").iterate(lambda all: all.map(lambda n: n // 2)).output("ends")
        >>> flow.run(sources={"numbers": [(0, 5), (1, 6)]})
        {'ends': [(0, 0), (1, 0)]}
        """
        path = self._path("iterate", name)
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
    from graphs.streams.stream import Stream

    check_function(path, body, "body")
    check_function(path, until, "until")
    check_number(path, most, "most")
    outer = max((each._scope for each in streams), key=lambda scope: scope.depth())
    loop = RoundLoop(outer, path)
    starts = [flow._led_into(path, each, outer) for each in streams]
    numbers = range(len(streams))
    head = Step(
        path,
        loop,
        tuple(Input(each._origin, f"{START} {number}") for number, each in enumerate(starts)),
        partial(Head, variables=len(streams), until=until, most=most, is_single=is_single),
        keeps=True,
        notify=True,
        summary="feedback",
        emits={f"{DONE} {number}": "leave" for number in numbers},
        sends_in={f"{DONE} {number}": outer for number in numbers},
    )
    loop.head = flow._add(head)
    loop.repeated = {}
    inside = []
    for number, each in enumerate(starts):
        both = (Input(each._origin), Input(Origin(head, f"{NOW} {number}")))
        inside.append(Stream(flow, Origin(flow._add(merging(f"{path}.{number}" if number else f"{path}.now", loop, both)))))
    found = loop.written(body, *inside)
    if not (isinstance(found, tuple) and len(found) == len(streams)):
        raise bad_step(path, f"its body gives {brief(found)}", f"a tuple of {len(streams)} streams, one for each variable")
    for number, given in enumerate(found):
        head.inputs += (Input(loop.result(given, inside)._origin, f"{AGAIN} {number}"),)
    return tuple(Stream(flow, Origin(head, f"{DONE} {number}")) for number in numbers)
