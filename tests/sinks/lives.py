"""What the tests of ready sinks share: one run in many lives, each of them killed, and what has to be there in the end.

What that is says a run that is not kept, whose sink is a list.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graphs import from_edges
from progress.errors import PointstampError
from progress.runtime import Bundle, Dataflow, Node, State
from progress.runtime.durable.stored import read
from tests.runtime.tools import killed

EPOCHS = 8
GRAPH = from_edges([(None, "chain"), ("chain", None)])
OUT = "chain->out"
ITEMS = [(epoch, 10 * epoch + number) for epoch in range(EPOCHS) for number in range(4)]
DELIVERIES = ("deterministic", "barrier")
INSTANTS = ("before", "within", "after")
SOON = 0.25  # seconds in which a life ends that is killed at random
SOME = 12  # messages of which something is stored, in a life that does not come to its end
PATIENCE = 30.0  # seconds for something to be stored, or kept, on a machine that has much to do
SLOW = 0.004  # seconds between two messages, so that such a life has not come to its end by then
Values = list[tuple[Any, Any]]


class Chain(Node):
    """What it sends depends on all that came before, in its order."""

    def __init__(self) -> None:
        self.link = 17
        self.sums: State[Any, int] = State()

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        self.link = (self.link * 31 + value) % 1_000_003
        self.sums[time] = self.sums.get(time, 0) + value
        out.send(OUT, time, {"kind": "link", "number": self.link})
        out.request(time)

    def on_notify(self, time: Any, out: Any) -> None:
        out.send(OUT, time, {"kind": "sum", "number": self.sums.pop(time)})


def right() -> Values:
    """What leaves, once."""
    return list(Dataflow(GRAPH, {"chain": Chain}).run(sources={"in->chain": ITEMS})[OUT])


def check_once(found: Values) -> None:
    """Each value is there once, and what came of messages in its order."""
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, right()))
    assert _links(found) == _links(right())


def _links(values: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [value for _, value in values if value["kind"] == "link"]


class Stopping:
    """A sink in one life, which is killed at one of its deliveries.

    `halfway` has a sink call a function where it has begun to store a bundle and not come to the end.
    """

    def __init__(
        self, sink: Any, halfway: Callable[[Any, Callable[[], None]], None], number: int = 0, when: str = "never"
    ) -> None:
        self._sink = sink
        self._halfway = halfway
        self._stop = number, when
        self._delivered = 0

    def sink_for(self, name: str) -> Any:
        """The sink of the run."""
        made = self._sink.sink_for(name)
        deliver = made.deliver

        def delivering(bundle: Bundle) -> None:
            self._delivered += bool(bundle.values)
            self._may_stop("before")
            deliver(bundle)
            self._may_stop("after")

        made.deliver = delivering
        self._halfway(made, lambda: self._may_stop("within"))
        return made

    def _may_stop(self, when: str) -> None:
        if (self._delivered, when) == self._stop:
            os.kill(os.getpid(), signal.SIGKILL)


def run(folder: Path, sink: Any, *, delivery: str | None, items: Any = ITEMS, node: Any = Chain) -> None:
    """One life: a run that is kept in a folder, and goes on."""
    Dataflow(GRAPH, {"chain": node}).run(
        engine="threads",
        sources={"in->chain": items},
        sinks={OUT: sink},
        state=folder / "state",
        every=0,
        delivery=delivery,
        timeout=60,
    )


def killed_at_deliveries(
    folder: Path, sink: Any, halfway: Callable[[Any, Callable[[], None]], None], delivery: str
) -> None:
    """Life after life, each killed before, in the midst of, or after its first or second delivery; then one to the end.

    A life may come to its end before its second delivery, if what leaves leaves in one.
    """
    deaths = 0
    for number in (1, 2):
        for when in INSTANTS:
            stopping = Stopping(sink, halfway, number, when)
            deaths += killed(partial(run, folder, stopping, delivery=delivery))
    assert deaths > 1
    assert not killed(partial(run, folder, sink, delivery=delivery))


def killed_at_random(folder: Path, sink: Any, delivery: str, seed: int, most: int = 12, soon: float = SOON) -> None:
    """Life after life, each killed some time after it has begun; the last one comes to its end."""
    chance = random.Random(seed)

    def slowly() -> Iterator[Any]:
        for item in ITEMS:
            time.sleep(SLOW)
            yield item

    for _ in range(most):
        after = chance.uniform(0, soon)

        def live(after: float = after) -> None:
            threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
            run(folder, sink, delivery=delivery, items=slowly)
            os._exit(0)  # before the timer

        if not killed(live):
            break
    assert not killed(partial(run, folder, sink, delivery=delivery))


def half(folder: Path, sink: Any, delivery: str) -> None:
    """A life that has stored something, as its checkpoint says, and not all, when its source fails."""
    stored = threading.Event()

    def fails() -> Iterator[Any]:
        """Two checkpoints after something was stored, one at least was begun after it."""
        yield from ITEMS[:SOME]
        assert stored.wait(PATIENCE), "nothing was stored"
        for item in ITEMS[SOME : SOME + 2]:
            before, until = _checkpoints(folder), time.monotonic() + PATIENCE
            yield item
            while _checkpoints(folder) == before:
                assert time.monotonic() < until, "no checkpoint was taken"
        raise ValueError("not now")

    with pytest.raises(PointstampError, match="not now"):
        run(folder, _Telling(sink, stored), delivery=delivery, items=fails)


class _Telling:
    """A sink that says when it has stored something."""

    def __init__(self, sink: Any, stored: threading.Event) -> None:
        self._sink = sink
        self._stored = stored

    def sink_for(self, name: str) -> Any:
        """The sink of the run."""
        made = self._sink.sink_for(name)
        deliver = made.deliver

        def delivering(bundle: Bundle) -> None:
            deliver(bundle)
            if bundle.values:
                self._stored.set()

        made.deliver = delivering
        return made


def _checkpoints(folder: Path) -> int:
    """How many have been taken."""
    commit = read(folder / "state", is_used=True)
    return 0 if commit is None else commit.number


def refused(folder: Path, sink: Any, *, delivery: str | None = None, node: Any = Chain) -> str:
    """What a run says that cannot go on with its sink: one line."""
    with pytest.raises(PointstampError) as caught:
        Dataflow(GRAPH, {"chain": node}).run(
            engine="threads",
            sources={"in->chain": ITEMS},
            sinks={OUT: sink},
            state=folder / "state",
            delivery=delivery,
            timeout=60,
        )
    said = str(caught.value)
    assert "\n" not in said
    assert repr(OUT) in said
    return said
