"""Tables as values: DataFrames of Spark or of pandas, or rows, and what engines do for nodes that have them.

A node that has tables asks `out` for what depends on the engine: `out.table(rows, columns)` makes one, `out.keep` keeps
one as long as it may be needed, `out.session` is Spark's session where there is one. So the same pipeline runs on
Spark and, with pandas, in threads. Neither library is imported before a table is made.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.order import Domain, times_of
from progress.runtime.columns import BITS, Kind, fitted, kinds_of
from progress.runtime.failure import NotAllowed

Row = Mapping[str, Any]


class Hold(NamedTuple):
    """A table may be needed until nothing at or before `until` can happen at a location any more.

    `until` is `FOREVER` for a table that a node keeps until it lets it go, `NO_MORE` when it does.
    """

    table: Any
    at: str
    until: Any


FOREVER, NO_MORE = object(), object()
KINDS = "pointstamp columns"  # where a table of pandas has the types that it was made with


class Tables:
    """What `out` does for tables in engines without Spark: they are of pandas, and go when nobody has them any more.

    Examples
    --------
    >>> from pointstamp import Dataflow, Node, from_edges
    >>> class Row(Node):
    ...     def on_message(self, edge, time, value, out):
    ...         out.send("row->out", time, out.table([(value,)], "sold long"))
    >>> flow = Dataflow(from_edges([(None, "row"), ("row", None)]), {"row": Row})
    >>> [int(table["sold"].sum()) for _, table in flow.run(sources={"in->row": [(0, 3)]})["row->out"]]
    [3]
    """

    session: Any = None

    def make(self, rows: Iterable[Any], columns: str) -> Any:
        """A table of these rows; PS745 where they do not fit the columns. Cost: a look at every value."""
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            right = "pip install pandas; or engine='spark'"
            raise PointstampError("PS744", "a table was asked for, and pandas is not installed", right) from None
        kinds = kinds_of(columns)
        found = fitted(rows, kinds)
        made = {}
        for name, kind in kinds.items():
            values = [row[name] for row in found]
            made[name] = pandas.Series(values, dtype=_dtype(kind, has_nulls=None in values))
        table = pandas.DataFrame(made)
        table.attrs[KINDS] = {name: kind.name for name, kind in kinds.items()}
        return table

    def keep(self, table: Any, name: str | None) -> Any:
        """A table that may be used more than once: in memory it is that already."""
        return table

    def hold(self, holds: Sequence[Hold]) -> None:
        """The step in which tables were kept has been entered."""


def _dtype(kind: Kind, has_nulls: bool) -> str:
    """What pandas calls it; whole numbers with nulls need another type, or they become fractions."""
    if kind.name in BITS:
        return "Int64" if has_nulls else "int64"
    if kind.name == "boolean":
        return "boolean" if has_nulls else "bool"
    return _DTYPES.get(kind.name, "object")


_DTYPES = {
    **dict.fromkeys(("float", "real", "double"), "float64"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "datetime64[us]"),
}


# --- tables of any kind ----------------------------------------------------------------------------------------------


def is_table(value: Any) -> bool:
    """Whether it is a DataFrame, of Spark or of pandas. Imports neither."""
    return is_table_type(type(value))


def is_table_type(kind: type) -> bool:
    """Whether values of this type are DataFrames."""
    return kind.__name__ == "DataFrame" and kind.__module__.startswith(("pyspark.sql", "pandas."))


def is_of_spark(value: Any) -> bool:
    """Whether it is a DataFrame of Spark.

    Returns
    -------
    Whether it is.

    Examples
    --------
    >>> from progress.runtime.tables import is_of_spark
    >>> is_of_spark([1, 2])
    False
    """
    return is_table(value) and type(value).__module__.startswith("pyspark.sql")


def union(values: Sequence[Any]) -> Any:
    """One table of several, columns by their names; what are not tables stays a list.

    Cost: with Spark that of `union_of`, which computes nothing; with pandas that of copying.

    Returns
    -------
    The table, or the list.

    Raises
    ------
    PointstampError
        PS744 where tables and other values, or tables of two kinds, are in one list.

    Examples
    --------
    >>> import pandas
    >>> from progress.runtime.tables import union
    >>> len(union([pandas.DataFrame({"a": [1]}), pandas.DataFrame({"a": [2, 3]})]))
    3
    """
    kinds = {("spark" if is_of_spark(value) else "pandas") if is_table(value) else "rows" for value in values}
    if len(kinds) > 1:
        what = f"one edge has {' and '.join(sorted(kinds))} at one time"
        raise PointstampError("PS744", what, "tables of one kind; out.table makes them")
    if kinds == {"rows"} or not values:
        return list(values)
    if len(values) == 1:
        return values[0]
    if kinds == {"pandas"}:
        import pandas

        return pandas.concat(values, ignore_index=True)
    from progress.runtime.on_spark.tables.unions import union_of

    return union_of(values)


def rows_of(table: Any) -> list[dict[str, Any]]:
    """The rows of a table as JSON has them: dates and times as text, decimals too, what is missing as null.

    Cost: all rows come here; with Spark it is a job.

    Returns
    -------
    A dictionary for each row.

    Examples
    --------
    >>> import pandas
    >>> from progress.runtime.tables import rows_of
    >>> rows_of(pandas.DataFrame({"shop": ["x"], "sold": [3]}))
    [{'shop': 'x', 'sold': 3}]
    """
    if is_of_spark(table):
        return [_plain(row.asDict(recursive=True)) for row in table.collect()]
    return [_plain(row) for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType":
        return None
    if isinstance(value, datetime.date | datetime.time):
        return None if value != value else value.isoformat()  # pandas' NaT is one, and is not itself
    if isinstance(value, decimal.Decimal):
        return str(value)
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 else value


def kept_nowhere(node: str, at: str) -> NotAllowed:
    """A table that is to be kept as long as something may happen where nothing is."""
    what = f"{brief(node)} keeps a table until a time at {brief(at)}, which the graph does not have"
    return NotAllowed("PS742", what, "a node or an edge of the graph")


def kept_until_no_time(node: str, at: str, until: Any, domain: Domain) -> NotAllowed:
    """A table that is to be kept until something that is not a time there."""
    what = f"{brief(node)} keeps a table until {brief(until)}, which is not a time at {brief(at)}"
    return NotAllowed("PS503", what, times_of(domain))
