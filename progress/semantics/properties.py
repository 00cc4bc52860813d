"""What an exploration checks: properties of states, of steps, of paths, of what comes later, and of what has to happen.

`always` has to be so of all, `sometimes` of one at least. An `always` that is so because nothing of its kind ever
happens says nothing; that is what the `sometimes` beside it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from progress.semantics.machine import Path


class About(Enum):
    """What a property is a property of."""

    STATE = "state"
    STEP = "step"
    PATH = "path"


class Property(NamedTuple):
    """A property of states, steps or paths. `holds` gets a state; a state, an action and a state; or a `Path`."""

    name: str
    is_always: bool
    about: About
    holds: Callable[..., bool]


class Later(NamedTuple):
    """A property of pairs: of a state, and of each thing that is ever found later; the temporal `A implies always B`.

    `now` reads something from a state, `later` finds things in that state and in all that are reached from it; `holds`
    has to be true of each two. With `along`, only steps of which it is true are taken, from the start on.
    """

    name: str
    now: Callable[[Any], Hashable]
    later: Callable[[Any], Iterable[Hashable]]
    holds: Callable[[Any, Any], bool]
    along: Callable[[Any, Any, Any], bool] | None = None
    is_always: bool = True


class Since(NamedTuple):
    """A property of pairs: of something that happens, and of each thing that is ever found from then on.

    `happens` reads some things from a step; each has to go with whatever `later` finds in the state after the step and
    in all that are reached from there, as `holds` says. With `along`, only steps of which it is true are taken.
    """

    name: str
    happens: Callable[[Any, Any, Any], Iterable[Hashable]]
    later: Callable[[Any], Iterable[Hashable]]
    holds: Callable[[Any, Any], bool]
    along: Callable[[Any, Any, Any], bool] | None = None
    is_always: bool = True


class Leads(NamedTuple):
    """A property of fair behaviours; the temporal `always (when implies eventually goal)`.

    `rare` is true of actions that happen finitely often only, as failures do, and that nothing obliges to happen. An
    action of which `by` is true reaches the goal whatever state it leads to. Fairness takes actions for one that have
    the same `kind`.
    """

    name: str
    when: Callable[[Any], bool]
    goal: Callable[[Any], bool]
    rare: Callable[[Any], bool] | None = None
    by: Callable[[Any], bool] | None = None
    kind: Callable[[Any], Hashable] | None = None
    is_always: bool = True


class LeadsEach(NamedTuple):
    """A `Leads` for each thing that `when` ever finds in a state: after it, an action comes of which `by` is true."""

    name: str
    when: Callable[[Any], Iterable[Hashable]]
    by: Callable[[Any, Any], bool]
    kind: Callable[[Any], Hashable] | None = None
    rare: Callable[[Any], bool] | None = None
    is_always: bool = True


AnyProperty: TypeAlias = Property | Later | Since | Leads | LeadsEach
OfStep: TypeAlias = Callable[[Any, Any, Any], bool]


def always(name: str, holds: Callable[[Any], bool]) -> Property:
    """In every state."""
    return Property(name, True, About.STATE, holds)


def sometimes(name: str, holds: Callable[[Any], bool]) -> Property:
    """In some state."""
    return Property(name, False, About.STATE, holds)


def always_step(name: str, holds: OfStep) -> Property:
    """Of every step: `holds(before, action, after)`. Of stuttering, it has to be true by itself."""
    return Property(name, True, About.STEP, holds)


def sometimes_step(name: str, holds: OfStep) -> Property:
    """Of some step."""
    return Property(name, False, About.STEP, holds)


def always_along(name: str, holds: Callable[[Path[Any]], bool]) -> Property:
    """Of a shortest path to every state."""
    return Property(name, True, About.PATH, holds)


def sometimes_along(name: str, holds: Callable[[Path[Any]], bool]) -> Property:
    """Of a shortest path to some state."""
    return Property(name, False, About.PATH, holds)


def always_later(
    name: str,
    now: Callable[[Any], Hashable],
    later: Callable[[Any], Iterable[Hashable]],
    holds: Callable[[Any, Any], bool],
    along: OfStep | None = None,
) -> Later:
    """Of every state and everything that is found in it or in any that comes after it."""
    return Later(name, now, later, holds, along)


def always_since(
    name: str,
    happens: Callable[[Any, Any, Any], Iterable[Hashable]],
    later: Callable[[Any], Iterable[Hashable]],
    holds: Callable[[Any, Any], bool],
    along: OfStep | None = None,
) -> Since:
    """Of everything that happens in a step and everything that is found after it."""
    return Since(name, happens, later, holds, along)


def leads_each(
    name: str,
    when: Callable[[Any], Iterable[Hashable]],
    by: Callable[[Any, Any], bool],
    kind: Callable[[Any], Hashable] | None = None,
    rare: Callable[[Any], bool] | None = None,
) -> LeadsEach:
    """Of every fair behaviour, and each thing found in a state of it: an action comes that is for that thing."""
    return LeadsEach(name, when, by, kind, rare)


def leads_to(
    name: str, when: Callable[[Any], bool], goal: Callable[[Any], bool], rare: Callable[[Any], bool] | None = None
) -> Leads:
    """Of every fair behaviour: after each state with `when` there is one with `goal`, or it is one itself."""
    return Leads(name, when, goal, rare)


def eventually(name: str, goal: Callable[[Any], bool], rare: Callable[[Any], bool] | None = None) -> Leads:
    """Of every fair behaviour, from each state on: one with `goal` comes; so it comes at all, and again if it goes."""
    return Leads(name, lambda state: True, goal, rare)
