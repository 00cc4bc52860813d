"""What leaves a run as JSON: times and values, in lines of a file and in cells of a table (docs/running.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.tables import is_table_type, rows_of


def _refuse(value: Any) -> Any:
    raise TypeError(f"{brief(value)} is not JSON")


encode: Callable[[Any], str] = json.JSONEncoder(allow_nan=False, default=_refuse).encode


def json_text(value: Any, what: str, name: str, time: Any) -> str:
    """A value as JSON; PS732 where it is none, which says that it is `what` and leaves at `name`, at `time`."""
    try:
        return encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        says = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        where = f"{what} {brief(value)} that leaves at {brief(name)}, at {brief(time)}"
        raise PointstampError(
            "PS732", f"{where}, cannot be written: {says}", "numbers, texts, lists, mappings"
        ) from None


def expanded(values: Sequence[Any]) -> Iterable[Any]:
    """The values, each table as its rows. With Spark the engine has done that where nothing else waits for it."""
    if not any(map(is_table_type, set(map(type, values)))):
        return values
    return chain.from_iterable(rows_of(value) if is_table_type(type(value)) else (value,) for value in values)
