"""What a line of `pointstamp track` costs, beside its JSON and its step alone: `python -m benchmarks.track_lines`.

The session goes round the loop of `examples/loop.yaml` for ever: messages, requests, deliveries, an input that moves.
"""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphs import load
from graphs.sessions.replay import Replay
from graphs.sessions.track import TrackSession
from progress import Tracker

ROOT = Path(__file__).resolve().parent.parent
GRAPH = ROOT / "examples" / "loop.yaml"


def session(lines: int) -> Iterator[bytes]:
    """So many lines, and one before them."""
    yield b'{"messages": [["input", 0, 1]]}\n'
    for time_ in range(lines // 4):
        after = time_ + 1
        yield b'{"messages": [["input", %d, -1], ["out", %d, 1]], "requests": [["body", %d]]}\n' % (time_, time_, time_)
        yield b'{"messages": [["out", %d, -1], ["back", %d, 1]]}\n' % (time_, after)
        yield b'{"inputs": {"input": [%d]}, "messages": [["input", %d, 1]]}\n' % (after, after)
        yield b'{"messages": [["back", %d, -1]], "delivered": [["body", %d]]}\n' % (after, time_)


def least(work: Callable[[], object], lines: int, repeat: int = 5) -> float:
    """Microseconds a line, the least of some runs."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / lines * 1e6


def within_a_process(count: int) -> tuple[float, float, float]:
    """JSON alone, steps alone, and whole lines."""
    graph = load(GRAPH)
    lines = list(session(count))
    tracked = TrackSession(graph)
    answers = [json.loads(tracked.answer_line(line)) for line in lines]
    assert sum(len(answer["ready"]) for answer in answers) == count // 4
    steps = [_as_python_has_it(json.loads(line)) for line in lines]

    def of_json() -> None:
        for line, answer in zip(lines, answers, strict=True):
            json.loads(line)
            json.dumps(answer)

    def of_steps() -> None:
        tracker = Tracker(graph)
        for step in steps:
            tracker.apply(**step)
            tracker.get_ready()

    def of_lines() -> None:
        tracked = TrackSession(graph)
        for line in lines:
            tracked.answer_line(line)

    return least(of_json, count), least(of_steps, count), least(of_lines, count)


def _as_python_has_it(step: dict[str, Any]) -> dict[str, Any]:
    """A step as a program in Python tells it, with tuples."""
    return {key: value if key == "inputs" else list(map(tuple, value)) for key, value in step.items()}


def of_the_command(count: int, *options: str) -> float:
    """`pointstamp track` from a file to a file."""
    command = [sys.executable, "-m", "graphs", "track", str(GRAPH), *options]
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as answers:
        lines.writelines(session(count))

        def run() -> None:
            lines.seek(0)
            subprocess.run(command, cwd=ROOT, stdin=lines, stdout=answers, check=True)

        return least(run, count, 3)


def of_replay(count: int) -> float:
    """A trace without answers, played to its end."""
    graph = load(GRAPH)
    trace = b"".join(session(count))

    def run() -> Any:
        replay = Replay(graph)
        replay.play(io.BytesIO(trace))
        assert (replay.line, replay.ready) == (count + 1, count // 4)

    return least(run, count, 3)


def main(count: int = 40_000) -> None:
    """The table, in microseconds a line."""
    of_json, of_steps, of_lines = within_a_process(count)
    rows = (
        ("json.loads of the line and json.dumps of the answer", of_json),
        ("Tracker.apply and get_ready", of_steps),
        ("the line of track", of_lines),
        ("what track adds to the step", of_lines - of_steps),
        ("pointstamp track, from a file to a file", of_the_command(5 * count)),
        ("the same, with --record", of_the_command(5 * count, "--record", "/dev/null")),
        ("replay", of_replay(5 * count)),
    )
    for name, microseconds in rows:
        print(f"{name:52} {microseconds:6.1f}")


if __name__ == "__main__":
    main()
