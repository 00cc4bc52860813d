"""What the project says about itself holds: import directions, commands, pins, the map in ARCHITECTURE.md."""

import ast
import fnmatch
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from graphs.adapters import TOOLS
from tests.project.pages import ROOT, make_targets, make_targets_named_in, read
from tests.project.slowest import longest_files

# package -> the top-level modules of this project that it may import besides itself
MAY_IMPORT = {
    "progress": set(),
    "recursion": {"progress"},
    "graphs": {"progress", "recursion"},
    "pointstamp": {"progress", "recursion", "graphs"},
}
IMPORTED_TEST = re.compile(r"\b(?:from|import) +tests\.(?:\w+\.)*(?:test_\w+|\w+ +import +.*\btest_\w+)")
OURS = {*MAY_IMPORT, "tests", "benchmarks", "examples"}


@cache
def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


@cache
def tracked_files() -> tuple[Path, ...]:
    """Paths relative to the root, as git lists them; without a git checkout, all files that .gitignore leaves."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        names = [Path(name) for name in listing.stdout.split("\0") if name]
        return tuple(name for name in names if (ROOT / name).is_file())
    ignored = [".git", *(line.strip("/") for line in read(".gitignore").splitlines() if line)]
    found = (path.relative_to(ROOT) for path in sorted(ROOT.rglob("*")) if path.is_file())
    return tuple(name for name in found if not any(fnmatch.fnmatch(part, p) for part in name.parts for p in ignored))


@cache
def tracked_texts() -> dict[str, str]:
    texts = {}
    for name in tracked_files():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content:
            texts[str(name)] = content.decode(encoding="utf-8", errors="replace")
    return texts


def imported_modules(source: str) -> Iterator[tuple[int, str]]:
    """(line, top-level module) of every absolute import, those for type checkers and those by name included."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module.partition(".")[0]


def test_imported_modules_sees_every_kind_of_import() -> None:
    source = """
import one.deep, two as renamed
from three.deep import thing
from . import sibling
def late():
    import four
    importlib.import_module("five.deep")
    __import__("six")
"""
    assert [name for _, name in imported_modules(source)] == ["one", "two", "three", "four", "five", "six"]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_in_one_direction_only(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files, f"{package} holds no Python file"
    forbidden = OURS - MAY_IMPORT[package] - {package}
    offending = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files
        for line, module in imported_modules(path.read_text(encoding="utf-8"))
        if module in forbidden
    ]
    assert not offending


def test_no_test_file_is_imported() -> None:
    """What tests share is in a module that is not a test; programs that tests write down import no test either."""
    offending = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in ("tests", "benchmarks", "scripts")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if IMPORTED_TEST.search(line)
    ]
    assert not offending


def test_importing_progress_loads_no_large_library() -> None:
    program = "import sys; import progress; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "progress" in loaded
    assert not loaded & {"numpy", "scipy", "pandas", "networkx", "pyspark", "yaml", "graphs", "recursion"}


def mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def test_architecture_mentions_every_top_level_entry() -> None:
    text = read("ARCHITECTURE.md")
    entries = sorted({name.parts[0] for name in tracked_files()})
    assert [name for name in entries if not mentions(text, name)] == []


def test_readme_names_the_commands_everyone_needs() -> None:
    assert make_targets_named_in(read("README.md")) >= {"demo", "test"}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_documented_make_targets_exist(name: str) -> None:
    assert make_targets_named_in(read(name)) <= make_targets()


def test_every_make_target_is_phony_and_explained() -> None:
    makefile = read("Makefile")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == make_targets()
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {line.split()[1] for line in shown.stdout.splitlines()} == make_targets()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    assert re.search(r"^exec make test\b", read(".ci/run"), flags=re.MULTILINE)


# In pieces, so that this file does not match itself.
MACHINE_PATH = re.compile("/(?:" + "|".join(("wor" + "k", "roo" + "t", "hom" + "e", "User" + "s")) + r")/[A-Za-z.]")
REGISTRY = re.compile(
    "|".join(
        (
            re.escape("pypi" + ".org"),
            re.escape("python" + "hosted.org"),
            re.escape("registry." + "npmjs"),
            re.escape("crates" + ".io"),
            re.escape("maven" + ".org"),
            "index" + "-url",
            "find" + "-links",
            "trusted" + "-host",
        )
    )
)


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "registry"])
def test_tracked_texts_name_no_machine_and_no_registry(pattern: re.Pattern[str]) -> None:
    offending = [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in tracked_texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not offending


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (MACHINE_PATH, "see /wor" + "k/project"),
        (MACHINE_PATH, "/hom" + "e/ada"),
        (REGISTRY, "--index" + "-url https://x"),
    ],
)
def test_forbidden_patterns_match_what_they_forbid(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_changelog_tells_of_this_version() -> None:
    assert mentions(read("CHANGELOG.md"), project()["project"]["version"])


def test_constraints_hold_plain_pins_that_satisfy_every_requirement() -> None:
    lines = [line for line in read("constraints.txt").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    pins = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    declared = project()["project"]
    extras = {name: group for name, group in declared["optional-dependencies"].items() if name not in TOOLS}
    required = [Requirement(text) for group in (declared["dependencies"], *extras.values()) for text in group]
    for requirement in required:
        if requirement.name != declared["name"]:
            assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def test_the_extra_all_holds_every_other_extra() -> None:
    extras = project()["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert Requirement(everything).extras == set(extras) - {"all", *TOOLS}


def test_the_tools_that_adapters_read_are_extras_with_pins_of_their_own() -> None:
    pins = dict(line.split("==") for line in read("constraints-adapters.txt").splitlines() if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    extras = project()["project"]["optional-dependencies"]
    for name, tool in TOOLS.items():
        if tool.library:
            (requirement,) = map(Requirement, extras[name])
            assert requirement.name == tool.library
            assert requirement.specifier.contains(versions[canonicalize_name(tool.library)]), requirement


def test_the_table_of_what_takes_longest_names_tests_that_are_there() -> None:
    """It also decides which files are begun first."""
    longest = longest_files()
    assert len(longest) >= 10
    rows = re.findall(r"^\| `([\w/]+\.py)` \|.*\| `(test_\w+)", read("CONTRIBUTING.md"), re.MULTILINE)
    assert len(rows) == len(longest)
    for file, test in rows:
        assert f"def {test}(" in read(f"tests/{file}"), (file, test)
