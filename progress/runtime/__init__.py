"""The runtime: runs nodes, delivers messages and notifications (A&I 2.2, 4.2)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from progress.runtime.dataflow import Dataflow
from progress.runtime.durable.bundles import Bundle, BundleSink
from progress.runtime.failure import DeadLetter, NodeFailed, NotAllowed, Retry, Stop
from progress.runtime.node import Batch, Mapped, Node, Relay
from progress.runtime.out import Out
from progress.runtime.run.own import Code
from progress.runtime.run.results import Results
from progress.runtime.source import SILENT, Complete, Messages
from progress.runtime.source_failure import Refused, SourceFailed
from progress.runtime.stage import Stage
from progress.runtime.state import State

if TYPE_CHECKING:
    from progress.runtime.on_kafka.sink import KafkaSink
    from progress.runtime.on_kafka.source import KafkaSource
    from progress.runtime.sinks.parquet import ParquetFiles
    from progress.runtime.sinks.postgres import PostgresTable
    from progress.runtime.sinks.sqlite import SqliteTable

__all__ = [
    "SILENT",
    "Batch",
    "Bundle",
    "BundleSink",
    "Code",
    "Complete",
    "Dataflow",
    "DeadLetter",
    "KafkaSink",
    "KafkaSource",
    "Mapped",
    "Messages",
    "Node",
    "NodeFailed",
    "NotAllowed",
    "Out",
    "ParquetFiles",
    "PostgresTable",
    "Refused",
    "Relay",
    "Results",
    "Retry",
    "SourceFailed",
    "SqliteTable",
    "Stage",
    "State",
    "Stop",
]

_LATER = {  # what is imported when it is asked for, and where it is
    "KafkaSink": "on_kafka.sink",
    "KafkaSource": "on_kafka.source",
    "ParquetFiles": "sinks.parquet",
    "PostgresTable": "sinks.postgres",
    "SqliteTable": "sinks.sqlite",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, and only that."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
