"""Plain data as bytes: read again it is what it was, whatever else the bytes are is refused, and no code is run.

All of it is asked of the compiled kernel and of its twin in Python.
"""

from __future__ import annotations

import dataclasses
import os
import random
import threading
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from graphs import Graph
from progress.errors import PointstampError
from progress.runtime import Complete, Dataflow, DeadLetter, Messages, Node, Refused, Retry, State, Stop
from progress.runtime.durable.encoding.classes import written_class
from progress.runtime.durable.encoding.form import DEEPEST, DEEPEST_SETS, NotPlain, NotRead
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import Sets, encoded, put_together
from progress.runtime.durable.rests import Keeping
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.runtime.plain_values import RAN, Frozen, Linked, Pair, Rights, Slotted, arrays, noted, values

PLAIN = Plain()


@pytest.fixture(autouse=True, params=[True, False], ids=["compiled", "python"])
def _twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who writes and reads where nobody says who does."""
    for each in (encoded, decoded, put_together):
        assert each.__kwdefaults__ is not None
        monkeypatch.setitem(each.__kwdefaults__, "kernel", request.param)


@dataclasses.dataclass(eq=False)
class ByIdentity:
    others: list[Any] = dataclasses.field(default_factory=list)


class Ordinary:
    pass


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
    """Many sets are read in another order, unless they are put together anew; what is read of what is read is as it."""
    rng = random.Random(1)
    differ = 0
    for is_put_together in (False, True):
        for number in range(300):
            live: set[Any] = {rng.randrange(10_000) for _ in range(rng.randrange(1, 60))}
            for _ in range(rng.randrange(40)):
                live.add(rng.randrange(10_000))
                live.discard(rng.choice([*live]))
            if number % 3 == 0:
                live |= {(each, "x") for each in list(live)} | {"text", 0.5}
            before = set(live)
            sets: Sets = []
            content = encoded(live, PLAIN.parts, sets)
            if is_put_together:
                put_together(sets, PLAIN.parts)
            found = decoded(content, PLAIN)
            assert encoded(found, PLAIN.parts) == content
            assert [*decoded(encoded(found, PLAIN.parts), PLAIN)] == [*found]
            assert found == live == before
            for each in (live, found):  # and goes on alike
                each |= {5, 20_000}
                each.discard(5)
            assert not is_put_together or [*found] == [*live]
            differ += [*found] != [*live]
    assert differ > 30


def test_sets_in_sets_are_put_in_order_once() -> None:
    """Each level asks once more for what is innermost, instead of twice as often as the one in it."""
    asked: list[Any] = []

    def parts(value: Any) -> Any:
        asked.append(value)
        return PLAIN.parts(value)

    nested: Any = frozenset([1j, "x"])
    for level in range(1, 14):
        asked.clear()
        content = encoded(nested, parts)
        assert len(asked) == level + 1
        assert decoded(content, PLAIN) == nested
        assert encoded(decoded(content, PLAIN), PLAIN.parts) == content
        nested = frozenset([nested, level])
    for _ in range(14, DEEPEST_SETS):
        nested = frozenset([(nested,), 0])
    assert again(nested) == nested
    with pytest.raises(NotPlain, match="sets are nested more than 100 deep in sets"):
        encoded(frozenset([nested, 0]), PLAIN.parts)


def test_a_set_in_its_own_element_has_an_order_where_that_is_alone() -> None:
    alone = ByIdentity()
    alone.others.append({alone})
    found = again(alone)
    assert found.others == [{found}]
    alone.others[0].add(1)
    for value in (alone, alone.others):
        with pytest.raises(NotPlain, match="a set has no order: its elements hold the set itself"):
            encoded(value, PLAIN.parts)


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


def test_what_is_kept_by_its_name_stays_where_it_is() -> None:
    """States of runs have these names in them, and pickles those of the last two: moved, they would not be found."""
    names = [written_class(kind) for kind in (DeadLetter, Retry, Stop, Messages, Refused)]
    assert names == [
        "progress.runtime.failure:DeadLetter",
        "progress.runtime.failure:Retry",
        "progress.runtime.failure:Stop",
        "progress.runtime.source:Messages",
        "progress.runtime.source_failure:Refused",
    ]
    assert [Complete.__module__, State.__module__] == ["progress.runtime.source", "progress.runtime.state"]


def test_what_is_nested_too_deeply_is_refused_on_both_sides() -> None:
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]
    assert again(value) == value
    held: Any
    for innermost in ([], (), {}, b""):  # type: ignore[var-annotated]
        held = innermost
        for _ in range(DEEPEST):
            held = [held]
        if innermost == b"":
            assert again(held) == held
            continue
        with pytest.raises(NotPlain, match="nested more than"):
            encoded(held, PLAIN.parts)
    with pytest.raises(NotPlain, match="nested more than"):
        encoded([value], PLAIN.parts)
    with pytest.raises(NotRead, match="nested too deeply"):
        decoded(b"[\1\0\0\0" + encoded(value, PLAIN.parts), PLAIN)


def test_a_number_is_written_in_one_way_alone() -> None:
    for number in (-128, -1, 0, 127):
        with pytest.raises(NotRead, match="a number is longer than it has to be"):
            decoded(b"i" + number.to_bytes(8, "little", signed=True), PLAIN)
    for number in (0, -1, 127, 128, (1 << 63) - 1, -(1 << 63), 1 << 63, -(1 << 63) - 1, 1 << 64, 256**20, -(256**20)):
        usual = number.bit_length() // 8 + 1
        for size in (usual, usual + 1, usual + 9):
            content = b"I" + size.to_bytes(4, "little") + number.to_bytes(size, "little", signed=True)
            if size == usual and not -(1 << 63) <= number < 1 << 63:
                assert decoded(content, PLAIN) == number
                continue
            with pytest.raises(NotRead, match="a number is longer than it has to be"):
                decoded(content, PLAIN)
    with pytest.raises(NotRead, match="a number is longer than it has to be"):
        decoded(b"I\0\0\0\0", PLAIN)


def test_reading_runs_no_code() -> None:
    content = encoded([noted()], PLAIN.parts)
    RAN.clear()
    assert decoded(content, PLAIN)[0].values == [2]
    assert not RAN
    here, there = __name__.encode(), noted.__module__.encode()
    for name in (b"os.system", b"Ordinary", b"noted", b"RAN.append", b"pytest.Item", b"PLAIN"):
        right, wrong = b"data " + there + b":Noted", b"data " + here + b":" + name
        forged = content.replace(bytes((len(right),)) + right, bytes((len(wrong),)) + wrong)
        assert forged != content
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


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_between_the_fields_of_an_array_is_what_it_was(order: Any) -> None:
    """Else the bytes of one state would be others after each kill."""
    gaps = np.dtype({"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [3, 8], "itemsize": 24})
    array = np.empty((50, 40), gaps, order)
    array.reshape(-1, order=order).view("u1")[:] = np.arange(array.nbytes) % 251
    found = again(array)
    assert found.dtype == array.dtype
    assert found.tobytes(order) == array.tobytes(order)
    assert found.flags.owndata
    assert found.flags.f_contiguous == (order == "F")


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
