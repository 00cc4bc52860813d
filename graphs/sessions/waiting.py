"""What waits, as JSON data: the one form of it, for `pointstamp why`, the live view and replays (docs/why.md)."""

from __future__ import annotations

from typing import Any

from graphs.checking.check import folds_to_json, pairs
from graphs.files.notation import shown
from progress.plain import write_time
from progress.tracking.wait import LetGo, Wait, Waits

MOST_SHOWN = 20


def waits_to_json(waits: Waits, most: int = MOST_SHOWN) -> dict[str, Any]:
    """All that waits, the oldest `most` of them one by one. Cost: that of `wait_to_json` for each of these."""
    return {
        "waiting": len(waits),
        "ready": waits.ready,
        "steps": waits.steps,
        "waits": [wait_to_json(waits[place]) for place in range(min(most, len(waits)))],
    }


def wait_to_json(wait: Wait) -> dict[str, Any]:
    """One wait. Cost: its proof, and of an input a search backwards over the locations that lead to the request."""
    holder, let_go = wait.by, wait.let_go
    data: dict[str, Any] = {"request": pairs([wait.request])[0], "steps": wait.steps}
    if wait.age is not None:
        data |= {"since": wait.since, "age": round(wait.age, 3)}
    data["by"] = None
    if holder is not None:
        data["by"] = {
            "pointstamp": pairs([holder.pointstamp])[0],
            "kind": holder.kind,
            "holds": holder.holds,
            "proof": pairs(wait.proof),
            **folds_to_json(wait.way.folds),
        }
    data["held_by"] = wait.held_by
    data["let_go"] = None if let_go is None else _let_go_to_json(let_go)
    data["says"] = wait.sentence(shown)
    return data


def _let_go_to_json(let_go: LetGo) -> dict[str, Any]:
    data: dict[str, Any] = {"do": let_go.do, "location": let_go.location, "time": write_time(let_go.time)}
    if let_go.do == "close":
        data["past"] = None if let_go.past is None else [_bound(time) for time in let_go.past]
    elif let_go.do == "take":
        data |= {"node": let_go.node, "messages": let_go.messages}
    return data


def _bound(time: Any) -> Any:
    """A time of which coordinates may be unbounded: JSON has no infinite numbers."""
    if isinstance(time, tuple):
        return [_bound(part) for part in time]
    return "unbounded" if time == float("inf") else time
