"""Streams, messages and actions (FT 4.1: Figure 5 and Definition 4.1), whatever the processors are.

A stream is the set of all messages ever put on it, each with its sequence number. Taking one does not remove it: every
task that reads or writes a stream has a number of its own, N_p(s), of the message that it takes or puts there next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum
from typing import NamedTuple, TypeAlias

from progress.semantics.state import held, released


class Event(NamedTuple):
    """EV⟨w⟩: something to process. `Event.of(w)` makes one; `value` is w."""

    kept: Hashable  # w itself, or wrapped where it cannot be hashed

    @classmethod
    def of(cls, value: object) -> Event:
        """The event of a value, which is not to be changed any more."""
        return cls(held(value))

    @property
    def value(self) -> object:
        """w."""
        return released(self.kept)

    def __repr__(self) -> str:
        return f"EV({self.value!r})"


class _Border(Enum):
    """BD, the end of an epoch."""

    BORDER = "BD"

    def __repr__(self) -> str:
        return "BD"


BORDER = _Border.BORDER
Content: TypeAlias = Event | _Border


class Message(NamedTuple):
    """n s ⟨e, d⟩: message number n on stream s, of epoch e."""

    number: int
    stream: str
    epoch: int
    content: Content

    def __repr__(self) -> str:
        return f"{self.stream}[{self.number}] = ⟨{self.epoch}, {self.content!r}⟩"


class Action(NamedTuple):
    """+s⟨e, d⟩, production, or −s⟨e, d⟩, consumption."""

    sign: str
    stream: str
    epoch: int
    content: Content

    def __repr__(self) -> str:
        return f"{self.sign}{self.stream}⟨{self.epoch}, {self.content!r}⟩"


PRODUCTION, CONSUMPTION = "+", "-"
Numbers: TypeAlias = dict[str, int]
Stream: TypeAlias = frozenset[Message]


def consumption(stream: str, epoch: int, content: Content) -> Action:
    """−s⟨e, d⟩."""
    return Action(CONSUMPTION, stream, epoch, content)


def production(stream: str, epoch: int, content: Content) -> Action:
    """+s⟨e, d⟩."""
    return Action(PRODUCTION, stream, epoch, content)


def messages_of(actions: Iterable[Action], numbers: Numbers) -> list[tuple[Action, Message]]:
    """The message of each action, for a task that is at `numbers`. Each action moves its stream's number on by one."""
    at = dict(numbers)
    found = []
    for action in actions:
        found.append((action, Message(at[action.stream], *action[1:])))
        at[action.stream] += 1
    return found


def applied(
    actions: Iterable[Action], numbers: Numbers, messages: dict[str, Stream]
) -> tuple[Numbers, dict[str, Stream]] | None:
    """X(N_p, M), Definition 4.1; None where it is undefined: a message that is to be consumed is not there.

    Cost: O(actions), and O(length) of each stream on which something is put.
    """
    numbers, messages = dict(numbers), dict(messages)
    for action in actions:
        message = Message(numbers[action.stream], *action[1:])
        if action.sign == PRODUCTION:
            messages[action.stream] |= {message}
        elif message not in messages[action.stream]:
            return None
        numbers[action.stream] += 1
    return numbers, messages
