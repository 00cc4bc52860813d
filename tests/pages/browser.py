"""Pages in a real browser: Debian's Chromium, driven by Playwright. One for each file of tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, expect, sync_playwright

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=2",
)
PATIENCE = 30_000.0  # milliseconds; only what never comes takes so long
PHONE, TABLE, WALL = (390, 844), (1280, 800), (2560, 1440)  # pixels
expect.set_options(timeout=PATIENCE)
Size = tuple[int, int]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with nothing in it. It fails in words where there is none."""
    found = shutil.which("chromium")
    assert found is not None, "pages are tested in Chromium: install the package chromium, or run make setup as root"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


def is_complaint(message: ConsoleMessage) -> bool:
    """Whether a browser says that something is wrong; that a page was refused something (400) is for the page."""
    return message.type in ("error", "warning") and "status of 400" not in message.text


@contextmanager
def opened(browser: Browser, url: str, size: Size = TABLE, scheme: Any = "light") -> Iterator[Page]:
    """A page that a fresh profile shows; at the end nothing may have been complained of, or asked elsewhere."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page = context.new_page()

    def say(message: ConsoleMessage) -> None:
        if is_complaint(message):
            complaints.append(message.text)

    def dismiss(dialog: Dialog) -> None:
        complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", say)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", dismiss)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(url)
        yield page
        assert complaints == [], complaints
        origin = "/".join(url.split("/")[:3])
        assert all(one.startswith((origin, "data:")) for one in asked), asked
    finally:
        context.close()


def violations(page: Page) -> list[Mapping[str, Any]]:
    """What an accessibility scan finds, all rules of axe-core being asked."""
    found = Axe().run(page).response["violations"]
    return [
        {"rule": each["id"], "where": [node["target"] for node in each["nodes"]], "says": each["help"]}
        for each in found
    ]
