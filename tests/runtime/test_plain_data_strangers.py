"""Code of strangers that meddles while plain data is written or read: nothing breaks, and both twins do the same."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from typing import Any

import pytest

from progress.runtime.durable.encoding.form import DEEPEST, NotPlain, NotRead
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import encoded
from tests.runtime.random_data import shape

Meddle = Callable[[Any], Any]  # what the stranger does to the root of all; its answer is what it is made of


class Stranger:
    """What is of another kind; its place in a set is the same in every run."""

    def __hash__(self) -> int:
        return 5


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of it: bytes, what a value looks like, or what is raised."""
    try:
        found = work()
    except Exception as error:
        return type(error), str(error), shape(getattr(error, "way", None))
    return found if isinstance(found, bytes) else shape(found)


@dataclasses.dataclass(frozen=True)
class Key:
    """A key whose part is asked for as it is measured."""

    part: Any

    def __getattribute__(self, name: str) -> Any:
        if name == "part":
            Key.asked()
        return super().__getattribute__(name)

    def __hash__(self) -> int:
        return 7

    asked = staticmethod(lambda: None)


# --- writing ----------------------------------------------------------------------------------------------------------


def with_stranger_in(holder: str) -> Any:
    """A root that holds a stranger among others, and what holds it there."""
    parts: list[Any] = [[1], Stranger(), [2], [3], [4]]
    if holder == "dict":
        return dict(enumerate(parts))
    if holder == "keys":
        return {part if isinstance(part, Stranger) else part[0]: part for part in parts}
    if holder == "set":
        return {part if isinstance(part, Stranger) else (part[0],) for part in parts}
    return parts


MEDDLING: dict[str, Meddle] = {
    "append": lambda root: root.append([5]),
    "pop the last": lambda root: root.pop(),
    "clear": lambda root: root.clear(),
    "replace": lambda root: root.__setitem__(slice(None), [[6]] * 9),
    "add a key": lambda root: root.__setitem__("new", [5]),
    "remove a key": lambda root: root.__delitem__(next(iter(root))),
    "another key in its place": lambda root: (root.__delitem__(next(iter(root))), root.__setitem__("new", [5])),
    "other keys": lambda root: [root.__setitem__((n, "new"), root.pop(key)) for n, key in enumerate([*root])],
    "other values": lambda root: [root.__setitem__(key, [key]) for key in [*root]],
    "add and remove": lambda root: [(root.__setitem__(f"new {n}", 1), root.__delitem__(f"new {n}")) for n in range(50)],
    "discard": lambda root: root.discard((4,)),
    "add": lambda root: root.add((5,)),
    "collect": lambda root: gc.collect() and None,
}  # fmt: skip
ALLOWED = {
    "list": ("append", "pop the last", "clear", "replace", "collect"),
    "set": ("clear", "discard", "add", "collect"),
    "dict": (
        "clear", "add a key", "remove a key", "another key in its place", "other keys", "other values",
        "add and remove", "collect",
    ),
}  # fmt: skip
ALLOWED["keys"] = ALLOWED["dict"]


@pytest.mark.parametrize(("holder", "how"), [(holder, how) for holder, hows in ALLOWED.items() for how in hows])
def test_what_is_written_is_altered_meanwhile(holder: str, how: str) -> None:
    def work(kernel: bool) -> Any:
        root = with_stranger_in(holder)
        calls = []

        def parts(value: Any) -> Any:
            calls.append(value)
            if len(calls) < 3:
                MEDDLING[how](root)
            return "stranger", [len(calls)], False

        found = outcome(lambda: encoded(root, parts, [], kernel=kernel))
        left = ["stranger" if isinstance(each, Stranger) else each for each in root]
        return found, len(calls), shape(left)

    assert work(True) == work(False)


def test_the_list_that_grows_for_ever_is_stopped_by_who_lets_it_grow() -> None:
    """A count that says one, and what follows: so the twin has it, and nobody reads it."""
    for kernel in (True, False):
        root: list[Any] = [Stranger()]

        def parts(value: Any, root: list[Any] = root) -> Any:
            if len(root) < 2_000:
                root.append(Stranger())
            return "x", 1, False

        content = encoded(root, parts, kernel=kernel)
        assert content == b"[\1\0\0\0" + b"o\1xj\1" * 2_000
        with pytest.raises(NotRead):
            decoded(content, Made(), kernel=kernel)


@pytest.mark.parametrize("kernel", [True, False])
def test_what_a_stranger_gives_once_more_is_the_same_object(kernel: bool) -> None:
    """Of what was written before, nobody else held anything: the compiled twin did not expect to meet it again."""
    roots: list[list[Any]] = [
        [[1], [2], Stranger()],
        [([1],), ([2],), Stranger()],
        [{1: [1]}, {2: [2]}, Stranger()],
        [bytearray(b"1"), bytearray(b"2"), Stranger()],
        [Stranger(), [1], [2], Stranger()],
        [Stranger(), ([1],), ([2],), Stranger()],
        [Stranger(), Stranger(), {3}, Stranger()],
    ]
    for root in roots:

        def parts(value: Any, root: list[Any] = root) -> Any:
            return "x", [root[-2], root[-3]] if value is root[-1] else [7], False

        content = encoded(root, parts, kernel=kernel)
        *_, one, other, again = decoded(content, Made(), kernel=kernel)
        assert again[0] is other
        assert again[1] is one


@pytest.mark.parametrize("kernel", [True, False])
def test_what_is_being_written_is_not_what_a_stranger_is_made_of(kernel: bool) -> None:
    inner: list[Any] = []
    root: Any = [((inner, Stranger()),)]
    way = [0, 0, 1]
    with pytest.raises(NotPlain, match="a tuple holds itself") as refused:
        encoded(root, lambda value: ("x", root[0][0], False), kernel=kernel)
    assert refused.value.way[::-1] == way
    with pytest.raises(NotPlain, match="a Stranger holds itself"):
        encoded(root, lambda value: ("x", [value], False), kernel=kernel)
    assert decoded(encoded([Stranger()], lambda value: ("x", [value], True), kernel=kernel), Made(), kernel=kernel)


def test_what_a_key_does_while_it_is_measured() -> None:
    def work(kernel: bool, meddle: Callable[[list[Any]], Any]) -> Any:
        root: list[Any] = [[1], {Key(1): [2], Key(2): [3]}, {Key(3)}, None, [5]]
        done: list[int] = []

        def once() -> None:
            if not done:
                done.append(1)
                meddle(root)

        try:
            Key.asked = staticmethod(once)
            found = outcome(lambda: encoded(root, lambda value: ("key", 1, False), [], kernel=kernel))
        finally:
            Key.asked = staticmethod(lambda: None)
        return found, done, shape(len(root))

    def refuse(root: list[Any]) -> None:
        raise OSError("no part today")

    meddles: list[Callable[[list[Any]], Any]] = [
        lambda root: root.__setitem__(3, root[0]),
        lambda root: root[1].clear(),
        lambda root: root[2].clear(),
        lambda root: root.clear(),
        refuse,
    ]
    for meddle in meddles:
        one = work(True, meddle)
        assert one == work(False, meddle)
        assert one[1]
    again = work(True, meddles[0])[0]
    assert again.count(b"r") == 1


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("error", [KeyError("k"), KeyboardInterrupt(), NotPlain("of its own"), MemoryError()])
def test_what_strangers_raise_passes_through(kernel: bool, error: BaseException) -> None:
    def parts(value: Any) -> Any:
        raise error

    with pytest.raises(type(error)) as raised:
        encoded({"a": [(1, Stranger())]}, parts, kernel=kernel)
    assert raised.value is error
    if isinstance(error, NotPlain):
        assert error.way[::-1] == ["a", 0, 1]
        error.way.clear()


@pytest.mark.parametrize("kernel", [True, False])
def test_a_key_that_is_a_tuple_is_one_step_of_the_way(kernel: bool) -> None:
    with pytest.raises(NotPlain) as refused:
        encoded({("a", 1): {(): Stranger()}}, lambda value: None, kernel=kernel)
    assert refused.value.way[::-1] == [("a", 1), ()]


@pytest.mark.parametrize("kernel", [True, False])
def test_names_have_no_more_than_255_bytes(kernel: bool) -> None:
    assert encoded(Stranger(), lambda value: ("ä" * 127 + "x", 1, False), kernel=kernel)[1] == 255
    with pytest.raises(NotPlain, match=r"a value of the class tests\.runtime\..*Stranger has a name of more than 255"):
        encoded(Stranger(), lambda value: ("ä" * 128, 1, False), kernel=kernel)


@pytest.mark.parametrize("answer", [(), (1, 2), ("x", 1), ("x", 1, False, 2), [], 3, (b"x", 1, False)])
def test_strangers_that_answer_nonsense_are_told(answer: Any) -> None:
    for kernel in (True, False):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            encoded([Stranger()], lambda value: answer, kernel=kernel)


def test_who_is_asked_may_write_something_else_meanwhile() -> None:
    def work(kernel: bool) -> bytes:
        def parts(value: Any) -> Any:
            inner = encoded([[1], {2: {3}}], parts, [], kernel=kernel)
            return "x", [inner, decoded(inner, Made(), kernel=kernel)], False

        return encoded([Stranger(), (Stranger(),)], parts, kernel=kernel)

    assert work(True) == work(False)


@pytest.mark.parametrize("kernel", [True, False])
def test_strangers_that_write_themselves_for_ever_reach_the_limit_of_recursion(kernel: bool) -> None:
    value: Any = Stranger()
    for _ in range(DEEPEST - 1):
        value = [value]

    def parts(inner: Any) -> Any:
        return "x", encoded(value, parts, kernel=kernel), False

    with pytest.raises(RecursionError):
        encoded(value, parts, kernel=kernel)


# --- reading ----------------------------------------------------------------------------------------------------------


class Made:
    """Makes values of what they are made of; `meddle` is told first."""

    def __init__(self, meddle: Callable[[Any], Any] = lambda made_of: None) -> None:
        self._meddle = meddle

    def made(self, name: str, made_of: Any) -> Any:
        self._meddle(made_of)
        return made_of

    def begun(self, name: str) -> tuple[Any, Callable[[Any], None]]:
        value = [name]

        def fill(made_of: Any) -> None:
            self._meddle(made_of)
            value.append(made_of)

        return value, fill


def reading_both(content: bytes, meddle: Callable[[Any], Any]) -> Any:
    """What both twins make of it, which has to be the same."""
    fast, slow = (outcome(lambda k=kernel: decoded(content, Made(meddle), kernel=k)) for kernel in (True, False))  # type: ignore[misc]
    assert fast == slow
    return fast


FIRST = b"r\0\0\0\0"  # what got the first number
STRANGER = b"o\1x" + FIRST
BEGUN = b"O\1x" + FIRST


@pytest.mark.parametrize("stranger", [STRANGER, BEGUN])
@pytest.mark.parametrize(
    ("content", "meddle"),
    [
        (b"[\3\0\0\0j\1%sj\2", lambda root: root.clear()),
        (b"[\3\0\0\0j\1%sj\2", lambda root: root.append(root)),
        (b"[\3\0\0\0j\1%sj\2", lambda root: root.extend(range(1_000))),
        (b"{\3\0\0\0j\1j\1j\2%sj\3j\3", lambda root: root.clear()),
        (b"{\3\0\0\0j\1j\1j\2%sj\3j\3", lambda root: root.update({9: 9})),
        (b"{\3\0\0\0j\1j\1j\2%sj\3j\3", lambda root: root.update({3: 9})),
        (b"<\3\0\0\0j\1(\1\0\0\0%sj\3", lambda root: root.clear()),
    ],
)
def test_what_is_read_is_altered_meanwhile(content: bytes, meddle: Callable[[Any], Any], stranger: bytes) -> None:
    whole = content % stranger
    alone = reading_both(whole, lambda made_of: None)
    assert content.startswith(b"<") or reading_both(whole, meddle) != alone  # a set cannot hold what holds itself


@pytest.mark.parametrize("kernel", [True, False])
def test_what_makers_raise_is_why_it_was_not_read(kernel: bool) -> None:
    for error in (KeyError("k"), OSError("no"), RecursionError("deep")):

        def refuse(made_of: Any, error: Exception = error) -> None:
            raise error

        for stranger in (STRANGER, BEGUN):
            with pytest.raises(NotRead) as refused:
                decoded(b"[\1\0\0\0" + stranger, Made(refuse), kernel=kernel)
            assert (str(refused.value), refused.value.__cause__) == (str(error), error)

    def interrupt(made_of: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decoded(b"[\1\0\0\0" + STRANGER, Made(interrupt), kernel=kernel)


@pytest.mark.parametrize("kernel", [True, False])
def test_an_error_that_cannot_be_told_is_told_as_it_is(kernel: bool) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError("no words")

    def refuse(made_of: Any) -> None:
        raise Mute

    with pytest.raises(ZeroDivisionError, match="no words"):
        decoded(b"[\1\0\0\0" + STRANGER, Made(refuse), kernel=kernel)


def test_a_tuple_is_seen_by_nobody_before_it_is_whole() -> None:
    seen: list[Any] = []

    def look(made_of: Any) -> None:
        seen.extend(each for each in gc.get_objects() if type(each) is tuple and len(each) == 77)

    before = sum(type(each) is tuple and len(each) == 77 for each in gc.get_objects())
    content = b"[\1\0\0\0(" + (77).to_bytes(4, "little") + b"[\0\0\0\0" * 76 + STRANGER
    decoded(content, Made(look))
    assert len(seen) == before


@pytest.mark.parametrize("kernel", [True, False])
def test_reading_within_reading(kernel: bool) -> None:
    inner = encoded([[1], (2, [3])], lambda value: None)

    class Deeper(Made):
        def made(self, name: str, made_of: Any) -> Any:
            return decoded(inner, self, kernel=kernel)

    assert decoded(b"(\2\0\0\0o\1xNo\1xN", Deeper(), kernel=kernel) == ([[1], (2, [3])],) * 2
