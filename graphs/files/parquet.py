"""Graphs and frontiers as Parquet tables, with pyarrow (extra `spark`): columns are the keys of the file format.

The nodes' table has a column `id` (or `name`) besides; `time`, `summary`, `emits` and `requests` hold JSON text, where
a text that is no JSON is taken as it is, so that `feedback` needs no quotes of its own. The answer has the columns
`location` and `time` (JSON text).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from graphs.files.reading import EDGE_KEYS, NODE_KEYS, from_data
from graphs.graph import Graph
from progress.errors import PointstampError

NAME_COLUMNS = ("id", "name", "node")
JSON_COLUMNS = frozenset({"time", "summary", "emits", "requests"})


def graph_of_rows(nodes: Iterable[dict[str, Any]], edges: Iterable[dict[str, Any]], table: str) -> Graph:
    """The graph of rows of two tables; `table` is what complaints call that of the nodes."""
    named: dict[str, Any] = {}
    for row in nodes:
        column = next((column for column in NAME_COLUMNS if row.get(column) is not None), None)
        if column is None:
            raise PointstampError("PS007", f"{table}: a row has no name", f"a column {NAME_COLUMNS[0]}")
        name = _name(row.pop(column), table)
        if name in named:
            raise PointstampError("PS010", f"{table}: two rows are named {name!r}", "one row a node")
        named[name] = _given(row, NODE_KEYS)
    listed = [_given(row, EDGE_KEYS) for row in edges]
    return from_data({"pointstamp": 1, "nodes": named, "edges": listed})


def write_frontiers(path: str, frontiers: dict[str, list[Any]]) -> None:
    """Frontiers as a Parquet file, a row for each location and time."""
    arrow, parquet = _arrow()
    rows = [(location, json.dumps(time)) for location, times in frontiers.items() for time in times]
    table = arrow.table({"location": [row[0] for row in rows], "time": [row[1] for row in rows]})
    try:
        parquet.write_table(table, path)
    except OSError as error:
        raise PointstampError(
            "PS001", f"cannot write {path}: {error.strerror or error}", "a folder that exists"
        ) from None


def read_rows(path: str) -> list[dict[str, Any]]:
    """The rows of a Parquet file or folder; refused (PS001) where there is none. Cost: linear in them."""
    arrow, parquet = _arrow()
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except FileNotFoundError:
        raise PointstampError("PS001", f"cannot read {path}: no such file", "check the spelling") from None
    except (OSError, arrow.lib.ArrowException) as error:
        raise PointstampError("PS001", f"cannot read {path}: {str(error).splitlines()[0]}", "a Parquet file") from None
    return rows


def _given(row: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """The keys that have a value, JSON text read; other columns are kept and refused as unknown keys are."""
    given = {
        key: read_json(value) if key in JSON_COLUMNS and key in known else value
        for key, value in row.items()
        if value is not None
    }
    if isinstance(given.get("emits"), dict):  # a map of texts
        given["emits"] = {edge: read_json(summary) for edge, summary in given["emits"].items()}
    return given


def _name(value: Any, table: str) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise PointstampError("PS009", f"{table}: {value!r} is not a name", "text, or whole numbers")
    return str(value)


def read_json(value: Any) -> Any:
    """What a JSON text stands for; a text that is none stands for itself, a struct for the JSON that it would be."""
    if not isinstance(value, str):
        return _as_data(value)
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _as_data(value: Any) -> Any:
    """A nested value of a column as data: a map is a list of pairs there, and fields that are null are left out."""
    if isinstance(value, list) and value and all(isinstance(item, tuple) for item in value):
        value = dict(value)
    if isinstance(value, dict):
        return {key: _as_data(item) for key, item in value.items() if item is not None}
    return [_as_data(item) for item in value] if isinstance(value, list) else value


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise PointstampError("PS001", "Parquet files need pyarrow", "pip install 'pointstamp[spark]'") from None
    return pyarrow, pyarrow.parquet
