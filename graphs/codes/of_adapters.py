"""Explanations of PS9xx: graphs of other tools, read by adapters (docs/adapters.md)."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_LANGGRAPH = """\
cat > app.py <<'END'
from typing import Literal, TypedDict
from langgraph.graph import END, START, StateGraph

def work(state): return {}
def route(state) -> Literal["a", "b"]: return "a"

g = StateGraph(TypedDict("State", {"x": int}))
"""
_CHECK = "END\npointstamp check --from langgraph app:g\n"


def _graph(nodes: str, *lines: str) -> Example:
    """A LangGraph graph that shows a code, and the command that says so."""
    added = "".join(f'g.add_node("{name}", work)\n' for name in nodes.split())
    return Example(f"{_LANGGRAPH}{added}{''.join(f'{line}{chr(10)}' for line in lines)}{_CHECK}", "sh")


def _run(*lines: str, then: str = "") -> Example:
    """A LangGraph graph that cannot be run, and a program that runs it."""
    program = f"from graphs.adapters import to_dataflow\nto_dataflow(g){then}\nEND\npython app.py\n"
    return Example(f"{_LANGGRAPH}{''.join(f'{line}{chr(10)}' for line in lines)}{program}", "sh")


ADAPTERS = {
    "PS901": Explanation(
        means="""`check --from TOOL` names a tool that this project has no adapter for, or an adapter of your own
that cannot be called, or that does not give `graphs.adapters.Found`.""",
        why="""Nothing else knows how the graph of a tool is read.""",
        example=Example("pointstamp check --from langgraf app:graph\n", "sh"),
        fix="""One of the names in docs/adapters.md, or `module:function`, an adapter of your own.""",
    ),
    "PS902": Explanation(
        means="""The library of the tool is not installed in the environment in which the command runs.""",
        why="""Your graph is a Python object of that library. To read it, your code is imported, and that needs
what it was written for.""",
        example=Example("pointstamp check --from langgraph app:graph\n", "sh"),
        fix="""Install this project where your graph runs: `pip install 'pointstamp[langgraph]'`.""",
    ),
    "PS903": Explanation(
        means="""There is no such module, file or attribute, or what is there is not a graph of the tool.""",
        why="""A target that is misspelled would otherwise look like a graph without faults.""",
        example=Example(
            "printf 'def read(target): pass\\n' > own.py\npointstamp check --from own.py:raed app:graph\n", "sh"
        ),
        fix="""`module:attribute`, as Python imports it from the current folder, or `path/to/file.py:attribute`.""",
    ),
    "PS904": Explanation(
        means="""The code that defines the target, or the adapter of your own, raised an exception. The line says
which, and where.""",
        why="""A graph that cannot be built cannot be read.""",
        example=Example("printf 'x = 1 / 0\\n' > own.py\npointstamp check --from own.py:read app:graph\n", "sh"),
        fix="""Mend what it says. Code that needs a key of a service, or a model, to build its graph can be given
a stand-in: nothing of the graph is run.""",
    ),
    "PS905": Explanation(
        means="""A graph is to be run by `to_dataflow`, and a router of it declares no ends, or a node goes to one
that it has not declared.""",
        why="""A join is complete when nothing can come any more. Whoever may go anywhere may always still come.""",
        example=_run(
            'g.add_node("a", work)', 'g.add_edge(START, "a")', 'g.add_conditional_edges("a", lambda state: "a")'
        ),
        fix="""Declare it: a list of ends, or a return annotation, as for PS919.""",
    ),
    "PS906": Explanation(
        means="""A graph of LangGraph is run by `to_dataflow`, and one of its nodes gives neither a dict nor
anything else that says which parts of the state it changes; or a run begins with such a value.""",
        why="""The state is made of updates by name. Of a bare value nobody knows where it belongs.""",
        example=_run(
            'g.add_node("a", lambda state: 7)',
            'g.add_edge(START, "a")',
            then='.run(engine="asyncio", sources={"input": [((0,), {})]})',
        ),
        fix="""Give a dict of what changes, as `{"log": [7]}`; `None` where nothing does.""",
    ),
    "PS911": Explanation(
        means="""Two ways part at one node, both may be taken, and they meet again at a node that does not wait for
both: it runs once for each. An error where both are always taken, a warning where somebody
decides. Where the tool runs a node once for all that comes in one step, only ways of different
length are told.""",
        why="""The first run sees half of what was to be joined, and everything after the join happens twice:
two answers, two bookings.""",
        example=_graph(
            "s a b1 b2 j",
            'for edge in ["s a", "s b1", "b1 b2", "a j", "b2 j"]: g.add_edge(*edge.split())',
            'g.add_edge(START, "s")',
        ),
        fix="""A join that waits: in LangGraph `add_edge(["a", "b2"], "j")` instead of an edge from each; in
agent-framework `add_fan_in_edges`; in ADK a `JoinNode`; in pydantic-graph `g.join`.""",
    ),
    "PS912": Explanation(
        means="""A join waits for all of its sources, and somebody may decide so that one of them comes and another
one does not. An error where it is so whatever is decided.""",
        why="""The join never runs, nor does what follows it, and the tool calls the run finished: no error, an
empty result.""",
        example=_graph(
            "s a b j",
            'g.add_edge(START, "s"); g.add_conditional_edges("s", route)',
            'g.add_edge(["a", "b"], "j"); g.add_edge("j", END)',
        ),
        fix="""Where only one branch comes, an edge from each: `add_edge("a", "j")` and `add_edge("b", "j")`.
Where both are needed, let the decision go to both.""",
    ),
    "PS913": Explanation(
        means="""A join in a loop may put what one source sent in a round together with what another one sent in a
later round, or in a later run: it counts senders, not rounds. Either a decision leaves a source
out in one round, or nothing in the loop waits for the join.""",
        why="""The answer is made of parts that do not belong together, and nothing shows it.""",
        example=_graph(
            "gate fast slow j",
            'g.add_edge(START, "gate"); g.add_edge("fast", "gate"); g.add_edge("j", END)',
            'g.add_conditional_edges("gate", lambda state: END, ["fast", "slow", END])',
            'g.add_edge(["fast", "slow"], "j")',
        ),
        fix="""Let every round go to all sources of the join or to none, and let the loop go on after the join.
Or run it with `to_dataflow`, where a join is complete for a round when nothing of that round can
come any more.""",
    ),
    "PS914": Explanation(
        means="""A loop has no way out: whatever is decided, each round is followed by another one.""",
        why="""It runs, and costs what its models cost, until the tool's limit of steps ends the run with an
error. Some tools have no limit.""",
        example=_graph("a b", 'g.add_edge(START, "a"); g.add_edge("a", "b"); g.add_edge("b", "a")'),
        fix="""A condition with a way out, like `add_conditional_edges("b", again, ["a", END])`.""",
    ),
    "PS915": Explanation(
        means="""A node is to run when nothing else does (`defer=True`), and at the same time a loop may run that
leads nowhere near it.""",
        why="""It waits for the whole loop, and takes nothing from it: an answer that is ready comes late, or,
where the loop waits for somebody, never.""",
        example=_graph(
            "s a loop",
            'g.add_node("j", work, defer=True)',
            'for edge in ["s a", "s loop", "a j"]: g.add_edge(*edge.split())',
            'g.add_edge(START, "s"); g.add_conditional_edges("loop", lambda s: END, ["loop", END])',
        ),
        fix="""Say what it waits for: `add_edge(["a"], "j")` instead of `defer=True`.""",
    ),
    "PS919": Explanation(
        means="""Something of the graph is decided only while it runs: a router that declares no ends, a `Command`,
a `Send`, a selection. It was left out and not guessed.""",
        why="""What is said of the graph holds for the rest of it. A fault that hangs on the part that is unknown
is not found.""",
        example=_graph("s a b", 'g.add_edge(START, "s")', 'g.add_conditional_edges("s", lambda state: "a")'),
        fix="""Declare it where the tool lets you: a list of ends, a return annotation like `-> Literal["a"]` or
`-> Command[Literal["a"]]`. Otherwise leave it as it is: a note is not a fault.""",
    ),
}
