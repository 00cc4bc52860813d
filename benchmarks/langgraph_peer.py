"""LangGraph's supersteps through a ring of async nodes. Runs in the peers' environment; JSON in, JSON out.

A node waits once (`asyncio.sleep(0)`) and passes a token on that counts the nodes it came through. With one token, one
node runs in a superstep; with as many as there are nodes, all run in each. The graph is a `StateGraph` without a
checkpointer, compiled beforehand; each token is a key of its state, so that no two nodes write the same one, and where
one token goes round, a single node looks whether it has gone far enough. Measured is `ainvoke` with the recursion limit
raised, few supersteps taken from many; LangSmith's tracing is off.

What is comparable: in both a node runs when all that its superstep was to bring has come, and there is nothing that
LangGraph would keep between two supersteps. What is not: LangGraph merges the writes of a superstep into a state that
all nodes see, where this project's nodes have states and edges of their own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.graph import END, START, StateGraph


def ring(nodes: int, tokens: int, last: int) -> Any:
    """A compiled ring in which every token passes `last` nodes."""
    state = TypedDict("State", {f"token{number}": int for number in range(tokens)})  # type: ignore[misc]
    graph = StateGraph(state)
    alone = tokens == 1

    def passing(number: int) -> tuple[Callable[[Any], Any], Callable[[Any], str]]:
        taken, given = ("token0",) * 2 if alone else (f"token{number}", f"token{(number + 1) % nodes}")
        following = f"n{(number + 1) % nodes}"

        async def node(state: Any) -> Any:
            await asyncio.sleep(0)
            return {given: state[taken] + 1}

        return node, lambda state: END if state[given] >= last else following

    for number in range(nodes):
        node, further = passing(number)
        name, following = f"n{number}", f"n{(number + 1) % nodes}"
        graph.add_node(name, node)
        if number < tokens:
            graph.add_edge(START, name)
        if alone and number < nodes - 1:
            graph.add_edge(name, following)
        else:
            graph.add_conditional_edges(name, further, [following, END])
    return graph.compile()


def run(question: dict, supersteps: int) -> tuple[float, list[int]]:
    """The seconds of a run, and the tokens at its end."""
    tokens = question["tokens"]
    graph = ring(question["nodes"], tokens, supersteps)
    begin = {f"token{number}": 0 for number in range(tokens)}

    async def timed() -> tuple[float, Any]:
        started = time.process_time()
        state = await graph.ainvoke(begin, {"recursion_limit": supersteps + 2})
        return time.process_time() - started, state

    seconds, state = asyncio.run(timed())
    return seconds, sorted(state.values())


def main() -> None:
    """Answer the question on standard input: nodes, tokens, supersteps, how many to take off, repetitions."""
    question = json.load(sys.stdin)
    few, supersteps = question["few"], question["supersteps"]
    runs = [(run(question, few)[0], *run(question, few + supersteps)) for _ in range(question["repeat"])]
    seconds = median([many - less for less, many, _ in runs])
    json.dump({"seconds": seconds, "result": runs[0][2]}, sys.stdout)


if __name__ == "__main__":
    main()
