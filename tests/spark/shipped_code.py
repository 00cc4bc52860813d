"""A pipeline whose functions run at workers: its own, those of a module beside it, and of a package beside it."""

from __future__ import annotations

import json
from pathlib import Path

PIPELINE = """
from functools import lru_cache
from pathlib import Path

from helper import Table, tripled
from pyspark.sql.functions import col, udf
from shop.words import shouted

from graphs import Graph
from progress.runtime import Dataflow, Node
from progress.runtime.stage import Stage

FOLDER = Path(__file__).parent
with open(FOLDER / "loaded", "a") as file:
    file.write("once\\n")
FACTOR = 2


class Box:
    def __init__(self, value):
        self.value = value


def doubled(value):
    return FACTOR * Box(value).value


@udf("string")
def told(value):
    from later import late              # a module that only workers import

    return f"{doubled(value)} {tripled(value)} {shouted('a')} {late()}"


def in_batches(batches):
    for batch in batches:
        yield Table(batch).with_more(doubled)


class Rows(Node):
    def on_message(self, edge, time, values, out):
        out.send("rows", time, out.table([[value] for value in values], "value long"))


def tell(time, tables):
    rows = tables["rows"].repartition(2)
    session = rows.sparkSession
    with open(FOLDER / "settings", "w") as file:
        file.write(session.conf.get("spark.sql.shuffle.partitions") + " " + session.conf.get("spark.team", ""))
    return rows.select(told("value").alias("told")).union(
        rows.mapInPandas(in_batches, "value long, more long").selectExpr("string(more)")
    )


graph = Graph().node("table").node("tell").edge(None, "table", "in")
graph = graph.edge("table", "tell", "rows").edge("tell", None, "out")
dataflow = Dataflow(graph, {"table": Rows(), "tell": Stage(tell)})
"""

FILES = {
    "pipe.py": PIPELINE,
    "later.py": "def late():\n    return 'late'\n",
    "shop/__init__.py": "",
    "shop/words.py": "from shop.loud import MARK\ndef shouted(word):\n    return word.upper() + MARK\n",
    "shop/loud.py": "MARK = '!'\n",
    "helper.py": """
class Table:
    def __init__(self, batch):
        self.batch = batch

    def with_more(self, function):
        return self.batch.assign(more=self.batch["value"].map(function))


def tripled(value):
    return 3 * value
""",
}


def write_pipeline(folder: Path) -> None:
    """The pipeline, the modules beside it, and what comes in: 1 and 5 at the time 0."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "in.jsonl").write_text(json.dumps({"time": 0, "value": [1, 5]}) + "\n", encoding="utf-8")


def check_told(folder: Path) -> None:
    """All functions ran, and the file of the pipeline only where it was loaded."""
    lines = map(json.loads, (folder / "out.jsonl").read_text("utf-8").splitlines())
    found = sorted(line["value"]["told"] for line in lines if "value" in line)
    assert found == ["10", "10 15 A! late", "2", "2 3 A! late"]
    assert (folder / "loaded").read_text("utf-8") == "once\n"
