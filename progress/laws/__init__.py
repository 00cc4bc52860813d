"""Every law by name, checkable on your own domain or summary with one call that answers with the first counterexample.

    check_domain(MyDomain())                                     # None, or what is Broken
    check_summary(OpaqueSummary(Nat(), Nat(), MySummary()))
    check_composition(first, second, third)
    check_comparison(first, second)

`LAWS` maps each name to its sentence. What is found is a fact; what is not found is true of the sample, which is the
domain's own unless one is handed in. Laws are checked in the order of `LAWS`: later ones rely on those before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from progress.antichain import minimal_elements
from progress.laws.domains import DOMAIN_LAWS, Times, Witnesses
from progress.laws.summaries import SUMMARY_LAWS, results_of
from progress.order import Domain
from progress.summary import Composite, NormalSummary, Summary

LAWS: dict[str, str] = {
    **{name: (law.__doc__ or "").rstrip(".") for name, law in DOMAIN_LAWS.items()},
    **{name: (law.__doc__ or "").rstrip(".") for name, law in SUMMARY_LAWS.items()},
    "composition": "f, then g gives at t the minimal times of all that g gives at the times of f.apply(t)",
    "NormalSummary.then equals Composite": "composing normal forms gives what the two give one after the other",
    "associative": "(f, then g), then h gives what f, then (g, then h) gives",
    "no later than": "where f.no_later_than(g), each time of g.apply(t) lies at or above one of f.apply(t)",
}


class Broken(NamedTuple):
    """A law that does not hold, and the values that show it."""

    law: str
    sentence: str
    witnesses: Witnesses

    def __str__(self) -> str:
        shown = ", ".join(f"{name} = {value!r}" for name, value in self.witnesses.items())
        return f"{self.law}: {self.sentence}; not so for {shown}"


def check_domain(domain: Domain, sample: Iterable[Any] | None = None) -> Broken | None:
    """The first law of domains that is broken on `sample` (`domain.sample()` unless given), None where all hold.

    What the domain's own code raises passes on, with a note that names the law. Cost: O(times ** 3) comparisons.

    Returns
    -------
    The law that is broken, with the times that show it; None where all hold.

    Examples
    --------
    >>> from pointstamp import Nat, check_domain
    >>> check_domain(Nat())
    """
    return _first_broken(DOMAIN_LAWS, domain, list(domain.sample() if sample is None else sample))


def check_summary(summary: Summary, sample: Iterable[Any] | None = None) -> Broken | None:
    """The first law of summaries that is broken on `sample`, times of `summary.source`; None where all hold.

    Passes over times at which a summary has no minimal times (`NoMinimalTimes`). Cost: O(times ** 2) comparisons.

    Returns
    -------
    The law that is broken, with the times that show it; None where all hold.

    Examples
    --------
    >>> from pointstamp import check_summary, from_edges
    >>> graph = from_edges([("a", "b")], lambda edge: {"advance": 1})
    >>> check_summary(graph.network().summaries[0])
    """
    return _first_broken(SUMMARY_LAWS, summary, list(summary.source.sample() if sample is None else sample))


def check_composition(
    first: Summary, second: Summary, third: Summary | None = None, sample: Iterable[Any] | None = None
) -> Broken | None:
    """Whether `first`, then `second` gives what the two give one after the other, and, with a `third`, associativity.

    Summaries with a method `then` are composed by it, others as `Composite`. Cost: O(times) applications.

    Returns
    -------
    The law that is broken, with the times that show it; None where all hold.

    Examples
    --------
    >>> from pointstamp import check_composition, from_edges
    >>> once = from_edges([("a", "b")], lambda edge: {"advance": 1}).network().summaries[0]
    >>> check_composition(once, once, once)
    """
    times = list(first.source.sample() if sample is None else sample)
    both_normal = isinstance(first, NormalSummary) and isinstance(second, NormalSummary)
    law = "NormalSummary.then equals Composite" if both_normal else "composition"
    together = _composed(first, second)
    for time in times:
        found, expected = results_of(together, time), _one_after_the_other(first, second, time)
        if found is not None and expected is not None and set(found) != set(expected):
            return _broken(law, {"t": time, "the composition gives": found, "one after the other": expected})
    if third is not None:
        left, right = _composed(together, third), _composed(first, _composed(second, third))
        for time in times:
            one, other = results_of(left, time), results_of(right, time)
            if one is not None and other is not None and set(one) != set(other):
                return _broken("associative", {"t": time, "(f, g), h gives": one, "f, (g, h) gives": other})
    return None


def check_comparison(one: NormalSummary, other: NormalSummary, sample: Iterable[Any] | None = None) -> Broken | None:
    """Whether `one.no_later_than(other)` says yes only where it is so; it may say no too often.

    Cost: O(times) applications.
    """
    if not one.no_later_than(other):
        return None
    for time in list(one.source.sample() if sample is None else sample):
        lower, upper = results_of(one, time), results_of(other, time)
        for result in upper or ():
            if lower is not None and not any(one.target.less_equal(before, result) for before in lower):
                return _broken("no later than", {"t": time, "f.apply(t)": lower, "of g.apply(t)": result})
    return None


def _composed(first: Summary, second: Summary) -> Summary:
    then: Callable[[Any], Summary] | None = getattr(first, "then", None)
    if then is None or (isinstance(first, NormalSummary) and not isinstance(second, NormalSummary)):
        return Composite((first, second))
    return then(second)


def _one_after_the_other(first: Summary, second: Summary, time: Any) -> tuple[Any, ...] | None:
    found: list[Any] = []
    for between in results_of(first, time) or ():
        results = results_of(second, between)
        if results is None:
            return None
        found.extend(results)
    return None if results_of(first, time) is None else minimal_elements(second.target, found)


def _first_broken(
    laws: Mapping[str, Callable[[Any, Times], Iterator[Witnesses]]], subject: object, times: Times
) -> Broken | None:
    for law, counterexamples in laws.items():
        try:
            witnesses = next(counterexamples(subject, times), None)
        except Exception as error:
            error.add_note(f"while checking that {subject!r} keeps the law {law!r}: {LAWS[law]}")
            raise
        if witnesses is not None:
            return _broken(law, witnesses)
    return None


def _broken(law: str, witnesses: Witnesses) -> Broken:
    return Broken(law, LAWS[law], witnesses)
