"""GraphFrames: where it is had, and its one class. Nothing else of this project names it.

It comes in two halves. The Python half, graphframes-py, brings no JVM half. Its own coordinate is `GRAPHFRAMES`, the
version that of the Python half. Not every repository has it, so `GRAPHFRAMES_ELSEWHERE` follows: a release of Apache
Sedona for Spark 4 and Scala 2.13 that contains the classes `org.graphframes` under their own names, unchanged, as of
version 0.9. The Python half may call what 0.9 does not have (`setUseLocalCheckpoints`, which its `shortestPaths` uses;
`required_*_columns`); this project calls only what both have.

A package is looked for by Spark itself (Ivy) when its JVM starts and is kept in Ivy's folder. Which of the two
coordinates is there already is tried first, so that a machine without a network starts as one with it. A Spark that has
`pyspark.graphframes` has both halves, and nothing is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from progress.errors import PointstampError
from progress.runtime.on_spark.packages import is_kept

GRAPHFRAMES = "io.graphframes:graphframes-spark4_2.13"
GRAPHFRAMES_ELSEWHERE = "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0"
GRAPHFRAMES_CLASS = "org.graphframes.GraphFramePythonAPI"


def graph_frame(vertices: Any, edges: Any) -> Any:
    """The graph of two DataFrames, with the columns `id`, and `src` and `dst`."""
    if comes_with_spark():
        from pyspark.graphframes import GraphFrame  # type: ignore[import-not-found]
    else:
        from graphframes import GraphFrame  # type: ignore[import-untyped]
    return GraphFrame(vertices, edges)


def comes_with_spark() -> bool:
    """Whether the Spark that is installed has GraphFrames in it. Cost: a look into its folder."""
    return find_spec("pyspark.graphframes") is not None


def import_it() -> None:
    """Raise ImportError where the Python half is not installed."""
    if not comes_with_spark():
        import graphframes as _  # noqa: F401


def choices(graphframes: str | Literal[False] | None, settings: Mapping[str, str]) -> list[str]:
    """Coordinates or jars to try one after the other; an empty text stands for none."""
    if graphframes is False:
        return [""]
    if graphframes is not None:
        return [graphframes]
    if comes_with_spark():
        return [""]
    return sorted(coordinates(), key=lambda coordinate: not is_kept(coordinate, settings))


def check_choice(graphframes: str) -> None:
    """Refuse (PS754) what is neither a jar that is there nor a coordinate."""
    is_jar = graphframes.endswith(".jar")
    if is_jar and not Path(graphframes).is_file():
        raise PointstampError("PS754", f"there is no jar {graphframes!r}", "the path of a file that exists")
    if not is_jar and graphframes.count(":") != 2:
        raise PointstampError(
            "PS754", f"{graphframes!r} is neither a jar nor a coordinate", f"such as {GRAPHFRAMES_ELSEWHERE}"
        )


def coordinates() -> list[str]:
    """The coordinates at which GraphFrames may be had, the right one first."""
    from importlib.metadata import version

    return [f"{GRAPHFRAMES}:{version('graphframes-py')}", GRAPHFRAMES_ELSEWHERE]
