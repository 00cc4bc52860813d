"""pydantic-graph: graphs that do what nobody meant, each beside the one that is mended, and shapes of its own pages."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic_graph import Graph, GraphBuilder, StepContext, TypeExpression
from pydantic_graph.join import reduce_list_append, reduce_sum

LOG: list[Any] = []


def builder(output: Any = list) -> Any:
    return GraphBuilder(state_type=type(None), input_type=int, output_type=output)


def step(g: Any, name: str, function: Callable[[Any], Any] = lambda given: given) -> Any:
    async def run(ctx: StepContext[None, None, object]) -> object:
        LOG.append((name, ctx.inputs))
        return function(ctx.inputs)

    return g.step(run, node_id=name)


def diamond(joined: bool) -> Any:
    g = builder()
    s, a, b1, b2, fin = (step(g, name) for name in ("s", "a", "b1", "b2", "fin"))
    g.add(g.edge_from(g.start_node).to(s), g.edge_from(s).to(a, b1), g.edge_from(b1).to(b2))
    if joined:
        j = g.join(reduce_list_append, initial_factory=list, node_id="j")
        g.add(g.edge_from(a, b2).to(j), g.edge_from(j).to(fin))
    else:
        g.add(g.edge_from(a, b2).to(fin))
    g.add(g.edge_from(fin).to(g.end_node))
    return g.build()


unequal = diamond(False)
unequal_mended = diamond(True)


def forked_to_the_end() -> Any:
    g = builder()
    s, a, b = (step(g, name) for name in ("s", "a", "b"))
    g.add(g.edge_from(g.start_node).to(s), g.edge_from(s).to(a, b), g.edge_from(a, b).to(g.end_node))
    return g.build()


first_wins = forked_to_the_end()


def loop(waits: bool) -> Any:
    g = builder()
    gate, fast, slow, out = step(g, "gate"), step(g, "fast"), step(g, "slow"), step(g, "out")
    inc = step(g, "inc", lambda given: (given[0] if isinstance(given, list) else given) + 1)
    j = g.join(reduce_list_append, initial_factory=list, node_id="j")
    g.add(g.edge_from(g.start_node).to(gate), g.edge_from(gate).to(fast, slow), g.edge_from(inc).to(gate))
    if waits:
        again = (
            g.decision().branch(g.match(list, matches=lambda given: given[0] < 3).to(inc)).branch(g.match(list).to(out))
        )
        g.add(g.edge_from(fast, slow).to(j), g.edge_from(j).to(again))
    else:
        again = g.decision().branch(g.match(int, matches=lambda given: given < 3).to(inc)).branch(g.match(int).to(j))
        g.add(g.edge_from(fast).to(again), g.edge_from(slow).to(j), g.edge_from(j).to(out))
    g.add(g.edge_from(out).to(g.end_node))
    return g.build()


enters_again = loop(False)
enters_again_mended = loop(True)


def endless_loop() -> Any:
    g = builder()
    a, b = step(g, "a"), step(g, "b")
    g.add(g.edge_from(g.start_node).to(a), g.edge_from(a).to(b), g.edge_from(b).to(a))
    return g.build(validate_graph_structure=False)


endless = endless_loop()

# --- shapes of its documentation --------------------------------------------------------------------------------------


def counter() -> Any:
    g = builder(int)
    begin, more = step(g, "begin"), step(g, "more", lambda given: given + 1)
    again = (
        g.decision().branch(g.match(int, matches=lambda given: given < 5).to(more)).branch(g.match(int).to(g.end_node))
    )
    g.add(g.edge_from(g.start_node).to(begin), g.edge_from(begin, more).to(again))
    return g.build()


def mapped() -> Any:
    g = builder(int)
    items, square = step(g, "items", lambda given: [1, 2, 3]), step(g, "square", lambda given: given**2)
    total = g.join(reduce_sum, initial=0, node_id="total")
    g.add(g.edge_from(g.start_node).to(items), g.edge_from(items).map().to(square))
    g.add(g.edge_from(square).to(total), g.edge_from(total).to(g.end_node))
    return g.build()


def choice() -> Any:
    g = builder(str)
    pick = step(g, "pick", lambda given: "left")
    left, right = step(g, "left"), step(g, "right")
    either = (
        g.decision()
        .branch(g.match(TypeExpression[Literal["left"]]).to(left))
        .branch(g.match(TypeExpression[Literal["right"]]).to(right))
    )
    g.add(g.edge_from(g.start_node).to(pick), g.edge_from(pick).to(either), g.edge_from(left, right).to(g.end_node))
    return g.build()


def nested_forks() -> Any:
    g = builder()
    s, a, b, c, d, fin = (step(g, name) for name in ("s", "a", "b", "c", "d", "fin"))
    inner = g.join(reduce_list_append, initial_factory=list, node_id="inner")
    outer = g.join(reduce_list_append, initial_factory=list, node_id="outer")
    g.add(g.edge_from(g.start_node).to(s), g.edge_from(s).to(a, b), g.edge_from(a).to(c, d))
    g.add(g.edge_from(c, d).to(inner), g.edge_from(inner, b).to(outer), g.edge_from(outer).to(fin))
    g.add(g.edge_from(fin).to(g.end_node))
    return g.build()


counting, map_and_sum, decision, forks_in_forks = counter(), mapped(), choice(), nested_forks()
EXAMPLES = ["counting", "map_and_sum", "decision", "forks_in_forks"]
NOT_A_GRAPH = Graph
