"""The head of a store of checkpoints: which commit is the last one, in a file of its own beside the store.

A damaged log of SQLite is an earlier commit, and nothing in it says so. So after each commit its number and the digest
that its chain has come to are written here: a store that is behind its head has lost something. It is written in
place, unsynced, which costs microseconds: what a kill leaves is exact, and after a power cut the head may be older than
the store, never newer.

The file is two lines of one length, the last commit in the one, that before in the other, each with its digest, so
that one which is torn leaves the other. The seed of Python's hashes is in it as well (`hash_seed.py`).
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

NAME = "head"
PRIVATE_FILE = 0o600
NO_CHAIN = bytes(hashlib.sha256().digest_size)
NO_SEED = "-"
LINE = re.compile(rb"([0-9]{20}) ([0-9a-f]{64}) +([0-9]{1,10}|-) ([0-9a-f]{64})\n")


class Head(NamedTuple):
    """The last commit: its number, 0 before the first, what the chain has come to, and the seed of hashes or `-`."""

    number: int = 0
    chain: bytes = NO_CHAIN
    seed: str = NO_SEED

    def line(self) -> bytes:
        """As it stands in the file; of one length."""
        text = f"{self.number:020} {self.chain.hex()} {self.seed:>10} ".encode()
        return text + hashlib.sha256(text).hexdigest().encode() + b"\n"


LENGTH = len(Head().line())


def read_head(folder: Path) -> Head | None:
    """The later of the commits that the file names; None where it names none."""
    with (folder / NAME).open("rb") as file:
        content = file.read(3 * LENGTH)
    found = [_parsed(content[place : place + LENGTH]) for place in (0, LENGTH)]
    return max((each for each in found if each is not None), default=None)


def _parsed(line: bytes) -> Head | None:
    parts = LINE.fullmatch(line)
    if parts is None:
        return None
    number, chain, seed, digest = (part.decode() for part in parts.groups())
    if hashlib.sha256(line[: -len(digest) - 1]).hexdigest() != digest:
        return None
    return Head(int(number), bytes.fromhex(chain), seed)


class HeadFile:
    """The file of a store that is written; it stays open, so that a commit needs no descriptor."""

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        os.fchmod(self._handle, PRIVATE_FILE)

    def begin(self, head: Head) -> None:
        """Before the first commit of a run: it is on the disk afterwards."""
        _write(self._handle, head.line() * 2, 0)
        os.ftruncate(self._handle, 2 * LENGTH)
        os.fsync(self._handle)

    def put(self, head: Head) -> None:
        """After a commit. Cost: one write within a block of the disk, unsynced."""
        _write(self._handle, head.line(), head.number % 2 * LENGTH)

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)


def _write(handle: int, content: bytes, place: int) -> None:
    while content:
        size = os.pwrite(handle, content, place)
        content, place = content[size:], place + size
