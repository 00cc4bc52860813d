"""Assets with partitions, of no tool: cycles against walks over all partitions; what is complete; no manifests."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphs import Graph
from graphs.adapters.partitions import Need, Needs, completeness, cycles
from graphs.command import main
from progress import PointstampError, check_conditions

SPAN = 60  # partitions of each asset, in which every short walk from the middle stays


class Offsets:
    """Assets whose partitions are numbers; each edge says how many earlier the partition is that is needed."""

    def __init__(self, ways: dict[tuple[str, str], int]) -> None:
        self._ways = ways

    def assets(self) -> Sequence[str]:
        return sorted({name for way in self._ways for name in way})

    def ways(self) -> Iterable[tuple[str, str]]:
        return self._ways

    def samples(self, component: Sequence[str]) -> Iterable[Need]:
        return [Need(name, str(SPAN)) for name in component]

    def moment(self, need: Need) -> int:
        return int(need.key or 0)

    def check_key(self, asset: str, key: str | None) -> None:
        if key is None or not key.isdigit():
            raise PointstampError("PS926", f"{asset} has no partition {key}", "1")

    def needs(self, asset: str, key: str | None) -> Needs:
        ways = self._ways.items()
        return Needs([Need(head, str(int(key or 0) - back)) for (head, tail), back in ways if tail == asset])


def test_what_can_never_be_there_is_needed_as_well() -> None:
    class Early(Offsets):
        def needs(self, asset: str, key: str | None) -> Needs:
            return Needs([Need("raw", "1")], never=[Need("raw", "-1"), Need("raw", "-2")], unknown=["other"])

    found = completeness(Early({("raw", "sum"): 0}), {"raw": ["1"]}, "sum", "1")
    assert (found.needed, found.complete, len(found.never)) == (3, False, 2)
    assert found.to_json()["needed"] == 3


def stays(ways: dict[tuple[str, str], int]) -> bool:
    """Whether any walk of needs returns to its asset at or after its start: every walk of the graph is tried."""
    names = {name for way in ways for name in way}

    def returns(name: str, start: str, time: int, left: set[str]) -> bool:
        for (head, tail), back in ways.items():
            if tail == name and head == start and time - back >= 0:
                return True
            if tail == name and head in left and returns(head, start, time - back, left - {head}):
                return True
        return False

    return any(returns(name, name, 0, names - {name}) for name in names)


@pytest.mark.parametrize("seed", range(150))
def test_cycles_are_judged_as_all_walks_say_and_as_the_engine_does(seed: int) -> None:
    rng = random.Random(seed)
    names = ["a", "b", "c", "d"][: rng.randint(1, 4)]
    ways = {(rng.choice(names), rng.choice(names)): rng.choice((-1, 0, 0, 1, 1, 2)) for _ in range(rng.randint(1, 6))}
    found = list(cycles(Offsets(ways)))
    assert any(cycle.walk for cycle in found) is stays(ways)
    for cycle in found:
        assert cycle.judged
        if cycle.walk:
            begin, end = cycle.walk[0], cycle.walk[-1]
            assert begin.asset == end.asset
            assert int(end.key or 0) >= int(begin.key or 0)
            for need, needed in zip(cycle.walk, cycle.walk[1:], strict=False):
                assert needed in Offsets(ways).needs(*need).exist
    if all(head != tail for head, tail in ways):  # the engine's own judgement of the same graph: times are partitions
        graph, emits = Graph(time="int"), dict[str, dict[str, Any]]()
        for (head, tail), back in ways.items():
            emits.setdefault(head, {})[f"{head}->{tail}"] = {"advance": back}
        for name in Offsets(ways).assets():
            graph.node(name, emits=emits.get(name))
        for head, tail in ways:
            graph.edge(head, tail)
        assert check_conditions(graph).advancing.holds is not stays(ways)


def test_complete_is_none_where_nothing_is_missing_and_something_unknown() -> None:
    class Unknown(Offsets):
        def needs(self, asset: str, key: str | None) -> Needs:
            return Needs(super().needs(asset, key).exist, (), ["which of them is decided in a run"])

    ways = {("x", "y"): 0}
    assert completeness(Offsets(ways), {"x": ["5"]}, "y", "5").complete is True
    assert completeness(Offsets(ways), {}, "y", "5").complete is False
    assert completeness(Unknown(ways), {"x": ["5"]}, "y", "5").complete is None
    assert completeness(Unknown(ways), {}, "y", "5").complete is False
    for have, question in (({"z": []}, ("y", "5")), ({}, ("z", "5")), ({}, ("y", "five")), ({"x": ["f"]}, ("y", "5"))):
        with pytest.raises(PointstampError) as refused:
            completeness(Offsets(ways), have, *question)
        assert refused.value.code == "PS926"


NO_BEGIN = {"incremental_strategy": "microbatch", "batch_size": "day"}
NO_MANIFESTS = [
    *("", "[]", "{}", '{"nodes": 3}', '{"nodes": {"m": {"resource_type": "model"}}}', '{"nodes": {"m": 3}}', "\udcff"),
    *(
        json.dumps({"nodes": {"m": {"resource_type": "model", "name": "m", "config": {**NO_BEGIN, "begin": begin}}}})
        for begin in ("yesterday", "9999-12-31T23:59", "0001-01-01T00:00+14:00")
    ),
]


@pytest.mark.parametrize("manifest", NO_MANIFESTS)
def test_what_is_not_a_manifest_is_refused_in_one_line(
    manifest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "manifest.json"
    file.write_bytes(manifest.encode(errors="surrogateescape"))
    assert main(["check", "--from", "dbt", str(file)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "PS903" in said.err


def test_questions_to_no_tool_with_partitions_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the paths of temporary folders may be too long for a line
    file = Path("manifest.json")
    file.write_text(json.dumps({"nodes": {}}))
    for arguments in (
        ["complete", "--from", "nothing", str(file), "--have", str(file), "a=1"],
        ["complete", "--from", "dbt", "none.json", "--have", str(file), "a=1"],
        ["complete", "--from", "dbt", str(file), "--have", "none.json", "a=1"],
        ["complete", "--from", "dbt", str(file), "--have", str(file), ""],
        ["complete", "--from", "dbt", str(file), "a=1"],
        ["check", "--have", str(file), str(file)],
        ["check", "--watch", "--from", "dbt", str(file)],
    ):
        try:
            code = main(arguments)
        except SystemExit as ended:  # argparse
            code = int(str(ended.code))
        said = capsys.readouterr()
        assert (code, said.out) == (2, ""), arguments
        assert "none.json" not in " ".join(arguments) or "none.json" in said.err
        assert said.err.strip()
        assert "Traceback" not in said.err
