"""The runtime: runs nodes, delivers messages and notifications (A&I 2.2, 4.2)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from progress.runtime.dataflow import Dataflow
    from progress.runtime.durable.bundles import Bundle, BundleSink
    from progress.runtime.failure import DeadLetter, NodeFailed, NotAllowed, Retry, Stop
    from progress.runtime.node import Batch, Mapped, Node, Relay
    from progress.runtime.on_kafka.sink import KafkaSink
    from progress.runtime.on_kafka.source import KafkaSource
    from progress.runtime.out import Out
    from progress.runtime.run.own import Code
    from progress.runtime.run.results import Results
    from progress.runtime.sinks.parquet import ParquetFiles
    from progress.runtime.sinks.postgres import PostgresTable
    from progress.runtime.sinks.sqlite import SqliteTable
    from progress.runtime.source import SILENT, Complete, Messages
    from progress.runtime.source_failure import Refused, SourceFailed
    from progress.runtime.stage import Stage
    from progress.runtime.state import State

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

_MODULES = {
    "dataflow": "Dataflow",
    "durable.bundles": "Bundle BundleSink",
    "failure": "DeadLetter NodeFailed NotAllowed Retry Stop",
    "node": "Batch Mapped Node Relay",
    "on_kafka.sink": "KafkaSink",
    "on_kafka.source": "KafkaSource",
    "out": "Out",
    "run.own": "Code",
    "run.results": "Results",
    "sinks.parquet": "ParquetFiles",
    "sinks.postgres": "PostgresTable",
    "sinks.sqlite": "SqliteTable",
    "source": "SILENT Complete Messages",
    "source_failure": "Refused SourceFailed",
    "stage": "Stage",
    "state": "State",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for: a part of the runtime alone costs what that part costs."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
