"""Protocols in the delivery model, and what each guarantees: `python -m progress.recovery.protocols` prints the table.

One operation with a state reads several channels: the first race that there is (Figure 1 of *Delivery, consistency, and
determinism*). After each element something leaves that shows the state. What a protocol is made of:

* `order`: what comes first on two channels decides (`races`), or a total order that is known beforehand does (`fixed`);
* `saves`: when the state, the positions of the channels and what is to leave are written down;
* `releases`: when what was computed may leave;
* `filters`: whether the consumer is asked for the last bundle after a recovery, and what it has is left out (V.A.2).

Each of the paper's protocols (IV and V) is here with what it assumes, and once more without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NamedTuple

from progress.recovery.delivery import END, Channels, Classified, Failure, Input, Internal, Output, Seen, classify, seen
from progress.semantics.machine import Machine


def _state(state: Any, element: Any) -> Any:
    return state


class Operation(NamedTuple):
    """What is computed: the state after an element, and what leaves then, by default that state."""

    name: str
    initial: Any
    apply: Callable[[Any, Any], Any]
    shows: Callable[[Any, Any], Any] = _state


CONCATENATION = Operation("concatenation", "", lambda state, element: state + element)
COUNT = Operation("count", 0, lambda state, element: state + 1)


class Order(Enum):
    """Which channel is read next.

    Examples
    --------
    >>> from progress.recovery.protocols import Order
    >>> [order.value for order in Order]
    ['any channel', 'a known order']
    """

    RACES = "any channel"
    FIXED = "a known order"


class Saves(Enum):
    """What is durable, and when."""

    SOMETIMES = "a snapshot at any time"
    EACH = "every result, before anything else"
    STATE_FIRST = "every state at once, positions later"
    POSITIONS_FIRST = "positions when read, states when computed"


class Releases(Enum):
    """When an output leaves."""

    AT_ONCE = "at once"
    SAVED = "when a snapshot covers it"
    TOGETHER = "with its snapshot, in one"
    FILE = "into a file that is cut back, read at the end"


class Protocol(NamedTuple):
    """A protocol by its parts."""

    name: str
    order: Order
    saves: Saves
    releases: Releases
    filters: bool = False
    operation: Operation = CONCATENATION
    channels: Channels = (("a", "c"), ("b",))

    def machine(self, channels: Channels, failures: int) -> Machine[Any]:
        """The protocol with this input."""
        return Running(self, channels, failures)


class Kept(NamedTuple):
    """A state of the operation, how far each channel was read, what was computed and has not left, with its numbers."""

    state: Any
    read: tuple[int, ...]
    ready: tuple[tuple[int, Any], ...] = ()
    holds: Any = None  # an element that was read and is not applied


class Now(NamedTuple):
    """A configuration: how much has entered, what has left with its numbers, what runs, what is saved."""

    entered: tuple[int, ...]
    left: tuple[tuple[int, Any], ...]
    live: Kept
    saved: Kept
    length: int = 0  # of what had left when it was saved
    failed: int = 0
    is_over: bool = False


class Running:
    """A protocol as a machine."""

    def __init__(self, protocol: Protocol, channels: Channels, failures: int) -> None:
        self.protocol = protocol
        self.channels = channels
        self.failures = failures
        known = [element for channel in protocol.channels for element in channel]
        self.rank = {element: place for place, element in enumerate(sorted(known, key=repr))}

    def initial(self) -> list[Now]:
        """Nothing has entered."""
        none = (0,) * len(self.channels)
        begun = Kept(self.protocol.operation.initial, none)
        return [Now(none, (), begun, begun)]

    def representative(self, state: Now) -> Now:
        """No two are alike."""
        return state

    def visible(self, state: Now) -> Seen:
        """A and B."""
        entered = [
            element for channel, count in zip(self.channels, state.entered, strict=True) for element in channel[:count]
        ]
        left = [value for _, value in state.left]
        if self.protocol.releases is Releases.FILE:
            left = [left] if state.is_over else []
            return seen(entered, [tuple(each) for each in left])
        return seen(entered, [*left, END] if state.is_over else left)

    def successors(self, now: Now) -> Iterator[tuple[Any, Now]]:
        """All steps."""
        if now.is_over:
            return
        for number, channel in enumerate(self.channels):
            if now.entered[number] < len(channel):
                yield Input(channel[now.entered[number]]), now._replace(entered=_more(now.entered, number))
        yield from self._transforms(now)
        yield from self._leaving(now)
        if self.protocol.saves in (Saves.SOMETIMES, Saves.STATE_FIRST) and self._is_news(now):
            yield Internal("a snapshot is saved"), self._saved(now)
        is_within = self.protocol.releases is Releases.TOGETHER and bool(now.live.ready) and self._covers(now)
        if now.failed < self.failures and not is_within:
            yield Failure(), self._recovered(now)

    def _transforms(self, now: Now) -> Iterator[tuple[Any, Now]]:
        live, saves = now.live, self.protocol.saves
        if live.holds is not None:
            after = self._applied(live._replace(holds=None), live.holds)
            yield Internal(f"{live.holds} is applied"), now._replace(live=after, saved=after)
            return
        if self.protocol.releases is Releases.TOGETHER and live.ready and self._covers(now):
            return  # what is committed leaves first
        for number, channel in enumerate(self.channels):
            place = live.read[number]
            if place == now.entered[number] or not self._is_next(now, number):
                continue
            element = channel[place]
            taken = live._replace(read=_more(live.read, number))
            if saves is Saves.POSITIONS_FIRST:
                held = taken._replace(holds=element)
                yield Internal(f"{element} is read"), now._replace(live=held, saved=taken)
                continue
            after = self._applied(taken, element)
            saved = now.saved
            if saves is Saves.EACH:
                saved = after
            elif saves is Saves.STATE_FIRST:
                saved = saved._replace(state=after.state, ready=after.ready)
            yield Internal(f"{element} is applied"), now._replace(live=after, saved=saved)

    def _is_next(self, now: Now, number: int) -> bool:
        """In a fixed order, whether nothing that is earlier is still to be read, be it that it has not entered."""
        if self.protocol.order is Order.RACES:
            return True
        waiting = [
            self.rank[element]
            for channel, read in zip(self.channels, now.live.read, strict=True)
            for element in channel[read:]
        ]
        return self.rank[self.channels[number][now.live.read[number]]] == min(waiting)

    def _applied(self, kept: Kept, element: Any) -> Kept:
        state = self.protocol.operation.apply(kept.state, element)
        return kept._replace(
            state=state, ready=(*kept.ready, (sum(kept.read), self.protocol.operation.shows(state, element)))
        )

    def _leaving(self, now: Now) -> Iterator[tuple[Any, Now]]:
        releases, ready = self.protocol.releases, now.live.ready
        if ready and (releases not in (Releases.SAVED, Releases.TOGETHER) or self._covers(now)):
            number, value = ready[0]
            after = now._replace(live=now.live._replace(ready=ready[1:]))
            if self._is_outbox:
                after = after._replace(saved=now.saved._replace(ready=ready[1:]))
            if self.protocol.filters and now.left and number <= now.left[-1][0]:
                yield Internal(f"{value} has left before and is left out"), after
            else:
                step: Any = Internal(f"{value} is written") if releases is Releases.FILE else Output(value)
                yield step, after._replace(left=(*now.left, ready[0]))
        all_read = all(len(channel) == read for channel, read in zip(self.channels, now.live.read, strict=True))
        if all_read and not ready and now.live.holds is None:
            values = tuple(value for _, value in now.left)
            yield Output(values if releases is Releases.FILE else END), now._replace(is_over=True)

    def _covers(self, now: Now) -> bool:
        """Whether the first of what is ready is part of what is saved."""
        return now.live.ready[0][0] <= sum(now.saved.read)

    def _is_news(self, now: Now) -> bool:
        return now.saved != now.live or (self._cuts and now.length != len(now.left))

    @property
    def _is_outbox(self) -> bool:
        """Whether what is ready to leave is durable, and taken out of what is saved when it leaves, in one."""
        durable = (Saves.STATE_FIRST, Saves.POSITIONS_FIRST)
        return self.protocol.releases is Releases.TOGETHER or self.protocol.saves in durable

    @property
    def _cuts(self) -> bool:
        return self.protocol.releases is Releases.FILE

    def _saved(self, now: Now) -> Now:
        return now._replace(saved=now.live, length=len(now.left) if self._cuts else 0)

    def _recovered(self, now: Now) -> Now:
        """F: what is saved is the working set again, and what was read since then comes again."""
        left = now.left[: now.length] if self._cuts else now.left
        return now._replace(live=now.saved, left=left, failed=now.failed + 1)


def _more(counts: tuple[int, ...], number: int) -> tuple[int, ...]:
    return (*counts[:number], counts[number] + 1, *counts[number + 1 :])


STRONG = Protocol("strong productions (MillWheel)", Order.RACES, Saves.EACH, Releases.SAVED, filters=True)
BATCHES = Protocol("micro-batches (Spark)", Order.RACES, Saves.SOMETIMES, Releases.TOGETHER)
EPOCHS = Protocol("transactional epochs (Flink)", Order.RACES, Saves.SOMETIMES, Releases.SAVED, filters=True)
DRIFTING = Protocol("drifting state (FlameStream)", Order.FIXED, Saves.SOMETIMES, Releases.AT_ONCE, filters=True)
AFTER = Protocol("acknowledge after", Order.RACES, Saves.STATE_FIRST, Releases.AT_ONCE)
BEFORE = Protocol("acknowledge before", Order.RACES, Saves.POSITIONS_FIRST, Releases.AT_ONCE)
REST = Protocol("a file that is cut back", Order.RACES, Saves.SOMETIMES, Releases.FILE)

PROTOCOLS: tuple[Protocol, ...] = (
    STRONG,
    STRONG._replace(name="  released before it is saved", saves=Saves.SOMETIMES, releases=Releases.AT_ONCE),
    BATCHES,
    BATCHES._replace(name="  output and state apart", releases=Releases.AT_ONCE),
    EPOCHS,
    EPOCHS._replace(name="  the last bundle is not asked for", filters=False),
    EPOCHS._replace(name="  output at once", releases=Releases.AT_ONCE),
    DRIFTING,
    DRIFTING._replace(name="  without the order", order=Order.RACES),
    DRIFTING._replace(name="  without the order, all commutes", order=Order.RACES, operation=COUNT),
    DRIFTING._replace(name="  without the last bundle", filters=False),
    AFTER,
    BEFORE,
    REST,
    REST._replace(name="  whose file is read along", releases=Releases.AT_ONCE),
    DRIFTING._replace(name="--delivery deterministic"),
    EPOCHS._replace(name="--delivery barrier"),
)


def is_commutative(operation: Operation, elements: tuple[Any, ...], depth: int = 3) -> bool:
    """Definition 9, negated: no two elements in another order give another state, in any state reached by so many."""
    states, level = {operation.initial}, {operation.initial}
    for _ in range(depth):
        level = {operation.apply(state, element) for state in level for element in elements}
        states |= level
    apply = operation.apply
    return all(
        apply(apply(state, one), other) == apply(apply(state, other), one)
        for state in states
        for one in elements
        for other in elements
    )


def table(failures: int = 1) -> list[tuple[Protocol, Classified]]:
    """Every protocol with what it guarantees."""
    return [(protocol, classify(protocol, failures)) for protocol in PROTOCOLS]


def main() -> None:
    """Print the table."""
    print(f"{'protocol':38} {'order':14} {'commutes':9} guarantee")
    for protocol, found in table():
        elements = tuple(element for channel in protocol.channels for element in channel)
        commutes = "yes" if is_commutative(protocol.operation, elements) else "no"
        print(f"{protocol.name:38} {protocol.order.value:14} {commutes:9} {found.strongest}")


if __name__ == "__main__":
    main()
