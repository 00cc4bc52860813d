"""A broker of Kafka for the tests: a small JVM on this machine alone, in a folder that is gone with the tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from scripts.fetch_kafka import FOLDER

PATIENCE = 90.0  # seconds for the broker to start
SMALL = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{FOLDER}/*"]
SETTINGS = """
node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=2097152
num.network.threads=1
num.io.threads=2
"""


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def broker() -> Iterator[str]:
    """Where a broker listens."""
    assert FOLDER.exists(), "there is no broker of Kafka: .venv/bin/python scripts/fetch_kafka.py"
    folder = Path(tempfile.mkdtemp(prefix="kafka-"))
    ports = {"broker": free_port(), "controller": free_port()}
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(folder=folder, **ports))
    try:
        format_ = ["java", *SMALL, "kafka.tools.StorageTool", "format", "-t", "A" * 21 + "Q", "-c", str(settings)]
        subprocess.run(format_, check=True, capture_output=True)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(["java", *SMALL, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
        try:
            servers = f"127.0.0.1:{ports['broker']}"
            _wait(process, servers, folder / "log")
            yield servers
        finally:
            process.kill()  # what it has stored is of no use to anybody
            process.wait(PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], servers: str, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            if client.list_topics(timeout=1).brokers:
                return
        except KafkaException:
            time.sleep(0.1)
    raise AssertionError(log.read_text())
