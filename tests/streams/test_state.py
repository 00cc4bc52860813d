"""Programs of streams that are kept: they go on from every checkpoint as if nothing had happened."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphs.streams import Flow
from progress.runtime import Complete
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import Host
from progress.runtime.run.options import RunOptions
from progress.runtime.run.running import Running
from tests.commands.pipelines import killed_everywhere
from tests.streams.tools import Left, one_by_one

ROOT = Path(__file__).resolve().parents[2]


def program() -> Flow[int]:
    """Every operator that keeps something, with lambdas everywhere, which no state could hold."""
    flow = Flow()
    sold = flow.input("sold", of=tuple[str, int])
    by_shop = sold.key_on(lambda v: v[0], lambda v: v[1])
    prices = flow.input("prices", of=tuple[str, int]).keyed()
    partly = by_shop.reduce(lambda a, b: a + b, name="partly")
    results: dict[str, Any] = {
        "reduce": by_shop.reduce(lambda a, b: a + b),
        "fold": by_shop.fold(0, lambda a, b: a + b, merge=lambda a, b: a + b, accumulate=True, name="so far"),
        "within": by_shop.count(accumulate=True, within=2, name="within"),
        "top": by_shop.top(2),
        "early": partly.early(lambda total: total < 6),
        "corrections": partly.corrections,
        "whole": sold.whole(lambda time, bag: [len(bag)]),
        "distinct": sold.distinct(by=lambda v: v[1] % 3),
        "kept": sold.distinct(by=lambda v: v[0], keep=max, name="kept"),
        "firsts": sold.distinct(by=lambda v: v[1], accumulate=True, name="firsts").map(lambda v: v[1]),
        "near": sold.distinct(by=lambda v: v[0], accumulate=True, within=1, name="near").map(lambda v: v[0]),
        "join": by_shop.join(prices, lambda *given: given, how="outer"),
        "semi": by_shop.join(prices, lambda *given: given, how="semi", name="semi"),
        "anti": by_shop.join(prices, lambda *given: given, how="anti", name="anti"),
        "cogroup": by_shop.cogroup(prices, lambda key, a, b: (key, sorted(a), sorted(b))),
        "asof": by_shop.asof(prices.max(name="highest").keyed(), lambda *given: given, within=2),
        "session": by_shop.session(1).map(lambda s: (s[0], s[1], s[2], sorted(s[3]))),
        "map": by_shop.stateful_map(0, lambda state, value: (state + value, state), order=lambda value: value),
    }
    for name, stream in results.items():
        stream.map(lambda value, name=name: (name, value)).output(f"{name} out")
    return flow


SOLD = [
    (0, ("x", 3)), (0, ("y", 4)), (1, ("x", 5)), (0, ("x", 4)), Complete([1]), (3, ("z", 3)), (4, ("x", 3)),
    Complete([3]), (4, ("x", 4)), (4, ("x", 6)), Complete([5]), (6, ("y", 8)), (7, ("y", 3)), Complete([9]),
    (9, ("x", 1)),
]  # fmt: skip
PRICES = [(0, ("x", 1)), Complete([1]), (1, ("z", 2)), (3, ("x", 9)), Complete([4]), (4, ("x", 2)), (6, ("w", 1))]


def test_it_goes_on_from_every_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "work", 0)
    dataflow = program().dataflow
    sources = {"sold": one_by_one(SOLD), "prices": one_by_one(PRICES)}
    edges = [edge for edge, target in zip(dataflow.network.edges, dataflow.network.targets, strict=True) if target < 0]
    whole = Left()
    kept: list[tuple[State, int]] = []
    keeping = Keeping(lambda state: kept.append((state, len(whole.values))), 0.0)
    Running(dataflow, sources, dict.fromkeys(edges, whole), RunOptions("sim", keeping=keeping)).run(None, 1)
    assert {eval(value)[1][0] for value in whole.values} == {edge.removesuffix(" out") for edge in edges}
    assert len(kept) > 100
    for number, (state, left) in enumerate(kept[::7]):
        rest = Left()
        keeping = Keeping(lambda state: None, 1e9, state)
        Running(dataflow, sources, dict.fromkeys(edges, rest), RunOptions("sim", keeping=keeping)).run(None, 1)
        assert Counter(whole.values[:left] + rest.values) == Counter(whole.values), f"checkpoint {7 * number}"


FEW = """\
from pointstamp import Flow
from progress.runtime.engines.host import Host

Host.work = 0  # a checkpoint whenever there can be one
flow = Flow()
sold, paid = flow.input("sold").keyed(), flow.input("paid").keyed()
sums = sold.fold(0, lambda a, b: a + b)
unpaid = sold.join(paid, lambda *given: given, how="left")
visits = sold.session(2).map(lambda s: (s[0], s[1], s[2], sorted(s[3])))
sums.merge(unpaid, visits).output("out")
dataflow = flow.dataflow
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sim", "threads"])
def test_killed_anywhere_each_value_leaves_once(tmp_path: Path, engine: str) -> None:
    (tmp_path / "few.py").write_text(FEW, encoding="utf-8")
    for name, given in (("sold", SOLD), ("paid", PRICES)):
        text = "".join(
            json.dumps({"complete": item.times} if isinstance(item, Complete) else {"time": item[0], "value": item[1]})
            + "\n"
            for item in given
        )
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    command = ["few.py", "--input", "sold=sold.jsonl", "--input", "paid=paid.jsonl", "--engine", engine]
    command += ["--output", "out=out", "--state", "state", "--every", "0"]
    rounds = killed_everywhere(tmp_path, 331, *command)
    assert sum(each["kills"] for each in rounds) >= 3
    whole, *killed = [values_of(each["texts"]["out"]) for each in reversed(rounds)]
    assert len(whole) > 20
    for each in killed:
        assert each == whole


def values_of(text: str) -> Counter[str]:
    """How often each time and value stands in an output."""
    return Counter(line for line in text.splitlines() if "value" in json.loads(line))
