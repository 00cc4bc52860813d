"""The specifications of the operators, with the numbers of the paper (sections 4.3 to 5.2, Figures 5 and 10).

Each is a function of what its operator starts with and of the order of times. Finite streams stand for streams that go
on where productivity is concerned: a law about it is judged on what left before the end. The auxiliary definitions of
Figure 5 have their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from progress.operators.event import DT, WM, Event, Left, Right
from progress.operators.laws.specification import Case, Law, Specification
from progress.operators.streams import is_monotone, is_productive
from progress.operators.times import SidedTimes, Times
from progress.order import Domain

Pairs = Sequence[tuple[Any, Any]]
Events = Sequence[Event]


class Words:
    """The auxiliary definitions of Figure 5, over one order of times."""

    def __init__(self, times: Times) -> None:
        self.le = times.less_equal

    def ts(self, events: Events, time: Any) -> list[Any]:
        """`ts`: the times of data at or below a time, each once."""
        return distinct(event.time for event in events if type(event) is DT and self.le(event.time, time))

    def maximal(self, times: Iterable[Any]) -> list[Any]:
        """`maximal_antichain_list`."""
        found = distinct(times)
        return [time for time in found if not any(self.le(time, other) and time != other for other in found)]

    def incompletes(self, events: Events) -> list[Any]:
        """`incompletes`: the maximal times that no watermark completes, in order."""
        open_times = [event.time for event in data_of(events) if not self.is_below(event.time, watermarks_of(events))]
        return self.maximal(open_times)

    def is_below(self, time: Any, watermarks: Iterable[Any]) -> bool:
        """Whether one of these is at or above a time."""
        return any(self.le(time, watermark) for watermark in watermarks)

    def batch_ts(self, events: Events, watermark: Any) -> list[Any]:
        """`batch_ts`: the times that a batch of this watermark has."""
        if WM(watermark) in events:
            before = watermarks_of(events[: list(events).index(WM(watermark))])  # `ws`
        else:
            open_times = self.incompletes(events)  # `ws2`
            before = open_times[: open_times.index(watermark)] if watermark in open_times else open_times
            before = before + watermarks_of(events)
        return [time for time in self.ts(events, watermark) if not self.is_below(time, before)]


def distinct(items: Iterable[Any]) -> list[Any]:
    """Each once, in order."""
    found: list[Any] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


def data_of(events: Iterable[Event]) -> list[DT]:
    """The data items."""
    return [event for event in events if type(event) is DT]


def watermarks_of(events: Iterable[Event]) -> list[Any]:
    """`WMs`: the times of the watermarks."""
    return [event.time for event in events if type(event) is WM]


def coll(pairs: Iterable[tuple[Any, Any]], time: Any) -> list[Any]:
    """`coll`: the data at a time."""
    return [data for other, data in pairs if other == time]


def lcoll(events: Events, time: Any) -> list[Any]:
    """`lcoll`: the data of a stream at a time."""
    return [event.data for event in data_of(events) if event.time == time]


def set_t(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """`set_t`: the times of pairs."""
    return distinct(time for time, _ in pairs)


def same(one: Iterable[Any], other: Iterable[Any]) -> bool:
    """Whether two lists are the same multiset; items need no hash."""
    left = list(other)
    for item in one:
        if item not in left:
            return False
        left.remove(item)
    return not left


def prefixes(events: Events) -> list[list[tuple[Any, Any]]]:
    """`acc_batches n` for every n: the batches of a prefix, appended."""
    found: list[list[tuple[Any, Any]]] = [[]]
    for event in data_of(events):
        found.append([*found[-1], *event.data])
    return found


def keeps_monotone(number: str, domain: Domain | None, assumes: Callable[[Case], bool]) -> Law:
    """Monotone streams stay monotone."""

    def wrong(case: Case) -> str | None:
        return None if is_monotone(case.produced, domain=domain) else "what leaves is not monotone"

    return Law(number, "monotone streams stay monotone", wrong, assumes)


def keeps_productive(number: str, domain: Domain | None, assumes: Callable[[Case], bool]) -> Law:
    """Productive streams stay productive, whatever follows these events."""

    def wrong(case: Case) -> str | None:
        return None if is_productive(case.flowing, domain=domain) else "what leaves is not productive"

    return Law(number, "productive streams stay productive", wrong, assumes)


def of_batch(buffer: Pairs = (), *, domain: Domain | None = None) -> Specification:
    """`batch_op`: (10) to (13).

    Returns
    -------
    Its four properties.

    Examples
    --------
    >>> from progress.operators.laws.of_operators import of_batch
    >>> of_batch().name
    'batch'
    """
    words = Words(Times(domain))
    given = [DT(time, data) for time, data in buffer]

    def sound(case: Case) -> str | None:
        for event in data_of(case.produced):
            batch = event.data
            wanted = words.batch_ts([*given, *case.events], event.time)
            if not same(set_t(batch), wanted):
                return f"the batch of {event.time!r} has the times {set_t(batch)}, not {wanted}"
            for time in set_t(batch):
                if not same(coll(batch, time), lcoll(case.events, time) + coll(buffer, time)):
                    return f"the batch of {event.time!r} has {coll(batch, time)} at {time!r}"
        return None

    def complete(case: Case) -> str | None:
        times = distinct([*(event.time for event in data_of(case.events)), *set_t(buffer)])
        found = {time for event in data_of(case.produced) for time, _ in event.data}
        return next((f"{time!r} is in no batch" for time in times if time not in found), None)

    return Specification(
        "batch",
        Law(
            "10", "a batch has all of the times that its watermark is the first to complete", sound, monotone_in(domain)
        ),
        Law("11", "every time is in some batch", complete),
        keeps_monotone("12", domain, monotone_in(domain)),
        keeps_productive("13", domain, productive_in(domain)),
    )


def monotone_in(domain: Domain | None) -> Callable[[Case], bool]:
    """What comes in is monotone."""
    return lambda case: is_monotone(case.events, domain=domain)


def productive_in(domain: Domain | None) -> Callable[[Case], bool]:
    """What comes in is productive."""
    return lambda case: is_productive(case.events, domain=domain)


def of_incr(batches: Pairs = (), *, domain: Domain | None = None) -> Specification:
    """`incr_op`: (14) to (17)."""
    words = Words(Times(domain))
    start = list(batches)

    def sound(case: Case) -> str | None:
        known = prefixes(case.events)
        for event in data_of(case.produced):
            if not any(event.data == start + prefix and event.time in set_t(prefix) for prefix in known):
                return f"what leaves at {event.time!r} is not the batches of a prefix that has this time"
        return None

    def complete(case: Case) -> str | None:
        left = {event.time for event in data_of(case.produced)}
        wanted = (time for event in data_of(case.events) for time in set_t(event.data))
        return next((f"nothing leaves at {time!r}" for time in wanted if time not in left), None)

    def monotone_inside(case: Case) -> bool:
        seen: list[Any] = []
        for event in case.events:
            if type(event) is WM:
                seen.append(event.time)
            elif type(event) is DT and not all(
                words.le(time, event.time) and not words.is_below(time, seen) for time in set_t(event.data)
            ):
                return False
        return is_monotone(case.events, domain=domain)

    def productive_inside(case: Case) -> bool:
        for place, event in enumerate(case.events):
            if type(event) is DT and not (
                event.data
                and WM(event.time) in case.events[place + 1 :]
                and all(words.le(time, event.time) for time in set_t(event.data))
            ):
                return False
        return is_productive(case.events, domain=domain)

    return Specification(
        "incr",
        Law("14", "what leaves is the batches of a prefix, at a time that is in it", sound),
        Law("15", "every time of every batch leaves", complete),
        keeps_monotone("16", domain, monotone_inside),
        keeps_productive("17", domain, productive_inside),
    )


def of_incr_batch(*, domain: Domain | None = None) -> Specification:
    """`incr_batch_op` with empty buffers: (18) to (21)."""
    words = Words(Times(domain))

    def sound(case: Case) -> str | None:
        for event in data_of(case.produced):
            below = [time for time in set_t(event.data) if words.le(time, event.time)]
            wanted = words.ts(case.events, event.time)
            if not same(below, wanted):
                return f"at {event.time!r} the times below are {below}, not {wanted}"
            for time in below:
                if not same(coll(event.data, time), lcoll(case.events, time)):
                    return f"at {event.time!r} the data of {time!r} are {coll(event.data, time)}"
        return None

    def complete(case: Case) -> str | None:
        left = {event.time for event in data_of(case.produced)}
        return next((f"nothing leaves at {e.time!r}" for e in data_of(case.events) if e.time not in left), None)

    return Specification(
        "incr_batch",
        Law("20", "what leaves at a time has all data at or below it", sound, monotone_in(domain)),
        Law("21", "something leaves at every time with data", complete),
        keeps_monotone("18", domain, monotone_in(domain)),
        keeps_productive("19", domain, productive_in(domain)),
    )


def of_histogram(*, domain: Domain | None = None) -> Specification:
    """`ihist_op` and `ihist_op'` with empty buffers: (22) and (23); what they preserve follows from (18) and (19)."""
    words = Words(Times(domain))

    def sound(case: Case) -> str | None:
        for event in data_of(case.produced):
            below = [e.data for e in data_of(case.events) if words.le(e.time, event.time)]
            if event.data != Counter(below):
                return f"H({event.time!r}) is {event.data}, not {Counter(below)}"
        return None

    plain = of_incr_batch(domain=domain)
    return Specification(
        "histogram",
        Law("22", "H(t) counts all data at or below t", sound, monotone_in(domain)),
        Law("23", "every time with data has a histogram", plain.completeness.wrong),
        plain.monotone,
        plain.productive,
    )


def of_flatten(*, domain: Domain | None = None) -> Specification:
    """`flatten_op`, whose laws the paper leaves out."""

    def items(events: Events) -> list[Any]:
        return [(event.time, item) for event in data_of(events) for item in event.data]

    def sound(case: Case) -> str | None:
        wanted = items(case.events)
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return next((f"{found!r} was in no list" for found in left if found not in wanted), None)

    def complete(case: Case) -> str | None:
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return None if same(items(case.events), left) else f"{items(case.events)} came in, {left} left"

    return Specification(
        "flatten",
        Law("flatten: sound", "what leaves was in a list of its time", sound),
        Law("flatten: complete", "every item of every list leaves", complete),
        keeps_monotone("flatten: monotone", domain, monotone_in(domain)),
        keeps_productive("flatten: productive", domain, productive_in(domain)),
    )


def of_map(f: Callable[[Any, Any], Any], *, domain: Domain | None = None) -> Specification:
    """`map_op`, whose laws the paper leaves out."""

    def sound(case: Case) -> str | None:
        wanted = [(event.time, f(event.time, event.data)) for event in data_of(case.events)]
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return next((f"{found!r} is of no data" for found in left if found not in wanted), None)

    def complete(case: Case) -> str | None:
        wanted = [(event.time, f(event.time, event.data)) for event in data_of(case.events)]
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return None if same(wanted, left) else f"{wanted} is wanted, {left} left"

    return Specification(
        "map_data",
        Law("map: sound", "what leaves is f of data that came in", sound),
        Law("map: complete", "f of everything leaves", complete),
        keeps_monotone("map: monotone", domain, monotone_in(domain)),
        keeps_productive("map: productive", domain, productive_in(domain)),
    )


class Sides:
    """Streams whose times are sides of those of one domain."""

    def __init__(self, domain: Domain | None) -> None:
        self.times = SidedTimes(domain)
        self.le = self.times.less_equal

    def is_monotone(self, case: Case) -> bool:
        """No data at or below a watermark of their side."""
        seen: list[Any] = []
        for event in case.events:
            if type(event) is WM:
                seen.append(event.time)
            elif any(self.le(event.time, watermark) for watermark in seen):
                return False
        return True

    def is_productive(self, case: Case) -> bool:
        """Every item is followed by a watermark at or above it, and every watermark is reached by the other side."""
        marks = watermarks_of(case.events)
        return all(
            any(self.le(event.time, later) for later in watermarks_of(case.events[place + 1 :]))
            for place, event in enumerate(case.events)
            if type(event) is DT
        ) and all(any(self.le(swapped(mark), other) for other in marks) for mark in marks)


def swapped(time: Any) -> Any:
    """The same time on the other side."""
    return Right(time.value) if type(time) is Left else Left(time.value)


def of_union(*, domain: Domain | None = None) -> Specification:
    """`union_op` with empty buffers, whose laws the paper leaves out; they resemble (28) to (31)."""
    sides = Sides(domain)

    def sound(case: Case) -> str | None:
        wanted = [(event.time.value, event.data) for event in data_of(case.events)]
        left = [(event.time, event.data) for event in data_of(case.produced)]
        if not all(each in wanted for each in left):
            return "what leaves did not come in"
        reached = watermarks_of(case.events)
        for mark in watermarks_of(case.produced):
            if not all(any(sides.le(kind(mark), other) for other in reached) for kind in (Left, Right)):
                return f"the watermark {mark!r} left before both sides had reached it"
        return None

    def complete(case: Case) -> str | None:
        wanted = [(event.time.value, event.data) for event in data_of(case.events)]
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return None if same(wanted, left) else f"{wanted} came in, {left} left"

    return Specification(
        "union",
        Law("union: sound", "data left that came in, and watermarks that both sides have reached", sound),
        Law("union: complete", "all data leave", complete),
        keeps_monotone("union: monotone", domain, sides.is_monotone),
        keeps_productive("union: productive", domain, sides.is_productive),
    )


def of_join(match: Callable[[Any, Any], Any], *, domain: Domain | None = None) -> Specification:
    """`join_op` with empty buffers: (28) to (31)."""
    sides = Sides(domain)

    def matches(events: Events) -> list[tuple[Any, Any]]:
        data = data_of(events)
        pairs = ((one, other) for one in data for other in data if type(one.time) is Left and type(other.time) is Right)
        found = (
            (one.time.value, match(one.data, other.data)) for one, other in pairs if one.time.value == other.time.value
        )
        return [(time, item) for time, item in found if item is not None]

    def sound(case: Case) -> str | None:
        wanted = matches(case.events)
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return next((f"{found!r} is not a match of data at its time" for found in left if found not in wanted), None)

    def complete(case: Case) -> str | None:
        left = [(event.time, event.data) for event in data_of(case.produced)]
        return None if same(matches(case.events), left) else f"{matches(case.events)} match, {left} left"

    return Specification(
        "join",
        Law("28", "what leaves is a match of data of both sides at its time", sound, sides.is_monotone),
        Law("29", "every match leaves, once for each pair", complete, sides.is_monotone),
        keeps_monotone("30", domain, sides.is_monotone),
        keeps_productive("31", domain, sides.is_productive),
    )
