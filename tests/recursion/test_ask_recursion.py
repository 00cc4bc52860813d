"""`pointstamp ask` on graphs with calls: every query with stacks for times, judged by the definition (A&I 3.4)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from recursion.reference import Graph as Reference
from recursion.reference import is_proof
from tests.commands.asking import LOOP, Session, fixture_of_asked  # noqa: F401 - a fixture
from tests.recursion.tools import SEVERAL, STREAM, TWO

ITSELF: Any = {  # a path leads from ret-c to call-c, none from ret-d to call-e
    "pointstamp": 1,
    "recursion": {"in": "entry", "out": "exit", "calls": ["c", "d", "e"]},
    "nodes": {name: {} for name in ("entry", "x", "c", "d", "e", "exit")},
    "edges": [
        dict(zip(("from", "to"), pair.split(), strict=True))
        for pair in ("entry x", "x c", "c x", "x exit", "entry d", "d exit", "entry e", "e exit", "entry exit")
    ],
}


def stacks(reference: Reference, location: str) -> list[list[str]]:
    return [list(stack) for stack in reference.stacks_at(location, 2)]


def tuples(pairs: Any) -> list[Any]:
    return [(location, tuple(stack)) for location, stack in pairs]


@pytest.mark.parametrize("document", [TWO, SEVERAL, ITSELF], ids=["two", "several", "itself"])
def test_could_result_in_and_contains(asked: Any, document: Any) -> None:
    reference = Reference(document)
    places = [name for name in reference.locations if ">" not in name or "call" in name][:9]
    ends = [[location, stack] for location in places for stack in stacks(reference, location)][:70]
    questions = list(itertools.product(ends[::3], ends))
    ask: Session = asked(document)
    proofs = ask(*({"could_result_in": list(question)} for question in questions))
    inside = ask(*({"contains": {"close": [start], "pointstamp": end}} for start, end in questions))
    for (start, end), answer, contained in zip(questions, proofs, inside, strict=True):
        one, other = tuples([start, end])
        expected = reference.leads(one, other)
        assert answer["result"] is expected, (start, end)
        assert contained == {"result": expected}, (start, end)
        assert ("proof" in answer) is expected
        if expected:
            assert is_proof(reference, tuples(answer["proof"]), one, other)


def test_the_quick_decision_of_the_paper_is_not_enough(asked: Any) -> None:
    ask: Session = asked(ITSELF)
    answer = ask.one({"could_result_in": [["entry", ["c", "d"]], ["entry", ["c", "e"]]]})
    assert answer == {"result": True, "proof": [["entry", ["c", "d"]], ["entry", ["c", "e"]]]}
    assert ask.one({"could_result_in": [["entry", ["d"]], ["entry", ["e"]]]}) == {"result": False}


@pytest.mark.parametrize("document", [TWO, SEVERAL, ITSELF], ids=["two", "several", "itself"])
def test_equivalent_and_canonical(asked: Any, document: Any) -> None:
    reference = Reference(document)
    ask: Session = asked(document)
    for location in reference.locations:
        known = stacks(reference, location)
        pairs = list(itertools.product(known, known))
        answers = ask(*({"equivalent": [location, *pair]} for pair in pairs))
        for (one, other), answer in zip(pairs, answers, strict=True):
            assert answer == {"result": reference.equivalent(location, tuple(one), tuple(other))}, (
                location,
                one,
                other,
            )
        standing = {
            tuple(stack): tuple(answer["result"])
            for stack, answer in zip(known, ask(*({"canonical": [location, stack]} for stack in known)), strict=True)
        }
        for first, second in itertools.product(standing, standing):
            assert reference.equivalent(location, first, standing[first])
            assert (standing[first] == standing[second]) is reference.equivalent(location, first, second)


def test_epochs_are_kept_apart(asked: Any) -> None:
    document = {**ITSELF, "time": {"product": ["nat", "stack"]}}
    answers = asked(document)(
        {"equivalent": ["entry", [3, ["c", "d"]], [3, ["c", "e"]]]},
        {"equivalent": ["entry", [3, ["c", "d"]], [4, ["c", "e"]]]},
        {"canonical": ["entry", [3, ["c", "d"]]]},
        {"could_result_in": [["entry", [3, ["c", "d"]]], ["entry", [4, ["c", "e"]]]]},
        {"could_result_in": [["entry", [4, ["c", "d"]]], ["entry", [3, ["c", "e"]]]]},
    )
    assert answers == [
        {"result": True},
        {"result": False},
        {"result": [3, ["c"]]},
        {"result": True, "proof": [["entry", [3, ["c", "d"]]], ["entry", [4, ["c", "e"]]]]},
        {"result": False},
    ]


BAD = [
    ({"equivalent": ["merge", []]}, "PS501"),
    ({"equivalent": ["merge", [], [], []]}, "PS501"),
    ({"equivalent": [[], [], []]}, "PS501"),
    ({"equivalent": "merge"}, "PS501"),
    ({"equivalent": {"merge": []}}, "PS501"),
    ({"equivalent": None}, "PS501"),
    ({"canonical": ["merge"]}, "PS501"),
    ({"canonical": ["merge", [], []]}, "PS501"),
    ({"canonical": [3, []]}, "PS501"),
    ({"canonical": 3}, "PS501"),
    ({"canonicall": ["merge", []]}, "PS501"),
    ({"canonical": ["nowhere", []]}, "PS502"),
    ({"canonical": ["left", []]}, "PS502"),
    ({"equivalent": ["left", [], []]}, "PS502"),
    ({"canonical": ["merge", ["up"]]}, "PS503"),
    ({"equivalent": ["merge", [], "left"]}, "PS503"),
    ({"equivalent": ["merge", 3, []]}, "PS503"),
]
NO_STACKS = [
    3,
    -1,
    None,
    "left",
    ["up"],
    [3],
    [None],
    [["left"]],
    {"left": 1},
    {},
    [0, ["left"]],
    1.5,
    True,
    ["left", []],
]


@pytest.mark.parametrize(("query", "code"), BAD, ids=[json.dumps(row[0]) for row in BAD])
def test_what_is_no_query(asked: Any, query: Any, code: str) -> None:
    assert asked(TWO).error(query) == code


@pytest.mark.parametrize("word", ["equivalent", "canonical"])
def test_without_calls_there_are_no_stacks(asked: Any, word: str) -> None:
    (answer,) = asked(LOOP)({word: ["body", 0, 0][: 3 if word == "equivalent" else 2]})
    assert answer["error"]["code"] == "PS501"
    assert "no calls" in answer["error"]["message"]


@pytest.mark.parametrize("time", NO_STACKS, ids=json.dumps)
def test_what_is_no_stack(asked: Any, time: Any) -> None:
    ask: Session = asked(TWO)
    queries = [
        {"close": [["merge", time]]},
        {"could_result_in": [["merge", []], ["merge", time]]},
        {"contains": {"close": [], "pointstamp": ["split->left", time]}},
        {"eligible": {"requests": [["merge", time]]}},
        {"canonical": ["call-left->entry", time]},
    ]
    assert [answer["error"]["code"] for answer in ask(*queries)] == ["PS503"] * len(queries)
    assert ask.one(queries[0])["error"]["message"].endswith("(a list of calls, outermost first: 'left', 'right')")


def test_the_parts_of_a_call_are_named(asked: Any) -> None:
    message = asked(TWO).one({"close": [["left", []]]})["error"]["message"]
    assert "'call-left' is where it begins, 'ret-left' where it returns" in message


def test_close_lists_earliest_stacks_or_says_where_there_are_none(asked: Any) -> None:
    ask: Session = asked(TWO)
    assert ask.one({"close": [["left->merge", []], ["merge", ["right"]]]}) == {
        "frontiers": {
            "ret-right": [[]],
            "merge": [["right"]],
            "exit": [["right"]],
            "left->merge": [[]],
            "right->merge": [[]],
            "merge->exit": [["right"]],
            "exit->ret-right": [[]],
        }
    }
    error = ask.one({"close": [["entry", []]]})["error"]
    assert error["code"] == "PS601"
    assert (
        "at 'call-left': [right], [right, right] and so on without end come neither before nor after"
        in error["message"]
    )
    error = ask.one({"close": [["call-left", ["left"]]]})["error"]
    assert "without end" in error["message"]
    (answer,) = asked(ITSELF)({"close": [["entry", ["c", "d"]]]})
    assert (answer["frontiers"]["entry"], answer["frontiers"]["call-d"]) == ([["c"]], [["c"]])
    assert answer["frontiers"]["call-c"] == [[]]  # where [] and ["c"] are equivalent


def test_eligible(asked: Any) -> None:
    query = {
        "eligible": {
            "messages": [["split->left", []]],
            "requests": [["merge", []], ["merge", ["left", "left"]], ["merge", ["right"]], ["exit", ["right"]]],
        }
    }
    answer = asked(TWO).one(query)
    assert answer["eligible"] == [["merge", ["right"]]]
    reference = Reference(TWO)
    blocked = {json.dumps(entry["request"]): entry for entry in answer["blocked"]}
    assert set(blocked) == {json.dumps(["merge", []]), json.dumps(["merge", ["left", "left"]]), '["exit", ["right"]]'}
    for entry in answer["blocked"]:
        proof = tuples(entry["proof"])
        assert proof[0] == tuples([entry["by"]])[0]
        assert proof[-1][1] == tuple(entry["request"][1])
        assert reference.destination[proof[-1][0]] == entry["request"][0]
        assert is_proof(reference, proof, proof[0], proof[-1])


def test_eligible_with_epochs(asked: Any) -> None:
    ask: Session = asked(STREAM)
    requests = [["merge", [4, []]], ["merge", [3, []]], ["merge", [2, ["left"]]]]
    answer = ask.one({"eligible": {"messages": [["tasks", [3, []]]], "requests": requests}})
    assert answer["eligible"] == [["merge", [2, ["left"]]]]
    assert [entry["request"] for entry in answer["blocked"]] == [["merge", [3, []]], ["merge", [4, []]]]


def test_deep_stacks_have_short_proofs(asked: Any) -> None:
    deep = ["left", "right"] * 20_000
    answers = asked(TWO)(
        {"could_result_in": [["entry", deep], ["merge", []]]},
        {"could_result_in": [["merge", [*deep, "left"]], ["merge", [*deep, "right"]]]},
        {"could_result_in": [["entry", []], ["entry", deep]]},
        {"equivalent": ["entry", deep, [*deep]]},
    )
    assert [answer["result"] for answer in answers] == [True, False, True, True]
    assert [len(answer.get("proof", ())) for answer in answers[:3]] == [9, 0, 2]
