"""The laws of domains, each as the search for its counterexamples; its docstring is its sentence (A&I 2.1).

Where a domain says that no finite set holds the minimal times that are asked for (`NoMinimalTimes`), as orders of
stacks do, the laws about these times have nothing to judge there and pass it over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, TypeAlias

from progress.order import Domain
from progress.summary import NoMinimalTimes

Witnesses: TypeAlias = dict[str, Any]
Times: TypeAlias = Sequence[Any]
Counterexamples: TypeAlias = Callable[[Domain, Times], Iterator[Witnesses]]


def _has_a_sample(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """there are times to check the laws with."""
    if not times:
        yield {"sample": list(times)}


def _times_are_hashable(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a time can be hashed."""
    for time in times:
        try:
            hash(time)
        except TypeError:
            yield {"t": time}


def _contains_its_sample(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """contains(t) for each time t of the sample."""
    yield from ({"t": time} for time in times if not domain.contains(time))


def _contains_answers_for_anything(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """contains(x) is true or false whatever x is, and raises nothing."""
    for value in (None, True, 0, -1, 0.5, "", "x", (), (0,), (0, 0), [], {}, object()):
        try:
            answer: object = domain.contains(value)
        except Exception as error:
            answer = error
        if not isinstance(answer, bool):
            yield {"x": value, "contains(x)": answer}


def _reflexive(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a <= a."""
    yield from ({"a": time} for time in times if not domain.less_equal(time, time))


def _antisymmetric(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a <= b and b <= a only where a == b."""
    yield from (
        {"a": one, "b": other}
        for one, other in ordered_pairs(domain, times)
        if one != other and domain.less_equal(other, one)
    )


def _transitive(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a <= b and b <= c imply a <= c."""
    above: dict[Any, dict[Any, None]] = {time: {} for time in times}
    for one, other in ordered_pairs(domain, times):
        above[one][other] = None
    for one, other in ordered_pairs(domain, times):
        yield from ({"a": one, "b": other, "c": last} for last in above[other] if last not in above[one])


def _total_as_it_says(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """where is_total is true, a <= b or b <= a."""
    for one, other in permutations(times, 2) if domain.is_total else ():
        if not domain.less_equal(one, other) and not domain.less_equal(other, one):
            yield {"a": one, "b": other}


def _sort_key_is_a_linear_extension(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a < b implies sort_key(a) < sort_key(b)."""
    for one, other in ordered_pairs(domain, times):
        if one != other and not domain.sort_key(one) < domain.sort_key(other):
            yield {"a": one, "b": other, "sort_key(a)": domain.sort_key(one), "sort_key(b)": domain.sort_key(other)}


def _sort_key_tells_times_apart(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """different times have different keys, so that sorted times are always in the same order."""
    for one, other in permutations(times, 2):
        if one != other and domain.sort_key(one) == domain.sort_key(other):
            yield {"a": one, "b": other, "sort_key of both": domain.sort_key(one)}


def _upper_bounds_are_upper_bounds(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """each of minimal_upper_bounds(a, b) is a time at or above both."""
    for one, other, bounds, _ in _bounds(domain, times):
        for bound in bounds:
            if not (domain.contains(bound) and domain.less_equal(one, bound) and domain.less_equal(other, bound)):
                yield {"a": one, "b": other, "bound": bound}


def _upper_bounds_are_minimal(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """no time at or above both a and b lies below one of minimal_upper_bounds(a, b), and none is listed twice."""
    for one, other, bounds, common in _bounds(domain, times):
        for place, bound in enumerate(bounds):
            others = (*bounds[:place], *bounds[place + 1 :])
            lower = [time for time in others if domain.less_equal(time, bound)]
            lower += [time for time in common if time != bound and domain.less_equal(time, bound)]
            if lower:
                yield {"a": one, "b": other, "bound": bound, "lower": lower[0]}


def _upper_bounds_are_complete(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """each time at or above both a and b lies at or above one of minimal_upper_bounds(a, b)."""
    for one, other, bounds, common in _bounds(domain, times):
        for time in common:
            if time not in bounds and not any(domain.less_equal(bound, time) for bound in bounds):
                yield {"a": one, "b": other, "bounds": bounds, "left out": time}


def _least_is_minimal(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """each of least() is a time, and no other time lies below it."""
    every = _least(domain)
    for least in every:
        if not domain.contains(least):
            yield {"least": least}
        for time in (*times, *every):
            if time != least and domain.less_equal(time, least):
                yield {"least": least, "lower": time}


def _least_lies_below(domain: Domain, times: Times) -> Iterator[Witnesses]:
    """a time that has an upper bound in common with one of least() lies at or above one of least()."""
    every = _least(domain)
    for time in times:
        if not any(domain.less_equal(least, time) for least in every):
            joined = [least for least in every if _minimal_upper_bounds(domain, least, time)]
            if joined:
                yield {"t": time, "least": joined[0]}


def ordered_pairs(domain: Domain, times: Times) -> list[tuple[Any, Any]]:
    """All a <= b of the sample."""
    return [(one, other) for one in times for other in times if domain.less_equal(one, other)]


def _least(domain: Domain) -> tuple[Any, ...]:
    """The least times; none where no finite set holds them."""
    try:
        return tuple(domain.least())
    except NoMinimalTimes:
        return ()


def _minimal_upper_bounds(domain: Domain, one: Any, other: Any) -> tuple[Any, ...] | None:
    """The minimal times at or above both; None where no finite set holds them."""
    try:
        return tuple(domain.minimal_upper_bounds(one, other))
    except NoMinimalTimes:
        return None


def _bounds(domain: Domain, times: Times) -> Iterator[tuple[Any, Any, tuple[Any, ...], list[Any]]]:
    """All a, b of the sample, their minimal upper bounds, and the times of the sample at or above both; those pairs
    left out whose bounds no finite set holds."""
    above: dict[Any, list[Any]] = {time: [] for time in times}
    for one, other in ordered_pairs(domain, times):
        above[one].append(other)
    for one in times:
        for other in times:
            among = set(above[other])
            common = [time for time in above[one] if time in among]
            bounds = _minimal_upper_bounds(domain, one, other)
            if bounds is not None:
                yield one, other, bounds, common


DOMAIN_LAWS: dict[str, Counterexamples] = {
    "has a sample": _has_a_sample,
    "times are hashable": _times_are_hashable,
    "contains its sample": _contains_its_sample,
    "contains answers for anything": _contains_answers_for_anything,
    "reflexive": _reflexive,
    "antisymmetric": _antisymmetric,
    "transitive": _transitive,
    "total as it says": _total_as_it_says,
    "sort key is a linear extension": _sort_key_is_a_linear_extension,
    "sort key tells times apart": _sort_key_tells_times_apart,
    "upper bounds are upper bounds": _upper_bounds_are_upper_bounds,
    "upper bounds are minimal": _upper_bounds_are_minimal,
    "upper bounds are complete": _upper_bounds_are_complete,
    "least is minimal": _least_is_minimal,
    "least lies below": _least_lies_below,
}
