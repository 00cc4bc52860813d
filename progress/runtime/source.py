"""Where messages come from: anything that can be iterated over, as what an input edge brings (A&I 4.2, `Inp`).

A source is an iterable, an async iterable, a function that returns one, or an object whose `items_for(engine, edge,
domain)` does: the time policies are such objects (`progress.runtime.policies`). Its items are

* `(time, value)`, a message,
* `Messages(time, values)`, several of one time, at the cost of one,
* `Late(time, value)`, a message that is late whatever the time is, even one that the input does not have,
* `Refused(value, error, place)`: something that no message can be made of, which stops the run, or is a dead letter,
* `Aside(values)`, what has no time at all, for the sink that the items have as their attribute `aside`,
* `Complete(times)`: from now on only messages at or after one of these times come,
* `SILENT`: nothing has come for now; a source that has to wait may say so instead of blocking.

A source that says `SILENT` may have a `handle`, a file descriptor that can be read when there is something again. One
that never blocks, and is quick, says so by `is_prompt`; lists and tuples are, too. Others are read by a thread where an
event loop must not wait for them.

A source of several parts, each of which brings the same again from a position on, but not in the same order as others,
has `turns()`, which says in which order they came in since it was asked last, as plain data, and `follow(turns)`, which
has what comes next come in that order.

A message at a time that the input has completed is *late*. It is never lost: it goes to the side output that the items
name by their attribute `late`, else to `late`. Where that is an input edge of the graph that has no source of its own,
the message comes in there, as `(time, value)`, at the first time that its input had open when it was read. Where the
items have an attribute `opens`, the input opens at these times, else at the least ones of its domain; an input over
`int`, which has none, needs it.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from os import PathLike
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar, Union

from progress.antichain import minimal_elements
from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, opening_times
from progress.runtime.failure import failures, task_of_now
from progress.runtime.inputs.pace import Pace
from progress.runtime.source_failure import Refused, SourceFailed
from progress.tracking.refusal import no_time_there

if TYPE_CHECKING:
    from progress.runtime.actions.core import Core
    from progress.runtime.inputs.ahead import Ahead


class _Times(NamedTuple):
    times: Collection[Any]


class Complete(_Times):
    """Only messages at or after one of these times still come; none closes the input.

    It is refused where it is made (PS706) if it is given one time and not several: that of `Complete(5)` is forgotten
    easily.

    Raises
    ------
    PointstampError
        PS706 where it is given one time and not several.

    Examples
    --------
    >>> from pointstamp import Complete
    >>> Complete([3])
    Complete(times=[3])
    """

    __slots__ = ()

    def __new__(cls, times: Collection[Any]) -> Complete:
        if type(times) not in SEVERAL and (isinstance(times, str) or not hasattr(times, "__len__")):
            right = f"several times, Complete([{brief(times)}]); none closes the input"
            raise PointstampError("PS706", f"Complete({brief(times)}) is no way to complete times", right)
        return super().__new__(cls, times)


SEVERAL = frozenset({tuple, list})  # types that need no second look


class Messages(NamedTuple):
    """Several messages of one time.

    Examples
    --------
    >>> from pointstamp import Dataflow, Messages, from_edges
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]))
    >>> flow.run(sources={"in->a": [Messages(0, ["x", "y"])]})
    {'a->out': [(0, 'x'), (0, 'y')]}
    """

    time: Any
    values: Sequence[Any]


class Late(NamedTuple):
    """A message that is too late."""

    time: Any
    value: Any


class Aside(NamedTuple):
    """What has no time."""

    values: Sequence[Any]


class _Silent:
    """Nothing has come for now."""

    def __repr__(self) -> str:
        return "SILENT"


SILENT = _Silent()

Items: TypeAlias = Iterable[Any] | AsyncIterable[Any]
Source: TypeAlias = Union[Items, Callable[[], Items], "ForEngine"]


class ForEngine(Protocol):
    """A source that reads itself differently in different engines, or at different edges."""

    def items_for(self, engine: str, edge: str, domain: Domain) -> Iterator[Any] | AsyncIterator[Any]:
        """The items of a run in this engine, for an edge that has these times."""
        ...


class _End:
    """The source has ended."""


END = _End()
OFTEN = 0.005  # seconds between looks at whether a source that says that it has nothing has something
MARKS = frozenset(
    {Aside, Complete, Late, Messages, Refused, _Silent, _End}
)  # types of items that are not single messages
READ = frozenset({Aside, Late, Messages, Refused})  # those of them that bring something


# items that are all there, and do not depend on when they are asked for
AT_HAND: tuple[type, ...] = (type(iter([])), type(iter(())))


def _is_read(item: Any) -> bool:
    """Whether an item counts as read, as messages do."""
    return type(item) not in MARKS or type(item) in READ


class Brought(NamedTuple):
    """What one look at a source gave: messages by time, where the input stands now, what is late, what is malformed,
    what has no time.
    """

    batches: dict[Any, list[Any]]
    opened: tuple[Any, ...] | None
    late: list[tuple[Any, Any]]
    is_silent: bool
    refused: Sequence[SourceFailed] = ()
    aside: Sequence[Any] = ()
    late_inside: Mapping[Any, list[tuple[Any, Any]]] = MappingProxyType({})  # what is late and comes in elsewhere

    @property
    def size(self) -> int:
        """How many messages there are."""
        return sum(map(len, self.batches.values()))

    def written(self) -> Any:
        """All of it as plain data, if its values are; the inverse of `read`."""
        refused = [(each.code, each.message, each.hint, each.value, each.place) for each in self.refused]
        late_inside = {time: list(each) for time, each in self.late_inside.items()}
        return self.batches, self.opened, self.late, refused, list(self.aside), late_inside

    @classmethod
    def read(cls, edge: str, written: Any) -> Brought:
        """What was written of what an edge has brought."""
        batches, opened, late, refused, aside, late_inside = written
        failures = [
            SourceFailed(edge, PointstampError(code, message, hint), value, place)
            for code, message, hint, value, place in refused
        ]
        return cls(batches, opened, late, is_silent=False, refused=failures, aside=aside, late_inside=late_inside)


def takes_turns(items: Any) -> bool:
    """Whether a source says in which order its parts came in, and can be told; one may have such names for its own."""
    can = all(callable(getattr(items, name, None)) for name in ("turns", "follow"))
    return can and hasattr(items, "position")


class Feed:
    """The items of one source on their way to an input edge.

    Items are read by `look`, or somewhere else, and then given to `digest_arrived`.
    """

    def __init__(
        self, edge: str, domain: Domain, opened: tuple[Any, ...], items: Iterator[Any] | AsyncIterator[Any]
    ) -> None:
        self.edge = edge
        self.items = items
        self.late_name: str = getattr(items, "late", "late")
        self.late_edge = ""  # the input edge on which late data come in; none: they leave
        self.dead_letters = ""  # the side output of what no message can be made of; none: that stops the run
        self.handle: int | None = getattr(items, "handle", None)
        self.is_at_hand: bool = type(items) in AT_HAND or getattr(items, "is_at_hand", False)
        self.is_replayed_alike: bool = getattr(items, "replays_alike", False)  # behind a position the same comes again
        self.takes_turns = takes_turns(items)  # whether it says in which order its parts came in
        is_placed = getattr(items, "goes_on", False) is True and hasattr(items, "position")
        self.begins_there = self.takes_turns or (is_placed and not hasattr(items, "go_to"))  # at a position, by itself
        self.is_prompt: bool = self.is_at_hand or getattr(items, "is_prompt", False)
        self.pace = None if self.is_prompt else Pace()
        self.ahead: Ahead | None = None  # what bounds its times in flight
        self.is_logged = False  # whether what it brings is written down, since it does not bring that again
        self.is_over = False
        self.is_entering = False  # whether it stands behind something that has not entered the run
        self.taken = 0  # how many messages were digested
        self.marks = 0  # how many other items, but silences
        self.marks_behind = 0  # how many of them after the last message
        self._skip = 0  # how many of them come again
        self._told = (0, 0)  # what `brought_since` has said
        self._passed = 0  # how many marks after these, where what came next is done again
        self._digested: Callable[[int], None] | None = getattr(items, "digested", None)
        self._domain = domain
        self._opened = opened

    def look(self, most: int, moves: int = 1, *, is_paced: bool = False) -> Brought:
        """Take at most so many items, up to the next silence, or the last of so many that move the input.

        Where it is paced, up to where the source has made the program wait, if it may do that.
        """
        assert isinstance(self.items, Iterator)
        try:
            while self._skip and (item := next(self.items, END)) is not END:
                if item is SILENT:
                    return Brought({}, None, [], is_silent=True)
                self._skip -= _is_read(item)
            if self._skip:
                raise self._too_few()
            pace = self.pace.begin() if is_paced and self.pace is not None else None
            return self.digest(islice(self.items, most), most, moves, pace)
        except failures() as error:
            raise self.failed(error) from None

    async def arriving(self) -> AsyncIterator[Any]:
        """The items of a source that is awaited."""
        assert isinstance(self.items, AsyncIterator)
        task = task_of_now()
        try:
            async for item in self.items:
                yield item
        except failures() as error:
            if task_of_now() is not task or (task is not None and task.cancelling()):  # nobody waits any more
                raise
            raise self.failed(error) from None

    def failed(self, error: BaseException) -> BaseException:
        """What stops the run when the source raises this: a failure that names the edge; what has a code is one."""
        return SourceFailed(self.edge, error) if _is_bare(error) else error

    def digest_arrived(self, items: Iterable[Any]) -> Brought:
        """`digest` of what was read somewhere else; where it raises, as a time of the user's own may, that is named."""
        try:
            return self.digest(items)
        except failures() as error:
            raise self.failed(error) from None

    def digest(
        self, items: Iterable[Any], most: int | None = None, moves: int = 1, pace: Pace | None = None
    ) -> Brought:
        """All these items as one step: a message belongs to the step even if a later item completes its time.

        With `most` it ends as `look` says, and fewer than `most` are the end of the source.
        Cost: O(items), and O(width of the frontier) for each time that is new in it.
        """
        self.is_entering = True  # until `Running.brought` has entered it
        batches: dict[Any, list[Any]] = {}
        late: list[tuple[Any, Any]] = []
        late_inside: dict[Any, list[tuple[Any, Any]]] = {}
        refused: list[SourceFailed] = []
        aside: list[Any] = []
        opened = None
        is_silent = False
        finished: list[tuple[Any, list[Any]]] = []
        taken = marks = silences = many = 0
        reads, behind = 0, self.marks_behind  # messages up to the last mark, and marks behind the last message
        if self._skip:
            items = self._beyond(items)
        if self.ahead is not None:
            items = self.ahead.within(items, is_read=most is None)
        for item in items:
            taken += 1
            if type(item) is not tuple and type(item) in MARKS:
                if type(item) is Messages:
                    try:
                        many += self._size(item)
                        self._take(item.time, item.values, batches, late)
                    except PointstampError as error:
                        refused.append(self._refused(Refused(item, error)))
                    if most is not None and many >= most:
                        break
                elif type(item) is Late:
                    late.append((item.time, item.value))
                elif type(item) is Refused:
                    refused.append(self._refused(item))
                elif type(item) is Aside:
                    aside += item.values
                if type(item) in READ:
                    if pace is not None and monotonic() >= pace.until and pace.is_enough():
                        break
                    continue
                marks += 1
                if item is SILENT:
                    is_silent = True
                    silences += 1
                elif item is END:
                    if late and self.late_edge:
                        self._let_in(late, late_inside)
                    opened = self._end()
                    silences += 1
                else:
                    behind = behind + 1 if taken - marks == reads else 1
                    reads = taken - marks
                    moved = self._moved_to(item)
                    if moved != self._opened:
                        if late and self.late_edge:
                            self._let_in(late, late_inside)
                        opened = self._opened = moved
                        finished += batches.items()
                        batches = {}  # what comes from now on has to be open now
                if most is not None and (is_silent or marks >= moves):
                    break
                continue
            try:
                time, value = item
            except (TypeError, ValueError):
                refused.append(self._refused(Refused(item, self._none(item))))
            else:
                try:
                    batches[time].append(value)
                    is_known = True
                except (KeyError, TypeError, ValueError):  # the first one of its time, which may be none
                    is_known = False
                if not is_known:
                    try:
                        self._take(time, [value], batches, late)
                    except PointstampError as error:
                        refused.append(self._refused(Refused(item, error)))
            if pace is not None and monotonic() >= pace.until and pace.is_enough():
                break
        else:
            if most is not None and taken < most and not self.has_kept:
                if late and self.late_edge:
                    self._let_in(late, late_inside)
                opened = self._end()
        if late and self.late_edge:
            self._let_in(late, late_inside)
        self.taken += taken - marks
        self.marks += marks - silences
        self.marks_behind = behind if taken - marks == reads else 0
        if self._digested is not None:
            self._digested(taken - silences)
        if finished:
            finished += batches.items()
            batches = {}  # in the order in which the first of each time came
            for time, values in finished:
                if time in batches:
                    batches[time] += values
                else:
                    batches[time] = values
        return Brought(batches, opened, late, is_silent, refused, aside, late_inside)

    @property
    def is_behind(self) -> bool:
        """Whether it has something to pass over."""
        return bool(self._skip or self._passed)

    def pass_over(self, check: Callable[[], None]) -> None:
        """Pass over what was read before, and the marks behind it. Waits, and asks `check` whether to stop."""
        assert isinstance(self.items, Iterator)
        try:
            while self._skip or self._passed:
                item = next(self.items, END)
                if item is END and self._skip:
                    raise self._too_few()
                if item is SILENT:
                    check()
                    sleep(OFTEN)
                elif self._skip:
                    self._skip -= _is_read(item)
                elif item is END or _is_read(item):
                    self.items = chain(() if item is END else (item,), self.items)
                    break
                else:
                    self._passed -= 1
        except failures() as error:
            raise self.failed(error) from None

    def again(
        self, messages: int, marks: int, check: Callable[[], None], *, is_over: bool, turns: Any = None
    ) -> Brought:
        """What a run before has read: so many messages and marks, and the end. Waits as `pass_over` does."""
        assert isinstance(self.items, Iterator)
        if turns is not None:
            items: Any = self.items
            items.follow(turns)
        found: list[Any] = []
        try:
            while messages or marks:
                item = next(self.items, END)
                if item is END:
                    self.taken += messages
                    raise self._too_few()
                if item is SILENT:
                    check()
                    sleep(OFTEN)
                    continue
                found.append(item)
                is_read = _is_read(item)
                messages, marks = messages - is_read, marks - (not is_read)
            if is_over and not self.is_over:
                found.append(END)
        except failures() as error:
            raise self.failed(error) from None
        return self.digest_arrived(found)

    def brought_since(self) -> tuple[Any, ...]:
        """How many messages and marks were digested since this was asked last, and whether the source has ended.

        Of one that takes turns, these as well.
        """
        before, self._told = self._told, (self.taken, self.marks)
        items: Any = self.items
        turns = (items.turns(),) if self.takes_turns else ()
        return self.taken - before[0], self.marks - before[1], self.is_over, *turns

    def may_be_read(self, core: Core) -> bool:
        """Whether another time of it may come in; one may where nobody in the run has anything to do."""
        return self.ahead is None or self.ahead.begin(core.is_idle)

    @property
    def has_kept(self) -> bool:
        """Whether something was read and may not come in yet."""
        return self.ahead is not None and bool(self.ahead.kept)

    @property
    def place(self) -> Any:
        """Where the source says that it is; None where it does not know."""
        return getattr(self.items, "position", None)

    @property
    def position(self) -> tuple[tuple[Any, ...], bool, int]:
        """Where the input stands: from which times on it is open, whether it has ended, how many messages were read."""
        return self._opened, self.is_over, self.taken

    def resume(self, opened: tuple[Any, ...], is_over: bool, taken: int) -> None:
        """Go on from a position; messages up to there are passed over, unless the source has done that itself."""
        self._opened, self.is_over, self.taken = opened, is_over, taken
        goes_on = getattr(self.items, "goes_on", False)
        self._skip = 0 if goes_on else taken
        self._passed = 0 if goes_on else self.marks_behind
        self._told = (taken, self.marks)

    @property
    def stand(self) -> tuple[Any, ...]:
        """Where it stands after what it has brought, for `stand_at`."""
        return self._opened, self.is_over, self.taken, self.marks, self.marks_behind

    def stand_at(self, stand: tuple[Any, ...]) -> None:
        """It has brought what it had before; when it is read it passes over that."""
        before = self.taken
        self._opened, self.is_over, self.taken, self.marks, self.marks_behind = stand
        if not getattr(self.items, "goes_on", False):
            self._skip += self.taken - before
            self._passed = 0
        self._told = (self.taken, self.marks)

    def _beyond(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items after the messages that were read before."""
        rest = iter(items)
        for item in rest:
            if item is END:
                raise self._too_few()
            self._skip -= _is_read(item)
            if not self._skip:
                break
        return rest

    def _refused(self, item: Refused) -> SourceFailed:
        """A dead letter of what no message can be made of; it is raised where there are to be none."""
        failure = SourceFailed(self.edge, item.error, item.value, item.place)
        if not self.dead_letters:
            raise failure from None
        return failure

    def _too_few(self) -> PointstampError:
        came = self.taken - self._skip
        what = f"the source of {brief(self.edge)} ended after {came} of the {self.taken} messages that were read before"
        return PointstampError("PS736", what, "the same messages again; or another DIR for --state")

    def _end(self) -> tuple[Any, ...]:
        self.is_over = True
        self._opened = ()
        return ()

    def _take(
        self, time: Any, values: Sequence[Any], batches: dict[Any, list[Any]], late: list[tuple[Any, Any]]
    ) -> None:
        """Messages of one time; what is not a time of the input is refused."""
        found = as_time(self._domain, time)
        if found is NO_TIME:
            raise no_time_there(self.edge, time, self._domain)
        if found in batches:
            batches[found] += values
        elif self._is_open(found):
            if len(values):
                batches[found] = [*values]
        else:
            late += [(found, value) for value in values]

    def _let_in(self, late: list[tuple[Any, Any]], inside: dict[Any, list[tuple[Any, Any]]]) -> None:
        """What is late comes in at the first time that is open now; after the end it leaves, as none is."""
        if self._opened:
            inside.setdefault(self._opened[0], []).extend(late)
            late.clear()

    def _size(self, item: Messages) -> int:
        try:
            return len(item.values)
        except TypeError:
            raise self._none(item) from None

    def _none(self, item: Any) -> PointstampError:
        right = "(time, value), Messages(time, [value, ...]), or Complete([time])"
        return PointstampError("PS706", f"the source of {brief(self.edge)} gave {brief(item)}", right)

    def _is_open(self, time: Any) -> bool:
        less_equal = self._domain.less_equal
        for opened in self._opened:  # noqa: SIM110 - mostly one, for which a generator costs more than the answer
            if less_equal(opened, time):
                return True
        return False

    def _moved_to(self, complete: Complete) -> tuple[Any, ...]:
        """Where the input stands after this. What was completed once stays so."""
        times = []
        for time in complete.times:
            found = as_time(self._domain, time)
            if found is NO_TIME:
                raise no_time_there(self.edge, time, self._domain)
            if self._is_open(found):
                times.append(found)
            else:  # it asks for times that are over: those after it that are not
                for opened in self._opened:
                    times += self._domain.minimal_upper_bounds(found, opened)
        return minimal_elements(self._domain, times)


def _is_bare(error: BaseException) -> bool:
    """Whether it is an exception that does not say yet where it comes from."""
    return isinstance(error, failures()) and not isinstance(error, PointstampError)


def is_file(thing: object) -> bool:
    """Whether it is a path, a text that may be meant as one, or an open file."""
    return isinstance(thing, str | bytes | PathLike) or hasattr(thing, "readline")


def check_no_file(edge: str, source: object) -> None:
    """Refuse a file as the source of an edge (PS706): its lines have no times until something gives them some."""
    if is_file(source):
        what = f"the source of {brief(edge)} is a file, {brief(source)}"
        raise PointstampError("PS706", what, "pointstamp.JsonLines(path); or what makes (time, value) of its lines")


def items_of(source: Source, engine: str, edge: str, domain: Domain) -> Iterator[Any] | AsyncIterator[Any]:
    """The items of a source, as an engine can take them."""
    make: Callable[[str, str, Domain], Iterator[Any] | AsyncIterator[Any]] | None = getattr(source, "items_for", None)
    if make is not None:
        return make(engine, edge, domain)
    if isinstance(source, PathLike):
        check_no_file(edge, source)
    items: Any = source() if callable(source) else source
    if isinstance(items, AsyncIterable):
        if engine != "asyncio":
            raise PointstampError("PS710", "a source is an async iterable", 'engine="asyncio"; or an iterable')
        return aiter(items)
    found: Iterator[Any] = iter(items)
    return found


Begun = TypeVar("Begun")


def begun(edge: str, make: Callable[[], Begun]) -> Begun:
    """What a source gives before the run: what it raises then is as much a failure of it as what it raises later."""
    try:
        return make()
    except PointstampError:
        raise
    except failures() as error:
        raise SourceFailed(edge, error) from None


def opening(edge: str, items: object, domain: Domain) -> tuple[Any, ...]:
    """Where the input of these items opens; refused are what are no times there (PS503)."""
    opens = getattr(items, "opens", None)
    if opens is None:
        return opening_times(domain)
    times = []
    for time in opens:
        found = as_time(domain, time)
        if found is NO_TIME:
            raise no_time_there(edge, time, domain)
        times.append(found)
    return minimal_elements(domain, times)
