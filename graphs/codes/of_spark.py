"""Explanations of PS75x and PS76x: what keeps Spark from answering, and what it refuses."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

SPARK = {
    "PS751": Explanation(
        means="""Spark was asked for, and pyspark or graphframes-py is not installed.""",
        why="""Most uses of this project need neither, so they are not installed with it.""",
        example=Example(
            """\
import sys
from unittest.mock import patch

from progress.runtime.on_spark.session import check_installed

with patch.dict(sys.modules, pyspark=None):  # as if it were not installed
    check_installed()
""",
            "python",
        ),
        fix="""`pip install 'pointstamp[spark]'`, or `engine="local"`.""",
    ),
    "PS752": Explanation(
        means="""There is no Java where Spark looks for it, in JAVA_HOME or on the PATH, or it is too old.""",
        why="""Spark runs on the Java virtual machine; pyspark only talks to it.""",
        example=Example(
            """\
import os
from unittest.mock import patch

from progress.runtime.on_spark.session import check_java

with patch.dict(os.environ, JAVA_HOME="/nowhere"):
    check_java()
""",
            "python",
        ),
        fix="""Install Java 17 or newer, on Debian the package openjdk-17-jre-headless, or point JAVA_HOME at
it.""",
    ),
    "PS753": Explanation(
        means="""The installed pyspark, or the Spark of a session that was handed over, is another version than the
one that this project works with.""",
        why="""Plans, and the packages that fit, differ from one minor version to the next.""",
        example=Example(
            """\
from unittest.mock import patch

from progress.runtime.on_spark.session import check_installed

with patch("pyspark.__version__", "3.5.7"):
    check_installed()
""",
            "python",
        ),
        fix="""`pip install 'pointstamp[spark]'` in an environment of its own. Where SPARK_HOME names another
Spark, unset it.""",
    ),
    "PS754": Explanation(
        means="""GraphFrames, or another package that was asked for, cannot be had: no repository in reach has
it, a jar is not there, or the session that is active was started without it.""",
        why="""graphframes-py is only the Python half of GraphFrames; the other half is a package that Spark
fetches when its JVM starts, and keeps.""",
        example=Example(
            """\
from progress.runtime.on_spark.session import start_session

start_session(graphframes="graphframes.jar")
""",
            "python",
        ),
        fix="""A network at the first start; or a jar, or a coordinate that a repository in reach has, as
`graphframes=`. A session of your own needs the package in `spark.jars.packages` from the start.""",
    ),
    "PS755": Explanation(
        means="""The session is one of Spark Connect, and what is asked for is done by Spark's JVM: graphs at
scale, a `DeltaSink`, a `StreamSource`, a table that is kept with a name, or a folder that is not
on the machine of both the server and this process.""",
        why="""The JVM belongs to the server, and no client reaches into it. Pipelines that need nothing of it
run over Spark Connect.""",
        example=Example(
            """\
from progress.runtime.on_spark.session import start_session

start_session("sc://localhost")
""",
            "python",
        ),
        fix="""A classic session: `local[*]`, or the URL of the cluster itself, `spark://host:port`. Or do
without: a table is kept without a name, and a sink may be a function of (time, DataFrame).""",
    ),
    "PS756": Explanation(
        means="""Spark was there and gave up: its JVM or session did not start, or a job failed.""",
        why="""The message has the one line of what Spark said that tells most. All of it is on stderr with
`spark.log.level=ERROR` among the settings of the session.""",
        example=Example(
            """\
from progress.runtime.on_spark.session import start_session

start_session("lokal")
""",
            "python",
        ),
        fix="""What the line says: another master, a setting that it names, more memory (`spark.driver.memory`),
room on the disk.""",
    ),
    "PS757": Explanation(
        means="""Spark was asked for something that it cannot compute in columns: a domain or a summary of your
own, a graph with calls, or a component that is too large for one process and does more than add.""",
        why="""Times are rows of numbers in Spark, and summaries what is done to them. Calling back into Python
for each would take longer than not using Spark.""",
        example=Example(
            """\
from pointstamp import Graph
from graphs.at_scale import check_conditions

graph = Graph(recursion={"in": "begin", "out": "end", "calls": ["again"]})
check_conditions(graph, engine="spark")
""",
            "python",
        ),
        fix="""`engine="local"`. For a large component: `Options(fits=...)`, where the driver has the memory.""",
    ),
    "PS758": Explanation(
        means="""A run on Spark went on for more rounds than it was given.""",
        why="""Each round follows times one step further, so a graph needs as many as its longest way has
edges. A number that falls on a cycle needs as many as it is large.""",
        example=Example(
            """\
from pointstamp import Graph
from graphs.at_scale import Options, close

graph = Graph().node("a").node("b").node("c").edge("a", "b").edge("b", "c")
close(graph, [("a", 0)], engine="spark", options=Options(rounds=1))
""",
            "python",
        ),
        fix="""More rounds: `Options(rounds=...)`. If a cycle falls, `check` shows it; mend it.""",
    ),
    "PS759": Explanation(
        means="""The run was cancelled: the event that was given as `cancel` was set.""",
        why="""It is raised so that nobody takes a part for the whole. The jobs that ran were cancelled.""",
        example=Example(
            """\
from threading import Event

from pointstamp import Graph
from graphs.at_scale import Options, check_conditions

cancel = Event()
cancel.set()
check_conditions(Graph().node("a"), engine="spark", options=Options(cancel=cancel))
""",
            "python",
        ),
        fix="""Nothing is wrong.""",
    ),
    "PS760": Explanation(
        means="""A table is none of nodes, or none of edges: it has no rows, or not the columns that are needed.""",
        why="""A graph without nodes has nothing to be asked, and is most often a path or a filter gone wrong.""",
        example=Example(
            """\
from graphs.at_scale import Tables, check_conditions
from progress.runtime.on_spark.session import start_session

session = start_session()
nodes = session.createDataFrame([], "id string, time string")
edges = session.createDataFrame([], "id string, from string, to string")
check_conditions(Tables(nodes, edges), engine="spark")
""",
            "python",
        ),
        fix="""For nodes a column `id`; for edges `from` and `to`; the others as in graph files.""",
    ),
    "PS761": Explanation(
        means="""A number of a time or of a summary is so large that Spark's columns might not hold it: they have
64 bits.""",
        why="""The local engine's numbers have no end. In a column the sum would be wrong, or the run would fail.""",
        example=Example(
            """\
from pointstamp import Graph
from graphs.at_scale import close

close(Graph().node("a"), [("a", 2**70)], engine="spark")
""",
            "python",
        ),
        fix="""`engine="local"`, or count from a later beginning.""",
    ),
    "PS762": Explanation(
        means="""A part of Spark was lost while a pipeline ran: a worker with tables that were kept there alone, a
process of Python at a worker, or the JVM itself.""",
        why="""Spark does most of what is lost again by itself: tasks run on other workers, and what is kept is
kept twice on a cluster. What it cannot make up for ends the run. The pipeline is not to blame, so
no policy of `on_error` is asked where the JVM is gone, and nothing becomes a dead letter by it.""",
        example=Example(
            """\
import os

from pyspark.sql.functions import udf

from pointstamp import Dataflow, Graph
from progress.runtime.on_spark.session import start_session

session = start_session(graphframes=False)
ends = udf(lambda number: os.kill(os.getpid(), 9), "long")  # as the system may
graph = Graph().node("a").edge(None, "a", "in")
nodes = {"a": lambda count: session.range(count).select(ends("id")).collect()}
Dataflow(graph, nodes).run(engine="spark", session=session, sources={"in": [(0, 1)]})
""",
            "python",
        ),
        fix="""Start it again: with `--state` the run goes on from its last checkpoint. Where processes of Python
are killed again and again, they have too little memory: `spark.executor.memoryOverhead`, or more
partitions.""",
    ),
}
