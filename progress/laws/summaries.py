"""The laws of summaries, each as the search for its counterexamples; its docstring is its sentence (A&I 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, TypeAlias

from progress.laws.domains import Times, Witnesses, ordered_pairs
from progress.summary import NoMinimalTimes, OpaqueSummary, Summary

Counterexamples: TypeAlias = Callable[[Summary, Times], Iterator[Witnesses]]


def results_of(summary: Summary, time: Any) -> tuple[Any, ...] | None:
    """What a summary gives; None where no antichain stands for it."""
    try:
        return summary.apply(time)
    except NoMinimalTimes:
        return None


def _results_are_times_of_the_target(summary: Summary, times: Times) -> Iterator[Witnesses]:
    """each time of apply(t) is a time of the target domain."""
    for time in times:
        if isinstance(summary, OpaqueSummary):  # whose own apply would raise instead of giving a wrong result
            results = tuple(summary.custom.apply(time))
        else:
            results = results_of(summary, time) or ()
        yield from ({"t": time, "result": result} for result in results if not summary.target.contains(result))


def _apply_is_a_function(summary: Summary, times: Times) -> Iterator[Witnesses]:
    """apply(t) gives the same times whenever it is asked."""
    for time in times:
        first, second = results_of(summary, time), results_of(summary, time)
        if first != second:
            yield {"t": time, "first": first, "then": second}


def _results_are_an_antichain(summary: Summary, times: Times) -> Iterator[Witnesses]:
    """no time of apply(t) lies at or below another one."""
    for time in times:
        for one, other in permutations(results_of(summary, time) or (), 2):
            if summary.target.less_equal(one, other):
                yield {"t": time, "lower": one, "higher": other}


def _monotone(summary: Summary, times: Times) -> Iterator[Witnesses]:
    """where t <= u, no time of apply(u) lies strictly below one of apply(t): later in is not earlier out."""
    for time, later, before, after in _rising(summary, times):
        for one in before:
            for other in after:
                if one != other and summary.target.less_equal(other, one):
                    yield {"t": time, "u": later, "of apply(t)": one, "of apply(u)": other}


def _hull(summary: Summary, times: Times) -> Iterator[Witnesses]:
    """where t <= u, each time of apply(u) lies at or above one of apply(t): what is offered above t is offered at t."""
    for time, later, before, after in _rising(summary, times):
        for result in after:
            if not any(summary.target.less_equal(lower, result) for lower in before):
                yield {"t": time, "u": later, "apply(t)": before, "of apply(u)": result}


def _rising(summary: Summary, times: Times) -> Iterator[tuple[Any, Any, tuple[Any, ...], tuple[Any, ...]]]:
    """All t <= u of the sample, with what the summary gives at both."""
    given = {time: results for time in times if (results := results_of(summary, time)) is not None}
    for time, later in ordered_pairs(summary.source, list(given)):
        yield time, later, given[time], given[later]


SUMMARY_LAWS: dict[str, Counterexamples] = {
    "results are times of the target": _results_are_times_of_the_target,
    "apply is a function": _apply_is_a_function,
    "results are an antichain": _results_are_an_antichain,
    "monotone": _monotone,
    "hull": _hull,
}
