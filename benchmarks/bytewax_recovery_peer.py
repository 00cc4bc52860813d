"""Bytewax going on from its recovery store. Runs in the peers' environment: FOLDER KEYS BYTES, "fill" or "go on".

The first run keeps a text of so many bytes for each key, one message each, and is killed when a snapshot has all of
them; the second says how many seconds it took from its start until the state of every key was there again: Bytewax
reads its store when a run begins, and hands each key its state before the first message.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.recovery import RecoveryConfig
from bytewax.testing import TestingSink, cluster_main

BATCH = 1_000
folder, keys, size, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


class Numbers(StatefulSourcePartition[int, int]):
    """Every key once; when the state of all is kept, one message more."""

    def __init__(self, place: int | None) -> None:
        self.place = place or 0
        self._waits_until: float | None = None

    def next_batch(self) -> list[int]:
        """The next thousand; behind the last one the process is killed, a second later."""
        if how == "go on":
            print(time.monotonic() - begun, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if self.place >= keys:
            self._waits_until = self._waits_until or time.monotonic() + 2.0
            if time.monotonic() > self._waits_until:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.01)
            return []
        first, self.place = self.place, min(self.place + BATCH, keys)
        return list(range(first, self.place))

    def snapshot(self) -> int:
        """How many were read."""
        return self.place


class Source(FixedPartitionedSource[int, int]):
    """One partition."""

    def list_parts(self) -> list[str]:
        """Its name."""
        return ["all"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> Numbers:
        """It, from where it was."""
        return Numbers(resume_state)


def keep(state: str | None, number: int) -> tuple[str, int]:
    """The text of a key."""
    return f"{number:0{size}}", number


def main() -> None:
    """One of the two runs."""
    if how == "fill":
        subprocess.run([sys.executable, "-m", "bytewax.recovery", folder, "1"], check=True)
    flow = Dataflow("recovery")
    found: list[Any] = []
    numbers = op.input("in", flow, Source())
    keyed = op.key_on("key", numbers, str)
    op.output("out", op.stateful_map("keep", keyed, keep), TestingSink(found))
    cluster_main(flow, [], 0, epoch_interval=timedelta(seconds=1), recovery_config=RecoveryConfig(folder))


if __name__ == "__main__":
    begun = time.monotonic()
    main()
