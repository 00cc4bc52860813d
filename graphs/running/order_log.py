"""The order in which things happen in a kept run, in files of its folder: one for each checkpoint, `order.N`.

Whatever comes after a checkpoint is in the file whose number it knows. So a checkpoint and the order behind it belong
together, whenever the process is killed; what an earlier one has left is removed.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from graphs.terminal import not_written
from progress.runtime.durable.order import OrderFile

NAME = "order"
PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR)  # what may be otherwise soon: too many open files
PATIENCE, AGAIN = 5.0, 0.05  # seconds for which a file is tried to be opened again, and between two trials


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
                self._file = self._opened()
            self._file.write(content)
        except OSError as error:
            raise not_written(str(self._path), error) from None

    def _opened(self) -> OrderFile:
        """The file that is written, which is a new one after each checkpoint."""
        until = monotonic() + PATIENCE
        while True:
            try:
                return OrderFile(self._path)
            except OSError as error:
                if error.errno not in PASSING or monotonic() > until:
                    raise
            sleep(AGAIN)

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
