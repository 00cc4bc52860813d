"""What readers of a page are told: made once an interval, whoever asks, and never for longer than a share of the time.

The run pays for a look at it by standing still meanwhile, and for telling it to readers. So the look is one for all
of them, and where it and telling have taken t seconds, the next look is `share` * t seconds away: readers, however
many, take 1 / `share` of the time at most.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, thread_time

PAUSE = 0.25  # seconds between two looks, at least
SHARE = 40  # times what a look and telling it took passes before the next look
SELDOM = 200  # the same for what is asked for seldom
SILENCE = 10.0  # seconds after which an event says that nothing has changed
MOST_READERS = 40


class Told:
    """A text that changes, for any number of readers. `look` makes it; both take 1 / `share` of the time at most.

    `clock` tells the time, `work` what this thread has had of the processor: a slow reader costs the run nothing.
    """

    def __init__(
        self,
        look: Callable[[], str],
        share: float = SHARE,
        clock: Callable[[], float] = monotonic,
        work: Callable[[], float] = thread_time,
    ) -> None:
        self._look = look
        self._share = share
        self._clock = clock
        self._work = work
        self._at = 0.0  # when it was looked last
        self._spent = 0.0  # seconds that it took, and telling it
        self._ended = threading.Event()
        self._readers = threading.BoundedSemaphore(MOST_READERS)
        self._lock = threading.Lock()
        self._text = b""
        self._event = b""
        self._next = 0.0
        self._was_last = False

    def text(self) -> bytes:
        """The text. Who asks soon after somebody else gets the same."""
        self._renew()
        return self._text

    def _renew(self) -> bytes:
        """Look again if it is time to; the event that tells what was seen last. Where nothing changed, it stays."""
        with self._lock:
            now = self._clock()
            is_last = self._ended.is_set() and not self._was_last
            if is_last or (now >= self._next and not self._was_last):
                self._was_last = is_last
                self._at, self._spent = now, 0.0
                text = self._look().encode()
                if text != self._text:
                    self._text, self._event = text, b"data: %s\n\n" % text
                self._spend(self._clock() - now)  # of the time: the run stands still for it
            return self._event

    def _spend(self, seconds: float) -> None:
        """So much was taken: the next look is the later."""
        self._spent += seconds
        self._next = self._at + max(PAUSE, self._share * self._spent)

    def events(self, send: Callable[[bytes], None]) -> bool:
        """Send the text whenever it has changed, until the end; False where too many read already."""
        if not self._readers.acquire(blocking=False):
            return False
        try:
            said, at = b"", monotonic()
            while True:
                is_last = self._ended.is_set()
                event = self._renew()
                if event is not said or monotonic() - at >= SILENCE:
                    begin = self._work()
                    send(event)
                    with self._lock:
                        self._spend(self._work() - begin)
                    said, at = event, monotonic()
                if is_last:
                    send(b"event: over\ndata: {}\n\n")
                    return True
                self._ended.wait(PAUSE)
        finally:
            self._readers.release()

    def end(self) -> None:
        """Readers are told the last text, and that it is the last."""
        self._ended.set()

    def wait(self) -> None:
        """Wait until each reader has had its last event, or is out of patience."""
        for _ in range(MOST_READERS):
            if not self._readers.acquire(timeout=1.0):
                break
