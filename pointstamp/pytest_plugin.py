"""The pytest plugin: fixtures that judge graphs in a test suite.

It is loaded by every pytest where Pointstamp is installed, so it imports nothing until one of its fixtures is used, and
changes nothing about tests that do not use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphs.assertions import AssertValidGraph
    from graphs.checking.diagnostic import FileReport


@pytest.fixture(scope="session")
def assert_valid_graph() -> AssertValidGraph:
    """`assert_valid_graph(graph)` fails a test with the report of `pointstamp check` where a graph has findings."""
    from graphs.assertions import assert_valid_graph as asserting

    return asserting


@pytest.fixture(scope="session")
def graph_report() -> Callable[[object], FileReport]:
    """`graph_report(graph)` is what `pointstamp check` says of a graph, to look at what it found."""
    from graphs.assertions import report_of

    return report_of
