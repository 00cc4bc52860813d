"""A large graph in a browser: its parts open in the picture, in the table, by mouse and keyboard, and close again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from graphs.live.film_view import FilmView
from graphs.sessions.film import Film
from tests.commands.large_graphs import LAST, SIZE, TRACE, three_cycles
from tests.commands.pipelines import PATIENCE, started
from tests.pages.browser import PHONE, TABLE, WALL, Size, chromium, opened, violations
from tests.pages.hostile_names import HOSTILE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def large(tmp_path: Path) -> Iterator[str]:
    """The page of a film in which something waits in two of three components."""
    path = tmp_path / "trace.jsonl"
    path.write_text(TRACE, "utf-8")
    view = FilmView(Film(three_cycles(), str(path)), "large", 3, 0)
    yield view.url
    view.close()


def part(page: Page, key: str) -> Locator:
    return page.locator(f'#picture [data-part="{key}"]')


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "light"), (WALL, "dark")])
def test_what_waits_in_each_part_is_told_and_a_part_opens(
    browser: Browser, large: str, size: Size, scheme: str
) -> None:
    with opened(browser, large, size, scheme) as page:
        rows = page.locator("#parts-body tr")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text(f"c0 n0 … c0 n{LAST}, component of {SIZE} nodes")
        expect(rows.nth(0).locator("td")).to_have_text(["2", "c0 n0 at 5, 2 steps", ""])
        expect(rows.nth(1).locator("td")).to_have_text(["1", f"c1 n{LAST} at 4, 1 step", "9"])
        expect(part(page, "1")).to_contain_text("1 wait2 queued")
        button = rows.nth(1).get_by_role("button")
        expect(button).to_have_attribute("aria-expanded", "false")
        button.click()
        expect(button).to_have_attribute("aria-expanded", "true")
        expect(page.locator("#parts-says")).to_have_text(f"c1 n0 … c1 n{LAST}, component of {SIZE} nodes: open.")
        expect(rows).to_have_count(4)  # two of the layers within have something
        expect(rows.nth(2).locator("td")).to_have_text(["1", f"c1 n{LAST} at 4, 1 step", "7"])
        expect(rows.nth(3).locator("td")).to_have_text(["", "", "2"])
        expect(part(page, "1.1")).to_contain_text("2 queued")
        assert page.locator("#picture .part").count() == 1
        page.get_by_role("searchbox").fill("c1 n5->c1 n6")
        expect(rows).to_have_count(2)
        expect(page.locator("#picture .found")).to_have_attribute("data-part", "1.1")
        page.get_by_role("searchbox").fill("")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Last").click()
        expect(rows.nth(0).locator("td").first).to_have_text("1")
        rows.nth(2).get_by_role("button").click()  # the layers within
        rows.nth(3).get_by_role("button").click()  # a node
        page.get_by_role("searchbox").fill("c2")
        expect(rows).to_have_count(0)


def test_by_the_mouse_a_box_opens_and_its_title_closes_it_and_all_in_it(browser: Browser, large: str) -> None:
    with opened(browser, large, TABLE) as page:
        part(page, "1").click()
        expect(part(page, "1")).to_have_attribute("aria-expanded", "true")
        part(page, "1.1").click()
        expect(part(page, "1.1")).to_have_attribute("aria-expanded", "true")
        expect(page.locator("#picture .part")).to_have_count(2)
        expect(page.locator('#picture [data-location="c1 n5->c1 n6"]')).to_contain_text("2 queued")
        expect(part(page, "1.1")).to_be_in_viewport()
        part(page, "0").click()
        expect(page.locator("#picture .part")).to_have_count(3)
        part(page, "1").click()
        expect(page.locator("#picture .part")).to_have_count(1)
        expect(part(page, "1")).to_have_attribute("aria-expanded", "false")
        expect(part(page, "1.1")).to_have_count(0)
        expect(page.locator("#parts-says")).to_have_text(f"c1 n0 … c1 n{LAST}, component of {SIZE} nodes: closed.")
        page.locator("#waits button").first.click()  # a way is marked in pictures that come later as well
        expect(page.locator("#picture .target")).not_to_have_count(0)
        part(page, "0").click()
        expect(page.locator("#picture .part")).to_have_count(0)
        expect(page.locator("#picture .target")).to_have_attribute("data-part", "0")


def test_by_the_keyboard_parts_are_reached_opened_and_closed(browser: Browser, large: str) -> None:
    with opened(browser, large, TABLE) as page:
        expect(part(page, "0")).to_be_visible()
        page.locator("#picture").focus()
        press = page.keyboard.press
        press("Tab")
        expect(part(page, "0")).to_be_focused()
        press("Tab")  # one stop for all parts
        expect(page.locator("#picture :focus")).to_have_count(0)
        press("Shift+Tab")
        press("ArrowRight")
        expect(part(page, "1")).to_be_focused()
        press("Enter")
        expect(part(page, "1")).to_have_attribute("aria-expanded", "true")
        expect(part(page, "1")).to_be_focused()
        press("ArrowDown")
        expect(page.locator("#picture :focus")).to_have_attribute("data-part", "1.1")  # the first: 1.0 comes last
        press("ArrowRight")
        expect(part(page, "1.2")).to_be_focused()
        press("ArrowUp")
        expect(part(page, "1")).to_be_focused()
        press("ArrowDown")
        press(" ")
        expect(part(page, "1.1")).to_have_attribute("aria-expanded", "true")
        press("Escape")
        expect(part(page, "1.1")).to_have_attribute("aria-expanded", "false")
        expect(part(page, "1.1")).to_be_focused()
        press("Escape")
        expect(part(page, "1")).to_have_attribute("aria-expanded", "false")
        expect(part(page, "1")).to_be_focused()
        expect(part(page, "1")).to_have_attribute(
            "aria-label", f"c1 n0 … c1 n{LAST}, component of {SIZE} nodes, 1 wait, 2 queued"
        )


def test_two_that_are_opened_at_once_are_both_open(browser: Browser, large: str) -> None:
    click = "(group) => group.dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    with opened(browser, large, TABLE) as page:
        expect(part(page, "0")).to_be_visible()
        page.evaluate(
            f"['0', '1', '2', '1'].map((key) => document.querySelector(`[data-part='${{key}}']`)).map({click})"
        )
        expect(page.locator("#parts-says")).to_contain_text("closed.")
        expect(part(page, "0")).to_have_attribute("aria-expanded", "true")
        expect(part(page, "1")).to_have_attribute("aria-expanded", "false")
        expect(part(page, "2")).to_have_attribute("aria-expanded", "true")


LARGE_RUN = f"""\
from graphs import Graph
from progress.runtime import Dataflow, Node

NAMES = {HOSTILE!r}
graph = Graph()
graph.node("first").edge(None, "first", "in")
for ring in range(20):  # rings whose nodes have names of strangers, too many for a picture of each
    for number in range(100):
        graph.node(f"{{NAMES[number % 50]}} {{ring}} {{number}}", summary={{"advance": 1}} if not number else None)
    ends = [f"{{NAMES[number % 50]}} {{ring}} {{number}}" for number in range(100)]
    graph.edge("first", ends[0], f"to {{ring}}")
    for number in range(100):
        graph.edge(ends[number], ends[(number + 1) % 100], f"e {{ring}} {{number}} {{NAMES[number % 50]}}")

class On(Node):
    def __init__(self, edge, by): self.edge, self.by = edge, by
    def on_message(self, edge, time, value, out):
        out.request(time)
        out.send(self.edge, time + self.by, value)

class Waits(Node):
    def on_message(self, edge, time, value, out):
        out.request(time)

code = {{"first": lambda: On("to 3", 0), NAMES[1] + " 3 1": Waits}}
code[NAMES[0] + " 3 0"] = lambda: On("e 3 0 " + NAMES[0], 1)
dataflow = Dataflow(graph, code)
"""


def test_a_run_of_a_large_graph_opens_where_it_waits_and_names_of_strangers_do_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "large.py").write_text(LARGE_RUN, "utf-8")
    process = started(tmp_path, "large.py", "--input", "in=-", "--ui", "0")
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        url = process.stderr.readline().decode().split()[-1]
        process.stdin.write(b'{"time": 0, "value": 1}\n')
        process.stdin.flush()
        with opened(browser, url) as page:
            rows = page.locator("#parts-body tr")
            expect(rows).to_have_count(3)
            box = page.locator("#picture g[data-part]").filter(has_text="1 wait")
            expect(box).to_have_count(1)
            key = box.get_attribute("data-part")
            box.click()
            expect(part(page, key or "")).to_have_attribute("aria-expanded", "true")
            expect(rows).to_have_count(4)
            waits = page.locator("#picture g[data-location]:not([data-part])").filter(has_text="1 wait")
            assert f"{HOSTILE[1]} 3 1" in waits.locator("title").all_text_contents()
            assert page.evaluate("typeof pwned") == "undefined"
            assert violations(page) == []
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
