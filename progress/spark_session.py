"""The one place that knows which Spark, which Java and which packages this project works with, and why.

* Spark 4.1 (extra `spark`). It runs on Java 17 and newer, with Scala 2.13.
* GraphFrames comes in two halves. The Python half, graphframes-py, brings no JVM half. Its own coordinate is
  `GRAPHFRAMES`, the version that of the Python half. Not every repository has it, so `GRAPHFRAMES_ELSEWHERE` follows:
  a release of Apache Sedona for Spark 4 and Scala 2.13 that contains the classes `org.graphframes` under their own
  names, unchanged, as of version 0.9. The Python half may call what 0.9 does not have (`setUseLocalCheckpoints`, which
  its `shortestPaths` uses; `required_*_columns`); this project calls only what both have.
* Delta Lake (`DELTA`, with the settings `DELTA_SETTINGS`) is asked for by those who use it, by `packages` and
  `settings`. Its coordinate names the Spark that it was built against; one for another fails when a table is written.
* A package is looked for by Spark itself (Ivy) when its JVM starts and is kept in Ivy's folder. Which of the two
  coordinates is there already is tried first, so that a machine without a network starts as one with it.

Nothing of Spark is imported before a session is asked for. `start_session` takes some seconds, nearly all of them the
start of the JVM; a session that is active already is used as it is.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from progress.errors import PointstampError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOWEST_SPARK, BELOW_SPARK = (4, 1), (4, 2)
LOWEST_JAVA = 17
GRAPHFRAMES = "io.graphframes:graphframes-spark4_2.13"
GRAPHFRAMES_ELSEWHERE = "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0"
GRAPHFRAMES_CLASS = "org.graphframes.GraphFramePythonAPI"
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
DELTA_CLASS = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_SETTINGS = {  # without them tables can neither be planned nor found by their path
    "spark.sql.extensions": DELTA_CLASS,
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
IVY_FOLDER = "~/.ivy2.5.2"  # Spark's own default
EXTRA = "pip install 'pointstamp[spark]'"
MASTERS = re.compile(r"local(-cluster)?(\[.*\])?$|spark://|yarn$|k8s://")
LONGEST_REASON = 200  # characters of what Spark says
REACH = 10.0  # seconds that a master has to answer
OFTEN = 0.2  # seconds between two attempts to cancel what runs


def start_session(
    master: str | None = None,
    settings: Mapping[str, Any] | None = None,
    graphframes: str | Literal[False] | None = None,
    packages: Iterable[str] = (),
    app_name: str = "pointstamp",
) -> SparkSession:
    """The active session, as it is, or a new one.

    Parameters
    ----------
    master : as Spark writes it; without it `local[*]`, all cores of this machine
    settings : Spark's own settings, which go before those made here
    graphframes : a coordinate (`group:artifact:version`) or a jar with GraphFrames in it; None for the coordinates of
        this module, one after the other; False for a session without it
    packages : more coordinates, Delta Lake's for instance
    app_name : what Spark's own pages call the application

    Raises
    ------
    PointstampError
        PS751 Spark is not installed, PS752 no Java or one that is too old, PS753 another version of Spark, PS754 a
        package cannot be had, PS755 Spark Connect, PS756 the session does not start.
    """
    check_installed(graphframes is not False)
    if str(master).startswith("sc://") or os.environ.get("SPARK_REMOTE"):
        raise _connect()
    if master is not None and not MASTERS.match(master):
        raise PointstampError("PS756", f"{master!r} is no master of Spark", "local[*], or spark://host:port")
    if graphframes:
        _check_choice(graphframes)
    active = active_session()
    if active is not None:
        check_session(active, graphframes is not False)
        return active
    given = {key: _written(value) for key, value in (settings or {}).items()}
    wanted = {**_defaults(master or given.get("spark.master", "local[*]"), app_name), **given}
    _check_reach(wanted["spark.master"])
    _environment(wanted["spark.master"])
    session = _started(wanted, _choices(graphframes, wanted), list(packages))
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it repeats on stderr what is raised
    check_session(session, graphframes is not False)
    return session


def active_session() -> SparkSession | None:
    """The session that somebody in this process has started and not stopped. Nothing of Spark is imported for it."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        connect = sys.modules.get("pyspark.sql.connect.session")
        return connect.SparkSession.getActiveSession() if connect is not None else None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def check_installed(graphframes: bool = True) -> None:
    """Refuse (PS751, PS753) an interpreter without the right Spark. Costs the import of pyspark, once."""
    try:
        import pyspark

        if graphframes:
            import graphframes as _  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        name = error.name or "pyspark"
        raise PointstampError("PS751", f"this needs {name}, which is not installed", EXTRA) from None
    _check_version(pyspark.__version__)


def _check_version(version: str) -> None:
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if not LOWEST_SPARK <= numbers < BELOW_SPARK:
        wanted = ".".join(map(str, LOWEST_SPARK))
        raise PointstampError("PS753", f"this is Spark {version}, and Spark {wanted} is needed", EXTRA)


def check_session(session: SparkSession, graphframes: bool = True) -> None:
    """Refuse a session that this project cannot work with: Spark Connect, another version, no GraphFrames."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise _connect()
    _check_version(session.version)
    if graphframes and not has_class(session, GRAPHFRAMES_CLASS):
        raise PointstampError(
            "PS754",
            "the session's JVM has no GraphFrames (no class org.graphframes.GraphFrame)",
            f"start it with spark.jars.packages={GRAPHFRAMES_ELSEWHERE}, or leave the start to pointstamp",
        )


def has_class(session: SparkSession, name: str) -> bool:
    """Whether the JVM of the session finds a class."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        session._jvm.Thread.currentThread().getContextClassLoader().loadClass(name)  # type: ignore[union-attr]
    except Py4JJavaError:
        return False
    return True


def _connect() -> PointstampError:
    return PointstampError(
        "PS755",
        "a session of Spark Connect has no JVM in reach, which GraphFrames and cancelling jobs by group need",
        "a classic session: master='local[*]', or the URL of the cluster instead of sc://",
    )


# --- settings --------------------------------------------------------------------------------------------------------


def _defaults(master: str, app_name: str) -> dict[str, str]:
    """Settings for a machine with few cores; the listening ends stay on this machine unless the master is elsewhere."""
    cores = _cores(master)
    found = {
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",  # what fails is raised, in one line
        "spark.scheduler.mode": "FAIR",  # jobs of several times share the executors (progress.runtime.on_spark)
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        "spark.default.parallelism": str(max(2, cores)),
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # else each expression looks at Python's stack
    }
    if _is_here(master):
        found |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if master.startswith("local"):
        found["spark.driver.memory"] = f"{_memory()}m"
    return found


def _cores(master: str) -> int:
    threads = re.match(r"local(?:\[(\d+|\*))?", master)
    if threads is None:
        return 2 * (os.cpu_count() or 1)
    return int(threads[1]) if threads[1] and threads[1] != "*" else 1 if threads[1] is None else os.cpu_count() or 1


def _memory() -> int:
    """MiB for a JVM that is driver and executor in one: a third of the machine's, from 1 GiB to 8 GiB."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
    except (ValueError, OSError, AttributeError):
        there = 0
    return min(max(there // 3, 1024), 8192)


def _is_here(master: str) -> bool:
    return master.startswith("local") or re.match(r"spark://(127\.|localhost[:/])", master) is not None


def _environment(master: str) -> None:
    """What Spark reads from the environment: the address, and the interpreter of its Python workers."""
    if _is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _check_reach(master: str) -> None:
    """Refuse (PS756) a standalone master that does not answer; Spark itself would ask it for a minute."""
    addresses = master.removeprefix("spark://").split(",") if master.startswith("spark://") else []
    reasons = []
    for address in addresses:  # of several, one leads and the others stand by
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), REACH).close()
        except (OSError, ValueError, OverflowError) as error:
            reasons.append(getattr(error, "strerror", None) or str(error))
        else:
            return
    if reasons:
        what = f"no master answers at {master}: {reasons[0].lower()}"
        raise PointstampError("PS756", what, "the URL that the master says on its page, spark://host:7077")


def _check_settings(settings: Mapping[str, str], gateway: Any) -> None:
    """Refuse (PS756) settings of Spark SQL that are none: a session that has one fails at whatever it is asked."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    known = gateway.jvm.org.apache.spark.sql.internal.SQLConf()
    for key, value in settings.items():
        if not key.startswith("spark.sql."):
            continue
        try:
            known.setConfString(key, value)
        except (Py4JError, PySparkException) as error:
            java = getattr(error, "java_exception", None)
            reason = _reason(java.getMessage() if java is not None else str(error))
            raise PointstampError("PS756", f"{key}={value} is no setting: {reason}", "another value") from None


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- packages --------------------------------------------------------------------------------------------------------


def _choices(graphframes: str | Literal[False] | None, wanted: Mapping[str, str]) -> list[str]:
    """Coordinates or jars to try one after the other; an empty text stands for none."""
    if graphframes is False:
        return [""]
    if graphframes is not None:
        return [graphframes]
    return sorted(coordinates(), key=lambda coordinate: not _is_kept(coordinate, wanted))


def _check_choice(graphframes: str) -> None:
    is_jar = graphframes.endswith(".jar")
    if is_jar and not Path(graphframes).is_file():
        raise PointstampError("PS754", f"there is no jar {graphframes!r}", "the path of a file that exists")
    if not is_jar and graphframes.count(":") != 2:
        raise PointstampError(
            "PS754", f"{graphframes!r} is neither a jar nor a coordinate", f"such as {GRAPHFRAMES_ELSEWHERE}"
        )


def coordinates() -> list[str]:
    """The coordinates at which GraphFrames may be had, the right one first."""
    from importlib.metadata import version

    return [f"{GRAPHFRAMES}:{version('graphframes-py')}", GRAPHFRAMES_ELSEWHERE]


def _is_kept(coordinate: str, wanted: Mapping[str, str]) -> bool:
    """Whether Ivy has kept the package since an earlier start."""
    group, artifact, number = coordinate.split(":")
    folder = Path(wanted.get("spark.jars.ivy", IVY_FOLDER)).expanduser()
    return (folder / "jars" / f"{group}_{artifact}-{number}.jar").is_file()


def _joined(*lists: str) -> str:
    return ",".join(part for part in lists if part)


# --- the JVM ---------------------------------------------------------------------------------------------------------


def _started(wanted: dict[str, str], choices: list[str], packages: list[str]) -> SparkSession:
    """The session with the first choice that can be had."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None:  # a JVM without an active session: it has the packages that it has
        return _session(wanted, None)
    check_java()
    missing: list[str] = []
    for choice in choices:
        settings = dict(wanted)
        key = "spark.jars" if choice.endswith(".jar") else "spark.jars.packages"
        settings[key] = _joined(settings.get(key, ""), choice)
        settings["spark.jars.packages"] = _joined(settings.get("spark.jars.packages", ""), *packages)
        settings = {key: value for key, value in settings.items() if value}
        found = _launched(settings)
        if not isinstance(found, str):
            return _session(settings, found)
        unresolved = re.findall(r"unresolved dependency: ([^;\s]+;[^:\s]+)", found)
        if not unresolved:
            hint = "spark.log.level=ERROR among the settings tells all of it"
            raise PointstampError("PS756", f"Spark's JVM did not start: {_reason(found)}", hint)
        missing += [name.replace("#", ":").replace(";", ":") for name in dict.fromkeys(unresolved)]
        if choice not in missing:
            break  # it is another package that is missing
    raise PointstampError(
        "PS754",
        f"no repository in reach has {' or '.join(missing)}",
        "a network; or a jar or coordinate that can be had, which may be named",
    )


def _launched(settings: Mapping[str, str]) -> Any:
    """A gateway to a new JVM, or what the JVM said before it ended."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    reading, writing = os.pipe()
    said = _Said(reading)
    logged, logging.root.manager.disable = logging.root.manager.disable, logging.CRITICAL  # py4j logs an interrupt
    try:
        wanted = SparkConf().setAll(list(settings.items()))
        gateway = launch_gateway(wanted, {"stdout": writing, "stderr": writing})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError:
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
    """End the JVM that was being launched: it would wait for ever for somebody who is gone. Only the frame has it."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    held = (frame.f_locals for frame in frames if frame.f_code.co_name == "launch_gateway")
    for process in [each["proc"] for each in held if "proc" in each]:
        process.kill()
        process.wait()


def _session(settings: Mapping[str, str], gateway: Any) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    started = _SAID[-1] if _SAID else None
    if started is not None:
        started.has_started = False
    try:
        with _own_interrupts():
            _check_settings(settings, gateway or SparkContext._gateway)
    except PointstampError:
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()  # which ends the JVM
        raise
    try:
        with _own_interrupts():
            context = SparkContext(conf=SparkConf().setAll(list(settings.items())), gateway=gateway)
        session = SparkSession(context, options=dict(settings))
    except (Py4JError, ValueError, TypeError) as error:
        java = getattr(error, "java_exception", None)
        reason = java.toString() if java is not None else str(error)
        raise PointstampError(
            "PS756", f"a session on {settings['spark.master']!r} does not start: {_reason(reason)}", "another master"
        ) from None
    if started is not None:
        started.has_started = True
    return session


@contextmanager
def _own_interrupts() -> Iterator[None]:
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

    def stop(number: int, frame: object) -> None:
        if came.is_set():
            os._exit(128 + number)
        context = _active_context()
        if context is None:
            raise KeyboardInterrupt
        came.set()
        threading.Thread(target=_cancel_all, args=(context, over), daemon=True).start()

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
        signal.signal(signal.SIGINT, before)
    if came.is_set():
        raise KeyboardInterrupt


def _active_context() -> Any:
    """Spark's context, once it has started."""
    kind = getattr(sys.modules.get("pyspark"), "SparkContext", None)  # it may be half imported
    context = getattr(kind, "_active_spark_context", None)
    return context if getattr(context, "_jsc", None) is not None else None


def _cancel_all(context: Any, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(Exception):  # the JVM may be what has ended
            context.cancelAllJobs()
        over.wait(OFTEN)


def _reason(said: str) -> str:
    """The line of what Spark said that tells most."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    telling = next((line for line in reversed(lines) if "Exception" in line or "Error" in line), None)
    return (telling or (lines[-1] if lines else "it said nothing"))[:LONGEST_REASON]


_SAID: list[_Said] = []


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


def check_java() -> None:
    """Refuse (PS752) a machine without Java, or with one that is too old. Starts `java -version` once."""
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
