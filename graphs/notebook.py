"""Draws what notebooks show (`progress.notebook`): networks with what is known of them, orders of times."""

from __future__ import annotations

from progress.errors import PointstampError
from progress.notebook import Shown


def picture(shown: Shown) -> str | None:
    """The picture as SVG; None where there is none of this order. Cost: that of its layout."""
    from graphs.drawing.layout import layout
    from graphs.drawing.svg import Marks, svg

    if shown.network is not None:
        return svg(layout(shown.network, shown.texts), shown.title, marks=Marks(way=shown.way))
    if shown.order is None:
        return None
    from graphs.drawing.orders import picture_of_order

    try:
        return picture_of_order(shown.order, shown.frontier, shown.title)
    except PointstampError:  # too many times, or none that can be sampled
        return None
