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
    """In every state.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = always("at most one lies", lambda state: sum(map(len, state.queues)) < 2)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, True, About.STATE, holds)


def sometimes(name: str, holds: Callable[[Any], bool]) -> Property:
    """In some state.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, sometimes
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = sometimes("something leaves", lambda state: state.queue("a->out") != ())
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, False, About.STATE, holds)


def always_step(name: str, holds: OfStep) -> Property:
    """Of every step: `holds(before, action, after)`. Of stuttering, it has to be true by itself.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always_step, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = always_step("each step does something", lambda before, action, after: before != after)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, True, About.STEP, holds)


def sometimes_step(name: str, holds: OfStep) -> Property:
    """Of some step.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, sometimes_step
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = sometimes_step("a is at work", lambda before, action, after: getattr(action, "node", "") == "a")
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, False, About.STEP, holds)


def always_along(name: str, holds: Callable[[Path[Any]], bool]) -> Property:
    """Of a shortest path to every state.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always_along, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = always_along("it is over soon", lambda path: len(path.steps) < 3)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, True, About.PATH, holds)


def sometimes_along(name: str, holds: Callable[[Path[Any]], bool]) -> Property:
    """Of a shortest path to some state.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, sometimes_along
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = sometimes_along("two steps are possible", lambda path: len(path.steps) == 2)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Property(name, False, About.PATH, holds)


def always_later(
    name: str,
    now: Callable[[Any], Hashable],
    later: Callable[[Any], Iterable[Hashable]],
    holds: Callable[[Any, Any], bool],
    along: OfStep | None = None,
) -> Later:
    """Of every state and everything that is found in it or in any that comes after it.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always_later, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> def lie(state):
    ...     return sum(map(len, state.queues))
    >>> claim = always_later("ever less lies", lie, lambda state: [lie(state)], lambda before, after: after <= before)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Later(name, now, later, holds, along)


def always_since(
    name: str,
    happens: Callable[[Any, Any, Any], Iterable[Hashable]],
    later: Callable[[Any], Iterable[Hashable]],
    holds: Callable[[Any, Any], bool],
    along: OfStep | None = None,
) -> Since:
    """Of everything that happens in a step and everything that is found after it.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, always_since, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> def at_work(before, action, after):
    ...     return [action.node] if hasattr(action, "node") else []
    >>> claim = always_since("once only", at_work, lambda state: state.queue("in->a"), lambda node, message: False)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Since(name, happens, later, holds, along)


def leads_each(
    name: str,
    when: Callable[[Any], Iterable[Hashable]],
    by: Callable[[Any, Any], bool],
    kind: Callable[[Any], Hashable] | None = None,
    rare: Callable[[Any], bool] | None = None,
) -> LeadsEach:
    """Of every fair behaviour, and each thing found in a state of it: an action comes that is for that thing.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, leads_each
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> def is_taken(message, action):
    ...     return getattr(action, "message", None) == message
    >>> claim = leads_each("what comes is taken", lambda state: state.queue("in->a"), is_taken)
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return LeadsEach(name, when, by, kind, rare)


def leads_to(
    name: str, when: Callable[[Any], bool], goal: Callable[[Any], bool], rare: Callable[[Any], bool] | None = None
) -> Leads:
    """Of every fair behaviour: after each state with `when` there is one with `goal`, or it is one itself.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, explore, leads_to
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = leads_to("what comes leaves", lambda state: state.queue("in->a"), lambda state: state.queue("a->out"))
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Leads(name, when, goal, rare)


def eventually(name: str, goal: Callable[[Any], bool], rare: Callable[[Any], bool] | None = None) -> Leads:
    """Of every fair behaviour, from each state on: one with `goal` comes; so it comes at all, and again if it goes.

    Returns
    -------
    The property, for `explore`.

    Examples
    --------
    >>> from pointstamp import Message, from_edges
    >>> from progress.semantics import Buffer, Inputs, Specification, System, Variant, eventually, explore
    >>> system = System(from_edges([(None, "a"), ("a", None)]), {"a": Buffer("a->out")}, {"in->a": [Message(0)]})
    >>> quiet = Specification(system, Variant(inputs=Inputs.FORBIDDEN))
    >>> claim = eventually("nothing lies any more", lambda state: not any(state.queues))
    >>> explore(quiet, [claim]).verdicts[0].says
    <Says.HOLDS: 'holds'>
    """
    return Leads(name, lambda state: True, goal, rare)
