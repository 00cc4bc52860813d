"""`pointstamp explain`: a code of the registry as a page for the terminal, and as a page of docs/codes."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.codes import CODES, Code, code

EXAMPLES = {"yaml": "Example, a graph file", "sh": "Example, at the command line", "python": "Example, in Python"}


def explain(number: str) -> str:
    """The page for the terminal, ended by a newline; a name serves as well as a number. PS614 when there is none."""
    found = code(number)
    text = [f"{found.number} {found.name} ({found.severity})", "", f"  {found.says}"]
    for heading, body in _sections(found):
        text += ["", heading, "", *(f"  {line}".rstrip() for line in body.splitlines())]
    return "\n".join(text) + "\n"


def page(entry: Code, answer: str = "") -> str:
    """The page of docs/codes; `answer` is what `pointstamp check` says of the example."""
    text = [f"# {entry.number} `{entry.name}`", f"**{entry.severity.capitalize()}.** {entry.says}"]
    for heading, body in _sections(entry):
        is_example = heading in EXAMPLES.values()
        text += [f"## {heading}", f"```{entry.example.language}\n{body}```" if is_example else body]
        if is_example and answer:
            text += ["`pointstamp check example.yaml` answers:", f"```text\n{answer}```"]
    text.append("[All codes](README.md)")
    return "\n\n".join(text) + "\n"


def index() -> str:
    """The page that lists all codes."""
    rows = [
        f"| [{entry.number}]({entry.number}.md) | `{entry.name}` | {entry.severity} | {entry.says} |"
        for entry in CODES.values()
    ]
    text = [
        "# Codes",
        "Everything that `pointstamp` reports has a code; `pointstamp explain PS201` shows its page in the terminal.",
        "The first digit tells where a code comes from: 0 a file that cannot be read as a graph, 1 Condition 1, "
        "2 Condition 2, 3 cycles, 4 the shape of the graph, 5 steps of a running system, 6 questions asked of it.",
        "| code | name | severity | says |\n|---|---|---|---|\n" + "\n".join(rows),
        "These pages are written by `scripts/write_code_pages.py` from the registry, `graphs/codes/__init__.py`.",
    ]
    return "\n\n".join(text) + "\n"


def _sections(entry: Code) -> Iterable[tuple[str, str]]:
    explanation = entry.explanation
    yield "What it means", explanation.means
    yield "Why it matters", explanation.why
    yield EXAMPLES[explanation.example.language], explanation.example.text.rstrip("\n") + "\n"
    yield "How to fix it", explanation.fix
