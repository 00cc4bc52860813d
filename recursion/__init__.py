"""Pointstamp's recursion: graphs that call themselves and each other; times that are stacks of calls (A&I 3.4)."""

from recursion.call_graph import Body, CallEdge, CallGraph
from recursion.network import network_of
from recursion.order import StackClasses, StackOrder, virtual_times
from recursion.relation import Relation
from recursion.stack import Stack, first_difference

__all__ = [
    "Body",
    "CallEdge",
    "CallGraph",
    "Relation",
    "Stack",
    "StackClasses",
    "StackOrder",
    "first_difference",
    "network_of",
    "virtual_times",
]
