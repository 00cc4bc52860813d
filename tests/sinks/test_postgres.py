"""A table of PostgreSQL: killed whenever, each value is there once; what cannot be stored is said in one line."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from progress.errors import PointstampError
from progress.runtime import Dataflow, PostgresTable
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
    run,
)
from tests.sinks.postgres_server import server


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """One server for all tests of this file."""
    with server() as connection:
        yield connection


NUMBERS = count()


@pytest.fixture
def database(served: str) -> str:
    """A database of this test's own."""
    name = f"test{next(NUMBERS)}"
    asked(served, f"CREATE DATABASE {name}")
    return served.replace("dbname=postgres", f"dbname={name}")


def asked(database: str, question: str) -> list[Any]:
    with psycopg.connect(database, autocommit=True) as there:
        found = there.execute(question.encode())
        return found.fetchall() if found.description else []


def rows(database: str, table: str = "sums") -> Values:
    return asked(database, f"SELECT time, value FROM {table} ORDER BY ctid")


def halfway(made: Any, stop: Callable[[], None]) -> None:
    """Rows are added, and the stamp is not."""
    replace = made._replace_stamp

    def replacing(bundle: Any) -> None:
        stop()
        replace(bundle)

    made._replace_stamp = replacing


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_deliveries(tmp_path: Path, database: str, delivery: str) -> None:
    killed_at_deliveries(tmp_path, PostgresTable(database, "sums"), halfway, delivery)
    check_once(rows(database))
    assert asked(database, "SELECT complete FROM pointstamp_last") == [("[]",)]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_random(tmp_path: Path, database: str, delivery: str) -> None:
    killed_at_random(tmp_path, PostgresTable(database, "sums"), delivery, seed=3)
    check_once(rows(database))


def test_rows_go_into_the_columns_of_a_table_of_a_schema(tmp_path: Path, database: str) -> None:
    asked(database, 'CREATE SCHEMA "50%s"')
    made = '(id serial, time bigint, kind varchar(8), "number" numeric, note int DEFAULT 1)'
    asked(database, f'CREATE TABLE "50%s"."my ""sums" {made}')
    run(tmp_path, PostgresTable(database, '50%s.my "sums'), delivery=None)
    found = asked(database, 'SELECT time, kind, number::int, note FROM "50%s"."my ""sums" ORDER BY id')
    check_once([(time, {"kind": kind, "number": number}) for time, kind, number, _ in found])
    assert {note for *_, note in found} == {1}
    assert asked(database, 'SELECT count(*) FROM "50%s".pointstamp_last') == [(1,)]


def written(database: str, values: list[Any], made: str = "") -> list[Any]:
    """What a table has of what a node sends on."""
    if made:
        asked(database, f"CREATE TABLE cells {made}")
    flow = Dataflow(GRAPH, {"chain": lambda value: value})
    items = [(0, value) for value in values]
    flow.run(sources={"in->chain": items}, sinks={OUT: PostgresTable(database, "cells")})
    return asked(database.partition(" client_encoding")[0], "SELECT * FROM cells ORDER BY ctid")


def test_values_are_json(database: str) -> None:
    values = [10, 9, 2.5, 'te\\x"t\t', None, True, [1, {"a": []}], 1 << 80]
    assert written(database, values) == [(0, value) for value in values]


def test_cells_are_what_the_database_has(database: str) -> None:
    made = "(a text, b jsonb, c int, d date DEFAULT '2026-01-01')"
    found = written(database, [{"a": "x\\N\n", "b": [1, 2]}, {"c": 7, "b": {"d": None}}, {"a": None}], made)
    assert [row[:3] for row in found] == [("x\\N\n", [1, 2], None), (None, {"d": None}, 7), (None, None, None)]
    assert {str(row[3]) for row in found} == {"2026-01-01"}


def test_the_encoding_of_a_client_is_that_of_texts(database: str) -> None:
    values = ["ä", {"b": "ß"}]
    assert written(f"{database} client_encoding=SQL_ASCII", values) == [(0, value) for value in values]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (7, "PS745: the sink of 'chain->out', table 'cells' of PostgreSQL, with the columns 'a', 'b': 7, at 0, is no"),
        ({"b": 1, "d": 2}, "{'b': 1, 'd': 2}, at 0, has 'd', which is none of them"),
        ({"b": "x"}, "table 'cells' of PostgreSQL: invalid input syntax for type integer: \"x\" CONTEXT: COPY cells"),
        ({"a": 1}, 'null value in column "b" of relation "cells" violates not-null constraint DETAIL:'),
        ({"b": {1}}, "cannot adapt type 'set'"),
        ({"a": "\0", "b": 1}, "PostgreSQL text fields cannot contain NUL"),
    ],
)
def test_what_is_no_row_is_one_line(database: str, value: Any, says: str) -> None:
    with pytest.raises(PointstampError) as caught:
        written(database, [{"b": 1}, value], "(a text, b int NOT NULL)")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert asked(database, "SELECT * FROM cells") == []


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(tmp_path, PostgresTable(f"host={tmp_path} user=nobody password=secret", "sums"))
    assert said.startswith("PS725: the sink of 'chain->out', table 'sums' of PostgreSQL: connection is bad: ")
    assert "secret" not in said
    for connection in ("my secret", None):
        said = refused(tmp_path, PostgresTable(connection, "sums"))  # type: ignore[arg-type]
        assert "its connection string cannot be read (host=db dbname=shops, or postgresql://db/shops)" in said
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = refused(tmp_path, PostgresTable("dbname=shops", "sums"))
    assert "psycopg is not installed (pip install 'pointstamp[postgres]')" in said


class Disturbed(Chain):
    """While it works the server ends the connection of the sink."""

    database = ""

    def on_notify(self, time: Any, out: Any) -> None:
        if time == 3 and self.database:
            ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{OUT}'"
            assert asked(self.database, ends) == [(True,)]
        super().on_notify(time, out)


def test_a_run_goes_on_once_the_server_is_there_again(tmp_path: Path, database: str) -> None:
    Disturbed.database = database
    said = refused(tmp_path, PostgresTable(database, "sums"), node=Disturbed)
    assert said.startswith(
        "PS725: the sink of 'chain->out', table 'sums' of PostgreSQL: "
    )  # libpq has several words for it
    Disturbed.database = ""
    run(tmp_path, PostgresTable(database, "sums"), delivery=None, node=Disturbed)
    check_once(rows(database))


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_what_was_emptied_or_is_another_runs_is_refused(tmp_path: Path, database: str, delivery: str) -> None:
    table = PostgresTable(database, "sums")
    half(tmp_path, table, delivery)
    assert rows(database)
    asked(database, "ALTER TABLE sums RENAME TO others")
    said = refused(tmp_path, table, delivery=delivery)
    assert said.startswith("PS736: the sink of 'chain->out', table 'sums' of PostgreSQL: it is not there")
    asked(database, "ALTER TABLE pointstamp_last RENAME TO aside")
    asked(database, "ALTER INDEX pointstamp_last_pkey RENAME TO aside_pkey")
    assert refused(tmp_path, table, delivery=delivery).startswith(
        "PS736: the sink of 'chain->out' has stored 0 deliver"
    )
    for name, before in (("sums", "others"), ("pointstamp_last", "aside")):
        asked(database, f"DROP TABLE {name}; ALTER TABLE {before} RENAME TO {name}")
    run(tmp_path, table, delivery=delivery)
    check_once(rows(database))
    others = Dataflow(GRAPH, {"chain": lambda value: {"kind": "other", "number": value}})
    with pytest.raises(PointstampError) as caught:
        others.run(sources={"in->chain": ITEMS}, sinks={OUT: table}, state=tmp_path / "new", delivery=delivery)
    assert caught.value.code == {"deterministic": "PS748", "barrier": "PS736"}[delivery]
    check_once(rows(database))


class Meddles(Chain):
    """While it works somebody else delivers to the table."""

    database = ""

    def on_notify(self, time: Any, out: Any) -> None:
        if time == 3:
            asked(self.database, "UPDATE pointstamp_last SET stamp = '99:other'")
        super().on_notify(time, out)


def test_one_of_two_that_deliver_at_once_is_refused(tmp_path: Path, database: str) -> None:
    Meddles.database = database
    said = refused(tmp_path, PostgresTable(database, "sums"), node=Meddles)
    assert "PS725: the sink of 'chain->out', table 'sums' of PostgreSQL: somebody else delivers there" in said
    assert asked(database, "SELECT stamp FROM pointstamp_last") == [("99:other",)]


def test_whoever_goes_on_waits_for_a_delivery_that_is_being_stored(database: str) -> None:
    """A run may be killed when it has said that a bundle is to be stored, and the server be slow."""
    first = PostgresTable(database, "sums").sink_for(OUT)
    first.last()
    with psycopg.connect(database) as there:
        there.execute("UPDATE pointstamp_last SET stamp = '7:late'")
        threading.Timer(0.2, there.commit).start()
        second = PostgresTable(database, "sums").sink_for(OUT)
        assert second.last() == "7:late"
    for each in (first, second):
        each.close()


def test_what_a_user_may_not_do_is_one_line(tmp_path: Path, database: str) -> None:
    asked(database, "CREATE ROLE reader LOGIN")
    said = refused(tmp_path, PostgresTable(database.replace("user=pointstamp", "user=reader"), "sums"))
    assert "PS725: the sink of 'chain->out', table 'sums' of PostgreSQL: permission denied for schema public" in said
