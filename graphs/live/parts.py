"""What a browser is sent, as files of `page`; a page is put together of parts that it has in common with others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files

_PART = re.compile(r"^<!-- part ([a-z]+\.html) -->\n", re.MULTILINE)


def text_of(name: str) -> str:
    """The text of a file, with the parts that it names on lines of their own in their places."""
    text = files("graphs.live.page").joinpath(name).read_text("utf-8")
    return _PART.sub(lambda part: text_of(part[1]), text) if name.endswith(".html") else text


def files_of(page: str, modules: Iterable[str]) -> dict[str, str]:
    """The files of a page by their paths: itself, its script, how it looks, and modules."""
    return {"/": f"{page}.html", **{f"/{name}": name for name in (f"{page}.js", "page.css", *modules)}}
