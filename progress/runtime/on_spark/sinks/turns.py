"""Who may change what is committed in a folder: turns, each a number that is given once.

    FOLDER/_commits/turn-000001.json

A run whose mode replaces commits of others has to know all of them from its beginning to its end, and so has who puts
the files of several commits together (`compaction`). Each takes the next number, by a file that is made in one step
only if it is not there: of two that want the same number one gets it, whatever the two do in between, and the other
begins anew or is refused. A run takes its turn at its beginning, and says in the file when it is over; while it is not,
nothing is compacted. One that was killed goes on in its turn. A compaction takes its turn by its commit.

Numbers are not given twice, so a turn stays where it is: a small file each.
"""

from __future__ import annotations

import json
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder

COMMITS, TURN = "_commits", "turn-"
# what a turn of a run commits
NOTHING: dict[str, Any] = {"time": None, "folder": "", "files": [], "rows": 0, "columns": "{}"}


def is_turn(name: str) -> bool:
    """Whether a commit has the name of a turn."""
    return name.startswith(TURN) and name.endswith(".json") and "@" not in name


def next_turn(names: list[str]) -> str:
    """The name of the next turn, when these commits are there."""
    numbers = [int(name.removeprefix(TURN).removesuffix(".json")) for name in names if is_turn(name)]
    return f"{TURN}{1 + max(numbers, default=0):06d}.json"


def take(folder: Folder, run: str) -> str:
    """A run that replaces commits begins, or goes on: its turn. Cost: that of listing, and a file."""
    while True:
        names = folder.names(COMMITS)
        last = _last(folder, names)
        if last is not None and last[1].get("run") == run and not last[1]["is_over"]:
            return last[0]
        name = next_turn(names)
        if folder.write_new(f"{COMMITS}/{name}", json.dumps({**NOTHING, "run": run, "is_over": False})):
            return name


def end(folder: Folder, turn: str, run: str) -> None:
    """The run is over."""
    folder.write(f"{COMMITS}/{turn}", json.dumps({**NOTHING, "run": run, "is_over": True}))


def check_none_is_open(folder: Folder, names: list[str]) -> None:
    """Refuse (PS780) to compact while a run replaces commits. Cost: a file is read."""
    last = _last(folder, names)
    if last is not None and not last[1].get("is_over", True):
        what = f"in the folder {brief(folder.path)} a run replaces what others have written"
        right = f"its end; if it was killed, another start with its --state, or without one: rm {COMMITS}/{last[0]}"
        raise PointstampError("PS780", what, right)


def _last(folder: Folder, names: list[str]) -> tuple[str, dict[str, Any]] | None:
    name = max((name for name in names if is_turn(name)), default=None)
    return None if name is None else (name, json.loads(folder.read(f"{COMMITS}/{name}")))
