"""Explanations of the codes of graphs with calls: PS016, PS017, PS411 to PS416 (A&I 3.4)."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_CALLS = "recursion: {in: entry, out: exit, calls: [again]}\n"


def _graph(nodes: str, edges: tuple[str, ...], recursion: str = _CALLS) -> Example:
    lines = "".join(f"  - {{{edge}}}\n" for edge in edges)
    return Example(f"pointstamp: 1\n{recursion}nodes: {nodes}\nedges:\n{lines}")


CALLS = {
    "PS016": Explanation(
        means="""The key `recursion` describes no calls of this graph: it names something that is not a
node, or not a graph, names one node for two purposes, or the same call twice.""",
        why="""Which nodes are calls decides what a time is. A misspelt call would be an ordinary node, and the
graph would not be recursive.""",
        example=_graph(
            "{entry: {}, again: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit"),
            "recursion: {in: entry, out: exit, calls: [agian]}\n",
        ),
        fix="""Name nodes of the graph: one for `in`, another one for `out`, others for `calls`.""",
    ),
    "PS017": Explanation(
        means="""A node or an edge of a graph with calls has a summary, or a time of its own.""",
        why="""In such a graph a time is a stack of calls. Calls and returns change it, and nothing else does;
what a summary would do to a stack is not defined (A&I 3.4).""",
        example=_graph(
            "{entry: {summary: {advance: 1}}, again: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit"),
        ),
        fix="""Leave it out. To tell many top-level calls apart, put an epoch in front of every stack:
`time: {product: [nat, stack]}` at the top.""",
    ),
    "PS411": Explanation(
        means="""No path leads from `in` to this node, so no run of the graph can ever reach it.""",
        why="""The order of stacks rests on it: that whatever is called may reach every node is how deep stacks
are compared without following every call (A&I 3.4).""",
        example=_graph(
            "{entry: {}, lost: {}, again: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit", "from: lost, to: exit"),
        ),
        fix="""Lead an edge to it from a node that `in` reaches, or remove it.""",
    ),
    "PS412": Explanation(
        means="""No path leads from this node to `out`, so a run that is there cannot end by itself.""",
        why="""The order of stacks rests on it: that whatever runs inside a call may get out of it (A&I 3.4).""",
        example=_graph(
            "{entry: {}, again: {}, log: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit", "from: again, to: log"),
        ),
        fix="""Lead an edge from it towards `out`, even if it rarely sends anything there, or remove it.""",
    ),
    "PS413": Explanation(
        means="""Every path from `in` to `out` goes through a call. Where several graphs call each other: every
path goes through a call that may never return.""",
        why="""A run would call a run that calls a run, and none could ever come back: there is no base case.""",
        example=_graph("{entry: {}, again: {}, exit: {}}", ("from: entry, to: again", "from: again, to: exit")),
        fix="""Add the path that is taken when nothing is called: `{from: entry, to: exit}`.""",
    ),
    "PS414": Explanation(
        means="""An edge enters `in`, or leaves `out`.""",
        why="""A run begins where it is called and ends where it returns. A message that came to `in` otherwise
would begin a run that nobody called; one that left `out` otherwise would not return (A&I 3.4).""",
        example=_graph(
            "{entry: {}, again: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit", "from: again, to: entry"),
        ),
        fix="""Let the edge enter a node after `in`, or leave a node before `out`; put one there if need be.""",
    ),
    "PS415": Explanation(
        means="""The graph has calls, and an edge joins it to the outside; but its times are stacks alone.""",
        why="""What comes from outside begins a top-level call each time. Without something in front of the
stack, all of these calls would be one, and none would ever be complete.""",
        example=_graph(
            "{entry: {}, again: {}, exit: {}}",
            ("from: entry, to: again", "from: again, to: exit", "from: entry, to: exit", "id: tasks, to: again"),
        ),
        fix="""`time: {product: [nat, stack]}` at the top gives every top-level call an epoch.""",
    ),
    "PS416": Explanation(
        means="""An edge joins two graphs that call each other.""",
        why="""A message would go from a run of one graph to a run of the other one that nobody called, at a
stack that says otherwise.""",
        example=_graph(
            "{a: {}, ask: {}, b: {}, c: {}, d: {}}",
            ("from: a, to: ask", "from: ask, to: b", "from: a, to: b", "from: c, to: d", "from: ask, to: d"),
            "recursion:\n  main: one\n  graphs:\n    one: {in: a, out: b, calls: {ask: two}}\n"
            "    two: {in: c, out: d, calls: {}}\n",
        ),
        fix="""Let graphs meet in calls alone: a call node stands in one graph and is listed there with the
graph that it runs.""",
    ),
}
