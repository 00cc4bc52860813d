"""A topic of Kafka as a sink: each bundle is one transaction, which has its stamp.

The stamps are records of the topic `pointstamp.last`, which is compacted: the last one of a key stands for all. They
are in the transaction of their bundle. The transactional id is that of the application, the topic and the edge: whoever
begins to deliver there ends what a run before had begun and not committed, and that run is refused from then on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, TypeAlias

from progress.errors import brief
from progress.plain import write_time
from progress.runtime.durable.bundles import Bundle
from progress.runtime.on_kafka.client import PATIENCE, READS, complaining, configured, ends, library
from progress.runtime.sinks.json_text import expanded, json_text
from progress.runtime.sinks.place import Place
from progress.runtime.sinks.sql_table import APPLICATION
from progress.runtime.source_failure import as_row

STAMPS = "pointstamp.last"
COMPACT = {  # so that few stamps are read that others have replaced
    "cleanup.policy": "compact",
    "segment.bytes": "1048576",
    "min.cleanable.dirty.ratio": "0.1",
}
OPEN = 90.0  # seconds that a transaction of somebody else may be open: brokers end it after 60, and look every 10
OFTEN = 1.0  # seconds
Key: TypeAlias = Callable[[Any, Any], "str | bytes | None"]


class KafkaSink:
    """A topic that keeps what leaves an edge, each value once for whoever reads what is committed.

    Parameters
    ----------
    servers : the brokers to ask first, `"host:9092,other:9092"`
    topic : has to be there
    key : makes the key of a record of (time, value), which decides on its partition; None: any partition
    application : runs of different applications have nothing to do with each other
    settings : more of what librdkafka may be told, such as how to log in

    A record is a line as files have it: `{"time": t, "value": v}`. Readers set `isolation.level=read_committed`, as
    most do by default. A run that is not kept adds to the topic.

    Examples
    --------
    >>> from pointstamp import KafkaSink
    >>> KafkaSink("localhost:9092", "totals", key=lambda time, value: value["shop"]).topic
    'totals'
    """

    def __init__(
        self,
        servers: str,
        topic: str,
        *,
        key: Key | None = None,
        application: str = APPLICATION,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.servers = servers
        self.topic = topic
        self.key = key
        self.application = application
        self.settings = dict(settings or {})

    def sink_for(self, name: str) -> _Topic:
        """The sink of a run."""
        return _Topic(self, name)


class _Topic:
    """The topic of one edge, in one run."""

    takes_rows = True

    def __init__(self, sink: KafkaSink, edge: str) -> None:
        self._sink = sink
        self._where = Place(edge, f"topic {brief(sink.topic)} of Kafka")
        self._key = json.dumps([sink.application, sink.topic, edge]).encode()
        self._producer: Any = None
        self._refused: list[Any] = []  # what was said of records that no broker takes

    def shut_out(self) -> None:
        """Whoever has delivered here before is refused from now on, and what it has left open is ended."""
        kafka = library(self._where)
        with complaining(self._where):
            named = {"transactional.id": self._key.decode(), "enable.idempotence": True}
            self._producer = kafka.Producer(configured(self._sink.servers, self._sink.settings, named))
            self._producer.init_transactions(PATIENCE)

    def last(self) -> str | None:
        """The stamp of the bundle that was committed last. Ends a transaction that a run before has left open.

        Cost: reading the stamps that are not compacted yet; where a transaction of somebody else is open there, waiting
        for its end, since it hides what was committed behind it.
        """
        if self._producer is None:
            self.shut_out()
        kafka = library(self._where)
        with complaining(self._where):
            there = self._producer.list_topics(timeout=PATIENCE).topics
            if STAMPS not in there:
                self._make_stamps()
            stamp = self._last_stamp(kafka)
        if self._sink.topic not in there:
            if stamp is not None:
                raise self._where.is_gone(stamp)
            raise self._where.failed("there is no such topic", "a topic with as many partitions as it is to have")
        return stamp

    def _make_stamps(self) -> None:
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        client = AdminClient(configured(self._sink.servers, self._sink.settings))
        made = client.create_topics([NewTopic(STAMPS, num_partitions=1, replication_factor=-1, config=COMPACT)])
        made[STAMPS].result(PATIENCE)

    def _last_stamp(self, kafka: Any) -> str | None:
        end = ends(self._sink.servers, self._sink.settings, STAMPS, [0])[0]
        ours = {**READS, "fetch.wait.max.ms": 10}
        consumer = kafka.Consumer(configured(self._sink.servers, self._sink.settings, ours))
        stamp: str | None = None
        is_hidden = False
        until = monotonic() + PATIENCE
        try:
            consumer.assign([kafka.TopicPartition(STAMPS, 0, kafka.OFFSET_BEGINNING)])
            while True:
                record = consumer.poll(OFTEN)
                if record is None:
                    if monotonic() < until:
                        continue
                    if is_hidden:
                        raise self._where.failed(f"a transaction of somebody else is open in {STAMPS}", "its end")
                    raise kafka.KafkaException(kafka.KafkaError(kafka.KafkaError._TIMED_OUT))
                until = monotonic() + PATIENCE
                if record.error() is None:
                    if record.key() == self._key:
                        stamp = json.loads(record.value())["stamp"]
                elif record.error().code() != kafka.KafkaError._PARTITION_EOF:
                    raise kafka.KafkaException(record.error())
                elif record.offset() >= end:
                    return stamp
                else:
                    is_hidden, until = True, monotonic() + OPEN
        finally:
            consumer.close()

    def deliver(self, bundle: Bundle) -> None:
        """Store a bundle, and its stamp: both or neither. Cost: one transaction, some tens of milliseconds."""
        records = [self._record(time, each) for time, value in bundle.values for each in expanded([value])]
        stamp: dict[str, Any] = {"stamp": bundle.stamp}
        if bundle.complete is not None:
            stamp["complete"] = [write_time(time) for time in bundle.complete]
        last = json_text(stamp, "the times", self._where.edge, None).encode()
        self._refused.clear()
        with complaining(self._where):
            self._producer.begin_transaction()
            try:
                for key, content in records:
                    self._produce(self._sink.topic, key, content)
                self._produce(STAMPS, self._key, last)
                self._hear(self._producer.flush, PATIENCE)
                self._check()
                self._producer.commit_transaction(PATIENCE)
            except BaseException:
                self._give_up()
                raise

    def _produce(self, topic: str, key: Any, content: bytes) -> None:
        while True:
            try:
                self._producer.produce(topic, content, key, on_delivery=self._told)
                self._hear(self._producer.poll, 0)
                return
            except BufferError:  # there is no room for more until the broker has taken some
                self._hear(self._producer.poll, 0.1)

    def _hear(self, serve: Callable[[float], object], seconds: float) -> None:
        """Let the library tell what became of records. Once the producer has failed for good it raises that instead, in
        the midst of telling, which Python finds odd (SystemError); the commit says then what has happened.
        """
        with suppress(SystemError, library(self._where).KafkaException):
            serve(seconds)

    def _told(self, error: Any, record: Any) -> None:
        if error is not None:
            self._refused.append(error)

    def _check(self) -> None:
        """Raise what was said of a record by itself, and is not but said of all since the producer has failed."""
        kafka = library(self._where)
        errors = kafka.KafkaError
        follows = (errors._PURGE_QUEUE, errors._PURGE_INFLIGHT, errors._FATAL)  # the commit says why
        for error in self._refused:
            if error.code() not in follows:
                raise kafka.KafkaException(error)

    def _give_up(self) -> None:
        """End the transaction; where that cannot be said, the next run ends it."""
        kafka = library(self._where)
        with suppress(kafka.KafkaException):
            self._producer.purge()
            self._producer.abort_transaction(1)

    def _record(self, time: Any, value: Any) -> tuple[Any, bytes]:
        key = None if self._sink.key is None else self._sink.key(time, value)
        if isinstance(key, str):
            key = key.encode("utf-8", "surrogatepass")
        if not isinstance(key, bytes | None):
            what = f"key gave {brief(key)} for {brief(value)}, at {brief(time)}"
            raise self._where.failed(what, "a text, bytes or None")
        when = json_text(write_time(time), "the time", self._where.edge, time)
        text = json_text(as_row(value), "the value", self._where.edge, time)
        return key, f'{{"time": {when}, "value": {text}}}'.encode()

    def close(self) -> None:
        """The run is over."""
        self._producer = None
