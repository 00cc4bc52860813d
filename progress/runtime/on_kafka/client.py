"""What is asked of Kafka in one way everywhere: how clients are made, and what they say in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from progress.runtime.sinks.place import Place

PATIENCE = 30.0  # seconds that a broker may take to answer
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


def configured(servers: str, settings: Mapping[str, Any], ours: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """The settings of a client: what is said, and `ours` whatever is said. It writes nothing on standard error."""
    return {"log_level": 0, **settings, **ours, "bootstrap.servers": servers}


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
            raise where.taken() from None
        raise where.failed(said.str(), RIGHT) from error
