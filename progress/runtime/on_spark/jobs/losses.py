"""What is said when a part of Spark is lost: a worker with what it kept, a process of Python at a worker, the JVM.

Nothing is wrong with the pipeline then, and all that is needed is to start it again. So such an end has a code of its
own (PS762), whatever it was that noticed: a node, a source, a sink, a checkpoint, or nobody, while all wait (`Watch`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.runtime.failure import NodeFailed
from progress.runtime.on_spark.connect import answers, is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RIGHT = "start it again; with --state it goes on from its last checkpoint"
NO_JVM = "Spark's JVM is gone"
OFTEN = 1.0  # seconds between two looks at whether the JVM is there
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
    what = _gone(session) if is_gone(session) else _said_in(error)
    return None if what is None else PointstampError("PS762", f"{what}{_where(error)}", RIGHT)


def is_gone(session: SparkSession) -> bool:
    """Whether the JVM of a session has ended, or the server cannot be reached."""
    return not answers(session) if is_remote(session) else has_ended(session.sparkContext._gateway)


def has_ended(gateway: Any) -> bool:
    """Whether the JVM behind a gateway has ended. Cost: a call of the JVM."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    try:
        gateway.jvm.java.lang.System.nanoTime()
    except (Py4JError, OSError):
        return True
    return False


def no_jvm() -> PointstampError:
    """The JVM has ended."""
    return PointstampError("PS762", NO_JVM, RIGHT)


@contextmanager
def told_of(gateway: Any) -> Iterator[None]:
    """What fails while a session is made, or looked at, because its JVM has ended, is said so (PS762)."""
    try:
        yield
    except Exception as error:
        if has_ended(gateway):
            raise no_jvm() from error
        raise


class Watch:
    """Looks whether the JVM is there while a run waits and asks it for nothing. Cost: a call of the JVM each second.

    The looks are made by a thread of their own: a JVM that has no time for an answer does not keep the run from ending.
    Over Spark Connect there are none: a server out of reach for a moment is nothing to a run that does not need it.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._is_gone = False
        self._over = threading.Event()
        if not is_remote(session):
            from pyspark import InheritableThread  # which leaves no thread behind in the JVM

            InheritableThread(target=self._look, name="whether Spark is there", daemon=True).start()

    def check(self) -> None:
        """Raise that the JVM was lost (PS762), if it was."""
        if self._is_gone:
            raise no_jvm()

    def end(self) -> None:
        """Look no more."""
        self._over.set()

    def _look(self) -> None:
        while not self._is_gone and not self._over.wait(OFTEN):
            self._is_gone = is_gone(self._session)


def _gone(session: SparkSession) -> str:
    return "the server of Spark Connect is gone" if is_remote(session) else NO_JVM


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
    if isinstance(error, PointstampError) and error.code != "PS762":
        return f": {error.message.partition(' cannot be ')[0].partition(' failed')[0]} did not come to its end"
    return ""
