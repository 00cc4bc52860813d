"""A recorded session in a browser: scrubbed to the line where a request was freed; keyboard; hostile names; scanned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from graphs import from_data
from graphs.live.film_view import FilmView
from graphs.sessions.film import Film
from tests.commands.forked import Forked
from tests.commands.pipelines import environment
from tests.commands.tracking import LOOP
from tests.pages.browser import PHONE, WALL, Size, chromium, opened, violations
from tests.pages.hostile_names import HOSTILE

STEPS: list[dict[str, Any]] = [
    {"messages": [["input", 0, 1]], "requests": [["body", 3]]},
    {"messages": [["input", 0, -1], ["out", 0, 1]], "requests": [["body", 0]]},
    {"inputs": {"input": [2]}},
    {"messages": [["out", 0, -9]]},  # refused
    {"delivered": [["body", 0]]},
    {"messages": [["out", 0, -1], ["back", 1, 1]]},
    {"inputs": {"input": [9]}},
    {"messages": [["back", 1, -1]]},  # frees 3
    {"delivered": [["body", 3]]},
    {"inputs": {"input": [10]}},
]
TRACE = [json.dumps(step) + "\n" for step in STEPS]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(TRACE), "utf-8")
    return path


@pytest.fixture
def view(trace: Path) -> Iterator[FilmView]:
    found = FilmView(Film(from_data(LOOP), str(trace), spacing=3), trace.name, 0, 0)
    yield found
    found.close()


def at_line(page: Page, line: int) -> None:
    """The page shows this line, and how things stand there."""
    expect(page.locator("#line-now")).to_have_text(str(line))
    expect(page).to_have_url(re.compile(f"#line={line}$"))
    expect(page.locator("#around .chosen")).to_contain_text(TRACE[line - 1][:20])


def test_it_is_scrubbed_to_the_line_where_a_request_was_freed(browser: Browser, view: FilmView) -> None:
    with opened(browser, view.url) as page:
        expect(page.locator("#line-known")).to_have_text("of 10; the whole trace is known")
        page.get_by_label("Go to line").fill("4")
        page.get_by_label("Go to line").press("Enter")
        at_line(page, 4)
        expect(page.locator("#moment-says")).to_have_text("It was refused, and changed nothing.")
        expect(page.locator("#free")).to_contain_text("body at 0")
        waits = page.get_by_role("button", name="body at 3")
        expect(waits).to_contain_text("held by")
        waits.click()
        expect(page.locator("#waits .details")).to_contain_text("body at 3 has waited")
        page.get_by_role("button", name="When does it become free?").click()
        freed = page.locator("#freed")
        expect(freed).to_contain_text("Line 8 freed body at 3.")
        expect(freed.locator("li").first).to_contain_text("message back at 1")
        expect(freed.locator("pre")).to_have_text(TRACE[7].strip())
        scrub = page.get_by_label("Time line")
        scrub.focus()
        for line in (5, 6, 7):
            scrub.press("ArrowRight")
            at_line(page, line)
            expect(page.get_by_role("button", name="body at 3", exact=False).first).to_be_visible()
        scrub.press("ArrowRight")
        at_line(page, 8)
        expect(page.locator("#news")).to_have_text("body at 3 waits no more.")
        expect(page.locator("#free")).to_contain_text("body at 3")
        page.get_by_role("button", name="What freed body at 3").click()
        expect(freed).to_contain_text("Line 8 freed body at 3.")
        page.get_by_role("button", name="The line before").click()
        at_line(page, 7)
        page.get_by_role("button", name="Last").click()
        at_line(page, 10)
        expect(page.locator("#waits-none")).to_have_text("Nothing waits.")
        page.reload()
        at_line(page, 10)  # a line has an address


def test_the_next_delivery_of_a_node(browser: Browser, view: FilmView) -> None:
    with opened(browser, f"{view.url}#line=1") as page:
        at_line(page, 1)
        go = page.locator("#deliver button")
        for line in (5, 9):
            go.click()
            at_line(page, line)
        go.click()
        expect(page.locator("#told")).to_have_text("body is notified no more in the 10 lines that are known.")
        at_line(page, 9)


def test_beyond_the_end_the_last_line_is_shown(browser: Browser, trace: Path) -> None:
    view = FilmView(Film(from_data(LOOP), str(trace), spacing=3), trace.name, 99, 0)
    try:
        with opened(browser, view.url) as page:
            at_line(page, 10)
            says = "There is no line {}: the trace has 10 lines. This is the last."
            expect(page.locator("#told")).to_have_text(says.format(99))
            page.get_by_role("button", name="Line before").click()
            at_line(page, 9)
            expect(page.locator("#told")).to_have_text("")
            page.evaluate("location.hash = '#line=4'")  # as typed into the address
            at_line(page, 4)
            page.get_by_label("Go to line").fill("12000")
            page.get_by_label("Go to line").press("Enter")
            expect(page.locator("#told")).to_have_text(says.format("12,000"))
            at_line(page, 10)
    finally:
        view.close()


def test_long_names_and_many_waits(browser: Browser, tmp_path: Path) -> None:
    """Names push nothing out of a small phone, and what is not found among the first is not said to be nowhere."""
    names = [f"node {number}{' long' * 12}" for number in range(40)]
    edges = [{"id": f"in {name}", "to": name} for name in names]
    graph = from_data({"pointstamp": 1, "nodes": {name: {} for name in names}, "edges": edges})
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps({"requests": [[name, 1], [name, 2]]}) + "\n" for name in names), "utf-8")
    view = FilmView(Film(graph, str(path)), "a name " * 20, 40, 0)
    try:
        with opened(browser, view.url, (320, 640), "dark") as page:
            expect(page.locator("#waits-count")).to_have_text("30 of 80")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert violations(page) == []
            search = page.get_by_role("searchbox")
            search.fill("node 39")
            expect(page.locator("#waits-none")).to_have_text(
                "There is nothing of that name among the 30 requests that have waited longest."
            )
            search.fill("node 3 ")
            expect(page.locator("#waits > li")).to_have_count(2)
    finally:
        view.close()


@contextmanager
def replayed(folder: Path, trace: str, *options: str) -> Iterator[str]:
    """The address of a replay, which is killed at the end."""
    process = Forked(["replay", "loop.json", trace, *options], folder, environment())
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        yield said.removeprefix("pointstamp: replay at ").strip()
    finally:
        process.kill()
        process.communicate()


def test_open_pages_show_another_replay_that_answers_where_theirs_did(browser: Browser, tmp_path: Path) -> None:
    """As where a process is killed, and begun again with something else."""
    (tmp_path / "loop.json").write_text(json.dumps(LOOP), "utf-8")
    for name, lines in (("one", TRACE[:4]), ("two", TRACE)):
        (tmp_path / name).write_text("".join(lines), "utf-8")
    context = browser.new_context()
    try:
        page = context.new_page()
        with replayed(tmp_path, "one", "--ui", "0") as url:
            page.goto(f"{url}#line=3")
            expect(page.locator("#line-known")).to_contain_text("of 4;")
        expect(page.locator("#phase")).to_have_text("no connection: the replay has ended")
        port = url.rsplit(":", 1)[1].strip("/")
        with replayed(tmp_path, "two", "--ui", port) as again:
            assert again == url
            expect(page.locator("#line-known")).to_contain_text("of 10;")
            expect(page.locator("#name")).to_have_text("two")
            at_line(page, 3)
        (tmp_path / "token").write_text("a-long-token-of-the-third-one\n", "utf-8")
        expect(page.locator("#phase")).to_have_text("no connection: the replay has ended")
        with replayed(tmp_path, "one", "--ui", port, "--ui-token", "token"):
            expect(page.locator("#phase")).to_have_text(
                "no connection: another run answers here: open the address that it says"
            )
    finally:
        context.close()


def test_keys_alone_lead_everywhere(browser: Browser, view: FilmView) -> None:
    with opened(browser, f"{view.url}#line=3") as page:
        at_line(page, 3)
        press = page.keyboard.press
        press("Tab")
        expect(page.get_by_role("link", name="To the time line")).to_be_focused()
        press("Enter")
        press("ArrowRight")
        at_line(page, 4)
        press("ArrowLeft")
        at_line(page, 3)
        press("Tab")
        expect(page.get_by_label("Time line")).to_be_focused()
        press("End")
        at_line(page, 10)
        press("Home")
        expect(page.locator("#moment-says")).to_have_text("Before the first line.")
        for _ in range(3):
            press("Tab")
        play = page.locator("#play")
        expect(play).to_be_focused()
        press("Enter")
        expect(play).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#line-now")).to_have_text("10")
        expect(play).to_have_attribute("aria-pressed", "false")
        press("/")
        expect(page.get_by_role("searchbox", name="Find")).to_be_focused()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_trace_that_is_written_on_and_one_that_is_damaged(browser: Browser, view: FilmView, trace: Path) -> None:
    with opened(browser, view.url) as page:
        expect(page.locator("#line-known")).to_contain_text("of 10;")
        with trace.open("a") as file:
            file.write('{"inputs": {"input": [12')
            file.flush()
            expect(page.locator("#reason")).to_have_text("The last line is not whole, as while it is being written.")
            file.write("]}}\n")
        expect(page.locator("#line-known")).to_contain_text("of 11;")
        expect(page.locator("#reason")).to_be_hidden()
        page.get_by_role("button", name="Last").click()
        expect(page.locator("#moment-in")).to_have_text('{"inputs": {"input": [12]}}')
        with trace.open("a") as file:
            file.write("x\n")
        expect(page.locator("#reason")).to_contain_text("The trace is damaged, and shown up to there: line 12: PS513: ")


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (WALL, "light"), (WALL, "dark")])
def test_a_scan_for_barriers_finds_none(browser: Browser, view: FilmView, size: Size, scheme: str) -> None:
    with opened(browser, f"{view.url}#line=7", size, scheme) as page:
        page.get_by_role("button", name="body at 3").click()
        page.get_by_role("button", name="When does it become free?").click()
        expect(page.locator("#freed")).to_contain_text("Line 8")
        page.get_by_text("All locations").click()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_middle_of_a_long_way_is_shown_where_it_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    nodes = [f"n{number}" for number in range(100)]
    edges = [{"id": "in", "to": "n0"}, *({"from": one, "to": other} for one, other in pairwise(nodes))]
    graph = from_data({"pointstamp": 1, "nodes": {name: {} for name in nodes}, "edges": edges})
    path = tmp_path / "trace.jsonl"
    path.write_text(json.dumps({"requests": [["n99", 1]]}) + "\n", "utf-8")
    view = FilmView(Film(graph, str(path)), "long", 0, 0)
    try:
        with opened(browser, f"{view.url}#line=1", PHONE) as page:
            page.locator("#waits button").first.click()
            steps = page.locator("#waits .steps > li")
            expect(steps.filter(visible=True)).to_have_count(19)
            expect(steps.filter(visible=True).nth(8)).to_have_text("n3->n4 0")
            expect(steps.filter(visible=True).nth(10)).to_have_text("n94->n95 0")
            page.get_by_role("button", name="181 steps between").click()
            expect(steps.filter(visible=True)).to_have_count(199)
            expect(steps.nth(9)).to_have_text("n4 0")
            expect(steps.nth(9)).to_be_focused()
            assert violations(page) == []
    finally:
        view.close()


def test_long_names_are_short_and_names_without_letters_or_from_the_right_are_told_apart(
    browser: Browser, tmp_path: Path
) -> None:
    right, long = "\u05d0\u05d1\u05d2 \u05d3", "n" * 300
    names = [long, right, "   ", "\u65e5\u672c" * 40]
    graph = from_data({"pointstamp": 1, "nodes": {name: {} for name in names}, "edges": [{"id": "in", "to": long}]})
    path = tmp_path / "trace.jsonl"
    path.write_text(json.dumps({"requests": [[long, 1]]}) + "\n", "utf-8")
    view = FilmView(Film(graph, str(path)), "names", 0, 0)
    try:
        with opened(browser, f"{view.url}#line=1", PHONE) as page:
            wait = page.locator("#waits .what")
            expect(wait).to_have_text(f"{'n' * 47}…{'n' * 24} at 1")
            expect(wait).to_have_attribute("title", f"{long} at 1")
            page.get_by_role("searchbox").fill("n" * 200)
            expect(wait).to_have_count(1)  # it is found by all of its name
            page.get_by_role("searchbox").fill("")
            page.get_by_text("All locations").click()
            rows = page.locator("#locations-body th")
            shown = [
                f"{'n' * 47}…{'n' * 24}",
                f"\u2068{right}\u2069",
                '"   "',
                f"{names[3][:47]}…{names[3][-24:]}",
                "in",
            ]
            expect(rows).to_have_text(shown, use_inner_text=False)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert violations(page) == []
    finally:
        view.close()


def test_hostile_names_are_shown_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    edges = [{"id": f"in {name}", "to": name} for name in HOSTILE]
    graph = from_data({"pointstamp": 1, "nodes": {name: {} for name in HOSTILE}, "edges": edges})
    lines = [json.dumps({"requests": [[name, 1]], "messages": [[f"in {name}", 0, 1]]}) + "\n" for name in HOSTILE]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(lines), "utf-8")
    view = FilmView(Film(graph, str(path)), "</title><script>pwned=1</script>", 0, 0)
    try:
        with opened(browser, f"{view.url}#line=50") as page:
            expect(page.locator("#waits-count")).to_contain_text("of 50")
            page.get_by_role("button", name="More", exact=True).click()
            page.locator("#waits button").first.click()
            page.get_by_role("button", name="When does it become free?").click()
            expect(page.locator("#freed")).to_contain_text("is not free in any of the 50 lines")
            assert set(page.locator("#deliver-node option").all_text_contents()) == set(HOSTILE)
            assert page.evaluate("typeof pwned") == "undefined"
            assert page.evaluate("document.querySelectorAll('script, img, iframe, object').length") == 1
    finally:
        view.close()
