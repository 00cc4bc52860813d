"""Pointstamp's graphs: built in code, read from files, composed, checked, and handed to the engine."""

from typing import TYPE_CHECKING, Any

from graphs.adapters.networkx import from_edges, from_networkx, from_predecessors, to_networkx
from graphs.composition import compose
from graphs.files.reading import from_data, from_text, load
from graphs.files.writing import to_data
from graphs.graph import Graph
from graphs.notebook import picture
from graphs.ports import add_operator
from progress.notebook import draw_by

if TYPE_CHECKING:
    from graphs.running.json_lines import JsonLines

__all__ = [
    "Graph",
    "JsonLines",
    "add_operator",
    "compose",
    "from_data",
    "from_edges",
    "from_networkx",
    "from_predecessors",
    "from_text",
    "load",
    "to_data",
    "to_networkx",
]

draw_by(picture)


def __getattr__(name: str) -> Any:
    """What brings the runtime with it is imported when it is used: commands that run nothing start in half the time."""
    if name != "JsonLines":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from graphs.running.json_lines import JsonLines

    return JsonLines
