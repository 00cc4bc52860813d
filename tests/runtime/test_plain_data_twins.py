"""The compiled encoding of plain data and its twin: the same bytes, the same values back, the same refusals."""

from __future__ import annotations

import gc
import random
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from progress.kernel import BUILT, plain_data
from progress.runtime.durable.encoding import reading, writing
from progress.runtime.durable.encoding.form import COMPILED, DEEPEST, LARGEST_KEY, NotPlain, NotRead, hashed
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import Sets, encoded, put_together
from tests.runtime.plain_values import RAN, arrays, values
from tests.runtime.random_data import Maker, shape

ADDRESS = re.compile("0x[0-9a-f]{6,}")


class Asked(Plain):
    """Plain data of other kinds, and a note of who was asked for what, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Any] = []

    def parts(self, value: Any) -> Any:
        self.notes.append(type(value).__name__)
        return super().parts(value)

    def made(self, name: str, made_of: Any) -> Any:
        self.notes.append(("made", name, type(made_of).__name__))
        return super().made(name, made_of)

    def begun(self, name: str) -> Any:
        self.notes.append(("begun", name))
        found, fill = super().begun(name)

        def noted(made_of: Any) -> None:
            self.notes.append(("fill", name, type(made_of).__name__))
            fill(made_of)

        return found, noted


def refusal(error: BaseException) -> Any:
    """What is said, and by what; addresses differ."""
    cause = error.__cause__
    return (
        type(error).__name__,
        ADDRESS.sub("", str(error)),
        shape(getattr(error, "way", None)),
        type(cause).__name__,
        ADDRESS.sub("", str(cause)),
    )


def written(value: Any, *, kernel: bool) -> Any:
    """The bytes or why there are none; who was asked; what it looks like, with its sets put together anew."""
    asked = Asked()
    sets: Sets = []
    try:
        found: Any = encoded(value, asked.parts, sets, kernel=kernel)
    except Exception as error:
        found = refusal(error)
    else:
        put_together(sets, Plain().parts, kernel=kernel)
    return found, asked.notes, shape([value, sets])


def read(content: bytes, *, kernel: bool) -> Any:
    """What the value looks like or why there is none; who was asked."""
    asked = Asked()
    try:
        found = "value", shape(decoded(content, asked, kernel=kernel))
    except NotRead as error:
        found = "refused", refusal(error)
    return found, asked.notes


def compare_values(seeds: range) -> Counter[str]:
    """Random values by both twins; how many of each kind there were."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        value = Maker(seed).value()
        fast, slow = written(value, kernel=True), written(Maker(seed).value(), kernel=False)
        assert fast == slow, f"seed {seed}"
        content, asked, looks = fast[0], fast[1], shape(value)
        if not isinstance(content, bytes):
            seen["refused"] += 1
            continue
        found = read(content, kernel=True)
        assert found == read(content, kernel=False), f"seed {seed}"
        if "builtins.frozenset" not in repr(looks):  # which may be iterated in another order, and is the same
            assert found[0] == ("value", looks), f"seed {seed}"
        seen["written"] += 1
        seen["shared"] += "again" in repr(looks)
        seen["of other kinds"] += bool(asked)
        seen["with sets"] += "builtins.set" in repr(looks)
    return seen


def compare_bytes(rng: random.Random, count: int) -> Counter[str]:
    """Altered bytes by both twins; how many of each kind there were."""
    plain = Plain()
    good = [encoded(value, plain.parts) for value in (*values(), *arrays(), [values(), values()])]
    while len(good) < 300:
        with suppress(NotPlain):
            good.append(encoded(Maker(rng.getrandbits(60)).value(), plain.parts))
    seen: Counter[str] = Counter()
    for _ in range(count):
        content = bytearray(rng.choice(good))
        for _ in range(rng.choice([1, 1, 2])):
            place = rng.randrange(len(content))
            content[place] = rng.choice([rng.randrange(256), rng.randrange(4), *b"{[(<>oOrsiINT", content[place] ^ 1])
        cut = bytes(content[: rng.randrange(len(content))] if rng.random() < 0.1 else content)
        fast, slow = read(cut, kernel=True), read(cut, kernel=False)
        assert fast == slow, cut
        kind, found = fast[0]
        seen[kind] += 1
        if kind == "refused":
            seen[re.split("[:'0-9]", found[1])[0]] += 1
    return seen


def test_it_is_built() -> None:
    assert BUILT
    assert COMPILED is not None


def test_random_values_are_the_same_bytes_and_come_back_the_same() -> None:
    seen = compare_values(range(1_500))
    assert min(seen.values()) > 100, seen


@pytest.mark.soak
def test_many_random_values() -> None:
    first = random.Random().getrandbits(60)
    assert min(compare_values(range(first, first + 20_000)).values()) > 1_000


def test_altered_bytes_are_the_same_value_or_refused_alike() -> None:
    seen = compare_bytes(random.Random(1), 5_000)
    assert min(seen["value"], seen["refused"]) > 500, seen
    assert len(seen) > 20, seen


@pytest.mark.soak
def test_many_altered_bytes() -> None:
    assert compare_bytes(random.Random(), 200_000)["value"] > 20_000


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([1, 2, 3, 4], "it has 4 parts, and 3 is the most"),
        ({1: 1, 2: 2, 3: 3, 4: 4}, "it has 4 parts"),
        ({1, 2, 3, 4}, "it has 4 parts"),
        (frozenset("abcd"), "it has 4 parts"),
        (bytearray(4), "it has 4 parts"),
        ("äö", "it has 4 parts"),
        ("abcd", "it has 4 parts"),
        (b"abcd", "it has 4 parts"),
        ([[[], [[]]], []], "it has 4 parts"),
        ((((1,), ((2,),)), (3,)), "it has 4 parts"),
        ([[[], [()]], ()], None),
        (1 << 30, None),
    ],
)
def test_counts_have_an_end(value: Any, says: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four are too many here: as many objects, too, the first of which has the number 0."""
    small = plain_data(NotPlain, NotRead, hashed, DEEPEST, LARGEST_KEY, 3)
    monkeypatch.setattr(writing, "COMPILED", small)
    monkeypatch.setattr(writing, "MOST", 3)
    fast, slow = written(value, kernel=True), written(value, kernel=False)
    assert fast == slow
    assert isinstance(fast[0], bytes) if says is None else says in fast[0][1]


@pytest.mark.parametrize(
    "arguments",
    [
        (1, NotRead, hashed, 1, 1, 1),
        (NotPlain, int, hashed, 1, 1, 1),
        (NotPlain, NotRead, None, 1, 1, 1),
        (NotPlain, NotRead, hashed, 0, 1, 1),
        (NotPlain, NotRead, hashed, 10_000, 1, 1),
        (NotPlain, NotRead, hashed, 1, 0, 1),
        (NotPlain, NotRead, hashed, 1, 1, 0),
        (NotPlain, NotRead, hashed, 1, 1, 1 << 32),
    ],
)
def test_forms_that_cannot_be_are_refused(arguments: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        plain_data(*arguments)


def test_it_is_asked_as_it_wants_to_be() -> None:
    assert COMPILED is not None
    compiled: Any = COMPILED
    calls: list[Callable[[], Any]] = [
        lambda: compiled.encoded(1, len, len, None),
        lambda: compiled.encoded(1, len, len, (), 0),
        lambda: compiled.encoded(1, len, len, None, None),
        lambda: compiled.encoded({None, 1}, len, lambda elements, depth: (1, None), None, 0),
        lambda: compiled.decoded(b"N"),
        lambda: compiled.decoded("N", None),
        lambda: compiled.decoded(bytearray(b"N"), None),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    for depth in (-1, DEEPEST + 1, 1 << 31):
        with pytest.raises(ValueError, match="nothing is so deep"):
            compiled.encoded(1, len, len, None, depth)


@pytest.mark.parametrize("letter", ["(", "[", "<", ">", "{", "s", "y", "Y", "I"])
def test_what_is_announced_takes_no_memory(letter: str) -> None:
    """A megabyte that announces as much again at each of its levels."""
    size = 1_000_000
    head = b"".join(b"(" + (size - 5 * DEEPEST).to_bytes(4, "little") for _ in range(DEEPEST - 2))
    content = head + letter.encode() + (size // 3).to_bytes(4, "little")
    content += b"s\xff\xff\xff\xff" * ((size - len(content)) // 5)
    tracemalloc.start()
    try:
        with pytest.raises(NotRead):
            decoded(content, Plain())
        assert tracemalloc.get_traced_memory()[1] < 2 * size
    finally:
        tracemalloc.stop()


def chain(length: int) -> bytes:
    """A list of tuples, each of which holds the one before: flat as bytes, and as deep as it is long."""
    links = b"".join(b"(\1\0\0\0r" + (number + 1).to_bytes(4, "little") for number in range(length - 1))
    return b"[" + (length + 1).to_bytes(4, "little") + b"(\1\0\0\0N" + links


@pytest.mark.parametrize("length", [DEEPEST, DEEPEST + 1, 2_000, 100_000])
def test_a_key_that_is_nested_too_deeply_by_references_is_refused(length: int) -> None:
    last = b"r" + length.to_bytes(4, "little")
    for kernel in (True, False):
        read = decoded(chain(length) + last, Plain(), kernel=kernel)
        assert read[-1] is read[-2]
        with_key = chain(length) + b"{\1\0\0\0" + last + b"N"
        if length <= DEEPEST:
            found = decoded(with_key, Plain(), kernel=kernel)
            assert encoded(found, Plain().parts, kernel=kernel) == with_key
            continue
        with pytest.raises(NotRead, match="a key is too large"):
            decoded(with_key, Plain(), kernel=kernel)
        if length <= 2_000:  # Python hashes it
            with pytest.raises(NotPlain, match="a key is too large") as refused:
                encoded([*read[:-1], {read[-1]: None}], Plain().parts, kernel=kernel)
            assert refused.value.way[1] == length


# --- memory -----------------------------------------------------------------------------------------------------------


def work_of_all_kinds(rounds: int) -> None:
    """What is written and read, what is refused in the midst of it, and what strangers break off."""
    plain = Plain()

    class Refuses(Plain):
        def made(self, name: str, made_of: Any) -> Any:
            raise OSError("no")

    def interrupt(value: Any) -> Any:
        raise KeyboardInterrupt

    bad = [object()]
    contents = [encoded(value, plain.parts) for value in values()]
    for number in range(rounds):
        value = [Maker(number % 20).value(), values()]
        for work in (
            lambda value=value: decoded(encoded(value, plain.parts, []), plain),
            lambda value=value: encoded([value, {(1, (2,)): {"k": (value, bad)}}], plain.parts),
            lambda value=value: encoded([value, (1, object())], interrupt),
            lambda: [decoded(content, Refuses()) for content in contents],
        ):
            with suppress(NotPlain, NotRead, KeyboardInterrupt):
                work()
        for content in contents:
            for cut in (content[:-1], content[: len(content) // 2], content + b"N", b"{\2\0\0\0[\0\0\0\0" + content):
                with suppress(NotRead):
                    decoded(cut, plain)


def test_nothing_is_left_behind() -> None:
    gc.collect()
    tracemalloc.start()
    try:
        work_of_all_kinds(40)
        RAN.clear()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        work_of_all_kinds(120)
        RAN.clear()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 4_000
    finally:
        tracemalloc.stop()


def test_references_are_what_they_were() -> None:
    parts = ["text " * 9, 1 << 70, 1.5, b"bytes", (1, "x"), [1], {2: 3}, {4}, frozenset("a"), bytearray(b"b")]
    value = [*parts, parts, {"k": parts}]
    before = [sys.getrefcount(each) for each in (value, *parts)]
    assert encoded(value, Plain().parts, [])
    with pytest.raises(NotPlain):
        encoded([value, object()], Plain().parts, [])
    assert [sys.getrefcount(each) for each in (value, *parts)] == before


# --- which of them does it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [True, False])
def test_who_says_that_python_does_it_gets_python(kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Twin:
        def encoded(self, *arguments: Any) -> bytes:
            asked.append(arguments)
            return b"N"

        def decoded(self, *arguments: Any) -> None:
            asked.append(arguments)

    twin: Any = Twin()
    monkeypatch.setattr(writing, "COMPILED", twin)
    monkeypatch.setattr(reading, "COMPILED", twin)
    assert encoded(None, Plain().parts, kernel=kernel) == b"N"
    assert decoded(b"N", Plain(), kernel=kernel) is None
    assert len(asked) == 2 * kernel


def test_without_the_kernel_python_does_it() -> None:
    program = """
import sys
sys.modules["progress._kernel"] = None
from progress.kernel import BUILT
from progress.runtime.durable.encoding.form import COMPILED
from progress.runtime.durable.encoding.kinds import Plain
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded
assert not BUILT and COMPILED is None
print(encoded({"a": [(1, {2})]}, Plain().parts).hex(), decoded(encoded({"a": [(1, {2})]}, Plain().parts), Plain()))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"{encoded({'a': [(1, {2})]}, Plain().parts).hex()} {{'a': [(1, {{2}})]}}\n"


@pytest.mark.parametrize("kernel", [True, False])
def test_the_search_for_cycles_pauses_while_much_is_read(kernel: bool) -> None:
    searching: list[bool] = []

    class Looks(Plain):
        def made(self, name: str, made_of: Any) -> Any:
            searching.append(gc.isenabled())
            return super().made(name, made_of)

    for filler in (0, 1 << 17):
        decoded(encoded([b"x" * filler, 1j], Plain().parts), Looks(), kernel=kernel)
    with pytest.raises(NotRead):
        decoded(encoded([b"x" * filler, 1j], Plain().parts)[:-1], Looks(), kernel=kernel)
    assert searching[:2] == [True, False]
    assert gc.isenabled()
