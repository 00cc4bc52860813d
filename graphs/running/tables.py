"""What `pointstamp run` says of runs that are kept and of sinks that write tables."""

from __future__ import annotations

from graphs.terminal import complain
from graphs.wording import printable
from progress.errors import brief
from progress.runtime.durable.underway import Underway
from progress.runtime.run.running import Running


def say_held(running: Running) -> None:
    """Which of the two a run that is kept does: a time is written when it is complete, or with a checkpoint."""
    for name, why in running.held.items():
        when = "when it is complete: all before it is replayed alike" if why is None else f"with a checkpoint: {why}"
        complain(printable(f"pointstamp: each time of {brief(name)} is written {when}"))


def say_one_at_a_time(running: Running) -> None:
    """Which nodes make fewer calls at once than they could, since the run is kept (`durable/underway.py`)."""
    for inbox in running.core.inboxes:
        node = inbox.behaviour
        if Underway(node).at_once < node.at_once and running.engine != "sim":
            what = f"{brief(inbox.exits.name)} makes one call at a time as long as calls change what it keeps"
            complain(printable(f"pointstamp: {what}; by_time may say which of them uses what"))


def say_already(running: Running) -> None:
    """At how many times there was something of another run, where the save mode lets it be."""
    for name, count in running.sinks.already().items():
        were = f"{count} time was" if count == 1 else f"{count} times were"
        complain(printable(f"pointstamp: {were} there already where {brief(name)} is written"))
