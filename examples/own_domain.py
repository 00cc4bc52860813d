"""Times and summaries of your own: working days, and a step that moves to the next one.

A domain is any hashable class with the methods below; a summary is anything with `apply`. What is unknown about them is
said to be unknown: verdicts on cycles with a summary of your own are None unless a sample shows a violation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from pointstamp import Graph, OpaqueSummary, check_conditions, check_domain, check_summary, close, eligible


@dataclass(frozen=True)
class WorkingDays:
    """Monday to Friday, in the order of the calendar."""

    is_total = True

    def contains(self, value: object) -> bool:
        return type(value) is date and value.weekday() < 5

    def less_equal(self, earlier: date, later: date) -> bool:
        return earlier <= later

    def minimal_upper_bounds(self, one: date, other: date) -> tuple[date, ...]:
        return (max(one, other),)

    def least(self) -> tuple[date, ...]:
        return ()  # every day has one before it

    def sort_key(self, value: date) -> date:
        return value

    def sample(self) -> list[date]:
        return [date(2026, 1, day) for day in (1, 2, 5, 6)]


@dataclass(frozen=True)
class NextWorkingDay:
    """What is left over today is taken up on the next working day."""

    def apply(self, time: date) -> Iterable[date]:
        following = time + timedelta(days=1)
        while following.weekday() >= 5:
            following += timedelta(days=1)
        return (following,)


@dataclass(frozen=True)
class SameDay:
    """The identity. Declared summaries, as graph files name them, are for built-in domains."""

    def apply(self, time: date) -> Iterable[date]:
        return (time,)


days = WorkingDays()
for broken in (check_domain(days), check_summary(OpaqueSummary(days, days, NextWorkingDay()))):
    print(broken or "keeps all laws")

graph = Graph(time=days, name="back office")
graph.node("desk", summary=SameDay(), requests=SameDay())
graph.node("tomorrow", summary=NextWorkingDay(), requests=SameDay(), notify=False)
graph.edge(None, "desk", id="letters").edge("desk", "tomorrow", id="unfinished")
graph.edge("tomorrow", "desk", id="again").edge("desk", None, id="answers")

friday, monday = date(2026, 1, 2), date(2026, 1, 5)
print("a letter of Friday may lead to:")
for location, times in close(graph, [("letters", friday)]).frontiers.items():
    print(f"  {location:10} {', '.join(f'{time:%a %d %b}' for time in times)}")

answer = eligible(graph, messages=[("unfinished", friday)], requests=[("desk", friday), ("desk", monday)])
print("may be closed: ", *(f"{time:%A}" for _, time in answer.eligible))
print("has to wait:   ", *(f"{blocked.request.time:%A}" for blocked in answer.blocked))

report = check_conditions(graph)
print("Condition 2 holds:", report.condition_2.holds, "(nobody can prove it of a summary written in Python)")
