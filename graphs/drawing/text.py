"""How wide text is, before anything has drawn it: as wide as DejaVu Sans and Verdana have it."""

from __future__ import annotations

import unicodedata

from graphs.wording import elided, printable

SIZE = 12.0  # pixels of a letter's height
LINE = 15.0  # pixels from one line to the next
LONGEST = 30  # letters of a name or a time that are shown; the rest is in its title


def shown(text: str, most: int = LONGEST) -> str:
    """A text of strangers in so many letters, with nothing in it that does not print."""
    return elided(printable(elided(text, 4 * most)), most)


def width(text: str) -> float:
    """Pixels, never fewer than what is drawn in the usual fonts."""
    return SIZE * sum(map(_letter, text))


def known(text: str) -> bool:
    """Whether all letters are such whose width is the same wherever the text is shown, more or less."""
    return all(character < LATIN or character in SIGNS for character in text)


LATIN = "\u0250"  # letters before it are Latin
NARROW = frozenset(" !\"'(),-./:;I[\\]`fijlrt{|}")
BROAD = frozenset("%@MWm")
SIGNS = frozenset("…≥≤→")  # that the project writes itself


def _letter(character: str) -> float:
    """The width of a letter as a part of its height."""
    if character in NARROW:
        return 0.48 if character not in '{}"' else 0.64
    if character in BROAD or character >= LATIN:
        return 2.0 if unicodedata.east_asian_width(character) in "WF" and character > "\uffff" else 1.0
    return 0.86 if character.isupper() or character > "~" or character in "#+<=>^~&w" else 0.64
