"""How hypothesis draws its cases: the same in every `make test`, many more in `make soak`; interrupts; Spark."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.project.slowest import longest_files
from tests.project.workers import ByFile
from tests.spark.small_jvm import start_small

gc.disable()  # until all tests are collected: a fourth of what that takes
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so it is in the background of a shell, and then in all children
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first, the longest before all, so that no process waits for them at the end.

    pyspark leaves the sockets on which it collects rows to the garbage collector.
    """
    turns = {"spark": 0, "slow": 1}
    longest = longest_files()
    order: dict[Path, tuple[int, int]] = {}
    for item in items:
        turn = min((turns[marker.name] for marker in item.iter_markers() if marker.name in turns), default=2)
        order[item.path] = min((-longest.get(item.path, 0), turn), order.get(item.path, (0, 2)))
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
    items.sort(key=lambda item: order[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Who gives tests to workers, for `--dist loadfile`."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The JVMs of tests are small ones, before the first is started."""
    if item.get_closest_marker("spark"):
        start_small()


def pytest_collection_finish() -> None:
    """What is there now, half a million objects, stays to the end: the garbage collector need not look at it again.

    From here on no interpreter that a test starts keeps what it compiled: where a test writes a pipeline twice in a
    second, alike in length, the second would be taken for the first. The packages and the tests are compiled by now.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture(autouse=True)
def _sockets_of_spark(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collected where they are expected, not in a test that has nothing to do with Spark."""
    yield
    if request.node.get_closest_marker("spark"):
        gc.collect()
        _keep_what_spark_loaded()


@pytest.fixture(autouse=True)
def _modules_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test has imported from its own folder is gone after it, and so is where imports were looked for.

    Else the next test whose module has the same name gets this one.
    """
    path, modules = list(sys.path), set(sys.modules)
    yield
    if sys.path != path:
        sys.path[:] = path
    theirs = f"{tmp_path_factory.getbasetemp()}{os.sep}"
    new = sys.modules.keys() - modules
    for name in [name for name in new if any(str(place).startswith(theirs) for place in _places(sys.modules[name]))]:
        del sys.modules[name]


def _places(module: object) -> list[object]:
    """Where a module was found; the path of a package without a file is looked up in the one that it is in."""
    return [getattr(module, "__file__", None), *getattr(module, "__path__", ())]


@pytest.fixture(autouse=True)
def _folder_of_tests() -> Iterator[None]:
    """A test ends in the folder in which it began: the next one would look for its files elsewhere."""
    before = Path.cwd()
    yield
    after = Path.cwd()
    if after != before:
        os.chdir(before)
        pytest.fail(f"the test went to the folder {after} and stayed there")


@cache
def _keep_what_spark_loaded() -> None:
    """Once, after the first test with Spark: its modules, which were not there when all was collected, stay as well."""
    gc.freeze()
