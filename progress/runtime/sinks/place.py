"""Where the sink of one edge stores bundles, and what is said where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from progress.errors import PointstampError, brief

LONG = 300  # characters of what others say that a complaint shows


class Place(NamedTuple):
    """The place of one sink.

    edge : the output edge, or side output, whose sink it is
    what : the place in words: a table and its database, a folder
    """

    edge: str
    what: str

    def __str__(self) -> str:
        return f"the sink of {brief(self.edge)}, {self.what}"

    def failed(self, why: object, right: str) -> PointstampError:
        """It cannot store anything, or say what it has stored (PS725)."""
        return PointstampError("PS725", f"{self}: {in_a_line(why)}", right)

    def taken(self, otherwise: str = "") -> PointstampError:
        """Somebody else has delivered to it since it was asked, or what is said (PS725)."""
        right = "one run at a time, or another application for each; begun again, the run goes on"
        return self.failed(f"somebody else delivers there{otherwise}", right)

    def is_gone(self, stamp: str) -> PointstampError:
        """What was stored there is not there any more (PS736)."""
        what = f"{self}: it is not there, and had what was delivered up to {brief(stamp)}"
        return PointstampError("PS736", what, "what it had stored; or another DIR, and another place for it")

    @contextmanager
    def complaining(self, errors: tuple[type[Exception], ...], right: str) -> Iterator[None]:
        """What a library raises here is said in one line, with the name of the sink."""
        try:
            yield
        except errors as error:
            raise self.failed(str(error) or type(error).__name__, right) from error


def in_a_line(said: object) -> str:
    """What others say, in one line that is not too long."""
    text = " ".join(str(said).split())
    return text if len(text) <= LONG else f"{text[:LONG]}..."
