"""Nodes of the user's own in a program of streams: `through`."""

from __future__ import annotations

from typing import Any

from graphs.streams.bags import Bags, T, V
from progress.runtime.own import Code, check_code


class StreamThrough(Bags[T, V]):
    """What a node of one's own makes of streams."""

    def through(
        self,
        node: Code,
        *others: Bags[Any, Any],
        name: str | None = None,
        summary: Any = "identity",
        requests: Any = "identity",
        notify: bool = True,
    ) -> Any:
        """What a node of one's own sends, on all edges that leave it (`out.edges`); it reads this stream and others.

        `summary`, `requests` and `notify` say what it does to times, as in a graph file.

        >>> from pointstamp import Batch, Flow
        >>> class Middle(Batch):
        ...     def on_batch(self, time, messages, out):
        ...         values = sorted(value for each in messages.values() for value in each)
        ...         for edge in out.edges:
        ...             out.send(edge, time, values[len(values) // 2])
        >>> flow = Flow()
        >>> flow.input("numbers").through(Middle).output("middle")
        >>> flow.run(sources={"numbers": [(0, 5), (0, 1), (0, 3)]})
        {'middle': [(0, 3)]}
        """
        path = self._path("through", name)
        check_code(path, node)
        return self._follow(path, *others, own=node, keeps=True, notify=notify, summary=summary, requests=requests)
