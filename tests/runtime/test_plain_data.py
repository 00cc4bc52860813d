"""Plain data as bytes: read again it is what it was, whatever else the bytes are is refused, and no code is run."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import os
import pathlib
import random
import threading
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from graphs import Graph
from progress.errors import PointstampError
from progress.runtime import Dataflow, Node
from progress.runtime.durable.form import DEEPEST, NotPlain, NotRead
from progress.runtime.durable.kinds import Plain
from progress.runtime.durable.reading import decoded
from progress.runtime.durable.writing import encoded
from progress.runtime.options import RunOptions
from progress.runtime.rests import Keeping
from progress.runtime.running import Running

PLAIN = Plain()
RAN: list[str] = []


class Pair(NamedTuple):
    number: int
    text: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    part: Any


@dataclasses.dataclass(eq=False)
class ByIdentity:
    others: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Noted:
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
    number: int


@dataclasses.dataclass
class Linked:
    before: Linked | None
    name: str


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Ordinary:
    pass


def noted() -> Noted:
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


def again(value: Any) -> Any:
    content = encoded(value, PLAIN.parts)
    found = decoded(content, PLAIN)
    assert encoded(found, PLAIN.parts) == content
    return found


@pytest.mark.parametrize("value", values(), ids=repr)
def test_what_is_read_is_what_was_written(value: Any) -> None:
    found = again(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)
    if value == value:
        assert found == value
    if hasattr(value, "__dict__"):
        assert vars(found) == vars(value)


@pytest.mark.parametrize("value", arrays(), ids=lambda value: type(value).__name__)
def test_arrays_and_tables_are_what_they_were(value: Any) -> None:
    found = again(value)
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        assert (found == value).all()
        assert found.flags.writeable
    elif isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(found, value)
    elif isinstance(value, pd.Series):
        pd.testing.assert_series_equal(found, value)
    elif isinstance(value, pd.Index):
        pd.testing.assert_index_equal(found, value)
    else:
        assert repr(found) == repr(value)


def test_what_is_in_two_places_is_one_object_again() -> None:
    shared: list[Any] = [1]
    shared.append(shared)
    first = Linked(None, "first")
    first.before = first
    found = again({"a": shared, "b": (shared, [first, first])})
    assert found["a"] is found["b"][0] is found["a"][1]
    assert found["b"][1][0] is found["b"][1][1] is found["b"][1][0].before
    nested: Any = (1,)
    for _ in range(DEEPEST - 2):
        nested = (nested, nested)
    assert len(encoded(nested, PLAIN.parts)) < 20 * DEEPEST


def test_sets_are_iterated_alike_here_and_where_they_are_read() -> None:
    """Of sets from which something was removed nearly half are read in another order, unless they are rebuilt."""
    rng = random.Random(1)
    differ = 0
    for rebuilds in (False, True):
        for _ in range(300):
            live = {rng.randrange(10_000) for _ in range(rng.randrange(1, 60))}
            for _ in range(rng.randrange(40)):
                live.add(rng.randrange(10_000))
                live.discard(rng.choice([*live]))
            before = set(live)
            found = decoded(encoded(live, PLAIN.parts, rebuilds=rebuilds), PLAIN)
            assert found == live == before
            for each in (live, found):  # and goes on alike
                each |= {5, 20_000}
                each.discard(5)
            assert not rebuilds or [*found] == [*live]
            differ += [*found] != [*live]
    assert differ > 30


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda: None, "a value of the class function is not plain data"),
        (os, "a value of the class module is not plain data"),
        (Ordinary(), "test_plain_data.Ordinary is not plain data"),
        (Ordinary, "a value of the class type is not plain data"),
        (threading.Lock(), "lock is not plain data"),
        (Rights.READ | Rights.WRITE, "Rights is several flags together"),
        (defaultdict(lambda: 1), "a defaultdict has a factory of its own"),
        (pytest.Item, "is not plain data"),
        (type("Number", (int,), {})(3), "Number is not plain data"),
        (dataclasses.make_dataclass("Made", ["x"])(1), "is not found by its name"),
        (pd.Series(pd.period_range("2020", periods=2)), "a column of period"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:20]),
)
def test_all_else_is_refused(value: Any, says: str) -> None:
    with pytest.raises(NotPlain, match=says) as refused:
        encoded({"a": [0, {"k": value}]}, PLAIN.parts)
    assert refused.value.way[::-1] == ["a", 1, "k"]


def test_what_is_nested_too_deeply_is_refused_on_both_sides() -> None:
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]
    assert again(value) == value
    with pytest.raises(NotPlain, match="nested more than"):
        encoded([value], PLAIN.parts)
    with pytest.raises(NotRead, match="nested too deeply"):
        decoded(b"[\1\0\0\0" + encoded(value, PLAIN.parts), PLAIN)


def test_reading_runs_no_code() -> None:
    content = encoded([noted()], PLAIN.parts)
    RAN.clear()
    assert decoded(content, PLAIN)[0].values == [2]
    assert not RAN
    here = __name__.encode()
    for name in (b"os.system", b"Ordinary", b"noted", b"RAN.append", b"pytest.Item", b"PLAIN"):
        forged = content.replace(b"data " + here + b":Noted", b"data " + here + b":" + name)
        forged = forged.replace(
            bytes((len(b"data " + here + b":Noted"),)), bytes((len(b"data " + here + b":" + name),))
        )
        with pytest.raises(NotRead):
            decoded(forged, PLAIN)


def test_a_key_that_would_be_hashed_for_ever_is_refused() -> None:
    nested: Any = (1,)
    for _ in range(100):
        nested = (nested, nested)
    content = encoded([nested], PLAIN.parts)
    with pytest.raises(NotRead, match="a key is too large"):
        decoded(b"<" + content[1:], PLAIN)
    for part in (Pair(1, nested), Frozen(nested)):
        with pytest.raises(NotRead, match="a key is too large"):
            decoded(b"<" + encoded([part], PLAIN.parts)[1:], PLAIN)
    for name in (b"ordered", b"counter", b"default"):
        pairs = encoded(["", [(nested, 1)]], PLAIN.parts)
        content = b"(" + pairs[1:] if name == b"default" else encoded([(nested, 1)], PLAIN.parts)
        with pytest.raises(NotRead, match="not made of keys and values"):
            decoded(b"O" + bytes((len(name),)) + name + content, PLAIN)
    factory = encoded([nested, {}], PLAIN.parts)
    with pytest.raises(NotRead, match="a factory without a name"):
        decoded(b"O\7default(" + factory[1:], PLAIN)
    with pytest.raises(NotRead, match="a key is too large"):
        decoded(b"o\4time" + encoded([nested], PLAIN.parts), Plain(hash))


def test_a_key_that_is_an_object_of_its_own_may_lead_to_anything() -> None:
    known = ByIdentity()
    known.others = [known]
    found = again({known: 1})
    (key,) = found
    assert key.others == [key]
    assert found[key] == 1


def test_an_array_of_objects_is_not_made_of_bytes() -> None:
    for kind in ("O", "|i1,O", "", "V8", "(2,)i8", "<M8[ns],O"):
        content = encoded((kind, (0,), b""), PLAIN.parts)
        with pytest.raises(NotRead, match="an array of"):
            decoded(b"o\5array" + content, PLAIN)


@pytest.mark.parametrize(
    "zone", ["dateutil//etc/hostname", "dateutil/Europe/Berlin", "/etc/hostname", "../x", "tzlocal()", ""]
)
def test_a_time_zone_is_not_the_path_of_a_file(zone: str) -> None:
    content = encoded((0, "ns", zone), PLAIN.parts)
    moment = encoded(pd.Timestamp("2020-01-01", tz="UTC"), PLAIN.parts)
    assert decoded(moment, PLAIN).tz is not None
    name = moment[: moment.index(b"moment of pandas") + len("moment of pandas")]
    assert decoded(name + encoded((0, "ns", "UTC"), PLAIN.parts), PLAIN) == pd.Timestamp(0, tz="UTC")
    with pytest.raises(NotRead, match="is not the name of a time zone"):
        decoded(name + content, PLAIN)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4),
        np.array([[1, "a", ()], [None, 2.5, "b"]], dtype=object),
        np.broadcast_to(np.arange(3), (2, 3)),
        np.arange(10)[::2],
        np.zeros((0, 3)),
    ],
    ids=["numbers", "objects", "broadcast", "strided", "empty"],
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("is_writable", [True, False])
def test_an_array_lies_as_it_lay_and_may_be_altered_as_it_might(array: Any, order: Any, is_writable: bool) -> None:
    array = array.copy(order=order)
    array.flags.writeable = is_writable
    found = again(array)
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    for flag in ("c_contiguous", "f_contiguous", "writeable"):
        assert getattr(found.flags, flag) == getattr(array.flags, flag), flag


@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2020", periods=4, freq="D", name="x"),
        pd.date_range("2020-03-29", periods=30, freq="2h", tz="Europe/Berlin"),
        pd.date_range("2020", periods=4, freq="W-TUE"),
        pd.timedelta_range("1s", periods=3),
        pd.DatetimeIndex(["2020", "2021"]),
    ],
)
def test_an_index_keeps_its_frequency(index: Any) -> None:
    found = again(index)
    pd.testing.assert_index_equal(found, index)
    assert found.freq == index.freq
    assert again(pd.DataFrame({"a": range(len(index))}, index=index)).index.freq == index.freq


def test_a_frequency_that_is_more_than_its_name_is_refused() -> None:
    days = pd.date_range("2020", periods=3, freq=pd.offsets.CustomBusinessDay(holidays=["2020-01-02"]))
    with pytest.raises(NotPlain, match="an index of pandas of the frequency <CustomBusinessDay> is not plain data"):
        encoded(days, PLAIN.parts)


def test_tables_that_are_read_may_be_altered() -> None:
    numbers = np.arange(3.0)
    numbers.flags.writeable = False
    table = again(pd.DataFrame({"a": pd.Series(numbers, copy=False)}))
    table.loc[1, "a"] = 7.0
    assert table["a"].tolist() == [0.0, 7.0, 2.0]


def deep_key() -> Any:
    """A key of few parts, which hashing looks at for ever."""
    key: Any = (1,)
    for _ in range(60):
        key = (key, key)
    return key


@pytest.mark.parametrize(
    ("name", "made_of", "says"),
    [
        ("array", ("<i8", (1,), b"12345678", "X"), "an array of no known order"),
        ("array", ("<i8", (1,), b"12345678", ["F"]), "an array of no known order"),
        ("column", (None, [0], ("numbers", np.arange(1))), "a table without an index"),
        ("column", (deep_key(), pd.RangeIndex(1), ("numbers", np.arange(1))), "a key is too large"),
        ("column", (None, pd.RangeIndex(1), ("numbers", [1])), "a column without values"),
        ("table", (["a"], pd.RangeIndex(1), [("numbers", np.arange(1))]), "a table without an index"),
        ("table", (pd.Index(["a"]), None, [("numbers", np.arange(1))]), "a table without an index"),
        ("table", (pd.Index(["a"]), pd.RangeIndex(1), {"a": ("numbers", np.arange(1))}), "a table without columns"),
        ("index", ("range", ("0", 1, 1), None), "a range without its numbers"),
        ("index", ("range", (0, 1), None), "a range without its numbers"),
        ("index", ("range", (0, 1, 1), deep_key()), "a key is too large"),
        ("index", ("even", (("numbers", np.arange(3)), "D"), None), "an index without a frequency"),
        ("index", ("several", ([["a"]], [[0]]), [None]), "a table without an index"),
        ("index", ("values", ("categories", (["a"], False, np.zeros(1, "i1"))), None), "a table without an index"),
    ],
)
def test_tables_that_are_made_of_something_else_are_refused(name: str, made_of: Any, says: str) -> None:
    written = encoded(made_of, PLAIN.parts)
    with pytest.raises(NotRead, match=says):
        decoded(b"o" + bytes([len(name)]) + name.encode() + written, PLAIN)


@pytest.mark.parametrize("form", ["categories", "several"])
def test_what_pandas_hashes_when_it_is_made_is_measured_before(form: str) -> None:
    """Read in a moment, or hashed for ever: the index of such a key alone is made, and not hashed."""
    objects = np.empty(1, dtype=object)
    objects[0] = deep_key()
    index = encoded(("values", ("numbers", objects), None), PLAIN.parts)
    codes = encoded(np.zeros(1, "i1"), PLAIN.parts)
    whole = b"o\5index" + index
    if form == "categories":
        made_of = b"o\5index" + tuple_of(
            text("values"), tuple_of(text("categories"), tuple_of(whole, b"F", codes)), b"N"
        )
    else:
        of = tuple_of(list_of(whole), encoded([[0]], PLAIN.parts))
        made_of = b"o\5index" + tuple_of(text("several"), of, encoded([None], PLAIN.parts))
    with pytest.raises(NotRead, match="a key is too large"):
        decoded(made_of, PLAIN)


def text(value: str) -> bytes:
    return encoded(value, PLAIN.parts)


def tuple_of(*parts: bytes) -> bytes:
    return b"(" + len(parts).to_bytes(4, "little") + b"".join(parts)


def list_of(*parts: bytes) -> bytes:
    return b"[" + len(parts).to_bytes(4, "little") + b"".join(parts)


def test_lengths_are_compared_before_anything_is_allocated() -> None:
    for letter in "([{<>syYI":
        with pytest.raises(NotRead, match="ends too early"):
            decoded(letter.encode() + b"\xff\xff\xff\xff" + b"N" * 20, PLAIN)


def fuzz(rng: random.Random, count: int) -> int:
    """Altered bytes are plain data, or are refused; how many were refused."""
    good = [encoded(value, PLAIN.parts) for value in (*values(), *arrays(), [values(), values()])]
    refused = 0
    for _ in range(count):
        content = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), *b"{[(<>oOrsiINT"])
        try:
            decoded(bytes(content[: rng.choice([None, rng.randrange(len(content))])]), PLAIN)
        except NotRead:
            refused += 1
    return refused


def test_altered_bytes_are_plain_data_or_are_refused() -> None:
    assert 5_000 < fuzz(random.Random(1), 10_000) < 10_000


@pytest.mark.soak
def test_altered_bytes_many_times() -> None:
    assert fuzz(random.Random(), 500_000) > 250_000


class Keeps(Node):
    """Keeps what it is given as its state."""

    def __init__(self, kept: Any) -> None:
        self.sums = {1: [kept]}

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        pass


def kept(value: Any, *, with_pickle: bool = False) -> list[Any]:
    graph = Graph().node("total").edge(None, "total", "numbers")
    states: list[Any] = []
    keeping = Keeping(states.append, 0, with_pickle=with_pickle)
    Running(
        Dataflow(graph, {"total": lambda: Keeps(value)}), {"numbers": [(0, 1)]}, {}, RunOptions("sim", keeping=keeping)
    ).run(0, 1)
    return states


def test_who_keeps_something_else_is_told_where_and_what_to_do() -> None:
    with pytest.raises(PointstampError) as refused:
        kept(Ordinary())
    assert str(refused.value) == (
        "PS735: the state of 'total', its attribute 'sums' at [1][0], cannot be kept: a value of the class "
        "tests.runtime.test_plain_data.Ordinary is not plain data (plain data; snapshot and restore of the node choose "
        "what is kept; or --pickle)"
    )
    assert kept(Ordinary(), with_pickle=True)
    assert kept(Slotted(1))
