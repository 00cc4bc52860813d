"""Threads whose jobs are of the group, and in the pool, of the thread that starts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from progress.runtime.thread import Thread


def inheriting(
    target: Callable[[], None],
    name: str,
    *,
    is_daemon: bool = False,
    failed: Callable[[BaseException], None] | None = None,
) -> Thread:
    """A thread of this process and of the JVM. `failed` is told what it raises, the JVM before `target` included."""
    from pyspark import InheritableThread

    base: Any = InheritableThread

    class Inheriting(Thread, base):  # type: ignore[misc]
        def run(self) -> None:
            try:
                super().run()
            except BaseException as error:
                if failed is None:
                    raise
                failed(error)

    return Inheriting(target, name=name, daemon=is_daemon)
