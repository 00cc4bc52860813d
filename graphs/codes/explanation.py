"""What `pointstamp explain` says of a code beyond its one line in `graphs.codes`."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Example(NamedTuple):
    """Something real that shows the code.

    Law (tested): a `yaml` text is a graph file on which `pointstamp check` reports the code; a `sh` text is a script
    that prints it; a `python` text is a program that ends by raising it.
    """

    text: str
    language: Literal["yaml", "sh", "python"] = "yaml"


class Explanation(NamedTuple):
    """Plain words for a person who has not read the paper. Texts have no line longer than 96 characters."""

    means: str
    why: str
    example: Example
    fix: str
