"""Every question and every step has a budget of work; beyond it is refused by name, and leaves no trace."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

import progress.closure
from graphs import Graph, from_data
from graphs.checking.mending import advance_that_mends
from graphs.sessions.ask import Asker
from graphs.sessions.track import TrackSession
from progress import PointstampError, Tracker, check_conditions, close, could_result_in
from progress.cycles import walk
from progress.cycles.walk import Budget
from progress.engines.eager import Eager
from progress.normal_form import pieces as normal_form
from progress.normal_form.declared import Advance, Enter
from progress.order import Product
from progress.pointstamp import Pointstamp

Json = Any
FAR = 1_000_000_000


def trade(places: int = 2, kind: str = "product") -> Graph:
    """A cycle on which one coordinate falls and another rises: every time leads to as many others as it has rounds."""
    amounts = [-1, *([1] * (places - 1))]
    return from_data(
        {
            "pointstamp": 1,
            "time": {kind: ["nat"] * places},
            "nodes": {"a": {"summary": {"advance": amounts}}, "b": {"notify": False}},
            "edges": [
                {"id": "in", "to": "a"},
                {"id": "ab", "from": "a", "to": "b"},
                {"id": "ba", "from": "b", "to": "a"},
            ],
        }
    )


def fan(places: int, length: int) -> Graph:
    """A chain in which every node advances one of the coordinates: there is no cycle, and no end of times either."""
    graph = Graph({"product": ["nat"] * places})
    one = [{"advance": [int(place == other) for other in range(places)]} for place in range(places)]
    for number in range(length):
        graph.node(f"n{number}", summary={"any": one})
    graph.edge(None, "n0", id="in")
    for number in range(length - 1):
        graph.edge(f"n{number}", f"n{number + 1}", id=f"e{number}")
    return graph.edge(f"n{length - 1}", None, id="out")


CASES: dict[str, tuple[Graph, Json, Json]] = {
    "trade of two": (trade(2), [0, 0], [FAR, 0]),
    "trade of three": (trade(3), [0, 0, 0], [FAR, 0, 0]),
    "fan of nine, which no kernel knows": (fan(9, 60), [0] * 9, [3] * 9),
}


@pytest.fixture
def small_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the budgets, for as many cases in the same time."""
    monkeypatch.setattr("progress.engines.eager.MOST_STEPS", 100_000)
    monkeypatch.setattr("progress.closure.MOST_STEPS", 20_000)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", ["eager", "hierarchical"])
@pytest.mark.parametrize("kernel", [None, False])
@pytest.mark.usefixtures("small_budgets")
def test_a_start_and_a_step_that_lead_too_far(case: str, engine: str, kernel: bool | None) -> None:
    graph, _, far = CASES[case]
    time = tuple(far)

    def refused(act: Any) -> None:
        with pytest.raises(PointstampError) as caught:
            act()
        assert caught.value.code == "PS604"

    refused(lambda: Tracker(graph, inputs={"in": [time]}, engine=engine, kernel=kernel).clock())
    tracker = Tracker(graph, inputs={"in": []}, engine=engine, kernel=kernel)
    assert tracker.clock() == {}
    if case.startswith("trade"):
        tracker = Tracker(graph, inputs={"in": [(0,) * len(far)]}, engine=engine, kernel=kernel)
        tracker.apply(messages=[("in", time, 1)])
        before = tracker.snapshot(), tracker.clock(), tracker.kernel
        for _ in range(2):
            refused(lambda: tracker.apply(inputs={"in": []}))
            assert (tracker.snapshot(), tracker.clock(), tracker.kernel) == before
            tracker._check()
        tracker.apply(messages=[("in", time, -1)])
        tracker.apply(inputs={"in": []})
        assert tracker.clock() == {}


def test_a_line_of_track_and_of_ask() -> None:
    graph = trade(2)
    session = TrackSession(graph)

    def told(line: Json) -> Json:
        return json.loads(session.answer_line(json.dumps(line).encode()))

    assert told({"start": {"inputs": {"in": [[FAR, 0]]}}})["error"]["code"] == "PS604"
    assert told({"messages": [["in", [FAR, 0], 1]], "show": {"frontiers": ["a"]}})["frontiers"] == {"a": [[0, 0]]}
    assert told({"inputs": {"in": []}})["error"]["code"] == "PS604"
    assert told({"messages": [["in", [FAR, 0], -1]], "show": {"frontiers": ["a"]}})["frontiers"] == {"a": [[0, 0]]}
    asker = Asker(graph)
    for query in (
        {"close": [["in", [FAR, 0]]]},
        {"contains": {"close": [["in", [FAR, 0]]], "pointstamp": ["a", [0, 0]]}},
    ):
        assert json.loads(asker.answer_line(json.dumps(query).encode()))["error"]["code"] == "PS604"


def test_who_holds_back_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are who may be in the way: all together have one budget."""
    tracker = Tracker(trade(2), inputs={"in": [(0, 0)]})
    tracker.apply(messages=[("in", (FAR + place, place), 1) for place in range(50)])
    closings = 0
    close_numbered = progress.closure.close_numbered

    def counted(*arguments: Any) -> Any:
        nonlocal closings
        closings += 1
        return close_numbered(*arguments)

    monkeypatch.setattr("progress.tracking.blocking.close_numbered", counted)
    with pytest.raises(PointstampError, match="PS604"):
        tracker.why("a", (FAR // 2, FAR // 2 + 1000))
    assert closings < 5


def test_what_was_there_comes_back_however_much_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Putting back the state has no budget: it was reached step by step."""
    graph = trade(2)
    tracker = Tracker(graph, inputs={"in": [(0, 0)]}, kernel=False)
    for start in (200, 150, 100):
        tracker.apply(messages=[("in", (start, start), 1)])
    tracker.apply(inputs={"in": []})
    before = tracker.clock()
    monkeypatch.setattr("progress.engines.eager.MOST_STEPS", 300)
    monkeypatch.setattr("progress.engines.eager.STEPS_A_CHANGE", 0)
    monkeypatch.setattr("progress.engines.eager.STEPS_A_PLACE", 0)
    with pytest.raises(PointstampError, match="PS604"):
        tracker.apply(messages=[("in", (100, 100), -1)])
    assert tracker.clock() == before
    tracker._check()


def test_a_budget_is_counted_in_steps_and_is_the_same_every_time() -> None:
    left = []
    for rounds in (300, 300, 600):
        tracker = Tracker(trade(2), inputs={"in": [(0, 0)]}, kernel=False)
        tracker.apply(messages=[("in", (rounds, 0), 1)])
        tracker.apply(inputs={"in": []})
        assert isinstance(tracker._engine, Eager)
        left.append(tracker._engine._effort.left)
    assert left[0] == left[1] > left[2] + 1000


def test_a_table_of_rows_with_many_places_is_read() -> None:
    """A row of a table is tied to a number in each place; its ties have 2 ** 60 subsets, of which none is listed."""
    places = 60
    rows = [[[number] * places, [number + 1] * places] for number in range(4)]
    graph = Graph({"product": ["nat"] * places}).node("a", summary={"map": rows}).edge(None, "a", id="in")
    graph.edge("a", None, id="out")
    tracker = Tracker(graph, inputs={"in": [(1,) * places]})
    assert tracker.frontier("out") == ((2,) * places,)


def wide_cycle(width: int) -> Graph:
    """Each of three nodes raises any one of so many coordinates: of three steps there are width**3 / 6 results."""
    graph = Graph(time={"product": ["nat"] * width})
    raises = {"any": [{"advance": [int(place == raised) for place in range(width)]} for raised in range(width)]}
    for name in ("a", "b", "c"):
        graph.node(name, summary=raises)
    return graph.edge(None, "a", "in").edge("a", "b", "x").edge("b", "c", "y").edge("c", "a", "z")


def test_the_frontier_of_an_edge_is_refused_soon_where_it_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes have 1, 20 and 210 times, found soon; the edge behind the third has 1,540, each compared to all."""
    monkeypatch.setattr("progress.closure.MOST_STEPS", 40_000)
    found = close(wide_cycle(20), [("a", (FAR,) * 20)])
    assert len(found.times(found.network.number("c"))) == 210
    with pytest.raises(PointstampError, match="PS604"):
        _ = found.frontiers


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often times of so many coordinates are compared."""
    found: Counter[int] = Counter()
    less_equal = Product.less_equal

    def counted(domain: Product, earlier: Any, later: Any) -> bool:
        found[len(domain.parts)] += 1
        return less_equal(domain, earlier, later)

    monkeypatch.setattr(Product, "less_equal", counted)
    return found


def test_a_comparison_of_many_coordinates_costs_more(looked: Counter[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """One of thirty takes as long as three of three: within one budget there are a third as many."""
    monkeypatch.setattr("progress.closure.MOST_STEPS", 10_000)
    monkeypatch.setattr("progress.engines.eager.MOST_STEPS", 50_000)
    for act in (
        lambda places: close(trade(places), [("in", (FAR,) + (0,) * (places - 1))]),
        lambda places: close(fan(places, 60), [("in", (3,) * places)]).frontiers,
        lambda places: Tracker(fan(places, 60), inputs={"in": [(3,) * places]}, engine="eager", kernel=False),
    ):
        looked.clear()
        for places in (3, 30):
            with pytest.raises(PointstampError, match="PS604"):
                act(places)
        assert 0 < 2 * looked[30] < looked[3], looked


@pytest.mark.parametrize("engine", ["eager", "hierarchical"])
def test_the_frontier_of_a_tracker_is_refused_soon_where_it_is_too_wide(
    engine: str, looked: Counter[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a question, and has a budget like every other; the tracker goes on."""
    monkeypatch.setattr("progress.effort.MOST_STEPS", 20_000)
    tracker = Tracker(wide_cycle(15), inputs={}, requests=[("a", (FAR,) * 15)], engine=engine)
    assert len(tracker.frontier("y")) == 120
    looked.clear()
    for ask in (lambda: tracker.frontier("z"), tracker.clock):
        with pytest.raises(PointstampError, match="PS604: the frontier of 'z'"):
            ask()
    assert looked[15] < 300_000  # of more than a million
    assert tracker.eligible() == ()
    tracker.apply(requests=[("b", (FAR + 1,) * 15)])
    assert len(tracker.pending()) == 2


def test_what_mends_a_cycle_is_looked_for_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint is not worth a minute: walks over many alternatives are given up."""
    composed = 0

    def counted(*arguments: Any) -> Any:
        nonlocal composed
        composed += 1
        return normal_form.compose(*arguments)

    network = wide_cycle(20).network()
    monkeypatch.setattr("progress.cycles.walk.compose", counted)
    way = [Pointstamp(name, (0,) * 20) for name in ("a", "x", "b", "y", "c", "z", "a")]
    assert advance_that_mends(network, way) is None
    assert 0 < composed < 2_000


def test_what_wide_pieces_cost_is_counted_by_their_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison of 30 numbers counts as much as fifteen of two: what `check` looks at is counted here."""
    looked = 0
    judged = normal_form.dominates

    def counted(source: Any, target: Any, one: Any, other: Any) -> bool:
        nonlocal looked
        looked += len(one.moves)
        return judged(source, target, one, other)

    monkeypatch.setattr(normal_form, "dominates", counted)
    check_conditions(wide_cycle(30))
    assert looked < 4_000_000


def ring(parts: list[Json], summaries: list[Json], chords: list[tuple[int, int]]) -> Graph:
    """Nodes in a circle with some short cuts."""
    graph = Graph({"product": parts})
    for number, summary in enumerate(summaries):
        graph.node(f"n{number}", summary=summary, notify=False)
    count = len(summaries)
    around = [(number, (number + 1) % count) for number in range(count)]
    for number, (source, target) in enumerate([*around, *chords]):
        graph.edge(f"n{source}", f"n{target}", id=f"e{number}")
    return graph.edge(None, "n0", id="in")


def trades(copies: int = 1) -> Graph:
    """Circles without an end of incomparable walks, `copies` of them side by side."""
    small = ring(
        ["nat", "nat", "nat"],
        [
            {"any": [{"advance": [-1, 2, 0]}, {"advance": [2, -1, 1]}, {"advance": [0, 1, -1]}]},
            {"any": [{"advance": [1, -1, 0]}, {"at_least": [0, 1, 0]}, {"advance": [-3, 0, 2]}]},
            {"any": [{"advance": [0, 2, -3]}, {"advance": [1, 0, -1]}, {"advance": [-1, -1, 1]}]},
        ],
        [(0, 2), (1, 0), (2, 1)],
    )
    graph = Graph({"product": ["nat", "nat", "nat"]})
    for copy in range(copies):
        for name, record in small.nodes.items():
            graph.node(f"{name}.{copy}", summary=record.summary, notify=name == "n1")
        for edge, source, target in zip(small.edges, small.sources, small.targets, strict=True):
            graph.edge(source and f"{source}.{copy}", target and f"{target}.{copy}", id=f"{edge}.{copy}")
    return graph


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What judging conditions spends, compositions and comparisons alike."""
    amounts: list[int] = []
    charge = Budget.charge

    def counted(budget: Budget, amount: int = 1) -> None:
        amounts.append(amount)
        charge(budget, amount)

    monkeypatch.setattr(Budget, "charge", counted)
    return amounts


def test_judging_conditions_has_one_budget_for_all_cycles(spent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves open is undecided, and what was found before is kept."""
    monkeypatch.setattr("progress.cycles.judging.FEWEST_COMPOSITIONS", 500)
    monkeypatch.setattr("progress.cycles.judging.FEW_COMPOSITIONS", 500)
    monkeypatch.setattr("progress.conditions.COMPOSITIONS", 20_000)
    totals = []
    for copies in (1, 6):
        spent.clear()
        report = check_conditions(trades(copies))
        totals.append(sum(spent))
        assert report.condition_2.holds is False
        assert report.condition_2.witness is not None
    assert totals[0] > 9_000
    assert totals[1] < 20_000 + 6 * 3 * 1_000  # a component looks at a little, however much went before


def test_comparing_the_pieces_of_one_walk_is_counted(spent: list[int]) -> None:
    """A walk with many alternatives costs the square of their number at each edge."""
    from progress.normal_form.coordinate import Undecided

    network = trades().network()
    way = [0, 1, 2] * 20
    with pytest.raises(Undecided):
        walk.relations_of(network, way, Budget(3_000))
    assert sum(spent) < 3_500


def test_trying_every_time_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finite domain is tried time by time, and given up as undecided where that is too much."""
    from progress.cycles import finite_state

    graph = ring([{"nat": {"max": 9}}] * 2, [{"any": [{"advance": [1, -1]}, {"advance": [-1, 2]}]}] * 2, [])
    network = graph.network()
    assert finite_state.standstill_among_states(network, [0, 1])[0]
    monkeypatch.setattr(finite_state, "MOST_STEPS", 1)
    assert finite_state.standstill_among_states(network, [0, 1]) == (False, None)


def ways(levels: int) -> Json:
    """Each part raises any one of nine coordinates: of n parts there are (n + 8)! / n! / 8! alternatives."""
    one = [{"advance": [int(place == raised) for place in range(9)]} for raised in range(9)]
    return {"then": [{"any": one}] * levels}


def test_alternatives_that_multiply_are_refused_where_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an endless composition: the summary is named, on every engine and every time that it is asked for."""
    monkeypatch.setattr("graphs.graph.MOST_STEPS", 50_000)

    def graph(levels: int) -> Graph:
        built = Graph({"product": ["nat"] * 9}).node("a").node("b", summary=ways(levels))
        return built.edge(None, "a", id="in").edge("a", "b", id="ab").edge("b", None, id="out")

    assert len(Tracker(graph(2)).frontier("out")) == 45
    refused = graph(60)
    for engine in ("eager", "hierarchical", "eager"):
        with pytest.raises(PointstampError, match="PS004: the summary of 'b' on the edge 'out'"):
            Tracker(refused, engine=engine)


def test_the_parts_of_a_summary_are_worked_out_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each alternative of what goes before, which multiplied at every level of nesting."""
    worked_out = 0
    pieces = Advance.pieces

    def counted(summary: Advance, *arguments: Any) -> Any:
        nonlocal worked_out
        worked_out += 1
        return pieces(summary, *arguments)

    monkeypatch.setattr(Advance, "pieces", counted)
    raises = {"any": [{"advance": [1, 0, 0]}, {"advance": [0, 1, 0]}, {"advance": [0, 0, 1]}]}
    nested: Json = raises
    for _ in range(3):
        nested = {"then": [raises, nested]}
    graph = Graph({"product": ["nat"] * 3}).node("a", summary=nested)
    graph.edge(None, "a", id="in").edge("a", None, id="out").network()
    assert worked_out == 4 * 3


def test_a_summary_that_may_pass_many_domains_is_bound_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a loop and out of it forty times, each time into one of two domains: not 2 ** 40 ways to choose."""
    asked = 0
    targets = Enter.targets

    def counted(summary: Enter, source: Any, hints: Any) -> Any:
        nonlocal asked
        asked += 1
        assert asked < 1_000
        return targets(summary, source, hints)

    monkeypatch.setattr(Enter, "targets", counted)
    graph = Graph("nat").node("a", summary={"then": ["enter", "leave"] * 40 + ["enter"]})
    graph.node("b", time={"product": ["nat", {"nat": {"max": 5}}]})
    graph.edge(None, "a", id="in").edge("a", "b", id="ab")
    assert Tracker(graph).frontier("ab") == ((0, 0),)


def test_the_proofs_of_one_answer_have_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait, or are waited for: beyond it a proof is the way of the closure, which may be a walk."""
    graph = Graph("nat")
    names = [f"n{number}" for number in range(6)]
    for name in names:
        graph.node(name, summary={"advance": -1})
    graph.edge(None, "n0", id="in")
    for source in names:
        for target in names:
            if source != target:
                graph.edge(source, target)
    spent = 0
    spend = could_result_in._Search._spend

    def counted(search: Any, steps: int) -> None:
        nonlocal spent
        spent += steps
        spend(search, steps)

    monkeypatch.setattr(could_result_in._Search, "_spend", counted)
    monkeypatch.setattr("progress.notification.MOST_STEPS", 1_500)

    def asked(count: int) -> tuple[int, int]:
        """How many hold a request back, and the steps of their proofs."""
        nonlocal spent
        tracker = Tracker(graph, inputs={"in": [3000]}, requests=[("n5", 5)])
        tracker.apply(messages=[("in", 3000 + number, 1) for number in range(count)])
        spent = 0
        return len(tracker.why("n5", 5).by), spent

    one_search = asked(0)[1]
    assert one_search > 100
    blockers, steps = asked(100)
    assert blockers >= 100
    assert steps < 1_500 + 2 * one_search


def test_a_walk_over_deep_stacks_is_written_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand pairs of stacks of thousands of calls would be a gigabyte: the answer says that it goes on."""
    monkeypatch.setattr("graphs.sessions.ask.LONGEST_LINE", 100_000)
    graph = Graph(recursion={"in": "entry", "out": "exit", "calls": ["c"]}).node("entry").node("c").node("exit")
    asker = Asker(graph.edge("entry", "exit").edge("entry", "c").edge("c", "exit"))
    query = {"could_result_in": [["entry", ["c"] * 2_000], ["exit", []]], "walk": True}
    answer = asker.answer(query)
    assert answer["result"]
    assert answer["goes_on"]
    assert 2 <= len(answer["walk"]) < 100
    short = asker.answer({"could_result_in": [["entry", ["c"] * 10], ["exit", []]], "walk": True})
    assert "goes_on" not in short


def test_the_hierarchy_composes_no_more_than_it_can_pay_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sixty alternatives after sixty others, each of 1,830 would be compared to all, and the result not used."""
    graphs = {places: fan(places, 60) for places in (10, 60)}
    networks = {places: graph.network() for places, graph in graphs.items()}
    compared: Counter[int] = Counter()
    dominates = normal_form.dominates

    def counted(source: Any, target: Any, one: Any, other: Any) -> bool:
        compared[len(one.moves)] += 1
        return dominates(source, target, one, other)

    monkeypatch.setattr(normal_form, "dominates", counted)
    for network in networks.values():
        assert Tracker(network, inputs={"in": []}, engine="hierarchical").clock() == {}
    assert 0 < compared[10] < 10_000
    assert compared[60] < 10_000
