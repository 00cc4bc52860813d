"""LangGraph: graphs that do what nobody meant, each beside the one that is mended. Plain functions, no models."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    n: Annotated[int, operator.add]


def build(nodes: str, *edges: tuple[Any, Any], defer: str = "", counts: str = "") -> Any:
    """Nodes by their names, which they log, with the round where `counts` names them; plain edges and list joins."""
    graph: Any = StateGraph(State)
    for name in nodes.split():

        def run(state: State, name: str = name) -> dict[str, Any]:
            counted = f"{name}{state['n']}" if counts else name
            return {"log": [counted], "n": int(name in counts.split())}

        graph.add_node(name, run, defer=name in defer.split())
    for source, target in edges:
        graph.add_edge(source, target)
    return graph


DIAMOND = ((START, "s"), ("s", "a"), ("s", "b1"), ("b1", "b2"), ("j", "after"), ("after", END))
unequal = build("s a b1 b2 j after", *DIAMOND, ("a", "j"), ("b2", "j")).compile()
unequal_mended = build("s a b1 b2 j after", *DIAMOND, (["a", "b2"], "j")).compile()
unequal_deferred = build("s a b1 b2 j after", *DIAMOND, ("a", "j"), ("b2", "j"), defer="j").compile()
equal = build("s a b j", (START, "s"), ("s", "a"), ("s", "b"), ("a", "j"), ("b", "j"), ("j", END)).compile()


def choosing(*joins: tuple[Any, Any], **options: Any) -> Any:
    graph = build("s a b j", (START, "s"), ("j", END), *joins)

    def route(state: State) -> Literal["a", "b"]:
        return "b" if state["n"] else "a"

    graph.add_conditional_edges("s", route)
    return graph.compile(**options)


untaken = choosing((["a", "b"], "j"))
untaken_mended = choosing(("a", "j"), ("b", "j"))
kept = choosing((["a", "b"], "j"), checkpointer=InMemorySaver())
kept_mended = choosing(("a", "j"), ("b", "j"), checkpointer=InMemorySaver())


def beside_a_loop(join: tuple[Any, Any], defer: str) -> Any:
    graph = build("s a L j", (START, "s"), ("s", "a"), ("s", "L"), ("j", END), join, defer=defer, counts="L")
    graph.add_conditional_edges("L", lambda state: "L" if state["n"] < 5 else END, ["L", END])
    return graph.compile()


unrelated = beside_a_loop(("a", "j"), "j")
unrelated_mended = beside_a_loop((["a"], "j"), "")


def looping(nodes: str, *edges: tuple[Any, Any], routers: dict[str, tuple[Callable[[State], Any], list[str]]]) -> Any:
    graph = build(nodes, *edges, counts="gate")
    for name, (router, ends) in routers.items():
        graph.add_conditional_edges(name, router, ends)
    return graph.compile()


mixed = looping(
    "gate fast slow j",
    (START, "gate"),
    ("fast", "gate"),
    (["fast", "slow"], "j"),
    ("j", END),
    routers={"gate": (lambda state: {1: "fast", 2: "slow"}.get(state["n"], END), ["fast", "slow", END])},
)
mixed_mended = looping(
    "gate fast slow j",
    (START, "gate"),
    ("gate", "fast"),
    ("gate", "slow"),
    (["fast", "slow"], "j"),
    routers={"j": (lambda state: "gate" if state["n"] < 3 else END, ["gate", END])},
)
overtaken = looping(
    "gate fast s1 s2 s3 j",
    (START, "gate"),
    ("gate", "fast"),
    ("gate", "s1"),
    ("s1", "s2"),
    ("s2", "s3"),
    (["fast", "s3"], "j"),
    ("j", END),
    routers={"fast": (lambda state: "gate" if state["n"] < 3 else END, ["gate", END])},
)
overtaken_mended = looping(
    "gate fast s1 s2 s3 j",
    (START, "gate"),
    ("gate", "fast"),
    ("gate", "s1"),
    ("s1", "s2"),
    ("s2", "s3"),
    (["fast", "s3"], "j"),
    routers={"j": (lambda state: "gate" if state["n"] < 3 else END, ["gate", END])},
)
endless = build("a b", (START, "a"), ("a", "b"), ("b", "a")).compile()
endless_mended = looping(
    "gate b",
    (START, "gate"),
    ("b", "gate"),
    routers={"gate": (lambda state: "b" if state["n"] < 3 else END, ["b", END])},
)
uncompiled = build("s a b1 b2 j after", *DIAMOND, ("a", "j"), ("b2", "j"))
inner = build("x unequal", (START, "x"), ("x", "unequal"), ("unequal", END))
nested = StateGraph(State)
nested.add_node("outer", unequal)
nested.add_edge(START, "outer")
nested_graph = nested.compile()
NOT_A_GRAPH = 7
