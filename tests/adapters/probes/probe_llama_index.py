"""What LlamaIndex Workflows do where others mix rounds: a join of a typed stream; one JSON document."""

import asyncio
import json
from typing import Any

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent


class Task(Event):
    round: int
    n: int


class Result(Event):
    round: int
    n: int


class Again(Event):
    round: int


class Rounds(Workflow):
    """Three rounds: one worker is silent in the first, the second has no work, and slow ones come last."""

    got: list[Any]

    @step
    async def begin(self, ev: StartEvent) -> Again:
        self.got = []
        return Again(round=1)

    @step
    async def fan(self, ev: Again) -> list[Task]:
        return [Task(round=ev.round, n=n) for n in range(0 if ev.round == 2 else 3)]

    @step
    async def work(self, ev: Task) -> Result | None:
        await asyncio.sleep(0.02 * (3 - ev.n))
        return None if ev.n == 1 and ev.round == 1 else Result(round=ev.round, n=ev.n)

    @step
    async def join(self, events: list[Result]) -> Again | StopEvent:
        self.got.append(sorted((ev.round, ev.n) for ev in events))
        return Again(round=len(self.got) + 1) if len(self.got) < 3 else StopEvent(result=self.got)


async def main() -> None:
    print(json.dumps(await Rounds(timeout=20).run()))


asyncio.run(main())
