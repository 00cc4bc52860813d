"""What a live view costs the run that it shows: 500 nodes, 20 readers; `python -m benchmarks.live_view`.

The same run without a view, and with one that twenty readers follow from another process. Times are those of the
processor for all threads of the run's process, so they hold what serving costs, and little of what else the machine
does. First as many steps as there can be, then a thousand a second, for which the figure is the share of a processor
that readers take. Both runs must have taken the same steps before anything is printed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from graphs import Graph
from graphs.live import LiveView, Watch
from progress.runtime import Complete, Dataflow, Node, Out

NODES = 500
READERS = 20
EPOCHS = 400  # of a run at full speed, so that it lasts for seconds
PACED = 1_000  # steps a second
SECONDS = 10.0

FOLLOW = """\
import select, socket, sys
readers = []
for _ in range(int(sys.argv[2])):
    reader = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    reader.sendall(f"GET /events HTTP/1.1\\r\\nHost: 127.0.0.1:{sys.argv[1]}\\r\\n\\r\\n".encode())
    assert b" 200 " in reader.recv(1 << 16)
    readers.append(reader)
print("reading", flush=True)
read = 0
while readers:
    for reader in select.select(readers, [], [])[0]:
        data = reader.recv(1 << 20)
        read += len(data)
        if not data:
            readers.remove(reader)
print(read)
"""


class Passes(Node):
    """Sends what comes to the next node, and every tenth waits for the end of the epoch."""

    def __init__(self, number: int) -> None:
        self.number = number

    def on_message(self, edge: str, time: Any, value: Any, out: Out) -> None:
        if self.number % 10 == 0:
            out.request(time)
        out.send(f"edge {self.number}" if self.number + 1 < NODES else "out", time, value)
        if self.number % 100 == 0:
            out.send(f"skip {self.number}", time, value)

    def on_notify(self, time: Any, out: Out) -> None:
        """The epoch is over."""


def graph() -> Graph:
    """A line of nodes with short cuts: 1,000 edges."""
    found = Graph()
    for number in range(NODES):
        found.node(f"node {number}")
    found.edge(None, "node 0", "in").edge(f"node {NODES - 1}", None, "out")
    for number in range(NODES - 1):
        found.edge(f"node {number}", f"node {number + 1}", f"edge {number}")
        if number + 2 < NODES:
            found.edge(f"node {number}", f"node {number + 2}", f"skip {number}")
    return found


@contextmanager
def followed(view: LiveView) -> Iterator[None]:
    """Twenty readers, from another process."""
    port = view.url.rsplit(":", 1)[1].rstrip("/")
    command = [sys.executable, "-c", FOLLOW, port, str(READERS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        yield
        view.close()
        assert int(process.stdout.readline()) > 0


def run(source: Any, *, is_followed: bool) -> tuple[float, float, int]:
    """Seconds of the processor, seconds of the clock, and steps of a run."""
    found = graph()
    watch = Watch("bench", found.network(), "threads")
    dataflow = Dataflow(found, {f"node {number}": Passes(number) for number in range(NODES)})

    def timed() -> tuple[float, float, int]:
        begin, clock = time.process_time(), time.perf_counter()
        dataflow.run(sources={"in": source}, observer=watch, engine="sim")
        core = watch._core
        assert core is not None
        return time.process_time() - begin, time.perf_counter() - clock, core.steps

    if not is_followed:
        return timed()
    view = LiveView(watch, 0)
    with followed(view):
        return timed()


def full_speed() -> None:
    """How much longer the same steps take."""
    source = [item for epoch in range(EPOCHS) for item in ((epoch, 1), Complete([epoch + 1]))]
    ratios, alone = [], []
    for _ in range(5):
        seconds, _, steps = run(source, is_followed=False)
        more, _, other = run(source, is_followed=True)
        if steps != other:
            sys.exit(f"the steps differ: {steps} and {other}")
        ratios.append(more / seconds)
        alone.append(seconds)
    what = f"full speed: {steps:,} steps, {NODES} nodes"
    print(f"{what:46} {min(alone):8.3f} s alone; {READERS} readers: {median(ratios):.3f} times as long", flush=True)


def paced() -> None:
    """What readers take of a processor at a thousand steps a second."""

    def source() -> Iterator[Any]:
        begin = time.perf_counter()
        epoch = 0
        while time.perf_counter() - begin < SECONDS:
            yield epoch, 1
            epoch += 1
            yield Complete([epoch])
            wait = begin + epoch * (NODES + NODES // 10) / PACED - time.perf_counter()
            if wait > 0:
                time.sleep(wait)

    alone, clock, steps = run(source, is_followed=False)
    more, clock_then, steps_then = run(source, is_followed=True)
    share = more / clock_then - alone / clock
    what = f"paced: {steps / clock:,.0f} and {steps_then / clock_then:,.0f} steps a second"
    print(f"{what:46} {alone / clock:8.1%} of a processor alone; {READERS} readers: {share:.1%} more", flush=True)


if __name__ == "__main__":
    full_speed()
    paced()
