"""Values of every kind of plain data, and the classes of some: what the tests of its encoding write and read."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

RAN: list[str] = []  # code of classes that was run


class Pair(NamedTuple):
    """A named tuple."""

    number: int
    text: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A key whose hash is that of its part."""

    part: Any


@dataclasses.dataclass
class Noted:
    """What writes down which code of it is run."""

    number: int
    values: list[int]

    def __post_init__(self) -> None:
        RAN.append("__post_init__")

    def __setattr__(self, name: str, value: Any) -> None:
        RAN.append("__setattr__")
        object.__setattr__(self, name, value)

    def __setstate__(self, state: Any) -> None:
        RAN.append("__setstate__")

    def __del__(self) -> None:
        pass


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    """A key without a `__dict__`."""

    number: int


@dataclasses.dataclass
class Linked:
    """What may hold itself."""

    before: Linked | None
    name: str


class Colour(enum.Enum):
    """Members."""

    RED = 1
    BLUE = "b"


class Rights(enum.Flag):
    """Members that may be put together, which is no member."""

    READ = 1
    WRITE = 2


def noted() -> Noted:
    """With an attribute more than its class has."""
    value = Noted(1, [2])
    value.__dict__["extra"] = {3: 4}
    return value


def values() -> list[Any]:
    """Values of every kind."""
    berlin = ZoneInfo("Europe/Berlin")
    return [
        None, True, False, 0, -1, 127, 128, -128, -129, 1 << 62, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1,
        10**50, -(10**50), 1.5, -0.0, float("inf"), "", "äö", "\ud800", "\0", b"", b"x", bytearray(b"yy"), (), (1,),
        [], [[]], {}, {"a": [1], 2: None}, {3, 1, 2}, {"x"}, frozenset("a"), 1j, ..., range(3, 9, 2),
        datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 1, 2, 3, 4, 5), datetime.timedelta(-1, 2, 3),
        datetime.datetime(2020, 10, 25, 2, tzinfo=berlin, fold=1), datetime.time(1, 2, tzinfo=datetime.UTC),
        datetime.timezone(datetime.timedelta(hours=1), "here"), decimal.Decimal("1.50"), decimal.Decimal("-NaN"),
        fractions.Fraction(1, 3), uuid.UUID(int=7), pathlib.Path("a/b"), pathlib.PurePosixPath("c"), Counter("abca"),
        OrderedDict(b=1, a=2), defaultdict(list, {1: [2]}), deque([1, 2], 3), Pair(1, "x"), noted(), Slotted(3),
        Colour.RED, Colour.BLUE, Rights.READ, {Slotted(1): Colour.RED, Pair(1, "x"): 2},
    ]  # fmt: skip


def arrays() -> list[Any]:
    """Arrays and tables of every kind."""
    table = pd.DataFrame({
        "a": [1, 2], "b": ["x", None], "c": pd.to_datetime(["2020", "2021"]), "d": pd.Categorical(["u", "v"]),
        "e": pd.array([1, None], dtype="Int64"), "f": pd.to_datetime(["2020", "2021"]).tz_localize("Europe/Berlin"),
        "g": pd.array(["q", None], dtype="string"), "h": [True, False], "i": pd.array([1.5, None], dtype="Float64"),
    })  # fmt: skip
    return [
        np.arange(6).reshape(2, 3), np.arange(6)[::2], np.float32(1.5), np.array(["a", "bb"]), np.zeros((0, 3)),
        np.array([1, "x", None], dtype=object), np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]), np.array(5),
        np.datetime64("2020-01-01"), np.array(["2020"], dtype="M8[s]"), table, table.set_index("b"), table[["a"]][:0],
        pd.Series([1.5, 2], name="s", index=["x", "y"]), pd.Series(["a", None], dtype=object), pd.NaT, pd.NA,
        pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["p", "q"]), pd.RangeIndex(2, 8, 3, name="r"),
        pd.Timestamp("2020-01-01", tz="Europe/Berlin"), pd.Timestamp("2020").as_unit("s"), pd.Timedelta("1h"),
    ]  # fmt: skip
