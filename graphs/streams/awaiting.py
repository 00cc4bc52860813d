"""What has to be waited for, for several values at once: `map_async`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.refusals import check_function, check_number
from graphs.streams.step import Wiring
from progress.runtime.node import Mapped
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Awaiting(Mapped):
    """Waits for the results of several values together, and sends them in the order of the values.

    It has no state, so a checkpoint may be taken while it waits. Cost: a task a value.
    """

    def __init__(self, function: Callable[[Any], Awaitable[Any]], at_once: int, wiring: Wiring) -> None:
        super().__init__(function)
        self.at_once = at_once
        self.wiring = wiring

    async def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Wait for all; what one raises ends the others."""
        left = iter(enumerate(values))
        found: list[Any] = [None] * len(values)

        async def work() -> None:
            for number, value in left:
                found[number] = await self.function(value)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.at_once, len(values))):
                group.create_task(work())
        self.hand_on(found, self.ways(out), out)


class StreamAwaiting(Bags[T, V]):
    """What has to be waited for."""

    def map_async(self, f: Callable[[V], Awaitable[W]], *, at_once: int = 100, name: str | None = None) -> Stream[T, W]:
        """What `f`, an `async def`, makes of each value; at most `at_once` are waited for at a time.

        In the engine `asyncio` the rest of the program goes on meanwhile.

        >>> from pointstamp import Flow
        >>> async def greeting(name):
        ...     return f"Hello {name}"
        >>> flow = Flow()
        >>> flow.input("names").map_async(greeting).output("greetings")
        >>> flow.run(engine="asyncio", sources={"names": [(0, "Ann"), (0, "Bob")]})
        {'greetings': [(0, 'Hello Ann'), (0, 'Hello Bob')]}
        """
        path = self._path("map_async", name)
        check_function(path, f)
        check_number(path, at_once, "at_once")
        return self._follow(path, code=lambda wiring: Awaiting(f, at_once, wiring))
