"""A picture as a page: the SVG, which scrolls, and the same in words below it. There is no script on it."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from graphs.drawing.svg import DARK, LIGHT, safe, style

PAGE = (
    "html{{font-size:clamp(15px,.55vw + 9px,24px)}}"
    "body{{margin:1rem;font:1rem/1.5 DejaVu Sans,Verdana,sans-serif;color:{text};background:{page}}}"
    ".picture{{overflow:auto;max-height:80vh;border:1px solid {line}}}"
    "table{{border-collapse:collapse;margin-top:1rem}}"
    "th,td{{border:1px solid {line};padding:.2rem .6rem;text-align:left;overflow-wrap:anywhere}}"
    "th,td:first-child{{white-space:nowrap}}td:nth-child(2){{min-width:8rem}}"
    "@media(min-width:1900px){{.picture{{zoom:1.5}}}}"
)


def html(picture: str, title: str, rows: list[tuple[str, str, str]]) -> str:
    """A page with a picture (`svg(..., styled=False)`) and a table: what, its name, what is said of it."""
    sheet = f"{style()}{PAGE.format(**LIGHT)}@media (prefers-color-scheme:dark){{{PAGE.format(**DARK)}}}"
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    words = "".join(
        f"<tr><td>{safe(kind)}</td><td>{safe(name)}</td><td>{safe(says)}</td></tr>\n" for kind, name, says in rows
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>{sheet}</style>\n</head>\n<body>\n<main>\n<h1>{safe(title)}</h1>\n"
        f'<div class="picture" role="region" aria-label="the picture" tabindex="0">\n{picture}</div>\n'
        f"<table>\n<caption>The same in words</caption>\n"
        "<thead><tr><th>what</th><th>name</th><th>says</th></tr></thead>\n"
        f"<tbody>\n{words}</tbody>\n</table>\n</main>\n</body>\n</html>\n"
    )
