"""`pointstamp ask`: one query a line, one answer a line, to the letter of the SPEC (section 3)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphs import from_data
from graphs.command import main
from progress.reference import Graph as Reference
from progress.reference import could_result_in
from tests.commands.asking import LOOP, fixture_of_asked  # noqa: F401 - a fixture
from tests.commands.line_process import LineProcess

ROOT = Path(__file__).resolve().parents[2]

FINITE = {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]}}
DOMAINS: dict[str, Any] = {  # a node of each domain
    "nat": "nat",
    "bounded": {"nat": {"max": 3}},
    "int": "int",
    "unit": "unit",
    "product": {"product": ["nat", "nat"]},
    "lex": {"lex": ["nat", "int"]},
    "finite": FINITE,
    "sum": {"sum": {"left": "nat", "right": "int"}},
    "nested": {"product": [{"lex": ["nat", "nat"]}, {"sum": {"l": "unit"}}]},
    "pair": {"product": [{"finite": {"elements": ["left", "other"]}}, "nat"]},
}


def loop(summary: Any, time: Any = "nat") -> dict[str, Any]:
    """The loop with another summary on its way back."""
    return {**LOOP, "time": time, "nodes": {"body": {}, "feedback": {"summary": summary, "notify": False}}}


def through(summary: Any, time: Any = "nat", edge: Any = None) -> dict[str, Any]:
    """One node with one output edge, `out`."""
    return {
        "pointstamp": 1,
        "time": time,
        "nodes": {"node": {"summary": summary}},
        "edges": [{"id": "in", "to": "node"}, {"id": "out", "from": "node", **(edge or {})}],
    }


# --- could_result_in -------------------------------------------------------------------------------------------------

RELATED = [  # start, end, proof
    (["input", 0], ["input", 0], [["input", 0]]),
    (["input", 0], ["input", 5], [["input", 0], ["input", 5]]),
    (["input", 0], ["body", 0], [["input", 0], ["body", 0]]),
    (["body", 0], ["body", 1], [["body", 0], ["body", 1]]),
    (
        ["input", 0],
        ["back", 1],
        [["input", 0], ["body", 0], ["out", 0], ["feedback", 0], ["back", 1]],
    ),
    (
        ["input", 0],
        ["back", 9],
        [["input", 0], ["body", 0], ["out", 0], ["feedback", 0], ["back", 9]],
    ),
    (["out", 2], ["result", 3], [["out", 2], ["feedback", 2], ["back", 3], ["body", 3], ["result", 3]]),
]
UNRELATED = [
    (["input", 1], ["input", 0]),
    (["input", 1], ["body", 0]),
    (["input", 0], ["back", 0]),
    (["result", 0], ["body", 9]),
    (["body", 0], ["input", 9]),
]


@pytest.mark.parametrize(("start", "end", "proof"), RELATED)
def test_could_result_in_is_answered_with_its_proof(asked: Any, start: Any, end: Any, proof: Any) -> None:
    assert asked(LOOP).one({"could_result_in": [start, end]}) == {"result": True, "proof": proof}


@pytest.mark.parametrize(("start", "end"), UNRELATED)
def test_no_is_answered_without_a_proof(asked: Any, start: Any, end: Any) -> None:
    assert asked(LOOP).one({"could_result_in": [start, end]}) == {"result": False}


def test_a_way_back_to_the_same_location_is_none_of_distinct_locations(asked: Any) -> None:
    ask = asked(loop({"advance": -1}))
    assert ask.one({"could_result_in": [["body", 3], ["body", 2]]}) == {"result": False}
    assert ask.one({"could_result_in": [["body", 3], ["back", 2]]})["result"] is True
    assert ask.one({"could_result_in": [["back", 3], ["back", 2]]}) == {"result": False}
    assert ask.one({"could_result_in": [["body", 3], ["back", 1]]}) == {"result": False}
    assert ask.one({"contains": {"close": [["body", 3]], "pointstamp": ["body", 0]}}) == {"result": True}


@pytest.mark.parametrize("graph", [LOOP, loop({"advance": -1}), loop({"any": [{"advance": 2}, {"constant": 1}]})])
def test_every_proof_leads_over_distinct_locations_at_reachable_times(asked: Any, graph: Any) -> None:
    reference = Reference(graph)
    pointstamps = [[location, time] for location in reference.locations for time in range(4)]
    questions = [(start, end) for start in pointstamps for end in pointstamps]
    answers = asked(graph)(*({"could_result_in": [start, end]} for start, end in questions))
    for (start, end), answer in zip(questions, answers, strict=True):
        assert answer["result"] is could_result_in(reference, tuple(start), tuple(end)), (start, end)
        if not answer["result"]:
            assert set(answer) == {"result"}
            continue
        proof = answer["proof"]
        assert proof[0] == start
        assert proof[-1] == end
        locations = [location for location, _ in proof]
        if start[0] != end[0]:
            assert len(set(locations)) == len(locations)
        for pair in proof:
            assert could_result_in(reference, tuple(start), tuple(pair)), (pair, proof)


# --- summaries, by the closure of one time behind them ---------------------------------------------------------------

LEX3 = {"lex": ["nat", "nat", "nat"]}
PAIR = {"product": ["nat", "nat"]}
SUMMARIES = [  # domain, summary, time, times on the output edge
    ("nat", "identity", 3, [3]),
    ("nat", "never", 3, None),
    ("nat", {"advance": 2}, 3, [5]),
    ("nat", {"advance": -2}, 3, [1]),
    ("nat", {"advance": -1}, 0, [0]),  # because 1 goes there
    ("nat", {"advance": -5}, 3, [0]),
    ("int", {"advance": -5}, 3, [-2]),
    ({"nat": {"max": 3}}, {"advance": 2}, 1, [3]),
    ({"nat": {"max": 3}}, {"advance": 2}, 2, None),
    (PAIR, {"advance": [1, -1]}, [2, 3], [[3, 2]]),
    (PAIR, {"advance": [1, -1]}, [2, 0], [[3, 0]]),
    (LEX3, {"advance": [1, 0, -1]}, [2, 3, 4], [[3, 3, 3]]),
    ("nat", "enter", 3, [[3, 0]]),
    ("nat", {"enter": 7}, 3, [[3, 7]]),
    (PAIR, "enter", [1, 2], [[1, 2, 0]]),
    (LEX3, "enter", [1, 2, 3], [[1, 2, 3, 0]]),
    (PAIR, "leave", [1, 2], [1]),
    (LEX3, "leave", [1, 2, 3], [[1, 2]]),
    ("nat", "feedback", 3, [4]),
    (PAIR, "feedback", [1, 2], [[1, 3]]),
    (LEX3, "feedback", [1, 2, 3], [[1, 2, 4]]),
    ("nat", {"at_least": 5}, 3, [5]),
    ("nat", {"at_least": 5}, 8, [8]),
    (PAIR, {"at_least": [0, 5]}, [3, 1], [[3, 5]]),
    (LEX3, {"at_least": [1, 5, 5]}, [1, 4, 9], [[1, 5, 5]]),
    (LEX3, {"at_least": [1, 5, 5]}, [2, 0, 0], [[2, 0, 0]]),
    (FINITE, {"at_least": "b"}, "a", ["b"]),
    (FINITE, {"at_least": "b"}, "c", ["d"]),
    ({"finite": {"elements": ["x", "y"]}}, {"at_least": "x"}, "y", None),
    ("nat", {"constant": 4}, 9, [4]),
    ("unit", {"constant": None}, None, [None]),
    ("nat", {"round_up": 5}, 0, [0]),
    ("nat", {"round_up": 5}, 11, [15]),
    ("int", {"round_up": 5}, -11, [-10]),
    (FINITE, {"map": [["b", "d"], ["b", "c"], ["c", "c"]]}, "b", ["c"]),
    (FINITE, {"map": [["b", "b"], ["b", "c"]]}, "b", ["b", "c"]),
    (FINITE, {"map": [["a", "b"], ["b", "a"]]}, "a", ["a"]),  # not monotone: closed upward
    (FINITE, {"map": [["a", "b"]]}, "c", None),
    ("nat", {"tag": "left"}, 3, [{"left": 3}]),
    ({"sum": {"left": "nat", "right": "int"}}, {"untag": "left"}, {"left": 3}, [3]),
    ({"sum": {"left": "nat", "right": "int"}}, {"untag": "left"}, {"right": 3}, None),
    ("nat", {"then": [{"advance": -5}, {"advance": 2}]}, 3, [2]),
    ("nat", {"then": [{"round_up": 5}, {"advance": 1}]}, 3, [6]),
    (PAIR, {"then": ["enter", "feedback", "leave"]}, [1, 2], [[1, 2]]),
    ("nat", {"any": [{"advance": 2}, {"at_least": 4}]}, 3, [4]),
    ("nat", {"any": [{"advance": 2}, {"at_least": 4}]}, 1, [3]),
    (PAIR, {"any": [{"advance": [1, 0]}, {"advance": [0, 1]}]}, [0, 0], [[0, 1], [1, 0]]),
    (PAIR, {"any": [{"advance": [1, 0]}, "identity", "never"]}, [0, 0], [[0, 0]]),
]


@pytest.mark.parametrize(("time", "summary", "start", "expected"), SUMMARIES)
def test_what_a_summary_gives(asked: Any, time: Any, summary: Any, start: Any, expected: Any) -> None:
    edge = {"time": {"sum": {"left": "nat", "right": "int"}}} if isinstance(summary, dict) and "tag" in summary else {}
    frontiers = asked(through(summary, time, edge)).one({"close": [["node", start]]})["frontiers"]
    assert frontiers.get("out") == expected
    assert ("out" in frontiers) is (expected is not None)


# --- close and contains ----------------------------------------------------------------------------------------------


def test_close_lists_the_minimal_times_at_every_location_of_the_closure(asked: Any) -> None:
    ask = asked(LOOP)
    assert ask.one({"close": [["input", 3]]}) == {
        "frontiers": {"input": [3], "body": [3], "out": [3], "feedback": [3], "back": [4], "result": [3]}
    }
    assert ask.one({"close": [["input", 3], ["input", 5], ["out", 1]]})["frontiers"]["input"] == [3]
    assert ask.one({"close": [["result", 3]]}) == {"frontiers": {"result": [3]}}
    assert ask.one({"close": []}) == {"frontiers": {}}


def test_frontiers_are_sorted(asked: Any) -> None:
    graph = through("identity", PAIR)
    starts = [["node", [place, 9 - place]] for place in (5, 0, 9, 3, 7)]
    assert asked(graph).one({"close": starts})["frontiers"]["out"] == [[0, 9], [3, 6], [5, 4], [7, 2], [9, 0]]


@pytest.mark.parametrize(("pointstamp", "result"), [(["back", 3], False), (["back", 4], True), (["out", 99], True)])
def test_contains(asked: Any, pointstamp: Any, result: bool) -> None:
    query = {"contains": {"close": [["input", 3]], "pointstamp": pointstamp}}
    assert asked(LOOP).one(query) == {"result": result}


def test_the_closure_is_iterated_where_condition_2_fails(asked: Any) -> None:
    ask = asked(loop({"advance": -1}))
    assert ask.one({"close": [["input", 10**9]]})["frontiers"]["body"] == [0]


# --- eligible --------------------------------------------------------------------------------------------------------


def test_eligible_and_blocked_requests(asked: Any) -> None:
    query = {"eligible": {"messages": [["out", 2]], "requests": [["body", 3], ["body", 2], ["feedback", 2]]}}
    answer = asked(LOOP).one(query)
    assert answer == {
        "eligible": [["body", 2]],
        "blocked": [
            {"request": ["body", 3], "by": answer["blocked"][0]["by"], "proof": answer["blocked"][0]["proof"]},
            {"request": ["feedback", 2], "by": ["out", 2], "proof": [["out", 2]]},
        ],
    }
    proof = answer["blocked"][0]["proof"]
    assert proof[0] == answer["blocked"][0]["by"]
    assert proof[-1] == ["back", 3]
    assert proof[0] in (["out", 2], ["body", 2])


def test_a_request_does_not_block_itself_where_its_cycle_advances(asked: Any) -> None:
    answer = asked(LOOP).one({"eligible": {"messages": [], "requests": [["body", 0]]}})
    assert answer == {"eligible": [["body", 0]], "blocked": []}


def test_a_request_blocks_itself_on_a_cycle_that_does_not_advance(asked: Any) -> None:
    answer = asked(loop("identity")).one({"eligible": {"messages": [], "requests": [["body", 4]]}})
    assert answer["eligible"] == []
    assert answer["blocked"] == [
        {
            "request": ["body", 4],
            "by": ["body", 4],
            "proof": [["body", 4], ["out", 4], ["feedback", 4], ["back", 4]],
        }
    ]


def test_a_message_on_an_output_edge_blocks_nothing(asked: Any) -> None:
    answer = asked(LOOP).one({"eligible": {"messages": [["result", 0]], "requests": [["body", 0]]}})
    assert answer == {"eligible": [["body", 0]], "blocked": []}


@pytest.mark.parametrize(
    "body", [{"messages": [["body", 2]], "requests": []}, {"messages": [], "requests": [["out", 2]]}]
)
def test_messages_are_on_edges_and_requests_at_nodes(asked: Any, body: Any) -> None:
    assert asked(LOOP).error({"eligible": body}) == "PS504"


# --- times -----------------------------------------------------------------------------------------------------------

TIMES = [  # node, times of its domain, values that are none
    ("nat", [0, 7, 10**4000], [-1, 1.0, True, None, "3", [3], {"left": 3}, 1e300]),
    ("bounded", [0, 3], [4, -1]),
    ("int", [0, -7, -(10**4000)], [1.5, False, "0", []]),
    ("unit", [None], [0, False, "null", [], {}]),
    ("product", [[0, 0], [7, 3]], [[0], [0, 0, 0], 0, [0, -1], [0, True], [0, 1.0], {"0": 0}]),
    ("lex", [[0, -4], [7, 3]], [[-1, 0], [0], "00"]),
    ("finite", ["a", "d"], ["e", "", 0, None, ["a"]]),
    ("sum", [{"left": 3}, {"right": -3}], [{"left": -3}, {"middle": 3}, {}, {"left": 1, "right": 1}, ["left", 3], 3]),
    ("nested", [[[0, 1], {"l": None}]], [[[0, 1], None], [[0], {"l": None}], [0, 1, {"l": None}]]),
    ("pair", [["left", 3]], [{"left": 3}, ["left", "3"]]),
]


@pytest.mark.parametrize(("node", "good", "bad"), TIMES, ids=[row[0] for row in TIMES])
def test_times_of_every_domain(asked: Any, node: str, good: list[Any], bad: list[Any]) -> None:
    ask = asked({"pointstamp": 1, "nodes": {name: {"time": domain} for name, domain in DOMAINS.items()}})
    for time_ in good:
        assert ask.one({"close": [[node, time_]]}) == {"frontiers": {node: [time_]}}
    for time_ in bad:
        assert ask.error({"close": [[node, time_]]}) == "PS503", time_


def test_equal_looking_values_of_different_domains_are_not_confused(asked: Any) -> None:
    graph = {
        "pointstamp": 1,
        "nodes": {
            "sum": {"time": DOMAINS["sum"], "summary": {"constant": {"left": 3}}},
            "pair": {"time": DOMAINS["pair"], "summary": {"constant": ["left", 3]}},
        },
        "edges": [{"id": "from sum", "from": "sum"}, {"id": "from pair", "from": "pair"}],
    }
    first, second = asked(graph)({"close": [["sum", {"left": 9}]]}, {"close": [["pair", ["left", 9]]]})
    assert first["frontiers"]["from sum"] == [{"left": 3}]
    assert second["frontiers"]["from pair"] == [["left", 3]]


# --- lines -----------------------------------------------------------------------------------------------------------

BAD_LINES = [
    (b"", "PS501"),
    (b"   ", "PS501"),
    (b"null", "PS501"),
    (b"3", "PS501"),
    (b"[]", "PS501"),
    (b"{}", "PS501"),
    (b"{", "PS501"),
    (b"\xff\xfe", "PS501"),
    (b'{"close": []} {"close": []}', "PS501"),
    (b'{"close": [], "close": []}', "PS501"),
    (b'{"close": [], "contains": {}}', "PS501"),
    (b'{"closure": []}', "PS501"),
    (b'{"close": 3}', "PS501"),
    (b'{"close": [["input"]]}', "PS501"),
    (b'{"close": [[3, 0]]}', "PS501"),
    (b'{"close": [["input", NaN]]}', "PS501"),
    (b'{"close": [["input", 00]]}', "PS501"),
    (b'{"close": [["nowhere", 0]]}', "PS502"),
    (b'{"close": [["\\ud800", 0]]}', "PS502"),
    (b'{"close": [["input", -1]]}', "PS503"),
    (b'{"close": [["input", 1e999]]}', "PS503"),
    (b'{"could_result_in": [["input", 0]]}', "PS501"),
    (b'{"could_result_in": {"input": 0}}', "PS501"),
    (b'{"contains": {"close": [["input", 0]]}}', "PS501"),
    (b'{"contains": {"close": [["input", 0]], "pointstamp": ["body", 0], "more": 1}}', "PS501"),
    (b'{"eligible": []}', "PS501"),
    (b'{"eligible": {"messages": null}}', "PS501"),
    (b'{"eligible": {"message": []}}', "PS501"),
]


def test_a_bad_line_is_answered_and_so_is_the_next(asked: Any) -> None:
    good = b'{"contains": {"close": [], "pointstamp": ["body", 0]}}'
    answers = asked(LOOP).bytes(b"".join(bad + b"\n" + good + b"\n" for bad, _ in BAD_LINES))
    assert answers[1::2] == [{"result": False}] * len(BAD_LINES)
    for (bad, code), answer in zip(BAD_LINES, answers[::2], strict=True):
        assert set(answer) == {"error"}, bad
        assert answer["error"]["code"] == code, (bad, answer)
        assert answer["error"]["message"]


@pytest.mark.parametrize("depth", [100, 400, 500, 600, 800, 950, 2_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_deep_line_is_a_bad_line(asked: Any, opening: bytes, closing: bytes, depth: int) -> None:
    line = b'{"close": [["input", ' + opening * depth + b"0" + closing * depth + b"]]}\n"
    answers = asked(LOOP).bytes(line + b'{"close": []}\n')
    assert answers[0]["error"]["code"] in ("PS501", "PS503")
    assert answers[1] == {"frontiers": {}}


@pytest.mark.parametrize("digits", [4_000, 4_300, 4_301, 100_000])
def test_long_numbers_are_answered_or_refused_never_fatal(asked: Any, digits: int) -> None:
    answers = asked(LOOP).bytes(b'{"close": [["input", %s]]}\n{"close": []}\n' % (b"9" * digits))
    assert len(answers) == 2
    assert ("frontiers" in answers[0]) or answers[0]["error"]["code"] in ("PS501", "PS503", "PS004")
    if digits == 4_000:
        assert answers[0]["frontiers"]["back"] == [10**4_000]
    assert answers[1] == {"frontiers": {}}


def test_line_ends(asked: Any) -> None:
    good = b'{"close": []}'
    assert asked(LOOP).bytes(good) == [{"frontiers": {}}]  # the last line may have no end
    assert asked(LOOP).bytes(good + b"\r\n" + good + b"\r\n") == [{"frontiers": {}}] * 2
    assert asked(LOOP).bytes(b"") == []


def test_a_line_of_many_megabytes(asked: Any) -> None:
    padding = b" " * (20 << 20)
    answers = asked(LOOP).bytes(b'{"close": [' + padding + b']}\n{"close": []}\n')
    assert answers[0] == {"frontiers": {}} or answers[0]["error"]["code"] == "PS501"
    assert answers[1] == {"frontiers": {}}


def test_names_of_all_kinds(asked: Any) -> None:
    names = ["a=b", "x y", "quote\"'", "é", "\u202e", "\n", "\x1b[31m", "😀", "null", "0"]
    ask = asked({"pointstamp": 1, "nodes": {name: {} for name in names}})
    for name in names:
        assert ask.one({"close": [[name, 1]]}) == {"frontiers": {name: [1]}}


def test_answers_are_one_line_each_whatever_is_in_them(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ask = asked({"pointstamp": 1, "nodes": {"a\nb\u2028": {}}})
    assert ask.one({"close": [["a\nb\u2028", 1]]})["frontiers"] == {"a\nb\u2028": [1]}
    assert ask.error({"close": [["no\nwhere\x1b", 1]]}) == "PS502"


# --- answers that have no finite form --------------------------------------------------------------------------------


def complete(count: int, time: str) -> dict[str, Any]:
    """The complete graph of so many nodes, one of which sends into the past."""
    nodes = {f"n{place}": {"summary": {"advance": -5 if place == 3 else 1}} for place in range(count)}
    edges = [{"from": one, "to": other} for one in nodes for other in nodes if one != other]
    return {"pointstamp": 1, "time": time, "nodes": nodes, "edges": edges}


UNBOUNDED = [  # time, summary, start
    ("int", {"advance": -1}, 3),
    ("int", {"any": [{"advance": 1}, {"advance": -1}]}, 3),
    ({"lex": ["nat", "int"]}, {"advance": [0, -1]}, [3, 3]),
    ({"product": ["int", "nat"]}, {"advance": [-1, 1]}, [3, 3]),
    ({"product": ["int", "int"]}, {"advance": [-1, 1]}, [3, 3]),
]


@pytest.mark.parametrize(("domain", "summary", "start"), UNBOUNDED)
def test_a_closure_without_minimal_times_is_a_named_error(asked: Any, domain: Any, summary: Any, start: Any) -> None:
    ask = asked(loop(summary, domain))
    begin = time.process_time()
    assert ask.error({"close": [["input", start]]}) == "PS601"
    assert ask.error({"contains": {"close": [["input", start]], "pointstamp": ["body", start]}}) == "PS601"
    assert ask.error({"eligible": {"messages": [["input", start]], "requests": [["body", start]]}}) == "PS601"
    assert time.process_time() - begin < 2
    assert ask.one({"close": [["result", start]]}) == {"frontiers": {"result": [start]}}
    assert ask.one({"could_result_in": [["body", start], ["out", start]]})["result"] is True


@pytest.mark.parametrize(
    ("domain", "summary", "start", "lowest"),
    [
        ("nat", {"advance": -1}, 10**1_000, 0),
        ("int", {"then": [{"advance": -10}, {"at_least": -500}]}, 10**9, -500),
        ("int", {"any": [{"advance": 1}, {"constant": -5}]}, 3, -5),
        ({"lex": ["int", "nat"]}, {"advance": [0, -1]}, [3, 10**12], [3, 0]),
    ],
)
def test_a_fall_that_ends_is_followed_to_its_end_at_once(
    asked: Any, domain: Any, summary: Any, start: Any, lowest: Any
) -> None:
    begin = time.process_time()
    assert asked(loop(summary, domain)).one({"close": [["input", start]]})["frontiers"]["body"] == [lowest]
    assert time.process_time() - begin < 2


def test_a_search_over_simple_paths_stays_within_its_budget(asked: Any) -> None:
    begin = time.process_time()
    ask = asked(complete(20, "nat"))
    assert ask.one({"could_result_in": [["n0", 30], ["n1", 26]]})["result"] is True
    # No simple path falls twice, all walks do: only the search over simple paths can tell.
    answer = ask.one({"could_result_in": [["n0", 30], ["n1", 25]]})
    assert answer == {"result": False} or answer["error"]["code"] == "PS603"
    assert time.process_time() - begin < 6  # slow machines; two seconds on one of our time


def test_the_same_question_of_a_small_graph_is_decided(asked: Any) -> None:
    assert asked(complete(5, "nat")).one({"could_result_in": [["n0", 30], ["n1", 25]]}) == {"result": False}


def test_many_incomparable_times(asked: Any) -> None:
    width = 800
    starts = [["node", [place, width - place]] for place in range(width)]
    begin = time.process_time()
    assert len(asked(through("identity", PAIR)).one({"close": starts})["frontiers"]["out"]) == width
    assert time.process_time() - begin < 10


@pytest.mark.slow
def test_a_chain_of_ten_thousand_nodes(asked: Any) -> None:
    count = 10_000
    edges: list[dict[str, Any]] = [{"id": f"e{n}", "from": f"n{n}", "to": f"n{n + 1}"} for n in range(count - 1)]
    chain = {"pointstamp": 1, "nodes": {f"n{n}": {} for n in range(count)}, "edges": edges}
    ask = asked(chain)
    begin = time.process_time()
    answer = ask.one({"could_result_in": [["n0", 0], [f"n{count - 1}", 0]]})
    assert len(answer["proof"]) == 2 * count - 1
    assert ask.one({"could_result_in": [["n0", 1], [f"n{count - 1}", 0]]}) == {"result": False}
    requests = [[f"n{n}", 0] for n in range(count)]
    answer = ask.one({"eligible": {"messages": [], "requests": requests}})
    assert answer["eligible"] == [["n0", 0]]
    assert len(answer["blocked"]) == count - 1
    assert time.process_time() - begin < 10


# --- the process -----------------------------------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> Iterator[LineProcess]:
    file = tmp_path / "loop.json"
    file.write_text(json.dumps(LOOP))
    session = LineProcess("ask", file)
    yield session
    session.close()


def test_every_answer_is_flushed_at_once(running: LineProcess) -> None:
    for time_ in range(3):
        answer = running.tell(b'{"close": [["result", %d]]}\n' % time_)
        assert answer == {"frontiers": {"result": [time_]}}
        assert set(running.tell(b"no JSON\n")) == {"error"}
    assert running.end() == (0, b"")


def test_an_interrupt_leaves_no_traceback(running: LineProcess) -> None:
    running.tell(b'{"close": []}\n')
    running.process.send_signal(signal.SIGINT)
    running.process.wait(30)
    assert running.process.stderr is not None
    assert b"Traceback" not in running.process.stderr.read()


def command(arguments: str, file: Path) -> subprocess.CompletedProcess[bytes]:
    """A command line of the shell, in which `pointstamp` is this one and `$FILE` the file."""
    script = f'pointstamp() {{ "$PYTHON" -m graphs "$@"; }}; {arguments}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable, "FILE": str(file)}
    return subprocess.run(["sh", "-c", script], env=environment, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "exit_codes"),
    [
        ('yes \'{"close": [["input", 0]]}\' | pointstamp ask "$FILE" | head -n 1 > /dev/null', {0}),
        ('pointstamp ask "$FILE" < /dev/null', {0}),
        ('pointstamp ask "$FILE" <&-', {0, 2}),
        ('echo \'{"close": []}\' | pointstamp ask "$FILE" >&-', {0, 2}),
        ("pointstamp ask missing.json < /dev/null", {2}),
        ("pointstamp ask < /dev/null", {2}),
    ],
)
def test_streams_that_are_closed_or_missing(tmp_path: Path, arguments: str, exit_codes: set[int]) -> None:
    file = tmp_path / "loop.json"
    file.write_text(json.dumps(LOOP))
    run = command(arguments, file)
    assert run.returncode in exit_codes, run.stderr
    assert b"Traceback" not in run.stderr
    assert b"internal error" not in run.stderr
    assert len(run.stderr.splitlines()) <= 1


def test_a_graph_that_is_none_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("pointstamp: 1\nnodez: {}\n")
    assert main(["ask", str(file)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert f"{file}:2:1" in output.err
    assert "PS006" in output.err
    assert "nodes" in output.err  # what would be right


def test_the_reference_agrees_that_the_examples_are_graphs() -> None:
    for graph in (LOOP, loop({"advance": -1}), complete(5, "nat")):
        from_data(graph).network()
