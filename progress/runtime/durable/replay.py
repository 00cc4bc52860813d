"""What a killed run did after its last checkpoint, done again in the order in which it was done.

One thread goes through the records of `order.py`: it brings what came in, takes what was taken, and enters what was
entered. What leaves is compared with what has left already (`outlets.py`), so nothing leaves twice. A node that does
otherwise is remembered, with what it was given: where something else leaves than what has left, that is why. Where the
order itself cannot be followed any more, that is said at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.actions.core import Core
from progress.runtime.actions.inbox import Action
from progress.runtime.control import Cancelled
from progress.runtime.durable.order import (
    BORDER,
    BROUGHT,
    CAME,
    ENTERED,
    HAD,
    OF_BORDERS,
    TO_TELL,
    TOLD,
    TOOK,
    UNKNOWN,
    Record,
    digest,
)
from progress.runtime.policies.policy import Items
from progress.runtime.source import Brought, Feed

RIGHT = (
    "`deterministic = False` in the class of a node that may do otherwise, and --delivery barrier; "
    "--delivery at-least-once goes on from the last checkpoint, and repeats what has left since"
)


class Differs(PointstampError):
    """A run that goes on did otherwise than the one that was killed."""

    def __init__(self, what: str, right: str = RIGHT) -> None:
        super().__init__("PS748", what, right)


def pass_over(feeds: Sequence[Feed], check: Callable[[], None]) -> None:
    """Let sources that begin anew pass over what the checkpoint has of them; those written down do so later."""
    with all_drawn(feeds):
        for feed in feeds:
            if not feed.is_logged:
                feed.pass_over(check)


def since(parts: Sequence[Sequence[Record]]) -> list[list[Record]]:
    """What was done since the first of some borders: of later ones what is for who goes on from there is left out."""
    return [[each for each in part if part is parts[0] or each[0] not in OF_BORDERS] for part in parts]


def remember(core: Core, records: Sequence[Record]) -> None:
    """Let nodes be read back where they were (`checkpoint.read_back`), and be told of the world what they were told."""
    borders = sorted({item for kind, *rest in records if kind == BORDER for item in rest[0].items()})
    for node, entered in borders:
        if entered > core.inboxes[node].entered:
            core.inboxes[node].again.append(entered)
    for kind, *rest in records:
        if kind in (TOLD, TO_TELL):
            node, told = rest
            core.inboxes[node].exits.answers.extend(told)


@contextmanager
def all_drawn(feeds: Iterable[Feed]) -> Iterator[None]:
    """While one source is waited for, those that can (`draw`) take what others bring, so that nobody waits to bring it.

    Whoever brings something to several, one after the other, would wait for ever else. What is not of this project, and
    has names like these, is left alone: it lacks one of them, or is not in a policy.
    """
    found = []
    for feed in feeds:
        items: Any = feed.items
        while isinstance(items, Items):
            items = items.within
        found += [items] if hasattr(items, "draw") and hasattr(items, "beside") else []
    try:
        for items in found:
            items.beside = [other for other in found if other is not items]
        yield
    finally:
        for items in found:
            items.beside = ()


class Replay:
    """A run that goes on, up to where the one before was.

    `why` says of the first node that did otherwise which it is, and with what; None where all did the same.

    It is run by a thread of its own, of which `stop` says that nobody waits for it any more: a node that it calls comes
    to its end, and nothing of it is entered.
    """

    def __init__(self, core: Core, feeds: Sequence[Feed], brought: Callable[[Feed, Brought], None]) -> None:
        self.why: str | None = None
        self._check: Callable[[], None] = lambda: None
        self._entering = threading.Lock()
        self._is_stopped = False
        self._core = core
        self._feeds = {feed.edge: feed for feed in feeds}
        self._brought = brought
        self._taken: dict[int, list[Action]] = {}

    def run(self, parts: Sequence[Iterable[Record]], check: Callable[[], None]) -> None:
        """Do all of it; `Differs` where it cannot be done. `parts` are what came behind the borders of checkpoints."""
        self._check = check
        feeds = [*self._feeds.values()]
        pass_over(feeds, check)
        with all_drawn(feeds):
            for part in parts:
                for record in part:
                    check()
                    self._do(record)
        self._put_back()

    def stop(self) -> None:
        """Enter nothing more. What is being entered is waited for."""
        with self._entering:
            self._is_stopped = True

    @contextmanager
    def _enters(self) -> Iterator[None]:
        """Something is entered here, or why the run has to stop is raised."""
        with self._entering:
            self._check()
            if self._is_stopped:
                raise Cancelled
            yield

    def _do(self, record: Record) -> None:
        try:
            kind, *rest = record
            if kind == BROUGHT:
                self._bring(*rest)
            elif kind in (TOOK, HAD):
                self._take(*rest)
            elif kind == ENTERED:
                self._enter(*rest)
            elif kind == CAME:
                self._come(*rest)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            why = self.why or f"{brief(record)} cannot be done again: {brief(error)}"
            raise Differs(why) from error

    def _bring(self, edge: str, messages: int, marks: int, is_over: bool, turns: Any = None) -> None:
        feed = self._feeds[edge]
        what = feed.again(messages, marks, self._check, is_over=is_over, turns=turns)
        with self._enters():
            self._brought(feed, what)

    def _come(self, edge: str, what: Any, stand: Any) -> None:
        feed = self._feeds[edge]
        with self._enters():
            feed.stand_at(stand)
            self._brought(feed, Brought.read(edge, what))

    def _take(self, node: int, edge: str | None, time: Any, count: int) -> None:
        action = self._core.take_this(node, edge, time, count)
        self._taken.setdefault(node, []).append(action)

    def _enter(self, node: int, places: Any) -> None:
        done = []
        for place, consumed, expected in places:
            action = self._taken[node].pop(place)
            performed = self._core.perform(action)
            if self.why is None and (performed.consumed != consumed or UNKNOWN != expected != digest(performed)):
                name = self._core.inboxes[node].exits.name
                what = f"the notification at {brief(action.time)}"
                if action.edge is not None:
                    first = f"{brief(action.values[0])} that" if len(action.values) else "what"
                    what = f"{first} came on {brief(action.edge)} at {brief(action.time)}"
                self.why = f"the node {brief(name)} did otherwise when it was run again, with {what}"
            done.append(performed)
        with self._enters():
            self._core.commit(*done)

    def _put_back(self) -> None:
        """What had been taken and was not entered waits again, first of all."""
        for actions in self._taken.values():
            for action in reversed(actions):
                self._core.give_back(action)
        self._core.list_again()
