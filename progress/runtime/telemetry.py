"""What happens in a run, as metrics and a span of OpenTelemetry; needs the extra `telemetry`.

The metrics `pointstamp.messages`, `pointstamp.notifications` and `pointstamp.failures` have the attribute `node`,
`pointstamp.brought` and `pointstamp.late` the attribute `edge`; `pointstamp.queued` is how many messages wait. A run is
a span `pointstamp.run`. Where they go is the business of the application's OpenTelemetry SDK.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.errors import PointstampError
from progress.runtime.actions.core import Core
from progress.runtime.failure import NodeFailed
from progress.runtime.observer import Observer
from progress.runtime.source_failure import SourceFailed


class Telemetry(Observer):
    """Counts what a run does. Without arguments it uses the global providers.

    One after the other, runs are added up, and each has a span of its own; those that go on at once need a `Telemetry`
    each, which may have the same meter.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> from progress.runtime.telemetry import Telemetry
    >>> flow = Dataflow(from_edges([(None, "a"), ("a", None)]), sources={"in->a": [(0, "x")]})
    >>> flow.run(observer=Telemetry())
    {'a->out': [(0, 'x')]}
    """

    of_one_run = True

    def __init__(self, meter: Any = None, tracer: Any = None) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise PointstampError(
                "PS714", "opentelemetry is not installed", "pip install 'pointstamp[telemetry]'"
            ) from None
        meter = meter or metrics.get_meter("pointstamp")
        self._tracer = tracer or trace.get_tracer("pointstamp")
        self._observation = metrics.Observation
        self._messages = meter.create_counter("pointstamp.messages", description="messages that nodes consumed")
        self._notifications = meter.create_counter("pointstamp.notifications", description="notifications delivered")
        self._failures = meter.create_counter("pointstamp.failures", description="calls of nodes that failed")
        self._refused = meter.create_counter("pointstamp.refused", description="what no message could be made of")
        self._brought = meter.create_counter("pointstamp.brought", description="messages that sources brought")
        self._late = meter.create_counter("pointstamp.late", description="messages that came too late")
        meter.create_observable_gauge(
            "pointstamp.queued", callbacks=[self._queued], description="messages that wait for a node"
        )
        self._core: Core | None = None
        self._span: Any = None

    def _queued(self, options: Any) -> Iterable[Any]:
        return [] if self._core is None else [self._observation(self._core.queued)]

    def started(self, core: Core) -> None:
        self._core = core
        self._span = self._tracer.start_span("pointstamp.run")

    def performed(self, node: str, edge: str | None, time: Any, count: int) -> None:
        if edge is None:
            self._notifications.add(count, {"node": node})
        else:
            self._messages.add(count, {"node": node})

    def failed(self, failure: NodeFailed) -> None:
        self._failures.add(1, {"node": failure.node})
        if self._span is not None:
            self._span.record_exception(failure.error)

    def refused(self, failure: SourceFailed) -> None:
        self._refused.add(1, {"edge": failure.edge})
        if self._span is not None:
            self._span.record_exception(failure.error)

    def brought(self, edge: str, count: int, late: int) -> None:
        self._brought.add(count, {"edge": edge})
        if late:
            self._late.add(late, {"edge": edge})

    def ended(self, core: Core, failure: BaseException | None) -> None:
        self._core = None
        if self._span is not None:
            self._span.set_attribute("pointstamp.steps", core.steps)
            self._span.end()
