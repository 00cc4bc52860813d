"""What strict mypy says of programs of streams: nothing of right ones, and the wrong lambda of a wrong one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

HEAD = """\
from dataclasses import dataclass
from typing import Literal

from pointstamp import Flow, KeyedStream, Stream


@dataclass(frozen=True)
class Order:
    shop: str
    amount: int


flow = Flow()
orders = flow.input("orders", of=Order)
amounts = orders.key_on(lambda order: order.shop, lambda order: order.amount)
names = flow.input("names", of=tuple[str, bytes]).keyed()
changes = flow.collection("changes", of=tuple[str, int])
"""

# what a line is, and what mypy says of it: "" for nothing
LINES = (
    ("orders.map(lambda order: order.amount + 1)", ""),
    ("orders.map(lambda order: order.amont)", '"Order" has no attribute "amont"'),
    ('orders.filter(lambda order: order.amount > "3")', "Unsupported operand types for >"),
    ("orders.flat_map(lambda order: order.amount)", "has incompatible type"),
    ("orders.key_on(lambda order: order.shp)", '"Order" has no attribute "shp"'),
    ("orders.keyed()", 'Invalid self argument "Stream[int, Order]"'),
    ("orders.reduce(max)", '"Stream[int, Order]" has no attribute "reduce"'),
    ("orders.map_at(lambda time, order: time + order.amount)", ""),
    ("orders.map_at(lambda time, order: time.upper())", '"int" has no attribute "upper"'),
    ("orders.branch(lambda order: order.nothing)", '"Order" has no attribute "nothing"'),
    ("orders.merge(names)", "has incompatible type"),
    ("amounts.reduce(lambda one, other: one + other)", ""),
    ("amounts.reduce(lambda one, other: one.upper())", '"int" has no attribute "upper"'),
    ("amounts.fold(0, lambda total, amount: total + amount)", ""),
    ("amounts.fold(0, lambda total, amount: total + amount.shop)", '"int" has no attribute "shop"'),
    ("amounts.fold((), lambda total, amount: total + amount)", 'No overload variant of "__add__" of "tuple"'),
    ("amounts.top(2).map(lambda found: found[1].upper())", '"list[int]" has no attribute "upper"'),
    ("amounts.count().early(lambda many: many.x)", '"int" has no attribute "x"'),
    ("amounts.max().corrections.map(lambda found: found[3])", "Tuple index out of range"),
    ("amounts.join(names, lambda shop, amount, name: name.decode() * amount)", ""),
    ("amounts.join(names, lambda shop, amount, name: name.upper() + amount)", "Unsupported operand types for +"),
    ('amounts.join(names, lambda shop, amount, name: name.decode(), how="left")', 'No overload variant of "join"'),
    ('amounts.join(names, lambda shop, amount, name: (name or b"").decode(), how="left")', ""),
    ('amounts.join(names, lambda shop, amount, name: (amount or 0, name), how="outer")', ""),
    ('amounts.join(names, lambda shop, amount, _: amount + 1, how="anti")', ""),
    ('amounts.join(names, lambda shop, amount, _: amount.upper(), how="semi")', 'No overload variant of "join"'),
    ('amounts.join(names, lambda shop, amount, name: amount + 1, how="outer")', 'No overload variant of "join"'),
    ('amounts.join(names, lambda shop, amount, name: amount, how="innner")', "No overload variant"),
    ("amounts.join(orders, lambda shop, amount, order: amount)", "No overload variant"),
    ("amounts.cogroup(names, lambda shop, amounts, names: amounts + 1)", 'No overload variant of "__add__" of "list"'),
    ("amounts.asof(names, lambda shop, amount, name: name.decode())", 'Item "None" of "bytes | None"'),
    ("amounts.stateful_map(0, lambda last, amount: (amount, amount - last))", ""),
    ("amounts.stateful_map(0, lambda last, amount: amount)", "Incompatible return value type"),
    ("orders.whole(lambda time, bag: bag[0].amount)", "Incompatible return value type"),
    ("orders.distinct(by=lambda order: order.shp)", '"Order" has no attribute "shp"'),
    ('orders.tumbling("10")', "has incompatible type"),
    ("amounts.session(5).map(lambda found: found[3][0].upper())", '"int" has no attribute "upper"'),
    ('flow.times("days").map(lambda day: day.upper())', '"int" has no attribute "upper"'),
    ('maybe: Stream[int, int | None] = flow.input("maybe")', ""),
    ('flow.input("other", of=int | None).map(lambda value: value.anything)', ""),
    ("wanted: Stream[int, tuple[str, int]] = amounts.reduce(max)", ""),
    ("other: Stream[int, tuple[str, str]] = amounts.reduce(max)", "Incompatible types in assignment"),
    ("keyed: KeyedStream[int, str, int] = amounts.reduce(max).keyed()", ""),
    ('flow.run(sources={"orders": []}, engine="threads", workers=2, timeout=1.5)', ""),
    ('flow.run(source={"orders": []})', 'Unexpected keyword argument "source" for "run" of "Flow"'),
    ('flow.run(workers="2")', "has incompatible type"),
    ("orders.iterate(lambda all: all.map(lambda order: order.amount))", "has incompatible type"),
    ("orders.loop(lambda inside: inside.map(lambda order: order))", "has incompatible type"),
    ("changes.join(changes, lambda key, one, other: one.upper())", '"int" has no attribute "upper"'),
    ("changes.reduce(lambda key, values: [sum(values).x])", '"int" has no attribute "x"'),
)


def test_strict_mypy_shows_the_wrong_lambda(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "".join(f"{line}\n" for line, _ in LINES), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(program)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said: dict[int, list[str]] = {}
    for number, text in re.findall(r"program\.py:(\d+): error: (.*)", run.stdout):
        said.setdefault(int(number), []).append(text)
    first = HEAD.count("\n") + 1
    assert not {number for number in said if number < first}, run.stdout
    for number, (line, expected) in enumerate(LINES, first):
        found = " / ".join(said.get(number, []))
        assert expected in found, f"{line}: {found or run.stderr}"
        assert bool(expected) == bool(found), f"{line}: {found}"
