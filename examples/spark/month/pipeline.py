"""The report of a month, as one query over the files of its days, when all of them have come.

    python examples/spark/month/pipeline.py --engine spark

With `--engine spark` the tables are DataFrames of Spark, with every other engine those of pandas.
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Node, Stage, load, main
from progress.runtime.tables import is_of_spark

HERE = Path(__file__).resolve().parent


class Day(Node):
    """Makes a table of a file as soon as it is there. With Spark it is a plan; nothing is computed."""

    def on_message(self, edge, time, content, out):
        month, _ = time
        rows = [(content["file"], shop, amount) for shop, amount in content["sales"]]
        out.send("days", month, out.table(rows, "file string, shop string, amount bigint"))


def report(month, tables):
    """The sum of each shop, and on how many days it sold something."""
    days = tables["days"]
    if is_of_spark(days):
        from pyspark.sql import functions as F

        return days.groupBy("shop").agg(F.sum("amount").alias("amount"), F.countDistinct("file").alias("days"))
    return days.groupby("shop", as_index=False).agg(amount=("amount", "sum"), days=("file", "nunique"))


dataflow = Dataflow(load(HERE / "graph.yaml"), {"day": Day, "month": Stage(report)})

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"files={HERE / 'files.jsonl'}", *sys.argv[1:]]))
