"""The witness of a diagnostic as steps to show: where, at which time, and what the step did to the time.

A witness is plain data (`graphs.checking.diagnostic`), so times are JSON here, without their domain. What is said of a
step holds in every domain: "falls" is said only of numbers, and of lists whose first difference is a smaller number.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

from graphs.checking.diagnostic import Diagnostic
from graphs.wording import printable, shown_name, shown_time


class Step(NamedTuple):
    """One row of a walk. `is_node`: a node, not an edge; `falls`: this step moved the time down."""

    location: str
    time: str
    is_node: bool
    note: str
    falls: bool


class Walk(NamedTuple):
    """The steps of a witness. `returns`: the last one is back at the node of the first.

    `left_out`: how many steps are missing in the middle of a very long one.
    """

    steps: list[Step]
    returns: bool
    left_out: int = 0


def walk_of(diagnostic: Diagnostic) -> Walk | None:
    """The walk that shows a diagnostic, None where its witness is none.

    A path of the engine ends on an edge into its first node; the arrival there is added, so that the round is closed.
    """
    witness = diagnostic.witness
    if witness.get("walks"):
        return Walk([_told(*step) for walk in witness["walks"] for step in walk], returns=False)
    path = witness.get("path") or witness.get("round")
    if path:
        start, arrival = path[0], path[-1][1]
        steps = [_step(path, position, witness.get("times")) for position in range(len(path))]
        steps.append(
            Step(shown_name(start[0]), shown_time(arrival), True, _arrival(diagnostic.code, start[1], arrival), False)
        )
        return Walk(steps, returns=True, left_out=witness.get("left_out", 0))
    if "requests" in witness:
        node, time, requested = witness["node"], witness["time"], witness["requests"]
        note, falls = change(time, requested)
        asks = "asks for a notification" + (f", {note}" if note else "")
        name = shown_name(node)
        return Walk(
            [
                Step(name, shown_time(time), True, "an event", False),
                Step(name, shown_time(requested), True, asks, falls),
            ],
            returns=False,
        )
    return None


def _told(name: str, time: Any, note: str = "") -> Step:
    """A step of a graph of another tool: its nodes alone, and what is to be said of one."""
    return Step(shown_name(name), shown_time(time), True, printable(note), False)


def change(before: Any, after: Any) -> tuple[str, bool]:
    """What became of a time, in a few words, and whether it fell."""
    if before == after:
        return "", False
    if _is_number(before) and _is_number(after):
        return (
            (f"{shown_time(after - before)} later", False)
            if after > before
            else (f"falls by {shown_time(before - after)}", True)
        )
    if not isinstance(before, list) and not isinstance(after, list):
        return "another time", False
    lengths = [len(time) if isinstance(time, list) else 1 for time in (before, after)]
    if lengths[0] != lengths[1]:
        return f"{'gains' if lengths[0] < lengths[1] else 'drops'} a coordinate", False
    if not isinstance(before, list) or not isinstance(after, list):
        return "another time", False
    position = next(place for place in range(lengths[0]) if before[place] != after[place])
    note, falls = change(before[position], after[position])
    return (f"coordinate {position + 1}: {note}" if lengths[0] > 1 else note), falls


def _is_number(time: object) -> TypeGuard[int]:
    return isinstance(time, int) and not isinstance(time, bool)


def _step(path: list[list[Any]], position: int, times: Any) -> Step:
    location, time = path[position]
    note, falls = ("", False) if not position else _changed(path[position - 1][1], time, times)
    return Step(shown_name(location), shown_time(time), position % 2 == 0, note, falls)


def _changed(before: Any, after: Any, times: Any) -> tuple[str, bool]:
    """`change`, in a graph with calls, whose `times` are stacks, or epochs with stacks, in the words of calls."""
    if times is None or before == after:
        return change(before, after)
    if times != "stack":
        (_, before), (_, after) = before, after  # calls and returns leave the epoch as it is
    if after[:-1] == before and after:
        return f"calls {shown_name(after[-1])}", False
    return (f"returns from {shown_name(before[-1])}" if before and before[:-1] == after else "another stack"), False


def _arrival(code: str, start: Any, arrival: Any) -> str:
    if start == arrival:
        return "back at the time it left"
    if code == "PS202":
        return f"back neither before nor after {shown_time(start)}"
    return f"back before it left at {shown_time(start)}"
