"""The folders are floors: which of them may import which, as ARCHITECTURE.md draws it, and what no floor may import.

Imports for type checkers alone do not count: they load nothing.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# folder -> the folders of its own package that it may import; the files directly in a package are everybody's, but for
# those in `NOUNS_ABOVE`
FLOORS = {
    "progress.reference": set(),
    "progress.laws": set(),
    "progress.normal_form": set(),
    "progress.cycles": {"progress.normal_form"},
    "progress.kernel": {"progress.normal_form"},
    "progress.engines": {"progress.normal_form", "progress.cycles", "progress.kernel"},
    "progress.tracking": {"progress.normal_form", "progress.cycles", "progress.kernel", "progress.engines"},
    "progress.runtime": {"progress.cycles", "progress.kernel", "progress.tracking"},
    "progress.semantics": {"progress.normal_form", "progress.tracking", "progress.runtime"},
    "progress.recovery": {"progress.semantics"},
    "progress.operators": {"progress.engines", "progress.runtime"},
    "graphs.files": set(),
    "graphs.codes": {"graphs.files"},
    "graphs.checking": {"graphs.codes", "graphs.files"},
    "graphs.drawing": {"graphs.checking", "graphs.files"},
    "graphs.sessions": {"graphs.checking", "graphs.files"},
    "graphs.adapters": {"graphs.codes", "graphs.checking", "graphs.files"},
    "graphs.at_scale": {"graphs.checking", "graphs.files", "graphs.sessions"},
    "graphs.live": {"graphs.drawing", "graphs.files", "graphs.sessions"},
    "graphs.running": {"graphs.files", "graphs.live", "graphs.sessions", "graphs.streams"},
    "graphs.streams": {"graphs.files"},
}
# the rooms of `progress.runtime`, from the top down: each may import itself and those after it. The files directly in
# `progress.runtime`, and in its `on_spark`, are everybody's. What is kept has three storeys: what nodes note while they
# are called is below what happens in a run, and who keeps a run in a folder is above it.
ROOMS = [
    "durable.kept_run",
    "durable.folder",
    "durable.order_log",
    "run",
    "on_kafka",
    "sinks",
    "watching",
    "on_spark.sinks",
    "on_spark.sources.files",
    "on_spark.sources",
    "on_spark.tables",
    "on_spark.jobs",
    "inputs",
    "engines",
    "durable",
    "policies",
    "actions",
    "durable.underway",
    "durable.order",
    "durable.copies",
    "durable.encoding",
    "durable.head",
]
# the paper's nouns stand on these floors
NOUNS_ON = {"progress.normal_form", "progress.cycles", "progress.kernel"}
NOUNS_ABOVE = {"tracker", "__init__", "spark_session"}
FORBIDDEN = {"socket", "subprocess", "signal", "multiprocessing", "http", "urllib", "asyncio", "selectors"}
MAY_REACH_OUT = ("progress/runtime/", "progress/tracking/awaited.py", "progress/tracker.py")


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of all that a file imports when it runs."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pending += node.orelse
                continue
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        pending += ast.iter_child_nodes(node)


def floor_of(module: str) -> str | None:
    """The folder that a module is in or is; None for a file directly in a package."""
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and (ROOT / parts[0] / parts[1]).is_dir() else None


def room_of(module: str) -> int | None:
    """The place in `ROOMS` of what a module is in or is; None for what is everybody's, and what is in no room."""
    name = module.removeprefix("progress.runtime.") + "."
    found = [place for place, room in enumerate(ROOMS) if name.startswith(f"{room}.")]
    return max(found, key=lambda place: len(ROOMS[place]), default=None)


def files_of(package: str) -> list[Path]:
    found = sorted((ROOT / package.replace(".", "/")).rglob("*.py"))
    assert found, f"{package} holds no Python file"
    return found


def test_what_counts_as_an_import(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import one\nelse:\n    import two\n"
        "def late():\n    from progress.engines import eager\n",
        encoding="utf-8",
    )
    names = {name for _, name in imported(tmp_path / "file.py")}
    assert names == {"typing.TYPE_CHECKING", "two", "progress.engines.eager"}
    assert floor_of("progress.engines.eager") == "progress.engines"
    assert floor_of("progress.order.Domain") is None


def test_every_folder_has_a_floor() -> None:
    folders = {
        f"{package}.{path.name}"
        for package in ("progress", "graphs")
        for path in (ROOT / package).iterdir()
        if path.is_dir() and any(path.rglob("*.py"))
    }
    assert folders <= set(FLOORS)


@pytest.mark.parametrize("floor", [floor for floor in FLOORS if (ROOT / floor.replace(".", "/")).is_dir()])
def test_a_floor_imports_what_is_below_it(floor: str) -> None:
    package = floor.partition(".")[0]
    offending = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files_of(floor)
        for line, module in imported(path)
        if (found := floor_of(module)) is not None
        and found.startswith(f"{package}.")
        and found not in FLOORS[floor] | {floor}
    ]
    assert not offending


def test_no_floor_is_above_and_below_another() -> None:
    below = {floor: set(under) for floor, under in FLOORS.items()}
    while free := {floor for floor, under in below.items() if not under}:
        below = {floor: under - free for floor, under in below.items() if floor not in free}
    assert not below


def test_the_rooms_of_the_runtime_import_what_is_below_them() -> None:
    assert room_of("progress.runtime.durable.order.Order") == ROOMS.index("durable.order")
    assert room_of("progress.runtime.source.Source") is None
    offending = [
        f"{name}:{line} imports {module}"
        for path in files_of("progress.runtime")
        if (room := room_of((name := path.relative_to(ROOT).as_posix()).removesuffix(".py").replace("/", ".")))
        is not None
        for line, module in imported(path)
        if module.startswith("progress.runtime.") and (found := room_of(module)) is not None and found < room
    ]
    assert not offending


def test_every_folder_of_the_runtime_is_a_room() -> None:
    runtime = ROOT / "progress/runtime"
    folders = {path.parent.relative_to(runtime).as_posix().replace("/", ".") for path in runtime.rglob("*.py")}
    assert {folder for folder in folders - {".", "on_spark"} if room_of(f"progress.runtime.{folder}") is None} == set()


def test_the_nouns_of_the_paper_stand_on_the_lower_floors() -> None:
    offending = [
        f"{path.name}:{line} imports {module}"
        for path in sorted((ROOT / "progress").glob("*.py"))
        if path.stem not in NOUNS_ABOVE
        for line, module in imported(path)
        if (found := floor_of(module)) is not None and found.startswith("progress.") and found not in NOUNS_ON
    ]
    assert not offending


@pytest.mark.parametrize("package", ["progress", "recursion"])
def test_only_what_runs_code_reaches_outside(package: str) -> None:
    offending = [
        f"{name}:{line} imports {module}"
        for path in files_of(package)
        if not (name := path.relative_to(ROOT).as_posix()).startswith(MAY_REACH_OUT)
        for line, module in imported(path)
        if module.partition(".")[0] in FORBIDDEN
    ]
    assert not offending


def test_the_reference_imports_nothing_of_the_project() -> None:
    for package in ("progress/reference", "recursion/reference"):
        for path in files_of(package):
            for line, module in imported(path):
                if module.startswith(("progress.", "recursion.", "graphs.")):
                    assert ".reference" in module, f"{path}:{line} imports {module}"


def test_no_test_file_imports_another() -> None:
    """What several of them use is in a file of its own, and every test can be moved or taken out alone."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in files_of("tests")
        for line, name in imported(path)
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ]
    assert not found, "\n".join(found)
