"""Serves the live view on 127.0.0.1: a page, what it shows as JSON, and each change as a server-sent event.

Nobody but this machine is answered, nor a page of another site that a browser here was led to: a request has to name
this address as its host. Nothing can be changed from here, and the page loads nothing from elsewhere.

Only so many connections are open at once, and a request has to be there within some seconds, however slowly it comes:
the files that a process may open are the run's, and whoever may connect could take them all.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

from graphs.live.watch import Watch, as_json

ADDRESS = "127.0.0.1"
PAGES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
PAUSE = 0.25  # seconds between two events, at least
SHARE = 20  # times what a look at the run took passes before the next one
SILENCE = 10.0  # seconds after which an event says that nothing has changed
MOST_READERS = 16
MOST_CONNECTIONS = 64
DEADLINE = 10.0  # seconds from a connection to the end of its answer; events are for readers that stay
PATIENCE = 5.0  # seconds for which a browser may keep an answer waiting
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveView:
    """The page of one run, until it is closed. `port` 0 takes any that is free; `url` tells which."""

    def __init__(self, watch: Watch, port: int) -> None:
        self.watch = watch
        self._ended = threading.Event()
        self._readers = threading.BoundedSemaphore(MOST_READERS)
        self._look = threading.Lock()
        self._text = ""
        self._next = 0.0
        handler = type("Handler", (_Handler,), {"view": self})
        self._server = _Server((ADDRESS, port), handler)  # an OSError where the port is taken
        self.url = f"http://{ADDRESS}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="live view", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell readers how it ended, and answer no more."""
        self._ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for _ in range(MOST_READERS):  # each has had its last event, or is out of patience
            if not self._readers.acquire(timeout=1.0):
                break

    def text(self) -> str:
        """The state as JSON. Who asks soon after somebody else gets the same, so that readers do not slow the run."""
        with self._look:
            begin = monotonic()
            if begin >= self._next or self._ended.is_set():
                self._text = as_json(self.watch.state())
                end = monotonic()
                self._next = end + max(PAUSE, SHARE * (end - begin))
            return self._text

    def events(self, send: Callable[[str], None]) -> bool:
        """Send the state whenever it has changed, until the run is over; False where too many read already."""
        if not self._readers.acquire(blocking=False):
            return False
        try:
            said, at = "", monotonic()
            while True:
                is_last = self._ended.is_set()
                text = self.text()
                if text != said or monotonic() - at >= SILENCE:
                    send(f"data: {text}\n\n")
                    said, at = text, monotonic()
                if is_last:
                    send("event: over\ndata: {}\n\n")
                    return True
                self._ended.wait(PAUSE)
        finally:
            self._readers.release()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 2 * MOST_CONNECTIONS  # beyond it a connection is asked for again after seconds, by the kernel

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._until: dict[socket.socket, float] = {}  # when a connection is ended that has not had its answer
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, if there is room for one more."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._until[request] = monotonic() + DEADLINE
        try:
            super().process_request(request, client_address)
        except BaseException:  # the thread did not start
            self._over(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._over(request)

    def _over(self, request: socket.socket) -> None:
        self.stays(request)
        self._room.release()

    def stays(self, request: socket.socket) -> None:
        """A connection that is answered for as long as the run goes on."""
        self._until.pop(request, None)

    def service_actions(self) -> None:
        """Called again and again: end the connections whose time is up."""
        now = monotonic()
        for request, until in [*self._until.items()]:
            if now > until:
                self.stays(request)
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    view: LiveView
    timeout = PATIENCE
    server_version = "pointstamp"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer one request."""
        port = self.view.url.rsplit(":", 1)[1].rstrip("/")
        if self.headers.get("Host") not in (f"{ADDRESS}:{port}", f"localhost:{port}"):
            self._answer(403, "text/plain", f"this is {self.view.url}\n")
            return
        try:
            parts = urlsplit(self.path)
            asked = parse_qs(parts.query, max_num_fields=10)
        except ValueError:
            self._answer(400, "text/plain", "this is no address\n")
            return
        if parts.path in PAGES:
            name, kind = PAGES[parts.path]
            self._answer(200, kind, files("graphs.live").joinpath(name).read_text("utf-8"))
        elif parts.path == "/graph":
            self._answer(200, "application/json", as_json(self.view.watch.graph()))
        elif parts.path == "/state":
            self._answer(200, "application/json", self.view.text())
        elif parts.path == "/waits":
            self._answer(200, "application/json", as_json(self.view.watch.waits()))
        elif parts.path == "/why":
            self._why(asked)
        elif parts.path == "/events":
            self._events()
        else:
            self._answer(404, "text/plain", "there is nothing here but /, /graph, /state, /waits, /events and /why\n")

    do_HEAD = do_GET

    def _why(self, asked: dict[str, list[str]]) -> None:
        try:
            node, time = asked["node"][0], json.loads(asked["time"][0])
        except (KeyError, ValueError, RecursionError):
            self._answer(400, "application/json", as_json({"error": "node=NAME&time=JSON is asked for"}))
            return
        self._answer(200, "application/json", as_json(self.view.watch.why(node, time)))

    def _events(self) -> None:
        begun = False

        def send(text: str) -> None:
            nonlocal begun
            if not begun:
                self.server.stays(self.connection)  # type: ignore[attr-defined]
                self._head(200, "text/event-stream")
                begun = True
            self.wfile.write(text.encode())
            self.wfile.flush()

        if self.command == "HEAD":
            self._head(200, "text/event-stream")
        elif not self.view.events(send):
            self._answer(503, "text/plain", f"{MOST_READERS} pages are open already\n")

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self._head(status, kind, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not logged: standard error is the pipeline's."""
