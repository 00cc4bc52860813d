"""What has to be waited for, for several values at once: `map_async`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from graphs.streams.bags import Bags, T, V, W
from graphs.streams.refusals import check_function, check_number
from graphs.streams.step import Wiring
from progress.errors import brief
from progress.runtime.node import Mapped
from progress.runtime.out import Out

if TYPE_CHECKING:
    from graphs.streams.stream import Stream


class Awaiting(Mapped):
    """Waits for the results of several values together, and sends them in the order of the values.

    It has no state, so a checkpoint may be taken while it waits. Cost: a task a value; where one raises and failures
    become dead letters, the values of its call are awaited again, one by one, to find which fail by themselves.
    """

    fails_singly = True

    def __init__(self, function: Callable[[Any], Awaitable[Any]], at_once: int, wiring: Wiring) -> None:
        super().__init__(function)
        self.at_once = at_once
        self.wiring = wiring
        self._places: tuple[Any, asyncio.Semaphore] | None = None  # of an event loop, for all calls in it

    async def on_messages(self, edge: str, time: Any, values: list[Any], out: Out) -> None:
        """Wait for all; what one raises is raised, and ends the others."""
        places = self._places_here()

        async def result(value: Any) -> Any:
            async with places:
                awaited = self.function(value)
                if not isawaitable(awaited):
                    raise TypeError(
                        f"its function gave {brief(awaited)}, which cannot be awaited (map, or an async def)"
                    )
                return await awaited

        tasks = [asyncio.ensure_future(result(value)) for value in values]
        try:
            found = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        self.hand_on(found, self.ways(out), out)

    def _places_here(self) -> asyncio.Semaphore:
        """How many may be waited for, by all calls that this event loop makes."""
        loop, known = asyncio.get_running_loop(), self._places
        if known is None or known[0] is not loop:
            known = self._places = (loop, asyncio.Semaphore(self.at_once))
        return known[1]


class StreamAwaiting(Bags[T, V]):
    """What has to be waited for."""

    def map_async(self, f: Callable[[V], Awaitable[W]], *, at_once: int = 100, name: str | None = None) -> Stream[T, W]:
        """What `f`, an `async def`, makes of each value; at most `at_once` are waited for at a time.

        In the engine `asyncio` the rest of the program goes on meanwhile, other times of this step as well. Where one
        raises, the messages of its call have failed, and are called again together where the step is tried again. Where
        failures become dead letters, each of them is called again by itself, and only those are lost that fail then.

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
