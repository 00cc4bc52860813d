"""Streams over tables: for each time one table, a DataFrame of Spark in the engine `spark` and of pandas in the others.

Each step is a `Stage`: it is told of all that came at a time, when that is complete, and works on several times at
once. What it is given and answers are DataFrames; `join`, `group` and `union` say the same in both libraries. Where
nothing has come there is no table: a step is not called then, and what it reads besides is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple

from graphs.streams.bags import Bags, T, V
from graphs.streams.loops.scope import rounds_of, with_round
from graphs.streams.refusals import bad_step, check_function, check_given
from graphs.streams.step import Wiring
from progress.errors import PointstampError, brief, one_of
from progress.runtime.columns import kinds_of
from progress.runtime.out import Out
from progress.runtime.sink import Sink
from progress.runtime.stage import Stage
from progress.runtime.tables import is_of_spark, rows_of, union

Work = Callable[[Out, Any, list[Any]], Any]  # of a call, a time and one table for each stream that is read
FUNCTIONS = ("sum", "min", "max", "count", "mean")
HOW = ("inner", "left", "outer")


class Doing(NamedTuple):
    """What a step does, and as what it reads the edges that lead to it."""

    work: Work
    roles: Mapping[str, str]


class TableStep(Stage):
    """Hands the tables of a time to the work of a step, in the order in which the step reads them."""

    def __init__(self, work: Work, wiring: Wiring) -> None:
        super().__init__()
        self.function: Any = Doing(work, wiring.roles)  # what the program says is not part of the state

    def on_tables(self, time: Any, tables: dict[str, Any], out: Out) -> Any:
        """Nothing is done where nothing has come of what is read first."""
        work, roles = self.function
        found: list[list[Any]] = [[] for _ in set(roles.values())]
        for edge, table in tables.items():
            found[int(roles[edge])].append(table)
        given = [_together(each) for each in found]
        if given[0] is not None:
            self._send(work(out, time, given), out)


class TableStream(Generic[T]):
    """For each time one table. `stream.table(columns)` makes it of rows; `rows` makes rows of it."""

    def __init__(self, stream: Bags[T, Any]) -> None:
        self._stream = stream

    def __repr__(self) -> str:
        return f"<tables {self._stream!r}>"

    def output(self, name: str, *, sink: Sink | None = None) -> None:
        """Let the tables leave on an output edge."""
        self._stream.output(name, sink=sink)

    def transform(self, f: Callable[..., Any], *others: TableStream[Any], name: str | None = None) -> TableStream[T]:
        """The table that `f` makes of that of a time, and of those of the others at it, None where nothing came.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> sold = flow.input("sold").table("shop string, amount bigint")
        >>> sold.transform(lambda table: table[table["amount"] > 3]).rows().output("large")
        >>> flow.run(sources={"sold": [(0, ("x", 3)), (0, ("y", 4))]})
        {'large': [(0, {'shop': 'y', 'amount': 4})]}
        """
        path = self._stream._path("transform", name)
        check_function(path, f)
        return self._step(path, lambda out, time, tables: f(*tables), *others)

    def union(self, *others: TableStream[Any], name: str | None = None) -> TableStream[T]:
        """The rows of all of them, columns by their names; of those that have some at the time.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> here = flow.input("here").table("shop string")
        >>> here.union(flow.input("there").table("shop string")).rows().output("all")
        >>> flow.run(sources={"here": [(0, ("x",))], "there": [(0, ("y",))]})
        {'all': [(0, {'shop': 'x'}), (0, {'shop': 'y'})]}
        """
        path = self._stream._path("union", name)
        return self._step(path, lambda out, time, tables: tables[0], *others, is_together=True)

    def join(
        self,
        other: TableStream[Any],
        on: str | Sequence[str],
        how: Literal["inner", "left", "outer"] = "inner",
        *,
        name: str | None = None,
    ) -> TableStream[T]:
        """Rows of one time that agree in the columns `on`, each of which is there once.

        Where nothing has come on this side nothing leaves; nothing on the other, and an inner join is empty, too.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> sold = flow.input("sold").table("shop string, amount bigint")
        >>> towns = flow.input("towns").table("shop string, town string")
        >>> sold.join(towns, on="shop").rows().output("both")
        >>> flow.run(sources={"sold": [(0, ("x", 3)), (0, ("y", 4))], "towns": [(0, ("y", "Bergen"))]})
        {'both': [(0, {'shop': 'y', 'amount': 4, 'town': 'Bergen'})]}
        """
        path = self._stream._path("join", name)
        if how not in HOW:
            raise bad_step(path, f"how is {brief(how)}", f"one of {', '.join(HOW)}")
        columns = [on] if isinstance(on, str) else [*on]

        def joined(out: Out, time: Any, tables: list[Any]) -> Any:
            one, another = tables
            if another is None:
                return None if how == "inner" else one
            if not is_of_spark(one):
                _check_there(columns, one, another)
            return (
                one.join(another, on=columns, how=how) if is_of_spark(one) else one.merge(another, on=columns, how=how)
            )

        return self._step(path, joined, other)

    def group(self, by: str | Sequence[str], *, name: str | None = None, **made: tuple[str, str]) -> TableStream[T]:
        """One row for each group: its columns `by`, and what is made of others, as `total=("amount", "sum")`.

        What can be made: sum, min, max, count, mean. `name` is that of the step, as everywhere.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> sold = flow.input("sold").table("shop string, amount bigint")
        >>> sold.group("shop", total=("amount", "sum")).rows().output("totals")
        >>> flow.run(sources={"sold": [(0, ("x", 3)), (0, ("x", 4))]})
        {'totals': [(0, {'shop': 'x', 'total': 7})]}
        """
        path = self._stream._path("group", name)
        columns = [by] if isinstance(by, str) else [*by]
        given: dict[str, Any] = {**made}
        for column, what in given.items():
            if not (isinstance(what, tuple) and len(what) == 2 and what[1] in FUNCTIONS):
                right = f'("amount", "sum"), a column and one of {", ".join(FUNCTIONS)}'
                raise bad_step(path, f"{column} is {brief(what)}", right)
        if not made:
            raise bad_step(path, "nothing is made of a group", 'total=("amount", "sum")')

        def grouped(out: Out, time: Any, tables: list[Any]) -> Any:
            (table,) = tables
            if not is_of_spark(table):
                _check_there([*columns, *(column for column, _ in made.values())], table)
                return table.groupby(columns, as_index=False, sort=False, dropna=False).agg(**made)
            from pyspark.sql import functions

            found = [getattr(functions, f)(column).alias(name) for name, (column, f) in made.items()]
            return table.groupBy(*columns).agg(*found)

        return self._step(path, grouped)

    def iterate(
        self,
        body: Callable[[TableStream[tuple[T, int]]], TableStream[tuple[T, int]]],
        until: Callable[[Any, Any, int], Any] | None = None,
        *,
        most: int = 10_000,
        name: str | None = None,
    ) -> TableStream[T]:
        """What `body` makes of a time's table, again and again, until `until(before, now, round)` holds of two tables.

        Without one it is until the rows are the same. On Spark a round's table is computed once, cut off from what it
        was made of, and kept until the next round is over.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> numbers = flow.input("numbers").table("n bigint")
        >>> numbers.iterate(lambda table: table.transform(lambda t: t.assign(n=t["n"] // 2))).rows().output("ends")
        >>> flow.run(sources={"numbers": [(0, (9,))]})
        {'ends': [(0, {'n': 0})]}
        """
        path = self._stream._path("iterate", name)
        check_function(path, body, "body")
        check_given(path, until=until)
        is_over = until or same_rows

        def kept(out: Out, time: Any, tables: list[Any]) -> Any:
            return out.keep(tables[0], until=with_round(time, rounds_of(time) + 1))

        def round_of(inside: Any) -> Any:
            found: object = body(TableStream(inside))
            if not isinstance(found, TableStream):
                raise bad_step(path, f"its body gives {brief(found)}", "a stream of tables")
            return found._step(f"{path}.kept", kept)._stream

        stream: Any = self._stream
        return TableStream(
            stream.iterate(
                round_of, lambda before, now, count: is_over(_only(before), _only(now), count), most=most, name=path
            )
        )

    def rows(self, *, name: str | None = None) -> Any:
        """The rows of each table as a stream of mappings. Cost: all of them come here; with Spark it is a job."""
        stream: Any = self._stream
        return stream.flat_map(rows_of, name=self._stream._path("rows", name))

    def _step(self, path: str, work: Work, *others: object, is_together: bool = False) -> TableStream[Any]:
        """A step on whole times of this stream and others; `is_together`: what comes of all of them is one table."""
        streams = []
        for other in others:
            if not isinstance(other, TableStream):
                raise bad_step(path, f"{brief(other)} is not a stream of tables", "what table(columns) gives")
            streams.append(other._stream)
        roles = tuple("0" if is_together else str(number) for number in range(len(streams) + 1))
        return TableStream(
            self._stream._follow(
                path, *streams, code=lambda wiring: TableStep(work, wiring), roles=roles, keeps=True, notify=True
            )
        )


class StreamTables(Bags[T, V]):
    """What is made of rows."""

    def table(self, columns: str | None = None, *, name: str | None = None) -> TableStream[T]:
        """For each time the table of its values: rows, mappings or sequences, with columns as in `shop string, n int`.

        Without columns the values are tables already, as sources of Spark bring them, and those of a time become one.

        >>> from pointstamp import Flow
        >>> flow = Flow()
        >>> flow.input("sold").table("shop string, amount bigint").rows().output("rows")
        >>> flow.run(sources={"sold": [(0, ("x", 3)), (0, {"shop": "y", "amount": 4})]})
        {'rows': [(0, {'shop': 'x', 'amount': 3}), (0, {'shop': 'y', 'amount': 4})]}
        """
        path = self._path("table", name)
        if columns is not None and not isinstance(columns, str):
            raise bad_step(path, f"columns is {brief(columns)}", 'text, as "shop string, amount bigint"')
        if columns is not None:
            try:
                kinds_of(columns)
            except PointstampError as error:
                raise bad_step(path, error.message, error.hint) from None

        def made(out: Out, time: Any, tables: list[Any]) -> Any:
            return tables[0] if columns is None else out.table(tables[0], columns)

        return TableStream(self)._step(path, made)


def same_rows(before: Any, now: Any, round: int) -> bool:
    """Whether two tables have the same rows, each as often, in whatever order. With Spark it is a job."""
    if before is None or now is None:
        return before is now
    if is_of_spark(now):
        return bool(before.exceptAll(now).isEmpty() and now.exceptAll(before).isEmpty())
    columns = [*now.columns]
    one, other = (
        table[columns].sort_values(columns, ignore_index=True) if len(table) else table for table in (before, now)
    )
    return bool(len(one) == len(other) and one.equals(other))


def _check_there(columns: Sequence[str], *tables: Any) -> None:
    """Refuse columns that a table of pandas does not have; what Spark says of its own names what there is."""
    for table in tables:
        for column in columns:
            if column not in table.columns:
                raise PointstampError(
                    "PS745", f"a table has no column {brief(column)}", one_of(column, [*map(str, table.columns)])
                )


def _together(several: list[Any]) -> Any:
    """What came by several edges as one: a table, or rows; None where nothing came."""
    if len(several) < 2:
        return several[0] if several else None
    return [row for rows in several for row in rows] if isinstance(several[0], list) else union(several)


def _only(values: list[Any]) -> Any:
    """The table among the values of a time."""
    return union(values) if values else None
