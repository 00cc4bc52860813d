"""What survives a failure (FT 4.2.1): gce, out and lcs, Definitions 4.2, 4.3 and 4.5."""

from __future__ import annotations

from progress.recovery.configuration import Configuration
from progress.recovery.streaming import Message, Stream
from progress.recovery.tasks import Normal, TaskState


def gce(c: Configuration) -> int:
    """The greatest common epoch: the last one of which every task has a snapshot (Definition 4.2).

    Returns
    -------
    The number of the epoch; 0 before the first is closed.

    Examples
    --------
    >>> from progress.recovery.configuration import Program
    >>> from progress.recovery.snapshots import gce
    >>> from progress.recovery.tasks import Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> start = Program(tasks, {"numbers": [[1, 3], [5]]}).initial()
    >>> gce(start)
    0
    """
    return min(len(state.archive) - 1 for state in c.states)


def out(c: Configuration) -> frozenset[Message]:
    """The output messages: all that is on any stream of epochs up to the greatest common one (Definition 4.3).

    Inputs and borders are among them, as in the paper. Cost: O(messages), once for each gce and messages.

    Returns
    -------
    The messages, each with its stream and its number.

    Examples
    --------
    >>> from progress.recovery.configuration import Program
    >>> from progress.recovery.snapshots import out
    >>> from progress.recovery.tasks import Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> start = Program(tasks, {"numbers": [[1, 3], [5]]}).initial()
    >>> len(out(start))
    0
    """
    return c.program.once.result(_up_to, gce(c), c.messages)


def lcs(c: Configuration) -> Configuration:
    """The latest common snapshot, to which a recovery leads (Definition 4.5).

    Every task goes back to its snapshot of the greatest common epoch and forgets later ones; what was put on streams in
    later epochs is gone, but for what came from outside; and every task reads and writes on behind what is left.

    Returns
    -------
    The configuration; this one where nothing can be undone.

    Examples
    --------
    >>> from progress.recovery.configuration import Program
    >>> from progress.recovery.snapshots import lcs
    >>> from progress.recovery.tasks import Task
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> tasks = [Task("sum", running_sum, ["numbers"], "sums", 0)]
    >>> start = Program(tasks, {"numbers": [[1, 3], [5]]}).initial()
    >>> lcs(start) == start
    True
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
