"""What `pointstamp run` says of sinks that write tables: when a time leaves, and what was there already."""

from __future__ import annotations

from graphs.terminal import complain
from graphs.wording import printable
from progress.errors import brief
from progress.runtime.running import Running


def say_held(running: Running) -> None:
    """Which of the two a run that is kept does: a time is written when it is complete, or with a checkpoint."""
    for name, why in running.held.items():
        when = "when it is complete: all before it is replayed alike" if why is None else f"with a checkpoint: {why}"
        complain(printable(f"pointstamp: each time of {brief(name)} is written {when}"))


def say_already(running: Running) -> None:
    """At how many times there was something of another run, where the save mode lets it be."""
    for name, count in running.sinks.already().items():
        were = f"{count} time was" if count == 1 else f"{count} times were"
        complain(printable(f"pointstamp: {were} there already where {brief(name)} is written"))
