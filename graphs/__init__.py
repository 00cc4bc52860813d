"""Graphs: built in code, read from files, composed, checked, and handed to the engine."""

from graphs.composition import compose
from graphs.exchange import from_networkx, to_networkx
from graphs.graph import Graph
from graphs.ports import add_operator
from graphs.reading import from_data, from_text, load
from graphs.writing import to_data

__all__ = [
    "Graph",
    "add_operator",
    "compose",
    "from_data",
    "from_networkx",
    "from_text",
    "load",
    "to_data",
    "to_networkx",
]
