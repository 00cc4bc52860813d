"""Explanations of PS741 to PS745: what a run on Spark, or with tables, was given and cannot use."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

ENGINES = {
    "PS741": Explanation(
        means="""What was given as `session` is not a session of Spark, or one that was stopped; or a session or a
folder was given to another engine than `spark`.""",
        why="""A run on Spark starts its jobs with that session. The other engines start none, and who names a
session meant something else.""",
        example=Example(
            """\
from pointstamp import Dataflow, Graph

graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
Dataflow(graph).run(engine="threads", folder="/tables")
""",
            "python",
        ),
        fix="""`run(engine="spark", session=session)`. Without a session the active one is used, or a new one is
started.""",
    ),
    "PS742": Explanation(
        means="""A node keeps a table until some time at a place that the graph does not have.""",
        why="""A kept table is let go when the frontier at that place has passed the time. Where there is no
place there is no frontier, and the table would stay for ever.""",
        example=Example(
            """\
from pointstamp import Dataflow, Graph, Stage


class Keeps(Stage):
    def on_tables(self, time, tables, out):
        out.keep(tables["in"], until=time, at="elsewhere")


graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
Dataflow(graph, {"a": Keeps()}).run(sources={"in": [(0, 1)]})
""",
            "python",
        ),
        fix="""Name the node or the edge at which the table is used last; without `at` it is the node itself.""",
    ),
    "PS743": Explanation(
        means="""A node keeps a table with a name, and the run has no folder for such tables.""",
        why="""A table with a name is written as Parquet, so that it outlives the workers of Spark. Only whoever
runs the pipeline knows a folder that all of them see.""",
        example=Example(
            """\
from progress.runtime.on_spark.kept_tables import no_folder

raise no_folder("labels")
""",
            "python",
        ),
        fix="""`run(engine="spark", folder="/shared/tables")`, or `pointstamp run --tables DIR`; or keep the
table without a name, in the memory of workers.""",
    ),
    "PS744": Explanation(
        means="""Tables of two kinds, or tables and other values, came together at one time of one edge; or a table
was asked for where neither Spark nor pandas is there to make one.""",
        why="""A `Stage` gets what came on an edge as one table, which has to be of one kind.""",
        example=Example(
            """\
import pandas

from progress.runtime.tables import union

union([pandas.DataFrame({"a": [1]}), [2]])
""",
            "python",
        ),
        fix="""Make tables with `out.table(rows, columns)`: they are of the kind that the engine has.""",
    ),
    "PS745": Explanation(
        means="""Rows do not fit the columns that `out.table` was asked for: a value of another type, or too large
for it, too few or too many values, or no columns at all. Or what leaves does not fit the columns
of the table in which its sink stores it.""",
        why="""Spark and pandas differ in what they round, wrap or take as it is, and a pipeline is to give the
same in both. So what does not fit is refused before either sees it. A sink stores a bundle as a
whole, or not: with a row that does not fit it stores nothing.""",
        example=Example(
            """\
from progress.runtime.tables import Tables

Tables().make([("market", 1.5)], "shop string, amount int")
""",
            "python",
        ),
        fix="""Another type for the column, `double` here; or make the value one of it: `round(amount)`,
`date.fromisoformat(day)`, `Decimal(price)`. To a sink, send mappings with the names of columns.""",
    ),
}
