"""Connected components of a graph that grows, found anew for each epoch by a loop that ends when nothing changes.

    python examples/spark/components/pipeline.py --engine spark

With `--engine spark` the tables are DataFrames of Spark, with every other engine those of pandas.
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Stage, load, main
from progress.runtime.tables import is_of_spark, union

HERE = Path(__file__).resolve().parent


class Grow(Stage):
    """All edges so far. Epochs come one after the other here, since each is before the next."""

    def __init__(self):
        super().__init__(at_once=1)
        self.edges = None

    def on_tables(self, epoch, tables, out):
        new = out.table(
            [pair for a, b in tables["edges"] for pair in ((a, a), (b, b), (a, b), (b, a))], "a bigint, b bigint"
        )
        before, self.edges = self.edges, new if self.edges is None else union([self.edges, new])
        self.edges = out.keep(self.edges)
        if before is not None:
            out.let_go(before)
        out.keep(self.edges, until=epoch, at="components")
        out.send("grown", epoch, self.edges)


class Step(Stage):
    """One round of one epoch: every vertex learns the smallest name among its neighbours."""

    by_time = ("edges",)

    def __init__(self):
        super().__init__()
        self.edges = {}

    def entry(self, time):
        return time[0]  # the epoch, whose rounds follow one another

    def on_tables(self, time, tables, out):
        epoch, round_ = time
        if round_ == 0:
            self.edges[epoch] = tables["begin"]
            before, known = None, None
        else:
            ((before, known),) = tables["round"]
        names = out.keep(tell(self.edges[epoch], before), until=(epoch, round_ + 1))
        found = total(names)
        if found != known:  # names only become smaller, so an equal sum is an equal table
            out.send("changed", time, (names, found))
        else:
            out.send("components", epoch, names)
            del self.edges[epoch]


def tell(edges, names):
    """vertex, component: the smallest of what the neighbours are called; at first, of their own names."""
    if is_of_spark(edges):
        from pyspark.sql import functions as F

        told = (
            edges.withColumn("component", F.col("b"))
            if names is None
            else edges.join(names.withColumnRenamed("vertex", "b"), "b")
        )
        return told.groupBy(F.col("a").alias("vertex")).agg(F.min("component").alias("component"))
    told = edges.assign(component=edges["b"]) if names is None else edges.merge(names, left_on="b", right_on="vertex")
    return told.groupby("a")["component"].min().rename_axis("vertex").reset_index()


def total(names):
    if is_of_spark(names):
        return names.groupBy().sum("component").first()[0]
    return int(names["component"].sum())


dataflow = Dataflow(load(HERE / "graph.yaml"), {"grow": Grow, "step": Step})

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"edges={HERE / 'edges.jsonl'}", *sys.argv[1:]]))
