"""`python -m tests.reference.shrink_sessions SEED`: the first disagreement of one seed, made small."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.reference.against_reference import Tally
from tests.reference.against_sessions import Configuration, Disagreement, compare, replay
from tests.reference.random_sessions import Script

Case = tuple[dict[str, Any], Script, tuple[Configuration, ...], int | None]


def complaint(case: Case) -> str:
    """What is wrong when this is played, without its details; empty where nothing is."""
    try:
        replay(*case)
    except Exception as error:
        return f"{type(error).__name__} {str(error)[:9]}"
    return ""


def shrink(case: Case) -> Case:
    """Leave out one thing after the other as long as the complaint stays the same."""
    wanted = complaint(case)
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            if complaint(candidate) == wanted:
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    document, script, configurations, twin = case
    if twin is not None:
        yield document, script, configurations, None
    for start in range(1, len(configurations)):
        yield document, script, configurations[start:], twin
    if len(configurations) > 1:
        yield document, script, configurations[:1], twin
    for field in ("actions", "requests", "watched", "refused_starts"):
        for items in _without_one(getattr(script, field)):
            yield document, replace(script, **{field: items}), configurations, twin
    for number, action in enumerate(script.actions):
        if action[0] in ("apply", "with", "break"):
            for key, items in action[1].items():
                for fewer in _without_one(items) if isinstance(items, list | dict) else ():
                    actions = list(script.actions)
                    actions[number] = (action[0], {**action[1], key: fewer})
                    yield document, replace(script, actions=actions), configurations, twin
    yield from (
        (changed, script, configurations, twin)
        for change in (_without_edges, _without_nodes, _without_keys)
        for changed in change(document)
    )


def _without_one(items: Any) -> Iterator[Any]:
    if isinstance(items, dict):
        yield from ({key: value for key, value in items.items() if key != left_out} for left_out in items)
    else:
        yield from ([*items[:number], *items[number + 1 :]] for number in range(len(items)))


def _without_edges(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, edge in enumerate(document["edges"]):
        changed = copy.deepcopy(document)
        del changed["edges"][number]
        name = edge.get("id", f"{edge.get('from')}->{edge.get('to')}")
        for node in changed["nodes"].values():
            node.get("emits", {}).pop(name, None)
        yield changed


def _without_nodes(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in document["nodes"]:
        if all(name not in (edge.get("from"), edge.get("to")) for edge in document["edges"]):
            yield {**document, "nodes": {node: keys for node, keys in document["nodes"].items() if node != name}}


def _without_keys(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, keys in document["nodes"].items():
        for key in keys:
            less = {other: value for other, value in keys.items() if other != key}
            yield {**document, "nodes": {**document["nodes"], name: less}}


def main(seed: int, say: Callable[[str], None] = print) -> int:
    """Find, shrink and show; exit code 1 where there was a disagreement."""
    try:
        compare(seed, Tally())
    except Disagreement as found:
        say(str(found).partition("\n")[0])
        if not complaint(found.case):
            say("it does not come again in this process: the order of a set, perhaps")
        case = shrink(found.case)
        document, script, configurations, twin = case
        try:
            replay(*case)
        except Exception as error:
            say(f"{type(error).__name__}: {error}")
        say(f"replay(\n    {document!r},\n    {script!r},\n    {configurations},\n    {twin})")
        return 1
    say("no disagreement")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
