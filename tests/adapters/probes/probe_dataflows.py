"""The same node functions run by their tools and by `to_dataflow`; one JSON document."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

import operator  # noqa: E402

from agent_framework import Executor, WorkflowBuilder, WorkflowContext, handler  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.types import Command, Send  # noqa: E402

from graphs.adapters import to_dataflow  # noqa: E402
from progress.errors import PointstampError  # noqa: E402
from tests.adapters.graphs import agent_framework_faults as workflows  # noqa: E402
from tests.adapters.graphs import langgraph_faults as graphs  # noqa: E402

CLEAN = ["unequal_mended", "equal", "untaken_mended", "mixed_mended", "overtaken_mended", "endless_mended"]
FAULTY = ["unequal", "unequal_deferred", "untaken", "kept", "unrelated", "mixed", "overtaken"]


def ours(given: Any, *inputs: Any, **options: Any) -> list[Any]:
    dataflow = to_dataflow(given)
    results = dataflow.run(
        engine="asyncio", sources={"input": [((number,), value) for number, value in enumerate(inputs)]}, **options
    )
    return [value for _, value in results["result"]]


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    last: str


def logging(name: str) -> Any:
    return lambda state: {"log": [name], "last": name}


def sending() -> Any:
    """Send, and Command with declared ends."""
    g: Any = StateGraph(State)
    g.add_node("plan", logging("plan"))
    g.add_node("work", lambda given: {"log": [f"work {given['item']}"]})

    def decide(state: State) -> Command[Literal["more", "__end__"]]:
        return Command(goto="more" if len(state["log"]) < 6 else END, update={"log": ["decide"]})

    g.add_node("decide", decide)
    g.add_node("more", logging("more"))
    g.add_edge(START, "plan")
    g.add_conditional_edges("plan", lambda state: [Send("work", {"item": n}) for n in (1, 2, 3)], ["work"])
    g.add_edge("work", "decide")
    g.add_edge("more", "decide")
    return g.compile()


def beside() -> Any:
    """Two branches that do not meet before the end: each sees its own."""
    g: Any = StateGraph(State)
    for name in ("a1", "a2", "b1"):
        g.add_node(name, lambda state, name=name: {"log": [f"{name} saw {len(state['log'])}"]})
    g.add_edge(START, "a1")
    g.add_edge(START, "b1")
    g.add_edge("a1", "a2")
    return g.compile()


def writing_at_once() -> Any:
    g: Any = StateGraph(State)
    for name in ("a", "b"):
        g.add_node(name, logging(name))
        g.add_edge(START, name)
    return g.compile()


def astray() -> Any:
    g: Any = StateGraph(State)
    g.add_node("a", lambda state: Command(goto="b"))
    g.add_node("b", logging("b"))
    g.add_edge(START, "a")
    return g.compile()


def giving(update: Any) -> Any:
    g: Any = StateGraph(State)
    g.add_node("a", lambda state: update)
    g.add_edge(START, "a")
    return g.compile()


class Counts(Executor):
    """State of an executor's own, and state that all share."""

    def __init__(self) -> None:
        super().__init__(id="counts")
        self.seen = 0

    @handler
    async def go(self, m: int, ctx: WorkflowContext[int, str]) -> None:
        self.seen += 1
        ctx.set_state("seen", self.seen)
        await ctx.yield_output(f"{m} is number {ctx.get_state('seen')}")


def counting() -> Any:
    counts = Counts()
    return WorkflowBuilder(start_executor=counts, output_from=[counts]).build()


def refused(given: Any, *inputs: Any) -> str:
    try:
        ours(given, *inputs)
    except PointstampError as error:
        return str(error)
    return ""


def error_of(graph: Any) -> str:
    try:
        graph.invoke({"log": [], "last": ""})
    except Exception as error:
        return type(error).__name__
    return ""


async def theirs(workflow: Any, given: int) -> list[Any]:
    return list((await workflow.run(given)).get_outputs())


def main() -> None:
    first = {"log": [], "n": 0}
    answer: dict[str, Any] = {
        "tool": {name: getattr(graphs, name).invoke(first, {"recursion_limit": 50}) for name in CLEAN},
        "ours": {name: ours(getattr(graphs, name), first)[0] for name in CLEAN},
        "faulty": {name: ours(getattr(graphs, name), first, {"log": ["|"], "n": 1}) for name in FAULTY},
        "sending": [sending().invoke({"log": [], "last": ""}), ours(sending(), {"log": [], "last": ""})[0]],
        "beside": [beside().invoke({"log": [], "last": ""}), ours(beside(), {"log": [], "last": ""})[0]],
        "at_once": [error_of(writing_at_once()), ours(writing_at_once(), {"log": [], "last": ""})[0]],
        "astray": refused(astray(), {"log": [], "last": ""}),
        "blind": refused(7),
        "no_update": [refused(giving(update), {"log": [], "last": ""}) for update in (7, "to", [7], (("log",),))],
        "no_state": refused(giving({}), 7),
        "pairs": [
            giving(Command(update=[("log", ["x"])])).invoke({"log": [], "last": ""}),
            ours(giving(Command(update=[("log", ["x"])])), {"log": [], "last": ""})[0],
        ],
    }
    answer["workflows"] = {
        name: ours(getattr(workflows, name), 1, -1)
        for name in ("silent", "silent_mended", "untaken", "switched", "unequal", "unequal_mended")
    }
    answer["their_workflows"] = {
        name: asyncio.run(theirs(getattr(workflows, name), 1)) for name in ("silent_mended", "unequal_mended")
    }
    answer["counting"] = ours(counting(), 7, 8)
    print(json.dumps(answer))


main()
