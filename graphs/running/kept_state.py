"""`pointstamp state show|verify|compact|export DIR`: what a run has kept, for people (docs/running.md).

`show` and `export` read the store as a run that goes on would, and change nothing, also while a run uses it. `verify`
reads all that is kept, and compares inputs and outputs with it. `compact` gives back the room that is of no use. What
is kept is read as plain data: classes of the pipeline are shown by their names, and none of their code is run.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from time import localtime, strftime, time
from typing import Any

from graphs.files.notation import shown
from graphs.running.files import STANDARD, check_whole, not_as_left
from graphs.terminal import FINE, bad_usage, write, write_json
from graphs.wording import printable
from progress.runtime.durable.encoding.form import NotRead
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.folder import Mappings, StateFolder, checked, damaged, is_used
from progress.runtime.durable.head import NAME as HEAD
from progress.runtime.durable.mappings.rows import key_read
from progress.runtime.durable.order import records
from progress.runtime.durable.order_log import files_of
from progress.runtime.durable.stored import NAME as STORE
from progress.runtime.durable.stored import Commit

MUCH = 1 << 20  # bytes that are digested at once
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def state_command(options: argparse.Namespace) -> int:
    """Do what was asked for; the exit code."""
    folder = Path(options.folder)
    if not options.folder or not folder.is_dir():
        raise bad_usage(f"{options.folder or shown('')}: there is no such folder", "the DIR of run --state DIR")
    commit = checked(folder)
    if commit is None:
        raise bad_usage(f"{options.folder}: nothing is kept there", "the DIR of run --state DIR")
    answer = {"show": _show, "verify": _verify, "compact": _compact, "export": _export}[options.action](folder, commit)
    if options.format == "json" or options.action == "export":
        write_json({"format_version": 1, "state": options.folder, **answer})
    else:
        write("\n".join(printable(line) for line in _TEXTS[options.action](answer)))
    return FINE


# --- show -------------------------------------------------------------------------------------------------------------


def _show(folder: Path, commit: Commit) -> dict[str, Any]:
    known = commit.known
    command, files = known["command"], _files(known)
    nodes: dict[str, dict[str, int]] = {}
    other: dict[str, int] = {}
    for name, size in commit.sizes.items():
        node, _ = json.loads(name)
        nodes.setdefault(node, {})["mappings"] = nodes.setdefault(node, {}).get("mappings", 0) + size
    for part, content in commit.parts.items():
        kind, _, name = part.partition(" ")
        if name:
            nodes.setdefault(name, {})[{"node": "state", "queue": "waiting"}.get(kind, kind)] = len(content)
        else:
            other[part] = len(content)
    inputs = [
        {"input": name, "file": files.get(f"--input {name}"), "bytes": size, "lines": lines, "ended": name in ended}
        for ended in (set(known["ended"]),)
        for name, (size, lines, _) in known["inputs"].items()
    ]
    return {
        "pipeline": command["pipeline"],
        "engine": command["--engine"],
        "finished": known["is_finished"],
        "in_use": is_used(folder),
        "commits": commit.number,
        "taken": (folder / HEAD).stat().st_mtime,
        "on_disk": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        "size": sum(map(len, commit.parts.values())) + sum(commit.sizes.values()),
        "pickle": bool(command.get("--pickle")),
        "nodes": [{"node": name, **sizes} for name, sizes in nodes.items()],
        "other": other,
        "order": sum(path.stat().st_size for path in _order_since(folder, known)),
        "inputs": inputs,
        "positions": [{"input": name, "position": place} for name, place in known["parts"].items()],
        "outputs": [_outlet(use, files.get(use), outlet) for use, outlet in known["outlets"].items()],
    }


def _files(known: dict[str, Any]) -> dict[str, Any]:
    """The files of the run, by their use: those of its command, and those that the pipeline names itself."""
    return {**known.get("files", {}), **known["command"]}


def _outlet(use: str, file: str | None, outlet: dict[str, Any]) -> dict[str, Any]:
    """How far an output is: a file of lines, or a sink that gets bundles."""
    found = {"output": use.partition(" ")[2] or use, "file": STANDARD if use == STANDARD else file}
    if "number" in outlet:
        return {**found, "deliveries": outlet["number"], "waiting": len(bytes.fromhex(outlet["held"]))}
    return {**found, "bytes": outlet["size"], "there": _size(file), "waiting": len(outlet["held"].encode())}


def _order_since(folder: Path, known: dict[str, Any]) -> list[Path]:
    """The files that have the order since the checkpoint."""
    return [path for number, path in files_of(folder).items() if number >= known["order"]]


def _size(file: str | None) -> int | None:
    """How large a file is; None where it is none."""
    try:
        return Path(file).stat().st_size if file is not None and file != STANDARD else None
    except OSError:
        return None


def _shown(found: dict[str, Any]) -> Iterable[str]:
    stands = "has ended" if found["finished"] else "goes on" if found["in_use"] else "was stopped"
    yield f"{_place(found['pipeline'])} on {found['engine']}, a run that {stands}"
    at = strftime("%Y-%m-%d %H:%M:%S", localtime(found["taken"]))
    yield f"checkpoint {found['commits']}, {_age(time() - found['taken'])} old ({at}): {_amount(found['size'])}"
    yield f"on the disk: {_amount(found['on_disk'])}; order since: {_amount(found['order'])}"
    if found["nodes"]:
        mappings = ["mappings"] if any("mappings" in each for each in found["nodes"]) else []
        names = ["node", "state", *mappings, "waiting", "sink"]
        rows = [
            [each["node"], *(_amount(each[name]) if name in each else "" for name in names[1:])]
            for each in found["nodes"]
        ]
        yield from ("", *_table(names, rows))
    if found["inputs"]:
        rows = [
            [each["input"], _place(each["file"]), _amount(each["bytes"]), str(each["lines"]), "ended" * each["ended"]]
            for each in found["inputs"]
        ]
        yield from ("", *_table(("input", "file", "read", "lines", ""), rows))
    if found["positions"]:
        rows = [[each["input"], json.dumps(each["position"])] for each in found["positions"]]
        yield from ("", *_table(("input", "position"), rows))
    if found["outputs"]:
        rows = [
            [
                each["output"],
                _place(each["file"]),
                _amount(each["bytes"]) if "bytes" in each else f"{each['deliveries']} deliveries",
                "" if each.get("there") is None else _amount(each["there"]),
                _amount(each["waiting"]) if each["waiting"] else "",
            ]
            for each in found["outputs"]
        ]
        yield from ("", *_table(("output", "file", "written", "there", "waiting"), rows))


def _place(file: str | None) -> str:
    """A file, from here where it is below; nothing where the pipeline names it."""
    if file is None:
        return ""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _amount(size: int) -> str:
    """A number of bytes as people say it."""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {UNITS[unit]}"


def _age(seconds: float) -> str:
    for most, unit in ((120, 1), (7_200, 60), (172_800, 3_600)):
        if seconds < most:
            return f"{max(0, int(seconds / unit))} {({1: 'seconds', 60: 'minutes', 3_600: 'hours'})[unit]}"
    return f"{int(seconds / 86_400)} days"


def _table(names: Iterable[str], rows: list[list[str]]) -> list[str]:
    lines = [[*names], *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]


# --- verify, compact --------------------------------------------------------------------------------------------------


def _verify(folder: Path, commit: Commit) -> dict[str, Any]:
    """Read all that is kept, and compare the files of the run with it; refused where one is not as it was left."""
    known = commit.known
    files = _files(known)
    is_pickle = bool(known["command"].get("--pickle"))
    if not is_pickle:
        rows, changes = _mappings(folder)
        contents = ((name, content) for name, *both in rows for content in both)
        for part, content in (*commit.parts.items(), *contents, *changes):
            _plain(folder, part, content)
    ordered = 0
    for log in _order_since(folder, known):
        try:
            ordered += len(records(log.read_bytes(), Names()))
        except NotRead as error:
            raise damaged(folder, f"{log.name}: {error}") from None
    outputs = inputs = 0
    others: list[str] = []  # what nobody can compare here
    for use, outlet in known["outlets"].items():
        if "size" in outlet and files.get(use) not in (None, STANDARD):
            check_whole(folder, files[use], outlet["size"], outlet["mark"])
            outputs += 1
        else:
            others.append(use if use == STANDARD else f"output {use.partition(' ')[2]}")
    for name, (size, _, mark) in known["inputs"].items():
        file = files.get(f"--input {name}")
        if file is None or file == STANDARD or not Path(file).is_file():
            others.append(f"input {name}")  # a pipe is not read for this; a file that is done with may be gone
            continue
        if _digest(Path(file), size) != mark:
            raise not_as_left(folder, f"{file} holds something else than what was read, or is shorter")
        inputs += 1
    return {
        "whole": True,
        "commits": commit.number,
        "parts": len(commit.parts),
        "pieces": len(commit.pieces),
        "decoded": not is_pickle,
        "order_records": ordered,
        "inputs": inputs,
        "outputs": outputs,
        "not_compared": others,
    }


def _mappings(folder: Path) -> Mappings:
    """What is kept of mappings, apart from the parts."""
    found = Mappings([], [])
    checked(folder, mappings=found)
    return found


def _plain(folder: Path, part: str, content: bytes) -> Any:
    """What these bytes are, kinds by their names."""
    try:
        return decoded(content, Names())
    except NotRead as error:
        raise damaged(folder, f"{part!r} is not plain data: {error}") from None


def _digest(file: Path, size: int) -> str:
    """That of the first bytes of a file."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while size and (content := stream.read(min(size, MUCH))):
            found.update(content)
            size -= len(content)
    return found.hexdigest()


def _verified(found: dict[str, Any]) -> Iterable[str]:
    how = "" if found["decoded"] else ", which are pickles and were not read"
    yield f"whole: checkpoint {found['commits']}, {found['parts']} parts{how}"
    yield f"order since: {found['order_records']} records"
    yield f"as they were left: inputs {found['inputs']}, outputs {found['outputs']}"
    if found["not_compared"]:
        yield f"not compared: {', '.join(found['not_compared'])}"


def _compact(folder: Path, commit: Commit) -> dict[str, Any]:
    """Put the store together anew, without the room that nothing is in."""
    files = [folder / f"{STORE}{end}" for end in ("", "-wal", "-shm")]
    before = sum(_size(str(path)) or 0 for path in files)
    state = StateFolder(str(folder))
    try:
        state.compact()
    finally:
        state.close()
    after = checked(folder)
    if after is None or after[:5] != commit[:5]:
        raise damaged(folder, "it is another one now that it is compact")
    return {"commits": commit.number, "before": before, "after": sum(_size(str(path)) or 0 for path in files)}


def _compacted(found: dict[str, Any]) -> Iterable[str]:
    yield f"compact: {_amount(found['before'])} before, {_amount(found['after'])} now"


# --- export -----------------------------------------------------------------------------------------------------------


class Names:
    """Kinds by their names alone: no class is looked for, and nothing is made."""

    def made(self, name: str, made_of: Any) -> Any:
        """What stands for a value."""
        return Named(name, made_of)

    def begun(self, name: str) -> tuple[Any, Callable[[Any], None]]:
        """What stands for a value that may hold itself."""
        found = Named(name, None)

        def fill(made_of: Any) -> None:
            found.made_of = made_of

        return found, fill


class Named:
    """Stands for a value of a kind."""

    def __init__(self, name: str, made_of: Any) -> None:
        self.name = name
        self.made_of = made_of


def _export(folder: Path, commit: Commit) -> dict[str, Any]:
    """All that is kept as JSON; pickles as their bytes, since to read one is to run it."""
    known = {"commits": commit.number, "known": commit.known}
    rows, changes = _mappings(folder)
    if commit.known["command"].get("--pickle"):
        return {
            **known,
            "parts": {part: _pickle(content) for part, content in commit.parts.items()},
            "rows": [[name, as_json(key_read(key)), _pickle(value)] for name, key, value in rows],
            "changes": [[name, _pickle(content)] for name, content in changes],
        }
    parts = {part: as_json(_plain(folder, part, content)) for part, content in commit.parts.items()}
    mappings: dict[str, dict[str, Any]] = {name: {} for name in commit.strands}
    for name, *both in rows:
        key, value = (as_json(_plain(folder, name, content)) for content in both)
        mappings[name][json.dumps(key)] = [key, value]
    for name, content in changes:
        gone, items = _plain(folder, name, content)
        for key in gone:
            mappings[name].pop(json.dumps(as_json(key)), None)
        for key, value in zip(items[::2], items[1::2], strict=True):
            mappings[name][json.dumps(as_json(key))] = [as_json(key), as_json(value)]
    return {**known, "parts": parts, "mappings": {name: [*found.values()] for name, found in mappings.items()}}


def _pickle(content: bytes) -> dict[str, str]:
    return {"kind": "pickle", "of": base64.b64encode(content).decode()}


def as_json(value: Any, way: str = "#", seen: dict[int, str] | None = None) -> Any:
    """Plain data as JSON. An object that was shown before is `again`, with the way to it. Cost: O(parts)."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else {"kind": "int", "of": hex(value)}
    if isinstance(value, float):
        return value if value - value == 0 else {"kind": "float", "of": repr(value)}
    if isinstance(value, bytes | bytearray):
        return {"kind": type(value).__name__, "of": base64.b64encode(value).decode()}
    if id(value) in seen:
        return {"kind": "again", "of": seen[id(value)]}
    seen[id(value)] = way
    if isinstance(value, list | tuple):
        return [as_json(each, f"{way}/{place}", seen) for place, each in enumerate(value)]
    if isinstance(value, set | frozenset):
        of = [as_json(each, f"{way}/of/{place}", seen) for place, each in enumerate(value)]
        return {"kind": type(value).__name__, "of": of}
    if isinstance(value, Named):
        return {"kind": value.name, "of": as_json(value.made_of, f"{way}/of", seen)}
    if all(type(key) is str for key in value) and "kind" not in value:
        return {key: as_json(each, f"{way}/{key}", seen) for key, each in value.items()}
    pairs = [
        [as_json(key, f"{way}/of/{place}/0", seen), as_json(each, f"{way}/of/{place}/1", seen)]
        for place, (key, each) in enumerate(value.items())
    ]
    return {"kind": "dict", "of": pairs}


_TEXTS: dict[str, Callable[[dict[str, Any]], Iterable[str]]] = {
    "show": _shown,
    "verify": _verified,
    "compact": _compacted,
}
