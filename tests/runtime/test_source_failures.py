"""A source that raises is a failure that names its edge; a malformed event is a dead letter where that is wanted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph, JsonLines
from progress.runtime import Complete, Dataflow, DeadLetter, Messages, Refused, Retry, SourceFailed, Stop
from progress.runtime.observer import Observer
from progress.runtime.policies import by_count, by_event_time, explicit, with_idleness
from tests.commands.pipelines import ENGINES, TOTALS, TOTALS_YAML, Result, lines_of, run, values_of, write

every_engine = pytest.mark.parametrize("engine", ENGINES)


def graph() -> Graph:
    return Graph().node("p").edge(None, "p", "in").edge("p", None, "out")


def gives(*items: Any) -> Callable[[], Iterator[Any]]:
    return lambda: iter(items)


# --- a source that raises -------------------------------------------------------------------------------------------


def in_the_middle() -> Iterator[Any]:
    yield 0, "a"
    raise LookupError("gone")


def at_once() -> Iterator[Any]:
    raise LookupError("gone")


class NoIterator:
    def __iter__(self) -> Iterator[Any]:
        raise LookupError("gone")


class Class:
    """An iterator that is not a generator; a pipe that is closed must not look like the end of anything."""

    def __iter__(self) -> Class:
        return self

    def __next__(self) -> Any:
        raise BrokenPipeError("gone")


class Domains:
    def items_for(self, engine: str, edge: str, domain: Any) -> Iterator[Any]:
        raise LookupError("gone")


class Unkind:
    """What is given as a time, and raises when it is looked at."""

    def __hash__(self) -> int:
        raise LookupError("gone")


RAISES: dict[str, Any] = {
    "a time": [(Unkind(), "a")],
    "in the middle": in_the_middle,
    "at once": at_once,
    "iter": NoIterator(),
    "next": Class(),
    "items_for": Domains(),
    "within a policy": by_count(in_the_middle, every=2),
    "that may be silent": with_idleness(in_the_middle, 1_000.0),
    "no iterable": 5,
}


@every_engine
@pytest.mark.parametrize("how", RAISES)
@pytest.mark.parametrize("on_error", [None, DeadLetter()], ids=["stop", "dead letters"])
def test_a_source_that_raises_is_a_failure_with_its_edge(engine: str, how: str, on_error: Any) -> None:
    """It can give nothing more, so no policy passes it over."""
    with pytest.raises(SourceFailed, match=r"PS724: the source of 'in' failed: [A-Za-z]*Error") as caught:
        Dataflow(graph(), on_error=on_error).run(engine=engine, sources={"in": RAISES[how]})
    assert (caught.value.edge, caught.value.value) == ("in", None)
    assert isinstance(caught.value.error, LookupError | OSError | TypeError)


@pytest.mark.parametrize("how", ["plain", "policy", "silent"])
def test_an_async_source_that_raises_is_a_failure_with_its_edge(how: str) -> None:
    async def items() -> AsyncIterator[Any]:
        yield 0, "a"
        raise LookupError("gone")

    source: Any = {"plain": items, "policy": by_count(items, every=2), "silent": with_idleness(items, 1_000.0)}[how]
    with pytest.raises(SourceFailed, match="PS724: the source of 'in' failed: LookupError: gone"):
        Dataflow(graph()).run(engine="asyncio", sources={"in": source})


@every_engine
def test_the_command_names_the_edge_and_shows_the_traceback(tmp_path: Path, engine: str) -> None:
    code = "def numbers():\n    yield 0, 1\n    raise BrokenPipeError('dry')\n"
    text = TOTALS.replace("dataflow =", f"{code}dataflow =").replace(
        '{"total": Total()}', '{"total": Total()}, sources={"numbers": numbers}'
    )
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=text)
    result = run(tmp_path, "totals.py", "--engine", engine)
    assert result.exit_code == 1
    assert "in numbers\n    raise BrokenPipeError('dry')" in result.err
    assert result.err.splitlines()[-1] == (
        "pointstamp: PS724: the source of 'numbers' failed: BrokenPipeError: dry (mend the source)"
    )


# --- a malformed event ----------------------------------------------------------------------------------------------

EVENTS = [(1, {"at": 1}), (2, {"at": None}), (3, {}), (4, {"at": 4}), (5, {"at": "five"})]


def happened(event: Any) -> Any:
    return event[1]["at"]


NO_VALUES: Any = 3
SAYS_NO = Refused(2, KeyError("at"))
GOOD = [1, 4]
MALFORMED: dict[str, tuple[Any, list[int]]] = {
    "a policy's function": (by_event_time(gives(*EVENTS), happened, value=lambda event: event[0]), GOOD),
    "times that are none": (gives((0, 1), (-1, 2), (None, 3), (0, 4), ("five", 5)), GOOD),
    "no pairs": (gives((0, 1), 2, None, (0, 4), (0, 4, 4)), GOOD),
    "batches": (
        gives(Messages(0, [1]), Messages(-1, [2]), Messages(0, NO_VALUES), Messages(0, [4]), Messages(None, [5])),
        GOOD,
    ),
    "a source that says so": (gives((0, 1), SAYS_NO, SAYS_NO, (0, 4), SAYS_NO), GOOD),
}


class Refusals(Observer):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def refused(self, failure: SourceFailed) -> None:
        self.values.append(failure.value)


@every_engine
@pytest.mark.parametrize("kind", MALFORMED)
@pytest.mark.parametrize(
    "on_error",
    [DeadLetter("dead"), {"in": DeadLetter("dead")}, {"in": Retry(then=DeadLetter("dead")), "*": Stop()}],
    ids=["all", "edge", "retry"],
)
def test_malformed_events_are_dead_letters_where_that_is_wanted(engine: str, kind: str, on_error: Any) -> None:
    source, good = MALFORMED[kind]
    refusals = Refusals()
    results = Dataflow(graph(), on_error=on_error).run(engine=engine, sources={"in": source}, observer=refusals)
    assert [value for _, value in results["out"]] == good
    assert [time for time, _ in results["dead"]] == [None] * 3
    failures = [failure for _, failure in results["dead"]]
    assert all(isinstance(failure, SourceFailed) and failure.edge == "in" for failure in failures)
    assert all("'in'" in str(failure) for failure in failures)
    assert refusals.values == [failure.value for failure in failures]


@every_engine
@pytest.mark.parametrize("kind", MALFORMED)
@pytest.mark.parametrize("on_error", [None, {"p": DeadLetter()}, {"*": DeadLetter(), "in": Stop()}], ids=str)
def test_a_malformed_event_stops_the_run_where_no_dead_letters_are_wanted(
    engine: str, kind: str, on_error: Any
) -> None:
    with pytest.raises(SourceFailed, match="'in'"):
        Dataflow(graph(), on_error=on_error).run(engine=engine, sources={"in": MALFORMED[kind][0]})


@every_engine
def test_the_next_value_is_the_policys_own(engine: str) -> None:
    """What a rule knows is what it knew before the value for which it raised."""
    values = by_event_time(gives(*[(0, 5), 3, (0, 9), (0, 4)]), lambda pair: pair[1], lateness=2, value=lambda p: p[1])
    results = Dataflow(graph(), on_error=DeadLetter("dead")).run(engine=engine, sources={"in": values})
    assert results["out"] == [(5, 5), (9, 9)]
    assert results["late"] == [(4, 4)]
    assert len(results["dead"]) == 1


@every_engine
def test_what_completes_times_that_are_none_stops_the_run(engine: str) -> None:
    """It is not an event: nobody knows what would be complete without it."""
    with pytest.raises(Exception, match=r"PS503: .*'in'"):
        Dataflow(graph(), on_error=DeadLetter()).run(engine=engine, sources={"in": gives((0, 1), Complete([-1]))})


# --- of lines -------------------------------------------------------------------------------------------------------

LINES = [
    '{"time": 0, "value": {"at": 1, "n": 1}}',
    '{"time": 0, "value": {"at": null, "n": 2}}',
    "",
    '{"time": 0, "value": {"n": 3}}',
    '{"time": 0}',
    '{"time": 0, "value": {"at": 1, "n": 10}}',
]
SAYS = {
    2: "PS720: at 'numbers', an event time is None",
    4: "PS724: the source of 'numbers' failed on (0, {'n': 3}): KeyError: 'at'",
    5: "PS731: at 'numbers', there is no value",
}
BY_TIME = 'by_event_time(JsonLines("in.jsonl"), lambda line: line[1]["at"], value=lambda line: line[1]["n"])'


def pipeline(folder: Path, on_error: str, source: str = BY_TIME) -> None:
    text = TOTALS.replace(
        '{"total": Total()}', f'{{"total": Total()}}, sources={{"numbers": {source}}}, on_error={on_error}'
    )
    head = "from graphs import JsonLines\nfrom progress.runtime import DeadLetter\n"
    head += "from progress.runtime.policies import by_event_time, explicit\n"
    write(folder, totals__yaml=TOTALS_YAML, totals__py=head + text)


@every_engine
@pytest.mark.parametrize("line", SAYS)
def test_it_is_told_at_which_line_of_which_file(tmp_path: Path, engine: str, line: int) -> None:
    pipeline(tmp_path, "None")
    lines = [text for number, text in enumerate(LINES, 1) if number not in SAYS or number == line]
    place = lines.index(LINES[line - 1]) + 1
    write(tmp_path, in__jsonl="".join(f"{text}\n" for text in lines))
    result = run(tmp_path, "totals.py", "--engine", engine)
    assert result.exit_code == (1 if line == 4 else 2)
    assert result.err.splitlines()[-1].startswith(f"pointstamp: in.jsonl:{place}: {SAYS[line]}")
    assert ("Traceback" in result.err) == (line == 4), "the pipeline's own code raised"


@every_engine
def test_dead_letters_say_where_they_come_from(tmp_path: Path, engine: str) -> None:
    pipeline(tmp_path, "DeadLetter()")
    write(tmp_path, in__jsonl="".join(f"{text}\n" for text in LINES))
    files = ("--output", "totals=out", "--output", "dead-letters=dead", "--state", "state", "--every", "0")
    for _ in range(2):
        assert run(tmp_path, "totals.py", *files, "--engine", engine) == Result(0, "", "")
        found = lines_of((tmp_path / "dead").read_text("utf-8"))
        assert [(line["time"], line["input"], line["place"]) for line in found] == [
            (None, "numbers", f"in.jsonl:{number}") for number in SAYS
        ]
        assert [line["value"] for line in found] == [[0, {"at": None, "n": 2}], [0, {"n": 3}], '{"time": 0}']
        for line, says in zip(found, SAYS.values(), strict=True):
            assert says.partition(": ")[2] in line["error"]
        assert values_of(lines_of((tmp_path / "out").read_text("utf-8")), "totals") == {("totals", "1", "11"): 1}


@every_engine
def test_lines_of_the_command_are_dead_letters_too(tmp_path: Path, engine: str) -> None:
    pipeline(tmp_path, '{"numbers": DeadLetter()}', "[]")
    text = '{"time": 0, "value": 1}\nno JSON\n{"time": -1, "value": 3}\n{"time": 0, "value": 4}\n'
    result = run(
        tmp_path, "totals.py", "--input", "numbers=-", "--output", "totals=out", "--engine", engine, stdin=text
    )
    assert (result.exit_code, result.err) == (0, "")
    assert [(line["edge"], line["place"], line["value"]) for line in result.lines] == [
        ("dead-letters", "-:2", "no JSON"),
        ("dead-letters", "-:3", '{"time": -1, "value": 3}'),
    ]
    assert values_of(lines_of((tmp_path / "out").read_text("utf-8")), "totals") == {("totals", "0", "5"): 1}


@every_engine
def test_a_policy_around_lines_that_may_be_silent_knows_the_file(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f"{text}\n" for text in LINES[:2]))
    values = with_idleness(explicit(JsonLines(path)), 1_000.0)
    policy = by_event_time(values, lambda line: line[1]["at"])
    with pytest.raises(SourceFailed, match="PS720: at 'in', an event time is None"):
        Dataflow(graph()).run(engine=engine, sources={"in": policy})
    results = Dataflow(graph(), on_error=DeadLetter("dead")).run(engine=engine, sources={"in": policy})
    assert [failure.value for _, failure in results["dead"]] == [(0, {"at": None, "n": 2})]
    assert json.loads(json.dumps(results["out"])) == [[1, [0, {"at": 1, "n": 1}]]]
