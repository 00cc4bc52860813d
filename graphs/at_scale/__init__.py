"""Graphs that outgrow one process: the same questions, asked of DataFrames (docs/at-scale.md).

Needs Spark, GraphFrames and Java only when Spark is asked (extra `spark`, `progress.runtime.on_spark.session`).
"""

from graphs.at_scale.engine import (
    Choice,
    Tables,
    check_conditions,
    choose_engine,
    close,
    dangling,
    open_in_spark,
    proof,
    strong_components,
    unreachable,
)
from graphs.at_scale.rounds import Options, Round

__all__ = [
    "Choice",
    "Options",
    "Round",
    "Tables",
    "check_conditions",
    "choose_engine",
    "close",
    "dangling",
    "open_in_spark",
    "proof",
    "strong_components",
    "unreachable",
]
