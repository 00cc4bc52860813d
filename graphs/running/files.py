"""The files of `pointstamp run`: which there are, opened, and where they stand (docs/running.md)."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from io import TextIOWrapper
from pathlib import Path
from time import sleep

from graphs.arguments import split
from graphs.files.notation import shown, suggestion
from graphs.files.standard_input import cannot_read, check_readable
from graphs.running.line_sink import LineFile
from graphs.terminal import bad_usage
from progress.errors import PointstampError, reason_of
from progress.runtime import Dataflow
from progress.runtime.durable.store import sync_folder
from progress.runtime.failure import dead_letters
from progress.runtime.run.checks import LATE, late_name

STANDARD = "-"  # standard input, or standard output
OFTEN = 0.05  # seconds between looks at whether somebody reads a named pipe


def side_outputs(dataflow: Dataflow) -> list[str]:
    """Where else something may come out: late data, dead letters."""
    late = [getattr(source, "late", None) for source in dataflow.sources.values()]
    dead = [dead_letters(policy) for policy in dataflow.on_error.values()]
    inside = dataflow.network.inputs  # where what is late comes in, and does not come out
    names = [
        late_name(name, dataflow.network) for name in (LATE, *late) if isinstance(name, str) and name not in inside
    ]
    return [*dict.fromkeys(name for name in (*names, *dead, *dataflow.sinks) if name)]


def named(given: Iterable[str], option: str, names: Collection[str]) -> dict[str, str]:
    """EDGE=FILE, as often as it was given."""
    found: dict[str, str] = {}
    for text in given:
        name, file = split(text, names)
        if file is None:
            if text in names or not names:
                raise bad_usage(f"--{option} {shown(text)}: no file", f"EDGE=FILE, like --{option} {shown(text)}=-")
            right = f"EDGE=FILE, like --{option} {shown(f'{min(names)}={text}')}"
            raise bad_usage(f"--{option} {shown(text)}: there is no {option} of that name, and no file after it", right)
        if name not in names:
            right = suggestion(name, names) if names else "the graph has none"
            raise bad_usage(f"--{option} {shown(text)}: there is no {option} {shown(name)}", right)
        if not file:
            raise bad_usage(f"--{option} {shown(text)}: no file", f"a file, or - for standard {option}")
        if name in found:
            raise bad_usage(f"--{option}: {shown(name)} has two files", "one for each edge")
        found[name] = file
    return found


def check_apart(inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Refuse files that are read and written, or written twice; what is not a file of its own may be shared."""
    if [*inputs.values()].count(STANDARD) > 1:
        raise bad_usage("--input: two edges read standard input", "a file for all but one of them")
    taken = {_identity(file): use for use, file in inputs.items() if file != STANDARD}
    for use, file in outputs.items():
        if file == STANDARD or _is_special(file):
            continue
        other = taken.setdefault(_identity(file), use)
        if other != use:
            raise bad_usage(f"{use} and {other} are one file, {shown(file)}", "a file for each")


def check_own(pipeline: str, read: Iterable[str], outputs: Mapping[str, str]) -> None:
    """Refuse outputs that are files of the pipeline's own: its graph, its modules, what it has read when loaded."""
    there = {_identity(file): use for use, file in outputs.items() if file != STANDARD and Path(file).is_file()}
    if not there:
        return
    for file in read:
        use = there.get(_identity(file))
        if use is not None:
            raise bad_usage(f"{use}: {shown(outputs[use])} is a file that {pipeline} reads", "a file of its own")


def check_outside(folder: str, outputs: Mapping[str, str]) -> None:
    """Refuse outputs in the folder of `--state`, where they would write over what is kept."""
    kept = Path(os.path.realpath(folder))
    for use, file in outputs.items():
        if file != STANDARD and Path(os.path.realpath(file)).is_relative_to(kept):
            raise bad_usage(f"{use}: {shown(file)} is in the folder of --state", "a file elsewhere")


def check_standard_output() -> None:
    """Refuse to write to standard output where whoever began the command has closed it (`>&-`)."""
    if getattr(sys.stdout, "name", None) == os.devnull:  # what stands in for it, see `graphs.command`
        raise bad_usage("standard output is closed, and an output goes there", "--output EDGE=FILE for each")


def _identity(file: str) -> object:
    try:
        found = Path(file).stat()
        return found.st_dev, found.st_ino
    except (OSError, ValueError):
        return os.path.realpath(file)


def _is_special(file: str) -> bool:
    try:
        return not stat.S_ISREG(Path(file).stat().st_mode)
    except (OSError, ValueError):
        return False


def open_input(file: str) -> int:
    """A file to read; a named pipe may be opened before anybody writes to it."""
    if file == STANDARD:
        try:
            handle = os.dup(sys.stdin.fileno())
            check_readable(handle)
            return handle
        except (OSError, ValueError):  # it is not a file, as where this runs inside another program
            with tempfile.TemporaryFile() as copy:
                copy.write(sys.stdin.buffer.read())
                copy.flush()
                copy.seek(0)
                return os.dup(copy.fileno())
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.close(handle)
            raise IsADirectoryError(None, "Is a directory")
    except (OSError, ValueError) as error:
        raise cannot_read(file, error) from None
    return handle


def open_output(file: str, keeps: bool, check: Callable[[], None] = lambda: None) -> LineFile:
    """A file to write, which no other run writes; what is in it stays until it is cut.

    One that is kept is read as well, to be known again, and the folder it is in knows of it for good. A named pipe is
    waited for until somebody reads it; `check` raises when the run has to stop before that.
    """
    if file == STANDARD:
        return LineFile(file, _standard_output(), is_regular=False, check=check)
    special = _is_special(file)
    mode = os.O_WRONLY if special or not keeps else os.O_RDWR
    try:
        while True:
            try:
                handle = os.open(file, mode | os.O_CREAT | os.O_NONBLOCK, 0o666)
                break
            except OSError as error:
                if error.errno != errno.ENXIO or not Path(file).is_fifo():
                    raise
            check()
            sleep(OFTEN)
    except (OSError, ValueError) as error:
        raise bad_usage(f"cannot write {file}: {reason_of(error)}", "a file where one may be written") from None
    if not special:
        _take(handle, file)
        if keeps:
            sync_folder(Path(file).parent)
    return LineFile(file, handle, check=check, keeps=keeps)


def _take(handle: int, file: str) -> None:
    """Keep others from writing to a file as long as it is open here; refuse it where somebody else has taken it."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise bad_usage(f"another run writes {shown(file)}", "another file, or wait until it is over") from None
    except OSError:  # a file system without locks
        pass


def _standard_output() -> int:
    check_standard_output()
    try:
        if isinstance(sys.stdout, TextIOWrapper):  # lines that the pipeline prints are whole as well
            sys.stdout.reconfigure(line_buffering=True)
        return os.dup(sys.stdout.fileno())
    except (OSError, ValueError):
        raise bad_usage("standard output is not a file", "run it as a command") from None


def check_whole(folder: Path, file: str, size: int, mark: str) -> None:
    """Refuse an output that does not hold what was written to it."""
    if file == STANDARD or _is_special(file):
        return
    try:
        found = Path(file).stat().st_size
    except FileNotFoundError:
        if not size:
            return
        raise not_as_left(folder, f"{file} is not there, and {size} bytes were written to it") from None
    except (OSError, ValueError) as error:
        raise bad_usage(f"cannot write {file}: {reason_of(error)}", "a file where one may be written") from None
    if found < size:
        raise not_as_left(folder, f"{file} has {found} bytes, and {size} were written")
    if size:
        handle = os.open(file, os.O_RDONLY)
        written = LineFile(file, handle)
        try:
            if written.mark(size) != mark:
                raise not_as_left(folder, f"{file} holds something else than what was written")
        finally:
            written.close()


def not_as_left(folder: Path, what: str) -> PointstampError:
    """A file of a kept run that it cannot go on with."""
    return PointstampError(
        "PS736",
        f"a file of the run in {folder} is not as it was left: {what}",
        "the file as it was; or another DIR, and other outputs, to begin anew",
    )


def place_of(file: str) -> str:
    """What a file is known by in a state."""
    return file if file == STANDARD else os.path.abspath(file)  # noqa: PTH100 - links are not followed
