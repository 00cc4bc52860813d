"""Explanations of PS6xx: questions that have no answer, or are none."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_LOOP = """\
cat > loop.yaml <<'END'
pointstamp: 1
nodes: {body: {}, again: {summary: {advance: 1}}}
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: again}
  - {id: back, from: again, to: body}
END
"""

QUESTIONS = {
    "PS601": Explanation(
        means="""The answer is a set of times that goes down for ever, so it has no earliest times to list. This
happens on times without a lower end (`int`) when a cycle moves times down. It is common in
graphs with calls: what comes back from a deeper call may come earlier, without end, and calls
that do not lead to each other are beside each other at any depth. The message names the location
and the first of these stacks.""",
        why="""Close-up (A&I 3.3) is told by its minimal times. Here every time has an earlier one; a program
that listed them would never end. The cycle is found and named instead, quickly.""",
        example=Example(
            """\
from pointstamp import close, from_data

graph = from_data({
    "pointstamp": 1,
    "time": "int",
    "nodes": {"body": {}, "retry": {"summary": {"advance": -1}}},
    "edges": [{"from": "body", "to": "retry"}, {"from": "retry", "to": "body"}],
})
close(graph, [("body", 0)])           # 0, -1, -2, ...
""",
            "python",
        ),
        fix="""Let the cycle keep or raise times; `pointstamp check` shows where it falls (PS201). If times
never are negative, say so: `nat` instead of `int` gives the fall an end. In a graph with calls
ask about single times, which always has an answer: `contains`, `could_result_in`, `complete`.""",
    ),
    "PS602": Explanation(
        means="""The `apply` of a summary that you wrote returned a value that is not in the domain of the edge
or node where it leads. Graph files cannot cause this; Python code can.""",
        why="""The engine compares times, and a value outside the domain compares to nothing, so every answer
after it would be wrong.""",
        example=Example(
            """\
from pointstamp import Graph, close

class Halve:
    def apply(self, time):
        return [time / 2]             # half of 3 is not a natural number

graph = Graph("nat").node("first", summary=Halve()).node("second").edge("first", "second")
close(graph, [("first", 3)])
""",
            "python",
        ),
        fix="""Return only times for which the target's `contains` is true, and nothing at all (`[]`) where
there is none: here `[time // 2]`.""",
    ),
    "PS603": Explanation(
        means="""Could-result-in asks for a path over distinct locations (A&I 3.1, Definition 2). Where Condition
2 fails, an exact answer may need to try very many such paths, and this question needed more
steps than its budget of 200,000, and 100 more for each edge.""",
        why="""No method is known that answers this quickly on every graph; the budget makes the refusal come
in a second or two. Where Condition 2 holds the question is always answered.""",
        example=Example(
            """\
from pointstamp import CouldResultIn, Graph

names = [f"n{number}" for number in range(10)]
graph = Graph("int")
for name in names:
    graph.node(name, summary={"advance": -1})
for source in names:
    for target in names:
        if source != target:
            graph.edge(source, target)
CouldResultIn(graph)(("n0", 0), ("n9", -10))   # a path with more steps than there are nodes?
""",
            "python",
        ),
        fix="""Mend the cycle that `pointstamp check` shows (PS201, PS202). If the question is whether
something may still happen at all, ask `close`, which follows cycles and needs no such search.""",
    ),
    "PS604": Explanation(
        means="""The closure has so many minimal times that no time is left to compare them all: more than
200,000 steps, and 100 more for each edge.""",
        why="""Times of several coordinates can be incomparable in great numbers, above all on a cycle that
raises one coordinate and lowers another. Some such closures have no finite form at all.""",
        example=Example(
            """\
from pointstamp import close, from_data

graph = from_data({
    "pointstamp": 1,
    "time": {"product": ["nat", "nat"]},
    "nodes": {"body": {}, "trade": {"summary": {"advance": [1, -1]}}},
    "edges": [{"from": "body", "to": "trade"}, {"from": "trade", "to": "body"}],
})
close(graph, [("body", (0, 1_000_000))])   # [1, 999999], [2, 999998], ...: a million times
""",
            "python",
        ),
        fix="""Mend the cycle that `pointstamp check` shows, order the coordinates with `lex`, or start from
fewer or lower times.""",
    ),
    "PS614": Explanation(
        means="""The registry was asked for a code that it does not have, by number or by name.""",
        why="""A program that ignores a misspelt code would ignore nothing, and nobody would notice.""",
        example=Example(
            """\
from graphs.codes import code

code("PS2O1")                         # with the letter O
""",
            "python",
        ),
        fix="""`pointstamp explain` without a code lists all of them. Names serve as well as numbers here:
`code("sends-into-the-past")`.""",
    ),
    "PS615": Explanation(
        means="""A node that is explored is a function (A&I 2.2): from a state and an event to the next state,
requests and messages. This one changed a state that can be hashed, does not do the same each
time, or has a state with an object in it that is equal to nothing but itself.""",
        why="""An exploration visits each state once. Where a state changes after it was visited, or never is
equal to one that was, states are taken for others, and what is said of all of them is wrong.""",
        example=Example(
            """\
from pointstamp import Graph, Message, check_behaviours

class Counts:
    def __init__(self):
        self.seen = 0

class Node:
    def initial(self):
        return [(Counts(), ())]

    def step(self, state, event):
        state.seen += 1                                  # of the state that it was given
        return state, (), {}

graph = Graph().node("count").edge(None, "count", "in")
check_behaviours(graph, {"count": Node()}, {"in": [Message(0)]})
""",
            "python",
        ),
        fix="""Let states be plain values, such as numbers, tuples and dictionaries, or dataclasses, which
compare by what is in them, and give back a new one. What cannot be hashed, as a dictionary, is
copied before each step, and may be changed. A node that runs is explored by its snapshots.""",
    ),
    "PS616": Explanation(
        means="""Two graphs were to be joined, or exchanged, by their interfaces alone (A&I 4.3): by what becomes
of a time between their edges to the outside. In this graph that cannot be composed: a domain or
summary on the way is one of your own, or the graph has calls, or there are too many ways.""",
        why="""Condition 2 is not local: two graphs that keep it may make one that does not. It can be judged by
interfaces only where these say exactly what becomes of every time.""",
        example=Example(
            """\
from pointstamp import Graph
from progress.semantics import interface_of

class Halved:
    def apply(self, time):
        return (time // 2,)

graph = Graph().node("half", summary=Halved()).edge(None, "half", "in").edge("half", None, "out")
interface_of(graph)
""",
            "python",
        ),
        fix="""Use the summaries of graph files on the ways between edges to the outside, or judge the whole:
join the two graphs, and check the result.""",
    ),
    "PS617": Explanation(
        means="""A function, a tracker or a dataflow is about a graph, and was given something else, such as the
name of the graph's file.""",
        why="""What a graph is read from, a file or plain data, is looked at once, with its complaints. Whatever
asks questions takes the graph that came of it.""",
        example=Example(
            """\
from pointstamp import Tracker

Tracker("loop.yaml")
""",
            "python",
        ),
        fix="""Tracker(load("loop.yaml")). A Graph made in code is given as it is; a graph of networkx through
from_networkx, a mapping from nodes to those before them through from_predecessors.""",
    ),
}
