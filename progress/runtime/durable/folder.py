"""The folder of a run that is kept: a store of checkpoints, its head, the order since, and a lock.

A checkpoint is what is known of the command and of its files, as JSON, and the parts of `checkpoint.py`.
Nothing in it is decoded before its digests and the command were compared (`store.py`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from progress.errors import PointstampError, not_written, reason_of
from progress.order import Domain
from progress.plain import write_time
from progress.runtime.dataflow import Dataflow
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.delivery import DETERMINISTIC, MODES
from progress.runtime.durable.hash_seed import seed
from progress.runtime.durable.head import NAME as HEAD
from progress.runtime.durable.head import PRIVATE_FILE
from progress.runtime.durable.order_log import NAME as ORDER
from progress.runtime.durable.store import Store, sync_folder
from progress.runtime.durable.stored import NAME, Commit, Damaged, read
from progress.runtime.run.own import kind_of
from progress.summary import Summary

GLANCE = 0.05  # seconds; who looks whether a run has the folder, has its lock for microseconds
PRIVATE_FOLDER = 0o700
LARGEST = 1 << 62  # no file has so many bytes
OUTLETS = ({"size", "mark", "held"}, {"number", "mark", "held"})  # what is known of a file, or of what has bundles
FILES = (NAME, f"{NAME}-wal", HEAD)
OWN = re.compile(rf"lock|frames|looks|({NAME}|{HEAD}|{ORDER})([-.].*)?")  # what a run makes in its folder
LOCKS: set[int] = set()  # descriptors by which folders are held: a process that is forked has to let them go


def _let_go() -> None:
    """In a child that was forked: its parent's locks end with its parent."""
    for handle in LOCKS:
        with suppress(OSError):
            os.close(handle)
    LOCKS.clear()


os.register_at_fork(after_in_child=_let_go)


def damaged(folder: Path, what: str) -> PointstampError:
    """A state that cannot be relied on."""
    return PointstampError(
        "PS736", f"the state in {folder} is damaged: {what}", "the copy that is whole; or another DIR, to begin anew"
    )


class StateFolder:
    """The folder that one run keeps its state in. While it is open nobody else may have it.

    With `--pickle` a checkpoint runs code when it is read. So the folder is its owner's alone: it is made so, and
    one that somebody else owns, or may write to, is refused (PS730).
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._commit: Commit | None = None
        self._store: Store | None = None
        if not path:  # as of a variable of the shell that is not set; it would be the current folder
            raise PointstampError("PS736", "no state can be kept in a folder without a name", "the name of a folder")
        try:
            _make(self.path)
            _check_private(self.path)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
            os.fchmod(self._lock, PRIVATE_FILE)
        except (OSError, ValueError) as error:
            what = f"no state can be kept in {path}: {reason_of(error)}"
            raise PointstampError("PS736", what, "a folder that may be written") from None
        self._take_lock()

    def _take_lock(self) -> None:
        import fcntl

        try:
            for trial in (1, 0):
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not trial:
                        raise
                sleep(GLANCE)
        except OSError:
            os.close(self._lock)
            raise PointstampError(
                "PS738", f"another run uses the state in {self.path}", "wait until it is over, or use another DIR"
            ) from None
        LOCKS.add(self._lock)

    def close(self) -> None:
        """Let the folder go."""
        if self._store is not None:
            self._store.close()
        LOCKS.discard(self._lock)
        os.close(self._lock)

    def load(self) -> tuple[dict[str, Any], State] | None:
        """What is known of the command and its files, and the parts of the run; None where nothing was kept yet."""
        self._commit = checked(self.path, is_ours=True)
        return None if self._commit is None else (self._commit.known, self._commit.parts)

    @property
    def store(self) -> Store:
        """The store. From now on only this run commits there: one that still thinks that it may is refused (PS738)."""
        if self._store is None:
            try:
                self._store = Store(self.path, self._commit, seed())
            except OSError as error:
                raise not_written(str(self.path), error) from None
            self._commit = None  # its parts are no longer of use
        return self._store

    def compact(self) -> None:
        """Put the store together anew. Cost: that of writing all of it."""
        self.load()
        self.store.compact()


class Mappings(NamedTuple):
    """What is kept of mappings, by their names: rows with key and value, and the changes since, in their order."""

    rows: list[tuple[str, bytes, bytes]]
    changes: list[tuple[str, bytes]]


def checked(folder: Path, *, is_ours: bool = False, mappings: Mappings | None = None) -> Commit | None:
    """The last checkpoint in a folder, refused where it cannot be relied on; no file is changed.

    `is_ours` says that this process has the lock; otherwise a run may write meanwhile, and is not held up. `mappings`
    gets all that is kept of them.
    """

    def found(is_used: bool) -> Commit | None:
        if mappings is None:
            return read(folder, is_used=is_used)
        rows, changes = mappings
        rows.clear()
        changes.clear()
        return read(
            folder,
            is_used=is_used,
            each=lambda name, content: changes.append((name, content)),
            each_row=lambda name, key, value: rows.append((name, key, value)),
        )

    try:
        for name in FILES:
            with suppress(FileNotFoundError):
                _check_owner(folder / name, (folder / name).stat())
        try:
            commit = found(not is_ours and is_used(folder))
        except Damaged:
            if is_ours or not is_used(folder):  # no run has begun meanwhile
                raise
            commit = found(True)
        if commit is not None:
            _check_known(commit.known)
    except OSError as error:
        raise damaged(folder, reason_of(error)) from None
    except Damaged as error:
        raise damaged(folder, str(error)) from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):  # the digests fit, the content not
        raise damaged(folder, "checkpoint does not say what one says") from None
    return commit


def is_used(folder: Path) -> bool:
    """Whether a run has the folder, another one or that of this process."""
    import fcntl

    try:
        handle = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _check_known(known: dict[str, Any]) -> None:
    """Raise where what is known of a command and its files has not the form in which it is written."""
    numbers = [known["order"]]
    for bytes_read, lines, mark in known["inputs"].values():
        numbers += [bytes_read, lines]
        _check_texts([mark])
    for places in known["parts"].values():
        _check_texts([*places])
        numbers += places.values()
    for outlet in known["outlets"].values():
        if outlet.keys() not in OUTLETS:
            raise ValueError("nobody knows how far an output is")
        numbers += [outlet[name] for name in ("size", "number") if name in outlet]
        _check_texts([outlet["mark"], outlet["held"]])
    if not all(type(number) is int and 0 <= number < LARGEST for number in numbers):
        raise ValueError("a size is none")
    _check_texts([*known.get("files", {}).values()])  # not there in what was written before
    if known.get("delivery", DETERMINISTIC) not in MODES:  # not there either
        raise ValueError("nobody knows how what has left goes")
    _check_texts([known["graph"], *known["ended"], *known["closed"], known["boot"]])
    if (
        type(known["is_finished"]) is not bool
        or type(known["synced"]) is not bool
        or type(known["command"]) is not dict
    ):
        raise ValueError("nobody knows what it is of")
    if not {*known["ended"]} <= known["inputs"].keys() | known["parts"].keys():
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
    """Refuse a folder to which others may write; hide from others what is in it, unless there is something else."""
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _check_owner(path, found)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        right = f"chmod go-w {path}, if all that is in it is yours; or another DIR"
        raise PointstampError("PS730", f"others may write to {path}, and what is there may be run as code", right)
    if stat.S_IMODE(found.st_mode) != PRIVATE_FOLDER and all(OWN.fullmatch(each.name) for each in path.iterdir()):
        path.chmod(PRIVATE_FOLDER)


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        what = f"{path} belongs to another user, of number {found.st_uid}, and what is there may be run as code"
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
