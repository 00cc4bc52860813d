"""Why a step is refused (PS5xx): what is wrong with it, and what would have been legal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from progress.errors import PointstampError, brief, one_of_the_graph
from progress.order import Domain, right_time

Show: TypeAlias = Callable[[Any], str]  # how a time is written


class Refusal(PointstampError):
    """A step, a question or a start that a tracker does not take; it left no trace."""

    def said(self, show: Show) -> tuple[str, str]:
        """Message and hint with their times written as `show` writes them."""
        return self.message, self.hint


class RefusedTime(Refusal):
    """A refusal that names times."""

    def __init__(self, code: str, say: Callable[[Show], tuple[str, str]]) -> None:
        super().__init__(code, *say(brief))
        self._say = say

    def said(self, show: Show) -> tuple[str, str]:
        say = getattr(self, "_say", None)  # one that came from another process has its words alone
        return super().said(show) if say is None else say(show)


def wrong_form(what: str, right: str) -> Refusal:
    """Something has the wrong type or the wrong number of parts."""
    return Refusal("PS501", what, right)


def check_many(what: str, given: Any) -> None:
    """Refuse what cannot be gone through, one by one."""
    if type(given) not in (list, tuple) and given is not None and not isinstance(given, Iterable):
        raise wrong_form(f"{what} is {brief(given)}", f"a list of {what}")


def unknown_place(name: object, known: Iterable[str]) -> Refusal:
    """A name that no location has."""
    return Refusal("PS502", f"there is no location {brief(name)}", one_of_the_graph(name, known))


def no_time_there(location: str, time: object, domain: Domain) -> Refusal:
    """A value that is not a time of the location's domain."""
    right = right_time(time, domain)
    return RefusedTime("PS503", lambda show: (f"{show(time)} is not a time at {brief(location)}", right))


def wrong_kind(name: str, right: str) -> Refusal:
    """A message at a node, a request on an edge, an input that is none."""
    return Refusal("PS504", f"{brief(name)} is the wrong kind of location", right)


def count_below_zero(edge: str, time: Any, queued: int, change: int) -> Refusal:
    """More messages consumed than there are."""
    what = "a message" if change == -1 else f"{-change} messages"
    right = f"consume at most {queued}" if queued else "send the message before it is consumed"
    return RefusedTime(
        "PS505",
        lambda show: (
            f"{what} at {show(time)} would leave {brief(edge)}, where the queue has {queued or 'none'}",
            right,
        ),
    )


def outside_clock(what: str, location: str, time: Any, frontier: Sequence[Any] | None) -> Refusal:
    """Something new that nothing outstanding could result in: Clock may only shrink (A&I 4.2)."""

    def say(show: Show) -> tuple[str, str]:
        right = "a time that something outstanding could result in"
        if frontier is not None:
            right = f"a time at or after {_listed(frontier, show)}" if frontier else "nothing may come there any more"
        return f"Clock does not contain the {what} at {brief(location)} at {show(time)}", right

    return RefusedTime("PS506", say)


def not_requested(node: str, time: Any) -> Refusal:
    """A delivery that nobody waits for."""
    return RefusedTime(
        "PS507",
        lambda show: (
            f"no request is pending at {brief(node)} at {show(time)}",
            "request it first; a delivery ends it",
        ),
    )


def not_eligible(node: str, time: Any) -> Refusal:
    """A delivery that comes too early."""
    return RefusedTime(
        "PS508",
        lambda show: (
            f"the request at {brief(node)} at {show(time)} may not be delivered yet",
            "wait until it is ready; `why` tells what holds it back",
        ),
    )


def input_moves_back(edge: str, time: Any, opened: Sequence[Any]) -> Refusal:
    """An input that would open again where it was closed."""
    return RefusedTime(
        "PS509",
        lambda show: (
            f"the input {brief(edge)} would move back to {show(time)}",
            f"times at or after {_listed(opened, show)}" if opened else "it is closed, and stays so",
        ),
    )


def _listed(times: Sequence[Any], show: Show) -> str:
    return ", ".join(map(show, times[:5])) + (", ..." if len(times) > 5 else "")


def not_to_be_copied() -> Refusal:
    """A tracker that is pickled or copied."""
    return Refusal(
        "PS735",
        "a tracker is neither pickled nor copied: it has a lock, and people who wait for it",
        "tracker.snapshot() here, and Tracker.restore(graph, snapshot) there",
    )


def bad_snapshot(what: str) -> Refusal:
    """A snapshot that is none, or none of this graph."""
    return Refusal("PS511", f"this is not a snapshot: {what}", "what `snapshot()` gave for the same graph")
