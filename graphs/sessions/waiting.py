"""What waits, as JSON data and as text: for `pointstamp why`, the live view and replays (docs/why.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphs.sessions.track import blocker_to_json
from graphs.wording import elided, printable, shown_time
from progress.plain import pairs, write_time
from progress.tracker import Tracker
from progress.tracking.wait import LetGo, Wait, Waits
from progress.way import folds_to_json

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
    data["says"] = wait.sentence(_said)
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


def why_to_json(tracker: Tracker, node: str, time: Any) -> dict[str, Any]:
    """All that holds a request, pending or not, and its wait where it waits."""
    found = tracker.why(node, time)
    wait = tracker.why().of(node, time)
    return {
        "request": [node, write_time(time)],
        "blocked": found.blocked,
        "by": [blocker_to_json(blocker) for blocker in found.by],
        "wait": None if wait is None else wait_to_json(wait),
    }


# --- text -------------------------------------------------------------------------------------------------------------


def render(found: dict[str, Any]) -> str:
    """For the terminal: the one request that was asked for, or all that waits. All of it data, maybe of a stranger."""
    lines = [f"{printable(found['of'])} {printable(found['stands'])}"]
    if "why" in found:
        return "\n".join([*lines, *_one(found["why"])]) + "\n"
    waiting, ready = found["waiting"], found["ready"]
    are = f"{waiting} request{' waits' if waiting == 1 else 's wait'}" if waiting else "nothing waits"
    lines[0] += f": {are}" + (f", {ready} ready to be delivered" if ready else "")
    for wait in found["waits"]:
        lines += ["", printable(wait["says"]), *_way(wait["by"])]
    if waiting > len(found["waits"]):
        lines += ["", f"and {waiting - len(found['waits'])} more"]
    return "\n".join(lines) + "\n"


def _one(why: dict[str, Any]) -> Iterable[str]:
    wait, by = why["wait"], why["by"]
    node, time = why["request"]
    if wait is not None:
        yield from ["", printable(wait["says"]), *_way(wait["by"])]
        yield from ["", "All that holds it"]
    elif by:
        yield from ["", f"{_said(node)} at {_shown(time)} was not asked for. It would wait for"]
    else:
        yield from ["", f"{_said(node)} at {_shown(time)} does not wait"]
    yield from blocker_lines(by, "  ")


def _way(by: dict[str, Any] | None) -> list[str]:
    return [] if by is None else list(blocker_lines([by], "  "))


def blocker_lines(blockers: Sequence[dict[str, Any]], indent: str) -> Iterable[str]:
    """Who holds something, each in a line with its proof."""
    for blocker in blockers:
        steps = [f"{printable(name)} {_shown(time)}" for name, time in blocker["proof"]]
        for fold in blocker.get("folds", ()):
            steps[fold["after"]] += f" -> ({fold['times']} times {' -> '.join(map(printable, fold['cycle']))})"
        name, time = blocker["pointstamp"]
        yield f"{indent}{printable(blocker['kind'])} {printable(name)} {_shown(time)}: {' -> '.join(steps)}"


def _said(value: Any) -> str:
    """A name as it is, a time as JSON: both safe, and not too long."""
    return printable(elided(value, 80)) if isinstance(value, str) else _shown(write_time(value))


def _shown(value: Any) -> str:
    return shown_time(value, 1_000)
