"""The page that whoever comes without a token is shown: a form for it, and nothing of what it guards."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

STYLE = (
    ":root{color-scheme:light dark}html{font-size:clamp(15px,.55vw + 9px,24px)}"
    "body{margin:0;font:1rem/1.45 system-ui,sans-serif}main{max-width:32rem;margin:8vh auto;padding:0 1.2rem}"
    "h1{font-size:1.3rem}input,button{font:inherit;padding:.3rem .6rem}input{max-width:100%}"
)
STYLE_SOURCE = f"'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"  # for a content security policy


def token_form(says: str) -> str:
    """A page with a form, and why it is shown."""
    title = escape(says[0].upper() + says[1:])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Pointstamp</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>"
        "<p>It stands in the address that the command has written, or in the file of its --ui-token.</p>"
        '<form method="post" action="/enter"><label>Token '
        '<input name="token" type="password" autocomplete="off" autofocus required></label> '
        "<button>Open</button></form></main></body></html>\n"
    )
