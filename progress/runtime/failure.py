"""What can go wrong in a run, each with a code, and what is done about a node that raises."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from progress.errors import PointstampError, brief, one_of, said_by
from progress.order import Domain, times_of

if TYPE_CHECKING:
    import asyncio

PACKAGE = str(Path(__file__).parent / "_")[:-1]
MADE, STARTED = "when it was made", "when it started"  # before anything has a time


def failures() -> tuple[type[BaseException], ...]:
    """What of a node is a failure; asked for when something was raised.

    Not what ends the program, `KeyboardInterrupt` and `SystemExit`, which signals raise in the middle of any code; but
    what else is not an `Exception`, as it would end a loop or a task that is not the node's.
    """
    return (Exception, GeneratorExit, *cancellations())


def leaks() -> tuple[type[BaseException], ...]:
    """What ends a loop, a generator or a task of whoever gets it."""
    return (StopIteration, StopAsyncIteration, GeneratorExit, *cancellations())


def cancellations() -> tuple[type[BaseException], ...]:
    """What asyncio cancels a task with. Nobody raises it before asyncio is imported, which most runs do without."""
    raised = getattr(sys.modules.get("asyncio"), "CancelledError", None)
    return () if raised is None else (raised,)


def not_to_leak(what: str, error: BaseException) -> BaseException:
    """What is raised instead of an exception that ends a loop, a generator or a task of whoever gets it (PS733)."""
    if not isinstance(error, leaks()):
        return error
    text = said_by(error)
    says = f"{what} raised {type(error).__name__}" + (f": {text}" if text else "")
    said = PointstampError("PS733", says, "an exception that says what has failed")
    said.__cause__ = error
    return said


def task_of_now() -> asyncio.Task[Any] | None:
    """The task that runs in this thread, if an event loop does."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


@contextmanager
def contained() -> Iterator[None]:
    """Lets none of these out, unless it is this task that is cancelled or thrown away."""
    task = task_of_now()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    except BaseException as error:
        found = error if isinstance(error, leaks()) else None
        if isinstance(error, RuntimeError):  # what a coroutine, or a generator, makes of it
            found = error.__cause__ if "raised Stop" in said_by(error) else None
        if found is None or task_of_now() is not task or (task is not None and task.cancelling() > before):
            raise
        raise not_to_leak("code of the pipeline", found) from error


class NotAllowed(PointstampError):
    """A node did what the graph does not declare; raised where it does it, and nothing of it happened.

    Examples
    --------
    >>> from pointstamp import Dataflow, Node, NodeFailed, from_edges
    >>> class Back(Node):
    ...     def on_message(self, edge, time, value, out):
    ...         out.send("a->out", time - 1, value)
    >>> try:
    ...     Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": Back}).run(sources={"in->a": [(3, "x")]})
    ... except NodeFailed as failure:
    ...     print(type(failure.error).__name__, failure.code)
    NotAllowed PS702
    """


def not_an_exit(node: str, edge: str, edges: tuple[str, ...]) -> NotAllowed:
    """A message on an edge that does not leave the node."""
    right = one_of(edge, edges, "no edge leaves it")
    return NotAllowed("PS701", f"{brief(node)} sends on {brief(edge)}, which is not an edge that leaves it", right)


def sends_too_early(node: str, edge: str, time: Any, event: Any, earliest: tuple[Any, ...]) -> NotAllowed:
    """A message at a time that the summary does not give for the time of the event."""
    right = f"a time at or after {', '.join(map(brief, earliest))}" if earliest else "nothing may be sent there"
    return NotAllowed(
        "PS702", f"{brief(node)} sends on {brief(edge)} at {brief(time)}, having received {brief(event)}", right
    )


def asks_too_early(node: str, time: Any, event: Any) -> NotAllowed:
    """A notification request at a time that the event may not ask for (Condition 1)."""
    return NotAllowed(
        "PS703",
        f"{brief(node)} requests a notification at {brief(time)}, having received {brief(event)}",
        "a time at or after it, as its `requests` declares",
    )


def asks_for_none(node: str) -> NotAllowed:
    """A notification request of a node that is declared to make none."""
    what = f"{brief(node)} requests a notification, and the graph says that it never does"
    return NotAllowed("PS703", what, "`notify: true` for the node")


def no_time_of(node: str, place: str, time: Any, domain: Domain) -> NotAllowed:
    """A message, or a request, at something that is not a time there."""
    does = "requests a notification" if place == node else f"sends on {brief(place)}"
    return NotAllowed("PS503", f"{brief(node)} {does} at {brief(time)}, which is not a time there", times_of(domain))


def out_of_turn(node: str) -> NotAllowed:
    """Something done with `out` after the call that it belongs to."""
    return NotAllowed("PS704", f"{brief(node)} uses `out` after the call it was given for", "the one of this call")


def made_by_yield(node: str) -> NotAllowed:
    """A method that is a generator: it was called, and nothing of it has happened."""
    what = f"{brief(node)} has a method with `yield`, so nothing of it happens"
    return NotAllowed("PS708", what, "`out.send` instead of `yield`; for a function that yields, Mapped(f, flat=True)")


def in_a_loop(what: str) -> NotAllowed:
    """Something that needs an event loop of its own, where one runs already."""
    return NotAllowed("PS717", f"an event loop runs here, and {what} in another one", "await dataflow.run_async(...)")


class NodeFailed(PointstampError):
    """A node's code raised. `error` is what it raised, `trace` the part of the traceback that is its own code.

    `value` is the message, or the list of all that the call was handed by `on_messages`. Where the node did what it may
    not (`NotAllowed`), the failure has that code and says the same.

    Examples
    --------
    >>> from pointstamp import Dataflow, NodeFailed, from_edges
    >>> flow = Dataflow(from_edges([(None, "half"), ("half", None)]), {"half": lambda value: value / 2})
    >>> try:
    ...     flow.run(sources={"in->half": [(0, "x")]})
    ... except NodeFailed as failure:
    ...     print(failure.node, failure.time, type(failure.error).__name__)
    half 0 TypeError
    """

    def __init__(self, node: str, time: Any, what: str, value: Any, error: BaseException) -> None:
        at = "" if what in (MADE, STARTED) else f" at {brief(time)}"
        if isinstance(error, NotAllowed):
            super().__init__(error.code, error.message, error.hint)
        else:
            super().__init__(
                "PS705",
                f"{brief(node)} failed {what}{at}: {type(error).__name__}: {what_it_said(error)}",
                "mend what makes it" if what == MADE else "mend the node, or give the run an on_error for it",
            )
        self.node = node
        self.time = time
        self.value = value
        self.error = error
        self.trace = own_trace(error)

    def as_row(self) -> dict[str, str]:
        """The row that it is in a table of dead letters."""
        return row_of(self.node, self.time, self.value, self)


def what_it_said(error: BaseException) -> str:
    """What an exception says; of what Spark says, the part that tells something."""
    if not type(error).__module__.startswith(("pyspark.", "py4j.")):
        return said_by(error)
    from progress.runtime.on_spark.jobs.reasons import said

    return said(error)


def own_trace(error: BaseException) -> str:
    """The traceback of what a node raised, without what this package did before and after."""
    found = traceback.TracebackException.from_exception(error)
    frames = list(found.stack)
    while frames and frames[-1].filename.startswith(PACKAGE):
        del frames[-1]
    before = [number for number, frame in enumerate(frames, 1) if frame.filename.startswith(PACKAGE)]
    found.stack[:] = frames[max(before, default=0) :]
    return "".join(found.format())


def row_of(at: str, time: Any, value: Any, error: PointstampError) -> dict[str, str]:
    """What a failure is in a table of dead letters: text in every column."""
    shown = ["" if each is None else each if isinstance(each, str) else brief(each) for each in (time, value)]
    return {"at": at, "time": shown[0], "value": shown[1], "error": str(error)}


class Stop(NamedTuple):
    """The run ends at the first failure: the default.

    Examples
    --------
    >>> from pointstamp import Dataflow, Stop, from_edges
    >>> flow = Dataflow(
    ...     from_edges([(None, "half"), ("half", None)]), {"half": lambda value: value / 2}, on_error=Stop()
    ... )
    >>> flow.run(sources={"in->half": [(0, 4)]})
    {'half->out': [(0, 2.0)]}
    """

    kind: Literal["stop"] = "stop"


class Retry(NamedTuple):
    """The call is made again, up to `times` times, after a pause that grows; then `then`.

    Examples
    --------
    >>> from pointstamp import Dataflow, Retry, from_edges
    >>> failures = [OSError("away"), OSError("away")]
    >>> def asks(value):
    ...     if failures:
    ...         raise failures.pop()
    ...     return value
    >>> flow = Dataflow(from_edges([(None, "ask"), ("ask", None)]), {"ask": asks}, on_error=Retry(times=2))
    >>> flow.run(sources={"in->ask": [(0, "x")]})
    {'ask->out': [(0, 'x')]}
    """

    times: int = 3
    first_pause: float = 0.1
    growth: float = 2.0
    longest_pause: float = 10.0
    then: Stop | DeadLetter = Stop()

    def pause(self, attempt: int) -> float:
        """Seconds before this attempt, counted from 1."""
        return min(self.longest_pause, self.first_pause * self.growth ** (attempt - 1))


class DeadLetter(NamedTuple):
    """The message, or the notification, is given to a sink, and the run goes on.

    Examples
    --------
    >>> from pointstamp import Dataflow, DeadLetter, from_edges
    >>> graph = from_edges([(None, "half"), ("half", None)])
    >>> flow = Dataflow(graph, {"half": lambda value: value / 2}, on_error=DeadLetter())
    >>> results = flow.run(sources={"in->half": [(0, 4), (0, "x")]})
    >>> results["half->out"], len(results["dead-letters"])
    ([(0, 2.0)], 1)
    """

    name: str = "dead-letters"


OnError: TypeAlias = Stop | Retry | DeadLetter


def dead_letters(policy: OnError) -> str:
    """The side output that a policy sends what failed to."""
    if isinstance(policy, Retry):
        policy = policy.then
    return policy.name if isinstance(policy, DeadLetter) else ""
