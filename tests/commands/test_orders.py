"""Orders of a run: what `--save-order` writes makes the same run again; what does not fit is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.pipelines import (
    COLLATZ,
    COLLATZ_YAML,
    TOTALS,
    TOTALS_YAML,
    collatz_values,
    message_lines,
    run,
    values_of,
    write,
)

EPOCHS = [[7, 3], [5], [6, 12]]
COUNTED = ("collatz.py", "--engine", "sim", "--input", "numbers=numbers.jsonl", "--trace", "trace.jsonl")


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def collatz(tmp_path: Path) -> Path:
    write(tmp_path, collatz__yaml=COLLATZ_YAML, collatz__py=COLLATZ, numbers__jsonl=message_lines(EPOCHS))
    return tmp_path


@pytest.fixture
def totals(tmp_path: Path) -> Path:
    """Two messages of epoch 0, one of epoch 1; the file completes nothing before its end."""
    numbers = "".join(json.dumps({"time": time, "value": value}) + "\n" for time, value in [(0, 3), (0, 4), (1, 5)])
    write(tmp_path, totals__yaml=TOTALS_YAML, totals__py=TOTALS, numbers__jsonl=numbers)
    return tmp_path


@pytest.mark.parametrize("options", [("--seed", "3"), ("--seed", "4"), ()])
def test_a_run_is_made_again_by_its_order(collatz: Path, options: tuple[str, ...]) -> None:
    first = run(collatz, *COUNTED, *options, "--save-order", "order.jsonl")
    assert (first.exit_code, first.err) == (0, "")
    assert values_of(first.lines) == collatz_values(EPOCHS)
    trace, order = (collatz / "trace.jsonl").read_bytes(), (collatz / "order.jsonl").read_bytes()
    assert order.count(b"\n") > 50
    again = run(collatz, *COUNTED, "--order", "order.jsonl", "--save-order", "again.jsonl")
    assert again == first
    assert (collatz / "trace.jsonl").read_bytes() == trace
    assert (collatz / "again.jsonl").read_bytes() == order


def test_a_seed_makes_the_same_run_whether_its_order_is_written_or_not(collatz: Path) -> None:
    plain = run(collatz, *COUNTED, "--seed", "3")
    trace = (collatz / "trace.jsonl").read_bytes()
    assert run(collatz, *COUNTED, "--seed", "3", "--save-order", "order.jsonl") == plain
    assert (collatz / "trace.jsonl").read_bytes() == trace


def test_what_comes_after_an_order_is_chosen_in_turn_or_by_the_seed(collatz: Path) -> None:
    run(collatz, *COUNTED, "--seed", "3", "--save-order", "order.jsonl")
    order = lines(collatz / "order.jsonl")
    (collatz / "begin.jsonl").write_text("".join(json.dumps(line) + "\n" for line in order[:20]))
    orders = []
    for options in [(), ("--seed", "8")]:
        found = run(collatz, *COUNTED, *options, "--order", "begin.jsonl", "--save-order", "whole.jsonl")
        assert values_of(found.lines) == collatz_values(EPOCHS)
        orders.append(lines(collatz / "whole.jsonl"))
        assert orders[-1][:20] == order[:20]
    assert orders[0] != orders[1]


def test_an_order_written_by_hand(totals: Path) -> None:
    """A sum leaves before the message that came behind it is taken, and one is taken before the other has come in."""
    order: list[Any] = [
        {"pointstamp_order": 1},
        {"read": "numbers"},
        {"take": "numbers", "time": 0},
        {"read": "numbers", "items": 3},
        {"take": "numbers", "time": 0, "messages": 1},
        {"notify": "total", "time": 0},
        {"take": "numbers", "time": 1},
        {"notify": "total", "time": 1},
    ]

    def played(*changed: Any) -> Any:
        (totals / "order.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
        options = ("--engine", "sim", "--input", "numbers=numbers.jsonl", "--trace", "trace.jsonl")
        return run(totals, "totals.py", *options, "--order", "order.jsonl")

    assert played(*order).lines[-1] == {"edge": "totals", "complete": []}
    steps = lines(totals / "trace.jsonl")
    assert [step["messages"] for step in steps if "delivered" not in step and "messages" in step] == [
        [["numbers", 0, 1]],
        [["numbers", 0, -1]],
        [["numbers", 0, 1], ["numbers", 1, 1]],
        [["numbers", 0, -1]],
        [["totals", 0, -1]],
        [["numbers", 1, -1]],
        [["totals", 1, -1]],
    ]
    assert [step["delivered"] for step in steps if "delivered" in step] == [[["total", 0]], [["total", 1]]]
    for place, instead, says in [
        (2, {"take": "numbers", "time": 0, "messages": 2}, ":3: PS746: taking 2 of 'numbers' at 0 is not possible"),
        (2, {"take": "numbers", "time": 1}, ":3: PS746: taking 0 of 'numbers' at 1 is not possible here"),
        (4, {"take": "numbers", "time": 1}, ":5: PS746: taking 1 of 'numbers' at 1 is not possible here"),
        (4, {"notify": "total", "time": 0}, ":5: PS746: notifying 'total' of 0 is not possible here"),
        (6, {"notify": "total", "time": 1}, ":7: PS746: notifying 'total' of 1 is not possible here"),
    ]:
        refused = played(*order[:place], instead, *order[place + 1 :])
        assert refused.exit_code == 2
        assert says in refused.complaint
    refused = played(*order, {"read": "numbers"})
    assert refused.exit_code == 2
    assert ":9: PS746: the run is over, and reading 1 of 'numbers' is still to come" in refused.complaint


def test_the_torn_last_line_of_an_order_is_its_end(collatz: Path) -> None:
    """As where a run was killed that wrote its order: the choices before are made again, and then others."""
    run(collatz, *COUNTED, "--seed", "3", "--save-order", "order.jsonl")
    whole = (collatz / "order.jsonl").read_bytes()
    kept = whole.splitlines(keepends=True)[:20]
    for place in (1, 12):
        torn = b"".join(kept) + whole.splitlines()[20][:place]
        (collatz / "order.jsonl").write_bytes(torn)
        found = run(collatz, *COUNTED, "--order", "order.jsonl", "--save-order", "whole.jsonl")
        assert found.exit_code == 0
        assert found.complaint.startswith("pointstamp: order.jsonl:21: the last line is not whole")
        assert values_of(found.lines) == collatz_values(EPOCHS)
        assert (collatz / "whole.jsonl").read_bytes().startswith(b"".join(kept))


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("", "order.jsonl: PS746: it is empty"),
        ("{}\n", ":1: PS746: it does not begin as an order does"),
        ('{"pointstamp_order": 2}\n', ":1: PS746: it does not begin"),
        ('{"pointstamp_order": 1}\nx\n', ":2: PS746: this is not JSON"),
        ('{"pointstamp_order": 1}\nx', ":2: PS746: this is not JSON"),
        ('{"pointstamp_ord', ":1: PS746: "),
        ('{"pointstamp_order": 1}\n\n', ":2: PS746: "),
        ('{"pointstamp_order": 1}\n[1]\n', ":2: PS746: a choice is a list"),
        ('{"pointstamp_order": 1}\n{}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"read": 3}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"read": "numbers", "items": 0}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"read": "numbers", "items": true}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"read": "totals"}\n', ":2: PS746: there is no input 'totals'"),
        ('{"pointstamp_order": 1}\n{"take": "numbers"}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"take": "total", "time": 0}\n', ":2: PS746: there is no edge 'total'"),
        ('{"pointstamp_order": 1}\n{"notify": "numbers", "time": 0}\n', ":2: PS746: there is no node 'numbers'"),
        ('{"pointstamp_order": 1}\n{"notify": "total", "time": -1}\n', ":2: PS746: -1 is not a time of 'total'"),
        ('{"pointstamp_order": 1}\n{"notify": "total", "time": 0, "more": 1}\n', ":2: PS746: this is not a choice"),
        ('{"pointstamp_order": 1}\n{"notify": "total", "time": ' + "[" * 90_000 + "\n", ":2: PS746: "),
    ],
)
def test_what_is_not_an_order_is_refused_before_anything_is_written(totals: Path, order: str, says: str) -> None:
    (totals / "order.jsonl").write_text(order)
    (totals / "totals.jsonl").write_text("here\n")
    options = ("--engine", "sim", "--input", "numbers=numbers.jsonl", "--output", "totals=totals.jsonl")
    refused = run(totals, "totals.py", *options, "--order", "order.jsonl")
    assert (refused.exit_code, refused.out) == (2, "")
    assert says in refused.complaint
    assert (totals / "totals.jsonl").read_text() == "here\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--order", "order.jsonl"),
        ("--save-order", "order.jsonl"),
        ("--paused", "--ui", "0"),
        ("--engine", "sim", "--paused"),
        ("--engine", "sim", "--state", "kept", "--save-order", "order.jsonl"),
        ("--engine", "sim", "--state", "kept", "--order", "order.jsonl"),
        ("--engine", "sim", "--state", "kept", "--paused", "--ui", "0"),
        ("--engine", "sim", "--order", "missing.jsonl"),
        ("--engine", "sim", "--order", "."),
        ("--engine", "sim", "--order", "order.jsonl", "--save-order", "order.jsonl"),
        ("--engine", "sim", "--save-order", "numbers.jsonl"),
        ("--engine", "sim", "--save-order", "totals.py"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(totals: Path, options: tuple[str, ...]) -> None:
    (totals / "order.jsonl").write_text('{"pointstamp_order": 1}\n')
    numbers = (totals / "numbers.jsonl").read_bytes()
    refused = run(totals, "totals.py", "--input", "numbers=numbers.jsonl", *options)
    assert (refused.exit_code, refused.out) == (2, "")
    assert refused.complaint.startswith("pointstamp: ")
    assert (totals / "numbers.jsonl").read_bytes() == numbers
