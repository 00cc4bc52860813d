"""Streams over tables: the same program over pandas and over Spark, beside what it means in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from pointstamp import Flow, PointstampError
from tests.spark.spark import spark_session

PANDAS = ["sim", "threads", "asyncio"]
EDGES = [(0, (1, 2)), (0, (2, 3)), (0, (7, 8)), (1, (3, 4)), (1, (9, 9)), (2, (5, 6))]


def components_flow() -> Flow[int]:
    """Each vertex with the least one that it hangs together with, in each epoch, and how many have that name."""
    flow = Flow()
    both = flow.input("edges").flat_map(lambda edge: [edge, edge[::-1]]).table("vertex bigint, neighbour bigint")
    start = flow.input("vertices").table("vertex bigint, label bigint")

    def spread(names: Any) -> Any:
        told = both.join(names, on="vertex").group("neighbour", label=("label", "min"))
        return names.union(told.transform(renamed)).group("vertex", label=("label", "min"))

    names = start.iterate(spread)
    names.rows().output("names")
    names.group("label", size=("vertex", "count")).rows().output("sizes")
    return flow


def renamed(table: Any) -> Any:
    """In the words of either library."""
    if hasattr(table, "withColumnRenamed"):
        return table.withColumnRenamed("neighbour", "vertex")
    return table.rename(columns={"neighbour": "vertex"})


def components(edges: Iterable[tuple[int, tuple[int, int]]]) -> dict[str, Counter[Any]]:
    """The same in plain Python."""
    names: dict[tuple[int, int], int] = {}
    for time, edge in edges:
        for vertex in edge:
            names[time, vertex] = vertex
    for _ in range(len(names)):
        for time, (one, other) in edges:
            names[time, one] = names[time, other] = min(names[time, one], names[time, other])
    sizes = Counter((time, name) for (time, _), name in names.items())
    return {
        "names": Counter((time, vertex, name) for (time, vertex), name in names.items()),
        "sizes": Counter((time, name, size) for (time, name), size in sizes.items()),
    }


def found_by(flow: Flow[int], **options: Any) -> dict[str, Counter[Any]]:
    vertices = sorted({(time, (vertex, vertex)) for time, edge in EDGES for vertex in edge})
    results = flow.run(sources={"edges": EDGES, "vertices": vertices}, **options)
    words = {"names": ("vertex", "label"), "sizes": ("label", "size")}
    return {
        edge: Counter((time, *(row[word] for word in words[edge])) for time, row in results[edge]) for edge in words
    }


@pytest.mark.parametrize("engine", PANDAS)
def test_components_over_pandas(engine: str) -> None:
    assert found_by(components_flow(), engine=engine) == components(EDGES)


@pytest.mark.spark
def test_components_over_spark_by_the_same_program() -> None:
    """Tables of rounds are computed once and let go: nothing is kept when the run is over."""
    spark: Any = spark_session()
    before = len(spark.sparkContext._jsc.getPersistentRDDs())
    assert found_by(components_flow(), engine="spark", session=spark) == components(EDGES)
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) <= before


@pytest.mark.parametrize("engine", PANDAS)
@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_joins_and_what_has_not_come(engine: str, how: Any) -> None:
    flow = Flow()
    left = flow.input("left").table("k bigint, a bigint")
    right = flow.input("right").table("k bigint, b bigint")
    left.join(right, on="k", how=how).rows().output("out")
    left.transform(lambda one, other: None if other is not None else one, right).rows().output("alone")
    given = {"left": [(0, (1, 10)), (0, (2, 20)), (1, (5, 50))], "right": [(0, (1, 11)), (0, (3, 33)), (2, (6, 66))]}
    results = flow.run(engine=engine, sources=given)
    rows: dict[str, set[Any]] = {"inner": {(1, 10, 11)}, "left": {(1, 10, 11), (2, 20, None)}}
    rows["outer"] = rows["left"] | {(3, None, 33)}
    found = {(row["k"], row["a"], row.get("b")) for time, row in results["out"] if time == 0}
    assert found == rows[how]
    later = [(time, row) for time, row in results["out"] if time]
    assert later == ([] if how == "inner" else [(1, {"k": 5, "a": 50})])
    assert results["alone"] == [(1, {"k": 5, "a": 50})]


def test_groups_by_several_columns_with_missing_ones() -> None:
    flow = Flow()
    table = flow.input("in").table("a string, b bigint, x double")
    table.group(["a", "b"], s=("x", "sum"), n=("x", "count"), most=("x", "max"), mean=("x", "mean")).rows().output(
        "out"
    )
    given = [("p", 1, 2.0), ("p", 1, 4.0), ("q", None, 1.0), ("q", None, None), (None, 2, 8.0)]
    wanted: dict[Any, list[Any]] = defaultdict(list)
    for a, b, x in given:
        wanted[a, b] += [] if x is None else [x]
    found = flow.run(sources={"in": [(0, row) for row in given]})["out"]
    assert {(row["a"], row["b"]): (row["s"], row["n"], row["most"], row["mean"]) for _, row in found} == {
        key: (sum(xs), len(xs), max(xs), sum(xs) / len(xs)) for key, xs in wanted.items()
    }


def test_rounds_end_by_a_predicate_and_not_for_ever() -> None:
    flow = Flow()
    table = flow.input("in").table("n bigint")
    halved = table.iterate(lambda t: t.transform(lambda t: t.assign(n=t["n"] // 2)), until=lambda b, n, r: r == 3)
    halved.rows().output("out")
    assert flow.run(sources={"in": [(0, (80,)), (1, (8,))]})["out"] == [(0, {"n": 10}), (1, {"n": 1})]
    flow = Flow()
    table = flow.input("in").table("n bigint")
    table.iterate(lambda t: t.transform(lambda t: t.assign(n=t["n"] + 1)), most=5).output("out")
    with pytest.raises(PointstampError, match="PS817"):
        flow.run(sources={"in": [(0, (1,))]})


def test_what_does_not_fit_is_refused_in_its_line() -> None:
    table = Flow().input("in").table("n bigint")
    bad: Any = table
    with pytest.raises(PointstampError, match=r"PS814: test_tables.py:\d+: .*how is 'cross'"):
        bad.join(table, on="n", how="cross")
    with pytest.raises(PointstampError, match=r"is not a stream of tables"):
        bad.union(Flow().input("x"))
    with pytest.raises(PointstampError, match=r"total is \('n', 'median'\)"):
        bad.group("n", total=("n", "median"))
    with pytest.raises(PointstampError, match=r"nothing is made of a group"):
        bad.group("n")
    with pytest.raises(PointstampError, match=r"columns is 3"):
        Flow().input("in").table(3)  # type: ignore[arg-type]
    with pytest.raises(PointstampError, match=r"its body gives None"):
        bad.iterate(lambda inside: None)
    with pytest.raises(PointstampError, match=r"PS811"):
        bad.join(Flow().input("other").table("n bigint"), on="n")


def test_columns_that_are_none_are_refused_where_they_are_written() -> None:
    for columns, says in (("shop strng", "there is no type 'strng'"), ("shop", "'shop' are no columns")):
        with pytest.raises(PointstampError, match=says) as caught:
            Flow().input("sold").table(columns)
        assert caught.value.code == "PS814"


def test_a_column_that_a_table_does_not_have_is_named_with_those_it_has() -> None:
    def said(program: Any) -> str:
        flow = Flow()
        program(flow.input("sold").table("shop string, amount bigint")).rows().output("out")
        with pytest.raises(PointstampError) as caught:
            flow.run(sources={"sold": [(0, ("x", 3))]})
        return str(caught.value)

    there = "a table has no column {} (did you mean"
    assert there.format("'shops'") in said(lambda sold: sold.group("shops", total=("amount", "sum")))
    assert there.format("'amout'") in said(lambda sold: sold.group("shop", total=("amout", "sum")))
    assert there.format("'shops'") in said(lambda sold: sold.join(sold, on="shops"))
