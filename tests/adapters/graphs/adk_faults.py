"""Google ADK: workflows that do what nobody meant, each beside the one that is mended, and shapes of its samples."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

warnings.simplefilter("ignore")

from google.adk.events.event import Event  # noqa: E402
from google.adk.workflow import DEFAULT_ROUTE, START, FunctionNode, JoinNode, Workflow  # noqa: E402

LOG: list[Any] = []


def node(
    name: str, does: Callable[[Any], Any] = lambda x: x, route: Callable[[Any], Any] | None = None, delay: float = 0.0
) -> Any:
    async def go(node_input: Any) -> Any:
        x = node_input if isinstance(node_input, (int, dict)) else 1
        await asyncio.sleep(delay)
        LOG.append((name, dict(sorted(x.items())) if isinstance(x, dict) else x))
        decided = route(x) if route else None
        return Event(output=does(x), **({} if decided is None else {"route": decided}))

    return FunctionNode(func=go, name=name)


def workflow(*edges: Any) -> Any:
    return Workflow(name="w", edges=list(edges))


def diamond(joined: bool) -> Any:
    s, a, b1, b2, end = (node(name) for name in ("s", "a", "b1", "b2", "end"))
    begin = ((START, s), (s, a), (s, b1), (b1, b2))
    if joined:
        j = JoinNode(name="j")
        return workflow(*begin, (a, j), (b2, j), (j, end))
    return workflow(*begin, (a, end), (b2, end))


unequal = diamond(False)
unequal_mended = diamond(True)


def choosing(joined: bool) -> Any:
    s, a, b, end = node("s", route=lambda x: "a"), node("a"), node("b"), node("end")
    j = JoinNode(name="j") if joined else node("j")
    return workflow((START, s), (s, {"a": a, "b": b}), (a, j), (b, j), (j, end))


untaken = choosing(True)
untaken_mended = choosing(False)


def loop(slow_in: set[int], by_route: bool) -> Any:
    gate = node("gate", route=(lambda x: ["fast", *(["slow"] if x in slow_in else [])]) if by_route else None)
    fast = node("fast", route=lambda x: "again" if x < 3 else "stop")
    slow, inc, j, end = node("slow", delay=0.05), node("inc", lambda x: x + 1), JoinNode(name="j"), node("end")
    begin = [(START, gate), (gate, {"fast": fast, "slow": slow})] if by_route else [(START, gate), (gate, (fast, slow))]
    return workflow(*begin, (fast, {"again": inc}), (inc, gate), (fast, j), (slow, j), (j, end))


overtaken = loop(set(), False)
silent_once = loop({2, 3}, True)
only_once = loop({1}, True)


def waiting() -> Any:
    gate, fast, slow = node("gate"), node("fast"), node("slow", delay=0.05)
    j, end = JoinNode(name="j"), node("end")
    decide = node("decide", does=lambda x: x["fast"], route=lambda x: "again" if x["fast"] < 3 else "stop")
    inc = node("inc", lambda x: x + 1)
    return workflow(
        (START, gate), (gate, (fast, slow)), (fast, j), (slow, j), (j, decide), (decide, {"again": inc, "stop": end}),
        (inc, gate),
    )  # fmt: skip


overtaken_mended = waiting()

# --- shapes of its samples --------------------------------------------------------------------------------------------


def sequence() -> Any:
    a, b, c = node("a"), node("b"), node("c")
    return workflow((START, a, b, c))


def parallel() -> Any:
    a, b, c, j, end = node("a"), node("b"), node("c"), JoinNode(name="j"), node("end")
    return workflow((START, (a, b, c), j, end))


def routes() -> Any:
    classify, bug, question, other, end = (node(name) for name in ("classify", "bug", "question", "other", "end"))
    return workflow(
        (START, classify), (classify, {"bug": bug, "question": question, DEFAULT_ROUTE: other}), (bug, end),
        (question, end), (other, end),
    )  # fmt: skip


def refine() -> Any:
    write, judge, done = node("write"), node("judge"), node("done")
    return workflow((START, write), (write, judge), (judge, {"revise": write, "accept": done}))


sequential, fan_out, routed, refined = sequence(), parallel(), routes(), refine()
EXAMPLES = ["sequential", "fan_out", "routed", "refined"]
NOT_A_GRAPH = 7
