"""The folder of `pointstamp run --state`: a checkpoint, replaced as a whole, and a lock (docs/running.md).

The file `checkpoint` begins with its version and the checksum of the rest: what is known of the command and of its
files, as JSON, and the parts of `progress.runtime.checkpoint`. Nothing in it is unpickled before the checksum and the
command were compared. A new checkpoint is written beside the old one and takes its place when it is on the disk.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from graphs.terminal import not_written
from progress.errors import PointstampError
from progress.order import Domain
from progress.plain import write_time
from progress.runtime.checkpoint import State
from progress.runtime.dataflow import Dataflow
from progress.runtime.own import kind_of
from progress.summary import Summary

NAME = b"pointstamp state "
VERSION = b"3\n"
PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR)  # what may be otherwise soon: too many open files
PATIENCE, AGAIN = 5.0, 0.05  # seconds for which a checkpoint is tried to be written again, and between two trials
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
LARGEST = 1 << 62  # no file has so many bytes
DIGEST = hashlib.sha256().digest_size


def damaged(folder: Path, what: str) -> PointstampError:
    """A state that cannot be relied on."""
    return PointstampError(
        "PS736", f"the state in {folder} is damaged: {what}", "the copy that is whole; or another DIR, to begin anew"
    )


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder outlive the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class StateFolder:
    """The folder that one run keeps its state in. While it is open nobody else may have it.

    A checkpoint is a pickle, which runs code when it is read. So the folder is its owner's alone: it is made so, and
    one that somebody else owns, or may write to, is refused (PS730).
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._file = self.path / "checkpoint"
        try:
            _make(self.path)
            _check_private(self.path)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
            os.fchmod(self._lock, PRIVATE_FILE)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PointstampError(
                "PS736", f"--state {path}: {reason.lower()}", "a folder that may be written"
            ) from None
        self._take_lock()

    def _take_lock(self) -> None:
        import fcntl

        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise PointstampError(
                "PS738", f"another run uses the state in {self.path}", "wait until it is over, or use another DIR"
            ) from None

    def close(self) -> None:
        """Let the folder go."""
        os.close(self._lock)

    def load(self) -> tuple[dict[str, Any], State] | None:
        """What is known of the command and its files, and the parts of the run; None where nothing was kept yet."""
        try:
            _check_owner(self._file, self._file.stat())
            content = self._file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise damaged(self.path, (error.strerror or str(error)).lower()) from None
        start = len(NAME) + len(VERSION)
        if not content.startswith(NAME):
            raise damaged(self.path, "checkpoint begins with something else")
        if content[len(NAME) : start] != VERSION:
            raise damaged(self.path, "checkpoint is of another version")
        body = content[start + DIGEST :]
        if hashlib.sha256(body).digest() != content[start : start + DIGEST]:
            raise damaged(self.path, "the checksum of checkpoint does not fit")
        head, _, rest = body.partition(b"\n")
        try:
            known: Any = json.loads(head)
            _check_head(known, len(rest))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):  # the checksum fits, the content not
            raise damaged(self.path, "checkpoint does not say what one says") from None
        parts: State = {}
        for name, size in known.pop("parts"):
            parts[name], rest = rest[:size], rest[size:]
        return known, parts

    def save(self, known: dict[str, Any], parts: State) -> None:
        """Keep this instead of what was kept before. Cost: that of writing it to the disk."""
        sizes = [[name, len(part)] for name, part in parts.items()]
        body = b"".join((json.dumps({**known, "parts": sizes}).encode(), b"\n", *parts.values()))
        fresh = self.path / "checkpoint.new"
        until = monotonic() + PATIENCE
        while True:
            try:
                self._write(fresh, body)
                fresh.replace(self._file)
                sync_folder(self.path)
                return
            except OSError as error:
                if error.errno not in PASSING or monotonic() > until:
                    raise not_written(str(fresh), error) from None
            sleep(AGAIN)

    def _write(self, fresh: Path, body: bytes) -> None:
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        try:
            os.fchmod(file, PRIVATE_FILE)
            rest = memoryview(NAME + VERSION + hashlib.sha256(body).digest() + body)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
        finally:
            os.close(file)


def _check_head(known: dict[str, Any], size: int) -> None:
    """Raise where what is known of a command and its files has not the form in which it is written."""
    numbers = [length for _, length in known["parts"]]
    for bytes_read, lines, mark in known["inputs"].values():
        numbers += [bytes_read, lines]
        _check_texts([mark])
    for length, mark in known["files"].values():
        numbers.append(length)
        _check_texts([mark])
    if not all(type(number) is int and 0 <= number < LARGEST for number in numbers):
        raise ValueError("a size is none")
    if sum(length for _, length in known["parts"]) != size:
        raise ValueError("the parts are not all there is")
    _check_texts([known["graph"], *(name for name, _ in known["parts"]), *known["ended"], *known["closed"]])
    if type(known["order"]) is not int or not 0 <= known["order"] < LARGEST:
        raise ValueError("the order has no number")
    _check_texts([known["boot"], *known["outbox"], *known["outbox"].values()])
    if not {*known["outbox"]} <= {*known["files"], "-"}:
        raise ValueError("something waits for a file that is none")
    if type(known["is_finished"]) is not bool or type(known["command"]) is not dict:
        raise ValueError("nobody knows what it is of")
    if not {*known["ended"]} <= known["inputs"].keys():
        raise ValueError("an input has ended that is none")


def boot() -> str:
    """What the machine is known by since it was started; empty where it does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _check_texts(texts: list[Any]) -> None:
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name is none")


def _make(path: Path) -> None:
    """Make the folder, and those it is in; each is known for good to the one it is in."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(PRIVATE_FOLDER if folder is missing[0] else 0o777, exist_ok=True)
        sync_folder(folder.parent)


def _check_private(path: Path) -> None:
    """Refuse a folder to which others may write; hide from others what is in it."""
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _check_owner(path, found)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        right = f"chmod go-w {path}, if all that is in it is yours; or another DIR"
        raise PointstampError("PS730", f"others may write to {path}, and what is there is run as code", right)
    if stat.S_IMODE(found.st_mode) != PRIVATE_FOLDER:
        path.chmod(PRIVATE_FOLDER)


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        what = f"{path} belongs to another user, of number {found.st_uid}, and what is there is run as code"
        raise PointstampError("PS730", what, "another DIR; or run it as that user")


def fingerprint(dataflow: Dataflow) -> str:
    """What a graph is known by: its names, ends, domains and summaries, and the classes of its nodes."""
    network = dataflow.network
    code = {name: kind_of(node) for name, node in sorted(dataflow.nodes.items())}
    nodes = [[name, _shown(domain)] for name, domain in zip(network.nodes, network.domains, strict=True)]
    edges = []
    for number, (name, source, target) in enumerate(zip(network.edges, network.sources, network.targets, strict=True)):
        summary = network.summaries[number]
        moves = [] if summary is None else _moves(summary, network.domains[source])
        edges.append([name, source, target, _shown(network.edge_domains[number]), moves])
    return hashlib.sha256(json.dumps([code, nodes, edges], default=_class).encode()).hexdigest()


def _shown(domain: Domain) -> str:
    """A domain as text that is the same in every process."""
    own = type(domain).__module__.partition(".")[0] in ("progress", "recursion")
    return repr(domain) if own else _class(domain)


def _moves(summary: Summary, domain: Domain) -> list[Any]:
    """What a summary makes of a few times."""
    try:
        return [[write_time(after) for after in summary.apply(time)] for time in domain.sample()]
    except PointstampError as error:
        return [error.code]


def _class(part: object) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"
