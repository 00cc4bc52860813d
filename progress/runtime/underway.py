"""Calls that are being made while a checkpoint is taken: it has them as if they had not begun.

A call enters what it does when it is over, all at once. Until then its messages, or its notification, count as waiting:
the tracker has them still. So a checkpoint may be taken while a call runs, if it knows what the node's state was before
the call. That is known

* of a node whose attributes are values that do not change (`is_plain`), none of which is another one now; or which
  makes one call at a time, so that what has changed was changed by this one;
* of a `Batch` besides, for the notification of a time: what waits for the time is noted when the call begins.

All other calls are waited for (`Core.is_awaited`): no such call begins then, and those that are being made come to
their end. Cost: a look at the attributes of a node for each call, in runs that are kept.
"""

from __future__ import annotations

import datetime
import decimal
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from progress.runtime.node import Batch, Mapped, Node, slots_of
from progress.runtime.stage import SAID, Stage
from progress.runtime.tables import is_of_spark

if TYPE_CHECKING:
    from progress.runtime.inbox import Action

WAITING = "waiting"  # what a `Batch` keeps by time
SNAPSHOTS = (Node.snapshot, Stage.snapshot)  # of all attributes
PLAIN = frozenset(
    {
        int, float, complex, str, bytes, bool, type(None), type(Ellipsis), range, type,
        datetime.date, datetime.datetime, datetime.time, datetime.timedelta, decimal.Decimal,
        types.FunctionType, types.BuiltinFunctionType, types.ModuleType,
    }
)  # fmt: skip


class Underway:
    """A call that is being made."""

    __slots__ = ("_before", "_node", "_waited", "action")

    def __init__(self, action: Action, node: Node) -> None:
        self.action = action
        self._node = node
        self._before = attributes(node) if may_begin(node, action.edge is None) else None
        self._waited: Any = None
        if action.edge is None and isinstance(node, Batch):
            self._waited = node.waiting.get(action.time)

    def is_known(self) -> bool:
        """Whether it is known what the node's state was before."""
        if self._before is None:
            return False
        now = attributes(self._node)
        return now is not None and (now.keys() == self._before.keys() if self._node.at_once == 1 else self._is(now))

    def _is(self, now: Mapping[str, Any]) -> bool:
        before = self._before or {}
        return now.keys() == before.keys() and all(value is before[name] for name, value in now.items())

    def undo(self, state: Any) -> Any:
        """What the state was before, of a copy of the attributes as they are."""
        if isinstance(state, dict):
            state.update({name: value for name, value in (self._before or {}).items() if name in state})
            if self._waited is not None:
                state[WAITING] = state[WAITING].copy()  # at once, whatever is done to it elsewhere
                state[WAITING][self.action.time] = self._waited
        return state


def may_begin(node: Node, is_notification: bool) -> bool:
    """Whether a checkpoint may be taken while this call is being made, as far as is known before."""
    if isinstance(node, Batch) and not is_notification:
        return False  # it only lets them wait
    return attributes(node) is not None


def attributes(node: Node) -> dict[str, Any] | None:
    """The state of a node but for what a `Batch` keeps; None where it may change and stay the same object."""
    kind = type(node)
    if kind.snapshot is Mapped.snapshot:
        return {}
    if kind.snapshot not in SNAPSHOTS:
        return None
    apart = {WAITING, *SAID} if isinstance(node, Stage) else {WAITING} if isinstance(node, Batch) else ()
    found = {name: getattr(node, name) for name in slots_of(kind) if hasattr(node, name)}
    found = {name: value for name, value in {**found, **vars(node)}.items() if name not in apart}
    return found if all(map(is_plain, found.values())) else None


def is_plain(value: Any) -> bool:
    """Whether a value is the same as long as it is the same object."""
    kind = type(value)
    if kind in PLAIN:
        return True
    if kind in (tuple, frozenset):
        return all(map(is_plain, value))
    return is_of_spark(value)
