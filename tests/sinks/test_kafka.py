"""A topic of Kafka: killed whenever, each value is committed once; what cannot be stored is said in one line."""

from __future__ import annotations

import gc
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Timer
from time import monotonic, sleep
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from graphs import Graph
from progress.errors import PointstampError
from progress.order import Nat
from progress.runtime import SILENT, Bundle, Dataflow, KafkaSink, KafkaSource, Node, SqliteTable
from progress.runtime.durable.store import Store
from progress.runtime.on_kafka import sink as of_sink
from progress.runtime.on_kafka.client import PATIENCE
from progress.runtime.policies import by_count
from tests.runtime.tools import killed
from tests.sinks.kafka_broker import broker, free_port
from tests.sinks.lives import (
    DELIVERIES,
    GRAPH,
    ITEMS,
    OUT,
    Values,
    check_once,
    half,
    killed_at_deliveries,
    killed_at_random,
    refused,
    run,
)

pytestmark = pytest.mark.slow
TOPICS = count()
SOON = 1.0  # seconds in which a life ends that is killed at random: its producer takes a part of them to begin


@pytest.fixture(autouse=True)
def _no_client_is_left() -> Iterator[None]:
    """A child that is forked later would have its memory without its threads, and end when it lets it go."""
    yield
    gc.collect()
    tasks = Path("/proc/self/task")
    assert not tasks.exists() or not [each for each in tasks.glob("*/comm") if each.read_text().startswith("rdk")]


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    """One broker for all tests of this file."""
    with broker() as found:
        yield found


def made(servers: str, partitions: int = 1) -> str:
    """A topic of one's own."""
    topic = f"topic{next(TOPICS)}"
    make(AdminClient({"bootstrap.servers": servers}), topic, partitions)
    return topic


def make(client: AdminClient, topic: str, partitions: int) -> None:
    """Make a topic, and wait until the broker knows it."""
    client.create_topics([NewTopic(topic, num_partitions=partitions)])[topic].result(30)
    until = monotonic() + PATIENCE
    while len(client.list_topics(topic, timeout=30).topics[topic].partitions) != partitions:
        assert monotonic() < until
        sleep(0.1)


def committed(servers: str, topic: str, partitions: int = 1) -> list[tuple[Any, Any]]:
    """The keys and the contents of all records that readers see, partition by partition."""
    given = {"bootstrap.servers": servers, "group.id": "tests", "enable.partition.eof": True}
    reader = Consumer({**given, "enable.auto.commit": False, "isolation.level": "read_committed"})
    found: list[list[Any]] = [[] for _ in range(partitions)]
    try:
        reader.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in range(partitions)])
        at_end = 0
        while at_end < partitions:
            record = reader.poll(30)
            assert record is not None
            error = record.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF
                at_end += 1
            else:
                found[record.partition() or 0].append((record.key(), json.loads(record.value() or b"")))
    finally:
        reader.close()
    return [each for part in found for each in part]


def rows(servers: str, topic: str, partitions: int = 1) -> Values:
    return [(line["time"], line["value"]) for _, line in committed(servers, topic, partitions)]


def halfway(made: Any, stop: Callable[[], None]) -> None:
    """The broker has all records of a bundle, and is not told that they are all."""
    produce = made._produce

    def producing(topic: str, key: Any, content: bytes) -> None:
        produce(topic, key, content)
        if topic == of_sink.STAMPS:
            made._producer.flush(30)
            stop()

    made._produce = producing


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_deliveries(tmp_path: Path, servers: str, delivery: str) -> None:
    topic = made(servers)
    killed_at_deliveries(tmp_path, KafkaSink(servers, topic), halfway, delivery)
    check_once(rows(servers, topic))
    stamps = [stamp for key, stamp in committed(servers, of_sink.STAMPS) if json.loads(key)[1] == topic]
    assert stamps[-1]["complete"] == []


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_killed_at_random(tmp_path: Path, servers: str, delivery: str) -> None:
    topic = made(servers)
    killed_at_random(tmp_path, KafkaSink(servers, topic), delivery, seed=4, most=6, soon=SOON)
    check_once(rows(servers, topic))


def test_a_key_decides_on_the_partition(tmp_path: Path, servers: str) -> None:
    topic = made(servers, 3)
    run(tmp_path, KafkaSink(servers, topic, key=lambda time, value: value["kind"]), delivery=None)
    found = committed(servers, topic, 3)
    assert {key for key, _ in found} == {b"link", b"sum"}
    check_once([(line["time"], line["value"]) for _, line in found])


def test_what_is_no_json_or_too_large_is_one_line(servers: str) -> None:
    topic = made(servers)
    flow = Dataflow(GRAPH, {"chain": lambda value: value})
    for value, settings, says in (
        ({1}, {}, "PS732: the value {1} that leaves at 'chain->out', at 0, cannot be written: {1} is not JSON"),
        ("x" * 3_000, {"message.max.bytes": 2_000}, f"PS725: the sink of 'chain->out', topic '{topic}' of Kafka: "),
        ("x" * 2_000_000, {"message.max.bytes": 3_000_000}, "Broker: Message size too large"),
    ):
        with pytest.raises(PointstampError) as caught:
            flow.run(
                sources={"in->chain": [(0, 1), (0, value)]}, sinks={OUT: KafkaSink(servers, topic, settings=settings)}
            )
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)
    assert rows(servers, topic) == []


def test_brokers_and_topics_that_are_not_there_are_one_line(
    tmp_path: Path, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "PS725: the sink of 'chain->out', topic 'none' of Kafka: there is no such topic (" in refused(
        tmp_path, KafkaSink(servers, "none")
    )
    monkeypatch.setattr(of_sink, "PATIENCE", 1.0)
    said = refused(tmp_path, KafkaSink(f"127.0.0.1:{free_port()}", "none"))
    assert said.startswith("PS725: the sink of 'chain->out', topic 'none' of Kafka: ")
    said = refused(tmp_path, KafkaSink(servers, "none", settings={"no.such": 1}))
    assert 'No such configuration property: "no.such"' in said
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    assert "confluent-kafka is not installed (pip install 'pointstamp[kafka]')" in refused(
        tmp_path, KafkaSink(servers, "none")
    )


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_what_was_deleted_or_is_another_runs_is_refused(tmp_path: Path, servers: str, delivery: str) -> None:
    topic, other = made(servers), made(servers)
    half(tmp_path, KafkaSink(servers, topic), delivery)
    assert rows(servers, topic)
    said = refused(tmp_path, KafkaSink(servers, other), delivery=delivery)
    assert said.startswith("PS736: the sink of 'chain->out' has stored 0 deliveries, and had ")
    run(tmp_path, KafkaSink(servers, topic), delivery=delivery)
    check_once(rows(servers, topic))
    others = Dataflow(GRAPH, {"chain": lambda value: {"kind": "other", "number": value}})
    with pytest.raises(PointstampError) as caught:
        others.run(
            sources={"in->chain": ITEMS},
            sinks={OUT: KafkaSink(servers, topic)},
            state=tmp_path / "new",
            delivery=delivery,
        )
    assert caught.value.code == {"deterministic": "PS748", "barrier": "PS736"}[delivery]
    check_once(rows(servers, topic))
    client = AdminClient({"bootstrap.servers": servers})
    client.delete_topics([topic])[topic].result(30)
    said = refused(tmp_path / "another", KafkaSink(servers, topic), delivery=delivery)
    assert said.startswith(f"PS736: the sink of 'chain->out', topic '{topic}' of Kafka: it is not there")


def fenced(servers: str, topic: str) -> None:
    """Of two that deliver to one topic the one that began first is shut out."""
    before, now = (KafkaSink(servers, topic).sink_for(OUT) for _ in range(2))
    assert before.last() is None
    before.deliver(Bundle(OUT, [(0, "a")], None, "1:x"))
    assert now.last() == "1:x"
    with pytest.raises(PointstampError, match="somebody else delivers there"):
        before.deliver(Bundle(OUT, [(0, "b")], None, "2:y"))
    now.deliver(Bundle(OUT, [(0, "c")], None, "2:z"))
    for each in (before, now):
        each.close()


def test_who_was_thought_dead_delivers_nothing_more(servers: str, capfd: pytest.CaptureFixture[str]) -> None:
    """In a process of its own: the library never lets a producer go that has failed for good."""
    topic = made(servers)
    capfd.readouterr()  # what the client of the test has said
    assert not killed(partial(fenced, servers, topic))
    assert capfd.readouterr().err == "", "what the library says is said in the one line"
    assert rows(servers, topic) == [(0, "a"), (0, "c")]


# --- a source ---------------------------------------------------------------------------------------------------------

PARTS = 3
MESSAGES = [(number % PARTS, {"time": number // 30, "value": number}) for number in range(150)]


def filled(servers: str) -> str:
    """A topic of several partitions with messages in each."""
    topic = made(servers, PARTS)
    producer = Producer({"bootstrap.servers": servers})
    for partition, message in MESSAGES:
        producer.produce(topic, json.dumps(message).encode(), partition=partition)
    assert producer.flush(30) == 0
    return topic


class Linked(Node):
    """What it sends depends on all that came before, in its order. Its process is killed at its call `dies_at`."""

    calls = dies_at = 0

    def __init__(self) -> None:
        self.link = 17

    def on_message(self, edge: str, time: Any, value: Any, out: Any) -> None:
        sleep(0.002)
        Linked.calls += 1
        if Linked.calls == Linked.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.link = (self.link * 31 + value) % 1_000_003
        out.send(OUT, time, {"value": value, "link": self.link})


def check_linked(found: Values) -> None:
    """Each message was read once, those of a partition in their order, and each follows the one before it."""
    link = 17
    for _, value in found:
        link = (link * 31 + value["value"]) % 1_000_003
        assert value["link"] == link
    for part in range(PARTS):
        numbers = [value["value"] for _, value in found if value["value"] % PARTS == part]
        assert numbers == [message["value"] for partition, message in MESSAGES if partition == part]


def read(servers: str, topic: str, folder: Path, engine: str, delivery: str | None) -> None:
    """One life that reads the topic to its end."""
    Dataflow(GRAPH, {"chain": Linked}).run(
        engine=engine,
        sources={"in->chain": KafkaSource(servers, topic, to_end=True)},
        sinks={OUT: SqliteTable(folder / "db", "links")},
        state=folder / "state",
        every=0.1,
        delivery=delivery,
        timeout=60,
    )


@pytest.mark.parametrize(("engine", "delivery"), [("threads", "deterministic"), ("sim", None), ("threads", "barrier")])
def test_a_source_goes_on_where_it_was_in_the_same_order(
    tmp_path: Path, servers: str, engine: str, delivery: str | None
) -> None:
    topic = filled(servers)
    act = partial(read, servers, topic, tmp_path, engine, delivery)

    def dies(at: int) -> None:
        Linked.dies_at = at
        act()

    assert all(killed(partial(dies, at)) for at in (20, 60, 45))
    assert not killed(act)
    with closing(sqlite3.connect(tmp_path / "db")) as there:
        found = there.execute("SELECT time, value FROM links ORDER BY rowid").fetchall()
    check_linked([(time, json.loads(value)) for time, value in found])


def test_turns_are_said_and_followed(servers: str) -> None:
    source = KafkaSource(servers, filled(servers), to_end=True)
    orders = []
    follows: Any = [(2, 3), (0, 50), (1, 7), (2, 47), (1, 43)]
    for _ in range(2):
        records = source.items_for("threads", "in", Nat())
        records.follow(follows)
        items = [item for item in records if item is not SILENT]
        records.digested(len(items))
        orders.append(items)
        assert records.position == {"0": 50, "1": 50, "2": 50}
        assert (records.turns(), records.turns()) == (follows, [])
    assert orders[0] == orders[1]
    assert [value % PARTS for _, value in orders[0]] == [part for part, count_ in follows for _ in range(count_)]


def test_a_source_that_cannot_be_read_is_one_line(
    tmp_path: Path, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = filled(servers)
    flow = Dataflow(GRAPH)

    def said(source: Any, **more: Any) -> str:
        with pytest.raises(PointstampError) as caught:
            flow.run(sources={"in->chain": source}, **more)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def broken(record: Any) -> Any:
        return 1 // 0

    assert said(KafkaSource(servers, "none")).startswith(
        "PS724: the source of 'in->chain', topic 'none' of Kafka: Broker"
    )
    assert f"{topic}[" in said(KafkaSource(servers, topic, read=broken))
    behind = by_count(KafkaSource(servers, topic, to_end=True))
    assert said(behind, state=tmp_path / "a").startswith("PS715: what comes on 'in->chain' has several parts")
    gone = KafkaSource(servers, topic, to_end=True).items_from("sim", "in", Nat(), {"0": 1_000})
    with pytest.raises(PointstampError, match=r"PS736: .*up to offset 1000 of partition 0: what follows is not there"):
        all(item is not None for item in gone)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    assert "confluent-kafka is not installed" in said(KafkaSource(servers, topic))


def open_transaction(servers: str, topic: str) -> Timer:
    """A record in the transaction of somebody else; what ends that in a second."""
    other = Producer({"bootstrap.servers": servers, "transactional.id": f"other {next(TOPICS)}"})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce(topic, b"{}", b"[]")
    assert other.flush(30) == 0
    return Timer(1.0, other.abort_transaction, [30])


def test_a_stamp_behind_the_open_transaction_of_another_run_is_found(servers: str) -> None:
    """Who reads what is committed is told there that it is at the end, and would deliver the same again."""
    topic = made(servers)
    sink = KafkaSink(servers, topic).sink_for("out")
    assert sink.last() is None
    ending = open_transaction(servers, of_sink.STAMPS)
    sink.deliver(Bundle("out", [(0, 1)], None, "1:a"))
    again = KafkaSink(servers, topic).sink_for("out")
    again.shut_out()
    ending.start()
    assert again.last() == "1:a"
    ending.join()


def test_all_sinks_shut_out_who_was_there_before_one_is_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    class Sink:
        def __init__(self, name: str) -> None:
            self.name = name

        def shut_out(self) -> None:
            asked.append(f"{self.name} shuts out")

        def last(self) -> str | None:
            asked.append(f"{self.name} is asked")
            return None

        def deliver(self, bundle: Bundle) -> None:
            """Nothing leaves."""

    graph = Graph().node("n").edge(None, "n", "in").edge("n", None, "a").edge("n", None, "b")
    sinks = {name: Sink(name) for name in "ab"}
    Dataflow(graph).run(sources={"in": []}, sinks=sinks, state=tmp_path / "state")
    assert sorted(asked) == ["a is asked", "a shuts out", "b is asked", "b shuts out"]
    assert {each.partition(" ")[2] for each in asked[:2]} == {"shuts out"}


def test_an_input_does_not_end_at_the_open_transaction_of_somebody_else(servers: str) -> None:
    topic = made(servers)
    ending = open_transaction(servers, topic)
    producer = Producer({"bootstrap.servers": servers})
    producer.produce(topic, b'{"time": 0, "value": 1}')
    assert producer.flush(30) == 0
    ending.start()
    records = KafkaSource(servers, topic, to_end=True).items_for("threads", "in", Nat())
    assert [item for item in records if item is not SILENT] == [(0, 1)]
    ending.join()


@pytest.mark.parametrize("how", ["forgotten", "forgotten and filled", "made anew", "with fewer partitions"])
def test_what_was_read_since_the_last_checkpoint_and_is_not_there_any_more_is_refused(servers: str, how: str) -> None:
    topic = filled(servers)
    before = KafkaSource(servers, topic, to_end=True).items_for("threads", "in", Nat())
    position = before.position
    assert position == {"0": 0, "1": 0, "2": 0}
    assert len([item for item in before if item is not SILENT]) == len(MESSAGES)
    client = AdminClient({"bootstrap.servers": servers})
    if how.startswith("forgotten"):
        for done in client.delete_records([TopicPartition(topic, part, 50) for part in range(PARTS)]).values():
            done.result(30)
    else:
        client.delete_topics([topic])[topic].result(30)
        while topic in client.list_topics(timeout=30).topics:
            sleep(0.1)
        make(client, topic, PARTS if how == "made anew" else 1)
    if how == "forgotten and filled":
        producer = Producer({"bootstrap.servers": servers})
        for part in range(PARTS):
            producer.produce(topic, b'{"time": 9, "value": 9}', partition=part)
        assert producer.flush(30) == 0

    def read_again() -> None:
        after = KafkaSource(servers, topic, to_end=True).items_from("threads", "in", Nat(), position)
        after.follow([(0, 1)])
        list(after)

    with pytest.raises(PointstampError, match=r"PS736: .* was read up to offset 0 of partition [012]: (what|it|there)"):
        read_again()


def test_what_is_passed_over_need_not_be_there_when_the_run_goes_on(servers: str) -> None:
    topic = filled(servers)
    records = KafkaSource(
        servers, topic, to_end=True, read=lambda record: (0, 7) if record.offset == 7 else None
    ).items_for("threads", "in", Nat())
    items = [item for item in records if item is not SILENT]
    assert items == [(0, 7)] * PARTS
    assert records.position == {"0": 0, "1": 0, "2": 0}, "behind nothing that has not entered the run"
    records.digested(len(items))
    assert records.position == {"0": 50, "1": 50, "2": 50}


@pytest.mark.parametrize("key", [7, ["a"]])
def test_a_key_that_is_none_is_one_line(tmp_path: Path, servers: str, key: Any) -> None:
    said = refused(tmp_path, KafkaSink(servers, made(servers), key=lambda time, value: key))
    assert said.startswith("PS725: the sink of ")
    assert f"key gave {key!r} for " in said
    assert said.endswith("(a text, bytes or None)")


@pytest.mark.parametrize("how", ["finished", "another input goes on"])
def test_a_topic_that_has_grown_since_it_was_read_to_its_end_is_refused(
    tmp_path: Path, servers: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is passed over is not something more; nobody would read what is."""
    topic = made(servers)
    graph = Graph().node("n").edge(None, "n", "in").edge(None, "n", "other").edge("n", None, "out")
    source: Any = KafkaSource(servers, topic, to_end=True, read=lambda each: (0, 1) if each.value == b"one" else None)
    is_going_on = how != "finished"
    stops = Event()

    def commit(store: Store, known: Any, *more: Any) -> Any:
        if is_going_on and "in" in known["ended"]:
            stops.set()
        return as_it_is(store, known, *more)

    as_it_is = Store.commit
    monkeypatch.setattr(Store, "commit", commit)

    def other() -> Iterator[Any]:
        yield (0, 2)
        while is_going_on:
            yield SILENT

    def lives() -> Any:
        sources = {"in": source, "other": other()}
        return Dataflow(graph).run(sources=sources, state=tmp_path / "state", cancel=stops, timeout=60, every=0)

    def put(content: bytes) -> None:
        producer = Producer({"bootstrap.servers": servers})
        producer.produce(topic, content)
        assert producer.flush(30) == 0

    put(b"one")
    with pytest.raises(PointstampError, match="PS712") if is_going_on else nullcontext():
        lives()
    is_going_on = False
    stops.clear()
    put(b"passed over")
    if how == "finished":
        lives()
    put(b"one")
    with pytest.raises(PointstampError, match=r"PS736: .* has read the source of 'in' to its end, and it has grown"):
        lives()


def has_no_patience(source: Any) -> None:
    began = monotonic()
    with pytest.raises(PointstampError, match="PS713"):
        Dataflow(GRAPH).run(sources={"in->chain": source}, timeout=0.3)
    assert monotonic() - began < PATIENCE / 3


@pytest.mark.parametrize("how", [lambda source: source, by_count], ids=["alone", "in a policy"])
def test_who_waits_for_brokers_that_do_not_answer_can_stop(how: Callable[[Any], Any]) -> None:
    """In a process of its own: the client waits on, in a thread."""
    assert not killed(partial(has_no_patience, how(KafkaSource(f"127.0.0.1:{free_port()}", "topic"))))
