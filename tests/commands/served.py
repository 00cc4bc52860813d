"""A page that is served on this machine, asked as programs ask it."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

from tests.commands.pipelines import PATIENCE


def asked(url: str, path: str) -> tuple[int, Any]:
    """Status and answer."""
    connection = HTTPConnection("127.0.0.1", int(url.rstrip("/").rsplit(":", 1)[1]), timeout=PATIENCE)
    try:
        connection.request("GET", path)
        with connection.getresponse() as response:
            text = response.read().decode()
            is_data = response.getheader("Content-Type", "").startswith("application/json")
            return response.status, json.loads(text) if is_data else text
    finally:
        connection.close()
