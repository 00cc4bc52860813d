"""A table of SQLite: killed whenever, each value is there once; what cannot be stored is said in one line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from progress.errors import PointstampError
from progress.runtime import Dataflow, SqliteTable
from tests.sinks.lives import (
    DELIVERIES,
    GRAPH,
    ITEMS,
    OUT,
    Chain,
    Values,
    check_once,
    half,
    killed_at_deliveries,
    killed_at_random,
    refused,
    right,
    run,
)


def halfway(made: Any, stop: Callable[[], None]) -> None:
    """Rows are added, and the stamp is not."""
    replace = made._replace_stamp

    def replacing(bundle: Any) -> None:
        stop()
        replace(bundle)

    made._replace_stamp = replacing


def asked(path: Path, question: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as there:
        return there.execute(question).fetchall()


def rows(path: Path, table: str = "sums") -> Values:
    return [(time, json.loads(value)) for time, value in asked(path, f"SELECT time, value FROM {table} ORDER BY rowid")]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_deliveries(tmp_path: Path, delivery: str) -> None:
    killed_at_deliveries(tmp_path, SqliteTable(tmp_path / "db", "sums"), halfway, delivery)
    check_once(rows(tmp_path / "db"))
    assert asked(tmp_path / "db", "SELECT complete FROM pointstamp_last") == [("[]",)]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_random(tmp_path: Path, delivery: str) -> None:
    killed_at_random(tmp_path, SqliteTable(tmp_path / "db", "sums"), delivery, seed=1)
    check_once(rows(tmp_path / "db"))


def test_rows_go_into_the_columns_of_a_table(tmp_path: Path) -> None:
    made = (
        'CREATE TABLE "my ""sums" (id INTEGER PRIMARY KEY, time INTEGER, kind TEXT, "number" INTEGER, note DEFAULT 1)'
    )
    asked(tmp_path / "db", made)
    run(tmp_path, SqliteTable(tmp_path / "db", 'my "sums'), delivery=None)
    found = asked(tmp_path / "db", 'SELECT time, kind, number, note FROM "my ""sums" ORDER BY id')
    check_once([(time, {"kind": kind, "number": number}) for time, kind, number, _ in found])
    assert {note for *_, note in found} == {1}


def written(path: Path, table: str, values: list[Any], *, made: str | None = None) -> None:
    """A run whose node sends these on."""
    if made:
        asked(path, made)
    nodes = {"chain": lambda value: value}
    items = [(0, value) for value in values]
    Dataflow(GRAPH, nodes).run(sources={"in->chain": items}, sinks={OUT: SqliteTable(path, table)})


def test_values_are_json_and_numbers_are_numbers(tmp_path: Path) -> None:
    values = [10, 9, 2.5, "text", None, True, [1, {"a": []}], 1 << 80]
    written(tmp_path / "db", "all", values)
    found = [value for (value,) in asked(tmp_path / "db", 'SELECT value FROM "all" ORDER BY rowid')]
    assert found == [10, 9, 2.5, '"text"', "null", "true", '[1, {"a": []}]', str(1 << 80)]
    assert [json.loads(str(value)) for value in found] == values
    assert asked(tmp_path / "db", "SELECT max(value) FROM \"all\" WHERE typeof(value) = 'integer'") == [(10,)]


def test_cells_are_what_the_database_has(tmp_path: Path) -> None:
    made = "CREATE TABLE cells (a, B, c)"
    written(tmp_path / "db", "cells", [{"a": "text", "b": [1, 2]}, {"C": {"d": None}}, {"a": None}], made=made)
    found = asked(tmp_path / "db", "SELECT a, b, c FROM cells ORDER BY rowid")
    assert found == [("text", "[1, 2]", None), (None, None, '{"d": null}'), (None, None, None)]


def test_a_value_says_the_time_in_letters_of_any_size(tmp_path: Path) -> None:
    written(tmp_path / "db", "cells", [{"Time": 5}, {"a": 1}], made="CREATE TABLE cells (time, a)")
    assert asked(tmp_path / "db", "SELECT time, a FROM cells ORDER BY rowid") == [(5, None), (0, 1)]


class Named(dict[str, int]):
    """A mapping of somebody who has a use of their own for the name."""

    def as_row(self) -> int:
        return 7


def test_a_value_may_have_methods_named_as_ours(tmp_path: Path) -> None:
    written(tmp_path / "db", "cells", [Named(a=1)], made="CREATE TABLE cells (a)")
    assert asked(tmp_path / "db", "SELECT a FROM cells") == [(1,)]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (
            7,
            "PS745: the sink of 'chain->out', table 'cells' of {}, with the columns 'a', 'b': 7, at 0, is no mapping",
        ),
        (
            {"a": 1, "d": 2},
            "{'a': 1, 'd': 2}, at 0, has 'd', which is none of them (mappings with names of columns; or",
        ),
        ({}, "{}, at 0, says nothing of a column"),
        ({"a": 1 << 80}, "PS725: the sink of 'chain->out', table 'cells' of {}: Python int too large to convert"),
        ({"a": "\ud800"}, "PS725: the sink of 'chain->out', table 'cells' of {}: 'utf-8' codec can't encode character"),
        ({"a": 1, "A": 2}, "{'a': 1, 'A': 2}, at 0, has 'a' more than once (mappings with names of columns; or"),
        ({"a": {1}}, "PS725: the sink of 'chain->out', table 'cells' of {}: Error binding parameter"),
        ({"a": [{1}]}, "PS732: the value [{1}] that leaves at 'chain->out', at 0, cannot be written: {1} is not JSON"),
        ({"b": None}, "PS725: the sink of 'chain->out', table 'cells' of {}: NOT NULL constraint failed: cells.b"),
    ],
)
def test_what_is_no_row_is_one_line(tmp_path: Path, value: Any, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        written(tmp_path / "db", "cells", [{"b": 1}, value], made="CREATE TABLE cells (a, b NOT NULL)")
    assert says.replace("of {}", f"of {tmp_path / 'db'}") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_place_that_is_no_database_or_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, and long enough not to be taken for an empty one" * 20)
    assert "file is not a database" in refused(tmp_path, SqliteTable(tmp_path / "text", "sums"))
    assert "unable to open database file" in refused(tmp_path, SqliteTable(tmp_path / "none" / "db", "sums"))


def test_a_run_goes_on_once_the_database_takes_something_again(tmp_path: Path) -> None:
    full = "CREATE TRIGGER full BEFORE INSERT ON sums WHEN NEW.time = 4 BEGIN SELECT RAISE(ABORT, 'it is full'); END"
    asked(tmp_path / "db", "CREATE TABLE sums (time, value)")
    asked(tmp_path / "db", full)
    said = refused(tmp_path, SqliteTable(tmp_path / "db", "sums"))
    assert said.startswith(f"PS725: the sink of 'chain->out', table 'sums' of {tmp_path / 'db'}: it is full (")
    asked(tmp_path / "db", "DROP TRIGGER full")
    run(tmp_path, SqliteTable(tmp_path / "db", "sums"), delivery=None)
    check_once(rows(tmp_path / "db"))


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_what_was_emptied_meanwhile_is_refused(tmp_path: Path, delivery: str) -> None:
    table = SqliteTable(tmp_path / "db", "sums")
    half(tmp_path, table, delivery)
    assert rows(tmp_path / "db")
    (tmp_path / "db").rename(tmp_path / "aside")
    assert refused(tmp_path, table, delivery=delivery).startswith(
        "PS736: the sink of 'chain->out' has stored 0 deliver"
    )
    (tmp_path / "aside").replace(tmp_path / "db")
    asked(tmp_path / "db", "ALTER TABLE sums RENAME TO others")
    said = refused(tmp_path, table, delivery=delivery)
    assert said.startswith(f"PS736: the sink of 'chain->out', table 'sums' of {tmp_path / 'db'}: it is not there")
    asked(tmp_path / "db", "ALTER TABLE others RENAME TO sums")
    run(tmp_path, table, delivery=delivery)
    check_once(rows(tmp_path / "db"))


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_what_another_run_has_delivered_is_not_added_to(tmp_path: Path, delivery: str) -> None:
    table = SqliteTable(tmp_path / "db", "sums")
    run(tmp_path, table, delivery=None)
    others = Dataflow(GRAPH, {"chain": lambda value: {"kind": "other", "number": value}})
    with pytest.raises(PointstampError) as caught:
        others.run(sources={"in->chain": ITEMS}, sinks={OUT: table}, state=tmp_path / "new", delivery=delivery)
    assert caught.value.code == {"deterministic": "PS748", "barrier": "PS736"}[delivery]
    assert "'chain->out'" in str(caught.value)
    check_once(rows(tmp_path / "db"))
    another = SqliteTable(tmp_path / "db", "sums", application="another")
    others.run(sources={"in->chain": ITEMS}, sinks={OUT: another}, state=tmp_path / "other", delivery=delivery)
    assert len(rows(tmp_path / "db")) == len(right()) + len(ITEMS)


def test_one_of_two_that_deliver_at_once_is_refused(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "db", "sums")

    class Meddles(Chain):
        def on_notify(self, time: Any, out: Any) -> None:
            if time == 3:
                with closing(sqlite3.connect(tmp_path / "db")) as there:
                    there.execute("UPDATE pointstamp_last SET stamp = '99:other'")
                    there.commit()
            super().on_notify(time, out)

    said = refused(tmp_path, table, node=Meddles)
    assert "PS725: the sink of 'chain->out', table 'sums'" in said
    assert "somebody else delivers there" in said
    assert asked(tmp_path / "db", "SELECT stamp FROM pointstamp_last") == [("99:other",)]
