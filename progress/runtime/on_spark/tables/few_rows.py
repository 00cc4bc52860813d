"""Tables that are known to have few rows are written by the driver itself, in one file.

A job of Spark that writes files takes all of Hadoop's settings to each task, sets up and commits an output, and moves
files about: for a few rows that is several times the work of computing them. So where Spark can tell from the plan that
the rows are few (`maxRows`: rows that stand in the plan, a total, a limit), they come to the driver, which writes them
as Spark would: the same columns, types and compression, and Spark's own description of them.
"""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any

from progress.runtime.on_spark.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FEW, LARGEST = 2_000, 4 << 20  # rows, and bytes as Spark estimates them
COMPRESSION = "spark.sql.parquet.compression.codec"
ENCRYPTION = "parquet.crypto.factory.class"
SAME_EITHER_WAY = {  # types that files have alike, whoever of the two writes them
    "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "boolean", "date",
}  # fmt: skip
DESCRIPTION = "org.apache.spark.sql.parquet.row.metadata"


def few_rows_of(rows: DataFrame) -> bytes | None:
    """A file of Parquet with the rows, where those are known to be few; None elsewhere, and nothing is computed.

    Cost: some calls of the JVM, and a job where they are; none for rows that stand in the plan.
    """
    if is_remote(rows.sparkSession):
        return None
    if not (_are_alike(rows.schema) and _are_few(rows) and is_plain(rows.sparkSession)):
        return None
    return _file_of(_at_hand(rows) if _stand_in_plan(rows) else rows.toArrow(), rows)


def count_in(file: IO[bytes] | str) -> int:
    """How many rows a file has, as it says itself."""
    from pyarrow import parquet  # type: ignore[import-untyped]

    return int(parquet.read_metadata(file).num_rows)


def _are_alike(columns: StructType) -> bool:
    names = [field.name.lower() for field in columns.fields]
    kinds = {field.dataType.simpleString() for field in columns.fields}
    are_said = any(field.metadata for field in columns.fields)  # the length of a text, a number in files
    return bool(names) and len(set(names)) == len(names) and kinds <= SAME_EITHER_WAY and not are_said


def _are_few(rows: DataFrame) -> bool:
    """Whether Spark knows so, without computing anything."""
    plan: Any = rows._jdf.logicalPlan()
    most = plan.maxRows()
    return bool(most.isDefined() and most.get() <= FEW and int(str(plan.stats().sizeInBytes())) <= LARGEST)


def _stand_in_plan(rows: DataFrame) -> bool:
    """Whether the plan is the rows themselves, or something that Spark has worked out while it planned."""
    plan: Any = rows._jdf.queryExecution().optimizedPlan()
    return str(plan.nodeName()) == "LocalRelation"


def _at_hand(rows: DataFrame) -> Any:
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_type

    fields = [pyarrow.field(field.name, to_arrow_type(field.dataType)) for field in rows.schema.fields]
    return pyarrow.Table.from_pylist([row.asDict() for row in rows.collect()], pyarrow.schema(fields))


def is_plain(session: SparkSession) -> bool:
    """Whether nothing is asked of files that Spark alone does. Over Spark Connect that is not known."""
    if is_remote(session):
        return False
    settings: Any = session._jsc.hadoopConfiguration()
    codec = str(session.conf.get(COMPRESSION, "snappy")).lower()
    return codec in ("snappy", "none", "uncompressed", "gzip", "zstd") and settings.get(ENCRYPTION) is None


def _file_of(table: Any, rows: DataFrame) -> bytes:
    import pyarrow
    from pyarrow import parquet

    fields = [
        pyarrow.field(field.name, _plain(kind, pyarrow), field.nullable)
        for field, kind in zip(rows.schema.fields, table.schema.types, strict=True)
    ]
    codec = str(rows.sparkSession.conf.get(COMPRESSION, "snappy")).lower()
    found = table.cast(pyarrow.schema(fields)).replace_schema_metadata({DESCRIPTION: rows._jdf.schema().json()})
    file = io.BytesIO()
    parquet.write_table(found, file, compression="none" if codec == "uncompressed" else codec, version="1.0")
    return file.getvalue()


def _plain(kind: Any, pyarrow: Any) -> Any:
    """Text and bytes with the usual offsets, whatever the session prefers on its way."""
    named = {"large_string": pyarrow.string(), "large_binary": pyarrow.binary()}
    return named.get(str(kind), kind)
