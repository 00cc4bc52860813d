"""Examples in docstrings run, and every public name has one."""

from __future__ import annotations

import ast
import doctest
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.project.public_names import OURS, ROOT, public
from tests.spark.spark import spark_session

MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in OURS
    for file in (ROOT / package).rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)
ON_SPARK = ("graphs.at_scale.engine", "progress.runtime.on_spark.sinks.compaction", "progress.runtime.on_spark.session")
SHOWN = sorted(public())


def described(modules: list[str]) -> Iterator[tuple[str, Any]]:
    """Name and object of each public class and function, each object once."""
    seen: set[int] = set()
    for module in modules:
        for name in public()[module]:
            value = getattr(import_module(module), name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and id(value) not in seen:
                seen.add(id(value))
                yield f"{module}.{name}", value


def says(value: Any, heading: str) -> bool:
    """Whether a docstring has a section of this name."""
    return f"\n{heading}\n{'-' * len(heading)}\n" in (inspect.getdoc(value) or "")


def raises(function: Any) -> bool:
    """Whether it has a `raise` of its own, not in what it defines."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    todo: list[ast.AST] = [*ast.iter_child_nodes(body)]
    for node in todo:
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return False


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ON_SPARK])
def test_examples_are_so(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.spark
@pytest.mark.parametrize("module", ON_SPARK)
def test_examples_on_spark_are_so(module: str) -> None:
    """In the session that all tests of a process have: `start_session` gives the active one."""
    spark_session()
    test_examples_are_so(module)


@pytest.mark.parametrize("module", SHOWN)
def test_every_public_name_has_an_example(module: str) -> None:
    assert [name for name, value in described([module]) if ">>> " not in (inspect.getdoc(value) or "")] == []


@pytest.mark.parametrize("module", SHOWN)
def test_every_public_function_says_what_it_returns_and_raises(module: str) -> None:
    functions = [(name, value) for name, value in described([module]) if inspect.isfunction(value)]
    giving = [(name, value) for name, value in functions if value.__annotations__.get("return") != "None"]
    assert [name for name, value in giving if not says(value, "Returns")] == []
    assert [name for name, value in functions if raises(value) and not says(value, "Raises")] == []


def test_most_names_are_judged() -> None:
    """What programs import by `pointstamp` is among them, functions that give and raise something included."""
    judged = dict(described(["pointstamp"]))
    assert len(judged) > 80
    assert sum(inspect.isfunction(value) and raises(value) for value in judged.values()) > 5
    assert "pointstamp" in SHOWN
    assert {*ON_SPARK} <= {*MODULES}


def test_a_function_that_raises_is_seen() -> None:
    def outer() -> None:
        def inner() -> None:
            raise ValueError

        inner()

    def plain(number: int) -> None:
        if number:
            raise ValueError

    assert not raises(outer)
    assert raises(plain)
