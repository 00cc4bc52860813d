"""Times that fall without end: every engine, `ask` and the kernel's twin against the reference (`falling_graphs`)."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import pytest

from graphs import from_data
from graphs.sessions.ask import Asker
from graphs.sessions.track import TrackSession
from progress import PointstampError, Tracker, check_conditions, reference
from progress.could_result_in import CouldResultIn
from progress.plain import read_time, write_time
from progress.reference.session import Closures, Session
from progress.summary import NoMinimalTimes
from tests.questions.falling_graphs import random_falling_graph, random_time, risen, sunken
from tests.reference.against_reference import Tally
from tests.reference.meaning import numbers

Json = Any
LEX = {"lex": ["nat", "nat", "int"]}
FALLS: Json = {
    "pointstamp": 1,
    "time": LEX,
    "nodes": {"n": {"summary": {"advance": [0, -1, 0]}}, "m": {}},
    "edges": [{"id": "i", "to": "n"}, {"id": "o", "from": "n", "to": "m"}, {"id": "u", "from": "m"}],
}
ENGINES = ("eager", "hierarchical")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("behind", [False, True])
def test_an_image_without_least_times_above_one_that_has_them(engine: str, behind: bool) -> None:
    graph = from_data(FALLS if behind else FALLS | {"nodes": {"n": FALLS["nodes"]["n"]}, "edges": [
        {"id": "i", "to": "n"}, {"id": "o", "from": "n"}]})  # fmt: skip
    tracker = Tracker(graph, inputs={"i": [(2, 5, 0)]}, requests=[("n", (3, 0, 0))], engine=engine)
    assert tracker.frontier("o") == ((2, 4, 0),)
    tracker._check()
    asked = json.loads(Asker(graph).answer_line(b'{"close": [["i", [2, 5, 0]], ["n", [3, 0, 0]]]}'))
    assert asked["frontiers"] == {name: [list(time) for time in times] for name, times in tracker.clock().items()}
    tracker.apply(inputs={"i": []})
    with pytest.raises(NoMinimalTimes):
        tracker.frontier("o")
    tracker.apply(delivered=[("n", (3, 0, 0))], messages=[("o", (3, 0, -9), 1)])
    assert tracker.frontier("o") == ((3, 0, -9),)
    tracker._check()


def test_a_session_goes_on_where_there_are_no_least_times() -> None:
    session = TrackSession(from_data(FALLS))

    def told(line: Json) -> Json:
        return json.loads(session.answer_line(json.dumps(line).encode()))

    start = {"start": {"inputs": {"i": []}, "requests": [["n", [3, 0, 0]], ["m", [3, 0, -5]]]}}
    assert told(start | {"show": {"frontiers": ["o", "m"]}}) == {
        "ready": [["n", [3, 0, 0]]],
        "frontiers": {"o": None, "m": None},
    }
    assert told({"why": ["m", [3, 0, -5]]}) == {
        "blocked": True,
        "by": [{"pointstamp": ["n", [3, 0, 0]], "kind": "request", "proof": [["n", [3, 0, 0]], ["o", [3, 0, -5]]]}],
    }
    assert told({"messages": [["o", [2, 9, 0], 1]]})["error"]["code"] == "PS506"
    assert told({"messages": [["o", [3, 0, -80], 1]], "delivered": [["n", [3, 0, 0]]]}) == {"ready": []}
    assert told({"messages": [["o", [3, 0, -80], -1]]}) == {"ready": [["m", [3, 0, -5]]]}


class Beside:
    """A tracker beside the reference on the sunken graph."""

    def __init__(self, rng: random.Random, tally: Tally) -> None:
        self.rng, self.tally = rng, tally
        self.document, deep = random_falling_graph(rng)
        self.domain = self.document["time"]
        self.oracle = reference.Graph(deep)
        self.graph = from_data(self.document)
        self.session, self.closures = Session(self.oracle, {"in": []}), Closures(self.oracle)

    def both(self, time: Json) -> tuple[Any, Any]:
        """A time as the tracker and as the reference have it."""
        location = self.oracle.nodes[0]
        found: Any = self.graph.time_from_json(location, time)
        return found, self.oracle.time_from_json(location, sunken(self.domain, time))

    def random_times(self) -> tuple[Any, Any]:
        return self.both(random_time(self.rng, self.domain))

    def items(self, places: list[str], number: int) -> tuple[list[Any], list[Any]]:
        """Places with times, mostly such as are in Clock."""
        mine, theirs = [], []
        for _ in range(number):
            place = self.rng.choice(places)
            known = [time for each in self.session.frontier(place) if (time := risen(self.domain, each)) is not None]
            one, other = self.both(self.rng.choice(known)) if known and self.rng.random() < 0.7 else self.random_times()
            mine.append((place, one))
            theirs.append((place, other))
        return mine, theirs

    def play(self) -> None:
        rng, oracle = self.rng, self.oracle
        opened = [self.random_times() for _ in range(rng.choice([0, 1, 1, 2]))]
        asked, asked_there = self.items(oracle.nodes, rng.randint(0, 3))
        self.session = Session(oracle, {"in": [deep for _, deep in opened]}, asked_there, self.closures)
        self.session.clock()  # TooManySteps, where there is no end
        trackers = [
            Tracker(
                self.graph, inputs={"in": [time for time, _ in opened]}, requests=asked, engine=engine, kernel=kernel
            )
            for engine, kernel in (("eager", False), ("hierarchical", False), ("auto", None))
        ]
        for _ in range(rng.randint(2, 6)):
            self.compare(trackers)
            mine, theirs = self.step()
            codes = self.session.step(**theirs)
            self.session.clock()
            for tracker in trackers:
                with pytest.raises(PointstampError) if codes else nullcontext() as caught:
                    tracker.apply(**mine)
                assert caught is None or caught.value.code in codes, f"{caught}, expected {sorted(codes)}"
            self.tally.add("refused" if codes else "taken")
        self.compare(trackers)

    def step(self) -> tuple[Any, Any]:
        """A step, legal or not, for the tracker and for the reference."""
        rng, session = self.rng, self.session
        sent, sent_there = self.items(self.oracle.edges, rng.choice([0, 0, 1, 1, 2]))
        asked, asked_there = self.items(self.oracle.nodes, rng.choice([0, 0, 1]))
        mine: Json = {"messages": [(*each, 1) for each in sent], "requests": asked, "delivered": [], "inputs": {}}
        theirs: Json = {
            "messages": [(*each, 1) for each in sent_there],
            "requests": asked_there,
            "delivered": [],
            "inputs": {},
        }
        for (edge, time), count in list(session.messages.items()):
            if rng.random() < 0.5:
                theirs["messages"].append((edge, time, -count))
                mine["messages"].append((edge, self.both(risen(self.domain, time))[0], -count))
        for node, time in session.eligible() if rng.random() < 0.6 else ():
            theirs["delivered"].append((node, time))
            mine["delivered"].append((node, self.both(risen(self.domain, time))[0]))
        if rng.random() < 0.3:
            theirs["inputs"]["in"], mine["inputs"]["in"] = [], []
        return mine, theirs

    def compare(self, trackers: list[Tracker]) -> None:
        rng, session, oracle = self.rng, self.session, self.oracle
        outstanding = [(place, self.both(risen(self.domain, time))[0]) for (place, time), _ in session.outstanding()]
        questions = [(node, *self.random_times()) for node in oracle.nodes]
        for tracker in trackers:
            for location in oracle.locations:
                expected = [risen(self.domain, time) for time in session.frontier(location)]
                try:
                    found = {str(write_time(time)) for time in tracker.frontier(location)}
                    assert found == set(map(str, expected)), f"{location}: {found}, expected {expected}"
                    self.tally.add("frontier: some" if found else "frontier: none")
                except NoMinimalTimes:
                    assert None in expected, f"{location} has {expected}"
                    self.tally.add("frontier: without end")
            eligible = {(node, str(risen(self.domain, time))) for node, time in session.eligible()}
            assert {(node, str(write_time(time))) for node, time in tracker.eligible()} == eligible
            for node, time, deep in questions:
                assert tracker.complete(node, time) is session.complete(node, deep)
            for node, time, deep in questions[:1]:
                why = tracker.why(node, time)
                blockers = {(place, str(risen(self.domain, at))) for (place, at), _ in session.blockers(node, deep)}
                assert {(place, str(write_time(at))) for (place, at), _, _, _ in why.by} == blockers
                for blocker in why.by:
                    self.judge_way([(place, write_time(at)) for place, at in blocker.proof])
            tracker._check()
        asker = Asker(self.graph)
        for node, time, deep in questions:
            edge = rng.choice(oracle.edges)
            query = {
                "close": [[place, write_time(at)] for place, at in outstanding],
                "pointstamp": [edge, write_time(time)],
            }
            assert asker.answer({"contains": query}) == {"result": session.in_clock(edge, deep)}
            if outstanding:
                start = rng.choice(outstanding)
                there = start[0], self.both(write_time(start[1]))[1]
                proof = CouldResultIn(self.graph).proof(start, (node, time))
                assert (proof is not None) is reference.could_result_in(oracle, there, (node, deep))
                if proof is not None:
                    self.judge_way([(place, write_time(at)) for place, at in proof])
                    self.tally.add("could result in")

    def judge_way(self, way: list[tuple[str, Json]]) -> None:
        """Whether each pair of a way follows from the one before it."""
        there = [(place, self.both(time)[1]) for place, time in way]
        for (place, time), (following, later) in pairwise(there):
            closed = self.closures.of_one((place, time))
            assert reference.is_in(self.oracle, (following, later), closed), f"{way}"


def play(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        beside = Beside(random.Random(seed), tally)
        try:
            beside.play()
        except reference.TooManySteps:
            tally.add("no end")
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r} on {beside.document}") from error
    return tally


def test_random_sessions() -> None:
    tally = play(range(110))
    for kind in ("frontier: some", "frontier: none", "frontier: without end", "taken", "refused", "could result in"):
        assert tally.counts[kind] > 50, tally.counts
    assert tally.counts["no end"] < 40


@pytest.mark.soak
def test_many_random_sessions() -> None:
    play(range(10_000, 20_000))


def test_a_time_reads_back() -> None:
    assert risen(LEX, tuple(sunken(LEX, [1, 2, -3]))) == [1, 2, -3]
    assert read_time([1, [2, -3]]) == (1, (2, -3))


def test_check_shows_rounds_in_times_alone() -> None:
    """A round on which times fall without end is shown with numbers that are low enough."""
    falling = 0
    for seed in range(250):
        document, deep = random_falling_graph(random.Random(seed))
        oracle, domain = reference.Graph(deep), document["time"]
        report = check_conditions(from_data(document))
        ways = [offence.path for offence in report.condition_2.witnesses]
        ways += [standstill.round for standstill in report.advancing.standstills]
        for way in ways:
            path = [(place, oracle.time_from_json(place, sunken(domain, write_time(at)))) for place, at in way]
            for before, (place, time) in pairwise(path):
                reached = [each for there, times in oracle.steps(*before) for each in times if there == place]
                assert any(oracle.less_equal(place, each, time) for each in reached), f"{before} to {time} in {way}"
            falling += any(number < -100 for _, at in way for number in numbers(at))
    assert falling >= 2
