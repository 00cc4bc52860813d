"""The one line of what Spark says that tells what is wrong, of an error that may be a hundred lines long."""

from __future__ import annotations

import re

LONGEST = 300  # characters
IN_PYTHON = re.compile(r"^(?:[\w]+\.)*\w*(?:Error|Exception|Warning|Exit|Interrupt)\b.*", re.MULTILINE)
CAUSE = re.compile(r"^Caused by: (.*)", re.MULTILINE)
PACKAGES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])")
FILE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] Encountered error while reading file (.*?)\.\s")
LOST = re.compile(r"^.*?most recent failure: Lost task [^:]*: ", re.DOTALL)


def said(error: BaseException) -> str:
    """What an error of Spark says: what Python raised at a worker, else the innermost cause, else the first line."""
    java = getattr(error, "java_exception", None)
    try:
        text = java.toString() if java is not None else str(error)
    except Exception:  # the JVM is gone
        text = str(error)
    _, at_worker, trace = text.partition("Traceback (most recent call last):")
    if at_worker:
        raised = [line for line in IN_PYTHON.findall(trace) if not line.startswith(("org.", "java."))]
        if raised:
            return _short(raised[-1])
    whole = str(error)
    causes = CAUSE.findall(whole)
    if causes and java is not None:
        file = FILE.search(whole)
        return _short((f"in {file[1]}: " if file else "") + PACKAGES.sub("", causes[-1]))
    return _short(PACKAGES.sub("", LOST.sub("", text.strip()).split("\n", 1)[0].split(" SQLSTATE:", 1)[0]))


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
