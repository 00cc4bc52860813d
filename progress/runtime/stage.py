"""A step of work on whole times: the node for DataFrames (docs/spark-pipelines.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from progress.runtime.awaiting import Following
from progress.runtime.node import Batch
from progress.runtime.tables import union

if TYPE_CHECKING:
    from progress.runtime.out import Out

Tables = dict[str, Any]  # by edge
SAID = ("function", "at_once")  # by the program, each time it runs


class Stage(Batch):
    """Gets what came at a time when it is complete, the tables of an edge as one, and works on many times at once.

    Its values may be DataFrames of Spark or of pandas, or anything else, of which it gets lists. What it makes of
    them says a function, or a subclass by `on_tables`.

    The law of `Node.at_once` is kept by what is here: what waits for a time is touched by calls for that time alone.
    A subclass with state of its own keeps that by times, too; or by what its calls use one after the other, as the
    rounds of one epoch do, since each round begins with what the one before has sent. Where all calls go on from one
    state, `at_once` is 1: then times that are ordered come in their order.

    Parameters
    ----------
    function : of a time and of what came, by edge; what it answers is sent on every edge that leaves the node, at the
        earliest times that the summaries give; a mapping with the names of edges is sent on those, None is not sent
    at_once : how many times may be worked on at once

    Examples
    --------
    >>> from pointstamp import Dataflow, Stage, from_edges
    >>> graph = from_edges([(None, "sum"), ("sum", None)])
    >>> flow = Dataflow(graph, {"sum": Stage(lambda time, tables: sum(tables["in->sum"]))})
    >>> flow.run(sources={"in->sum": [(0, 3), (0, 4)]})
    {'sum->out': [(0, 7)]}
    """

    at_once = 8

    def __init__(self, function: Callable[[Any, Tables], Any] | None = None, at_once: int | None = None) -> None:
        super().__init__()
        self.function = function
        if at_once is not None:
            self.at_once = at_once

    def on_batch(self, time: Any, messages: dict[str, list[Any]], out: Out) -> Any:
        """The values of each edge as one table; lists where they are none."""
        return self.on_tables(time, {edge: union(values) for edge, values in messages.items()}, out)

    def on_tables(self, time: Any, tables: Tables, out: Out) -> Any:
        """All that came at `time`, by edge; an edge on which nothing came is not there."""
        if self.function is None:
            raise NotImplementedError(f"{type(self).__name__} has no function and no on_tables")
        result = self.function(time, tables)
        if hasattr(result, "__await__"):
            return Following([result], lambda results: self._send(results[0], out))
        self._send(result, out)
        return None

    def _send(self, result: Any, out: Out) -> None:
        by_edge = result if isinstance(result, dict) else dict.fromkeys(out.edges, result)
        for edge, value in by_edge.items():
            if value is not None:
                for after in out.earliest(edge):
                    out.send(edge, after, value)

    def snapshot(self) -> Any:
        """All attributes but what the program says anew."""
        return {name: value for name, value in super().snapshot().items() if name not in SAID}

    def restore(self, state: Any) -> None:
        """The inverse of `snapshot`."""
        super().restore({**super().snapshot(), **state})
