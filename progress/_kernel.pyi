"""What `kernel/kernel.c` offers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

class TooMuchWork(Exception): ...

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
    def rebuild(self, changes: Sequence[tuple[int, Any, int]], /) -> None: ...
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
        input: Any,
        /,
    ) -> None: ...
    def forget(self, name: str, /) -> None: ...
    def listen(self, name: str, wanted: bool, /) -> None: ...
    def step(
        self, messages: Any, delivered: Any, requests: Any, inputs: Any, /
    ) -> list[int] | Literal[False] | None: ...
    @property
    def visits(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def news(self) -> bool: ...
    @property
    def examined(self) -> int: ...

class PlainData:
    """How plain data becomes bytes and is read again; `hashed` of a key of any other kind is what is hashed with it."""

    def __new__(
        cls,
        not_plain: type[Exception],
        not_read: type[Exception],
        hashed: Callable[[Any], Iterable[Any]],
        deepest: int,
        largest_key: int,
        most: int,
    ) -> PlainData: ...
    def encoded(
        self,
        value: Any,
        parts: Callable[[Any], tuple[str, Any, bool] | None],
        ordered: Callable[[Any, int], list[Any]],
        sets: list[Any] | None,
        depth: int,
        /,
    ) -> bytes: ...
    def decoded(self, content: bytes, kinds: Any, /) -> Any: ...
