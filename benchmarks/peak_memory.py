"""The most memory that this program had, without what the process had that started it."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path


def most_resident() -> int:
    """Bytes. `getrusage` is for where there is no /proc: it begins with the memory of the process that forked."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
