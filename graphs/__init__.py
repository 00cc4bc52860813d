"""Pointstamp's graphs: built in code, read from files, composed, checked, and handed to the engine."""

from typing import TYPE_CHECKING, Any

from graphs.composition import compose
from graphs.exchange import from_networkx, from_predecessors, to_networkx
from graphs.graph import Graph
from graphs.ports import add_operator
from graphs.reading import from_data, from_text, load
from graphs.writing import to_data

if TYPE_CHECKING:
    from graphs.json_lines import JsonLines

__all__ = [
    "Graph",
    "JsonLines",
    "add_operator",
    "compose",
    "from_data",
    "from_networkx",
    "from_predecessors",
    "from_text",
    "load",
    "to_data",
    "to_networkx",
]


def __getattr__(name: str) -> Any:
    """What brings the runtime with it is imported when it is used: commands that run nothing start in half the time."""
    if name != "JsonLines":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from graphs.json_lines import JsonLines

    return JsonLines
