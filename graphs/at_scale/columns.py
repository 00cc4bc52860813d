"""Tables of nodes and edges, as users have them, brought to one form: names as text, all else as JSON text.

The columns are those of `graphs.files.parquet`, and what is wrong with them has the codes that it has there: PS006 a
column that no graph has, PS007 a value of the wrong kind, PS009 what is not a name. Types are looked at in the schema;
rows are read only where that does not tell.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from graphs.at_scale.errors import wrong_table
from graphs.files.document import quoted
from graphs.files.notation import suggestion
from graphs.files.parquet import JSON_COLUMNS, NAME_COLUMNS
from graphs.files.reading import EDGE_KEYS, NODE_KEYS
from progress.errors import PointstampError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WHOLE = ("tinyint", "smallint", "int", "bigint")
NOTHING = "void"


def read_parquet(session: SparkSession, path: str | os.PathLike[str]) -> DataFrame:
    """A Parquet file or folder as a DataFrame; refused (PS001) where there is none."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    name = os.fspath(path)
    try:
        return session.read.parquet(name)
    except PySparkException as error:
        missing = "PATH_NOT_FOUND" in str(error.getCondition() or "")
        what = "no such file" if missing else str(error).splitlines()[0]
        hint = "check the spelling" if missing else "a Parquet file"
    except Py4JJavaError as error:
        what, hint = str(error.java_exception.getMessage()).splitlines()[0], "a Parquet file"
    raise PointstampError("PS001", f"cannot read {name}: {what}", hint)


def standard_nodes(nodes: DataFrame) -> DataFrame:
    """`id` (a number in the order of the rows), `name`, `time`, `summary`, `emits`, `requests`, `notifies`."""
    names = [column for column in NAME_COLUMNS if column in nodes.columns]
    if not names:
        raise PointstampError("PS007", "the table of nodes: a row has no name", f"a column {NAME_COLUMNS[0]}")
    _check_columns(nodes, "nodes", (*names, *NODE_KEYS))
    kinds = dict(nodes.dtypes)
    if kinds.get("notify", NOTHING) not in ("boolean", NOTHING):
        raise PointstampError("PS007", f"notify is a column of {kinds['notify']}", "true or false")
    _check_texts(kinds, ("label",), "PS007", "text")
    _check_texts(kinds, tuple(names), "PS009", "text, or whole numbers")
    _check_one_name(nodes, names)
    named = ", ".join(f"cast({_quoted(name)} AS string)" for name in names)
    notifies = "coalesce(notify, true)" if kinds.get("notify") == "boolean" else "true"
    return nodes.selectExpr(
        "monotonically_increasing_id() AS id",
        f"coalesce({named}) AS name",
        *(_json_column(kinds, key) for key in ("time", "summary", "emits", "requests")),
        f"{notifies} AS notifies",
    )


def standard_edges(edges: DataFrame) -> DataFrame:
    """`edge` (a number in the order of the rows), `name`, `source`, `target`, `time`."""
    _check_columns(edges, "edges", EDGE_KEYS)
    kinds = dict(edges.dtypes)
    if "from" not in kinds and "to" not in kinds:
        raise wrong_table("edges", "has neither a column from nor a column to", "the columns id, from, to, time")
    _check_texts(kinds, ("id", "from", "to"), "PS009", "text, or whole numbers")
    _check_texts(kinds, ("label",), "PS007", "text")

    def column(key: str) -> str:
        return f"cast({_quoted(key)} AS string)" if key in kinds else "cast(NULL AS string)"

    usual = f"concat(coalesce({column('from')}, ''), '->', coalesce({column('to')}, ''))"
    return edges.selectExpr(
        "monotonically_increasing_id() AS edge",
        f"coalesce({column('id')}, {usual}) AS name",
        f"{column('from')} AS source",
        f"{column('to')} AS target",
        _json_column(kinds, "time"),
    )


def _check_columns(table: DataFrame, which: str, known: tuple[str, ...]) -> None:
    """Columns that no graph has are refused where a row has a value in them, as keys of files are."""
    unknown = [column for column in table.columns if column not in known]
    if not unknown:
        return
    row = table.selectExpr(*(f"count({_quoted(column)})" for column in unknown)).first()
    assert row is not None
    for column, count in zip(unknown, row, strict=True):
        if count:
            raise PointstampError(
                "PS006", f"the table of {which}: unknown key {quoted(column)}", suggestion(column, known)
            )


def _check_one_name(nodes: DataFrame, names: list[str]) -> None:
    """A row takes its name from the first of these columns that has one; another name in it is an unknown key."""
    if len(names) < 2:
        return
    counted = " + ".join(f"int({_quoted(name)} IS NOT NULL)" for name in names)
    if nodes.where(f"{counted} > 1").head(1):
        raise PointstampError(
            "PS006", f"the table of nodes: unknown key {quoted(names[1])}", f"one of {', '.join(names)} in a row"
        )


def _check_texts(kinds: dict[str, str], keys: tuple[str, ...], code: str, right: str) -> None:
    whole = WHOLE if code == "PS009" else ()
    for key in keys:
        if kinds.get(key, NOTHING) not in ("string", NOTHING, *whole):
            raise PointstampError(code, f"{key} is a column of {kinds[key]}", right)


def _json_column(kinds: dict[str, str], key: str) -> str:
    kind = kinds.get(key, NOTHING)
    assert key in JSON_COLUMNS
    if kind == NOTHING:
        return f"cast(NULL AS string) AS {key}"
    nested = kind.startswith(("struct", "array", "map"))
    written = f"to_json({key})" if nested else f"cast({key} AS string)"
    return f"CASE WHEN trim({written}) = 'null' THEN NULL WHEN {written} = '' THEN '\"\"' ELSE {written} END AS {key}"


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
