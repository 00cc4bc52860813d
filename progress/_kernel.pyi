"""What `kernel/kernel.c` offers."""

from collections.abc import Sequence
from typing import Any

class Kernel:
    """Frontiers and waiters; a form is (places, is_row, total), a kind (places, target_places, pieces)."""

    def __new__(
        cls,
        forms: list[Any],
        form_of: list[int],
        ranks: list[int],
        kinds: list[Any],
        sources: list[int],
        targets: list[int],
        kind_of: list[int],
    ) -> Kernel: ...
    def update(self, changes: Sequence[tuple[int, Any, int]], /) -> list[int]: ...
    def wait(self, vertex: int, until: Any, waiter: int, /) -> bool: ...
    def covers(self, vertex: int, until: Any, /) -> bool: ...
    def times(self, vertex: int, /) -> list[Any]: ...
    def watch(self, vertex: int, /) -> None: ...
    def take_moved(self) -> dict[int, tuple[list[Any], list[Any]] | None]: ...
    def know(
        self,
        name: str,
        counts: dict[Any, Any],
        is_node: bool,
        source: int,
        target: int,
        source_places: int,
        form: tuple[bool, bool],
        limits: tuple[Any, ...],
        ways: tuple[Any, ...],
        /,
    ) -> None: ...
    def forget(self, name: str, /) -> None: ...
    def step(self, messages: Any, delivered: Any, requests: Any, /) -> list[int] | None: ...
    def run(self, history: Any, /) -> int: ...
    @property
    def visits(self) -> int: ...
    @property
    def examined(self) -> int: ...
