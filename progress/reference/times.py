"""Times and summaries word for word: the first half of the oracle (`__init__.py` is the other).

Slow and obvious. It shares no code with the engine it judges: a domain is a plain tuple, a summary the plain data of
the graph file, a time a plain value (number, None, string, tuple; of a sum the pair (tag, value)).

The one thing that is not literally the definition is infinity. A summary means its monotone hull, the minimal times of
all it gives on t *and above*; here "above" is `times_above(domain, t, reach)`, a finite box. It suffices when `reach`
exceeds every amount that the summary subtracts: whatever it gives at a time outside the box, it gives the same or less
at a time inside. For where k is subtracted, a number beyond t + k may be replaced by the larger of t and k, of which k
can be subtracted; where nothing is, a lower number gives less, if anything. A number that must have grown by at least 1
(in lex, where then the later coordinates may start again anywhere) may be replaced by the larger of t + 1 and k, and
the later ones by their own k. Named times are not boxed. The exception: an `int` after the first coordinate of a lex
has nowhere to start again; where an earlier coordinate must grow first (a negative advance, an advance beyond a
maximum) the hull has no minimal times, and no answer is meaningful.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

Time = Any
Json = Any
Domain = tuple[Any, ...]
Times = tuple[Time, ...]

NAT: Domain = ("nat", None)


# Domains: A&I 2.1, "a partial order of times"


def domain_from_json(data: Json) -> Domain:
    """The domain a graph file names: ("nat", max), ("int",), ("unit",), ("product", parts), ("lex", parts),
    ("finite", elements, pairs a <= b), ("sum", ((tag, part), ...))."""
    match data:
        case "nat":
            return NAT
        case "int" | "unit":
            return (data,)
        case {"nat": options}:
            return ("nat", options.get("max"))
        case {"product": parts}:
            return ("product", tuple(map(domain_from_json, parts)))
        case {"lex": parts}:
            return ("lex", tuple(map(domain_from_json, parts)))
        case {"finite": options}:
            elements = frozenset(options["elements"])
            pairs = {(a, a) for a in elements} | {(a, b) for a, b in options.get("below", [])}
            while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
                pairs |= more
            return ("finite", elements, frozenset(pairs))
        case {"sum": parts}:
            return ("sum", tuple(sorted((tag, domain_from_json(part)) for tag, part in parts.items())))
    raise ValueError(f"not a domain: {data!r}")


def time_from_json(domain: Domain, data: Json) -> Time:
    """The time of the domain that the data writes; an error where it writes none."""
    time = _tuples(domain, data)
    if not contains(domain, time):
        raise ValueError(f"{data!r} is not a time of {domain!r}")
    return time


def _tuples(domain: Domain, data: Json) -> Time:
    match domain, data:
        case ("product" | "lex", parts), [*values] if len(parts) == len(values):
            return tuple(_tuples(part, value) for part, value in zip(parts, values, strict=True))
        case ("sum", options), {**tagged} if len(tagged) == 1:
            [(tag, value)] = tagged.items()
            return (tag, _tuples(dict(options)[tag], value)) if tag in dict(options) else None
    return data


def time_to_json(domain: Domain, time: Time) -> Json:
    """How a graph file writes a time."""
    match domain:
        case ("product" | "lex", parts):
            return [time_to_json(part, value) for part, value in zip(parts, time, strict=True)]
        case ("sum", options):
            return {time[0]: time_to_json(dict(options)[time[0]], time[1])}
    return time


def contains(domain: Domain, time: Time) -> bool:
    """Whether the value is a time of the domain."""
    match domain:
        case ("nat", maximum):
            return type(time) is int and time >= 0 and (maximum is None or time <= maximum)
        case ("int",):
            return type(time) is int
        case ("unit",):
            return time is None
        case ("product" | "lex", parts):
            return isinstance(time, tuple) and len(time) == len(parts) and all(map(contains, parts, time))
        case ("finite", elements, _):
            return type(time) is str and time in elements
        case ("sum", options):
            if not (isinstance(time, tuple) and len(time) == 2):
                return False
            return any(tag == time[0] and contains(part, time[1]) for tag, part in options)
    raise ValueError(f"not a domain: {domain!r}")


def less_equal(domain: Domain, a: Time, b: Time) -> bool:
    """a <= b, the partial order of the domain."""
    match domain:
        case ("nat", _) | ("int",):
            return bool(a <= b)
        case ("unit",):
            return True
        case ("product", parts):
            return all(map(less_equal, parts, a, b))
        case ("lex", parts):
            for part, x, y in zip(parts, a, b, strict=True):
                if x != y:
                    return less_equal(part, x, y)
            return True
        case ("finite", _, pairs):
            return (a, b) in pairs
        case ("sum", options):
            return bool(a[0] == b[0]) and less_equal(dict(options)[a[0]], a[1], b[1])
    raise ValueError(f"not a domain: {domain!r}")


def minimal(domain: Domain, times: Iterable[Time]) -> Times:
    """The minimal times among these, each once."""
    kept: list[Time] = []
    for time in times:
        if not any(less_equal(domain, other, time) for other in kept):
            kept = [other for other in kept if not less_equal(domain, time, other)] + [time]
    return tuple(kept)


def minimal_upper_bounds(domain: Domain, a: Time, b: Time) -> Times:
    """The minimal times that are >= both; of two values of a total order, the larger."""
    match domain:
        case ("product", parts):
            return tuple(itertools.product(*map(minimal_upper_bounds, parts, a, b)))
        case ("finite", elements, pairs):
            return minimal(domain, [c for c in sorted(elements) if (a, c) in pairs and (b, c) in pairs])
        case ("sum", options):
            if a[0] != b[0]:
                return ()
            return tuple((a[0], bound) for bound in minimal_upper_bounds(dict(options)[a[0]], a[1], b[1]))
    return (b,) if less_equal(domain, a, b) else (a,)


def window(domain: Domain, bound: int) -> list[Time]:
    """Every time whose numbers are at most `bound` (of `int`: from -bound)."""
    match domain:
        case ("nat", maximum):
            return list(range((bound if maximum is None else min(bound, maximum)) + 1))
        case ("int",):
            return list(range(-bound, bound + 1))
        case ("unit",):
            return [None]
        case ("product" | "lex", parts):
            return list(itertools.product(*(window(part, bound) for part in parts)))
        case ("finite", elements, _):
            return sorted(elements)
        case ("sum", options):
            return [(tag, time) for tag, part in options for time in window(part, bound)]
    raise ValueError(f"not a domain: {domain!r}")


def least(domain: Domain) -> Times:
    """The minimal times of the whole domain; none where some number may always be lower."""
    match domain:
        case ("nat", _):
            return (0,)
        case ("int",):
            return ()
        case ("unit",):
            return (None,)
        case ("product" | "lex", parts):
            return tuple(itertools.product(*map(least, parts)))
        case ("finite", elements, _):
            return minimal(domain, sorted(elements))
        case ("sum", options):
            return tuple((tag, time) for tag, part in options for time in least(part))
    raise ValueError(f"not a domain: {domain!r}")


def times_above(domain: Domain, time: Time, reach: int) -> list[Time]:
    """Every time >= `time` whose numbers grew by at most `reach` (in lex: or restarted at no more than `reach`)."""
    match domain:
        case ("nat", None) | ("int",):
            return list(range(time, time + reach + 1))
        case ("nat", maximum):
            return list(range(time, min(time + reach, maximum) + 1))
        case ("unit",):
            return [None]
        case ("product", parts):
            return list(itertools.product(*(times_above(part, x, reach) for part, x in zip(parts, time, strict=True))))
        case ("lex", ()):
            return [()]
        case ("lex", (part, *others)):
            rest: Domain = ("lex", tuple(others))
            same = [(time[0], *later) for later in times_above(rest, time[1:], reach)]
            grown = [first for first in times_above(part, time[0], reach) if first != time[0]]
            return same + [(first, *later) for first in grown for later in window(rest, reach)]
        case ("finite", elements, pairs):
            return [other for other in sorted(elements) if (time, other) in pairs]
        case ("sum", options):
            return [(time[0], other) for other in times_above(dict(options)[time[0]], time[1], reach)]
    raise ValueError(f"not a domain: {domain!r}")


# Summaries: the conservative form of Definition 1, "could result in, in one step"


def once(summary: Json, source: Domain, target: Domain, time: Time) -> list[Time]:
    """What the summary gives on exactly this time (the table of the specification); outside `target` is nothing."""
    results: Sequence[Time]
    match summary:
        case "identity":
            results = [time]
        case "never":
            results = []
        case {"advance": amount}:
            results = [_add(time, amount)]
        case "feedback":
            results = [_add_to_last(time)]
        case "enter" | {"enter": _}:
            results = [_entered(source, target, time, 0 if summary == "enter" else summary["enter"])]
        case "leave":
            results = [_left(source, target, time)]
        case {"at_least": least}:
            results = minimal_upper_bounds(source, time, time_from_json(source, least))
        case {"constant": constant}:
            results = [time_from_json(target, constant)]
        case {"round_up": step}:
            results = [next(multiple for multiple in range(time, time + step) if multiple % step == 0)]
        case {"map": pairs}:
            results = [_tuples(target, after) for before, after in pairs if _tuples(source, before) == time]
        case {"tag": tag}:
            results = [(tag, time)]
        case {"untag": tag}:
            results = [time[1]] if time[0] == tag else []
        case _:
            raise ValueError(f"not a summary: {summary!r}")
    return [result for result in results if contains(target, result)]


def _entered(source: Domain, target: Domain, time: Time, value: Json) -> Time:
    """One coordinate more: after the last one, or inside of it where the target has no more coordinates than before."""
    last = target[1][-1]
    if source[0] not in ("product", "lex"):
        return (time, _tuples(last, value))
    if len(source[1]) < len(target[1]):
        return (*time, _tuples(last, value))
    return (*time[:-1], _entered(source[1][-1], last, time[-1], value))


def _left(source: Domain, target: Domain, time: Time) -> Time:
    """One coordinate less: the last one, or one inside of it where the target has no fewer coordinates than before."""
    if len(time) == 2 and target == source[1][0]:
        return time[0]
    if len(target[1]) < len(source[1]):
        return time[:-1]
    return (*time[:-1], _left(source[1][-1], target[1][-1], time[-1]))


def _inner(source: Domain, hints: tuple[Domain, ...], way: str, value: Json = 0) -> list[Domain]:
    """Those of the hints to which `enter` or `leave` leads inside of the last coordinate."""
    kind, parts = source
    alike = [hint for hint in hints if hint[0] == kind and len(hint[1]) == len(parts) and hint[1][:-1] == parts[:-1]]
    summary = "leave" if way == "leave" else {"enter": value}
    return [hint for hint in alike if hint[1][-1] in moved(summary, parts[-1], tuple(each[1][-1] for each in alike))]


def _add(time: Time, amount: Json) -> Time:
    if isinstance(amount, list):
        return tuple(map(_add, time, amount))
    return time if amount == 0 else time + amount  # 0 fits every domain, named times and units too


def _add_to_last(time: Time) -> Time:
    return (*time[:-1], _add_to_last(time[-1])) if isinstance(time, tuple) else time + 1


def hull(summary: Json, source: Domain, target: Domain, time: Time, around: tuple[Domain, ...] = ()) -> Times:
    """What the summary means: the minimal times of everything it gives on `time` and above.

    Definition 2 asks for this: "there exist t'_i >= t_i and t''_i <= t_{i+1} such that (x_i, t'_i) ~>1 (x_{i+1},
    t''_i)".
    Of `then` and `any` each member means its own hull; `around` has the domains that are declared around a `then`
    within another one. Law: hull is monotone. Cost: the size of the box above `time`.
    """
    match summary:
        case {"then": members}:
            times: Times = (time,)
            middle = source
            hints = (*around, source) if around else (target, source)
            for member, after in zip(members, domains_between(members, source, target, hints)[0], strict=True):
                times = minimal(after, [result for t in times for result in hull(member, middle, after, t, hints)])
                middle = after
            return times
        case {"any": members}:
            found = [result for member in members for result in hull(member, source, target, time, around)]
            return minimal(target, found)
        case {"map": pairs}:  # gives nothing except at the times it lists
            listed = [_tuples(source, before) for before, _ in pairs]
            above = [t for t in listed if less_equal(source, time, t)]
        case _:
            above = times_above(source, time, 1 + _subtracted(summary))
    return minimal(target, [result for t in above for result in once(summary, source, target, t)])


def _subtracted(data: Json) -> int:
    """The k of the most negative number -k in the data, 0 if there is none."""
    if isinstance(data, dict):
        return _subtracted(list(data.values()))
    if isinstance(data, list):
        return max(map(_subtracted, data), default=0)
    return max(0, -data) if type(data) is int else 0


# Between the members of `then` no file names a domain


def moved(summary: Json, source: Domain, hints: tuple[Domain, ...] = ()) -> list[Domain]:
    """The domains that the summary may lead to from `source`, the preferred one first; none when it does not fit.

    `hints` are the domains declared around it: what the whole edge leads to, then where the enclosing `then` starts.
    `enter` prefers a product and appends a nat; a `constant` and a `map` prefer a hint that has their values, then to
    stay where they are; a `tag` that no hint knows makes a sum of that tag alone.
    """
    found: list[Domain]
    kind, parts = source if source[0] in ("product", "lex") else (None, ())
    match summary:
        case "enter" | {"enter": _}:
            lasts = [NAT] + [hint[1][-1] for hint in hints if hint[0] in ("product", "lex")]
            kinds, outer = ([kind], parts) if kind else (["product", "lex"], (source,))
            first = 0 if summary == "enter" else summary["enter"]
            found = [(each, (*outer, last)) for last in lasts for each in kinds if _writes(last, first)]
            found += _inner(source, hints, "enter", first) if parts else []
        case "leave":
            found = ([parts[0]] if len(parts) == 2 else []) + ([(kind, parts[:-1])] if len(parts) > 1 else [])
            found += _inner(source, hints, "leave") if len(parts) > 1 else []
        case "never":
            found = [*hints, source]
        case {"constant": constant}:
            found = [domain for domain in (*hints, source) if _writes(domain, constant)]
        case {"map": pairs} if all(_writes(source, t) for t, _ in pairs):
            found = [domain for domain in (*hints, source) if all(_writes(domain, u) for _, u in pairs)]
        case {"tag": tag}:
            known = [hint for hint in hints if hint[0] == "sum" and (tag, source) in hint[1]]
            found = [*known, ("sum", ((tag, source),))]
        case {"untag": tag}:
            found = [part for each, part in source[1] if each == tag] if source[0] == "sum" else []
        case {"any": members}:
            choices = [moved(member, source, hints) for member in members if member != "never"]
            choices = choices or [moved("never", source, hints)]
            found = [domain for domain in choices[0] if all(domain in others for others in choices)]
        case {"then": members}:
            found = [source]
            for member in members:
                found = [after for before in found for after in moved(member, before, (*hints, source))]
        case _:
            found = [source] if _keeps_domain(summary, source) else []
    return list(dict.fromkeys(found))


def _keeps_domain(summary: Json, domain: Domain) -> bool:
    """Whether this is a summary from the domain to itself."""
    kind, parts = domain if domain[0] in ("product", "lex") else (None, ())
    match summary:
        case "identity":
            return True
        case "feedback":
            return _keeps_domain("feedback", parts[-1]) if kind else domain[0] in ("nat", "int")
        case {"advance": [*amounts]}:
            each = zip(amounts, parts, strict=False)
            return len(amounts) == len(parts) and all(_keeps_domain({"advance": k}, part) for k, part in each)
        case {"advance": amount}:
            return domain[0] in ("nat", "int") or (amount == 0 and not kind)
        case {"at_least": least}:
            return _writes(domain, least)
        case {"round_up": _}:
            return domain[0] in ("nat", "int")
    return False


def _writes(domain: Domain, data: Json) -> bool:
    return contains(domain, _tuples(domain, data))


def domains_between(
    members: Sequence[Json], source: Domain, target: Domain, hints: tuple[Domain, ...] = ()
) -> list[list[Domain]]:
    """A domain after each member of `then`, the last being `target`: every choice that fits, by preference.

    `hints` are those of `moved`: a `then` within another one knows of the domains around that one, too.
    """

    def extended(number: int, before: Domain) -> list[list[Domain]]:
        if number == len(members):
            return [[]] if before == target else []
        choices = moved(members[number], before, hints or (target, source))
        return [[after, *later] for after in choices for later in extended(number + 1, after)]

    return extended(0, source)


def sufficient_bound(document: Json) -> int:
    """Up to where `condition_1`, `condition_2` and `transitive` have to look to have looked everywhere.

    On a path every result coordinate is a coordinate plus shifts, a constant, or a maximum of those; with t beyond the
    sum of all numbers of the file each of these compares with t as it does for every greater t. `round_up` repeats with
    the least common multiple of its steps. `advancing` may walk a cycle many times: for it this is a good window, no
    proof.
    """
    numbers, steps = [1], [1]

    def gather(data: Json) -> None:
        if isinstance(data, dict):
            if type(data.get("round_up")) is int:
                steps.append(data["round_up"])
            for key, value in data.items():
                gather(1 if value == "feedback" else [] if key in ("pointstamp", "label", "name") else value)
        elif isinstance(data, list):
            for value in data:
                gather(1 if value == "feedback" else value)
        elif type(data) is int:
            numbers.append(abs(data))

    gather(document)
    return sum(numbers) + math.lcm(*steps)
