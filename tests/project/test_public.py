"""What is public is on one page, docs/names.md: names that stay where they are. Everything else may move.

After a change of what is public, `python -m tests.project.test_public` writes the page anew: packages that say
what they export (`__all__`) as they say it, other modules as they stand on the page.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.project.public_names import OURS, PAGE, ROOT, public

EXPORTING = [
    "pointstamp",
    "progress",
    "progress.runtime",
    "progress.runtime.policies",
    "progress.runtime.on_spark",
    "progress.semantics",
    "progress.operators",
    "recursion",
    "graphs",
    "graphs.at_scale",
    "graphs.streams",
]


def imports_of(source: str) -> Iterator[tuple[str, str]]:
    """(module, name) of all that a text imports from this project."""
    for line in re.findall(r"^\s*(?:>>> )?(from [\w.]+ import (?:\([^)]*\)|[^\n(]*))", source, flags=re.MULTILINE):
        try:
            (node,) = ast.parse(line.strip()).body
        except SyntaxError:  # prose that begins like an import
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in OURS:
            yield from ((node.module, alias.name) for alias in node.names)


def shown() -> Iterator[tuple[Path, str, str]]:
    """All that pages and examples import from this project."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    for page in pages:
        for module, name in imports_of(page.read_text(encoding="utf-8")):
            yield page, module, name


def test_imports_are_seen() -> None:
    source = (
        "text\n    from progress import (\n  Nat,\n  Int)\n>>> from graphs.files import reading\nfrom os import sep\n"
    )
    assert [*imports_of(source)] == [("progress", "Nat"), ("progress", "Int"), ("graphs.files", "reading")]


def test_pages_and_examples_import_what_is_public() -> None:
    names = public()
    offending = {
        f"{page.relative_to(ROOT)} imports {name} from {module}"
        for page, module, name in shown()
        if name not in names.get(module, [])
    }
    assert sorted(offending) == []


@pytest.mark.parametrize("module", EXPORTING)
def test_a_package_exports_what_is_public(module: str) -> None:
    assert sorted(import_module(module).__all__) == sorted(public()[module])


@pytest.mark.parametrize("module", sorted(public()))
def test_what_is_public_is_there_and_says_what_it_is(module: str) -> None:
    found = import_module(module)
    for name in public()[module]:
        value = getattr(found, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module}.{name} has no docstring"


def main() -> None:
    """Write the page's table: what packages export, and what pages import besides."""
    names = public() if PAGE.exists() else {}
    for module in EXPORTING:
        names[module] = sorted(import_module(module).__all__)
    for _, module, name in shown():
        if name not in names.setdefault(module, []):
            names[module] = sorted([*names[module], name])
    rows = [f"| `{module}` | {', '.join(f'`{name}`' for name in names[module])} |" for module in sorted(names)]
    head = PAGE.read_text(encoding="utf-8").partition("| module |")[0]
    PAGE.write_text(head + "\n".join(["| module | names |", "|---|---|", *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
