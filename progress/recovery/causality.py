"""The causal order of a trace (FT 6.1, Definitions 6.4 and B.3), and permutations that keep it (B.5, Lemma 6.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from progress.recovery.rules import Rule, Step
from progress.recovery.streaming import CONSUMPTION, Message, messages_of
from progress.recovery.traces import Trace


def happens_before(trace: Trace) -> list[int]:
    """For each step, those that happen before it, as a whole number with bit i for step i.

    A step happens before a later one if either is a recovery, if both are of one task, if it produced a message that
    the later one consumes, or by way of a step between them. Cost: O(steps squared) bits.
    """
    before: list[int] = []
    last_of: dict[str, int] = {}
    last_recovery: int | None = None
    producer: dict[Message, int] = {}
    for number, step in enumerate(trace.steps):
        if step.rule is Rule.RECOVER:
            before.append((1 << number) - 1)
            last_recovery, last_of, producer = number, {}, {}  # what was before comes before all that follows
            continue
        consumed, produced = _consumed_and_produced(trace, step)
        direct = [] if last_recovery is None else [last_recovery]
        direct += [last_of[step.task]] if step.task in last_of else []
        direct += [producer[message] for message in consumed if message in producer]
        found = 0
        for one in direct:
            found |= before[one] | 1 << one
        before.append(found)
        last_of[step.task] = number
        producer.update(dict.fromkeys(produced, number))
    return before


def _consumed_and_produced(trace: Trace, step: Step) -> tuple[list[Message], list[Message]]:
    program = trace.start.program
    if not step.actions:
        return [], []
    numbers = dict(zip(program.used[program.number[step.task]], step.numbers, strict=True))
    taken: list[Message] = []
    put: list[Message] = []
    for action, message in messages_of(step.actions, numbers):
        (taken if action.sign == CONSUMPTION else put).append(message)
    return taken, put


def keeps_causality(trace: Trace, order: Sequence[int]) -> bool:
    """Whether a permutation keeps the causal order: `order[k]` is the place in the trace of what comes k-th (B.5)."""
    if sorted(order) != list(range(len(trace.steps))):
        return False
    before, seen = happens_before(trace), 0
    for place in order:
        if before[place] & ~seen:
            return False
        seen |= 1 << place
    return True


def permuted(trace: Trace, order: Sequence[int]) -> Trace:
    """The steps in another order (Definition B.4). Lemma 6.5: valid, with the same end, if it keeps causality."""
    return Trace(trace.start, tuple(trace.steps[place] for place in order))


def permutations_that_keep_causality(trace: Trace) -> Iterator[tuple[int, ...]]:
    """All of them, the trace's own order first. Their number grows exponentially."""
    before, count = happens_before(trace), len(trace.steps)

    def extend(order: list[int], seen: int) -> Iterator[tuple[int, ...]]:
        if len(order) == count:
            yield tuple(order)
        for place in range(count):
            if not seen >> place & 1 and not before[place] & ~seen:
                order.append(place)
                yield from extend(order, seen | 1 << place)
                order.pop()

    return extend([], 0)
