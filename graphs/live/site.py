"""A page of this machine: files, questions answered as JSON, events, what is taken; each behind `graphs.live.guard`.

Only so many connections are open at once, and a request has to be there within some seconds, however slowly it comes:
the files that a process may open are the run's, and whoever may connect could take them all. A page loads nothing from
elsewhere, and none of its scripts and styles stands in its text, so that no name of a stranger can become one.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from graphs.files.notation import shown
from graphs.live.guard import Guard, Refusal
from graphs.live.parts import text_of
from graphs.live.token_form import STYLE_SOURCE, token_form
from graphs.live.told import MOST_READERS, Told
from graphs.sessions.ask import read_line
from graphs.terminal import bad_usage
from progress.errors import PointstampError, reason_of

ADDRESS = "127.0.0.1"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
TICK = 0.05  # seconds between looks at what is to be done besides
MOST_CONNECTIONS = 64
DEADLINE = 10.0  # seconds from a connection to the end of its answer; events are for readers that stay
PATIENCE = 5.0  # seconds for which a browser may keep an answer waiting
MOST_TAKEN = 60_000  # bytes of what is given at once
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
Asked = Mapping[str, str]  # what stands behind the ? of an address, each name once


class NotAnswered(Exception):
    """What is asked for, or given, is wrong. Its text says what would be right."""


class Content(NamedTuple):
    """What a site has to say."""

    pages: Mapping[str, str]  # by path: the file
    answers: Mapping[str, Callable[[Asked], Any]]  # by path: the answer to a question, as data
    events: Mapping[str, Told]
    takes: Mapping[str, Callable[[Any], Any]] = {}  # by path: the answer to what was given
    tick: Callable[[], None] = lambda: None  # called again and again


@contextmanager
def serving(host: str, port: int) -> Iterator[None]:
    """Say in one line why nothing can be served there, as `--ui` named it."""
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        if host == ADDRESS:
            raise bad_usage(f"--ui {port}: {reason}", "another port; 0 takes any that is free") from None
        right = "an address of this machine, and a port that is free"
        raise bad_usage(f"--ui {shown(host)}:{port}: {reason}", right) from None


class Site:
    """Serves a page until it is closed. `port` 0 takes any that is free; `url` tells which."""

    def __init__(self, content: Content, port: int, host: str = ADDRESS, token: str | None = None) -> None:
        self.content = content
        handler = type("Handler", (_Handler,), {"site": self})
        self.server = _Server((host, port), handler, content.tick)  # an OSError where the port is taken
        port = self.server.server_address[1]
        self.guard = Guard(host, port, token)
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(TICK,), name="live view", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell readers of events that they are over, and answer no more."""
        for told in self.content.events.values():
            told.end()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()
        for told in self.content.events.values():
            told.wait()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 2 * MOST_CONNECTIONS  # beyond it a connection is asked for again after seconds, by the kernel

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], tick: Callable[[], None]
    ) -> None:
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._until: dict[socket.socket, float] = {}  # when a connection is ended that has not had its answer
        self._tick = tick
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
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
        self._tick()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away."""


class _Handler(BaseHTTPRequestHandler):
    site: Site
    timeout = PATIENCE
    server_version = "pointstamp"
    sys_version = ""
    enters = False  # whether whoever asks has shown the token in the address, and is told to keep it

    def do_GET(self) -> None:
        """Answer one request."""
        guard, content = self.site.guard, self.site.content
        try:
            parts = urlsplit(self.path)
            several = parse_qs(parts.query, keep_blank_values=True, max_num_fields=100)
        except ValueError:
            self._answer(400, "text/plain", "this is not an address\n")
            return
        asked = {name: values[0] for name, values in several.items()}
        refusal = guard.refusal(self.headers, asked.get("token"))
        if refusal is not None:
            self._refuse(refusal, has_form=parts.path in content.pages and refusal.status == 401)
            return
        self.enters = guard.knows(asked.get("token"))
        if parts.path in content.pages:
            name = content.pages[parts.path]
            self._answer(200, KINDS[name[name.rindex(".") :]], text_of(name))
        elif parts.path in content.answers:
            self._data(content.answers[parts.path], asked)
        elif parts.path in content.events:
            self._events(content.events[parts.path])
        else:
            there = ", ".join((*content.answers, *content.events))
            self._answer(404, "text/plain", f"there is nothing here but /, {there}\n")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Take something, or a token that a browser is to keep."""
        guard, takes = self.site.guard, self.site.content.takes
        body = self._body()
        if body is None:
            self._answer(413, "text/plain", f"at most {MOST_TAKEN} bytes, and how many has to be said\n")
        elif self.path == "/enter" and guard.token is not None:
            self._enter(body)
        elif (refusal := guard.refusal_to_take(self.headers)) is not None:
            self._refuse(refusal)
        elif self.path not in takes:
            self._answer(404, "text/plain", "nothing is taken here\n")
        elif self.headers.get_content_type() != "application/json":
            self._answer(415, "text/plain", "this is taken as application/json\n")
        else:
            self._data(lambda line: takes[self.path](read_line(line)), body)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or len(length) > 9 or int(length) > MOST_TAKEN:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def _enter(self, body: bytes) -> None:
        """Show the page to a browser whose user has the token, which is not in the address then."""
        try:
            offered = parse_qs(body.decode("latin-1"), max_num_fields=10).get("token", [""])[0]
        except ValueError:
            self._answer(400, "text/plain", "this is not the form of a token\n")
            return
        refusal = self.site.guard.refusal(self.headers, offered.strip())
        if refusal is not None:
            self._refuse(refusal, has_form=refusal.status == 401)
            return
        self.enters = True
        self._head(303, "text/plain", 0, {"Location": "/"})

    def _data(self, function: Callable[[Any], Any], given: Any) -> None:
        try:
            answer = function(given)
        except (NotAnswered, PointstampError) as error:
            self._answer(400, "application/json", as_json({"error": str(error)}))
            return
        text = answer if isinstance(answer, bytes) else as_json(answer)
        self._answer(200, "application/json", text)

    def _events(self, told: Told) -> None:
        begun = False

        def send(text: bytes) -> None:
            nonlocal begun
            if not begun:
                self.server.stays(self.connection)  # type: ignore[attr-defined]
                self._head(200, "text/event-stream")
                begun = True
            self.wfile.write(text)
            self.wfile.flush()

        if self.command == "HEAD":
            self._head(200, "text/event-stream")
        elif not told.events(send):
            self._answer(503, "text/plain", f"{MOST_READERS} pages are open already\n")

    def _refuse(self, refusal: Refusal, has_form: bool = False) -> None:
        if has_form:
            policy = HEADERS["Content-Security-Policy"].replace("style-src 'self'", f"style-src {STYLE_SOURCE}")
            more = {"Content-Security-Policy": policy}
            self._answer(refusal.status, "text/html", token_form(refusal.says), more)
        else:
            self._answer(refusal.status, "text/plain", refusal.says + "\n")

    def _answer(self, status: int, kind: str, text: str | bytes, more: Mapping[str, str] | None = None) -> None:
        body = text.encode() if isinstance(text, str) else text
        self._head(status, kind, len(body), more)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, kind: str, length: int | None = None, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in {**HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        if self.enters:
            self.send_header("Set-Cookie", self.site.guard.cookie_header())
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not logged: standard error is the pipeline's."""


def as_json(data: Any) -> str:
    """JSON in one line; a time of a user's own domain is a text."""
    return json.dumps(data, default=str, separators=(",", ":"))


def request_asked(asked: Asked, form: str) -> tuple[str, Any]:
    """The node and the time, as data, of a question that has this form."""
    try:
        return asked["node"], json.loads(asked["time"])
    except (KeyError, ValueError, RecursionError):
        raise NotAnswered(f"{form} is asked for") from None
