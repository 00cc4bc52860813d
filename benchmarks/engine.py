"""The engine beside its peers, one table: `python -m benchmarks.engine [WORD]`, only rows whose name holds WORD.

Every trace (`traces.py`) is replayed here and on timely's tracker in the same run, one after the other. Before a time
is printed, the digests of all frontier changes, and of all requests that became ready, must be equal. Times are
microseconds for a step, the least of some replays; `this/peer` is their ratio, `grows` the factor over the row before
of the same kind. A trace has two rows: the engine alone, given vertices and changes as timely is; and below it the
`Tracker`, given names, which judges every step and calls back whoever subscribed. Then the scheduler loop, beside
timely and beside Beam where that is possible, and Bytewax's epochs.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from benchmarks import scheduler_loop, traces
from benchmarks.engine_alone import replay_on_engine
from benchmarks.peers import MissingPeer, in_peers_environment, timely
from benchmarks.replay import Replayed, replay
from benchmarks.traces import Trace

LARGE = 100_000


class Row(NamedTuple):
    """A trace yet to be made."""

    kind: str
    make: Callable[[], Trace]


def both(times: int) -> str:
    """The name of the times."""
    return "int" if times == 1 else "pairs"


def rows() -> Iterator[Row]:
    """All traces with a figure to show."""
    for times in (1, 2):
        for count in (1_000, 10_000, LARGE):
            yield Row(f"chain {both(times)}", partial(traces.chain, count, times))
    for times in (1, 2):
        yield Row(f"chain, all, {both(times)}", partial(traces.chain, 1_000, times, watch_all=True))
        for everybody in (False, True):
            yield Row(
                f"walk{', all' * everybody}, {both(times)}",
                partial(traces.walk, 1_000, times, everybody),
            )
    for times in (1, 2):
        for count in (100, 1_000, 10_000):
            yield Row(f"outstanding {both(times)}", partial(traces.outstanding, count, times))
    for count in (10, 100, 1_000):
        yield Row("antichain", partial(traces.antichain, count))
    for times in (1, 2):
        for count in (100, 1_000, 10_000, LARGE):
            yield Row(f"pending {both(times)}", partial(traces.pending, count, times))
    for everybody in (False, True):
        yield Row(f"loop{', all' * everybody}", partial(traces.loop, 1_000, watch_all=everybody))
    for times in (1, 2):
        yield Row(f"dense {both(times)}", partial(traces.dense, times))
        yield Row(f"random {both(times)}", partial(traces.random_walk, 1_000, 3_000, times))
        yield Row(f"random, small, {both(times)}", partial(traces.random_walk, 100, 3_000, times))


def line(name: str, mine: float, peer: float | None, note: str = "") -> None:
    """A line of the table, in microseconds."""
    theirs = f"{peer:12.3f} {mine / peer:10.4f}" if peer else " " * 23
    print(f"{name:58} {mine:12.3f} {theirs}  {note}", flush=True)


def same(name: str, one: Replayed, other: Replayed) -> None:
    """Both must have shown the same before any time is printed."""
    if (one.seen, one.digest) != (other.seen, other.digest):
        sys.exit(f"{name}: the answers differ: {one.seen:,} changes {one.digest}, peer {other.seen:,} {other.digest}")


def table(wanted: str = "") -> None:
    """The traces beside timely; under the largest chain, building it."""
    before: dict[str, float] = {}
    for kind, make in rows():
        if wanted not in kind:
            continue
        trace = make()
        peer = timely(trace)
        theirs = peer.seconds / trace.measured * 1e6
        chosen = "eager" if trace.watched is None else "auto"  # whoever watches everything is told to say so
        name = f"{trace.name}, {both(trace.times)}"
        if not trace.ready:
            engine = replay_on_engine(trace, engine=chosen)
            same(trace.name, engine, peer)
            step = engine.seconds / trace.measured * 1e6
            line(name, step, theirs, growth(before, kind, step))
            name = "  judged, and told by callbacks (Tracker)"
        mine = replay(trace, engine=chosen)
        same(trace.name, mine, peer)
        step = mine.seconds / trace.measured * 1e6
        line(name, step, theirs, growth(before, f"{kind}, judged", step))
        if kind.startswith("walk"):
            plain = replay_on_engine(trace, engine=chosen, kernel=False)
            same(trace.name, plain, peer)
            line("  without the kernel", plain.seconds / trace.measured * 1e6, theirs)
        if len(trace.graph.nodes) == LARGE:
            line("  building it, in all", mine.build_seconds * 1e6, peer.build_seconds * 1e6)


def growth(before: dict[str, float], kind: str, step: float) -> str:
    """How much more a step costs than in the row before of this kind."""
    earlier, before[kind] = before.get(kind), step
    return f"grows {step / earlier:.1f}" if earlier else ""


def loops(steps: int = 4_000) -> None:
    """The scheduler loop beside timely, which tracks every frontier meanwhile, and Beam; bytes for a pointstamp."""
    for times in (2, 1):
        for nodes in (100, 1_000):
            for most in (1_000, 20_000):
                trace = scheduler_loop.record(nodes, most, steps, times)
                mine = replay(trace)
                watched = dataclasses.replace(trace, watched=None)
                peer = timely(watched)
                same(trace.name, replay(watched, repeat=0), peer)
                held = scheduler_loop.bytes_held(trace)
                note = f"{held.traced:.0f} bytes a pointstamp ({held.resident:.0f} resident)"
                step = mine.seconds / steps * 1e6
                line(f"{trace.name}, {both(times)}", step, peer.seconds / steps * 1e6, note)
                if times == 1:
                    beam(trace, step)


def beam(trace: Trace, step: float) -> None:
    """The same session in Beam's manager."""
    try:
        theirs = scheduler_loop.beam(trace, 3.0)
    except MissingPeer as missing:
        print(missing)
        return
    if not theirs["same"]:
        sys.exit(f"{trace.name}: Beam found other requests ready")
    updating, looking = (theirs[what] / theirs["steps"] * 1e6 for what in ("update_seconds", "timer_seconds"))
    line(
        "  beside Beam's manager",
        step,
        updating + looking,
        f"{updating:.0f} updating, {looking:.0f} looking for timers",
    )


def epochs(count: int = 100, items: int = 100) -> None:
    """Items with an epoch each through a chain, beside Bytewax, which moves the items too."""
    trace = traces.pipeline(count, items)
    mine = replay(trace)
    same(trace.name, mine, timely(trace))
    question = {"job": "steps", "nodes": count, "few": 1, "items": items, "repeat": 3}
    theirs = in_peers_environment("bytewax_peer.py", question)["seconds"]
    moves = count * items
    line(f"{trace.name}", mine.seconds / moves * 1e6, theirs / moves * 1e6, "peer: Bytewax, running; no digest")


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'microseconds a step':58} {'this':>12} {'peer':>12} {'this/peer':>10}")
    for part in (lambda: table(wanted), *(() if wanted else (loops, epochs))):
        try:
            part()
        except MissingPeer as missing:
            print(missing)


if __name__ == "__main__":
    main()
