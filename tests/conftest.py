"""How hypothesis draws its cases: the same in every `make test`, many more in `make soak`; interrupts; Spark."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so it is in the background of a shell, and then in all children
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pyspark leaves the sockets on which it collects rows to the garbage collector."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(autouse=True)
def _sockets_of_spark(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collected where they are expected, not in a test that has nothing to do with Spark."""
    yield
    if request.node.get_closest_marker("spark"):
        gc.collect()
