"""The order in which things happen in a kept run, in files of its folder: one for each checkpoint, `order.N`.

Whatever comes after the border of a checkpoint is in the file whose number it knows, and in those that follow. So a
checkpoint and the order behind it belong together, whenever the process is killed: where the next one had its border
and is not on the disk, the order goes on in the next file. What an earlier one has left is removed.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from progress.errors import PointstampError, not_written
from progress.runtime.durable.order import OrderFile
from progress.runtime.durable.store import sync_folder

NAME = "order"
PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR)  # what may be otherwise soon: too many open files
PATIENCE, AGAIN = 5.0, 0.05  # seconds for which a file is tried to be opened again, and between two trials


def files_of(folder: Path) -> dict[int, Path]:
    """The files of a folder by their numbers, the least first. Where nothing happened there is none."""
    ends = [path.name.removeprefix(f"{NAME}.") for path in folder.glob(f"{NAME}.*")]
    return {number: folder / f"{NAME}.{number}" for number in sorted(int(end) for end in ends if end.isdecimal())}


class OrderLog:
    """Implements `progress.runtime.durable.delivery.Log`.

    Parameters
    ----------
    folder : of the state
    number : of the file that the checkpoint knows
    is_read : whether what is in it and in those behind it is of use
    is_torn : whether it may end in something that was not synced
    synced : whether it outlives the machine before anything leaves
    """

    def __init__(
        self, folder: Path, number: int, *, is_read: bool, is_torn: bool = False, synced: bool = False
    ) -> None:
        self.is_torn = is_torn
        self._synced = synced
        self._is_synced = True  # whether all that was written is
        self._failure: PointstampError | None = None  # since when nothing is written any more
        self._folder = folder
        self._file: OrderFile | None = None
        self._next: tuple[int, OrderFile] | None = None  # one that is there already, made beside the run
        there = {found: path for found, path in files_of(folder).items() if found >= number}
        self.contents = [path.read_bytes() for path in there.values()] if is_read else []
        self.number = max(there, default=number - 1) + 1

    def _path_of(self, number: int) -> Path:
        return self._folder / f"{NAME}.{number}"

    @property
    def _path(self) -> Path:
        return self._path_of(self.number)

    def write(self, content: bytes) -> None:
        """Append it; it outlives the process, and may not outlive the machine.

        Once that has failed it fails for good: a part of it may be there, and nobody would read what stands behind.
        """
        if self._failure is not None:
            raise self._failure
        try:
            if self._file is None:
                self._file = self._opened(self.number)
            self._file.write(content)
            self._is_synced = False
        except OSError as error:
            raise self._failed(error) from None

    def sync(self) -> None:
        """Make sure that all of it outlives the machine, before something leaves. Cost: a sync, if there is more.

        Once that has failed it fails for good: the next one would succeed without what was to be synced.
        """
        if self._failure is not None:
            raise self._failure
        if self._file is not None and not self._is_synced:
            try:
                self._file.sync()
            except OSError as error:
                raise self._failed(error) from None
            self._is_synced = True

    def _failed(self, error: OSError) -> PointstampError:
        self._failure = not_written(str(self._path), error)
        return self._failure

    def _opened(self, number: int) -> OrderFile:
        """A file to write, which is a new one after each checkpoint."""
        until = monotonic() + PATIENCE
        while True:
            try:
                file = OrderFile(self._path_of(number))
                if self._synced:
                    sync_folder(self._folder)
                return file
            except OSError as error:
                if error.errno not in PASSING or monotonic() > until:
                    raise
            sleep(AGAIN)

    def turn(self) -> None:
        """A checkpoint has its border here; it knows the next number."""
        if self._synced:  # what leaves later may follow from it
            self.sync()
        self._let_go()
        self.number += 1
        if self._next is not None and self._next[0] == self.number:
            (_, self._file), self._next = self._next, None

    def prepare(self, number: int) -> None:
        """Make a file before it is used, in another thread: a name may wait for the disk while something is synced."""
        if self._file is not None and self._next is None:
            with suppress(OSError):  # it is made when it is used, and then whoever uses it is told
                self._next = number, self._opened(number)

    def forget(self, number: int) -> None:
        """The checkpoint that knows this number is on the disk: remove what was before, now or after a later one."""
        with suppress(OSError):
            for found, path in files_of(self._folder).items():
                if found < number:
                    path.unlink(missing_ok=True)

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Let the files go; one that was not used is removed. Whoever is still there writes nothing more."""
        self._failed(OSError(errno.EBADF, "it was closed"))
        self._let_go()
        if self._next is not None:
            number, file = self._next
            file.close()
            self._path_of(number).unlink(missing_ok=True)
            self._next = None
