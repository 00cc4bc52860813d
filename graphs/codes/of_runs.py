"""Explanations of PS7xx: what goes wrong while a dataflow runs."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_BEGIN = """\
from pointstamp import Complete, Dataflow, Graph, Node

graph = Graph().node("count").edge(None, "count", "words").edge("count", None, "counts")
"""


def _run(
    code: str, nodes: str = '{"count": Count()}', sources: str = '{"words": [(3, "a")]}', more: str = ""
) -> Example:
    call = f"Dataflow(graph, {nodes}, sources={sources}).run({more})\n"
    return Example(f"{_BEGIN}{code}{call}", "python")


_COUNT = """
class Count(Node):
    def on_message(self, edge, time, value, out):
        {}

"""

RUNS = {
    "PS701": Explanation(
        means="""A node sends on an edge that does not leave it.""",
        why="""What a node may do is what the graph says. A message that appears anywhere else is one that no
frontier has taken into account, so somebody may have been told already that none would come.""",
        example=_run(_COUNT.format('out.send("count", time, 1)')),
        fix="""Name one of the edges that leave the node, as `out.edges` lists them, or add the edge.""",
    ),
    "PS702": Explanation(
        means="""A node sends a message at a time that its summary does not give for the time of what it was told.
The line of the node that does it is the one that raises.""",
        why="""The graph declares what a node does to times, and notifications elsewhere are delivered because of
it. A message at an earlier time would come after they were told that nothing comes.""",
        example=_run(_COUNT.format('out.send("counts", time - 1, 1)')),
        fix="""Send at one of `out.earliest(edge)` or later. If the node is meant to move times otherwise,
declare it: `summary` for all edges, `emits` for one.""",
    ),
    "PS703": Explanation(
        means="""A node requests a notification at a time before that of what it was told (Condition 1), or
requests one at all, where the graph says `notify: false`.""",
        why="""The earlier time may be complete already, and others may have acted on that; the notification
would hold it open after all.""",
        example=_run(_COUNT.format("out.request(time - 1)")),
        fix="""Request the time of the event, or a later one. A node that requests something else declares it
with `requests`; one that requests nothing may say so with `notify: false`.""",
    ),
    "PS704": Explanation(
        means="""`out` was used after the call that it belongs to had returned.""",
        why="""What a call does is entered as one step when it returns. Afterwards its time is no longer held, so
nothing more may come of it.""",
        example=_run(
            """
class Count(Node):
    def on_message(self, edge, time, value, out):
        self.out = out
        out.request(time)
    def on_notify(self, time, out):
        self.out.send("counts", time, 1)

"""
        ),
        fix="""Use the `out` that the call is given. What is to be done later is done at a notification, or by an
`async def` method, which returns when it is done.""",
    ),
    "PS705": Explanation(
        means="""A node's code raised. The message names the node, the time, and what it was told; the traceback is
that of the node's own code.""",
        why="""What the failing call had sent and requested is taken back, what was done before stands. A node
that fails has lost a message or a notification, so by default the run stops, after whatever else
was running has come to its end.""",
        example=_run(_COUNT.format("value.missing")),
        fix="""Mend the node. Where failing is part of life, say what is to be done: `on_error=Retry(times=3)`
makes the call again, `DeadLetter()` puts the message aside and goes on.""",
    ),
    "PS706": Explanation(
        means="""A source gave something that is neither `(time, value)` nor `Complete(times)`, or is itself a
path or an open file, whose lines have no times; or `Complete` was given a time instead of
several.""",
        why="""Without a time nobody can say when the message is late or what it holds open.""",
        example=_run("", nodes='{"count": str.upper}', sources='{"words": ["a", "bcd"]}'),
        fix="""Yield pairs. `by_count` and `by_event_time` give times to values that have none. A file of
JSON lines is `pointstamp.JsonLines(path)`.""",
    ),
    "PS707": Explanation(
        means="""A sink is nothing that values can be given to. A path or an open file is none: nothing says how a
time and a value are written there.""",
        why="""Values that leave the graph would be lost.""",
        example=_run("", nodes="{}", more='sinks={"counts": 7}'),
        fix="""A list, a function of (time, value), or an object with `write` or `write_all`. A file of JSON
lines is `pointstamp.JsonLines(path)`.""",
    ),
    "PS708": Explanation(
        means="""`nodes` names a node that the graph does not have, or gives one something that is not code. So
does a method with `yield`, or a function that is not `Mapped(function, flat=True)`: called, it
does nothing but make a generator. It is refused when it is called.""",
        why="""The node that was meant would pass messages on as if it had no code.""",
        example=_run("", nodes='{"cuont": str.upper}'),
        fix="""The names of the graph's nodes; for each a `Node` that was made, `Count()` and not `Count`, or a
function of one value.""",
    ),
    "PS709": Explanation(
        means="""`sources` names an edge that is not an input of the graph.""",
        why="""Messages would come in where the graph has nothing for them, and the input that was meant would be
closed.""",
        example=_run("", nodes="{}", sources='{"wrods": []}'),
        fix="""An edge without `from`. An input that no source is given for is closed from the start.""",
    ),
    "PS710": Explanation(
        means="""A source is an async iterable, and the engine does not run an event loop.""",
        why="""Only `asyncio` can wait for it.""",
        example=_run(
            """
async def words():
    yield 3, "a"

""",
            nodes="{}",
            sources='{"words": words}',
        ),
        fix="""`run(engine="asyncio")`, or an iterable.""",
    ),
    "PS711": Explanation(
        means="""There is no engine of this name.""",
        why="""Another one might make other promises: `sim` is deterministic, `threads` runs nodes side by side,
`asyncio` waits for many at once.""",
        example=_run("", nodes="{}", more='engine="thread"'),
        fix="""One of the engines that the hint lists.""",
    ),
    "PS712": Explanation(
        means="""The run was cancelled: the event that was given as `cancel` was set.""",
        why="""It is raised so that nobody takes the results of a part for those of the whole.""",
        example=Example(
            f"""\
{_BEGIN}from threading import Event

cancel = Event()
cancel.set()
Dataflow(graph, sources={{"words": [(3, "a")]}}).run(cancel=cancel)
""",
            "python",
        ),
        fix="""Nothing is wrong. What runs is finished first, and sinks are closed.""",
    ),
    "PS713": Explanation(
        means="""The run took longer than the `timeout` it was given, or than `--timeout` of `pointstamp run`.""",
        why="""It stops between two calls, as when it is cancelled; a call that never returns cannot be stopped
by `sim` and `threads`.""",
        example=_run(
            """
def words():
    while True:
        yield 3, "a"

""",
            nodes="{}",
            sources='{"words": words}',
            more="timeout=0.05",
        ),
        fix="""A longer timeout, or find out what takes so long: an observer is told of every call.""",
    ),
    "PS714": Explanation(
        means="""`Telemetry` needs OpenTelemetry, which is not installed.""",
        why="""Metrics that nobody collects would look like a run in which nothing happens.""",
        example=Example(
            """\
import sys

sys.modules["opentelemetry"] = None  # as if it were not installed
from progress.runtime.telemetry import Telemetry

Telemetry()
""",
            "python",
        ),
        fix="""`pip install 'pointstamp[telemetry]'`.""",
    ),
    "PS715": Explanation(
        means="""`workers`, `limit` or `ahead` is not a number, or less than one; a `timeout` is not a time; what
is to be called, asked or told cannot be; sources or sinks are not given by edge. Or a `seed` was
given to an engine that does not choose by it.""",
        why="""Without workers nothing would run, and where nothing may wait nothing can come. A run that took a
seed and did not use it would look as if it could be repeated.""",
        example=_run("", nodes="{}", more='engine="threads", workers=0'),
        fix="""One or more. `seed` is for `sim`, whose choices it decides.""",
    ),
    "PS747": Explanation(
        means="""A node is to take its messages in order (`ordered = True`, or for all nodes `Dataflow(...,
ordered=True)`), and the graph keeps it from that: it has calls, or says that the node is never
notified, or of other times alone.""",
        why="""Such a node waits until nothing can arrive any more that comes before what it has. A request of
the time of a message stands for that wait, and the graph has to allow it.""",
        example=Example(
            """\
from pointstamp import Dataflow, Graph

graph = Graph().node("count", notify=False)
graph.edge(None, "count", "words").edge("count", None, "counts")
Dataflow(graph, ordered=True).run()
""",
            "python",
        ),
        fix="""`notify: true` and `requests: identity` for that node, in a graph without calls; or
`Node.ordered` for the nodes alone in which order matters. Elsewhere the order of a kept run is
logged, and is the same when it goes on.""",
    ),
    "PS716": Explanation(
        means="""`sinks` names something by which nothing leaves: no output edge, and no side output of a source or
of an `on_error`.""",
        why="""The sink would stay empty, and what it was meant for would be in the results.""",
        example=_run("", nodes="{}", more='sinks={"cuonts": []}'),
        fix="""One of the names that the hint lists: edges without `to`; `late`, or the name that a policy gives
to what is late; the name of a `DeadLetter`.""",
    ),
    "PS717": Explanation(
        means="""`run(engine="asyncio")` was called inside a running event loop, as in a notebook or in an `async
def` function; or another engine was to wait for an `async def` method there.""",
        why="""One thread cannot run two event loops. Waiting for the run would hold up the loop that is there.""",
        example=Example(
            f"""\
{_BEGIN}import asyncio


async def main():
    return Dataflow(graph, sources={{"words": [(3, "a")]}}).run(engine="asyncio")


asyncio.run(main())
""",
            "python",
        ),
        fix="""`await dataflow.run_async(...)`, which takes the same parameters and runs in the loop that is
there.""",
    ),
    "PS718": Explanation(
        means="""`on_error` names a node that the graph does not have, or says something that cannot be done.""",
        why="""The node that was meant would stop the run at its first failure.""",
        example=Example(f'{_BEGIN}Dataflow(graph, on_error="ignore")\n', "python"),
        fix="""`Stop()`, `Retry(...)` or `DeadLetter(...)`, for all nodes and inputs; or a mapping with the names
of nodes and input edges, and `"*"` for all others.""",
    ),
    "PS719": Explanation(
        means="""What is late, or what failed at a node, would leave by a side output that has the name of an
output edge; or what is late would come in on an input edge that has a source of its own, or other
times.""",
        why="""Late and dead messages would stand among the results, at times that the edge has completed.""",
        example=Example(
            f"""\
{_BEGIN}from pointstamp import DeadLetter

Dataflow(graph, on_error=DeadLetter("counts"))
""",
            "python",
        ),
        fix="""Another name: `DeadLetter("refused")`, `explicit(items, late="too-late")`, or another one for the
edge.""",
    ),
    "PS720": Explanation(
        means="""A time policy was given something that it cannot work with: no values that are to be one time,
windows without width, a source that cannot be followed, or a silence of which nobody has said
what it completes.""",
        why="""The input would never advance, or advance to a time that nobody meant, and what came after that
would be late.""",
        example=Example(
            """\
from pointstamp import by_count

by_count(["a", "b", "c"], every=0)
""",
            "python",
        ),
        fix="""What the hint asks for. `with_idleness` knows what follows after a number; for other times it
needs the function `to`, or a policy to `follow`.""",
    ),
    "PS722": Explanation(
        means="""A node was given as an object, and what it holds cannot be copied: a lock, an open file, a
connection.""",
        why="""Each run works with nodes of its own, so that two runs of one dataflow do not mix what they keep.""",
        example=_run(
            """
import threading


class Count(Node):
    def __init__(self):
        self.lock = threading.Lock()

    def on_message(self, edge, time, value, out):
        with self.lock:
            out.send("counts", time, 1)

"""
        ),
        fix="""Give what makes the node: the class, `{"count": Count}`, or a function without arguments, as in
`lambda: Count(connection)`. It is called once a run; what it hands to its nodes, they share.""",
    ),
    "PS723": Explanation(
        means="""Two runs would share something that is one's at a time: a node that a factory gives twice, a
generator or another iterator, a sink that is told how a run goes, by `complete` or `close`, or an
observer that keeps what is of one run. Or two factories of a run give one object.""",
        why="""Each item of an iterator would reach one of the two, and a run that comes after the first would
find it empty, like an input without messages. A sink would be closed under the other run. A
`Display` would show the sum of two runs, and nobody could tell which is meant.""",
        example=Example(
            f"""\
{_BEGIN}
dataflow = Dataflow(graph, sources={{"words": iter([(3, "a")])}})
dataflow.run()
dataflow.run()
""",
            "python",
        ),
        fix="""Give what makes it anew: `sources={"words": lambda: iter(words)}`, a list, a sink for each run. A
list or a function as a sink takes what all runs give it.""",
    ),
    "PS724": Explanation(
        means="""A source raised an exception, or the function that makes an event time or a message of what came.
The failure names the input edge; with `JsonLines` also the file and the line.""",
        why="""A source that raises has nothing more to give. An event that is left out without a word is missing
from a result, and nobody would know.""",
        example=Example(
            f"""\
{_BEGIN}from pointstamp import by_event_time

events = by_event_time([{{"at": 3}}, {{}}], lambda event: event["at"])
Dataflow(graph, sources={{"words": events}}).run()
""",
            "python",
        ),
        fix="""Mend the source. Where malformed events are to be expected, `on_error={"words": DeadLetter()}`, or
`on_error=DeadLetter()` for all nodes and inputs, gives each of them to a side output, and the run
goes on. A source of your own says `Refused(value, error)` of such an event.""",
    ),
    "PS725": Explanation(
        means="""A place that keeps what leaves exactly once, such as a table of a database, cannot be reached or
does not take what it is given; the library that speaks with it is not installed; or somebody else
delivers there at the same time. The line names the sink's edge and its place, and says what the
place has said.""",
        why="""What was stored before it is stored, and nothing else is: a bundle is there as a whole, or not.
The run has not come to its end, and a run that is kept goes on from there.""",
        example=Example(
            f"""\
{_BEGIN}from pointstamp import SqliteTable

sink = SqliteTable("no/such/folder/counts.db", "counts")
Dataflow(graph, sources={{"words": [(0, "a")]}}, sinks={{"counts": sink}}).run()
""",
            "python",
        ),
        fix="""Mend the place, and begin the run again with the same folder of its state.""",
    ),
}
