"""The engine `spark`: worker threads whose nodes start jobs of Spark, for many times at once (docs/spark-pipelines.md).

Its sources and sinks have their names here. Nothing of it is imported before a run or a pipeline asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from progress.runtime.on_spark.sinks.catalog import TableSink
    from progress.runtime.on_spark.sinks.compaction import compact
    from progress.runtime.on_spark.sinks.delta import DeltaSink
    from progress.runtime.on_spark.sinks.parquet import ParquetSink, committed, read_committed
    from progress.runtime.on_spark.sources.files.source import FileSource
    from progress.runtime.on_spark.sources.rows import FrameSource
    from progress.runtime.on_spark.sources.stream import StreamSource

__all__ = [
    "DeltaSink",
    "FileSource",
    "FrameSource",
    "ParquetSink",
    "StreamSource",
    "TableSink",
    "committed",
    "compact",
    "read_committed",
]

_FILES = {
    "DeltaSink": "sinks.delta",
    "FileSource": "sources.files.source",
    "FrameSource": "sources.rows",
    "ParquetSink": "sinks.parquet",
    "StreamSource": "sources.stream",
    "TableSink": "sinks.catalog",
    "committed": "sinks.parquet",
    "compact": "sinks.compaction",
    "read_committed": "sinks.parquet",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, and only that."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
