"""A graph in Spark with everything resolved: names as numbers, each distinct domain and summary once on the driver.

A large graph has few distinct domains and summaries. They are collected, read and bound by the same functions as for a
local graph (`graphs.files.notation`, `graphs.graph.bind`), and go back as numbers; rows of the graph itself stay in
Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphs.at_scale.frames import frame_of
from graphs.at_scale.pieces import Pieces
from graphs.at_scale.rounds import cut
from graphs.at_scale.shapes import Shapes
from graphs.files.document import quoted
from graphs.files.notation import NotationError, read_domain, read_summary
from graphs.files.parquet import read_json
from graphs.graph import bind, too_many_alternatives, what_fits
from progress.effort import MOST_STEPS, STEPS_A_PLACE, Effort, TooMuchWork
from progress.errors import PointstampError
from progress.order import Domain
from progress.summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IDENTITY = "identity"
NO_TIME = ""  # of a node or an edge that names none


class Mismatch(NamedTuple):
    """Domains that do not fit together at a location, and the same elsewhere."""

    location: str
    error: PointstampError


class Requests(NamedTuple):
    """Nodes of one domain whose requests are alike: a node of them, and the condition under which a row is one."""

    domain: int
    text: str | None
    summary: Summary


class SparkGraph(NamedTuple):
    """A resolved graph; Spark keeps its tables, in memory or on its disks, until nobody refers to them or `release`.

    `nodes`: id, name, domain, notifies, requests (text). `edges`: edge, name, src, dst, domain, summary; src and dst
    are null at the ends of the graph, summary is null for input edges. `domains` and `summaries` are what the numbers
    in the columns stand for.
    """

    session: SparkSession
    nodes: DataFrame
    edges: DataFrame
    node_count: int
    edge_count: int
    domains: list[Domain]
    summaries: list[Summary]
    requests: list[Requests]
    mismatches: list[Mismatch]
    shapes: Shapes
    pieces: Pieces
    kept: dict[str, DataFrame]

    def release(self) -> None:
        """Let Spark forget what it keeps for answering sooner."""
        if "steps" in self.kept:
            self.kept["steps"].unpersist()
        self.kept.clear()

    def between(self) -> DataFrame:
        """The edges between nodes."""
        return self.edges.where("src IS NOT NULL AND dst IS NOT NULL")

    def steps(self) -> DataFrame:
        """The edges between nodes on which something is sent: edge, src, dst, summary. Kept, as numbers alone."""
        from pyspark import StorageLevel

        if "steps" not in self.kept:
            speaking = sorted({row["summary"] for row in self.pieces.rows})
            found = self.between().select("edge", "src", "dst", "summary")
            if len(speaking) < len(self.summaries):
                found = found.where(found["summary"].isin(speaking)) if speaking else found.where("false")
            self.kept["steps"] = found.persist(StorageLevel.MEMORY_AND_DISK)
        return self.kept["steps"]

    def places(self) -> DataFrame:
        """The vertices of Pregel: a node with a shape that its times may have. Columns id, node, shape."""
        from pyspark.sql import functions

        if "places" not in self.kept:
            rows = [(self.domains.index(domain), shape) for (domain, _), shape in self.shapes.numbers.items()]
            shapes = functions.broadcast(frame_of(self.session, rows, "domain int, shape int"))
            numbered = f"id * {len(self.shapes.shapes)} + shape AS id"
            self.kept["places"] = cut(self.nodes.join(shapes, "domain").selectExpr(numbered, "id AS node", "shape"))
        return self.kept["places"]

    def ways(self) -> DataFrame:
        """The edges of Pregel: a piece of the summary of a step. Columns src, dst, and what the piece does."""
        from pyspark.sql import functions

        if "ways" not in self.kept:
            pieces = functions.broadcast(self.pieces.frame(self.session).where("endless IS NULL"))
            count = len(self.shapes.shapes)
            ends = (f"src * {count} + shape AS src", f"dst * {count} + after AS dst")
            self.kept["ways"] = cut(self.steps().join(pieces, "summary").selectExpr(*ends, *self.pieces.columns))
        return self.kept["ways"]


class Resolution:
    """From tables whose shape was checked (`graphs.at_scale.shape`) to a `SparkGraph`."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.domains: list[Domain] = []
        self.domain_numbers: dict[Domain, int] = {}
        self.summaries: list[Summary] = []
        self.summary_numbers: dict[Any, int] = {}
        self.mismatches: list[Mismatch] = []
        self._read: dict[str, Any] = {}
        self._effort = Effort()
        self._nodes: DataFrame | None = None

    def run(self, nodes: DataFrame, edges: DataFrame, node_count: int, edge_count: int) -> SparkGraph:
        """`nodes`: id, name, time, summary, requests, notifies; `edges`: edge, name, src, dst, source, time, summary,
        src_time, dst_time. Cost: two passes over the edges, one over the nodes.
        """
        self._effort = Effort(MOST_STEPS + STEPS_A_PLACE * (node_count + edge_count))
        self._nodes = nodes
        domains = self._domains(nodes)
        requests = self._requests(nodes, domains)
        with_domain = nodes.join(self._numbered("time", domains), _is("time"), "left")
        resolved = cut(with_domain.select("id", "name", "domain", "notifies", "requests"))
        kept = cut(self._edges(edges, domains))
        shapes = Shapes(self.domains)
        pieces = Pieces(shapes, self.summaries)
        return SparkGraph(
            self.session,
            resolved,
            kept,
            node_count,
            edge_count,
            self.domains,
            self.summaries,
            requests,
            self.mismatches,
            shapes,
            pieces,
            {},
        )

    def _numbered(self, key: str, numbers: Mapping[str, int]) -> DataFrame:
        """A small table to be joined: text, number."""
        from pyspark.sql import functions

        rows = list(numbers.items())
        return functions.broadcast(frame_of(self.session, rows, f"{key}_text string, domain int"))

    def _domains(self, nodes: DataFrame) -> dict[str, int]:
        found = nodes.groupBy("time").agg({"id": "min"}).collect()
        rows = sorted(found, key=lambda row: row[1])
        return {row["time"] or NO_TIME: self._domain(row["time"]) for row in rows}

    def _domain(self, text: str | None) -> int:
        domain = self._once("domain", text or "nat", read_domain)
        return self._number(domain)

    def _number(self, domain: Domain) -> int:
        if domain not in self.domain_numbers:
            self.domain_numbers[domain] = len(self.domains)
            self.domains.append(domain)
        return self.domain_numbers[domain]

    def _once(self, kind: str, text: str, read: Any) -> Any:
        key = f"{kind} {text}"
        if key not in self._read:
            try:
                self._read[key] = read(read_json(text))
            except NotationError as error:
                raise PointstampError(error.code, error.message, error.hint) from None
        return self._read[key]

    def _requests(self, nodes: DataFrame, domains: Mapping[str, int]) -> list[Requests]:
        groups = nodes.where("notifies").groupBy("requests", "time").agg({"id": "min"}).collect()
        found = []
        for row in sorted(groups, key=lambda group: group[2]):
            number = domains[row["time"] or NO_TIME]
            domain = self.domains[number]
            declared = self._once("summary", row["requests"] or IDENTITY, read_summary)
            try:
                found.append(Requests(number, row["requests"], bind(declared, domain, domain, self._effort)))
            except PointstampError as error:
                name = nodes.where(f"id = {row[2]}").select("name").first()
                assert name is not None
                if isinstance(error, TooMuchWork):
                    raise too_many_alternatives(f"the requests of {name[0]!r}") from None
                message = f"the requests of {name[0]!r}: {error.message}"
                hint = what_fits(name[0], None, None, domain, domain)
                self.mismatches.append(Mismatch(name[0], PointstampError(error.code, message, hint)))
        return found

    def _edges(self, edges: DataFrame, domains: Mapping[str, int]) -> DataFrame:
        """The edges with `domain` and `summary`, by way of the distinct combinations of what decides them."""
        from pyspark.sql import functions

        keys = ["summary", "src_time", "dst_time", "time", "is_input", "is_output"]
        edges = edges.withColumn("is_input", functions.expr("src IS NULL"))
        edges = edges.withColumn("is_output", functions.expr("dst IS NULL"))
        filled = edges.withColumns({key: functions.coalesce(key, functions.lit(NO_TIME)) for key in keys[:4]})
        groups = filled.groupBy(*keys).agg(
            *(functions.min("edge"), functions.min_by("name", "edge")),
            *(functions.min_by("source", "edge"), functions.min_by("dst", "edge")),
        )
        rows = []
        for row in sorted(groups.collect(), key=lambda group: group[6]):
            domain, summary = self._combination(row, row[7], row[8], row[9], domains)
            rows.append((*row[:6], domain, summary))
        types = (
            "summary string, src_time string, dst_time string, time string, is_input boolean, is_output boolean, "
            "domain int, number int"
        )
        known = functions.broadcast(frame_of(self.session, rows, types))
        return filled.join(known, keys).selectExpr("edge", "name", "src", "dst", "domain", "number AS summary")

    def _name(self, node: int | None) -> str | None:
        """The name of a node; None for the outside. Cost: a job, for a mismatch alone."""
        if node is None or self._nodes is None:
            return None
        row = self._nodes.where(f"id = {node}").select("name").first()
        return None if row is None else str(row[0])

    def _combination(
        self, row: Any, edge: str, source: str | None, target: int | None, domains: Mapping[str, int]
    ) -> tuple[int, int | None]:
        """The domain and the summary of edges of this combination."""
        given = self.domains[self._domain(row["time"])] if row["time"] else None
        wanted = given if row["is_output"] else self.domains[domains[row["dst_time"]]]
        if given is not None and given != wanted:
            message = f"the edge {edge!r} has times of {given!r}, its destination {self._name(target)!r} of {wanted!r}"
            hint = f"leave out the `time` of {quoted(edge)}: a message is an event at its destination"
            self.mismatches.append(Mismatch(edge, PointstampError("PS401", message, hint)))
        if row["is_input"]:
            assert wanted is not None
            return self._number(wanted), None
        before = self.domains[domains[row["src_time"]]]
        declared = self._once("summary", row["summary"] or IDENTITY, read_summary)
        try:
            bound = bind(declared, before, wanted, self._effort)
        except TooMuchWork:
            raise too_many_alternatives(f"the summary of {source!r} on the edge {edge!r}") from None
        except PointstampError as error:
            message = f"the summary of {source!r} on the edge {edge!r}: {error.message}"
            hint = what_fits(edge, source, self._name(target), before, wanted)
            self.mismatches.append(Mismatch(edge, PointstampError(error.code, message, hint)))
            return self._number(wanted or before), None
        after = self._number(bound.target)
        key = (type(declared), declared, before, bound.target)
        if key not in self.summary_numbers:
            self.summary_numbers[key] = len(self.summaries)
            self.summaries.append(bound)
        return after, self.summary_numbers[key]


def _is(key: str) -> Any:
    from pyspark.sql import functions

    return functions.expr(f"coalesce({key}, '') = {key}_text")
