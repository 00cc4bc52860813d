"""What is outstanding, as data for a page: frontiers, queues, requests. The live view and films have it alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphs.drawing.layout import layout
from graphs.live.summary import Summary
from graphs.sessions.track import blocker_to_json, frontier_to_json
from graphs.sessions.waiting import wait_to_json, waits_to_json
from progress.plain import write_time
from progress.topology import NO_NODE, Network
from progress.tracker import Tracker
from progress.tracking.blocking import Blocker
from progress.tracking.wait import Waits

MOST_LOCATIONS = 2_000  # whose frontiers are shown all; of more, those on the border and those where something is
MOST_DRAWN = 3_000  # nodes and edges of a graph of which every node is drawn; of more, parts
ROOM = 18  # letters kept free in the picture for what changes, as `picture.js` has it
MOST_ROWS = 100  # of a table
MOST_BLOCKERS = 20
MOST_WAITS = 30  # of which is said who holds them


def summary_of(network: Network) -> Summary | None:
    """The parts of a graph that is too large for a picture of every node; None of others."""
    return Summary(network, ROOM) if len(network.nodes) + len(network.edges) > MOST_DRAWN else None


def graph_to_json(name: str, network: Network, summary: Summary | None) -> dict[str, Any]:
    """What does not change: names, ends, and the picture, of every node, or of parts, which are listed."""
    names = [*network.nodes, None]
    shown = {"picture": layout(network, room=ROOM).to_json()} if summary is None else summary.first
    return {
        "name": name,
        "nodes": list(network.nodes),
        "edges": [
            {"name": edge, "from": names[source], "to": names[target]}
            for edge, source, target in zip(network.edges, network.sources, network.targets, strict=True)
        ],
        "has_parts": summary is not None,
        **shown,
    }


def told_waits(waits: Waits, summary: Summary | None) -> dict[str, Any]:
    """What waits, the oldest one by one; in a large graph also by its parts."""
    parts = {} if summary is None else {"parts": summary.waits(waits)}
    return waits_to_json(waits, MOST_WAITS) | parts


def told_blockers(by: Sequence[Blocker]) -> dict[str, Any]:
    """Who blocks a request, the first so many of all."""
    return {"by": [blocker_to_json(blocker) for blocker in by[:MOST_BLOCKERS]], "all": len(by)}


def told_why(tracker: Tracker, node: str, time: Any) -> dict[str, Any]:
    """Who blocks one request, and how it waits."""
    found, wait = tracker.why(node, time), tracker.why().of(node, time)
    return {
        "blocked": found.blocked,
        **told_blockers(found.by),
        "wait": None if wait is None else wait_to_json(wait),
    }


def outstanding(tracker: Tracker, inside: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """All that is outstanding. `inside`: of nodes that have any, the messages that wait there and the calls being made.

    Cost: a frontier for each location that is shown, a look at all that is outstanding.
    """
    messages, pending, eligible = tracker.messages(), tracker.pending(), set(tracker.eligible())
    queued = by_edge(messages)
    requests: dict[str, int] = {}
    for node, _ in pending:
        requests[node] = requests.get(node, 0) + 1
    nodes = {name: [requests.get(name, 0), *inside.get(name, (0, 0))] for name in {**requests, **inside}}
    return {
        "queued": queued,
        "nodes": nodes,
        "frontiers": {name: frontier_to_json(tracker, name) for name in _shown(tracker.network, {*queued, *nodes})},
        "requests": [
            {"node": node, "time": write_time(time), "ready": (node, time) in eligible}
            for node, time in pending[:MOST_ROWS]
        ],
        "all_requests": len(pending),
        "blocked": len(pending) - len(eligible),
        "waiting": [
            {"edge": edge, "time": write_time(time), "count": count}
            for (edge, time), count in list(messages.items())[:MOST_ROWS]
        ],
        "all_waiting": sum(queued.values()),
    }


def by_edge(messages: Mapping[tuple[str, Any], int]) -> dict[str, int]:
    """How many messages are queued on each edge that has some."""
    queued: dict[str, int] = {}
    for (edge, _), count in messages.items():
        queued[edge] = queued.get(edge, 0) + count
    return queued


def _shown(network: Network, busy: set[str]) -> Sequence[str]:
    if len(network.nodes) + len(network.edges) <= MOST_LOCATIONS:
        return (*network.nodes, *network.edges)
    ends = zip(network.edges, network.sources, network.targets, strict=True)
    border = [name for name, source, target in ends if NO_NODE in (source, target)]
    return [*border[:MOST_LOCATIONS], *sorted(busy.difference(border))[:MOST_LOCATIONS]]
