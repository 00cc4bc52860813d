"""A ParquetSink without Spark: the same folder, commits and modes, its files written by Arrow."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.sinks.by_time import ByTime
from progress.runtime.on_spark.sinks.parquet import FILE, Commits
from progress.runtime.on_spark.tables.arrow import Columns, arrow, arrow_of
from progress.runtime.on_spark.tables.schemas import check_columns


class Rows:
    """A table of Arrow that is to be written."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.schema = Columns.of(table.schema)


class ArrowByTime(ByTime):
    """The sink of one edge or side output in one run, without Spark."""

    def _together(self, values: Sequence[Any]) -> Rows:
        try:
            tables = [_table(value) for value in values if not isinstance(value, Mapping)]
            rows = [dict(value) for value in values if isinstance(value, Mapping)]
            if rows:
                tables.append(arrow().Table.from_pylist(rows))
            for table in tables[1:]:
                check_columns(self._what, Columns.of(tables[0].schema), Columns.of(table.schema))
            return Rows(arrow().concat_tables([table.select(tables[0].column_names) for table in tables]))
        except (TypeError, ValueError) as error:  # what Arrow raises is one of them
            what = f"{self._what} has {brief(values[0])}: {error}"[:300]
            raise PointstampError("PS773", what, "a DataFrame, or rows that are mappings") from None

    def _opened(self, time: Any) -> AbstractContextManager[None]:
        return nullcontext()


class ArrowCommits(Commits):
    """The commits of one run in a folder of this machine."""

    def _reached(self, folder: str | os.PathLike[str]) -> Folder:
        return Folder(None, folder)

    def _known(self, columns: str) -> Columns:
        return Columns.from_json(columns)

    def _written(self, rows: Rows, attempt: str) -> int:
        from pyarrow import parquet  # type: ignore[import-untyped]

        place = self._folder.place(attempt)
        Path(place).mkdir(parents=True)
        parquet.write_table(rows.table, Path(place) / FILE)
        return int(rows.table.num_rows)


def _table(value: Any) -> Any:
    if type(value).__module__.startswith("pandas."):
        return arrow_of(value)
    if hasattr(value, "toArrow"):  # of Spark: a node has started it
        return value.toArrow()
    raise TypeError(f"a {type(value).__name__} is not a table")
