"""Calls that are being made while a checkpoint is taken: it has them as if they had not begun.

A call enters what it does when it is over, all at once. Until then its messages, or its notification, count as waiting:
the tracker has them still. So a checkpoint may be taken while a call runs, if it knows what the node's state was before
the call. It is made of

* attributes that are values that do not change (`is_plain`): they are remembered;
* what a `Batch` lets wait, of which a call uses what waits for its own time: how much of it there was is remembered;
* dicts of which a call uses one entry (`Node.by_time`): that entry is copied before the call;
* all else, which is copied before the call. That says what it was before while no other call of the node is over
  since, so such a node makes one call at a time in a run that is kept, whatever its `at_once` is. Where its first
  notification has changed nothing, it makes several: what was copied is what is there, and if it is not, it makes one
  at a time again.

Copying takes a small share of what the calls take (`SHARE`); a call before which there was no time for it is waited for
(`Core.is_awaited`), and no other call of its node begins meanwhile. So are all calls of a node that keeps a `State`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

from progress.runtime.durable.copies import Copy, is_plain
from progress.runtime.node import Batch, Mapped, Node, slots_of
from progress.runtime.stage import SAID, Stage

if TYPE_CHECKING:
    from progress.runtime.actions.inbox import Action

WAITING = "waiting"  # what a `Batch` keeps by time
SNAPSHOTS = (Node.snapshot, Stage.snapshot)  # of all attributes
SHARE, FREE = 0.05, 0.02  # of the time that calls take, and the seconds besides, that copies may take
NOTHING = object()
NO_PARTS: Mapping[str, tuple[Any, Any]] = {}


class Call:
    """A call that is being made, and what is remembered from before it."""

    __slots__ = ("action", "before", "begun", "is_noted", "is_spoilt", "parts", "waited")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.begun = monotonic()
        self.is_noted = False  # whether it is known what was before
        self.is_spoilt = False  # whether another call that may have changed the same is over since
        self.before: Mapping[str, Any] | Copy | None = None  # the node's attributes; None: the call changes none
        self.parts = NO_PARTS  # by attribute: the entry that the call uses, and a copy of it
        self.waited: Any = None  # of a `Batch`, by edge: how much waited; for a notification, all of it

    @property
    def is_known(self) -> bool:
        """Whether what was before can be told."""
        return self.is_noted and not self.is_spoilt

    def uses(self, name: str, key: Any) -> bool:
        """Whether it uses this entry of the attribute."""
        return name in self.parts and bool(self.parts[name][0] == key)


class Underway:
    """The calls of one node that are being made, in a run that is kept."""

    def __init__(self, node: Node) -> None:
        self.calls: list[Call] = []
        self.at_once = node.at_once
        self._node = node
        self._is_whole = type(node).snapshot not in SNAPSHOTS  # whether only the node knows what its state is
        self._is_stateless = type(node).snapshot is Mapped.snapshot
        self._slots = slots_of(type(node))
        is_usual = isinstance(node, Batch) and type(node).on_messages is Batch.on_messages
        self._lets_wait = is_usual and not self._is_whole  # messages change nothing but what waits
        usual = {*(SAID if isinstance(node, Stage) else ()), *([WAITING] if isinstance(node, Batch) else ())}
        self._usual = frozenset(usual)  # attributes that are no state, or are remembered by time
        self._still: Copy | None = None  # the state that no call has changed so far
        self._spent, self._worked, self._last = 0.0, 0.0, 0.0  # seconds: copies, calls, the last copy
        self._is_changing = False  # whether something that may change was seen in it
        self.is_waited_for = False  # whether a checkpoint waits for every call: it keeps a `State`
        self._is_tried = node.at_once > 1 and not self._has_plain_state()  # the first notification will show more
        if self._is_tried:
            self.at_once = 1

    # --- a call ------------------------------------------------------------------------------------------------------

    def begin(self, action: Action) -> None:
        """A call is going to be made."""
        self.calls.append(Call(action))

    def note(self, action: Action, is_awaited: bool) -> None:
        """Remember what is, in the thread that makes the call. Cost: that of a copy of what may change."""
        call = self._call(action)
        if self._is_stateless:
            call.is_noted = True
            return
        if isinstance(self._node, Batch):
            here = self._node.waiting.get(action.time)
            call.waited = here if action.edge is None else {edge: len(values) for edge, values in (here or {}).items()}
        try:
            call.is_noted = self._is_noted(call, is_awaited or self._is_cheap())
        except Exception:  # what cannot be copied, or an `entry` that fails: it is waited for
            call.is_noted = False

    def _is_noted(self, call: Call, may_copy: bool) -> bool:
        if self.is_waited_for:
            return False
        if call.action.edge is not None and self._lets_wait:
            return True
        if self._still is not None:
            call.before = self._still
        elif not self._is_changing and self._has_plain_state():
            call.before = self._own()
        elif self.at_once > 1:  # what could be copied now may be half changed by another call
            self.at_once = 1
            return False
        else:
            self._is_changing = True
            if not may_copy:
                return False
            call.before = self._copy(self._state)
        for name in self._parts():
            if not may_copy:
                return False
            key = self._node.entry(call.action.time)
            held = getattr(self._node, name)
            call.parts = {**call.parts, name: (key, self._copy(held.get, key) if key in held else NOTHING)}
        return True

    def ended(self, action: Action) -> None:
        """What a call has done is entered."""
        call = self._call(action)
        self._worked += monotonic() - call.begun
        self.calls = [each for each in self.calls if each is not call]
        if call.parts:
            for other in self.calls:
                other.is_spoilt |= any(other.uses(name, key) for name, (key, _) in call.parts.items())
        if self._is_tried and call.is_noted and isinstance(call.before, Copy):
            is_still = call.before.is_still(self._state())
            if is_still and action.edge is None:
                self._still = call.before
                self.at_once = self._node.at_once
            self._is_tried = is_still and action.edge is not None

    def _call(self, action: Action) -> Call:
        last = self.calls[-1]
        return last if last.action is action else next(call for call in self.calls if call.action is action)

    # --- a checkpoint ------------------------------------------------------------------------------------------------

    def is_known(self) -> bool:
        """Whether it is known what the node's state was before the calls that are being made."""
        if self.calls and self.at_once > 1 and not self._is_unchanged():
            self._still, self.at_once = None, 1
            for call in self.calls:
                call.is_spoilt = True
        return all(call.is_known for call in self.calls)

    def _is_unchanged(self) -> bool:
        """Whether no call of several has changed what they share."""
        if self._still is not None:
            return self._still.is_still(self._state())
        now = self._own()
        return all(call.before is None or _are_same(call.before, now) for call in self.calls)

    def snapshot(self) -> Any:
        """The state of the node before the calls that are being made."""
        node = self._node
        if not self.calls:
            return node.snapshot()
        before = next((call.before for call in self.calls if call.before is not None), self._own())
        own = before.made() if isinstance(before, Copy) else before
        if self._is_whole:
            return own if isinstance(before, Copy) else node.snapshot()
        apart = self._apart()
        state = {**{name: value for name, value in node.snapshot().items() if name in apart}, **own}
        for name in (*self._parts(), *({WAITING} & apart)):
            state[name] = state[name].copy()  # at once, whatever is done to it elsewhere
        for call in reversed(self.calls):
            self._undo(call, state)
        return state

    def _undo(self, call: Call, state: dict[str, Any]) -> None:
        for name, (key, copy) in call.parts.items():
            if copy is NOTHING:
                state[name].pop(key, None)
            else:
                state[name][key] = copy.made()
        if call.waited is None:
            return
        time, waiting = call.action.time, state[WAITING]
        if call.action.edge is None:
            waiting[time] = call.waited
        elif call.waited:
            waiting[time] = {edge: waiting[time][edge][:size] for edge, size in call.waited.items()}
        else:
            waiting.pop(time, None)

    # --- states ------------------------------------------------------------------------------------------------------

    def _has_plain_state(self) -> bool:
        if self._is_whole:
            return self._is_stateless
        return all(map(is_plain, self._own().values()))

    def _state(self) -> Any:
        """What is copied before a call."""
        return self._node.snapshot() if self._is_whole else self._own()

    def _own(self) -> dict[str, Any]:
        """The attributes that are the node's state, but for what is remembered by time."""
        if self._is_whole:
            return {}
        node, apart = self._node, self._apart()
        found = {name: getattr(node, name) for name in self._slots if hasattr(node, name)}
        return {name: value for name, value in {**found, **vars(node).copy()}.items() if name not in apart}

    def _apart(self) -> frozenset[str]:
        return self._usual.union(self._parts()) if self._node.by_time else self._usual

    def _parts(self) -> list[str]:
        """The attributes of which a call uses one entry; as long as they are dicts."""
        return [name for name in self._node.by_time if isinstance(getattr(self._node, name, None), dict)]

    def _is_cheap(self) -> bool:
        """Whether there is time for another copy."""
        return self._spent + self._last <= FREE + SHARE * self._worked

    def _copy(self, value: Callable[..., Any], *of: Any) -> Copy:
        clock = monotonic if self._is_whole else thread_time  # who knows what a snapshot of its own waits for
        begun = clock()
        copy = Copy(value(*of))
        self._last = clock() - begun
        self._spent += self._last
        return copy


def _are_same(before: Any, now: Mapping[str, Any]) -> bool:
    return now.keys() == before.keys() and all(value is before[name] for name, value in now.items())
