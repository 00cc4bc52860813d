"""The live view of `pointstamp run --ui PORT`: a page that shows a run while it goes (docs/running.md)."""

from graphs.live.server import LiveView
from graphs.live.watch import Watch

__all__ = ["LiveView", "Watch"]
