"""What a film of a million lines costs: opening, developing, going to a line: `python -m benchmarks.film`.

The session is that of `benchmarks.track_lines`; beside it stands `Replay`, which plays all lines and remembers nothing.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.track_lines import GRAPH, session
from graphs import load
from graphs.sessions.film import Film
from graphs.sessions.replay import Replay

LINES = 1_000_000
SEEKS = 200


def took(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main(lines: int = LINES) -> None:
    """Print what each part took."""
    graph = load(GRAPH)
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        with path.open("wb") as file:
            file.writelines(session(lines))
        film: list[Film] = []
        print(f"opened        {1e3 * took(lambda: film.append(Film(graph, str(path)))):8.1f} ms")
        (shown,) = film

        def develop() -> None:
            while shown.develop(2_000):
                pass

        print(f"all developed {took(develop):8.1f} s, {len(shown.marks)} marks")
        with path.open("rb") as trace:
            print(f"replay        {took(lambda: Replay(graph).play(trace)):8.1f} s")
        before = shown.replayed
        seeks = sorted(took(lambda: shown.seek(rng.randrange(lines))) for _ in range(SEEKS))
        print(f"to a line     {1e3 * sum(seeks) / SEEKS:8.1f} ms on average, {1e3 * seeks[-1]:.1f} ms at most")
        print(f"lines played  {(shown.replayed - before) / SEEKS:8.0f} on average")
        shown.close()


if __name__ == "__main__":
    main()
