"""A FileSource without Spark: the same files, looks, times and refusals; tables of pandas, read by Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.on_spark.folders import Folder
from progress.runtime.on_spark.sources.arrow_times import rows_by_time_of
from progress.runtime.on_spark.sources.files.looks import Look
from progress.runtime.on_spark.sources.files.tables import FileTables
from progress.runtime.on_spark.sources.times import ByTime
from progress.runtime.on_spark.tables.arrow import Columns, arrow, pandas_of, schema_of
from progress.runtime.on_spark.tables.schemas import check_columns

FORMS = ("parquet", "orc", "csv", "json")
OPTIONS = ("header", "sep", "delimiter", "mode")  # of Spark's reader, that are read here as there


class ArrowFiles(FileTables):
    """The files of one source in one run. Cost of a message: its files are read when it is handed on."""

    makes_anew = False  # the tables are in the checkpoint as other values are

    @property
    def folder(self) -> Folder:
        """The folder, reached when it is first asked for."""
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

    def _message(self, names: Sequence[str]) -> Any:
        return pandas_of(self._table(names))

    def _by_time(self, names: Sequence[str]) -> ByTime:
        return rows_by_time_of(self._table(names), self._reading)

    # --- files -------------------------------------------------------------------------------------------------------

    def check(self, names: Sequence[str]) -> None:
        """Refuse new files that cannot be read so. Cost: without a schema, each is opened for its columns."""
        for name in names:
            if self._source.column is None:
                self._names.time(name)
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

    def take_columns(self, look: Look) -> None:
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

        paths = [self.folder.place(name).removeprefix("file://").removeprefix("file:") for name in names]
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
