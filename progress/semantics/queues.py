"""Queues as sequences and as pomsets (A&I 4.2): what may be taken, what may be put in or left out, and a normal form.

**The symmetry.** With reordering a node may take any message that has no message at an earlier or equal time ahead of
it. So of two neighbours in a queue whose times are incomparable it does not matter which is ahead: either may be taken,
and neither ever has to wait for the other. Two queues that differ in such neighbours alone are one *pomset*, the
messages ordered by "ahead, and at an earlier or equal time". From both of them the same messages can be taken, what
remains is again one pomset, and what is appended later stands in the same order to all: the states behave alike
(a bisimulation), and Clock sees times only. `normal_form` is the same for all queues of one pomset.

Two neighbours at comparable times are not exchanged, though a later one ahead of an earlier one does not hold it up: in
the queue 5, 3 either may be taken first, in 3, 5 only the 3. Nor are equal times, as the messages may differ.

On input and output edges a queue is seen from outside, as the sequence that it is, and remains one; on an input edge
messages may also be put between two others, where the sequence says more than the pomset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from progress.local_history import Message
from progress.order import Domain
from progress.semantics.state import Queue


def takeable(queue: Queue, domain: Domain, reordering: bool) -> Sequence[int]:
    """The positions of the messages that a node may take: the head, or every minimal element of the pomset."""
    if not reordering or len(queue) < 2:
        return (0,) if queue else ()
    below = domain.less_equal
    return [
        place
        for place, message in enumerate(queue)
        if not any(below(ahead.time, message.time) for ahead in queue[:place])
    ]


def without(queue: Queue, place: int) -> Queue:
    """The queue without one of its messages."""
    return queue[:place] + queue[place + 1 :]


def with_one_more(queue: Queue, message: Message) -> Iterator[Queue]:
    """Every queue of which this one is a subsequence, and that has this message besides; each once."""
    for place in range(len(queue) + 1):
        if place == 0 or queue[place - 1] != message:  # behind an equal message is the same as before it
            yield (*queue[:place], message, *queue[place:])


def with_one_less(queue: Queue) -> Iterator[tuple[Message, Queue]]:
    """Every subsequence that lacks one message, each once."""
    for place, message in enumerate(queue):
        if place == 0 or queue[place - 1] != message:
            yield message, without(queue, place)


def is_subsequence(short: Sequence[Message], long: Sequence[Message]) -> bool:
    """Whether all of `short` are in `long`, in their order."""
    rest = iter(long)
    return all(message in rest for message in short)


def normal_form(queue: Queue, domain: Domain, key: Callable[[Message], Any]) -> Queue:
    """The least of all queues that are this pomset: of what has nothing comparable ahead, always the least first.

    Cost: O(n cubed) comparisons for n messages; none for a total order.
    """
    if len(queue) < 2 or domain.is_total:
        return queue
    left, below, found = list(queue), domain.less_equal, []
    while left:
        free = [
            place
            for place, message in enumerate(left)
            if not any(below(ahead.time, message.time) or below(message.time, ahead.time) for ahead in left[:place])
        ]
        found.append(left.pop(min(free, key=lambda place: key(left[place]))))
    return tuple(found)


def minus(messages: Iterable[Message], message: Message) -> Queue:
    """A collection of messages with one of these less."""
    left = list(messages)
    left.remove(message)
    return tuple(left)
