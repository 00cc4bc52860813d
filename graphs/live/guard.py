"""Who is answered by a page that this machine serves, and from whom something is taken.

Without a token, whoever may connect may read: so the page listens on this machine alone, and a request has to name this
address as its host, lest a page of another site that a browser here was led to reads it under a name of its own. With a
token, nobody is answered who does not have it. Something is taken only with a token, and from a browser only where its
own page asks: a form of another site would be sent with what the browser knows, but it cannot name this origin as its.
"""

from __future__ import annotations

import os
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from string import ascii_letters, digits
from typing import NamedTuple, Protocol

from graphs.files.notation import shown
from graphs.terminal import bad_usage

VARIABLE = "POINTSTAMP_UI_TOKEN"
SHORTEST, LONGEST = 16, 200  # characters of a token
LETTERS = frozenset(ascii_letters + digits + "-._~")  # those that need no escape in an address or a cookie


class Headers(Protocol):
    """What was sent with a request, by name."""

    def get(self, name: str, other: str, /) -> str:
        """What was sent by that name; `other` where nothing was."""
        ...


class Refusal(NamedTuple):
    """Why a request is not answered: a status, and words."""

    status: int
    says: str


def is_this_machine(host: str) -> bool:
    """Whether nobody but this machine can connect to an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Token(NamedTuple):
    """What whoever opens a page has to have; None: nothing. `is_made_up`: nobody knows it yet."""

    text: str | None
    is_made_up: bool = False


def chosen_token(host: str, file: str | None, *, is_given_to: bool) -> Token:
    """The token of a page at this address.

    It is the first line of a file, or the environment's. Where something may be given by the page and nobody has chosen
    one, it is made up, since others of this machine may connect; an address of other machines is refused without.
    """
    if file is not None:
        where = f"--ui-token {shown(file)}"
        try:
            with Path(file).open(encoding="utf-8") as lines:
                token = lines.readline(10 * LONGEST).strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "is not text"
            raise bad_usage(f"--ui-token {shown(file)}: {reason.lower()}", "a file whose first line is it") from None
    elif token := os.environ.get(VARIABLE, ""):
        where = VARIABLE
    elif is_given_to:
        return Token(token_urlsafe(24), is_made_up=True)
    elif is_this_machine(host):
        return Token(None)
    else:
        right = f"--ui-token FILE, or {VARIABLE}; --ui PORT alone is for this machine"
        raise bad_usage(f"--ui: other machines can connect to {shown(host)}, and there is no token", right)
    if not SHORTEST <= len(token) <= LONGEST or not LETTERS.issuperset(token):
        right = f"{SHORTEST} to {LONGEST} letters, digits, and - . _ ~"
        raise bad_usage(f"{where} is not a token that is hard to guess and fits into an address", right)
    return Token(token)


class Guard:
    """Says whether a request is answered. `host` and `port` are where it is listened."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self.token = token
        self.cookie = f"pointstamp-{port}"  # browsers do not tell ports apart
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", _bracketed(host))}
        self._is_here = is_this_machine(host)

    def refusal(self, headers: Headers, offered: str | None = None) -> Refusal | None:
        """Why a question is not answered; None: it is. `offered` is a token in its address."""
        if self._is_here and headers.get("Host", "") not in self._hosts:
            return Refusal(403, "this page has another address")
        if self.token is not None and not (self.knows(offered) or self.knows(self._shown(headers))):
            return Refusal(401, "this page needs its token")
        return None

    def refusal_to_take(self, headers: Headers) -> Refusal | None:
        """Why nothing is taken from somebody; None: it is."""
        refusal = self.refusal(headers)
        if refusal is not None:
            return refusal
        if self.token is None:
            return Refusal(403, "nothing is taken without a token")
        if self.knows(_bearer(headers)) and not headers.get("Origin", ""):
            return None  # no browser adds this to what a page of another site sends
        if headers.get("Origin", "") not in (f"http://{headers.get('Host', '')}", f"https://{headers.get('Host', '')}"):
            return Refusal(403, "this is taken from its own page alone")
        return None

    def knows(self, token: str | None) -> bool:
        """Whether it is the token. Takes as long for a wrong one as for another."""
        return token is not None and self.token is not None and compare_digest(token.encode(), self.token.encode())

    def _shown(self, headers: Headers) -> str | None:
        bearer = _bearer(headers)
        if bearer is not None:
            return bearer
        try:
            found = SimpleCookie(headers.get("Cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return None if found is None else found.value

    def cookie_header(self) -> str:
        """What a browser is told to keep: no script reads it, and no page of another site has it sent."""
        return f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
