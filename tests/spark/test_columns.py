"""`out.table`: a row gives the same in Spark and in pandas, or is refused by both in the same line."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from progress import PointstampError
from progress.runtime.on_spark.kept_tables import KeptTables
from progress.runtime.tables import Tables, rows_of
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30, 0, 250)
FIT: list[tuple[str, list[Any]]] = [
    ("v tinyint", [-128, 127, None]),
    ("v smallint", [-(1 << 15)]),
    ("v int", [2.0, (1 << 31) - 1]),
    ("v bigint", [-(1 << 63), None]),
    ("v float", [0.1, 3]),
    ("v double", [0.1, 3, None, float("nan")]),
    ("v boolean", [True, None]),
    ("v string", ["a", "", None]),
    ("v date", [DAY, None]),
    ("v timestamp_ntz", [NOON, None]),
    ("v decimal(5, 2)", [Decimal("1.5"), 999, None]),
    ("v decimal", [7]),
    ("v array<int>", [[1, None], []]),
    ("v map<string, bigint>", [{"a": 1}]),
    ("`the v`: struct<a: int, b: array<string>>", [{"a": 1, "b": ["x"]}, (2, [])]),
]
WRONG: list[tuple[str, Any, str]] = [
    ("v int", (1.5,), "1.5 does not fit the column 'v' (int, or None)"),
    ("v int", ("1",), "'1' does not fit the column 'v' (int, or None)"),
    ("v int", (True,), "True does not fit the column 'v' (int, or None)"),
    ("v int", (1 << 31,), "2147483648 does not fit the column 'v' (int, or None)"),
    ("v tinyint", (128,), "128 does not fit the column 'v' (tinyint, or None)"),
    ("v float", (1e300,), "1e+300 does not fit the column 'v' (float, or None)"),
    ("v double", ("x",), "'x' does not fit the column 'v' (double, or None)"),
    ("v boolean", (1,), "1 does not fit the column 'v' (boolean, or None)"),
    ("v string", (1,), "1 does not fit the column 'v' (string, or None)"),
    ("v date", ("2024-02-29",), "'2024-02-29' does not fit the column 'v' (date, or None)"),
    ("v date", (NOON,), "does not fit the column 'v' (date, or None)"),
    ("v timestamp", (DAY,), "does not fit the column 'v' (timestamp, or None)"),
    ("v decimal(3, 1)", (Decimal("1.25"),), "Decimal('1.25') does not fit the column 'v' (decimal(3, 1), or None)"),
    ("v decimal(3, 1)", (100,), "100 does not fit the column 'v' (decimal(3, 1), or None)"),
    ("v decimal(3, 1)", (1.5,), "1.5 does not fit the column 'v' (decimal(3, 1), or None)"),
    ("v array<int>", ([1.5],), "1.5 does not fit the column 'array' (int, or None)"),
    ("v array<int>", ("ab",), "'ab' does not fit the column 'v' (array<int>, or None)"),
    ("v biggint", (1,), "there is no type 'biggint'"),
    ("v interval", (1,), "there is no type 'interval'"),
    ("v decimal(39, 1)", (1,), "there is no type 'decimal(39, 1)'"),
    ("v map<int>", ({},), "there is no type 'map<int>'"),
    ("v int, V string", (1, "a"), "the columns 'v int, V string' have 'V' twice"),
    ("", (), "'' are no columns"),
    ("v", (1,), "'v' are no columns"),
    ("v int, w int", (1,), "has 1 of 2 columns (v, w)"),
    ("v int", (1, 2), "has 2 of 1 columns (v)"),
    ("v int", 1, "1 is not a row"),
    ("v int", None, "None is not a row"),
    ("v int", "a", "'a' is not a row"),
]


def makers() -> list[Tables]:
    return [Tables(), KeptTables(spark_session(), "test", None)]


def test_what_fits_is_the_same_in_both() -> None:
    columns = ", ".join(column.replace("v", f"v{number}", 1) for number, (column, _) in enumerate(FIT))
    longest = max(len(values) for _, values in FIT)
    rows = [[values[min(place, len(values) - 1)] for _, values in FIT] for place in range(longest)]
    of_pandas, of_spark = (rows_of(table.make(rows, columns)) for table in makers())
    assert of_pandas == of_spark
    assert of_pandas[0]["the v14"] == {"a": 1, "b": ["x"]}
    assert (of_pandas[0]["v10"], of_pandas[1]["v10"]) == ("1.50", "999.00")
    assert of_pandas[0]["v4"] == 0.10000000149011612


@pytest.mark.parametrize(("columns", "row", "says"), WRONG)
def test_what_does_not_fit_is_refused_by_both_in_the_same_line(columns: str, row: Any, says: str) -> None:
    said = []
    for tables in makers():
        with pytest.raises(PointstampError) as caught:
            tables.make([row], columns)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert said[0].startswith("PS745: ")
    assert says in said[0]


def test_values_of_numpy_and_pandas_are_those_of_python() -> None:
    import numpy
    import pandas  # type: ignore[import-untyped]

    rows = [(numpy.int64(3), pandas.Timestamp(NOON), pandas.NaT), (pandas.NA, None, numpy.str_("a"))]
    zoned = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    for tables in makers():
        table = tables.make(rows, "n int, at timestamp_ntz, s string")
        assert rows_of(table) == [
            {"n": 3, "at": NOON.isoformat(), "s": None},
            {"n": None, "at": None, "s": "a"},
        ]
        at = tables.make([(zoned,)], "at timestamp_ntz")
        assert rows_of(at) == [{"at": (NOON - datetime.timedelta(hours=2)).isoformat()}]
