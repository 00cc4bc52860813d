"""Explanations of PS63x: models of failures and recovery that cannot be explored, claims that do not fit together."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_SUM = """\
from progress.recovery.model import Task, explore

def running_sum(total, number):
    return total + number, [total + number]
"""

_TRACE = """\
from progress.recovery.configuration import Program
from progress.recovery.construction import explain
from progress.recovery.model import Task
from progress.recovery.rules import Rule, Step
from progress.recovery.traces import Trace

def running_sum(total, number):
    return total + number, [total + number]
"""

MODELS = {
    "PS631": Explanation(
        means="""The tasks of a model are not what the implementation model has: two have one name or write one
stream, one reads a stream on which nothing is put, what they write comes back to them, or the
function of one does not answer with a pair of the next state and a list of events.""",
        why="""The model (Failure Transparency, Definition 6.8) begins with an acyclic graph of tasks, in which
every stream has one writer and every function makes finitely many events. Of anything else its
theorems say nothing.""",
        example=Example(
            _SUM
            + """
tasks = [Task("sums", running_sum, ["numbers", "back"], "totals", 0),
         Task("again", running_sum, ["totals"], "back", 0)]
explore(tasks, {"numbers": [[1, 3], [5]]})    # what is written to "totals" comes back
""",
            "python",
        ),
        fix="""Make what the message says. A loop has no place in this model: leave out the stream that closes
it, and give what comes back as a stream from outside.""",
    ),
    "PS632": Explanation(
        means="""The inputs of a model are not streams of epochs: a name with a list of epochs, each a list of
events.""",
        why="""Epochs are what snapshots are taken of. A flat list of events would be read as one epoch, or as
many, and either would be a guess.""",
        example=Example(
            _SUM
            + """
explore([Task("sums", running_sum, ["numbers"], "totals", 0)], {"numbers": [1, 3, 5]})
""",
            "python",
        ),
        fix="""Put the events of each epoch into a list of their own: `{"numbers": [[1, 3], [5]]}` are two
epochs, `[[1, 3, 5]]` is one. An epoch without events is `[]`.""",
    ),
    "PS633": Explanation(
        means="""A trace is not valid from where it starts: one of its steps cannot be applied, and the message
says which. Or what was given as the explanation of a trace does not explain it.""",
        why="""A trace stands for an execution (Failure Transparency, Definition 6.3). Without one there is
nothing to explain.""",
        example=Example(
            _TRACE
            + """
tasks = [Task("sums", running_sum, ["numbers"], "totals", 0)]
start = Program(tasks, {"numbers": [[1]]}).initial()
explain(Trace(start, (Step(Rule.RECOVER),)))    # nothing has failed that could recover
""",
            "python",
        ),
        fix="""Take traces from executions that were explored, `Trace.of(path)`, and change their order only by
permutations that keep causality (`progress.recovery.causality`).""",
    ),
    "PS634": Explanation(
        means="""Two claims that one system is explained by another do not fit together: they have no system in
the middle, one of them does not hold, or what is seen through a further view does not only grow.""",
        why="""Explanations are transitive, and whoever sees less sees them as well (Failure Transparency,
Lemmas 5.8 and 5.9): but only of what is explained, and with observations that are never undone.""",
        example=Example(
            """\
from progress.recovery.model import Task, explore
from progress.recovery.observability import Observability

def running_sum(total, number):
    return total + number, [total + number]

found = explore([Task("sums", running_sum, ["numbers"], "totals", 0)], {"numbers": [[1], [3]]})
odd = Observability("whether it is odd", lambda output: len(output) == 4)
found.transparency.through(odd)    # four messages are seen, and later not any more
""",
            "python",
        ),
        fix="""Join at the same exploration and the same observability function. A view has to keep the order
of what it sees: what was seen once stays seen.""",
    ),
    "PS635": Explanation(
        means="""What a rollback was asked of names a node, an edge or a time that the graph does not have, or a
node keeps states over times of which none is the least.""",
        why="""A kept set is given by its frontier, the minimal times that it does not have. Over times without
least ones no frontier stands for the empty set, to which every node must be able to go back.""",
        example=Example(
            """\
from pointstamp import Graph
from progress.recovery.rollback import Keeps, roll_back

graph = Graph().edge(None, "a", "in").node("a")
roll_back(graph, {"b": Keeps.states([[3]])})
""",
            "python",
        ),
        fix="Names and times of the graph; over `int`, `Keeps.anything()` for nodes without state.",
    ),
    "PS636": Explanation(
        means="""Two sets of times that a node has kept are not part of each other, and the node has not kept both
together: there may be several largest ways to go back, and none that is best.""",
        why="""Where kept sets are closed under union there is one greatest consistent choice. Without that, to
choose is as hard as satisfying clauses, and any answer would be as good as another.""",
        example=Example(
            """\
from pointstamp import Graph
from progress.recovery.rollback import Keeps, roll_back

graph = Graph(time={"product": ["nat", "nat"]}).edge(None, "a", "in").node("a")
roll_back(graph, {"a": Keeps.states([[(2, 0), (0, 1)], [(1, 0), (0, 2)]])})
""",
            "python",
        ),
        fix="""Save a state at the union, too, or only states of which each goes on from the one before: those
are a chain.""",
    ),
    "PS637": Explanation(
        means="""`classify` was given something that is not a system: it has no channels, or no machine for them,
or a channel is not a list of what comes in.""",
        why="""A guarantee is judged by what may leave with failures and without them, for the whole input and
for parts of it. So a system has to give a machine for any input.""",
        example=Example(
            """\
from progress.recovery.delivery import classify

classify("micro-batches")
""",
            "python",
        ),
        fix="""Give one of progress.recovery.protocols, or an object that has `channels`, for each channel what
comes in, and `machine(channels, failures)`.""",
    ),
}
