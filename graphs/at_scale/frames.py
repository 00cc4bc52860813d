"""Rows of the driver as a frame. They are handed over by column and stand in its plan, so that joining them needs
neither a job nor a process of Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphs.at_scale.errors import too_large_a_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(session: SparkSession, rows: Sequence[Sequence[Any]], types: str) -> DataFrame:
    """A frame of these rows; `types` are its columns, as Spark writes them. Cost: that of the rows."""
    import pyarrow  # type: ignore[import-untyped]

    kinds = {
        "string": pyarrow.string(),
        "boolean": pyarrow.bool_(),
        "int": pyarrow.int32(),
        "bigint": pyarrow.int64(),
        "array<bigint>": pyarrow.list_(pyarrow.int64()),
    }
    columns = [column.split() for column in types.split(", ")]
    values: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(columns)
    try:
        table = [pyarrow.array(found, kinds[kind]) for found, (_, kind) in zip(values, columns, strict=True)]
    except OverflowError:
        raise too_large_a_number() from None
    except UnicodeEncodeError:  # a text from a command line that is not a text: it is the name of nothing
        return frame_of(session, [[_text(value) for value in row] for row in rows], types)
    frame: DataFrame = session.createDataFrame(pyarrow.table(table, names=[name.strip("`") for name, _ in columns]))
    return frame


def _text(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def numbers_frame(session: SparkSession, columns: dict[str, Any]) -> DataFrame:
    """A frame of long numbers, by column."""
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(numbers, pyarrow.int64()) for name, numbers in columns.items()})
    frame: DataFrame = session.createDataFrame(table)
    return frame
