"""The runtime: runs nodes, delivers messages and notifications (A&I 2.2, 4.2)."""

from progress.runtime.dataflow import Dataflow
from progress.runtime.failure import DeadLetter, NodeFailed, NotAllowed, Retry, Stop
from progress.runtime.node import Batch, Mapped, Node, Relay
from progress.runtime.out import Out
from progress.runtime.own import Code
from progress.runtime.results import Results
from progress.runtime.source import SILENT, Complete, Messages
from progress.runtime.source_failure import Refused, SourceFailed
from progress.runtime.stage import Stage

__all__ = [
    "SILENT",
    "Batch",
    "Code",
    "Complete",
    "Dataflow",
    "DeadLetter",
    "Mapped",
    "Messages",
    "Node",
    "NodeFailed",
    "NotAllowed",
    "Out",
    "Refused",
    "Relay",
    "Results",
    "Retry",
    "SourceFailed",
    "Stage",
    "Stop",
]
