"""The live view in a browser: a wait is found, opened and ended; by keyboard; hostile names; scanned; many readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.commands.pipelines import PATIENCE, started, write
from tests.pages.browser import PHONE, WALL, chromium, opened, violations
from tests.pages.hostile_names import HOSTILE

SHOP_YAML = """\
pointstamp: 1
nodes: {total: {}, report: {notify: false}}
edges:
  - {id: orders, to: total}
  - {id: corrections, to: total}
  - {id: sums, from: total, to: report}
  - {id: totals, from: report}
"""
SHOP = """\
from graphs import load
from progress.runtime import Dataflow, Node, DeadLetter

class Total(Node):
    def __init__(self): self.sums = {}
    def on_message(self, edge, time, value, out):
        self.sums[time] = self.sums.get(time, 0) + value
        out.request(time)
    def on_notify(self, time, out):
        out.send("sums", time, self.sums.pop(time))

dataflow = Dataflow(load("shop.yaml"), {"total": Total}, on_error={"*": DeadLetter("dead")})
"""
OPTIONS = ("--input", "orders=-", "--input", "corrections=ui", "--ui", "0", "--output", "totals=totals.jsonl")


class Shop:
    """A run whose orders come through a pipe, and whose corrections come from the page."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.process = started(folder, *options)
        assert self.process.stderr is not None
        line = self.process.stderr.readline().decode()
        assert "live view at http://127.0.0.1:" in line, line
        self.url = line.split()[-1]

    def orders(self, *lines: Any) -> None:
        """Bring lines."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def end(self) -> None:
        """Close the pipe, and wait for the end of the run."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def totals(self) -> list[Any]:
        """What has left."""
        lines = (self.folder / "totals.jsonl").read_text("utf-8").splitlines()
        return [line for line in map(json.loads, lines) if "value" in line]


@contextmanager
def shop(folder: Path, *options: str) -> Iterator[Shop]:
    write(folder, shop__yaml=SHOP_YAML, shop__py=SHOP)
    run = Shop(folder, *(options or ("shop.py", *OPTIONS)))
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()
        for stream in (run.process.stdin, run.process.stdout, run.process.stderr):
            if stream is not None and not stream.closed:
                stream.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def blocked(tmp_path: Path) -> Iterator[Shop]:
    """A run in which orders of epoch 0 wait for corrections."""
    with shop(tmp_path) as run:
        run.orders({"time": 0, "value": 3}, {"time": 0, "value": 4}, {"complete": [1]})
        yield run


def test_a_wait_is_found_opened_understood_and_ended(browser: Browser, blocked: Shop) -> None:
    with opened(browser, blocked.url) as page:
        wait = page.get_by_role("button", name="total at 0")
        expect(wait).to_contain_text("held by the input corrections at 0")
        expect(wait.locator(".age")).to_have_text(re.compile(r"\d s$"))
        assert "token=" in blocked.url
        assert "token=" not in page.url
        wait.click()
        opened_wait = page.locator("#waits .details")
        expect(opened_wait.locator(".says")).to_contain_text("total at 0 has waited")
        expect(opened_wait.locator(".says")).to_contain_text("the input corrections, open at 0")
        expect(opened_wait.locator(".says")).to_contain_text("closing it lets go.")
        expect(opened_wait.locator(".steps")).to_contain_text("corrections 0")
        expect(page.locator("#picture .way title")).to_have_text(["corrections"])
        expect(page.locator("#picture .target title")).to_have_text(["total"])
        page.get_by_role("button", name="All that hold it").click()
        expect(page.get_by_role("list", name="All that hold it")).to_contain_text("input corrections at 0")
        page.get_by_role("button", name="Give something to corrections").click()
        expect(page.get_by_label("times are complete")).to_be_checked()
        page.get_by_label("From now on only at or after").fill("{x")
        page.get_by_role("button", name="Give it").click()
        expect(page.locator("#given")).to_have_text("Times: this is not JSON")
        page.get_by_label("From now on only at or after").fill("-1")
        page.get_by_role("button", name="Give it").click()
        expect(page.locator("#given")).to_contain_text("-1 is not a time of 'corrections'")
        page.get_by_label("From now on only at or after").fill("1")
        page.get_by_role("button", name="Give it").click()
        expect(page.locator("#news")).to_have_text("total at 0 waits no more.")
        expect(page.locator("#delivered")).to_contain_text("total at 0")
        expect(page.locator("#waits-none")).to_have_text("Nothing waits.")
        assert blocked.totals() == [{"time": 0, "value": 7}]
        page.get_by_label("a message").check()
        page.get_by_label("Time", exact=True).fill("1")
        page.get_by_label("Value").fill("5")
        page.get_by_role("button", name="Give it").click()
        expect(page.get_by_role("button", name="total at 1")).to_be_visible()
        page.get_by_label("the end of the input").check()
        page.get_by_role("button", name="Give it").click()
        blocked.end()
        expect(page.locator("#phase")).to_have_text("is over")
        expect(page.locator("#delivered")).to_contain_text("total at 1")
    assert blocked.totals() == [{"time": 0, "value": 7}, {"time": 1, "value": 5}]


def test_everything_is_done_by_the_keyboard(browser: Browser, blocked: Shop) -> None:
    with opened(browser, blocked.url, PHONE) as page:
        expect(page.get_by_role("button", name="total at 0")).to_be_visible()
        press = page.keyboard.press
        press("Tab")
        expect(page.get_by_role("link", name="To what waits")).to_be_focused()
        press("Enter")
        press("Tab")
        wait = page.get_by_role("button", name="total at 0")
        expect(wait).to_be_focused()
        press("Enter")
        expect(wait).to_have_attribute("aria-expanded", "true")
        press("Escape")
        expect(wait).to_have_attribute("aria-expanded", "false")
        press("Enter")
        press("Tab")
        expect(page.get_by_role("button", name="Give something to corrections")).to_be_focused()
        press("Enter")
        expect(page.get_by_label("From now on only at or after")).to_be_focused()
        press("Shift+Tab")  # to what is given, and back
        press("ArrowUp")
        expect(page.get_by_label("a message")).to_be_checked()
        press("ArrowDown")
        press("Tab")
        page.keyboard.type("1")
        press("Tab")
        press("Enter")
        expect(page.locator("#delivered")).to_contain_text("total at 0")
        press("Shift+Tab")  # out of the button, into the field, where / is a letter
        page.keyboard.type("/")
        press("Tab")
        press("/")
        field = page.get_by_role("searchbox", name="Find")
        expect(field).to_be_focused()
        page.keyboard.type("nothing has this name")
        expect(page.locator("#found")).to_have_text("0 lines found")
        expect(page.locator("#delivered > li")).to_have_count(0)
        press("Escape")
        expect(field).to_have_value("")
        expect(page.locator("#delivered > li")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # a phone's page is not wider


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, WALL])
def test_a_scan_for_barriers_finds_none(browser: Browser, blocked: Shop, size: tuple[int, int], scheme: str) -> None:
    blocked.orders({"time": 0, "value": 9}, {"time": 1, "value": "nine"}, {"time": 1, "value": 9})  # late, and none
    with opened(browser, blocked.url, size, scheme) as page:
        page.get_by_role("button", name="total at 0").click()
        page.get_by_text("All locations").click()
        expect(page.locator("#letters")).to_contain_text("dead")
        expect(page.locator("#letters")).to_contain_text("late")
        expect(page.locator("#plots tr")).not_to_have_count(0)
        assert violations(page) == []


def test_who_has_no_token_is_asked_for_it_and_the_form_has_no_barriers(browser: Browser, blocked: Shop) -> None:
    url, _, token = blocked.url.partition("?token=")
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(url)
    assert answer is not None
    assert answer.status == 401
    assert violations(page) == []
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"  # its style is let in
    page.get_by_label("Token").fill("a token that is wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading")).to_have_text("This page needs its token")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("button", name="total at 0")).to_be_visible()
    assert page.url == url
    assert page.evaluate("document.cookie") == ""  # no script reads it
    context.close()


def test_what_is_given_to_a_run_that_has_ended_is_said_to_have_nobody(browser: Browser, blocked: Shop) -> None:
    nobody = "no connection: the process has ended, or is busy"
    context = browser.new_context()
    page = context.new_page()
    page.goto(blocked.url)
    expect(page.locator("#delivered-none")).to_have_text("Nothing yet.")
    expect(page.get_by_role("button", name="total at 0")).to_be_visible()
    page.get_by_role("button", name="total at 0").click()
    blocked.process.kill()
    blocked.process.wait()
    expect(page.locator("#phase")).to_have_text(nobody)
    page.get_by_label("the end of the input").check()
    page.get_by_role("button", name="Give it").click()
    expect(page.locator("#given")).to_have_text(nobody)
    page.get_by_role("button", name="All that hold it").click()
    expect(page.locator("#waits .wrong")).to_have_text(nobody)
    context.close()


def test_hostile_names_and_values_are_shown_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    """Fifty nodes, of which each waits; each has failed with a hostile value, and is found by its name."""
    assert len(set(HOSTILE)) == 50
    program = f"""\
from graphs import Graph
from progress.runtime import Dataflow, Node, DeadLetter

NAMES = {HOSTILE!r}
graph = Graph()
for number, name in enumerate(NAMES):
    graph.node(name).edge(None, name, f"in {{name}}").edge(name, None, f"out {{name}}")

class Waits(Node):
    def on_message(self, edge, time, value, out):
        out.request(time)
        if value == "fail":
            raise ValueError(NAMES[time])

dataflow = Dataflow(graph, {{name: Waits for name in NAMES}}, on_error={{"*": DeadLetter("dead")}})
"""
    (tmp_path / "hostile.py").write_text(program, "utf-8")
    files = []
    for number, name in enumerate(HOSTILE):
        (tmp_path / f"{number}.jsonl").write_text("", "utf-8")
        files += ["--input", f"in {name}=ui"]
    with shop(tmp_path, "hostile.py", *files, "--ui", "0") as run, opened(browser, run.url) as page:
        edges = page.locator("#give-edge option")
        expect(edges).to_have_count(50)
        assert edges.all_text_contents() == [f"in {name}" for name in HOSTILE]
        for number, name in enumerate(HOSTILE):
            for value in ("fail", name):
                answer = page.evaluate(
                    """async ([edge, time, value]) => {
                        const body = JSON.stringify({ edge, line: { time, value } });
                        const headers = { "Content-Type": "application/json" };
                        return await (await fetch("give", { method: "POST", headers, body })).json();
                    }""",
                    [f"in {name}", number, value],
                )
                assert answer == {"taken": True}
        expect(page.locator("#waits-count")).to_contain_text("of 50")
        page.wait_for_function("document.querySelectorAll('#letters > li').length >= 30")
        for name in (HOSTILE[0], HOSTILE[1], "__proto__", "constructor", HOSTILE[-3]):
            page.get_by_role("searchbox", name="Find").fill(name)
            expect(page.locator("#picture .found").first).to_be_visible()
        page.get_by_role("searchbox", name="Find").fill("")
        page.locator("#waits button").first.click()
        page.get_by_text("All locations").click()
        rows = page.locator("#locations-body th")
        expect(rows).to_have_count(150)
        assert set(HOSTILE) <= set(rows.evaluate_all("(rows) => rows.map((row) => row.title)"))
        assert {name for name in HOSTILE if len(name) < 70} <= set(rows.all_text_contents())
        titles = set(page.locator("#picture title").all_text_contents())
        assert set(HOSTILE) <= titles
        assert page.evaluate("typeof pwned") == "undefined"
        assert page.evaluate("document.querySelectorAll('script, img, iframe, object').length") == 1  # its own script
        assert page.evaluate(
            "[...document.all].every((one) => one.getAttributeNames().every((name) => !name.startsWith('on')))"
        )
        assert violations(page) == []


def test_twenty_readers_at_once_see_the_same(browser: Browser, blocked: Shop) -> None:
    with ExitStack() as all_of_them:
        profiles = [all_of_them.enter_context(opened(browser, blocked.url)) for _ in range(4)]
        for first in profiles:
            for _ in range(4):
                with first.context.expect_page():
                    first.evaluate("void open(location)")
        pages: list[Page] = [page for first in profiles for page in first.context.pages]
        assert len(pages) == 20
        for page in pages:
            expect(page.get_by_role("button", name="total at 0")).to_be_visible()
        page = pages[0]
        page.get_by_label("the end of the input").check()
        page.get_by_role("button", name="Give it").click()
        for page in pages:
            expect(page.locator("#delivered")).to_contain_text("total at 0")
        blocked.end()
        for page in pages:
            expect(page.locator("#phase")).to_have_text("is over")
