"""The graph of this example on LangGraph, with each of three rules for when its join starts; README.md has the table.

    python -m benchmarks.agent_joins

runs it where LangGraph is, in the environment of the benchmarks' peers, and prints the table. By itself it writes, as
JSON, what `answer` had heard each time that it ran, for one question whose search fails once before it comes back.
"""

import json
import operator
import os
import sys
from importlib.metadata import version
from typing import Annotated, TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.graph import END, START, StateGraph

RULES = ("each", "all", "last")
FAILS = 1  # how often the search fails before it finds something


class State(TypedDict):
    """What all nodes see."""

    adds: bool  # whether there is something to calculate
    attempt: int
    heard: Annotated[list[str], operator.add]  # from which branches something has come
    answered: Annotated[list[list[str]], operator.add]  # what `answer` had heard each time that it ran


def tools(state: State) -> list[str]:
    """Which tools have something to do: the calculator for some questions only."""
    return ["recall", "search", *(["calculate"] if state["adds"] else [])]


def search(state: State) -> dict[str, int]:
    """A tool that fails now and then."""
    return {"attempt": state["attempt"] + 1}


def further(state: State) -> str:
    """A search that failed is made again."""
    return "search" if state["attempt"] <= FAILS else "read"


def agent(rule: str):
    """The graph, its join started by each branch, by all of them, or when nothing else is left to do."""
    graph = StateGraph(State)
    graph.add_node("plan", lambda state: {})
    for branch in ("recall", "calculate", "read"):
        graph.add_node(branch, lambda state, branch=branch: {"heard": [branch]})
    graph.add_node("search", search)
    graph.add_node("answer", lambda state: {"answered": [state["heard"]]}, defer=rule == "last")
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", tools, ["recall", "search", "calculate"])
    graph.add_conditional_edges("search", further, ["search", "read"])
    if rule == "all":
        graph.add_edge(["recall", "calculate", "read"], "answer")
    else:
        for branch in ("recall", "calculate", "read"):
            graph.add_edge(branch, "answer")
    graph.add_edge("answer", END)
    return graph.compile()


def answered(rule: str, adds: bool) -> list[list[str]]:
    """What the join had heard each time that it ran, for one question."""
    begin = {"adds": adds, "attempt": 0, "heard": [], "answered": []}
    return [sorted(heard) for heard in agent(rule).invoke(begin)["answered"]]


if __name__ == "__main__":
    found = {rule: {"calculates": answered(rule, True), "does not": answered(rule, False)} for rule in RULES}
    json.dump({"version": version("langgraph"), "answered": found}, sys.stdout, indent=2)
    print()
