"""A trace as a film: every line is reached, from few lines before it, and what is found is what a plain engine finds.

The oracle plays each trace from its start, line by line, on a `Tracker` with the eager engine in Python.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphs import from_data, load
from graphs.sessions.film import SPACING, Film
from graphs.sessions.moments import freed_by, next_delivery
from graphs.sessions.track import TrackSession, recorded
from progress.errors import PointstampError
from progress.tracker import Tracker
from tests.commands.tracking import LOOP, rounds, size_of

GRAPH = from_data(LOOP)


class State(NamedTuple):
    """What the oracle knows after a line."""

    snapshot: dict[str, Any]
    frontiers: dict[str, tuple[Any, ...]]
    ready: list[tuple[str, Any]]
    delivered: list[str]
    eligible: list[tuple[str, Any]]
    pending: list[tuple[str, Any]]


def states(lines: list[bytes]) -> list[State]:
    """The states before the first line and after each one, by a plain engine from the start."""
    tracker = Tracker(GRAPH, engine="eager", kernel=False)

    def state(delivered: list[str], ready: list[Any]) -> State:
        return State(
            tracker.snapshot(),
            {name: tracker.frontier(name) for name in (*tracker.network.nodes, *tracker.network.edges)},
            ready,
            delivered,
            [*map(tuple, tracker.eligible())],
            [*map(tuple, tracker.pending())],
        )

    found = [state([], [])]
    for line in lines:
        step = json.loads(line)
        step = step.get("in", step)
        delivered: list[str] = []
        try:
            if "why" not in step:
                tracker.apply(
                    inputs=step.get("inputs"),
                    messages=map(tuple, step.get("messages", ())),
                    requests=map(tuple, step.get("requests", ())),
                    delivered=map(tuple, step.get("delivered", ())),
                )
                delivered = [node for node, _ in step.get("delivered", ())]
        except PointstampError:
            pass
        found.append(state(delivered, [*map(tuple, tracker.get_ready())]))
    return found


def random_trace(rng: random.Random, count: int) -> list[bytes]:
    """A session through the loop: mostly legal, some refused, questions, requests that wait for long."""
    session = TrackSession(GRAPH)
    lines: list[bytes] = []
    opened = 0
    for _ in range(count):
        tracker = session.tracker
        queued = [*tracker.messages()]
        eligible = tracker.eligible()
        line: dict[str, Any] = {}
        choice = rng.random()
        if choice < 0.25:
            line = {"messages": [["input", opened + rng.randrange(3), 1]]}
        elif choice < 0.5 and queued:
            edge, time = min(queued, key=lambda message: message[1])
            line = {"messages": [[edge, time, -1]]}
            if rng.random() < 0.5 and edge in ("input", "back"):
                line["messages"].append(["out", time, 1])
            if edge == "out" and rng.random() < 0.5:
                line["messages"].append(["back", time + 1, 1])
        elif choice < 0.65 and eligible:
            line = {"delivered": [[*rng.choice(eligible)]]}
            if rng.random() < 0.3:
                line["requests"] = [["body", line["delivered"][0][1] + rng.randrange(2)]]
        elif choice < 0.75:
            line = {"requests": [["body", opened + rng.randrange(30)]]}
        elif choice < 0.85:
            opened += rng.randrange(6)
            line = {"inputs": {"input": [opened]}}
        elif choice < 0.9:
            line = {"why": ["body", opened]}
        else:
            line = {"messages": [["input", 0, -9]]}
        data = json.dumps(line).encode() + b"\n"
        lines.append(recorded(data, session.answer_line(data)))
    return lines


OPEN: list[Film] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Films that a test has opened are closed at its end."""
    yield
    while OPEN:
        OPEN.pop().close()


def film_of(path: Path, lines: list[bytes], **options: Any) -> Film:
    path.write_bytes(b"".join(lines))
    OPEN.append(Film(GRAPH, str(path), **options))
    return developed(OPEN[-1])


def developed(film: Film) -> Film:
    while film.develop(100):
        pass
    return film


@cache
def played(seed: int) -> tuple[list[bytes], list[State]]:
    """A random trace, and the oracle's states."""
    lines = random_trace(random.Random(seed), 240)
    return lines, states(lines)


@pytest.fixture(params=[0, 1])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[random.Random, Film, list[State]]:
    """A random trace as a film whose marks are close together, let go now and then, and the oracle's states."""
    lines, wanted = played(request.param)
    film = film_of(tmp_path / "trace.jsonl", lines, spacing=5, most_bytes=(10**6, 3_000)[request.param % 2])
    return random.Random(request.param), film, wanted


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_the_state_at_every_line_is_that_of_a_session_from_the_start(
    case: tuple[random.Random, Film, list[State]],
) -> None:
    rng, film, wanted = case
    assert (film.known, film.damage, film.is_torn) == (240, None, False)
    places = [*range(241)]
    rng.shuffle(places)
    for place in (*places, 240, 239, 239, 0, 0, 1):
        replay = film.seek(place)
        tracker = replay.session.tracker
        assert replay.line == place
        assert tracker.snapshot() == wanted[place].snapshot
        assert {name: tracker.frontier(name) for name in GRAPH.locations()} == wanted[place].frontiers


def test_the_next_delivery_of_a_node(case: tuple[random.Random, Film, list[State]]) -> None:
    _, film, wanted = case
    deliveries = [line for line, state in enumerate(wanted) if "body" in state.delivered]
    assert len(deliveries) > 5
    for line in range(241):
        assert next_delivery(film, "body", line) == next((each for each in deliveries if each > line), None)
        assert next_delivery(film, "feedback", line) is None


def test_the_moment_at_which_a_request_became_free(case: tuple[random.Random, Film, list[State]]) -> None:
    _, film, wanted = case
    found = 0
    for line in range(0, 241, 7):
        for request in wanted[line].pending:
            free = [each for each, state in enumerate(wanted) if request in state.ready]
            if request in wanted[line].eligible:
                expected = max(each for each in free if each <= line)
            else:
                expected = next((each for each in free if each > line), 0)
            freed = freed_by(film, *request, line)
            assert (0 if freed is None else freed.line) == expected, (request, line)
            if freed is not None:
                before = wanted[freed.line - 1]
                assert freed.asked == (request not in before.pending or request in before.eligible)
                outstanding = {*before.pending, *((edge, at) for edge, at, _ in before.snapshot["messages"])}
                outstanding |= {("input", at) for at in before.snapshot["inputs"]["input"]}
                assert {(each.pointstamp.location, each.pointstamp.time) for each in freed.by} <= outstanding
                assert freed.asked or freed.by
            found += freed is not None and not freed.asked
    assert found > 8


def test_times_that_are_not_numbers(tmp_path: Path) -> None:
    """Pairs, and stacks of calls, go through marks as they are."""
    data = {"pointstamp": 1, "time": {"product": ["nat", "nat"]}, "nodes": {"n": {}}, "edges": [{"id": "i", "to": "n"}]}
    steps: list[dict[str, Any]] = [
        {"requests": [["n", [1, 2]]]},
        {"inputs": {"i": [[1, 0]]}},
        {"inputs": {"i": [[2, 0]]}},
        {"delivered": [["n", [1, 2]]]},
    ]
    calls: list[dict[str, Any]] = [
        {"start": {"requests": [["entry", []], ["exit", []]]}},
        {"messages": [["entry->split", [], 1]], "delivered": [["entry", []]]},
        {"messages": [["entry->split", [], -1], ["split->left", [], 1]]},
        {"messages": [["split->left", [], -1], ["call-left->entry", ["left"], 1]]},
        {"messages": [["call-left->entry", ["left"], -1]]},
        {"delivered": [["exit", []]]},
    ]
    two_calls = load(Path(__file__).resolve().parents[2] / "examples/recursion/two_calls.yaml")
    for graph, node, time, lines in ((from_data(data), "n", [1, 2], steps), (two_calls, "exit", [], calls)):
        path = tmp_path / f"{node}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        film = Film(graph, str(path), spacing=1)
        OPEN.append(film)
        developed(film)
        assert film.counts.refused == {}
        assert len(film.marks) > 3
        last = len(lines) - 1
        for line in range(1, last + 1):
            freed = freed_by(film, node, graph.time_from_json(node, time), line)
            assert freed is not None
            assert (freed.line, freed.asked, bool(freed.by)) == (last, False, True)
        assert next_delivery(film, node, 0) == last + 1


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_a_line_is_reached_from_few_lines_before_it_however_long_the_trace_is(tmp_path: Path) -> None:
    """A hundredth of the spacing that is usual, and a hundredth of a million lines: the same figures, times hundred."""
    rng = random.Random(5)
    film = film_of(tmp_path / "trace.jsonl", [*rounds(10_000)], spacing=SPACING // 100)
    assert len(film.marks) == film.known // film.spacing + 1
    for _ in range(200):
        before = film.replayed
        film.seek(rng.randrange(film.known))
        assert film.replayed - before < film.spacing
        before = film.replayed
        line = rng.randrange(film.known - 8)
        following = next_delivery(film, "body", line)
        assert following is not None
        assert film.replayed - before <= 2 * film.spacing
    before = film.replayed
    film.seek(5_000)
    film.seek(5_003)  # nearer than any mark
    assert film.replayed - before < film.spacing + 4


def test_a_request_that_waits_for_long_is_found_by_bisection(tmp_path: Path) -> None:
    trace = [*rounds(4_000)]
    first = [b'{"requests": [["body", %d]]}\n' % time for time in range(890, 902)]
    film = film_of(tmp_path / "trace.jsonl", [*first, *trace], spacing=40)
    for time in range(890, 902):
        before = film.replayed
        freed = freed_by(film, "body", time, len(first))
        assert freed is not None
        moved = b'{"inputs": {"input": [%d]}, "messages": [["input", %d, 1]]}\n' % (time + 1, time + 1)
        assert trace[freed.line - len(first) - 1] == moved
        assert film.replayed - before <= len(first) + 2 * film.spacing


def test_developing_asks_no_more_of_memory_than_its_marks(tmp_path: Path) -> None:
    sizes = []
    for count in (2_000, 20_000):
        film = film_of(tmp_path / f"{count}.jsonl", [*rounds(count)], spacing=10, most_bytes=3_000)
        assert film.marks.bytes == sum(len(mark.packed) for mark in film.marks) <= 3_000
        assert len(film.marks) > 3
        before = film.replayed
        film.seek(count - 1)
        assert film.replayed - before <= film.spacing
        sizes.append(size_of(film._developed) + len(film.marks))
    assert sizes[1] < 2 * sizes[0]


def test_marks_are_as_far_apart_as_much_is_outstanding(tmp_path: Path) -> None:
    lines = [b'{"requests": [["body", %d]]}\n' % time for time in range(2_000)]
    film = film_of(tmp_path / "trace.jsonl", lines, spacing=10)
    outstanding = [2 * (after.line - before.line) >= before.line for before, after in pairwise(film.marks)]
    assert all(outstanding)
    assert len(film.marks) < 15


# --- traces that are not whole ---------------------------------------------------------------------------------------


def test_a_trace_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    lines = [*rounds(40)]
    whole = b"".join(lines)
    wanted = states(lines)
    film = film_of(path, [], spacing=7)
    breaks = [place for place, letter in enumerate(whole) if letter == ord("\n")]
    for end in sorted({*range(0, len(whole) + 1, 13), *breaks}):  # also with whole lines that have no break yet
        path.write_bytes(whole[:end])
        developed(film)
        assert film.damage is None
        known = whole[:end].count(b"\n")
        has_more = whole[:end].rpartition(b"\n")[2]
        is_whole = has_more.endswith(b"}") and has_more.count(b"{") == has_more.count(b"}")
        assert film.known == known + is_whole
        assert film.is_torn == (bool(has_more) and not is_whole)
        assert film.seek(film.known).session.tracker.snapshot() == wanted[film.known].snapshot
    path.write_bytes(whole)
    developed(film)
    assert (film.known, film.is_torn) == (len(lines), False)


@pytest.mark.parametrize("damage", [b"[1]\n", b"x\n", b'{"ready": []}\n{"ready": []}\n', b"[" * 100_000 + b"\n"])
def test_what_is_before_damage_is_shown(tmp_path: Path, damage: bytes) -> None:
    lines = [*rounds(8)]
    film = film_of(tmp_path / "trace.jsonl", [*lines, damage, *lines])
    wanted = len(lines) + (damage.count(b"\n") - 1)
    assert film.known == wanted
    assert film.damage is not None
    assert (film.damage.code, film.damage.line) == ("PS513", wanted + 1)
    assert film.seek(len(lines)).session.tracker.snapshot() == states(lines)[-1].snapshot
    assert film.develop(10) == 0


def test_a_trace_that_becomes_shorter_is_said_to(tmp_path: Path) -> None:
    film = film_of(tmp_path / "trace.jsonl", [*rounds(40)], spacing=7)
    (tmp_path / "trace.jsonl").write_bytes(b"")
    with pytest.raises(PointstampError, match="shorter"):
        film.seek(20)
    film.develop(1)
    assert "shorter" in str(film.damage)


def test_a_trace_of_another_graph_is_known(tmp_path: Path) -> None:
    other = film_of(tmp_path / "a.jsonl", [b'{"requests": [["bodi", 0]]}\n', b'{"messages": [["inpud", 0, 1]]}\n'])
    assert other.is_of_another_graph()
    data = b'{"requests": [["bodi", 0]]}\n'
    said = film_of(tmp_path / "b.jsonl", [recorded(data, TrackSession(GRAPH).answer_line(data))])
    assert not said.is_of_another_graph()  # it was refused when it was recorded, too
    assert not film_of(tmp_path / "c.jsonl", [data, *rounds(8)]).is_of_another_graph()
    assert not film_of(tmp_path / "d.jsonl", []).is_of_another_graph()


def test_lines_have_their_text(tmp_path: Path) -> None:
    lines = [*rounds(40)]
    film = film_of(tmp_path / "trace.jsonl", lines, spacing=7)
    film.seek(20)
    for first in (-3, 1, 6, 7, 8, 30, 40, 41):
        wanted = [line.decode().strip() for line in lines[max(first, 1) - 1 :][:5]]
        assert film.lines(first, 5) == wanted
    assert film.lines(42, 5) == []
    assert film.lines(1, 1, most=5) == ['{"mes']
    assert film.seek(21).line == 21  # where it was is not lost


@pytest.mark.parametrize(
    "ask",
    [
        lambda film: film.seek(-1),
        lambda film: film.seek(42),
        lambda film: next_delivery(film, "back", 1),
        lambda film: next_delivery(film, "bodi", 1),
        lambda film: next_delivery(film, "body", 99),
        lambda film: freed_by(film, "body", 5, 1),
        lambda film: freed_by(film, "bodi", 5, 1),
    ],
)
def test_what_is_not_there_is_refused(tmp_path: Path, ask: Any) -> None:
    film = film_of(tmp_path / "trace.jsonl", [*rounds(40)], spacing=7)
    with pytest.raises(PointstampError) as refused:
        ask(film)
    assert refused.value.code in ("PS501", "PS502", "PS507")
