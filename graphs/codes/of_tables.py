"""Explanations of PS77x: sources and sinks on Spark."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

TABLES = {
    "PS771": Explanation(
        means="""Rows of a source have no time: there is nothing (null) in the column that holds it.""",
        why="""A row without a time belongs to no message. Taking it along would put it at a time by guess,
leaving it out would lose it without a word. All such rows are counted, and one is shown.""",
        example=Example(
            """\
from pointstamp import FrameSource, Nat
from progress.runtime.on_spark.session import start_session

rows = start_session().createDataFrame([(0, "a"), (None, "b")], "day int, road string")
list(FrameSource(rows, "day").items_for("threads", "roads", Nat()))
""",
            "python",
        ),
        fix="""Mend the rows, or give them to a sink: `FrameSource(rows, "day", aside=without_day)`.""",
    ),
    "PS772": Explanation(
        means="""What stands in the column of times, or in the name of a file, is not a time of the input edge.""",
        why="""A time of another type is never before or after those of the edge, so nothing could ever say that
it is complete.""",
        example=Example(
            """\
from pointstamp import FrameSource, Nat
from progress.runtime.on_spark.session import start_session

rows = start_session().createDataFrame([("monday", "a")], "day string, road string")
list(FrameSource(rows, "day").items_for("threads", "roads", Nat()))
""",
            "python",
        ),
        fix="""`to=` makes times of what stands there, `lambda day: (day - FIRST).days` for dates; `aside=` takes
the rows that have none. For files, `time=` says where in the name the time is.""",
    ),
    "PS773": Explanation(
        means="""A DataFrame has other columns than those before it: names or types differ.""",
        why="""What is written to one table, or read as one input, has one set of columns. Spark would fill what
is missing with nulls, or fail long after.""",
        example=Example(
            """\
from tempfile import mkdtemp

from pointstamp import Dataflow, Graph, ParquetSink
from progress.runtime.on_spark.session import start_session

numbers = start_session().range(3)
roads = [(0, numbers), (0, numbers.withColumnRenamed("id", "road"))]
graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
Dataflow(graph).run(sources={"in": roads}, sinks={"out": ParquetSink(mkdtemp())})
""",
            "python",
        ),
        fix="""Make the columns the same: `select`, `cast`, `withColumnRenamed`. Their order does not matter.""",
    ),
    "PS774": Explanation(
        means="""A source cannot be read: the folder, a file, a column or the batches of a stream are not there, or
it is not said how to read them.""",
        why="""It is said when the source is made or first read, in one line, and not by a job that fails later.""",
        example=Example(
            """\
from pointstamp import FileSource

FileSource("incoming", form="csv")
""",
            "python",
        ),
        fix="""What the line says. Files of text need `schema="day int, road string"`.""",
    ),
    "PS776": Explanation(
        means="""A stream of Structured Streaming has failed.""",
        why="""Spark gives a stream up at its first failure. Batches that were written before are in the folder
of the source, and the run goes on behind them.""",
        example=Example(
            """\
from pathlib import Path
from tempfile import mkdtemp

from pointstamp import Nat, StreamSource
from progress.runtime.on_spark.session import start_session

folder = Path(mkdtemp())
(folder / "in").mkdir()
(folder / "in" / "a.json").write_text('{"day": 0}')
days = start_session().readStream.schema("day int").json(str(folder / "in"))
broken = days.selectExpr("day", "raise_error('no such road') as road")
list(StreamSource(broken, "day", folder / "batches").items_for("threads", "days", Nat()))
""",
            "python",
        ),
        fix="""What the line says; then start the run again.""",
    ),
    "PS777": Explanation(
        means="""A folder has no commits of a ParquetSink, or one of them is not a commit.""",
        why="""Only what is committed is read, so that nobody sees half a time. A folder without commits is most
often another folder.""",
        example=Example(
            """\
from pointstamp import read_committed
from progress.runtime.on_spark.session import start_session

read_committed(start_session(), "nowhere")
""",
            "python",
        ),
        fix="""The folder that was given to the sink. Ask `committed` first where it may be empty.""",
    ),
    "PS778": Explanation(
        means="""A sink could not write a time: its rows could not be computed, or the place could not be written
to.""",
        why="""A sink of complete times writes them later than the node sends them, when the frontier has
passed, and a DataFrame is computed when it is written. So the edge and the time are named, and
not the node.
Nothing of the time is in the table, and with `--state` the next start writes it.""",
        example=Example(
            """\
from tempfile import mkdtemp

from pointstamp import Dataflow, Graph, ParquetSink
from progress.runtime.on_spark.session import start_session

roads = start_session().range(3).selectExpr("raise_error('no such road') as road")
graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
Dataflow(graph).run(sources={"in": [(0, roads)]}, sinks={"out": ParquetSink(mkdtemp())})
""",
            "python",
        ),
        fix="""What the line says: mend what makes the rows, or the folder. To find such rows where they are
made, keep the table in the node: `out.keep(table, until=time, at="out")` computes it there.""",
    ),
    "PS779": Explanation(
        means="""Two edges have sinks that write to the same place: the same folder, the same table under the
same application, or one object with `deliver` and `last`, which gives one stamp and not two.""",
        why="""Such a sink writes each time once and passes over a time that is there. The second edge's rows
would be taken for a repetition of the first one's, and lost without a word.""",
        example=Example(
            """\
from pointstamp import Dataflow, DeltaSink, Graph

graph = Graph().node("a").edge("a", None, "roads").edge("a", None, "paths")
Dataflow(graph).run(sinks={"roads": DeltaSink("map"), "paths": DeltaSink("map")})
""",
            "python",
        ),
        fix="""A folder for each edge. A table of Delta Lake takes several edges, each under an application of
its own: `DeltaSink("map", "roads")`.""",
    ),
    "PS780": Explanation(
        means="""A sink was given a place in which there is something that its run has not written, or a save mode
that is none.""",
        why="""Such a sink passes over what its own run has written, which makes a repetition after a kill
harmless. What another run has written is not a repetition: to pass over it would drop the new
rows without a word, to add to it may double them. So the run is told which is meant, and files of
somebody else are left alone. A start with the same `--state` is the same run, and goes on.""",
        example=Example(
            """\
from tempfile import mkdtemp

from pointstamp import Dataflow, Graph, ParquetSink
from progress.runtime.on_spark.session import start_session

graph = Graph().node("a").edge(None, "a", "in").edge("a", None, "out")
folder = mkdtemp()
for _ in range(2):
    roads = [(0, start_session().range(3))]
    Dataflow(graph).run(sources={"in": roads}, sinks={"out": ParquetSink(folder)})
""",
            "python",
        ),
        fix="""Another place; or a mode, in the words of Spark: `ParquetSink(folder, "append")` adds rows, at
times that are there as well; `"overwrite"` replaces all; `"ignore"` leaves times that are there
as they are; `"overwritePartitions"` replaces times that are written again, and leaves others.
What is put together by `compact` gives way as a whole, and not while a run replaces commits.""",
    ),
}
