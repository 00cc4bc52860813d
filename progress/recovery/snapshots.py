"""What survives a failure (FT 4.2.1): gce, out and lcs, Definitions 4.2, 4.3 and 4.5."""

from __future__ import annotations

from progress.recovery.configuration import Configuration
from progress.recovery.streaming import Message, Stream
from progress.recovery.tasks import Normal, TaskState


def gce(c: Configuration) -> int:
    """The greatest common epoch: the last one of which every task has a snapshot (Definition 4.2)."""
    return min(len(state.archive) - 1 for state in c.states)


def out(c: Configuration) -> frozenset[Message]:
    """The output messages: all that is on any stream of epochs up to the greatest common one (Definition 4.3).

    Inputs and borders are among them, as in the paper. Cost: O(messages), once for each gce and messages.
    """
    return c.program.once.result(_up_to, gce(c), c.messages)


def lcs(c: Configuration) -> Configuration:
    """The latest common snapshot, to which a recovery leads (Definition 4.5).

    Every task goes back to its snapshot of the greatest common epoch and forgets later ones; what was put on streams in
    later epochs is gone, but for what came from outside; and every task reads and writes on behind what is left.
    """
    greatest, kept = gce(c), out(c)
    states = tuple(
        TaskState(state.archive[: greatest + 1], Normal(greatest + 1, state.archive[greatest])) for state in c.states
    )
    messages = tuple(first | (stream & kept) for first, stream in zip(c.program.messages, c.messages, strict=True))
    length = {name: len(stream & kept) for name, stream in zip(c.program.streams, c.messages, strict=True)}
    numbers = tuple(tuple(length[stream] for stream in used) for used in c.program.used)
    return Configuration(c.program, states, numbers, messages)


def _up_to(epoch: int, streams: tuple[Stream, ...]) -> frozenset[Message]:
    return frozenset(message for stream in streams for message in stream if message.epoch <= epoch)
