"""Interrupts while threads are waited for: they are waited for as before, and what they use is there until they end."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from graphs import JsonLines, from_edges
from progress.runtime import Dataflow
from progress.runtime.thread import Thread


def interrupt() -> None:
    """As Ctrl-C does."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


def test_a_thread_whose_join_was_interrupted_is_still_there() -> None:
    goes_on = threading.Event()

    def work() -> None:
        time.sleep(0.05)
        interrupt()
        goes_on.wait()

    thread = Thread(target=work)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        thread.join()
    assert thread.is_alive()
    thread.join(0.05)
    assert thread.is_alive()
    goes_on.set()
    thread.join()
    assert not thread.is_alive()
    assert thread not in threading.enumerate()


def test_a_thread_that_did_not_begin_is_not_waited_for() -> None:
    thread = Thread(target=lambda: None)
    thread.join()
    assert not thread.is_alive()


class Slow:
    """Interrupts the run while it is in a call for a value, and goes on a while, or until nobody waits for it."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.is_left = threading.Event()
        self.ended = False

    def __call__(self, value: int) -> int:
        if value == 3:
            for _ in range(self.many):
                time.sleep(0.1)
                interrupt()
            self.is_left.wait((0, 0.3, 5)[self.many])
            self.ended = True
        return value


def lines(folder: Path) -> list[str]:
    return (folder / "out.jsonl").read_text().splitlines()


def run(folder: Path, slow: Slow) -> None:
    graph = from_edges([(None, "slow"), ("slow", None)])
    flow = Dataflow(graph, {"slow": slow}, sources={"in->slow": [(number, number) for number in range(6)]})
    sinks = {"slow->out": JsonLines(folder / "out.jsonl")}
    flow.run(engine="threads", workers=1, sinks=sinks, state=folder / "state", every=0.01)


def end_of(folder: Path) -> None:
    """A run that goes on comes to the right end."""
    run(folder, Slow(0))
    values = [f'{{"time": {number}, "value": {number}}}' for number in range(6)]
    assert [line for line in lines(folder) if "value" in line] == values


def test_an_interrupt_waits_for_what_runs(tmp_path: Path) -> None:
    """Where the run begins, and where it goes on and does again what was done."""
    for _ in range(3):
        slow, before = Slow(1), set(threading.enumerate())
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, slow)
        assert slow.ended
        assert set(threading.enumerate()) == before
    end_of(tmp_path)


def test_a_second_interrupt_does_not_and_nothing_is_written_when_the_run_is_over(tmp_path: Path) -> None:
    slow, before = Slow(2), set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, slow)
    assert not slow.ended
    there = lines(tmp_path)
    with (tmp_path / "other").open("w+") as other:  # it may have a descriptor that the run had
        slow.is_left.set()
        for thread in set(threading.enumerate()) - before:
            thread.join(5)
        assert slow.ended
        assert lines(tmp_path) == there
        assert other.read() == ""
    end_of(tmp_path)
