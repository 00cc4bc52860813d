"""What is asked of Kafka in one way everywhere: how clients are made, and what they say in one line."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from types import ModuleType
from typing import Any

from progress.runtime.sinks.place import Place

PATIENCE = 30.0  # seconds that a broker may take to answer
OFTEN = 0.1  # seconds between two questions
MISSING = "pip install 'pointstamp[kafka]'"
NOTHING: Mapping[str, Any] = {}
READS = {  # what a client has that reads what is committed, as far as it goes now
    "group.id": "pointstamp",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
}
RIGHT = "brokers that answer and take what is delivered; the run goes on from there when it is begun again"


def library(where: Place) -> ModuleType:
    """The module confluent_kafka; PS725 where it is not installed."""
    try:
        import confluent_kafka
    except ImportError:
        raise where.failed("confluent-kafka is not installed", MISSING) from None
    return confluent_kafka


SILENT = logging.Logger("kafka")
SILENT.addHandler(logging.NullHandler())


def configured(servers: str, settings: Mapping[str, Any], ours: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """The settings of a client: what is said, and `ours` whatever is said. It writes nothing on standard error."""
    return {"log_level": 0, "logger": SILENT, **settings, **ours, "bootstrap.servers": servers}


def ends(
    servers: str, settings: Mapping[str, Any], topic: str, partitions: Iterable[int], *, first: bool = False
) -> dict[int, int]:
    """Behind which offset each partition ends now, what is not committed yet included; or with which it begins.

    A reader of what is committed is told that it is at the end where a transaction is open, of whomever.
    """
    from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition, admin

    which: Any = admin.OffsetSpec  # type: ignore[attr-defined]
    asked = {TopicPartition(topic, each): which.earliest() if first else which.latest() for each in partitions}
    moving = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.UNKNOWN_TOPIC_OR_PART)
    until = monotonic() + PATIENCE
    while True:
        client = admin.AdminClient(configured(servers, settings))
        found = client.list_offsets(asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=PATIENCE)
        try:
            return {each.partition: future.result(PATIENCE).offset for each, future in found.items()}
        except KafkaException as error:
            if error.args[0].code() not in moving or monotonic() > until:
                raise
        sleep(OFTEN)  # a topic that was just made, or whose brokers change, soon has who answers for it


@contextmanager
def complaining(where: Place) -> Iterator[None]:
    """What a client raises here is said in one line: PS725."""
    kafka = library(where)
    fenced = (kafka.KafkaError._FENCED, kafka.KafkaError.PRODUCER_FENCED, kafka.KafkaError.INVALID_PRODUCER_EPOCH)
    try:
        yield
    except kafka.KafkaException as error:
        said = error.args[0]
        if said.code() in fenced:
            raise where.taken(", or this run stood still for so long that the broker has given it up") from None
        raise where.failed(said.str(), RIGHT) from error
