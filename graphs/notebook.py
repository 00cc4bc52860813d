"""Draws what notebooks show (`progress.notebook`): networks, with what is known of them."""

from __future__ import annotations

from progress.notebook import Shown


def picture(shown: Shown) -> str | None:
    """The picture as SVG; None where there is no network. Cost: that of its layout."""
    from graphs.drawing.layout import layout
    from graphs.drawing.svg import Marks, svg

    if shown.network is None:
        return None
    return svg(layout(shown.network, shown.texts), shown.title, marks=Marks(way=shown.way))
