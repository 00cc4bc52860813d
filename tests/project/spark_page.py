"""The blocks of docs/spark-pipelines.md that need Spark, run one after the other with compiled plans."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from graphs import Graph
from progress.order import Int
from progress.runtime import Complete, Dataflow, Messages, Stage
from progress.runtime.tables import rows_of
from tests.project.pages import fences, said

PAGE = Path(__file__).resolve().parents[2] / "docs" / "spark-pipelines.md"
FIRST = datetime.date(2024, 1, 1)


def run_page(session: Any, folder: Path) -> None:
    """Run the page in this folder, which is that of the process and of the JVM; `session` has Delta Lake."""
    blocks = [fence for fence in fences(PAGE.read_text("utf-8")) if fence.language == "python"]
    files = {said(fence.marker)["file"]: fence.text for fence in blocks if fence.marker}
    assert sorted(files) == ["compact.py", "on_spark.py", "rounds.py", "sinks.py", "sources.py"]
    known: dict[str, Any] = {}
    for text in (*(fence.text for fence in blocks if not fence.marker), files["on_spark.py"]):
        exec(text, known)
    assert known["session"].sparkContext is session.sparkContext
    totals = {day: rows_of(table) for day, table in known["results"]["totals"]}
    assert totals == {0: [{"shop": "market", "amount": 7}], 1: [{"shop": "harbour", "amount": 5}]}

    sales = session.range(3).selectExpr(f"date_add(date'{FIRST}', int(id)) AS date", "int(id) AS day", "id AS amount")
    for day in range(3):
        sales.where(f"day = {day}").coalesce(1).write.parquet(f"incoming/day={day}")
    (folder / "incoming" / "_END").touch()
    session.readStream.schema(sales.schema).parquet("incoming/*").createOrReplaceTempView("sales")
    known |= {"sales": sales, "FIRST": FIRST}
    exec(files["sources.py"], known)
    for name in ("frame", "files", "rows"):
        messages = [item for item in known[name].items_for("threads", "in", Int()) if isinstance(item, Messages)]
        found = [(item.time, [row.amount for row in item.values[0].collect()]) for item in messages]
        assert found == [(0, [0]), (1, [1]), (2, [2])], (name, found)
    assert known["frame"].counts == known["rows"].counts == {0: 1, 1: 1, 2: 1}
    stream = known["stream"].items_for("threads", "in", Int())
    assert [next(stream) for _ in range(2)][1] == Complete((0,))
    stream.stop()
    assert known["stream"].counts == {0: 3}

    graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "totals").edge("a", None, "sales")
    node = Stage(lambda day, tables: {edge: tables["in"].select("day", "amount") for edge in ("totals", "sales")})
    known |= {"dataflow": Dataflow(graph, {"a": node}), "sources": {"in": known["frame"]}}
    exec(files["sinks.py"], known)
    written = known["read_committed"](session, "totals")
    assert sorted(written.collect()) == sorted(session.read.format("delta").load("tables/sales").collect())
    assert written.count() == 3
    exec(files["compact.py"], known)
    assert known["read_committed"](session, "totals").count() == 3
    assert session.read.format("delta").load("tables/sales").count() == 3
    print("the page is so")
