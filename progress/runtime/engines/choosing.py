"""What may happen next in a run, and who chooses: a seed, turns, or whoever implements `Chooser` (A&I 4.2).

A choice is one action of the paper: a source brings items (`Inp`), a node takes messages of one edge and time (`Mess`),
or is notified (`Not`). A run is a function of its choices, so a list of them makes the same run again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from progress.runtime.actions.core import Core
from progress.runtime.actions.inbox import Inbox
from progress.runtime.source import Feed

Kind: TypeAlias = Literal["read", "take", "notify"]
MOST_KEYS = 200  # of what waits for one node, among which possible choices are listed


class Choice(NamedTuple):
    """One action: `many` items read of an input, or messages taken of an edge at a time, or a node notified of one."""

    kind: Kind
    place: str
    time: Any = None
    many: int = 1


class Possible:
    """All that may happen next. It is valid until something does."""

    def __init__(self, core: Core, feeds: Sequence[Feed]) -> None:
        self.core = core
        self.sources = [feed for feed in feeds if feed.may_be_read(core)] if core.queued < core.limit else []

    def __bool__(self) -> bool:
        return bool(self.core.runnable or self.sources)

    def __iter__(self) -> Iterator[Choice]:
        """Every choice: with all the messages that a call may be given, and one item of each source.

        Of one node the first that wait. Cost: O(what is listed), and a comparison for each two times of one edge.
        """
        names = self.core.network.nodes
        for number in sorted(self.core.runnable):
            inbox = self.core.inboxes[number]
            for place, time in enumerate(islice(inbox.ready, MOST_KEYS)):
                if self._is_first(inbox, number, place):
                    yield Choice("notify", names[number], time)
            for key in islice(inbox.queues, MOST_KEYS):
                if inbox.follows(*key) == key:
                    yield Choice("take", *key, min(len(inbox.queues[key]), self.core.most_at_once))
        for feed in self.sources:
            yield Choice("read", feed.edge)

    def __contains__(self, choice: Choice) -> bool:
        """Whether it may be made now."""
        if choice.many < 1:
            return False
        if choice.kind == "read":
            return any(feed.edge == choice.place for feed in self.sources)
        number = self.node_of(choice)
        if number is None or number not in self.core.runnable:
            return False
        inbox = self.core.inboxes[number]
        if choice.kind == "notify":
            return choice.time in inbox.ready and self._is_first(inbox, number, inbox.ready.index(choice.time))
        key = (choice.place, choice.time)
        return key in inbox.queues and inbox.follows(*key) == key and choice.many <= len(inbox.queues[key])

    def how_many(self, choice: Choice) -> int:
        """How many messages wait where a choice takes some."""
        number = self.node_of(choice)
        key = (choice.place, choice.time)
        return 0 if number is None else len(self.core.inboxes[number].queues.get(key, ()))

    def node_of(self, choice: Choice) -> int | None:
        """Who acts: the node that is notified, or takes what waits on an edge."""
        network = self.core.network
        if choice.kind == "notify":
            number = network.numbers.get(choice.place)
            return number if number is not None and number < len(network.nodes) else None
        return self.core.targets.get(choice.place)

    def _is_first(self, inbox: Inbox, node: int, place: int) -> bool:
        """Whether a node may be notified of what stands there before all else: what is earlier stands before it."""
        before, time = self.core.network.domains[node].less_equal, inbox.ready[place]
        return not any(before(other, time) for other in islice(inbox.ready, place))


class Chooser(Protocol):
    """Says what happens next."""

    def choose(self, possible: Possible) -> Choice | None:
        """One of what is possible; None where it does not know yet, and is to be asked again."""

    def over(self) -> None:
        """Nothing is possible any more: the run is over."""


class Seeded:
    """Every choice is the seed's: which node or source, which of what waits there, how much of it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def choose(self, possible: Possible) -> Choice:
        """Draw one."""
        chance, core, sources = self._chance, possible.core, possible.sources
        nodes = core.runnable
        drawn = chance.randrange(len(nodes) + len(sources))
        if drawn >= len(nodes):
            return Choice("read", sources[drawn - len(nodes)].edge, None, chance.randint(1, 4))
        inbox = core.inboxes[nodes[drawn]]
        most = chance.randint(1, 4)
        if inbox.ready and (not inbox.queues or chance.randrange(2)):
            return Choice("notify", inbox.exits.name, inbox.ready[0])
        key = inbox.chosen(chance.randrange)
        there = len(inbox.queues[key])
        return Choice("take", *key, there if inbox.is_ordered else min(most, there))

    def over(self) -> None:
        """Nothing is left to be drawn."""


class InTurn:
    """Nodes take turns, each with all that waits at one time, notifications first; sources when no node has work."""

    def __init__(self) -> None:
        self._last = ""  # the source that was read last

    def choose(self, possible: Possible) -> Choice:
        """The next one."""
        core = possible.core
        if not core.runnable:
            names = [feed.edge for feed in possible.sources]
            self._last = next((name for name in names if name > self._last), min(names))
            return Choice("read", self._last)
        inbox = core.inboxes[core.runnable[0]]
        if inbox.ready:
            return Choice("notify", inbox.exits.name, inbox.ready[0])
        key = inbox.free()
        assert key is not None
        return Choice("take", *key, min(len(inbox.queues[key]), core.most_at_once))

    def over(self) -> None:
        """Everybody has had their turns."""
