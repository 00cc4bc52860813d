"""Kinds of plain data besides lists, dicts, sets, numbers and texts: each by a name, and what it is made of.

Those of Python's library are here; classes of the pipeline's own are in `classes.py`, those of numpy and pandas in
`arrays.py`. Each is made of plain data, and made again of it by code that is not chosen by what is read.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Protocol

from progress.plain import Written
from progress.runtime.durable.encoding import arrays
from progress.runtime.durable.encoding.classes import (
    attributes,
    blank,
    is_named_tuple,
    member,
    member_name,
    named_tuple,
    read_class,
    written_class,
)
from progress.runtime.durable.encoding.form import SIMPLE, NotPlain, NotRead, check_key
from progress.runtime.state import State

Part = tuple[str, Any, bool]  # name, what it is made of, whether it may hold itself
FACTORIES: dict[str, Any] = {
    "": None, "int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "set": set,
    "tuple": tuple, "frozenset": frozenset, "bytes": bytes, "complex": complex, "Counter": Counter, "deque": deque,
    "OrderedDict": OrderedDict,
}  # fmt: skip
FACTORY_NAMES = {factory: name for name, factory in FACTORIES.items()}
DATA, MEMBER, NAMED, TIME, BESIDE, STATE, KEPT = "data ", "member ", "named ", "time", "beside", "state", "kept state"


def _timezone(zone: datetime.tzinfo | None) -> Any:
    """What a time zone is made of."""
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        return zone.__getinitargs__()  # type: ignore[attr-defined]
    key = getattr(zone, "key", None)
    if type(zone).__module__ == "zoneinfo" and type(key) is str:
        return key
    raise NotPlain(f"a time zone of the class {type(zone).__module__}.{type(zone).__qualname__} is not plain data")


def _zone(made_of: Any) -> datetime.tzinfo | None:
    if made_of is None:
        return None
    if type(made_of) is tuple:
        return datetime.timezone(*made_of)
    from zoneinfo import ZoneInfo

    return ZoneInfo(made_of)


def _factory(value: Any) -> str:
    try:
        return FACTORY_NAMES[value.default_factory]
    except (KeyError, TypeError):
        raise NotPlain(
            "a defaultdict has a factory of its own, which is code: one of list, dict, set, int is data"
        ) from None


WRITERS: dict[type, Callable[[Any], Part]] = {
    complex: lambda value: ("complex", (value.real, value.imag), False),
    type(...): lambda value: ("ellipsis", None, False),
    range: lambda value: ("range", (value.start, value.stop, value.step), False),
    datetime.date: lambda value: ("date", (value.year, value.month, value.day), False),
    datetime.time: lambda value: ("clock", (*_clock(value), _timezone(value.tzinfo), value.fold), False),
    datetime.datetime: lambda value: (
        "moment", (value.year, value.month, value.day, *_clock(value), _timezone(value.tzinfo), value.fold), False
    ),
    datetime.timedelta: lambda value: ("span", (value.days, value.seconds, value.microseconds), False),
    datetime.timezone: lambda value: ("zone", _timezone(value), False),
    decimal.Decimal: lambda value: ("decimal", str(value), False),
    fractions.Fraction: lambda value: ("fraction", (value.numerator, value.denominator), False),
    uuid.UUID: lambda value: ("uuid", value.int, False),
    type(pathlib.Path()): lambda value: ("path", str(value), False),
    pathlib.PurePosixPath: lambda value: ("pure path", str(value), False),
    Counter: lambda value: ("counter", dict(value), True),
    OrderedDict: lambda value: ("ordered", dict(value), True),
    defaultdict: lambda value: ("default", (_factory(value), dict(value)), True),
    deque: lambda value: ("deque", (value.maxlen, list(value)), False),
}  # fmt: skip
MAKERS: dict[str, Callable[[Any], Any]] = {
    "complex": lambda parts: complex(*parts),
    "ellipsis": lambda parts: ...,
    "range": lambda parts: range(*parts),
    "date": lambda parts: datetime.date(*parts),
    "clock": lambda parts: datetime.time(*parts[:4]).replace(tzinfo=_zone(parts[4]), fold=parts[5]),
    "moment": lambda parts: datetime.datetime(*parts[:7]).replace(tzinfo=_zone(parts[7]), fold=parts[8]),
    "span": lambda parts: datetime.timedelta(*parts),
    "zone": _zone,
    "decimal": lambda parts: decimal.Decimal(parts),
    "fraction": lambda parts: fractions.Fraction(*parts),
    "uuid": lambda parts: uuid.UUID(int=parts),
    "path": lambda parts: pathlib.Path(parts),
    "pure path": lambda parts: pathlib.PurePosixPath(parts),
    "deque": lambda parts: deque(parts[1], parts[0]),
}


def _clock(value: datetime.time | datetime.datetime) -> tuple[int, ...]:
    return value.hour, value.minute, value.second, value.microsecond


def _fill_default(value: Any, parts: Any) -> None:
    factory, items = parts
    if type(factory) is not str:
        raise NotRead("a factory without a name")
    value.default_factory = FACTORIES[factory]
    dict.update(value, _items(items))


def _fill_state(value: State[Any, Any], parts: Any) -> None:
    value.in_memory = State(in_memory=parts[0]).in_memory
    value.update(pairs(parts[1:]))


def _items(parts: Any) -> dict[Any, Any]:
    """A dict, whose keys were measured when it was read; those of a list of pairs were not."""
    if type(parts) is not dict:
        raise NotRead("it is not made of keys and values")
    return parts


def flat(values: Mapping[Any, Any]) -> list[Any]:
    """Keys and values by turns."""
    return [part for item in values.items() for part in item]


def pairs(parts: Any) -> Iterator[tuple[Any, Any]]:
    """The inverse of `flat`, of what was read; a key that takes too long to hash is refused (`NotRead`)."""
    if type(parts) is not list or len(parts) % 2:
        raise NotRead("it is not made of keys and values")
    for place in range(0, len(parts), 2):
        key = parts[place]
        if type(key) not in SIMPLE:
            check_key(key)
        yield key, parts[place + 1]


FILLED: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], None]]] = {  # how each begins, and what fills it
    "counter": (Counter, lambda value, parts: dict.update(value, _items(parts))),
    "ordered": (OrderedDict, lambda value, parts: OrderedDict.update(value, _items(parts))),
    "default": (defaultdict, _fill_default),
    STATE: (State, _fill_state),
}


class StatesByName(Protocol):
    """Keeps what is in each `State` elsewhere."""

    def name_of(self, state: State[Any, Any]) -> Any:
        """What stands for it, as plain data; `NotPlain` where it is not one that is kept."""
        ...

    def named(self, made_of: Any) -> State[Any, Any]:
        """The one for which this stands, as it was kept."""
        ...


class ValuesByName(Protocol):
    """Keeps some values outside of the bytes, which hold a name for each."""

    def takes(self, part: Any) -> bool:
        """Whether it is one of these."""
        ...

    def write(self, part: Any) -> Any:
        """Begin to keep it; a name that can be kept."""
        ...

    def read(self, name: Any) -> Any:
        """What was kept under a name."""
        ...


class Plain:
    """What a run's data consists of besides lists, dicts and the like.

    Parameters
    ----------
    read_time : the time of a graph that is written so
    beside : keeps what cannot be in the bytes
    states : keeps each `State` by its changes; None: all of it is in the bytes
    """

    def __init__(
        self,
        read_time: Callable[[Any], Any] | None = None,
        beside: ValuesByName | None = None,
        states: StatesByName | None = None,
    ) -> None:
        self._read_time = read_time
        self._beside = beside
        self._states = states

    # --- writing -----------------------------------------------------------------------------------------------------

    def parts(self, value: Any) -> Part | None:
        """Its name, what it is made of, and whether it may hold itself; None where it is not plain data."""
        kind = type(value)
        write = WRITERS.get(kind)
        if write is not None:
            return write(value)
        if isinstance(value, Written):
            return TIME, value.written(), False
        if kind is State:
            return (
                (STATE, [value.in_memory, *flat(value)], True)
                if self._states is None
                else (KEPT, self._states.name_of(value), False)
            )
        if self._beside is not None and self._beside.takes(value):
            return BESIDE, self._beside.write(value), False
        found = arrays.parts(value)
        if found is not None:
            return found
        name = written_class(kind)
        if name is None:
            return None
        if isinstance(value, Enum):
            return MEMBER + name, member_name(value), False
        if is_named_tuple(kind):
            return NAMED + name, tuple(value), False
        return DATA + name, attributes(value), True

    # --- reading -----------------------------------------------------------------------------------------------------

    def made(self, name: str, made_of: Any) -> Any:
        """A value that cannot hold itself."""
        make = MAKERS.get(name)
        try:
            if make is not None:
                return make(made_of)
            if name == TIME and self._read_time is not None:
                check_key(tuple(made_of))
                return self._read_time(made_of)
            if name == BESIDE and self._beside is not None:
                return self._beside.read(made_of)
            if name == KEPT and self._states is not None:
                return self._states.named(made_of)
            if name.startswith(MEMBER):
                return member(read_class(name.removeprefix(MEMBER)), made_of)
            if name.startswith(NAMED):
                return named_tuple(read_class(name.removeprefix(NAMED)), made_of)
            return arrays.made(name, made_of)
        except NotRead:
            raise
        except Exception as error:  # whatever Python's own classes say of what they are made of
            raise NotRead(f"{name}: {error}") from error

    def begun(self, name: str) -> tuple[Any, Callable[[Any], None]]:
        """A value that may hold itself, empty, and what fills it."""
        if name.startswith(DATA):
            return blank(read_class(name.removeprefix(DATA)))
        if name not in FILLED:
            raise NotRead(f"there is no {name}")
        make, fill = FILLED[name]
        value = make()

        def filled(made_of: Any) -> None:
            try:
                fill(value, made_of)
            except Exception as error:
                raise NotRead(f"{name}: {error}") from error

        return value, filled
