"""The questions that are asked of graphs, each on either engine: `engine="local"`, `"spark"` or `"auto"`.

A graph is a `Graph`, or `Tables` (two DataFrames or Parquet files), or a `SparkGraph` that was opened before, which
saves opening it for each question. Answers are the same on both engines; closures have `frontiers`, `times` and `in`
on both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from graphs import shape
from graphs.at_scale.errors import no_engine, not_here, wrong_table
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.rounds import Options, one_group
from graphs.files.parquet import graph_of_rows, read_rows
from graphs.graph import Graph
from progress import closure, conditions
from progress.component import components as components_of
from progress.could_result_in import CouldResultIn
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from graphs.at_scale.closure import SparkClosure

ENGINES = ("local", "spark", "auto")
CROSSOVER = 5_000_000  # edges, for which the local engine takes 4.3 GB; docs/at-scale.md has the figures
Say: TypeAlias = Callable[[str], None]


class Tables(NamedTuple):
    """A graph as two tables, with the columns of docs/at-scale.md: DataFrames, or paths of Parquet files.

    Examples
    --------
    >>> from graphs.at_scale import Tables
    >>> Tables("nodes.parquet", "edges.parquet").edges
    'edges.parquet'
    """

    nodes: DataFrame | str | os.PathLike[str]
    edges: DataFrame | str | os.PathLike[str]


AnyGraph: TypeAlias = Graph | Tables | SparkGraph


class Choice(NamedTuple):
    """The engine that answers, and why.

    Examples
    --------
    >>> from graphs.at_scale import choose_engine
    >>> from pointstamp import from_edges
    >>> choose_engine(from_edges([("a", "b")])).engine
    'local'
    """

    engine: str
    reason: str

    def __str__(self) -> str:
        return f"engine {self.engine}: {self.reason}"


def choose_engine(graph: AnyGraph, engine: str = "auto", crossover: int = CROSSOVER) -> Choice:
    """Which engine answers. "auto" takes Spark for `crossover` edges and more; a graph opened in Spark stays there.

    Cost: O(1); for DataFrames a count of the edges.

    Returns
    -------
    The engine, and why.

    Raises
    ------
    PointstampError
        PS512 where there is no such engine.

    Examples
    --------
    >>> from graphs.at_scale import choose_engine
    >>> from pointstamp import from_edges
    >>> choose_engine(from_edges([("a", "b")]), crossover=1).engine
    'spark'
    """
    if engine not in ENGINES:
        raise no_engine(engine)
    if isinstance(graph, SparkGraph):
        if engine == "local":
            raise no_engine("local, for a graph that is open in Spark,")
        return Choice("spark", "the graph is open there")
    if isinstance(graph, Graph) and graph.recursion is not None:
        if engine == "spark":
            raise not_here("a graph with calls")
        return Choice("local", "the graph has calls")
    if engine != "auto":
        return Choice(engine, "as asked for")
    edges = count_edges(graph)
    if edges < crossover:
        return Choice("local", f"{edges} edges, fewer than {crossover}")
    return Choice("spark", f"{edges} edges, {crossover} or more")


def count_edges(graph: Graph | Tables) -> int:
    """The number of edges, without reading them where a file's footer tells."""
    if isinstance(graph, Graph):
        return len(graph.edges)
    if not isinstance(graph.edges, str | os.PathLike):
        return int(graph.edges.count())
    try:
        import pyarrow.dataset  # type: ignore[import-untyped]

        return int(pyarrow.dataset.dataset(os.fspath(graph.edges), format="parquet").count_rows())
    except (ImportError, OSError, ValueError):  # whoever reads it next says what is wrong
        return 0


def open_in_spark(graph: Graph | Tables, session: SparkSession | None = None) -> SparkGraph:
    """The graph in Spark, for several questions; `release` it in the end.

    Cost: `graphs.at_scale.opening`; a session is started where there is none (`progress.runtime.on_spark.session`).

    Returns
    -------
    The graph, for `check_conditions`, `close` and the other questions.

    Examples
    --------
    >>> from graphs import from_edges
    >>> from graphs.at_scale import close, open_in_spark
    >>> graph = open_in_spark(from_edges([("a", "b")]))
    >>> close(graph, [("a", 3)]).frontiers["b"]
    (3,)
    >>> graph.release()
    """
    from graphs.at_scale.opening import open_graph, open_tables
    from progress.runtime.on_spark.session import check_session, start_session

    if session is None:
        session = start_session()
    else:
        check_session(session)
    with one_group(session, Options(), "open a graph"):
        if isinstance(graph, Graph):
            return open_graph(session, graph)
        return open_tables(session, graph.nodes, graph.edges)


def local_graph(graph: Graph | Tables) -> Graph:
    """The graph in this process."""
    if isinstance(graph, Graph):
        return graph
    nodes, edges = (_rows(table) for table in graph)
    if not nodes:
        raise wrong_table("nodes", "is empty", "a row for each node")
    name = os.fspath(graph.nodes) if isinstance(graph.nodes, str | os.PathLike) else "the table of nodes"
    return graph_of_rows(nodes, edges, name)


def _rows(table: DataFrame | str | os.PathLike[str]) -> list[dict[str, Any]]:
    if isinstance(table, str | os.PathLike):
        return read_rows(os.fspath(table))
    return list(table.toArrow().to_pylist())


Answer = TypeVar("Answer")


def _answered(
    graph: AnyGraph,
    engine: str,
    session: SparkSession | None,
    say: Say | None,
    options: Options,
    here: Callable[[Graph], Answer],
    there: Callable[[SparkGraph], Answer],
) -> Answer:
    """Ask the engine that is chosen; what is opened in Spark for this question alone is released afterwards."""
    choice = choose_engine(graph, engine)
    options.look()
    if say is not None:
        say(str(choice))
    if not isinstance(graph, SparkGraph) and choice.engine == "local":
        return here(local_graph(graph))
    spark = graph if isinstance(graph, SparkGraph) else open_in_spark(graph, session)
    try:
        if spark.mismatches:
            raise spark.mismatches[0].error
        return there(spark)
    finally:
        if spark is not graph:
            spark.release()


def close(
    graph: AnyGraph,
    pointstamps: Iterable[tuple[str, Any]],
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008 - it cannot be changed
    say: Say | None = None,
) -> closure.Closure | SparkClosure:
    """Close-up of the given pointstamps (A&I 3.3): `progress.close`, or the same in Spark.

    `say` is told which engine answers. Raises PS601 where no antichain stands for the answer, PS758 where Spark needs
    more rounds than `options.rounds`.

    Returns
    -------
    The minimal times at every location.

    Examples
    --------
    >>> from graphs.at_scale import close
    >>> from pointstamp import from_edges
    >>> close(from_edges([("a", "b")], lambda edge: {"advance": 1}), [("a", 3)], engine="local").frontiers["b"]
    (4,)
    """
    from graphs.at_scale.closure import close_in_spark

    def here(local: Graph) -> closure.Closure | SparkClosure:
        return closure.close(local, pointstamps)

    return _answered(
        graph, engine, session, say, options, here, lambda spark: close_in_spark(spark, pointstamps, options)
    )


def proof(
    graph: AnyGraph,
    start: tuple[str, Any],
    end: tuple[str, Any],
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008
    say: Say | None = None,
) -> list[Pointstamp] | None:
    """The proof that `start` could-result-in `end` (Definition 2); None where it could not.

    Returns
    -------
    The pointstamps on the way, or None.

    Examples
    --------
    >>> from graphs.at_scale import proof
    >>> from pointstamp import from_edges
    >>> [tuple(step) for step in proof(from_edges([("a", "b")]), ("a", 3), ("b", 3), engine="local")]
    [('a', 3), ('a->b', 3), ('b', 3)]
    """
    from graphs.at_scale.could_result_in import proof_in_spark

    return _answered(
        graph,
        engine,
        session,
        say,
        options,
        lambda local: CouldResultIn(local).proof(start, end),
        lambda spark: proof_in_spark(spark, (start, end), options),
    )


def check_conditions(
    graph: AnyGraph,
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008
    say: Say | None = None,
) -> conditions.Report:
    """Conditions 1 and 2, transitivity and advancing (A&I 3.2), with witnesses.

    Returns
    -------
    The report, as that of `progress.check_conditions`.

    Examples
    --------
    >>> from graphs.at_scale import check_conditions
    >>> from pointstamp import from_edges
    >>> check_conditions(from_edges([("a", "b"), ("b", "a")]), engine="local").advancing.holds
    False
    """
    from graphs.at_scale.conditions import check_in_spark

    return _answered(
        graph, engine, session, say, options, conditions.check_conditions, lambda spark: check_in_spark(spark, options)
    )


def strong_components(
    graph: AnyGraph,
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008
    say: Say | None = None,
) -> list[list[str]]:
    """The strongly connected components of two nodes and more, each in the order of the nodes, by their first one.

    Returns
    -------
    The names of the nodes of each.

    Examples
    --------
    >>> from graphs.at_scale import strong_components
    >>> from pointstamp import from_edges
    >>> strong_components(from_edges([("a", "b"), ("b", "a"), ("b", "c")]), engine="local")
    [['a', 'b']]
    """
    return _answered(graph, engine, session, say, options, _components, lambda spark: _in_spark(spark, options))


def _in_spark(spark: SparkGraph, options: Options) -> list[list[str]]:
    from graphs.at_scale.components import components

    with one_group(spark.session, options, "components"):
        found = components(spark, spark.between().select("src", "dst"), options).nodes.join(
            spark.nodes.select("id", "name"), "id"
        )
        rows = sorted(tuple(row) for row in found.select("id", "component", "name").collect())
    groups: dict[int, list[str]] = {}
    for _, component, name in rows:
        groups.setdefault(component, []).append(name)
    return list(groups.values())


def _components(graph: Graph) -> list[list[str]]:
    network = graph.network()
    ends = zip(network.sources, network.targets, strict=True)
    inner = [edge for edge, pair in enumerate(ends) if NO_NODE not in pair]
    found = components_of(inner, network.sources, network.targets, len(network.nodes))
    groups = sorted(sorted({network.sources[edge] for edge in edges}) for edges in found)
    return [[network.nodes[node] for node in group] for group in groups]


def unreachable(
    graph: AnyGraph,
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008
    say: Say | None = None,
) -> list[str]:
    """The locations at which nothing can ever arrive (`graphs.shape`), in order.

    Returns
    -------
    Their names.

    Examples
    --------
    >>> from graphs.at_scale import unreachable
    >>> from pointstamp import Graph
    >>> unreachable(Graph().node("a", notify=False).node("b").edge("a", "b"), engine="local")
    ['a', 'a->b']
    """
    from graphs.at_scale.shape import unreachable_in_spark

    here, there = _named(shape.unreachable), lambda spark: unreachable_in_spark(spark, options)
    return _answered(graph, engine, session, say, options, here, there)


def dangling(
    graph: AnyGraph,
    engine: str = "auto",
    session: SparkSession | None = None,
    options: Options = Options(),  # noqa: B008
    say: Say | None = None,
) -> list[str]:
    """The locations where what arrives has no effect (`graphs.shape`), in order.

    Returns
    -------
    Their names.

    Examples
    --------
    >>> from graphs.at_scale import dangling
    >>> from pointstamp import Graph
    >>> dangling(Graph().node("a").node("b", notify=False).edge("a", "b"), engine="local")
    ['b', 'a->b']
    """
    from graphs.at_scale.shape import dangling_in_spark

    here, there = _named(shape.dangling), lambda spark: dangling_in_spark(spark, options)
    return _answered(graph, engine, session, say, options, here, there)


def _named(locations: Callable[[Network], Sequence[int]]) -> Callable[[Graph], list[str]]:
    """The names of the locations that a question about shape answers with."""

    def names(graph: Graph) -> list[str]:
        network = graph.network()
        return [network.name(location) for location in locations(network)]

    return names
