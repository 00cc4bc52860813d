"""The parts of a large graph, as pages ask for them: which open, what waits in each, what is refused, what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from graphs import Graph
from graphs.drawing.layout import laid_out
from graphs.live import LiveView, Watch, summary
from graphs.live.film_view import FilmView
from graphs.live.site import NotAnswered
from graphs.live.summary import LONGEST, MOST_BOXES, MOST_PICTURES, Summary
from graphs.sessions.film import Film
from progress.runtime import Dataflow, Node
from tests.commands.large_graphs import LAST, SIZE, TRACE, three_cycles
from tests.commands.paused_runs import totals
from tests.commands.served import asked


@pytest.fixture
def view(tmp_path: Path) -> Iterator[FilmView]:
    path = tmp_path / "trace.jsonl"
    path.write_text(TRACE, "utf-8")
    view = FilmView(Film(three_cycles(), str(path)), path.name, 0, 0)
    while view.film.known < 4:
        view.film.develop(1)
    yield view
    view.close()


def parts(url: str, *keys: str) -> dict[str, Any]:
    status, found = asked(url, f"/parts?open={quote(json.dumps(keys))}")
    assert status == 200, found
    assert isinstance(found, dict)
    return found


def opened(found: Summary, *keys: str) -> dict[str, Any]:
    answer = json.loads(found.answer({"open": json.dumps(keys)}))
    assert isinstance(answer, dict)
    return answer


def test_of_a_graph_that_is_too_large_the_parts_are_drawn() -> None:
    graph = three_cycles()
    watch = Watch("large", graph.network(), "sim")
    found = watch.graph()
    assert found["has_parts"]
    boxes = {box["name"]: box["stands_for"] for box in found["picture"]["nodes"]}
    assert [len(boxes[f"c{cycle} n0"]) for cycle in range(3)] == [SIZE] * 3
    assert len(boxes) == 103
    says = f"c0 n0 … c0 n{LAST}, component of {SIZE} nodes"
    assert found["parts"][0] == {"key": "0", "name": "c0 n0", "says": says, "nodes": SIZE, "open": False}
    assert found["parts"][3] == {"key": "3", "name": "behind 0", "says": "behind 0", "nodes": 1, "open": False}
    states: list[dict[str, Any]] = []

    class Looks(Node):
        def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
            states.append({**watch.state(), **watch.waits()})

    Dataflow(graph, {name: Looks() for name in graph.network().nodes}).run(sources={"in": [(0, 1)]}, observer=watch)
    assert list(states[0]["frontiers"]) == ["in", "c0 n0"]  # the border, and where something is
    assert states[0]["parts"] == []
    small = Watch("small", totals().network(), "sim")
    assert small.summary is None
    assert not small.graph()["has_parts"]
    assert "parts" not in small.waits()


def test_it_says_what_waits_in_each_part(view: FilmView) -> None:
    first, second = view.line(3)["waits"]["parts"]
    oldest = {"request": ["c0 n0", 5], "steps": 2}
    assert first == {"part": "0", "name": "c0 n0", "waiting": 2, "oldest": oldest}
    oldest = {"request": [f"c1 n{LAST}", 4], "steps": 1}
    assert second == {"part": "1", "name": "c1 n0", "waiting": 1, "oldest": oldest}
    first, _ = view.line(4)["waits"]["parts"]  # what is asked of c0 n3 may be delivered now
    assert (first["part"], first["waiting"]) == ("0", 1)
    assert view.line(0)["waits"]["parts"] == []


def test_a_part_that_somebody_opens_says_what_waits_within(view: FilmView) -> None:
    before = view.line(3)["waits"]["parts"]
    found = parts(view.url, "0")
    shown = {part["key"]: part for part in found["parts"]}
    assert shown["0"]["open"]
    inner = [key for key in shown if key.startswith("0.")]
    assert sum(shown[key]["nodes"] for key in inner) == SIZE
    (frame,) = (frame for frame in found["picture"]["frames"] if frame["key"])
    assert (frame["kind"], frame["key"]) == ("part", "0")
    assert {box["key"] for box in found["picture"]["nodes"] if box["key"]} == {"1", "2", *inner}
    waits = view.line(3)["waits"]["parts"]
    assert [wait for wait in waits if "." not in wait["part"]] == before
    within = [(wait["part"], wait["waiting"]) for wait in waits if "." in wait["part"]]
    members = {box["key"]: box["stands_for"] for box in found["picture"]["nodes"]}
    assert [key for key, _ in within] == [key for key in inner if {"c0 n0", "c0 n3"} & {*members[key]}]
    assert sum(count for _, count in within) == 2


def test_keys_that_are_none_open_nothing_and_what_is_not_asked_right_is_refused_in_words(view: FilmView) -> None:
    first = parts(view.url)
    assert not any(part["open"] for part in first["parts"])
    assert parts(view.url, "7.7", "nobody", "", "3") == first  # 3 is a node
    assert parts(view.url, "0.1") == first  # within what is closed
    for question in ("/parts", "/parts?open=", "/parts?open=[1]", "/parts?open={}", "/parts?open=" + "[" * 5_000):
        status, answer = asked(view.url, question)
        assert (status, answer) == (400, {"error": 'open=["0", "0.3"] is asked for: the keys of parts'}), question


def test_a_live_view_answers_the_same() -> None:
    view = LiveView(Watch("large", three_cycles().network(), "sim"), 0)
    try:
        assert sum(part["open"] for part in parts(view.url, "0", "2")["parts"]) == 2
    finally:
        view.close()
    view = LiveView(Watch("small", totals().network(), "sim"), 0)
    try:
        assert asked(view.url, "/parts?open=[]")[0] == 404
    finally:
        view.close()


def test_no_more_boxes_are_shown_than_a_picture_has_room_for() -> None:
    graph = Graph()
    for ring in range(20):
        for number in range(150):
            graph.node(f"{ring} {number}")
        for number in range(150):
            graph.edge(f"{ring} {number}", f"{ring} {(number + 1) % 150}")
            graph.edge(f"{ring} {number}", f"{ring} {(number + 2) % 150}")
    found = Summary(graph.network(), 0)
    assert len(found.first["parts"]) == 20
    keys = [str(number) for number in range(6)]
    assert len(opened(found, *keys)["picture"]["nodes"]) == 6 * 150 + 14
    with pytest.raises(NotAnswered, match=f"1,063 boxes, and at most {MOST_BOXES:,} are shown: close a part"):
        opened(found, *keys, "6")
    assert len(opened(found, "6")["picture"]["nodes"]) == 150 + 19


def test_a_picture_is_made_once_for_all_and_the_run_has_the_time_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    now = work = 100.0
    made: list[Any] = []
    slept: list[float] = []
    found = Summary(three_cycles().network(), 0)

    def takes_half_a_second(plan: Any) -> Any:
        nonlocal now, work
        now += 9.0  # others have the processor as well
        work += 0.5 if len(made) < 2 else 5.0
        made.append(plan)
        return laid_out(plan)

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        slept.append(seconds)

    monkeypatch.setattr(summary, "monotonic", lambda: now)
    monkeypatch.setattr(summary, "thread_time", lambda: work)
    monkeypatch.setattr(summary, "sleep", sleep)
    monkeypatch.setattr(summary, "laid_out", takes_half_a_second)
    for _ in range(5):
        first = opened(found, "0")
    assert (len(made), slept) == (1, [0.0])
    second = opened(found, "1")
    assert (len(made), slept) == (2, [0.0, 1.0])  # twice what the one before took
    assert opened(found, "0") == first != second
    for number in range(MOST_PICTURES):
        opened(found, "2", f"none {number}")
    assert opened(found, "0") == first
    assert slept[2:5] == [1.0, LONGEST, LONGEST]  # somebody waits
    assert len(made) == 3 + MOST_PICTURES  # only so many are kept
    assert found._made(frozenset({"1"})) == json.dumps(second, separators=(",", ":")).encode()
