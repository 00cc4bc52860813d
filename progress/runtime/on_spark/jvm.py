"""The JVM of Spark: whether there can be one, its start, what it says, and interrupts while it is being called."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from progress.errors import PointstampError
from progress.runtime.on_spark.jobs.cancelled import Cancelled

LOWEST_JAVA = 17
LONGEST_REASON = 200  # characters of what Spark says
OFTEN = 0.2  # seconds between two attempts to cancel what runs
PATIENCE = 10.0  # seconds that a call of the JVM may take


def check_java() -> None:
    """Refuse (PS752) a machine without Java, or with one that is too old. Starts `java -version` once.

    Raises
    ------
    PointstampError
        PS752 where there is none, or one that is too old.

    Examples
    --------
    >>> from progress.runtime.on_spark.jvm import check_java
    >>> check_java()
    """
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = f"install Java {LOWEST_JAVA} or newer (openjdk-{LOWEST_JAVA}-jre-headless), or point JAVA_HOME at it"
    try:
        if command is None:
            raise FileNotFoundError
        said = subprocess.run([command, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    except (OSError, subprocess.SubprocessError):
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise PointstampError("PS752", f"Spark runs on Java, and there is none {where}", hint) from None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is not None and int(found[1]) < LOWEST_JAVA:
        raise PointstampError("PS752", f"this is Java {found[1]}, and Spark needs {LOWEST_JAVA} or newer", hint)


def launched(settings: Mapping[str, str]) -> Any:
    """A gateway to a new JVM, or what the JVM said before it ended."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    reading, writing = os.pipe()
    said = _Said(reading)
    logged, logging.root.manager.disable = logging.root.manager.disable, logging.CRITICAL  # py4j logs an interrupt
    try:
        wanted = SparkConf().setAll(list(settings.items()))
        gateway = launch_gateway(wanted, {"stdout": writing, "stderr": writing})  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, Py4JError, ConnectionError):  # it may end while it is asked for the first time
        os.close(writing)
        return said.until_the_end()
    except BaseException as error:  # an interrupt
        os.close(writing)
        _end_jvm(error)
        raise
    finally:
        logging.root.manager.disable = logged
    os.close(writing)
    return gateway


def _end_jvm(error: BaseException) -> None:
    """End the JVM that was being launched: it would wait for ever for somebody who is gone. Only the frame has it.

    It may still be a script that waits for what it has started.
    """
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    held = (frame.f_locals for frame in frames if frame.f_code.co_name == "launch_gateway")
    for process in [each["proc"] for each in held if "proc" in each]:
        below = _below(process.pid)
        process.kill()
        for pid in below:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have; none where the system does not say."""
    above = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            above[int(stat.parent.name)] = int(stat.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    found = [pid]
    for each in found:
        found += [other for other, parent in above.items() if parent == each]
    return found[1:]


def reason_in(said: str) -> str:
    """The line of what Spark said that tells most."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    telling = next((line for line in reversed(lines) if "Exception" in line or "Error" in line), None)
    return (telling or (lines[-1] if lines else "it said nothing"))[:LONGEST_REASON]


_SAID: list[_Said] = []


def pass_on(has_started: bool) -> None:
    """Whether what the last JVM says is passed on to stderr from now on: once a session is there."""
    if _SAID:
        _SAID[-1].has_started = has_started


class _Said(threading.Thread):
    """What a JVM writes: kept while it starts, passed on to stderr afterwards, so that stdout stays clean."""

    def __init__(self, reading: int) -> None:
        super().__init__(name="what Spark says", daemon=True)
        self._reading = reading
        self._kept: list[bytes] = []
        self.has_started = False
        _SAID.append(self)
        self.start()

    def run(self) -> None:
        """Until the JVM ends."""
        while chunk := os.read(self._reading, 1 << 16):
            if self.has_started:
                sys.stderr.write(chunk.decode("utf-8", "replace"))
                sys.stderr.flush()
            else:
                self._kept.append(chunk)
        os.close(self._reading)

    def until_the_end(self) -> str:
        """All that was said by a JVM that has ended."""
        self.join(timeout=10)
        return b"".join(self._kept).decode("utf-8", "replace")


# --- interrupts ------------------------------------------------------------------------------------------------------


@contextmanager
def own_interrupts() -> Iterator[None]:
    """SIGINT waits until the JVM has answered, some seconds; afterwards it does what it did before.

    Spark's own handler calls the JVM in the midst of another call of the same thread, so that neither gets its answer.
    The second SIGINT ends the process.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
        yield
        return
    came = threading.Event()

    def wait(number: int, frame: object) -> None:
        if came.is_set():
            os._exit(128 + number)
        came.set()

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came.is_set():
        signal.raise_signal(signal.SIGINT)


@contextmanager
def ends_on_interrupt() -> Iterator[None]:
    """While it is open, SIGINT cancels all jobs of the active session, and KeyboardInterrupt is raised when they are.

    The second one ends the process. Where there is no session yet it is an interrupt like any other. Nothing is raised
    in the midst of a call of the JVM, whose answer the next call would get.
    """
    came, over = threading.Event(), threading.Event()
    cancelling: list[threading.Thread] = []

    def stop(number: int, frame: object) -> None:
        if came.is_set():
            os._exit(128 + number)
        context = _active_context()
        if context is None:
            raise KeyboardInterrupt
        came.set()
        cancelling.append(threading.Thread(target=_cancel_all, args=(context, over), daemon=True))
        cancelling[0].start()

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except Exception:
        if came.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        over.set()
        for thread in cancelling:  # what begins after this is not cancelled
            thread.join(PATIENCE)
        signal.signal(signal.SIGINT, before)
    if came.is_set():
        raise KeyboardInterrupt


def _active_context() -> Any:
    """Spark's context, once it has started."""
    kind = getattr(sys.modules.get("pyspark"), "SparkContext", None)  # it may be half imported
    context = getattr(kind, "_active_spark_context", None)
    return context if getattr(context, "_jsc", None) is not None else None


def _cancel_all(context: Any, over: threading.Event) -> None:
    jobs: set[int] = set()
    while not over.is_set():
        with suppress(Exception):  # the JVM may be what has ended
            jobs.update(context.statusTracker().getActiveJobsIds())
            context.cancelAllJobs()
        over.wait(OFTEN)
    left = Cancelled(context, lambda: jobs)
    threading.Thread(target=left.end, name="tasks that are cancelled", daemon=True).start()
