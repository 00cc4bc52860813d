"""A paused run in a browser: every action chosen through the page, to its end, and run again from its order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.commands.pipelines import PATIENCE, run, started, write
from tests.pages.browser import PHONE, chromium, opened, violations

DIAMOND_YAML = """\
pointstamp: 1
nodes: {left: {notify: false}, right: {notify: false}, both: {}}
edges:
  - {id: ones, to: left}
  - {id: twos, to: right}
  - {id: l, from: left, to: both}
  - {id: r, from: right, to: both}
  - {id: words, from: both}
"""
DIAMOND = """\
from graphs import load
from progress.runtime import Dataflow, Node

class Both(Node):
    def __init__(self): self.seen = {}
    def on_message(self, edge, time, value, out):
        self.seen.setdefault(time, []).append(value)
        out.request(time)
    def on_notify(self, time, out):
        out.send("words", time, " ".join(self.seen.pop(time)))

dataflow = Dataflow(load("diamond.yaml"), {"both": Both})
"""
FILES = ("--input", "ones=ones.jsonl", "--input", "twos=twos.jsonl", "--output", "words=words.jsonl")
SIM = ("diamond.py", "--engine", "sim", *FILES, "--trace", "trace.jsonl")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def lines(*values: str) -> str:
        return "".join(json.dumps({"time": 0, "value": value}) + "\n" for value in values)

    write(
        tmp_path, diamond__yaml=DIAMOND_YAML, diamond__py=DIAMOND, ones__jsonl=lines("a", "b"), twos__jsonl=lines("c")
    )
    return tmp_path


@contextmanager
def paused(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A run that waits for its page, and where that is."""
    process = started(folder, *SIM, "--paused", "--ui", "0", "--save-order", "order.jsonl", *options)
    try:
        assert process.stderr is not None
        yield process, process.stderr.readline().decode().split()[-1]
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def choices(page: Page) -> Any:
    return page.locator("#step-list button")


def choose(page: Page, says: str) -> None:
    """Choose what the page says so; wait until it has been done."""
    done = page.locator("#step-count").inner_text()
    choices(page).filter(has_text=says).click()
    expect(page.locator("#step-count")).not_to_have_text(done)


def words(folder: Path) -> list[str]:
    lines = map(json.loads, (folder / "words.jsonl").read_text("utf-8").splitlines())
    return [line["value"] for line in lines if "value" in line]


def test_a_chosen_order_is_run_again_to_the_byte(browser: Browser, folder: Path) -> None:
    """The message of `twos` comes between the two of `ones`: no seed is needed to find that."""
    with paused(folder) as (process, url), opened(browser, url) as page:
        expect(page.locator("#step-says")).to_have_text("The run waits. Choose what happens next:")
        expect(choices(page)).to_have_count(2)
        assert words(folder) == []
        for says in (
            "reading 1 of 'ones'",
            "taking 1 of 'ones' at 0",
            "taking 1 of 'l' at 0",
            "reading 1 of 'twos'",
            "taking 1 of 'twos' at 0",
            "taking 1 of 'r' at 0",
            "reading 1 of 'ones'",
            "taking 1 of 'ones' at 0",
            "taking 1 of 'l' at 0",
        ):
            choose(page, says)
        expect(page.get_by_role("button", name="both at 0")).to_contain_text("held by")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(choices(page)).to_have_text(["notifying 'both' of 0 next, if nobody chooses"])
        assert words(folder) == []
        page.get_by_role("button", name="Step", exact=True).click()
        expect(page.locator("#step-says")).to_have_text("The run is over.")
        assert process.wait(PATIENCE) == 0
    assert words(folder) == ["a c b"]
    names = ("words.jsonl", "trace.jsonl", "order.jsonl")
    first = [(folder / name).read_bytes() for name in names]
    again = run(folder, *SIM, "--order", "order.jsonl", "--save-order", "again.jsonl")
    assert (again.exit_code, again.err) == (0, "")
    assert [(folder / name).read_bytes() for name in (*names[:2], "again.jsonl")] == first


def test_it_is_stepped_by_keys_alone_and_has_no_barriers(browser: Browser, folder: Path) -> None:
    with paused(folder, "--seed", "5") as (process, url), opened(browser, url, PHONE) as page:
        expect(choices(page).first).to_be_visible()
        assert violations(page) == []
        choices(page).first.focus()
        for number in range(1, 4):
            page.keyboard.press("Enter")
            expect(page.locator("#step-count")).to_have_text(f"{number} done")
            expect(choices(page).first).to_be_focused()
        page.locator("#step-end").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#step-says")).to_have_text("The run is over.")
        assert process.wait(PATIENCE) == 0
    assert sorted(words(folder)[0].split()) == ["a", "b", "c"]
    assert run(folder, *SIM, "--order", "order.jsonl").exit_code == 0


def test_a_page_goes_on_where_an_order_ends_and_a_late_click_is_refused(browser: Browser, folder: Path) -> None:
    (folder / "begin.jsonl").write_text('{"pointstamp_order": 1}\n{"read": "twos"}\n{"take": "twos", "time": 0}\n')
    with paused(folder, "--order", "begin.jsonl") as (process, url), opened(browser, url) as page:
        expect(choices(page)).to_have_text(
            ["taking 1 of 'r' at 0 next, if nobody chooses", "reading 1 of 'ones'", "reading 1 of 'twos'"]
        )
        answers = page.evaluate(
            """async () => {
                const headers = { "Content-Type": "application/json" };
                const send = async (data) => {
                    const answer = await fetch("step", { method: "POST", headers, body: JSON.stringify(data) });
                    return [answer.status, (await answer.json()).error ?? ""];
                };
                return [
                    await send({ number: 7, do: 0 }), await send({ number: 0, do: 9 }),
                    await send({ number: 0, do: -1 }), await send({ number: 0, do: 0, many: 5 }),
                    await send({}), await send([]), await send({ number: 0, run: "away" }),
                    await send({ number: 0, do: 1 }), await send({ number: 0, do: 1 }),
                ];
            }"""
        )
        assert [status for status, _ in answers] == [400] * 7 + [200, 400]
        assert answers[0][1] == answers[-1][1] == "the run has gone on since: look again"
        expect(page.locator("#step-count")).to_have_text("1 done")
        page.get_by_role("button", name="Run to the end").click()
        assert process.wait(PATIENCE) == 0
    assert words(folder) == ["c a b"]


def test_an_interrupt_ends_a_run_that_waits_and_its_order_goes_so_far(browser: Browser, folder: Path) -> None:
    with paused(folder) as (process, url), opened(browser, url) as page:
        choose(page, "reading 1 of 'ones'")
        expect(page.locator("#step-count")).to_have_text("1 done")
        process.terminate()
        assert process.wait(PATIENCE) == 143
    assert (folder / "order.jsonl").read_text() == '{"pointstamp_order": 1}\n{"read": "ones", "items": 1}\n'
