"""A server of PostgreSQL for the tests: in a folder of its own, reached by a socket in it alone, gone with the tests.

It does not run as root, so there it runs as the user that the package has made.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0  # seconds for the server to start
USER = "pointstamp"


def program(name: str) -> str:
    """Where a program of the server is; Debian does not put it on the path."""
    found = shutil.which(name) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), default=None)
    assert found is not None, "PostgreSQL is not installed: the package postgresql"
    return found


@contextmanager
def server() -> Iterator[str]:
    """The connection string of a server."""
    folder = tempfile.mkdtemp(prefix="pg-")  # the name of a socket has to be short
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    data = f"{folder}/data"
    made = [program("initdb"), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-N"]
    settings = ["fsync=off", "listen_addresses=", "autovacuum=off", f"unix_socket_directories={folder}"]
    try:
        subprocess.run(made, user=user, cwd=folder, check=True, capture_output=True)
        run = [program("postgres"), "-D", data, *(word for each in settings for word in ("-c", each))]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(run, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            _wait(process, f"{folder}/.s.PGSQL.5432", Path(folder) / "log")
            yield f"host={folder} user={USER} dbname=postgres"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], socket: str, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    ready = "ready to accept connections"
    while not (Path(socket).exists() and ready in log.read_text()):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.02)
