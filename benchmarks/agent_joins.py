"""When LangGraph starts a join, as a table: `python -m benchmarks.agent_joins`, a part of `make bench`.

The graph and its three rules are `examples/pipelines/agent/with_langgraph.py`, which runs in the peers' environment.
What it found is kept beside it, and the table of the README there is made of that; this says whether it is still so.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import MissingPeer, in_peers_environment

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "pipelines" / "agent"
KEPT = EXAMPLE / "with_langgraph.json"
RULES = {
    "each": "by each branch (an edge from each)",
    "all": "by all branches (one edge from a list of them)",
    "last": "when nothing else is left to do (a deferred node)",
}
TIMES = ("never", "once", "twice")


def table(answered: dict[str, dict[str, list[list[str]]]]) -> str:
    """The table of the README: how often the join ran, and what had come since it ran last."""
    lines = ["| the join is started | `calculate` has something to do | it has not |", "|---|---|---|"]
    for rule, says in RULES.items():
        cells = [_cell(answered[rule][kind]) for kind in ("calculates", "does not")]
        lines.append(f"| {says} | {cells[0]} | {cells[1]} |")
    return "".join(f"{line}\n" for line in lines)


def _cell(runs: list[list[str]]) -> str:
    parts: list[str] = []
    before: set[str] = set()
    for heard in runs:
        names = [f"`{name}`" for name in ("recall", "calculate", "read") if name in heard and name not in before]
        before.update(heard)
        parts.append("after " + " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names))
    return f"{TIMES[len(runs)]}: {', again '.join(parts)}" if runs else TIMES[0]


def measured() -> dict[str, Any]:
    """What LangGraph does now."""
    found: dict[str, Any] = in_peers_environment(str(EXAMPLE / "with_langgraph.py"), None)
    return found


def main() -> None:
    """Print the table, and fail where it is another than the one that is kept."""
    print("when a join is started, on LangGraph", flush=True)
    try:
        found = measured()
    except MissingPeer as error:
        print(f"  {error}")
        return
    print(table(found["answered"]), end="")
    if found != json.loads(KEPT.read_text("utf-8")):
        sys.exit(f"this is not what {KEPT.name} has, and the README beside it")


if __name__ == "__main__":
    main()
