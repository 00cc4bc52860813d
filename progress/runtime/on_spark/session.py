"""The one place that knows which Spark and which packages this project works with, and why; and the start of a session.

* Pipelines need Spark 4.1 to 4.3 and nothing else (extra `pipelines`). It runs on Java 17 and newer, with Scala 2.13.
* Graphs at scale need GraphFrames (`progress.runtime.on_spark.graphframes`) as well, and so the Spark that it was built
  for, 4.1 (extra `spark`); a Spark that has GraphFrames in it will do, too.
* Delta Lake (`DELTA`, with the settings `DELTA_SETTINGS`) is asked for by those who use it, by `packages` and
  `settings`. Its coordinate names the Spark that it was built against; one for another fails when a table is written.
* Iceberg (`ICEBERG`, with `ICEBERG_SETTINGS` and the settings of a catalog) is asked for in the same way, and its
  coordinate names its Spark as well.

Nothing of Spark is imported before a session is asked for. `start_session` takes some seconds, nearly all of them the
start of the JVM; a session that is active already is used as it is.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal

from progress.errors import PointstampError, reason_of
from progress.runtime.on_spark.connect import beyond_reach, is_remote, remote_of
from progress.runtime.on_spark.connect import started as remote_session
from progress.runtime.on_spark.graphframes import GRAPHFRAMES_CLASS, GRAPHFRAMES_ELSEWHERE, check_choice, choices
from progress.runtime.on_spark.graphframes import comes_with_spark as has_graphframes
from progress.runtime.on_spark.graphframes import import_it as import_graphframes
from progress.runtime.on_spark.jobs.losses import told_of
from progress.runtime.on_spark.jvm import check_java, ends_on_interrupt, launched, own_interrupts, pass_on, reason_in
from progress.runtime.on_spark.packages import fetched_by_one
from progress.runtime.on_spark.settings import as_text, fill, found, found_in, is_here, joined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DELTA", "DELTA_SETTINGS", "ICEBERG", "ICEBERG_SETTINGS", "check_java", "ends_on_interrupt", "start_session"]

LOWEST_SPARK, BELOW_SPARK = (4, 1), (4, 4)
BELOW_WITH_GRAPHFRAMES = (4, 2)
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
DELTA_CLASS = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_SETTINGS = {  # without them tables can neither be planned nor found by their path
    "spark.sql.extensions": DELTA_CLASS,
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
ICEBERG_SETTINGS = {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
EXTRA, ONLY_PIPELINES = "pip install 'pointstamp[spark]'", "pip install 'pointstamp[pipelines]'"
MASTERS = re.compile(r"local(-cluster)?(\[.*\])?$|spark://|yarn$|k8s://")
REACH = 10.0  # seconds that a master has to answer
_STARTING = threading.RLock()  # two threads that ask at once get one session
_LAUNCHED: list[Any] = []  # the gateways to JVMs that were launched here


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
    master : as Spark writes it; without it what the user's settings of Spark say, else `local[*]`, this machine;
        `sc://host:port` for a session of Spark Connect, with which pipelines can do (`connect`)
    settings : Spark's own settings, which go before all that are found (`progress.runtime.on_spark.settings`)
    graphframes : a coordinate (`group:artifact:version`) or a jar with GraphFrames in it; None for the coordinates of
        `progress.runtime.on_spark.graphframes`, one after the other; False for a session without it
    packages : more coordinates, Delta Lake's for instance
    app_name : what Spark's own pages call the application, where nothing else does

    Returns
    -------
    The session.

    Raises
    ------
    PointstampError
        PS751 Spark is not installed, PS752 no Java or one that is too old, PS753 another version of Spark, PS754 a
        package cannot be had, PS755 Spark Connect where GraphFrames is needed, PS756 the session does not start.

    Examples
    --------
    >>> from progress.runtime.on_spark.session import start_session
    >>> session = start_session(graphframes=False)
    >>> session.range(3).count()
    3
    """
    check_installed(graphframes is not False)
    remote = remote_of(master, {})
    if remote is not None and graphframes is not False:
        raise _connect()
    if master is not None and remote is None and not MASTERS.match(master):
        raise PointstampError("PS756", f"{master!r} is not a master of Spark", "local[*], or spark://host:port")
    if graphframes:
        check_choice(graphframes)
    with _STARTING:
        active = active_session()
        if active is not None:
            with _told(active):
                check_session(active, graphframes is not False)
            return active
        given = {key: as_text(value) for key, value in (settings or {}).items()}
        if remote is None:
            remote = remote_of(master, {**found(), **given})
        if remote is not None and graphframes is False:
            return remote_session(remote, given)
        if master is not None:
            given["spark.master"] = master
        session = _started(given, graphframes, list(packages), app_name)
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it repeats on stderr what is raised
    logging.getLogger().addFilter(_is_not_raised)
    with _told(session):
        check_session(session, graphframes is not False)
    return session


def _told(session: SparkSession) -> AbstractContextManager[None]:
    """What fails because the JVM of a session has ended is said so."""
    return nullcontext() if is_remote(session) else told_of(session.sparkContext._gateway)


def _is_not_raised(record: logging.LogRecord) -> bool:
    """Whether py4j does not log what it also raises: it does for every call of a JVM that is gone."""
    return f"{os.sep}py4j{os.sep}" not in record.pathname


def _started(
    given: dict[str, str], graphframes: str | Literal[False] | None, packages: list[str], app_name: str
) -> SparkSession:
    """A session with what is given, what is found, and what is filled in."""
    gateway = _gateway()
    is_ours = gateway is None or gateway in _LAUNCHED  # then the JVM has settings of the session before this one, too
    said = {**(found() if is_ours else found_in(gateway.jvm)), **given}
    if "spark.remote" in said:
        raise _connect()
    master = said.get("spark.master", "local[*]")
    wanted = {**fill(master, said, app_name), **given}
    _check_reach(master)
    _environment(master, said)
    if gateway is not None:  # a JVM that runs has the packages that it has
        return _session(wanted, gateway, is_new=False)
    check_java()
    return _with_packages(wanted, said, choices(graphframes, said), packages)


def _gateway() -> Any:
    """The JVM that somebody else has started: `spark-submit`, or who had a session before. None where there is none."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._gateway = launch_gateway()  # type: ignore[no-untyped-call]
        SparkContext._jvm = SparkContext._gateway.jvm
    return SparkContext._gateway


def active_session() -> SparkSession | None:
    """The session that somebody in this process has started and not stopped. Nothing of Spark is imported for it.

    Returns
    -------
    The session; None where there is none.

    Examples
    --------
    >>> from progress.runtime.on_spark.session import active_session, start_session
    >>> session = start_session(graphframes=False)
    >>> active_session().version == session.version
    True
    """
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        connect = sys.modules.get("pyspark.sql.connect.session")
        if connect is None:
            return None
        known = connect.SparkSession
        found: SparkSession | None = known.getActiveSession() or known._get_default_session()
        return found
    with told_of(SparkContext._gateway):
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def check_installed(graphframes: bool = True) -> None:
    """Refuse (PS751, PS753) an interpreter without the right Spark. Costs the import of pyspark, once.

    Raises
    ------
    PointstampError
        PS751 where it is not installed, PS753 where it is another version.

    Examples
    --------
    >>> from progress.runtime.on_spark.session import check_installed
    >>> check_installed(graphframes=False)
    """
    try:
        import pyspark

        if graphframes:
            import_graphframes()
    except ImportError as error:
        name = error.name or "pyspark"
        right = EXTRA if graphframes else ONLY_PIPELINES
        raise PointstampError("PS751", f"this needs {name}, which is not installed", right) from None
    _check_version(pyspark.__version__, graphframes)


def _check_version(version: str, graphframes: bool) -> None:
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if graphframes and not has_graphframes() and not LOWEST_SPARK <= numbers < BELOW_WITH_GRAPHFRAMES:
        raise PointstampError("PS753", f"this is Spark {version}, and GraphFrames needs Spark 4.1", EXTRA)
    if not LOWEST_SPARK <= numbers < BELOW_SPARK:
        what = f"this is Spark {version}, and Spark 4.1 to 4.3 is needed"
        raise PointstampError("PS753", what, EXTRA if graphframes else ONLY_PIPELINES)


def check_session(session: SparkSession, graphframes: bool = True) -> None:
    """Refuse a session that this project cannot work with: another version; no GraphFrames, as over Spark Connect."""
    if graphframes and is_remote(session):
        raise _connect()
    _check_version(session.version, graphframes)
    if graphframes and not has_graphframes() and not has_class(session, GRAPHFRAMES_CLASS):
        raise PointstampError(
            "PS754",
            "the session's JVM has no GraphFrames (no class org.graphframes.GraphFrame)",
            f"start it with spark.jars.packages={GRAPHFRAMES_ELSEWHERE}, or leave the start to pointstamp",
        )


def has_class(session: SparkSession, name: str) -> bool:
    """Whether the JVM of the session finds a class."""
    if is_remote(session):
        raise beyond_reach(f"looking for {name}")
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        session._jvm.Thread.currentThread().getContextClassLoader().loadClass(name)  # type: ignore[union-attr]
    except Py4JJavaError:
        return False
    return True


def _connect() -> PointstampError:
    return PointstampError(
        "PS755",
        "a session of Spark Connect has no JVM in reach, which GraphFrames needs",
        "a classic session: master='local[*]', or the URL of the cluster instead of sc://",
    )


# --- what is checked before ------------------------------------------------------------------------------------------


def _environment(master: str, said: Mapping[str, str]) -> None:
    """What Spark reads from the environment: the address, and the interpreter of its Python workers."""
    if is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", said.get("spark.pyspark.python", sys.executable))
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
            reasons.append(reason_of(error))
        else:
            return
    if reasons:
        what = f"no master answers at {master}: {reasons[0]}"
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
            reason = reason_in(java.getMessage() if java is not None else str(error))
            raise PointstampError("PS756", f"{key}={value} is not a setting: {reason}", "another value") from None


# --- the session -----------------------------------------------------------------------------------------------------


def _with_packages(
    wanted: Mapping[str, str], said: Mapping[str, str], graphframes: list[str], packages: list[str]
) -> SparkSession:
    """The session in a new JVM, with the first choice of GraphFrames that can be had."""
    missing: list[str] = []
    for choice in graphframes:
        settings = dict(wanted)
        key = "spark.jars" if choice.endswith(".jar") else "spark.jars.packages"
        for name, more in ((key, [choice]), ("spark.jars.packages", packages)):
            if any(more):
                settings[name] = joined(settings.get(name, said.get(name, "")), *more)
        with fetched_by_one(settings):
            gateway = launched(settings)
        if not isinstance(gateway, str):
            _LAUNCHED.append(gateway)
            return _session(settings, gateway, is_new=True)
        unresolved = re.findall(r"unresolved dependency: ([^;\s]+;[^:\s]+)", gateway)
        if not unresolved:
            hint = "spark.log.level=ERROR among the settings tells all of it"
            raise PointstampError("PS756", f"Spark's JVM did not start: {reason_in(gateway)}", hint)
        missing += [name.replace("#", ":").replace(";", ":") for name in dict.fromkeys(unresolved)]
        if choice not in missing:
            break  # it is another package that is missing
    raise PointstampError(
        "PS754",
        f"no repository in reach has {' or '.join(missing)}",
        "a network; or a jar or coordinate that can be had, which may be named",
    )


def _session(settings: Mapping[str, str], gateway: Any, is_new: bool) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    pass_on(False)
    try:
        with told_of(gateway), own_interrupts():
            _check_settings(settings, gateway)
    except PointstampError:
        if is_new:
            with suppress(Exception):  # it may have ended
                gateway.shutdown()
            gateway.proc.stdin.close()  # which ends the JVM
        raise
    try:
        with told_of(gateway):
            with own_interrupts():
                context = SparkContext(conf=SparkConf().setAll(list(settings.items())), gateway=gateway)
            session = SparkSession(context, options=dict(settings))
    except (Py4JError, ValueError, TypeError) as error:
        java = getattr(error, "java_exception", None)
        reason = java.toString() if java is not None else str(error)
        where = settings.get("spark.master", "the master of the settings")
        raise PointstampError(
            "PS756", f"a session on {where!r} does not start: {reason_in(reason)}", "another master"
        ) from None
    pass_on(True)
    return session
