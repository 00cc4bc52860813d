"""What is said when a part of Spark is lost: a worker with what it kept, a process of Python at a worker, the JVM.

Nothing is wrong with the pipeline then, and all that is needed is to start it again. So such an end has a code of its
own (PS762), whatever it was that noticed: a node, a source, a sink, a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from progress.errors import PointstampError, brief
from progress.runtime.failure import NodeFailed
from progress.runtime.on_spark.connect import answers, is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RIGHT = "start it again; with --state it goes on from its last checkpoint"
BY_SAYING = (  # in the order in which they are looked for: the loss of a worker has others of these behind it
    ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "a worker was lost, and with it a table that was kept there"),
    ("Checkpoint block rdd", "a worker was lost, and with it a table that was kept there"),
    ("ExecutorLostFailure", "workers were lost again and again"),
    ("Python worker exited unexpectedly", "a process of Python at a worker was killed, for want of memory or by hand"),
    ("no active SparkContext", "Spark's context was stopped"),
    ("SparkContext was shut down", "Spark's context was stopped"),
)


def loss(error: BaseException, session: SparkSession) -> PointstampError | None:
    """What was lost (PS762), if that is why something failed. Cost: a call of the JVM."""
    gone = "the server of Spark Connect is gone" if is_remote(session) else "Spark's JVM is gone"
    what = gone if is_gone(session) else _said_in(error)
    return None if what is None else PointstampError("PS762", f"{what}{_where(error)}", RIGHT)


def is_gone(session: SparkSession) -> bool:
    """Whether the JVM of a session has ended, or the server cannot be reached."""
    if is_remote(session):
        return not answers(session)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    try:
        session.sparkContext._gateway.jvm.java.lang.System.nanoTime()  # type: ignore[union-attr]
    except (Py4JError, OSError):
        return True
    return False


def _said_in(error: BaseException) -> str | None:
    texts = [_text(each) for each in _behind(error) if type(each).__module__.startswith(("py4j.", "pyspark."))]
    return next((what for sign, what in BY_SAYING if any(sign in text for text in texts)), None)


def _behind(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that it was made of."""
    pending, seen = [error], set()
    while pending:
        each = pending.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            inner = each.error if isinstance(each, NodeFailed) else None
            pending += [other for other in (each.__cause__, each.__context__, inner) if other is not None]


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # it would ask the JVM
        return ""


def _where(error: BaseException) -> str:
    """Which call it was, where that is known."""
    if isinstance(error, NodeFailed):
        return f", in a call of {brief(error.node)} at {brief(error.time)}"
    if isinstance(error, PointstampError):
        return f": {error.message.partition(' cannot be ')[0].partition(' failed')[0]} did not come to its end"
    return ""
