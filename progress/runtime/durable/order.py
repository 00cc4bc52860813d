"""The order in which things happened in a run, written before their effects leave, so that they can happen so again.

Engines choose which node is next, and which input has something first; on some it depends on how quickly threads run.
What nodes do is a function of that order (*Delivery, consistency, and determinism*, V). So it is written down since
the last checkpoint: what came in on an input, what a node has taken, and whose calls were entered, in the order in
which the core did it. A record is written, not synced, before anything of it leaves the run: it outlives the process,
not the machine. With each call goes a digest of what it sent, by which a node is found that did otherwise.

A checkpoint may have nodes go on with what would be read of them (`checkpoint.py`), and it is on the disk only later:
so after which of their calls they did is written as well, where the order begins anew.

A record is its length, its checksum, and plain data. One that is cut short is the end: nothing of it has left.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any
from zlib import crc32

from progress.runtime.durable.encoding.form import NotRead
from progress.runtime.durable.encoding.reading import Kinds, decoded
from progress.runtime.durable.encoding.writing import Parts, encoded
from progress.runtime.durable.head import PRIVATE_FILE

if TYPE_CHECKING:
    from progress.runtime.actions.inbox import Action
    from progress.runtime.actions.performed import Performed

HEAD = Struct("<II")
BROUGHT, TOOK, ENTERED, BORDER, HAD = "brought", "took", "entered", "border", "had"
TOLD, TO_TELL, CAME = "told", "to tell", "came"
OF_BORDERS = (HAD, TO_TELL)  # of use to who goes on from the checkpoint before them; who comes from earlier has them
UNKNOWN = 0  # the digest of what has none
Record = tuple[Any, ...]


class Altered(NotRead):
    """A record is not what was written."""


class Order:
    """The order of one run since its last checkpoint.

    Parameters
    ----------
    parts : as for `encoded`: times of graphs stand in records
    write : has bytes outlive the process
    is_full : whether engines leave something of the order to chance; otherwise what nodes are told of the world, and
        where they were read back, is all there is to write
    """

    def __init__(self, parts: Parts, write: Callable[[bytes], None], *, is_full: bool = True) -> None:
        self.is_full = is_full
        self._parts = parts
        self._write = write
        self._pending: list[bytes] = []  # what was taken since: it is written before what follows from it
        self._under_way: dict[int, list[Action]] = {}

    def brought(self, edge: str, messages: int, marks: int, is_over: bool, *turns: Any) -> None:
        """So many messages and marks of a source are going to be entered, whose parts came in these turns, if any."""
        if self.is_full:
            self._add((BROUGHT, edge, messages, marks, is_over, *turns))
            self._flush()

    def came(self, edge: str, what: Any, stand: Any) -> None:
        """This is going to be entered, of a source that does not bring it again; it stands there then."""
        self._add((CAME, edge, what, stand))
        self._flush()

    def took(self, action: Action) -> None:
        """A node has taken something out of its queues."""
        if not self.is_full:
            return
        self._under_way.setdefault(action.node, []).append(action)
        self._add((TOOK, action.node, action.edge, action.time, len(action.values)))

    def entered(self, several: Sequence[Performed]) -> None:
        """What calls of one node did is going to be entered."""
        node = several[0].action.node
        told = [answer for performed in several for answer in performed.out.asked or ()]
        if told:
            self._add((TOLD, node, told))
        if not self.is_full:
            self._flush()
            return
        mine = self._under_way[node]
        places = []
        for performed in several:
            place = next(place for place, action in enumerate(mine) if action is performed.action)
            del mine[place]
            places.append((place, performed.consumed, digest(performed)))
        self._add((ENTERED, node, places))
        self._flush()

    def border(
        self,
        turn: Callable[[], None],
        read_back: Iterable[tuple[int, int]],
        answers: Mapping[int, Sequence[float]],
    ) -> None:
        """A checkpoint was taken: what is under way has not begun, as far as it is concerned. Who goes on from it takes
        that anew; who comes from before it has taken it.

        `turn` has what is written from then on follow it. `read_back` has the nodes that went on with what would be
        read of them, or will, each with how many calls of it had been entered; `answers` what is to be told again.
        """
        self._flush()
        turn()
        for node, entered in read_back:
            self._add((BORDER, {node: entered}))
        for node, told in answers.items():
            self._add((TO_TELL, node, [*told]))
        for actions in self._under_way.values():
            for action in actions:
                self._add((HAD, action.node, action.edge, action.time, len(action.values)))
        self._flush()

    def _add(self, record: Record) -> None:
        content = encoded(record, self._parts)
        self._pending.append(HEAD.pack(len(content), crc32(content)) + content)

    def _flush(self) -> None:
        if self._pending:
            self._write(b"".join(self._pending))
            self._pending.clear()


def digest(performed: Performed) -> int:
    """Four bytes of what a call sent and asked for; `UNKNOWN` where it is not of Python's own simplest kinds."""
    out = performed.out
    try:
        return crc32(marshal.dumps((list(out.sent.items()), list(out.requests)), 2)) or 1
    except ValueError:
        return UNKNOWN


def records(content: bytes, kinds: Kinds, *, is_torn: bool = False) -> list[Record]:
    """All that was written, up to a record that is cut short. Cost: O(bytes).

    `is_torn` says that what stands behind what was synced may be anything, as after a power cut: it is the end.
    """
    found: list[Record] = []
    place = 0
    while place + HEAD.size <= len(content):
        size, sum_ = HEAD.unpack_from(content, place)
        body = content[place + HEAD.size : place + HEAD.size + size]
        if len(body) < size or (is_torn and (not body or crc32(body) != sum_)):
            break
        if crc32(body) != sum_:
            raise Altered(f"the checksum of record {len(found) + 1} does not fit")
        found.append(decoded(body, kinds))
        place += HEAD.size + size
    return found


class OrderFile:
    """A file that takes records as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)

    def sync(self) -> None:
        """Make sure that what was written outlives the machine."""
        os.fdatasync(self._handle)

    def write(self, content: bytes) -> None:
        """Append it, without a sync. Cost: a call of the system."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)
