"""Nodes of the user's own in a program of streams: `through`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from graphs.streams.bags import Bags, T, V
from graphs.streams.refusals import bad_step, check_name
from graphs.streams.step import Origin, Step
from progress.errors import brief
from progress.runtime.run.own import Code, check_code

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class StreamThrough(Bags[T, V]):
    """What a node of one's own makes of streams."""

    @overload
    def through(
        self,
        node: Code,
        *others: Bags[Any, Any],
        reads: tuple[str, ...] | None = None,
        sends: str | None = None,
        name: str | None = None,
        summary: Any = "identity",
        emits: dict[str, Any] | None = None,
        requests: Any = "identity",
        notify: bool = True,
    ) -> Stream[T, Any]: ...
    @overload
    def through(
        self,
        node: Code,
        *others: Bags[Any, Any],
        reads: tuple[str, ...] | None = None,
        sends: tuple[str, ...],
        name: str | None = None,
        summary: Any = "identity",
        emits: dict[str, Any] | None = None,
        requests: Any = "identity",
        notify: bool = True,
    ) -> tuple[Stream[T, Any], ...]: ...
    def through(
        self,
        node: Code,
        *others: Bags[Any, Any],
        reads: tuple[str, ...] | None = None,
        sends: str | tuple[str, ...] | None = None,
        name: str | None = None,
        summary: Any = "identity",
        emits: dict[str, Any] | None = None,
        requests: Any = "identity",
        notify: bool = True,
    ) -> Any:
        """What a node of one's own sends that reads this stream and others.

        `sends` names the edge that leaves it, or several for as many streams; without it the node sends on all of
        `out.edges`. `reads` names the edges that lead to it, one for each stream. `summary`, `emits`, `requests` and
        `notify` say what it does to times, as in a graph file.

        >>> from pointstamp import Batch, Flow
        >>> class Middle(Batch):
        ...     def on_batch(self, time, messages, out):
        ...         values = sorted(messages["numbers"])
        ...         out.send("middle", time, values[len(values) // 2])
        >>> flow = Flow()
        >>> flow.input("numbers").through(Middle, reads=("numbers",), sends="middle").output("middle")
        >>> flow.run(sources={"numbers": [(0, 5), (0, 1), (0, 3)]})
        {'middle': [(0, 3)]}
        """
        path = self._path("through", name)
        check_code(path, node)
        roles = tuple(reads or ())
        ports = () if sends is None else (sends,) if isinstance(sends, str) else sends
        given_reads: object = reads
        if reads is not None and (isinstance(given_reads, str) or len(roles) != len(others) + 1):
            raise bad_step(path, f"reads is {brief(reads)}", f"a tuple of {len(others) + 1} names, one for each stream")
        for each in (*roles, *ports):
            check_name(path, each)
        for edge in emits or {}:
            if edge not in ports:
                raise bad_step(path, f"it emits on {brief(edge)}", f"one of what it sends: {brief(ports)}")
        given = self._follow(
            path,
            *others,
            own=node,
            roles=roles,
            reads={role: role for role in roles},
            sends={port: port for port in ports},
            keeps=True,
            notify=notify,
            summary=summary,
            emits=emits,
            requests=requests,
        )
        step: Step = given._origin.step
        streams = tuple(self._another(Origin(step, port)) for port in ports)
        return given if sends is None else streams[0] if isinstance(sends, str) else streams
