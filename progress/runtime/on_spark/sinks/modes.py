"""What a run does with a place in which there is something already: the save modes, in the words of Spark."""

from __future__ import annotations

from typing import Any

from progress.errors import PointstampError, brief

ERROR, APPEND, OVERWRITE, IGNORE, OVERWRITE_PARTITIONS = "error", "append", "overwrite", "ignore", "overwritePartitions"
MERGE = "merge"
MODES = (ERROR, APPEND, OVERWRITE, IGNORE, OVERWRITE_PARTITIONS)


def checked_mode(mode: Any, modes: tuple[str, ...] = MODES) -> str:
    """A save mode; refused (PS780) is what is none.

    error : what another run has written there is refused, before anything happens
    append : rows are added, at times that are there already as well
    overwrite : the first time that is written takes the place of all that was there
    ignore : a time that is there already stays as it is, and is not computed
    overwritePartitions : a time that is written takes the place of what was there at this time
    merge : a row takes the place of the one with the same keys, or is added; in tables that can do that
    """
    if mode not in modes:
        raise PointstampError("PS780", f"{brief(mode)} is not a save mode here", "one of " + ", ".join(modes))
    return str(mode)


def there_already(what: str, holds: str) -> PointstampError:
    """A place in which there is something that this run has not written."""
    right = "another place; or mode=" + ", ".join(map(repr, MODES[1:])) + "; or the --state of that run, which goes on"
    return PointstampError("PS780", f"{what} holds {holds}", right)


def foreign(what: str, names: list[str]) -> PointstampError:
    """A folder in which there is what no sink has written."""
    more = "" if len(names) == 1 else f" and {len(names) - 1} more"
    return PointstampError(
        "PS780", f"{what} holds {brief(names[0])}{more}, not written by such a sink", "another place"
    )
