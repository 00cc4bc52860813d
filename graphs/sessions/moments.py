"""Moments of a film: the next delivery at a node, and what freed a request.

What follows from the model (A&I 4.2) makes searching short. Clock only shrinks, so a request that has become free
waits no more: the mark after which it is free is found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from graphs.sessions.cursor import Cursor
from graphs.sessions.film import Film
from graphs.sessions.replay import Replay
from progress.errors import PointstampError
from progress.plain import write_time
from progress.tracking.blocking import Blocker


class Freed(NamedTuple):
    """The moment at which a request became free."""

    line: int
    asked: bool  # whether it was asked for in that very line, so that it waited for nothing
    by: tuple[Blocker, ...]  # what kept it waiting until then: that line took all of them away


def next_delivery(film: Film, node: str, line: int) -> int | None:
    """The first line after this one in which a node is notified; None where there is none as far as is known.

    Plays the lines between two marks twice at most: those that have none are known.
    """
    with film.looking(line) as cursor:
        number = _number(film, node)
        for begin, end in film.stretches():
            if end.line > line and end.delivered >> number & 1:
                cursor.seek(max(line, begin.line))
                if cursor.play_to(end.line, lambda replay: _delivers(replay, node)):
                    return cursor.replay.line
        return None


def freed_by(film: Film, node: str, time: Any, line: int) -> Freed | None:
    """The moment at which a request that is pending at a line became free, or becomes so; None where it never does.

    Of one that waits: the stretch in which it becomes free is found by bisection, since Clock only shrinks. Of one
    that is free: looked for backwards, where requests at its node became free.
    """
    with film.looking(line) as cursor:
        number = _number(film, node)
        tracker = cursor.seek(line).session.tracker
        if (node, time) not in tracker.pending():
            raise PointstampError(
                "PS507", f"no request waits at {node!r} for {time!r} there", "a request that is listed"
            )
        if (node, time) in tracker.eligible():
            found = _freed_before(film, cursor, node, number, time, line)
        else:
            found = _freed_after(film, cursor, node, time, line)
        if found is None:
            return None
        tracker = cursor.seek(found - 1).session.tracker
        was_pending = (node, time) in tracker.pending() and (node, time) not in tracker.eligible()
        return Freed(found, not was_pending, tracker.why(node, time).by)


def _freed_after(film: Film, cursor: Cursor, node: str, time: Any, line: int) -> int | None:
    """The line in which a request becomes free that waits at an earlier one."""
    marks = film.marks
    written = [node, write_time(time)]
    place = bisect_left(marks, True, lo=marks.after(line), key=lambda mark: not mark.waits(written))
    end = marks[place].line if place < len(marks) else film.known
    return _find_free(cursor, node, time, max(line, marks[place - 1].line), end)


def _freed_before(film: Film, cursor: Cursor, node: str, number: int, time: Any, line: int) -> int | None:
    """The line in which a request became free that is so at a later one."""
    for begin, end in reversed([*film.stretches()]):
        if begin.line < line and end.freed >> number & 1:
            found, place = None, begin.line
            while (freed := _find_free(cursor, node, time, place, min(line, end.line))) is not None:
                found, place = freed, freed
            if found is not None:
                return found
    return None


def _find_free(cursor: Cursor, node: str, time: Any, begin: int, end: int) -> int | None:
    """The first line after one, up to another, in which a request becomes free."""
    cursor.seek(begin)
    if not cursor.play_to(end, lambda replay: [node, write_time(time)] in replay.answer.get("ready", ())):
        return None
    return cursor.replay.line


def _delivers(replay: Replay, node: str) -> bool:
    return any(item[0] == node for item in replay.taken.get("delivered", ()))


def _number(film: Film, node: str) -> int:
    network = film.graph.network()
    number = network.numbers.get(node)
    if number is None or number >= len(network.nodes):
        raise PointstampError("PS502", f"there is no node {node!r}", "a node of the graph")
    return number
