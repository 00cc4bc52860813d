"""A folder of Parquet files as a sink: `ParquetFiles("totals")`. A bundle is a file, which has its stamp.

A file is written under a name that readers pass over, synced, and linked to the name of the next bundle; nobody sees
one that is not all there, and of two runs that deliver to one folder one finds its name taken. Which bundle was stored
last says the highest number, and the stamp stands in that file's metadata.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from progress.errors import PointstampError, brief
from progress.plain import write_time
from progress.runtime.durable.bundles import Bundle
from progress.runtime.durable.store import sync_folder
from progress.runtime.sinks.json_text import expanded, json_text
from progress.runtime.sinks.place import Place, in_a_line
from progress.runtime.sinks.rows import TIME, VALUE
from progress.runtime.source_failure import as_row

STAMP = b"pointstamp"  # the name of the stamp among the metadata of a file
NAME = re.compile(r"bundle-(\d{12})\.parquet")
TORN = ".torn-"  # how the name of a file begins that is being written


class ParquetFiles:
    """A folder that keeps what leaves an edge, each value once, whatever is killed when.

    Parameters
    ----------
    folder : on this machine, for one edge; it is made where there is none
    schema : the columns and their types, a `pyarrow.Schema`; None: those of the first bundle, or of what is there

    What leaves as mappings has a column for each name, else there is a column `value`; `time` is a column where the
    mappings do not have one: a number, or JSON. What does not fit the columns as it is, is refused. Each bundle is a
    file of its own, however small. A run that is not kept adds files.

    Examples
    --------
    >>> import tempfile
    >>> from pyarrow import dataset
    >>> from pointstamp import Dataflow, ParquetFiles, from_edges
    >>> flow = Dataflow(
    ...     from_edges([(None, "double"), ("double", None)]), {"double": lambda value: {"twice": 2 * value}}
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = flow.run(sources={"in->double": [(0, 3), (1, 4)]}, sinks={"double->out": ParquetFiles(folder)})
    ...     dataset.dataset(folder).to_table().to_pylist()
    [{'time': 0, 'twice': 6}, {'time': 1, 'twice': 8}]
    """

    def __init__(self, folder: str | os.PathLike[str], *, schema: Any = None) -> None:
        self.folder = Path(folder)
        self.schema = schema

    def sink_for(self, name: str) -> _Files:
        """The sink of a run."""
        return _Files(name, self.folder, self.schema)


class _Files:
    """The folder of one edge, in one run."""

    takes_rows = True

    def __init__(self, edge: str, folder: Path, schema: Any) -> None:
        self.place = str(folder.resolve())
        self._where = Place(edge, f"the folder {folder}")
        self._folder = folder
        self._schema = schema
        self._number = 0  # of the next file
        self._torn = folder / f"{TORN}{token_hex(8)}"  # processes in containers may have one number

    def last(self) -> str | None:
        """The stamp of the file that was stored last. Cost: a look at the names, and the end of one file."""
        with self._failing():
            from pyarrow import parquet  # type: ignore[import-untyped]

            self._folder.mkdir(parents=True, exist_ok=True)
            numbers = []
            for file in self._folder.iterdir():
                if file.name.startswith(TORN):
                    file.unlink()
                elif found := NAME.fullmatch(file.name):
                    numbers.append(int(found[1]))
            if not numbers:
                return None
            self._number = max(numbers) + 1
            there = parquet.read_schema(self._file(max(numbers)))
        stamp = (there.metadata or {}).get(STAMP)
        if stamp is None:
            right = "a folder in which nobody else writes files of such names"
            raise self._where.failed(f"{self._file(max(numbers)).name} has no stamp", right)
        self._schema = self._schema or there.remove_metadata()
        return str(stamp, "utf-8")

    def deliver(self, bundle: Bundle) -> None:
        """Store a bundle as a file; one without values is none. Cost: that of the file, and two syncs."""
        if not bundle.values:
            return
        rows = [self._row(time, each) for time, value in bundle.values for each in expanded([value])]
        with self._failing():
            table = self._table(rows)
            self._store(table.replace_schema_metadata({STAMP: bundle.stamp.encode()}))

    def _table(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """The rows as columns, as they are; PS745 where one does not fit."""
        import pyarrow

        try:
            table = pyarrow.Table.from_pylist(rows, schema=self._schema)
        except (pyarrow.ArrowException, OverflowError) as error:
            raise self._no_row(str(error)) from None
        if self._schema is not None:
            for row, back in zip(rows, table.to_pylist(), strict=True):
                if not _is_same(row, back):
                    raise self._no_row(f"{brief(dict(row))} would be {brief(back)} there")
        self._schema = table.schema
        return table

    def _store(self, table: Any) -> None:
        from pyarrow import parquet

        with self._torn.open("wb") as file:
            parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(self._torn, self._file(self._number))
        except (FileExistsError, FileNotFoundError):  # the name is taken, or whoever began has removed the file
            raise self._where.taken() from None
        self._torn.unlink()
        sync_folder(self._folder)
        self._number += 1

    def _file(self, number: int) -> Path:
        return self._folder / f"bundle-{number:012}.parquet"

    def _row(self, time: Any, value: Any) -> Mapping[str, Any]:
        value = as_row(value)
        when = write_time(time)
        if type(when) is not int:
            when = json_text(when, "the time", self._where.edge, time)
        return {TIME: when, **value} if isinstance(value, Mapping) else {TIME: when, VALUE: value}

    def _no_row(self, how: str) -> PointstampError:
        columns = "" if self._schema is None else f", with {', '.join(map(str, self._schema))}"
        right = "values that all have the same columns, of the same types; or schema="
        return PointstampError("PS745", f"{self._where}{columns}: {in_a_line(how)}", right)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What the system or Arrow raises is said in one line."""
        try:
            import pyarrow
        except ImportError:
            right = "pip install 'pointstamp[parquet]'"
            raise self._where.failed("pyarrow is not installed", right) from None
        right = "a folder that takes files, in which nobody else writes files of such names"
        with self._where.complaining((OSError, pyarrow.ArrowException), right):
            yield

    def close(self) -> None:
        """The run is over: a file that was being written is of no use."""
        with suppress(OSError):
            self._torn.unlink()


def _is_same(value: Any, back: Any) -> bool:
    """Whether a value is what Arrow gives back of it: names that it does not have are null there."""
    if isinstance(value, Mapping) and isinstance(back, Mapping):
        return value.keys() <= back.keys() and all(_is_same(value.get(name), back[name]) for name in back)
    if isinstance(value, list | tuple) and isinstance(back, list):
        return len(value) == len(back) and all(map(_is_same, value, back))
    return bool(value == back or (value != value and back != back))
