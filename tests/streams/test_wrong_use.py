"""What users do wrong: they are told what it is. Asking whether something is there is not wrong."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from graphs.streams import Flow
from progress.errors import PointstampError
from progress.runtime import DeadLetter


def _stream() -> Any:
    return Flow().input("x")


OBJECTS: dict[str, Callable[[], Any]] = {
    "stream": _stream,
    "keyed": lambda: _stream().keyed(),
    "aggregated": lambda: _stream().keyed().count(),
    "collection": lambda: Flow().collection("x"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_what_is_not_there_is_not_there_to_hasattr_and_its_like(kind: str) -> None:
    made = OBJECTS[kind]()
    for name in ("top", "join", "output", "corrections", "shape", "__array__"):
        assert hasattr(made, name) == hasattr(copy.copy(made), name)
    assert getattr(made, "session", None) is None or kind == "keyed"
    assert getattr(made, "corrections", None) is None
    assert len(inspect.getmembers(made)) > 20


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("stream", "top", "PS812: test_wrong_use.py:"),
        ("keyed", "map", "PS814: test_wrong_use.py:"),
        ("aggregated", "corrections", "it says nothing before the end (early before it)"),
        ("aggregated", "top", "top of 'x.count' has no key"),
        ("collection", "output", "a collection has changes, and output is for streams (changes() before it"),
        ("collection", "top", "a collection has changes, and top is for streams (changes() before it"),
    ],
)
def test_an_operator_of_another_kind_of_stream_is_refused_in_words(kind: str, name: str, says: str) -> None:
    with pytest.raises(AttributeError) as refusal:
        getattr(OBJECTS[kind](), name)
    assert isinstance(refusal.value, PointstampError)
    assert says in str(refusal.value)


def _fails(program: Callable[[Any], None]) -> str:
    flow = Flow(on_error=DeadLetter("failed"))
    program(flow)
    found = flow.run(sources={"x": [(0, ("k", 1))]})
    assert [*found] == ["failed"]
    return str(found["failed"][0][1])


NOT_SEVERAL = "TypeError: its function gave None, where several values are wanted (a list of them; [] for none)"
NOT_A_STATE = "TypeError: its function gave {}, not (next state, result)"


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (lambda flow: flow.input("x").whole(lambda time, bag: None).output("o"), NOT_SEVERAL),
        (lambda flow: flow.input("x").flat_map(lambda value: None).output("o"), NOT_SEVERAL),
        (lambda flow: flow.input("x").flat_map(lambda value: None).map(str).output("o"), NOT_SEVERAL),
        (lambda flow: flow.input("x").flat_map(lambda value: None).filter(bool).output("o"), NOT_SEVERAL),
        (lambda flow: flow.input("x").flat_map(lambda value: None).flat_map(str.split).output("o"), NOT_SEVERAL),
        (lambda flow: flow.input("x").keyed().stateful_map(0, lambda s, v: 3).output("o"), NOT_A_STATE.format(3)),
        (
            lambda flow: flow.input("x").map_async(lambda value: 3).output("o"),
            "TypeError: its function gave 3, which cannot be awaited (map, or an async def)",
        ),
        (
            lambda flow: flow.input("x").keyed().stateful_map(0, lambda s, v: (s, v, 3)).output("o"),
            NOT_A_STATE.format("(0, 1, 3)"),
        ),
    ],
)
def test_a_function_that_gives_the_wrong_thing_is_told_what_it_gave(program: Callable[[Any], None], says: str) -> None:
    assert says in _fails(program)


def test_so_is_the_function_of_a_reduction_of_a_collection() -> None:
    flow = Flow()
    flow.collection("x").reduce(lambda key, values: None).changes().output("o")  # type: ignore[arg-type, return-value]
    with pytest.raises(PointstampError, match="its function gave None, where several values are wanted"):
        flow.run(sources={"x": [(0, (("k", 1), 1))]})


def test_a_type_error_of_the_function_itself_stays_what_it_is() -> None:
    def half(value: Any) -> Any:
        yield value
        raise TypeError("half of it")

    assert "TypeError: half of it" in _fails(lambda flow: flow.input("x").flat_map(half).output("o"))
    assert "TypeError: half of it" in _fails(lambda flow: flow.input("x").flat_map(half).map(str).output("o"))
    assert "TypeError: half of it" in _fails(lambda flow: flow.input("x").whole(lambda _, bag: half(bag)).output("o"))


def test_a_state_is_unpacked_outside_of_the_function() -> None:
    def step(state: int, value: Any) -> Any:
        return tuple(range(value))[:1].index(7)

    assert "not in tuple" in _fails(lambda flow: flow.input("x").keyed().stateful_map(0, step).output("o"))


@pytest.mark.parametrize(
    "value", [5, None, "ab", "abc", b"ab", (1, 2, 3), {"shop": "x", "amount": 3}, {1, 2}], ids=repr
)
def test_what_is_not_a_pair_is_not_taken_apart(value: Any) -> None:
    programs: list[Callable[[Any], Any]] = [
        lambda keyed: keyed.count(),
        lambda keyed: keyed.reduce(max),
        lambda keyed: keyed.top(2),
        lambda keyed: keyed.session(3),
        lambda keyed: keyed.fold(0, lambda a, b: a, merge=max, accumulate=True),
        lambda keyed: keyed.join(keyed, lambda key, left, right: key),
    ]
    for program in programs:
        flow = Flow(on_error=DeadLetter("failed"))
        program(flow.input("x").keyed()).output("o")
        found = flow.run(sources={"x": [(0, ("k", 1)), (0, value), (1, value)]})
        assert found["failed"]
        for _, error in found["failed"]:
            assert "is not a pair of a key and a value (key_on takes a key out of it)" in str(error)


def test_lists_of_two_are_pairs_as_json_has_them() -> None:
    flow = Flow()
    flow.input("x").keyed().reduce(max).output("o")
    assert flow.run(sources={"x": [(0, ["k", 1]), (0, ["k", 3])]}) == {"o": [(0, ("k", 3))]}


@pytest.mark.parametrize("engine", ["sim", "threads", "asyncio"])
def test_of_many_values_that_are_awaited_only_those_that_fail_are_dead_letters(engine: str) -> None:
    async def inverse(value: int) -> float:
        return 6 / value

    flow = Flow(on_error=DeadLetter("failed"))
    flow.input("x").map_async(inverse).output("o")
    found = flow.run(sources={"x": [(0, 1), (0, 0), (0, 2), (0, 3), (1, 0)]}, engine=engine)
    assert sorted(found["o"]) == [(0, 2.0), (0, 3.0), (0, 6.0)]
    assert [(time, failure.value) for time, failure in found["failed"]] == [(0, 0), (1, 0)]
