"""A topic of Kafka as a source. It is read from a position, an offset in each partition, by nobody else and no group.

What a partition has at an offset is the same whenever it is read; in which order the partitions come is not. So a run
that is kept writes down whose turn it was (`turns`), and one that goes on takes their records in that order (`follow`).
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from copy import copy
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.plain import read_time
from progress.runtime.on_kafka.client import MISSING, PATIENCE, READS, configured, ends
from progress.runtime.source import SILENT
from progress.runtime.source_failure import Refused

WAIT = 0.1  # seconds to wait for a record, where the engine lets a source wait
MUCH = 10_000  # records of a partition that wait for those of others
NO_PARTITION = "there is no such partition any more"
FORM = '{"time": t, "value": v}'
Turns = list[tuple[int, int]]  # partitions, each with how many of its items came one after the other
Read = Callable[["Record"], Any]


class Record(NamedTuple):
    """A record of a topic; `at` is its timestamp, in milliseconds."""

    key: bytes | None
    value: bytes | None
    partition: int
    offset: int
    at: int


def line(record: Record) -> tuple[Any, Any]:
    """The message of a record that has what a line of a file has: {"time": t, "value": v}."""
    found = json.loads(record.value or b"null")
    if type(found) is not dict or found.keys() != {"time", "value"}:
        raise PointstampError("PS731", f"{brief(found)} is no message", FORM)
    return read_time(found["time"]), found["value"]


class KafkaSource:
    """The records of a topic, all of its partitions, from their beginning on.

    Parameters
    ----------
    servers : the brokers to ask first, `"host:9092,other:9092"`
    topic : has to be there
    read : makes an item of a `Record`: (time, value), `Complete(times)`, or None, which passes it over. It is a
        function of the record alone. Without it records have what lines of a file have: `{"time": t, "value": v}`
    to_end : whether the input ends where the topic ends when that is reached; otherwise it goes on for ever
    settings : more of what librdkafka may be told, such as how to log in

    A run that is kept goes on behind the records that it has read, as long as the topic has them. Records of
    transactions are read when these are committed. A partition that is added comes in with the next run.

    Examples
    --------
    >>> from pointstamp import KafkaSource
    >>> KafkaSource("localhost:9092", "amounts", read=lambda record: (record.at // 60_000, int(record.value))).topic
    'amounts'
    """

    asks_servers = True

    def __init__(
        self,
        servers: str,
        topic: str,
        *,
        read: Read = line,
        to_end: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.servers = servers
        self.topic = topic
        self.read = read
        self.to_end = to_end
        self.settings = dict(settings or {})

    def items_for(self, engine: str, edge: str, domain: Domain) -> Records:
        """The items of a run."""
        return self.items_from(engine, edge, domain, None)

    def items_from(self, engine: str, edge: str, domain: Domain, position: Any) -> Records:
        """The items of a run that is kept, behind the position at which it was."""
        there = {int(partition): offset for partition, offset in (position or {}).items()}
        return Records(self, edge, there, waits=engine in ("threads", "spark"))

    def has_more(self, edge: str, domain: Domain, position: Any) -> bool:
        """Whether the topic has more than a run that has read it to its end, which was at this position."""
        to_the_end = copy(self)
        to_the_end.to_end = True
        with closing(to_the_end.items_from("threads", edge, domain, position)) as records:  # which wait for brokers
            return any(item is not SILENT for item in records)


class Records:
    """What one input brings, for the runtime's `Feed`.

    Cost: that of `read` for each record; records that have not entered the run are remembered.
    """

    goes_on = True  # it begins at its position by itself
    is_prompt = False

    def __init__(self, source: KafkaSource, edge: str, position: dict[int, int], *, waits: bool) -> None:
        self.place = ""
        self._source = source
        self._what = f"the source of {brief(edge)}, topic {brief(source.topic)} of Kafka"
        self._waits = waits
        self._position = position
        self._entered: Turns = []  # whose turn it was since that was asked last
        self._given: deque[tuple[int, int]] = deque()  # partition and offset of items that have not entered the run
        self._items: Counter[int] = Counter()  # how many there were, by partition
        self._digested: Counter[int] = Counter()  # how many of them have entered the run
        self._passed: dict[int, int] = {}  # behind the last record that was passed over
        self._ahead: dict[int, deque[Record]] = {}
        self._paused: set[int] = set()
        self._follows: deque[int] = deque()  # whose turn is next, where that is known
        self._at_end: set[int] = set()
        self._ends: dict[int, int] = {}  # where the topic ended when the run began
        self._is_stopped = False
        self._consumer = self._begun()

    def _begun(self) -> Any:
        try:
            import confluent_kafka as kafka
        except ImportError:
            raise self._failed("confluent-kafka is not installed", MISSING) from None
        source = self._source
        ours = {**READS, "auto.offset.reset": "error"}
        try:
            consumer = kafka.Consumer(configured(source.servers, source.settings, ours))
            there = consumer.list_topics(source.topic, timeout=PATIENCE).topics[source.topic]
            if there.error is not None:
                raise kafka.KafkaException(there.error)
            self._ahead = {partition: deque() for partition in sorted(there.partitions)}
            for partition in self._position.keys() - self._ahead.keys():
                raise self._gone(partition, NO_PARTITION)
            new = self._ahead.keys() - self._position.keys()
            self._position |= ends(source.servers, source.settings, source.topic, new, first=True) if new else {}
            self._ends = ends(source.servers, source.settings, source.topic, self._ahead)
            starts = [kafka.TopicPartition(source.topic, *each) for each in sorted(self._position.items())]
            consumer.assign(starts)
        except kafka.KafkaException as error:
            raise self._failed(error.args[0].str(), "brokers that answer, and a topic that is there") from error
        return consumer

    # --- for the engine ----------------------------------------------------------------------------------------------

    def __iter__(self) -> Records:
        return self

    def __next__(self) -> Any:
        while not self._is_stopped:
            record = self._next()
            if record is None:
                if self._source.to_end and not self._follows and self._at_end >= self._ahead.keys():
                    break
                return SILENT
            item = self._item(record)
            if item is not None:
                if self._follows:
                    self._follows.popleft()
                self._items[record.partition] += 1
                self._given.append((record.partition, record.offset))
                return item
            self._passed[record.partition] = record.offset + 1
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Nobody reads any more."""
        self._consumer.close()

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        self._is_stopped = True

    def digested(self, count: int) -> None:
        """So many more of the items have entered the run."""
        for _ in range(count):
            partition, offset = self._given.popleft()
            self._position[partition] = offset + 1
            self._digested[partition] += 1
            if self._entered and self._entered[-1][0] == partition:
                self._entered[-1] = partition, self._entered[-1][1] + 1
            else:
                self._entered.append((partition, 1))

    @property
    def position(self) -> dict[str, int]:
        """The offset in each partition up to which all has entered the run, or was passed over.

        The thread that reads counts an item before it passes over what follows.
        """
        for partition, offset in [*self._passed.items()]:
            if self._digested[partition] == self._items[partition]:
                self._position[partition] = max(offset, self._position[partition])
        return {str(partition): offset for partition, offset in sorted(self._position.items())}

    def turns(self) -> Turns:
        """In which order what has entered the run came from the partitions, since this was asked last."""
        entered, self._entered = self._entered, []
        return entered

    def follow(self, turns: Iterable[tuple[int, int]]) -> None:
        """Let what comes next come in this order."""
        for partition, count in turns:
            self._follows += [partition] * count

    # --- reading -----------------------------------------------------------------------------------------------------

    def _next(self) -> Record | None:
        """The next record, of the partition whose turn it is, if that is known; None where none has come."""
        wanted = [self._follows[0]] if self._follows else [*self._ahead]
        for partition in wanted:
            if partition not in self._ahead:
                raise self._gone(partition, NO_PARTITION)
            if self._ahead[partition]:
                self._let_come(partition)
                return self._ahead[partition].popleft()
            if self._follows and partition in self._at_end:
                raise self._gone(partition, "it ends before what was read of it since")
        while (found := self._polled()) is not None and found.partition not in wanted:
            waiting = self._ahead[found.partition]
            waiting.append(found)
            if len(waiting) >= MUCH:
                self._hold(found.partition)
        return found

    def _polled(self) -> Record | None:
        record = self._consumer.poll(WAIT if self._waits else 0)
        if record is None:
            return None
        error = record.error()
        if error is None:
            self._at_end.discard(record.partition())
            return Record(record.key(), record.value(), record.partition(), record.offset(), record.timestamp()[1])
        import confluent_kafka as kafka

        if error.code() == kafka.KafkaError._PARTITION_EOF:
            if record.offset() >= self._ends[record.partition()]:  # else a transaction is open there
                self._at_end.add(record.partition())
            return None
        if error.code() == kafka.KafkaError._AUTO_OFFSET_RESET:
            raise self._gone(record.partition(), "what follows is not there any more")
        raise self._failed(error.str(), "brokers that answer, and a topic that is there")

    def _hold(self, partition: int) -> None:
        """Let no more of it come, while others are waited for."""
        if partition not in self._paused:
            self._paused.add(partition)
            self._consumer.pause(self._as_partitions(partition))

    def _let_come(self, partition: int) -> None:
        if partition in self._paused:
            self._paused.remove(partition)
            self._consumer.resume(self._as_partitions(partition))

    def _as_partitions(self, partition: int) -> list[Any]:
        from confluent_kafka import TopicPartition

        return [TopicPartition(self._source.topic, partition)]

    def _item(self, record: Record) -> Any:
        self.place = f"{self._source.topic}[{record.partition}]:{record.offset}"
        try:
            return self._source.read(record)
        except Exception as error:
            value = None if record.value is None else record.value.decode("utf-8", "replace")
            return Refused(value, error, self.place)

    def _failed(self, why: str, right: str) -> PointstampError:
        return PointstampError("PS724", f"{self._what}: {why}", right)

    def _gone(self, partition: int, how: str) -> PointstampError:
        what = f"{self._what} was read up to offset {self._position.get(partition, 0)} of partition {partition}: {how}"
        return PointstampError("PS736", what, "the topic as it was; or another DIR for --state")
