"""How objects look in a notebook: a table, and a picture where `graphs`, which can draw, is imported.

A class says what there is to show. Nothing of it can do anything on a page, whatever names and times say: all text is
escaped and printable, and beside the picture's own marks there are no attributes, so no scripts, styles, ids or links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.errors import brief
from progress.wording import elided, printable

if TYPE_CHECKING:
    from progress.order import Domain
    from progress.topology import Network

MOST_ROWS = 50
MOST_DRAWN = 300  # nodes of a picture
LONGEST = 400  # characters of a cell
MOST_TIMES = 12  # in a row


class Shown(NamedTuple):
    """What there is to show: a title, a table with its head, and what a picture is drawn of.

    `texts` stand under names in the picture of a network, `way` is drawn thick; a picture of the times of an `order`
    shows those at or above a `frontier`.
    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    network: Network | None = None
    texts: Mapping[str, Sequence[str]] = MappingProxyType({})
    way: Sequence[str] = ()
    order: Domain | None = None
    frontier: Sequence[Any] | None = None


Draws = Callable[[Shown], "str | None"]
_draws: list[Draws] = []


def draw_by(draws: Draws) -> None:
    """From now on pictures are drawn by this function, which gives SVG, or None where it has no picture."""
    _draws[:] = [draws]


class InNotebooks:
    """A class whose `_shown` a notebook shows."""

    __slots__ = ()

    def _shown(self) -> Shown:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """A picture, if there is one, and a table."""
        return as_html(self._shown())

    def _repr_svg_(self) -> str | None:
        """The picture, if there is one."""
        return as_svg(self._shown())


def as_svg(shown: Shown) -> str | None:
    """The picture as SVG; None where there is nothing to draw, or nobody who draws."""
    if not _draws or (shown.network is None and shown.order is None):
        return None
    if shown.network is not None and len(shown.network.nodes) > MOST_DRAWN:
        return None
    return _draws[0](shown)


def as_html(shown: Shown) -> str:
    """The picture, and the table of which no more than `MOST_ROWS` rows are shown."""
    rows = [*shown.rows[:MOST_ROWS]]
    if len(shown.rows) > MOST_ROWS:
        rows.append([f"and {len(shown.rows) - MOST_ROWS:,} more"])
    head = f"<thead><tr>{_cells('th', shown.head)}</tr></thead>" if shown.head and rows else ""
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    table = f"<table>{head}<tbody>{body}</tbody></table>" if rows else ""
    return f"<div><p>{_safe(shown.title)}</p>{as_svg(shown) or ''}{table}</div>"


def shown_order(domain: Any, frontier: Sequence[Any] | None = None) -> Shown:
    """A domain with some of its times; or what may still arrive, above a frontier."""
    sample = getattr(domain, "sample", None)
    times = [] if sample is None or frontier is not None else sample()
    title = f"times of {domain!r}" if frontier is None else f"times of {domain!r} from {times_in_words(frontier)} on"
    rows = [["some of its times", times_in_words(times)]] if times else []
    return Shown(title, rows=rows, order=domain, frontier=frontier)


def times_in_words(times: Sequence[Any]) -> str:
    """Times as Python writes them, in a row."""
    return ", ".join(map(brief, times[:MOST_TIMES])) + (", ..." if len(times) > MOST_TIMES else "")


def walked(path: Iterable[tuple[str, Any]]) -> str:
    """A way, step by step."""
    return " -> ".join(f"{brief(location)} {brief(time)}" for location, time in path)


def _cells(kind: str, texts: Sequence[str]) -> str:
    return "".join(f"<{kind}>{_safe(text)}</{kind}>" for text in texts)


def _safe(text: str) -> str:
    from html import escape  # most programs are in no notebook

    return escape(printable(elided(text, LONGEST)))
