"""Which engine keeps the frontiers.

*Eager* (`progress.engines.eager`) keeps those of all vertices: best where the graph is small, or where most of it moves
with every step anyway. *Hierarchical* (`progress.engines.hierarchical`) keeps those of hubs: best where the graph is
large and few places are asked about. "auto" takes the hierarchy for 256 vertices and more, unless eliminating them
leaves a large core or many shortcuts, as in expanders.
"""

from __future__ import annotations

from typing import Protocol

from progress.engines.arcs import Arcs
from progress.engines.eager import Eager
from progress.engines.hierarchical import Hierarchical
from progress.engines.hierarchy import Hierarchy
from progress.engines.propagation import Propagation
from progress.errors import PointstampError
from progress.kernel import BUILT, compiled

FEW_VERTICES = 256  # a graph that small is crossed sooner than its labels are computed
MOST_CORE = 0.3  # vertices, for each entrance
MOST_SHORTCUTS = 8  # a vertex
ENGINES = ("auto", "eager", "hierarchical")


class Engine(Propagation, Protocol):
    """What a tracker asks: the same as of propagation, of the vertices of `progress.engines.arcs`."""

    def freed(self, woken: list[int]) -> list[int]:
        """Of the waiters that the kernel released, those that nothing blocks any more."""

    @property
    def name(self) -> str:
        """ "eager" or "hierarchical"."""


def choose(graph: Arcs, engine: str, kernel: bool | None) -> Engine:
    """The engine of this name, or the better one for this graph; compiled where that is possible and wanted."""
    if engine not in ENGINES:
        raise no_such_engine(f"there is no engine {engine!r}", "one of " + ", ".join(ENGINES))
    if kernel not in (None, True, False):
        raise no_such_engine(f"kernel={kernel!r} is neither yes nor no", "True, False, or None for what is best")
    if kernel and not BUILT:
        raise no_such_engine("the compiled kernel is not there", "kernel=None; or install again with a C compiler")
    if engine == "eager" or (engine == "auto" and len(graph.domains) < FEW_VERTICES):
        return _propagation(graph, kernel)
    hierarchy = Hierarchy(graph)
    if engine == "auto" and not _pays(hierarchy):
        return _propagation(graph, kernel)
    return Hierarchical(hierarchy, _propagation(hierarchy.upward(), kernel))


def _pays(hierarchy: Hierarchy) -> bool:
    """Whether most vertices went without making the graph much larger: labels are short then."""
    entrances = hierarchy.graph.entrances
    return hierarchy.core <= MOST_CORE * entrances and hierarchy.shortcuts <= MOST_SHORTCUTS * len(hierarchy.rank)


def _propagation(graph: Arcs, kernel: bool | None) -> Engine:
    found = None if kernel is False else compiled(graph)
    if found is None and kernel:
        raise no_such_engine(
            "the compiled kernel does not fit this graph",
            "kernel=None; it takes numbers and flat rows, no rounding, and cycles that advance",
        )
    return Eager(graph) if found is None else found


def no_such_engine(what: str, right: str) -> PointstampError:
    """A choice of engine or kernel that cannot be met."""
    return PointstampError("PS512", what, right)
