"""Latencies of several runs as one picture: a line from p50 to p99 each, on a scale of powers of ten."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

from graphs.drawing.svg import DARK, FONT, LIGHT

LEAST, MOST = 0.1, 10_000.0  # milliseconds at the two ends of the scale
LEFT, WIDTH, ROW, TOP = 250, 620, 22, 62  # pixels

Row = tuple[str, str, float | None, tuple[float, float, float]]  # engine, mode, seconds between checkpoints, p50 95 99


def drawn(rows: Sequence[Row]) -> str:
    """The picture as an SVG document."""
    parts: list[str] = []
    height = TOP
    above = ""
    for engine, mode, every, (p50, p95, p99) in rows:
        if engine != above:
            height += 12
            parts.append(f'<text x="12" y="{height + 15}" class="head">{escape(engine)}</text>')
            height, above = height + ROW + 4, engine
        how = mode if every is None else f"{mode}, {every * 1_000:g} ms"
        middle = height + ROW / 2
        points = "".join(
            f'<circle cx="{_at(value):.1f}" cy="{middle}" r="{radius}" class="p{part}"/>'
            for part, value, radius in ((50, p50, 4.5), (95, p95, 3.5), (99, p99, 3.5))
        )
        says = f"{engine}, {how}: p50 {p50:.2f}, p95 {p95:.2f}, p99 {p99:.2f} ms"
        parts.append(
            f'<g><title>{escape(says)}</title><text x="{LEFT - 10}" y="{middle + 4}" class="name">{escape(how)}</text>'
            f'<line x1="{_at(p50):.1f}" x2="{_at(p99):.1f}" y1="{middle}" y2="{middle}" class="span"/>{points}</g>'
        )
        height += ROW
    return _page(_scale(height), parts, height)


def _at(milliseconds: float) -> float:
    """Where a latency stands."""
    share = log10(min(max(milliseconds, LEAST), MOST) / LEAST) / log10(MOST / LEAST)
    return LEFT + share * WIDTH


def _scale(height: int) -> list[str]:
    """A line for each power of ten, with its name."""
    found = []
    power = LEAST
    while power <= MOST:
        at = f"{_at(power):.1f}"
        found.append(f'<line x1="{at}" x2="{at}" y1="{TOP}" y2="{height}" class="scale"/>')
        found.append(f'<text x="{at}" y="{TOP - 6}" class="tick">{power:,g} ms</text>')
        power *= 10
    return found


def _page(scale: Sequence[str], rows: Sequence[str], height: int) -> str:
    def colours(of: dict[str, str]) -> str:
        return (
            f"rect{{fill:{of['page']}}}text{{fill:{of['text']}}}.scale{{stroke:{of['box']}}}"
            f".span{{stroke:{of['line']}}}.p50{{fill:{of['note']}}}.p95{{fill:{of['line']}}}.p99{{fill:{of['back']}}}"
        )

    key = "".join(
        f'<circle cx="{LEFT + 6 + 60 * place}" cy="20" r="4" class="p{part}"/>'
        f'<text x="{LEFT + 16 + 60 * place}" y="24">p{part}</text>'
        for place, part in enumerate((50, 95, 99))
    )
    width = LEFT + WIDTH + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 14}" width="{width}"'
        f' height="{height + 14}" font-family="{FONT}" font-size="12" role="img">'
        "<title>Latency of an index that is kept up to date, by how the run is kept</title>"
        f"<style>.head{{font-weight:bold}}.name{{text-anchor:end}}.tick{{text-anchor:middle}}.span{{stroke-width:2}}"
        f"{colours(LIGHT)}@media(prefers-color-scheme:dark){{{colours(DARK)}}}</style>"
        f'<rect width="{width}" height="{height + 14}"/><text x="12" y="24" class="head">milliseconds a line</text>'
        f"{key}{''.join(scale)}{''.join(rows)}</svg>\n"
    )
