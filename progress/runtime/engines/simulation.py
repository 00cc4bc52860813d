"""The engine `sim`: one thread, in which a `Chooser` decides every choice, such as a seed: the same bytes every time.

Without one nothing is left to chance either: nodes take turns, each with all that waits at one time.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence

from progress.runtime.actions.core import AT_A_TIME, Core
from progress.runtime.durable.rests import Rests
from progress.runtime.engines.choosing import Chooser, Possible
from progress.runtime.source import Brought, Feed

LOOK = 1_000  # items taken from a source at once
TURNS = 10_000  # actions after which sources are looked at, though nodes have more to do: a loop may wait for them
OFTEN = 0.05  # seconds between looks at whether the run has to stop, while all sources are silent


def simulate(
    core: Core,
    feeds: Sequence[Feed],
    brought: Callable[[Feed, Brought], None],
    chooser: Chooser | None,
    check: Callable[[], None],
    rests: Rests | None,
) -> None:
    """Run to the end: until sources have ended and nothing is queued or ready.

    Sources are looked at while fewer than `Core.limit` messages are queued, so that memory stays bounded; a graph that
    is never empty enough is one whose nodes make more messages than they take, which no bound can help.

    A source that makes its items is asked for the next one after a `Complete`, or after one for which it had to wait or
    compute (`Pace`), when nodes have done what follows, as far as `TURNS` go. Where that can make no difference to it,
    since its items are `Feed.is_at_hand`, and nobody listens to how frontiers move, several are taken together, and
    nodes do several things at a time.

    A source that comes from elsewhere (`Feed.handle`) is looked at when there is nothing else to do, and one item is
    taken: so it does not matter when what arrives, as long as there is one such source.
    """
    if chooser is None:
        _in_turn(core, feeds, brought, check, rests)
    else:
        _as_chosen(core, feeds, brought, chooser, check, rests)


def _in_turn(
    core: Core,
    feeds: Sequence[Feed],
    brought: Callable[[Feed, Brought], None],
    check: Callable[[], None],
    rests: Rests | None,
) -> None:
    here, there = _apart(feeds)
    while True:
        until = (core.steps // TURNS + 1) * TURNS  # wherever between a run goes on: it does the same again
        while core.steps < until:
            check()
            if rests is not None:
                rests.turn(bool(core.runnable or there))
            node = core.next_node()
            if node is None:
                break
            core.turn(node, 1 if core.is_listened_to else AT_A_TIME, check)
        is_idle = node is None
        if is_idle and not here and not there:
            return
        if is_idle and not here:
            _one_item(core, there, brought, rests)
        for feed in list(here):
            check()
            if not core.has_room(feed.edge) or not feed.may_be_read(core):
                continue
            if feed.is_at_hand and not core.is_listened_to:
                brought(feed, feed.look(core.most_at_once, core.most_at_once))
            else:
                brought(feed, feed.look(LOOK, is_paced=True))
            if feed.is_over:
                here.remove(feed)


def _apart(feeds: Sequence[Feed]) -> tuple[list[Feed], list[Feed]]:
    """The sources that have all that they bring, and those that have to wait for it."""
    return [feed for feed in feeds if feed.handle is None], [feed for feed in feeds if feed.handle is not None]


def _one_item(core: Core, feeds: list[Feed], brought: Callable[[Feed, Brought], None], rests: Rests | None) -> None:
    """Bring one item of one of these, in turns; where there is none, wait for it, but for a moment at most."""
    for feed in list(feeds):
        feed.may_be_read(core)
        what = feed.look(1)
        feeds.remove(feed)
        if not feed.is_over:
            feeds.append(feed)
        brought(feed, what)
        if not what.is_silent:
            return
    if rests is not None:
        rests.turn(is_busy=False)
    pause = None if rests is None else rests.pause()
    handles = [feed.handle for feed in feeds if feed.handle is not None]
    select.select(handles, [], [], OFTEN if pause is None else min(OFTEN, pause))


def _as_chosen(
    core: Core,
    feeds: Sequence[Feed],
    brought: Callable[[Feed, Brought], None],
    chooser: Chooser,
    check: Callable[[], None],
    rests: Rests | None,
) -> None:
    """One action at a time, each as it is chosen."""
    here, there = _apart(feeds)
    while True:
        check()
        if rests is not None:
            rests.turn(bool(core.runnable or there))
        possible = Possible(core, here)
        if not possible:
            if not there:
                chooser.over()
                return
            _one_item(core, there, brought, rests)
            continue
        choice = chooser.choose(possible)
        if choice is None:
            continue
        if choice.kind == "read":
            feed = next(feed for feed in here if feed.edge == choice.place)
            brought(feed, feed.look(choice.many))
            if feed.is_over:
                here.remove(feed)
            continue
        node = possible.node_of(choice)
        assert node is not None
        core.runnable.remove(node)
        core.inboxes[node].is_listed = False
        edge = choice.place if choice.kind == "take" else None
        core.commit(core.perform(core.take(node, (edge, choice.time), choice.many)))
