"""How a dataflow is run: what a run is told besides the dataflow, its sources and its sinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from progress.runtime.actions.core import Step
from progress.runtime.control import Control
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import HERE, Host
from progress.runtime.observer import Observer
from progress.runtime.sink import Sink


class RunOptions(NamedTuple):
    """The options of one run, with what each of them is by default.

    engine : "sim", "threads", "asyncio" or "spark"
    observer : told of what happens
    record : told of each step, as `Tracker.apply` takes it
    limit : how many messages may wait at a node before those that send to it are held
    control : says when the run has to stop; None: at its end
    otherwise : makes the sink of what has none; None: it is in the results
    keeping : how the run is kept, if it is
    pause : waits the seconds between two attempts
    host : what it is on: Spark, of the engine "spark"
    """

    engine: str = "sim"
    observer: Observer | None = None
    record: Callable[[Step], None] | None = None
    limit: int = 10_000
    control: Control | None = None
    otherwise: Callable[[str], Sink] | None = None
    keeping: Keeping | None = None
    pause: Callable[[float], object] | None = None
    host: Host = HERE
