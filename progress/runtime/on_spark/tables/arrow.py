"""Tables without Spark: of pandas in a run, of Arrow in files, with the columns that Spark would write for them.

A value is what `out.table` makes of it in engines without Spark: whole numbers with nulls stay whole, dates are dates,
times with a zone are in UTC and without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from progress.errors import PointstampError
from progress.runtime.tables import KINDS

NAMES = {  # of Arrow, as Spark writes them in a schema
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "uint8": "short",
    "uint16": "integer",
    "uint32": "long",
    "halffloat": "float",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "large_string": "string",
    "string_view": "string",
    "null": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
}
SHORT = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
TYPES = {  # of Spark, in columns and in JSON, as Arrow writes them
    **dict.fromkeys(("tinyint", "byte"), "int8"),
    **dict.fromkeys(("smallint", "short"), "int16"),
    **dict.fromkeys(("int", "integer"), "int32"),
    **dict.fromkeys(("bigint", "long"), "int64"),
    **dict.fromkeys(("float", "real"), "float"),
    **{name: name for name in ("double", "string", "binary")},
    "boolean": "bool",
    "date": "date32",
}
DIGITS, SCALE = 38, 18  # of decimals, whatever those are that a table happens to have
MISSING = "pip install pyarrow pandas; or engine='spark'"


def is_without_spark(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is read and written here: it is of this machine, and no session of Spark is active."""
    from progress.runtime.on_spark.session import active_session

    return "://" not in os.fspath(folder) and active_session() is None


def arrow() -> Any:
    """The module pyarrow; PS744 where it is not installed."""
    try:
        import pandas  # type: ignore[import-untyped]  # noqa: F401
        import pyarrow  # type: ignore[import-untyped]
    except ImportError as error:
        what = f"files are read and written without Spark, and {error.name} is not installed"
        raise PointstampError("PS744", what, MISSING) from None
    return pyarrow


# --- columns ---------------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """The type of a column, in Spark's JSON."""

    json: Any

    def simpleString(self) -> str:
        """As Spark shows it."""
        return SHORT.get(self.json, self.json) if isinstance(self.json, str) else json.dumps(self.json)


class Field(NamedTuple):
    """A column."""

    name: str
    dataType: Kind


class Columns:
    """The columns of a table, as Spark's StructType has them, without Spark."""

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields

    @classmethod
    def of(cls, schema: Any) -> Columns:
        """The columns of an Arrow schema."""
        return cls([Field(field.name, Kind(_kind(field.type))) for field in schema])

    @classmethod
    def from_json(cls, text: str) -> Columns:
        """The inverse of `json`."""
        return cls([Field(field["name"], Kind(field["type"])) for field in json.loads(text)["fields"]])

    def json(self) -> str:
        """As Spark writes a schema."""
        fields = [_nullable(field.name, field.dataType.json) for field in self.fields]
        return json.dumps({"type": "struct", "fields": fields})


def _nullable(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}


def _kind(of: Any) -> Any:
    types = arrow().types
    if types.is_decimal(of):
        return f"decimal({of.precision},{of.scale})"
    if types.is_timestamp(of):
        return "timestamp_ntz" if of.tz is None else "timestamp"
    if types.is_list(of) or types.is_large_list(of):
        return {"type": "array", "elementType": _kind(of.value_type), "containsNull": True}
    if types.is_map(of):
        found = {"type": "map", "keyType": _kind(of.key_type), "valueType": _kind(of.item_type)}
        return {**found, "valueContainsNull": True}
    if types.is_struct(of):
        return {"type": "struct", "fields": [_nullable(field.name, _kind(field.type)) for field in of]}
    return NAMES.get(str(of), str(of))


def schema_of(columns: str) -> Any:
    """An Arrow schema, of columns as Spark writes them: `day int, shop string` (PS774 for types within types)."""
    from progress.runtime.columns import kinds_of

    found = arrow()
    return found.schema([(name, _type(kind.name)) for name, kind in kinds_of(columns).items()])


def _type(written: Any) -> Any:
    """The type in Arrow of one that is written as Spark does, in columns or in JSON."""
    found = arrow()
    if isinstance(written, dict):
        return _nested(written)
    if written in ("timestamp", "timestamp_ntz"):
        return found.timestamp("us", None if written.endswith("ntz") else "UTC")
    if written.startswith(("decimal", "dec", "numeric")):
        digits = [int(number) for number in written.partition("(")[2].rstrip(") ").split(",") if number.strip()]
        return found.decimal128(*(digits or [10, 0]))
    if written not in TYPES:
        raise PointstampError("PS774", f"a column of the type {written} needs Spark", "bigint, double, string, date...")
    return found.type_for_alias(TYPES[written])


def _nested(written: dict[str, Any]) -> Any:
    found = arrow()
    if written["type"] == "array":
        return found.list_(_type(written["elementType"]))
    if written["type"] == "map":
        return found.map_(_type(written["keyType"]), _type(written["valueType"]))
    return found.struct([(field["name"], _type(field["type"])) for field in written["fields"]])


# --- tables ----------------------------------------------------------------------------------------------------------


def arrow_of(table: Any) -> Any:
    """A table of pandas as one of Arrow. Raises what Arrow raises.

    A column without any value has the type that the table was made with (`KINDS`), else it is text.
    """
    found = arrow()
    made = found.Table.from_pandas(table, preserve_index=False)
    known = table.attrs.get(KINDS, {})
    return made.cast(found.schema([(field.name, _written(field.type, known.get(field.name))) for field in made.schema]))


def table_in(value: Any) -> Any:
    """The table of Arrow that a value is, or that a DataFrame of pandas is made into; None for anything else.

    PS774 where a column has values of several types.

    Cost: that of a copy.
    """
    kind = type(value)
    if kind.__name__ == "Table" and kind.__module__ == "pyarrow.lib":
        return value
    if kind.__name__ != "DataFrame" or not kind.__module__.startswith("pandas."):
        return None
    try:
        return arrow_of(value)
    except (TypeError, ValueError) as error:  # what Arrow raises is one of them
        raise PointstampError(
            "PS774", f"a DataFrame of pandas is not a table: {error}"[:300], "a type a column"
        ) from None


def on_spark(table: Any) -> Any:
    """A table of Arrow as a DataFrame of Spark. Cost: its rows are sent to Spark."""
    from progress.runtime.on_spark.session import start_session

    return start_session(graphframes=False).createDataFrame(in_utc(table))


def in_utc(table: Any) -> Any:
    """A table of Arrow in which times of day have a zone, as Spark gives one to those of pandas."""
    found = arrow()
    kinds = [found.timestamp("us", "UTC") if found.types.is_timestamp(kind) else kind for kind in table.schema.types]
    return table.cast(found.schema(zip(table.column_names, kinds, strict=True)))


def _written(of: Any, known: Any) -> Any:
    """The type in which a column is written: the same for all tables of its kind."""
    found = arrow()
    if known is not None and ("null" in str(of) or found.types.is_timestamp(of)):
        with suppress(PointstampError):  # out.table takes types within types, which are not read from their words here
            of = _type(known)
    if "null" in str(of):
        return found.string()
    if found.types.is_decimal(of):
        return found.decimal128(DIGITS, SCALE)
    return found.timestamp("us", of.tz) if found.types.is_timestamp(of) else of


def pandas_of(table: Any) -> Any:
    """A table of Arrow as one of pandas."""
    import pandas

    made = pandas.DataFrame(dict(_series(table)), columns=table.column_names)
    made.attrs[KINDS] = {field.name: _kind(field.type) for field in table.schema}
    return made


def _series(table: Any) -> Iterator[tuple[str, Any]]:
    import pandas

    types = arrow().types
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, has_nulls = column.type, column.null_count > 0
        if types.is_integer(kind) and has_nulls:
            yield name, pandas.Series(column.to_pylist(), dtype=str(kind).capitalize().replace("Ui", "UI"))
        elif types.is_boolean(kind) and has_nulls:
            yield name, pandas.Series(column.to_pylist(), dtype="boolean")
        elif types.is_timestamp(kind):
            yield name, pandas.Series(column.cast(arrow().timestamp("us")).to_pandas(), dtype="datetime64[us]")
        elif types.is_nested(kind) or types.is_date(kind) or types.is_decimal(kind):
            yield name, pandas.Series(column.to_pylist(), dtype="object")
        else:
            yield name, column.to_pandas()
