"""The order in which things happen in a kept run, in files of its folder: one for each checkpoint, `order.N`.

Whatever comes after a checkpoint is in the file whose number it knows. So a checkpoint and the order behind it belong
together, whenever the process is killed; what an earlier one has left is removed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from graphs.terminal import not_written
from progress.runtime.durable.order import OrderFile

NAME = "order"


class OrderLog:
    """Implements `progress.runtime.durable.delivery.Log`.

    Parameters
    ----------
    folder : of the state
    number : of the file that the checkpoint knows
    is_read : whether what is in it is of use
    """

    def __init__(self, folder: Path, number: int, *, is_read: bool) -> None:
        self.number = number
        self._folder = folder
        self._file: OrderFile | None = None
        self.content = b""
        if is_read:
            with suppress(FileNotFoundError):
                self.content = self._path.read_bytes()

    @property
    def _path(self) -> Path:
        return self._folder / f"{NAME}.{self.number}"

    def write(self, content: bytes) -> None:
        """Append it; it outlives the process, and may not outlive the machine."""
        try:
            if self._file is None:
                self._file = OrderFile(self._path)
            self._file.write(content)
        except OSError as error:
            raise not_written(str(self._path), error) from None

    def turn(self) -> None:
        """The checkpoint that knows the next number is on the disk: begin that file, remove the others."""
        self.close()
        self.number += 1
        remove_others(self._folder, self.number)

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()
            self._file = None


def remove_others(folder: Path, number: int) -> None:
    """Remove what belongs to no checkpoint any more."""
    for path in folder.glob(f"{NAME}.*"):
        if path.name != f"{NAME}.{number}":
            path.unlink(missing_ok=True)
