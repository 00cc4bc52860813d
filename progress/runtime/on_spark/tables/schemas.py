"""Columns that have to be the same, and several values as one DataFrame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.tables.unions import union_of
from progress.runtime.tables import is_of_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from progress.runtime.on_spark.tables.arrow import Columns


def check_columns(what: str, wanted: StructType | Columns, found: StructType | Columns) -> None:
    """Refuse (PS773) columns with other names or types; their order, and whether they may be null, does not matter."""
    before = {field.name: field.dataType.simpleString() for field in wanted.fields}
    now = {field.name: field.dataType.simpleString() for field in found.fields}
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            has = f"{brief(name)} as {now[name]}" if name in now else f"no column {brief(name)}"
            right = f"{brief(name)} as {before[name]}" if name in before else f"no column {brief(name)}"
            raise PointstampError("PS773", f"{what} has {has}", f"{right}, as what came before")


def together(what: str, values: Sequence[Any]) -> DataFrame:
    """The rows of several DataFrames of the same columns as one; other values are rows, or pandas DataFrames.

    Cost: nothing is computed; rows that are in this process are sent to Spark.
    """
    frames = [value for value in values if is_of_spark(value)]
    rows = [value for value in values if not is_of_spark(value)]
    if rows:
        frames += _of_rows(what, rows)
    return union_of(frames, lambda first, other: check_columns(what, first.schema, other.schema))


def columns_in(text: str) -> StructType:
    """The columns that a text says, as `StructType.json` writes them."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(text))


def _of_rows(what: str, rows: list[Any]) -> list[DataFrame]:
    from pyspark.errors import PySparkException

    from progress.runtime.on_spark.session import start_session
    from progress.runtime.on_spark.tables.arrow import arrow_of, in_utc

    session = start_session(graphframes=False)
    tables = [row for row in rows if type(row).__module__.startswith("pandas.")]
    plain = [row for row in rows if not type(row).__module__.startswith("pandas.")]
    try:
        found = [
            session.createDataFrame(
                table if len(table) else in_utc(arrow_of(table))
            )  # without rows Spark sees no types
            for table in _gathered(tables)
            if len(table.columns)
        ]
        if plain:
            found.append(session.createDataFrame(plain))
    except (PySparkException, TypeError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise PointstampError("PS773", f"{what} has {brief(rows[0])}: {error}"[:300], "a DataFrame, or rows") from None
    return found


def _gathered(tables: list[Any]) -> list[Any]:
    """DataFrames of pandas, those of one kind as one: a thousand small ones are not a thousand plans.

    Cost: that of copying, and a look at every value of columns of objects.
    """
    import pandas  # type: ignore[import-untyped]

    by_kind: dict[Any, list[Any]] = {}
    for table in tables:
        by_kind.setdefault(_kind(table), []).append(table)
    return [those[0] if len(those) == 1 else pandas.concat(those, ignore_index=True) for those in by_kind.values()]


def _kind(table: Any) -> Any:
    """The same for tables that become the same columns, alone and together; of its own where that is not known."""
    from pandas.api.types import infer_dtype  # type: ignore[import-untyped]

    if not len(table) or len(set(table.columns)) < len(table.columns):
        return id(table)
    kinds = [(name, str(kind)) for name, kind in table.dtypes.items()]
    objects = [(name, infer_dtype(table[name], skipna=True)) for name, kind in kinds if kind == "object"]
    return (*kinds, *objects) if all(kind in ("string", "date") for _, kind in objects) else id(table)
