"""A FileSource without Spark: the same files, looks, times and refusals; tables of pandas, read by Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from progress.errors import PointstampError, brief
from progress.order import NO_TIME
from progress.runtime.checkpoint import Beside
from progress.runtime.on_spark.arrow_tables import Columns, arrow, pandas_of, schema_of
from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.schemas import check_columns
from progress.runtime.on_spark.sources_files import FileItems, Found
from progress.runtime.on_spark.sources_looks import Look, Looks
from progress.runtime.on_spark.sources_positions import in_order
from progress.runtime.on_spark.sources_times import Reading, no_times, time_of

FORMS = ("parquet", "orc", "csv", "json")
OPTIONS = ("header", "sep", "delimiter", "mode")  # of Spark's reader, that are read here as there


class ArrowItems(FileItems):
    """The items of one run. Cost of a message: its files are read when it is handed on."""

    def keep_beside(self, beside: Beside, edge: str) -> None:
        self._looks = Looks(beside.file(edge), edge)  # the tables are in the checkpoint as other values are

    @property
    def _folder(self) -> Folder:
        if self._reached is None:
            self._reached = Folder(None, self._source.folder)
            self._check_form()
        return self._reached

    def _check_form(self) -> None:
        source = self._source
        if source.form not in FORMS:
            what = f"files of {source.form} are not read without Spark"
            raise PointstampError("PS774", what, f"{', '.join(FORMS)}; or engine='spark'")
        for name, value in source.options.items():
            if name.lower() not in OPTIONS or (name.lower() == "mode" and str(value).upper() != "FAILFAST"):
                what = f"the option {name}={value} of Spark's reader means nothing without Spark"
                raise PointstampError("PS774", what, "engine='spark', or the options header and sep")

    def _found(self, names: Sequence[str]) -> tuple[list[Found], Any]:
        source = self._source
        if source.column is None:
            by_time = self._by_time(names).items()
            return [Found(time, pandas_of(self._table(those)), (those, None)) for time, those in by_time], None
        if not names:
            return [], None
        assert isinstance(source.column, str)
        table = self._table(names)
        if source.column not in table.column_names:
            what = f"the source of {brief(self._edge)} has no column {brief(source.column)}"
            raise PointstampError("PS774", what, f"one of {', '.join(table.column_names)}")
        return self._by_column(table, Reading(source.column, self._edge, self._domain, source.to, source.aside))

    def _by_column(self, table: Any, reading: Reading) -> tuple[list[Found], Any]:
        """The rows of each time, and those that have none. Cost: O(rows); `to` is asked once for each value."""
        places: dict[Any, list[int]] = {}
        for place, value in enumerate(table[reading.time].to_pylist()):
            places.setdefault(_hashable(value), []).append(place)
        found: dict[Any, list[int]] = {}
        wrong: list[Any] = []
        without: list[int] = []
        for value, those in places.items():
            time = NO_TIME if value is None else time_of(value, reading)
            if time is NO_TIME:
                wrong.append(value)
                without += those
            else:
                found.setdefault(time, []).extend(those)
        if wrong and reading.aside is None:
            nulls = places.get(None)
            refused = nulls if nulls is not None else without
            raise no_times(reading, wrong, len(refused), brief(table.take(refused[:1]).to_pylist()[0]))
        counts = self._source.counts
        for time, those in found.items():
            counts[time] = counts.get(time, 0) + len(those)
        times = in_order(self._domain, found)
        new = [Found(time, pandas_of(table.take(sorted(found[time]))), ([], None)) for time in times]
        return new, pandas_of(table.take(sorted(without))) if without else None

    # --- files -------------------------------------------------------------------------------------------------------

    def _check(self, names: Sequence[str]) -> None:
        """Refuse new files that cannot be read so. Cost: without a schema, each is opened for its columns."""
        for name in names:
            if self._source.column is None:
                self._time(name)
            if self._source.schema is None:
                found = Columns.of(self._dataset([name]).schema)
                if self._columns is None:
                    self._columns = found
                check_columns(f"the file {brief(name)} of {brief(self._edge)}", self._columns, found)

    def _unread(self, names: Sequence[str]) -> PointstampError | None:
        """Why not all rows of these files can be read. Cost: that of reading them."""
        try:
            self._table(names)
        except PointstampError as error:
            return error
        return None

    def _is_of_a_file(self, error: PointstampError) -> bool:
        """Nobody else reads, so it is."""
        return True

    def _take_columns(self, look: Look) -> None:
        if look.columns is not None:
            self._columns = Columns.from_json(look.columns)

    def _table(self, names: Sequence[str]) -> Any:
        """The rows of some files. A file that cannot be read is named (PS774)."""
        tables = []
        for name in names:
            dataset = self._dataset([name])
            try:
                tables.append(dataset.to_table())
            except (OSError, ValueError, TypeError) as error:  # what Arrow raises is one of them
                raise self._unreadable(name, error) from None
        return arrow().concat_tables([table.select(tables[0].column_names) for table in tables])

    def _dataset(self, names: list[str]) -> Any:
        from pyarrow import dataset  # type: ignore[import-untyped]

        paths = [self._folder.place(name).removeprefix("file://").removeprefix("file:") for name in names]
        try:
            return dataset.dataset(paths, schema=self._schema(), format=self._format())
        except (OSError, ValueError, TypeError) as error:
            raise self._unreadable(names[0], error) from None

    def _unreadable(self, name: str, error: Exception) -> PointstampError:
        says = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        what = f"the file {brief(name)} of {brief(self._edge)} cannot be read: {says}"
        return PointstampError("PS774", what, "columns that are there, and rows and files of this form")

    def _schema(self) -> Any:
        wanted = self._source.schema
        if wanted is None:
            return None
        return schema_of(wanted if isinstance(wanted, str) else wanted.simpleString()[len("struct<") : -1])

    def _format(self) -> Any:
        form, schema = self._source.form, self._schema()
        if form == "csv":
            from pyarrow import csv, dataset

            options = {name.lower(): value for name, value in self._source.options.items()}
            has_header = str(options.get("header", "false")).lower() == "true"
            reading = csv.ReadOptions(column_names=schema.names, skip_rows=1 if has_header else 0)
            parsing = csv.ParseOptions(delimiter=str(options.get("sep", options.get("delimiter", ","))))
            converting = csv.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True)
            return dataset.CsvFileFormat(parsing, convert_options=converting, read_options=reading)
        return form


def _hashable(value: Any) -> Any:
    """A value of a column as what can be told apart: tuples for structs and lists."""
    if isinstance(value, dict):
        return tuple(_hashable(part) for part in value.values())
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
