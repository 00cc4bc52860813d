"""Time-aware operators (*Verified Time-Aware Stream Processing*, sections 3 to 5)."""

from progress.operators.batch import batch
from progress.operators.bulk import bulk
from progress.operators.compose import compose
from progress.operators.event import DT, WM, Event, Left, Right
from progress.operators.flatten import flatten
from progress.operators.histogram import histogram
from progress.operators.incr import incr
from progress.operators.incr_batch import incr_batch
from progress.operators.join import join
from progress.operators.laws.specification import Specification, check_operator
from progress.operators.map_data import map_data
from progress.operators.multiset_histogram import multiset_histogram
from progress.operators.operator import Operator, produce
from progress.operators.skip import skip
from progress.operators.streams import MonotoneMonitor, ProductiveMonitor, is_monotone, is_productive, monitored
from progress.operators.total_histogram import total_histogram
from progress.operators.union import union

__all__ = [
    "DT",
    "WM",
    "Event",
    "Left",
    "MonotoneMonitor",
    "Operator",
    "ProductiveMonitor",
    "Right",
    "Specification",
    "batch",
    "bulk",
    "check_operator",
    "compose",
    "flatten",
    "histogram",
    "incr",
    "incr_batch",
    "is_monotone",
    "is_productive",
    "join",
    "map_data",
    "monitored",
    "multiset_histogram",
    "produce",
    "skip",
    "total_histogram",
    "union",
]
