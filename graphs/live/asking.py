"""Asks a live view that is being served what waits in its run. What answers may be anything, and take any time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from socket import SHUT_RDWR, socket
from threading import Timer
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from graphs.arguments import split
from graphs.terminal import bad_usage
from graphs.wording import elided, printable
from progress.errors import PointstampError, reason_of

PATIENCE = 5.0  # seconds for an answer to be there whole
LONGEST = 16_000_000  # bytes of an answer
CHUNK = 65_536
WAIT = {"request": list, "says": str}
BY = {"pointstamp": list, "kind": str, "proof": list}


class LiveRun:
    """A run that a live view shows, by its address; a token in the address is passed on."""

    def __init__(self, url: str) -> None:
        self.url = re.sub(r"(?<=[?&]token=)[^&#]*", "...", url)  # as it is said: a token belongs into no log
        try:
            parts = urlsplit(url)
            if parts.hostname is None or parts.scheme != "http":
                raise ValueError
            self._connection = HTTPConnection(parts.hostname, parts.port or 80, timeout=PATIENCE)
            token = parse_qs(parts.query).get("token")
            if token and not (token[0].isascii() and token[0].isprintable()):  # it could not be sent
                raise ValueError
        except (ValueError, HTTPException):
            raise self._no_address() from None
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token[0]}"} if token else {})

    def waits(self) -> dict[str, Any]:
        """All that waits (`graphs.sessions.waiting`)."""
        found = self._ask("/waits")
        with self._read():
            _check(found, {"waiting": int, "ready": int, "steps": int, "waits": list})
            for wait in found["waits"]:
                _check_wait(wait)
        return dict(found)

    def why(self, text: str) -> dict[str, Any]:
        """What holds one request, named as NODE=TIME."""
        graph = self._ask("/graph")
        with self._read():
            _check(graph, {"nodes": list})
        node, written = split(text, graph["nodes"])
        if written is None:
            raise bad_usage(f"{text}: no time", "NODE=TIME, like body=3")
        if node not in graph["nodes"]:
            raise bad_usage(f"{text}: the run has no node {node!r}", "a node of its graph")
        try:
            time = json.loads(written)
        except (ValueError, RecursionError):
            time = written
        question = f"?node={quote(node, safe='')}&time={quote(json.dumps(time), safe='')}"
        why = self._ask(f"/why{question}")
        with self._read():
            if isinstance(why, dict) and isinstance(why.get("error"), str):
                raise bad_usage(f"{text}: {why['error']}", str(why.get("hint", "a time of the node")))
            _check(why, {"request": list, "blocked": bool, "by": list})
            for by in why["by"]:
                _check_by(by)
            if why["wait"] is not None:
                _check_wait(why["wait"])
        return {key: why[key] for key in ("request", "blocked", "by", "wait")}

    def _ask(self, path: str) -> Any:
        connection = self._connection  # which begins anew for each question
        try:
            connection.connect()
            with _in_time(connection.sock):
                connection.request("GET", path, headers=self._headers)
                response = connection.getresponse()
                body = b""
                while chunk := response.read1(CHUNK):
                    body += chunk
                    if len(body) > LONGEST:
                        raise self._no_view()
        except TimeoutError:
            right = "ask again, or look whether the process still runs"
            raise PointstampError("PS749", f"{self.url} does not answer within {PATIENCE:g} seconds", right) from None
        except HTTPException:
            raise self._no_view() from None
        except ValueError:  # a host that cannot be looked up
            raise self._no_address() from None
        except OSError as error:
            right = "the address that `pointstamp run PIPELINE.py --ui PORT` says"
            raise PointstampError("PS749", f"nothing answers at {self.url}: {reason_of(error)}", right) from None
        finally:
            connection.close()
        with self._read():
            if response.status in (401, 403):
                said = printable(elided(body.decode().strip(), 200))
                raise PointstampError(
                    "PS749", f"{self.url} does not let this ask: {said}", "the whole address, token included"
                )
            if response.status != 200:
                raise ValueError
            return json.loads(body)

    @contextmanager
    def _read(self) -> Iterator[None]:
        """Refuse an answer that does not have the form of a live view's."""
        try:
            yield
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self._no_view() from None

    def _no_address(self) -> PointstampError:
        return bad_usage(f"{self.url}: this is not the address of a live view", "like http://127.0.0.1:8765/")

    def _no_view(self) -> PointstampError:
        right = "the address that `pointstamp run PIPELINE.py --ui PORT` says, of the same version"
        return PointstampError("PS749", f"what answers at {self.url} is not a live view", right)


@contextmanager
def _in_time(connection: socket) -> Iterator[None]:
    """TimeoutError where the answer is not there whole by then, however slowly its head, or a part of it, comes in."""
    until = monotonic() + PATIENCE
    timer = Timer(PATIENCE, _shut, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    except (HTTPException, OSError):
        if monotonic() >= until:  # what is read when it is shut may look like anything
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
    if monotonic() >= until:
        raise TimeoutError


def _shut(connection: socket) -> None:
    with suppress(OSError):
        connection.shutdown(SHUT_RDWR)


def _check(found: Any, form: Mapping[str, type]) -> None:
    """TypeError where this is not a mapping with such values."""
    if not isinstance(found, dict) or not all(type(found[key]) is kind for key, kind in form.items()):
        raise TypeError


def _check_wait(wait: Any) -> None:
    _check(wait, WAIT)
    if wait["by"] is not None:
        _check_by(wait["by"])


def _check_by(by: Any) -> None:
    _check(by, BY)
    for name, _ in (by["pointstamp"], *by["proof"]):
        if type(name) is not str:
            raise TypeError
    for fold in by.get("folds", ()):
        _check(fold, {"after": int, "cycle": list, "times": int})
        if not 0 <= fold["after"] < len(by["proof"]) or not all(type(name) is str for name in fold["cycle"]):
            raise TypeError
