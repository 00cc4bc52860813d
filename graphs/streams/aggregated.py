"""The stream of an aggregation's results, with what it says before the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from graphs.streams.bags import K, R, T
from graphs.streams.early import CORRECTIONS, EARLY, Said
from graphs.streams.refusals import NotThere, bad_step, check_function, refused
from graphs.streams.step import Origin
from graphs.streams.stream import Stream
from progress.errors import PointstampError

if TYPE_CHECKING:
    from graphs.streams.flow import Flow


class Aggregated(Stream[T, tuple[K, R]], Generic[T, K, R]):
    """The results of an aggregation, once for each key and time, when it is complete."""

    def __init__(self, flow: Flow[Any], origin: Origin, said: Said) -> None:
        super().__init__(flow, origin)
        self._said = said

    def early(self, test: Callable[[R], Any]) -> Stream[T, tuple[K, R]]:
        """(key, result) at once, when the test first holds for the key at a time; it is asked after each value.

        Which value that is depends on the order in which they come. `corrections` tells where the end is another one.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> spent = flow.input("payments").keyed().fold(0, lambda a, b: a + b, name="spent")
        >>> spent.early(lambda total: total > 100).output("alarms")
        >>> spent.corrections.output("withdrawn")
        >>> flow.run(sources={"payments": [(0, ("ann", 120)), (0, ("ann", -50)), (0, ("bob", 150))]})
        {'alarms': [(0, ('ann', 120)), (0, ('bob', 150))], 'withdrawn': [(0, ('ann', 120, 70))]}
        """
        path = f"{self._name}.early"
        check_function(path, test, "the test")
        if self._said.refused:
            raise bad_step(path, self._said.refused, "early of what is made of one time")
        if self._said.test is not None:
            raise bad_step(path, "it has a test already", "another step with a name of its own")
        self._said.test = test
        self._flow._changed()
        return self._another(Origin(self._origin.step, EARLY))

    @property
    def corrections(self) -> Stream[T, tuple[K, R, R]]:
        """(key, said, right) for what `early` said and the end does not confirm: its test does not hold any more.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> votes = flow.input("votes").key_on(lambda vote: vote["for"], lambda vote: vote["many"]).reduce(min)
        >>> votes.early(lambda fewest: fewest > 2).output("so it seems")
        >>> votes.corrections.output("no")
        >>> flow.run(sources={"votes": [(0, {"for": "x", "many": 3}), (0, {"for": "x", "many": 1})]})
        {'so it seems': [(0, ('x', 3))], 'no': [(0, ('x', 3, 1))]}
        """
        if self._said.test is None:
            raise self._silent()
        return self._another(Origin(self._origin.step, CORRECTIONS))

    def _silent(self) -> PointstampError:
        return refused(
            "PS814", f"{self._name}.corrections: it says nothing before the end", "early before it", NotThere
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Where `corrections` is refused, Python asks here once more."""
            if name == "corrections":
                raise self._silent()
            return super().__getattr__(name)
