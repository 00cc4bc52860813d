"""Sessions of Spark Connect: their driver is a server, which plans and computes, and whose JVM is out of reach.

A pipeline needs little of the JVM. What has another way over Connect goes it: jobs are cancelled by tags instead of job
groups, a table that is kept is let go when nobody has it, and files on this machine are looked at by Python where the
server is on it as well. The rest is refused in words (PS755).
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTRA = "pip install 'pointstamp[connect]'"
SERVER = re.compile(r"sc://(\[[^\]]*\]|[^:/;]*)(?::(\d+))?")
PORT = 15002  # where a server listens unless it is told otherwise
HERE = ("localhost", "::1")
REACH = 10.0  # seconds that a server has to answer


def is_remote(session: Any) -> bool:
    """Whether a session is one of Spark Connect. Imports nothing of Spark."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def beyond_reach(what: str, right: str = "a classic session: the URL of the cluster instead of sc://") -> Exception:
    """What is asked for is done by Spark's JVM (PS755)."""
    return PointstampError("PS755", f"{what} needs Spark's JVM, which Spark Connect keeps out of reach", right)


def remote_of(master: str | None, said: Mapping[str, str]) -> str | None:
    """The server that is asked for, by `master`, the environment, or the settings; None for a classic session."""
    if master is not None:
        return master if master.startswith("sc://") else None
    return os.environ.get("SPARK_REMOTE") or said.get("spark.remote")


def started(url: str, settings: Mapping[str, str]) -> SparkSession:
    """A session of a server, with the settings that may be changed in a session; PS751 and PS756 where none can be."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if url.startswith("sc://"):
        check_reach(url)
    builder = SparkSession.builder.remote(url)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
        session.version  # noqa: B018 - the server is asked only now
    except ImportError as error:
        missing = f"Spark Connect needs what is not installed: {str(error).splitlines()[0]}"
        raise PointstampError("PS751", missing, EXTRA) from None
    except PySparkException as error:
        reason = str(error).strip().splitlines()[0]
        raise PointstampError("PS756", f"a session on {url!r} does not start: {reason}", "another server") from None
    return session


def check_reach(url: str) -> None:
    """Refuse (PS756) a server that does not answer; Spark itself would try for minutes."""
    host, port = address(url)
    try:
        socket.create_connection((host, port), REACH).close()
    except OSError as error:
        what = f"no server of Spark Connect answers at {host}:{port}: {reason_of(error)}"
        raise PointstampError("PS756", what, "sc://host:port, as the server was started with") from None


def address(url: str) -> tuple[str, int]:
    """Where a server listens."""
    found = SERVER.match(url)
    if found is None or not found[1]:
        raise PointstampError("PS756", f"{url!r} is not the address of a server", "sc://host:port")
    return found[1].strip("[]"), int(found[2] or PORT)


def answers(session: Any) -> bool:
    """Whether the server of a session can be reached. Cost: a connection."""
    host, port = _place_of(session)
    try:
        socket.create_connection((host, port), REACH).close()
    except OSError:
        return False
    return True


def is_here(session: Any) -> bool:
    """Whether the server is on this machine, so that its files are those that are here."""
    host, _ = _place_of(session)
    return host in HERE or host.startswith("127.")


def _place_of(session: Any) -> tuple[str, int]:
    return address(f"sc://{session.client._builder.endpoint}")
