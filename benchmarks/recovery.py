"""Exploring the implementation model of `progress.recovery`: seconds of one core, and bytes a configuration.

Three running sums, one after the other, with failures: every configuration, and the three theorems on all of them. The
peer is `tests.recovery.plain_recovery`, the same rules as sets of tuples, which visits the configurations and judges
nothing. Each row is a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.peak_memory import most_resident


def running_sum(total: int, number: int) -> tuple[int, list[int]]:
    """The next total, and it alone."""
    return total + number, [total + number]


def explored(epochs: int) -> tuple[int, float, int]:
    """How many configurations there are, the seconds, and the bytes that one takes."""
    from progress.recovery.model import Task, explore

    tasks = [Task(f"sum{n}", running_sum, [f"stream{n}"], f"stream{n + 1}", 0) for n in range(3)]
    before, started = most_resident(), time.process_time()
    found = explore(tasks, {"stream0": [[1, 2, 3]] * epochs}).check()
    seconds = time.process_time() - started
    return found.configurations, seconds, (most_resident() - before) // found.configurations


def enumerated(epochs: int) -> tuple[int, float, int]:
    """The same by the peer."""
    from tests.recovery.plain_recovery import PlainSystem, PlainTask

    tasks = [PlainTask(f"sum{n}", running_sum, (f"stream{n}",), f"stream{n + 1}", 0) for n in range(3)]
    before, started = most_resident(), time.process_time()
    found = PlainSystem(tasks, {"stream0": [[1, 2, 3]] * epochs}).reachable(failures=True)
    seconds = time.process_time() - started
    assert found is not None
    return len(found), seconds, (most_resident() - before) // len(found)


def alone(name: str, epochs: int) -> tuple[int, float, int]:
    """A row in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.recovery", name, str(epochs)]
    count, seconds, size = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return count, seconds, size


def main() -> None:
    """A table: configurations, seconds, bytes a configuration, and the peer's where it comes to an end soon."""
    print(f"{'recovery, explored':30} {'seconds':>9} {'peer':>9} {'ratio':>7} {'bytes each':>11} {'peer':>9}")
    for epochs in (2, 4, 11):
        count, seconds, size = alone("explored", epochs)
        line = f"{f'{count:,} configurations':30} {seconds:9.2f}"
        if epochs < 11:
            peers, slower, larger = alone("enumerated", epochs)
            if peers != count:
                sys.exit(f"the counts differ: {count} and {peers}")
            print(f"{line} {slower:9.2f} {seconds / slower:7.2f} {size:11,} {larger:9,}", flush=True)
        else:
            print(f"{line} {'':9} {'':7} {size:11,}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"explored": explored, "enumerated": enumerated}[sys.argv[1]](int(sys.argv[2]))))
    else:
        main()
