"""A standalone cluster of Spark on this machine: a master and a worker, each a process that listens on 127.0.0.1.

`cluster()` starts it when the first test asks for it, `end_cluster()` ends all of it. A worker and its
executors are a process group, so that `Process.kill` is what a machine that fails looks like. An executor costs each
run on the cluster half of what the run's driver costs, so more workers are there for the test that is about them.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

WAIT = 60.0  # seconds for a process to come up
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"

# What drivers set so that a run of seconds fits on two cores that others use as well, and survives what tests do to it.
DRIVER_SETTINGS = {
    "spark.driver.memory": "700m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.python.worker.reuse": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.log.level": "FATAL",
    "spark.task.maxFailures": "20",
    "spark.stage.maxConsecutiveAttempts": "20",
}


class Process(NamedTuple):
    """A process of the cluster, with what it says."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def said(self, pattern: str) -> re.Match[str]:
        """Wait until it has said something."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            found = re.search(pattern, self.log.read_text(encoding="utf-8", errors="replace"))
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"not said: {pattern}\n{self.log.read_text(encoding='utf-8', errors='replace')[-2_000:]}")


class Cluster:
    """A master and a worker, and more of them where a test adds them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cluster-"))
        self._processes: list[Process] = []
        atexit.register(self.close)
        master = self._start("master", MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = f"spark://127.0.0.1:{master.said(r'Starting Spark master at spark://127.0.0.1:([0-9]+)')[1]}"
        self.workers: list[Process] = []
        self.add_worker()

    def add_worker(self) -> Process:
        """One more worker."""
        name = f"worker-{len(self._processes)}"
        listens = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        size = ("--cores", "1", "--memory", "600m", "--work-dir", str(self.folder / name))
        self.workers.append(self._start(name, WORKER, *listens, *size, self.url))
        self.workers[-1].said("Successfully registered with master")
        return self.workers[-1]

    def close(self) -> None:
        """End all processes."""
        for process in reversed(self._processes):
            if process.process.poll() is None:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, kind: str, *arguments: str) -> Process:
        import pyspark

        log = self.folder / f"{name}.log"
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "200m",
            "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
            "PYSPARK_PYTHON": sys.executable,
        }
        with log.open("wb") as said:
            process = subprocess.Popen(
                [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), kind, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        self._processes.append(Process(process, log))
        return self._processes[-1]


@cache
def cluster() -> Cluster:
    """The cluster of the tests, started when the first of them asks for it."""
    return Cluster()


def end_cluster() -> None:
    """End the cluster, if there is one; test runners do not always get to `atexit`."""
    if cluster.cache_info().currsize:
        cluster().close()
        cluster.cache_clear()
