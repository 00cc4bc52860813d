"""What a browser is sent, as files of a package; a page is put together of parts that it has in common with others."""

from __future__ import annotations

import re
from importlib.resources import files

_PART = re.compile(r"^<!-- part ([a-z]+\.html) -->\n", re.MULTILINE)


def text_of(package: str, name: str) -> str:
    """The text of a file, with the parts that it names on lines of their own in their places."""
    text = files(package).joinpath(name).read_text("utf-8")
    return _PART.sub(lambda part: text_of(package, part[1]), text) if name.endswith(".html") else text
