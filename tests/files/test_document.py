"""Reading texts: every item where it stands, every refusal with its code and place, and nothing but refusals."""

import contextlib
import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from graphs import load
from graphs.files import document
from graphs.files.document import Item, MappingItem, ScalarItem, SequenceItem
from progress.errors import PointstampError

ROOT = Path(__file__).resolve().parents[2]

Place = tuple[str, int | None, int | None]


def read(text: str, name: str = "") -> Any:
    return document.plain(document.parse(text.encode(), name))


def refusal(text: str | bytes, name: str = "") -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        document.parse(text if isinstance(text, bytes) else text.encode(), name)
    return caught.value


def place(text: str | bytes, name: str = "") -> Place:
    error = refusal(text, name)
    assert "\n" not in str(error)
    assert error.hint
    return error.code, error.line, error.column


def scalar(value: Any, line: int, column: int, plain: bool = True, text: str | None = None) -> ScalarItem:
    return ScalarItem(value, line, column, plain, str(value) if text is None else text)


@pytest.fixture(params=["libyaml", "python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: the compiled one, and the one of machines that lack it."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    else:
        assert hasattr(yaml, "CSafeLoader"), "PyYAML was installed without libyaml"


# --- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("loader")
def test_every_item_of_a_yaml_text_knows_where_it_stands() -> None:
    text = 'pointstamp: 1\nnodes:\n  "a b": {notify: true, label: x}\nedges:\n  - {to: x}\n  -\n    - ~\n'
    assert document.parse(text.encode()) == MappingItem(
        [
            (scalar("pointstamp", 1, 1), scalar(1, 1, 13)),
            (
                scalar("nodes", 2, 1),
                MappingItem(
                    [
                        (
                            scalar("a b", 3, 3, plain=False),
                            MappingItem(
                                [
                                    (scalar("notify", 3, 11), scalar(True, 3, 19, text="true")),
                                    (scalar("label", 3, 25), scalar("x", 3, 32)),
                                ],
                                3,
                                10,
                            ),
                        )
                    ],
                    3,
                    3,
                ),
            ),
            (
                scalar("edges", 4, 1),
                SequenceItem(
                    [
                        MappingItem([(scalar("to", 5, 6), scalar("x", 5, 10))], 5, 5),
                        SequenceItem([scalar(None, 7, 7, text="~")], 7, 5),
                    ],
                    5,
                    3,
                ),
            ),
        ],
        1,
        1,
    )


def test_every_item_of_a_json_text_knows_where_it_stands() -> None:
    text = '\ufeff {"a": [1,\r\n\t-2.5, "\\u00e9\\"", null], \r"é": {\n\n "b":true } ,\n "": []}'
    assert document.parse(text.encode(), "x.json") == MappingItem(
        [
            (
                scalar("a", 1, 3, plain=False),
                SequenceItem(
                    [
                        scalar(1, 1, 9),
                        scalar(-2.5, 2, 2),
                        scalar('é"', 2, 8, plain=False),
                        scalar(None, 2, 20, text="null"),
                    ],
                    1,
                    8,
                ),
            ),
            (
                scalar("é", 3, 1, plain=False),
                MappingItem([(scalar("b", 5, 2, plain=False), scalar(True, 5, 6, text="true"))], 3, 6),
            ),
            (scalar("", 6, 2, plain=False), SequenceItem([], 6, 6)),
        ],
        1,
        2,
    )


def test_locate_finds_the_key_or_item_that_a_path_leads_to() -> None:
    item = document.parse(b"nodes:\n  a: {time: nat}\nedges:\n  - {to: a}\n")
    assert document.locate(item, ()) == (1, 1)
    assert document.locate(item, ("nodes", "a", "time")) == (2, 7)
    assert document.locate(item, ("edges", 0)) == (4, 5)
    assert document.locate(item, ("edges", 0, "to")) == (4, 6)
    assert document.locate(item, ("edges", 3, "to")) == (3, 1)
    assert document.locate(item, ("edges", 0, "from")) == (4, 5)


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-1e-3", -0.001),
        ("9" * 100, int("9" * 100)),
        *((text, text) for text in ("yes", "no", "on", "off", "True", "NULL", "Null", "NaN", ".inf", ".nan")),
        *((text, text) for text in ("010", "0x1f", "0o17", "1_000", "1:30", "2024-01-01", "1.2.3", "1e", "+", ".")),
        *((f'"{text}"', text) for text in ("", "1", "true", "null", "~", "1.5")),
        *((f"'{text}'", text) for text in ("", "1", "a b")),
        ("'a''b'", "a'b"),
        ("|\n  1\n", "1\n"),
        (">\n  a\n  b\n", "a b\n"),
        ('"\\x1b\\u00e9\\U0001F600"', "\x1bé😀"),
        ("é 😀", "é 😀"),
        ("[a, b: c, [], {}]", ["a", {"b": "c"}, [], {}]),
        ("{a, b: 1}", {"a": None, "b": 1}),
    ],
)
def test_yaml_values(text: str, value: Any) -> None:
    got = read(f"key: {text}")["key"]
    assert (got, type(got)) == (value, type(value))


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    "text",
    ["a: 1", "\ufeffa: 1", "--- \na: 1\n...\n", "# c\r\na: 1\r\n", "\n\na: 1", "? a\n: 1", '{"a": 1, # c\n}', "{a: 1}"],
)
def test_ways_to_write_the_same_document(text: str) -> None:
    assert read(text) == {"a": 1}


def test_json_is_tried_where_a_text_begins_with_a_bracket() -> None:
    assert read('{"a":\t"\\ud83d\\ude00\\/"}') == {"a": "😀/"}, "YAML would refuse the surrogate pair"
    assert read("{a: 010}") == {"a": "010"}
    assert place('{"a": 1, "a": 2}') == ("PS005", 1, 10)
    assert place("{a: 1", "graph.JSON")[0] == "PS002"


# A text of JSON, perhaps broken in a few places, is read just as the standard library reads it when told to be strict.

TREES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda tree: some.lists(tree, max_size=3) | some.dictionaries(some.text(max_size=3), tree, max_size=3),
    max_leaves=8,
)
EDITS = some.lists(
    some.tuples(some.integers(0, 200), some.sampled_from(["", *'{}[],:"\\ \n\t012.-+eEu', "true", "NaN", "é", "😀"])),
    max_size=3,
)


def strict(text: str) -> Any:
    """The value as the standard library reads it; ValueError where this project refuses."""

    def mapping(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(entries)) != len(entries):
            raise ValueError("a key twice")
        return dict(entries)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    value = json.loads(text, object_pairs_hook=mapping, parse_constant=refuse)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # half a surrogate pair, 1e999
    if not isinstance(value, dict):
        raise ValueError("not a mapping")
    return value


@given(
    some.dictionaries(some.text(max_size=3), TREES, max_size=3),
    some.booleans(),
    some.sampled_from([None, 1, "\t"]),
    EDITS,
)
def test_json_agrees_with_the_standard_library(tree: Any, escaped: bool, indent: Any, edits: Any) -> None:
    text = json.dumps(tree, ensure_ascii=escaped, indent=indent)
    for offset, new in edits:
        text = text[:offset] + new + text[offset + (new == "") :]
    try:
        expected = strict(text)
    except ValueError:
        refusal(text, "x.json")
        return
    try:
        got = read(text, "x.json")
    except PointstampError as error:
        # Raw control characters beyond ASCII are fine in JSON, but not here.
        assert error.code == "PS001"  # noqa: PT017
    else:
        assert repr(got) == repr(expected)


@given(some.text(alphabet=some.sampled_from("ab:-?[]{},#&*!|>'\"%@` \n\t\\~<=0.é"), max_size=40))
def test_yaml_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except PointstampError as error:
        assert error.code in {"PS002", "PS003", "PS005", "PS007"}  # noqa: PT017
        assert (error.line or 0) >= 1  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017


@given(some.binary(max_size=60))
def test_bytes_are_read_or_refused(content: bytes) -> None:
    for name in ("x.json", "x.yaml"):
        try:
            document.parse(content, name)
        except PointstampError as error:
            assert error.code.startswith("PS00")  # noqa: PT017


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a: 1\nb: \xe9t\xe9\n", ("PS001", 2, 4)),
        ("é: 1\né: ".encode() + b"\xff", ("PS001", 2, 4)),
        ("a: 1".encode("utf-16"), ("PS001", 1, 1)),
        ("a: 1".encode("utf-32"), ("PS001", 1, 1)),
        ("a: 1".encode("utf-16-le"), ("PS001", 1, 2)),
        (b"a: \xed\xa0\x80", ("PS001", 1, 4)),
        (b"a: 1\n\nb: \x00", ("PS001", 3, 4)),
        (b"a: \x1b[31m", ("PS001", 1, 4)),
        (b"a: \x7f", ("PS001", 1, 4)),
        ("a: \x85".encode(), ("PS001", 1, 4)),
        ("a: \ufeff".encode(), ("PS001", 1, 4)),
    ],
)
@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_contents_that_are_no_text(content: bytes, expected: Place, name: str) -> None:
    assert place(content, name) == expected


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # PS002: what no parser understands
        ("a: b: c", ("PS002", 1, 5)),
        ("a: [1, 2", ("PS002", 1, 9)),
        ("a: {b: 1\n\n", ("PS002", 1, 9)),
        ("a: [1, 2}", ("PS002", 1, 9)),
        ("a:\n\tb: 1", ("PS002", 2, 1)),
        ("a: @x", ("PS002", 1, 4)),
        ("a: `x", ("PS002", 1, 4)),
        ("a: %x", ("PS002", 1, 4)),
        ('a: "x', ("PS002", 1, 6)),
        ("a: 'x\n---\n'", ("PS002", 2, 1)),
        ("a: 1\n a: 2", ("PS002", 2, 3)),
        ("a:\n  b: 1\n c: 2", ("PS002", 3, 2)),
        ("a: - b", ("PS002", 1, 4)),
        ("a: }", ("PS002", 1, 4)),
        # PS003: what is understood, and refused
        ("a: 1\nb: &x 1", ("PS003", 2, 4)),
        ("a: &x\n  b: 1", ("PS003", 1, 4)),
        ("&x a: 1", ("PS003", 1, 1)),
        ("a: *x", ("PS003", 1, 4)),
        ("*x : 1", ("PS003", 1, 1)),
        ("a: *", ("PS003", 1, 5)),
        ("a: !!int 1", ("PS003", 1, 4)),
        ("a: !x [1]", ("PS003", 1, 4)),
        ("a: ! x", ("PS003", 1, 4)),
        ("a: !<tag:x> 1", ("PS003", 1, 4)),
        ("a: !x!y 1", ("PS003", 1, 4)),
        ("!!python/object/apply:os.system [ls]", ("PS003", 1, 1)),
        ("a:\n  <<: {b: 1}", ("PS003", 2, 3)),
        ("a: 1\n---\nb: 2", ("PS003", 2, 1)),
        ("a: 1\n---\n", ("PS003", 2, 1)),
        ("%YAML 1.2\n---\na: 1", ("PS003", 1, 1)),
        ("%YAML 3.0\n---\na: 1", ("PS003", 1, 1)),
        ("%TAG ! x\n---\na: 1", ("PS003", 1, 1)),
        ("? [a]\n: 1", ("PS003", 1, 3)),
        ("a: {{b: 1}: 2}", ("PS003", 1, 5)),
        # PS004: too much
        ("a: " + "[" * 63 + "x" + "]" * 63 + "\nb: " + "[" * 64, ("PS004", 2, 67)),
        ("a:\n" + "- " * 64 + "x", ("PS004", 2, 127)),
        ("a: " + "{b: " * 64, ("PS004", 1, 256)),
        ("".join("  " * depth + "a:\n" for depth in range(65)), ("PS004", 65, 129)),
        ("a: " + "1" * 101, ("PS004", 1, 4)),
        ("a: -" + "1" * 100, ("PS004", 1, 4)),
        ("a: 1." + "1" * 100, ("PS004", 1, 4)),
        ("a: -1e999", ("PS004", 1, 4)),
        ("a: {" + "k" * 1_001 + ": 1}", ("PS004", 1, 5)),
        ("? " + "k" * 1_001 + "\n: 1", ("PS004", 1, 3)),
        # PS005: a key twice
        ("a: 1\na: 2", ("PS005", 2, 1)),
        ("x: {b: 1, 'b': 2}", ("PS005", 1, 11)),
        ("- ", ("PS007", 1, 1)),
        ("x:\n- 7: 1\n  '7': 2", ("PS005", 3, 3)),
        # PS007: no mapping
        ("- a", ("PS007", 1, 1)),
        ("[a, {", ("PS007", 1, 1)),
        ("  a", ("PS007", 1, 3)),
        ("a:1", ("PS007", 1, 1)),
        ("--- 7", ("PS007", 1, 5)),
        ("# only a comment", ("PS007", 1, 1)),
    ],
)
def test_yaml_refusals(text: str, expected: Place) -> None:
    assert place(text, "x.yaml") == expected


@pytest.mark.parametrize("name", ["x.yaml", "x.json", ""])
@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t", "\ufeff"])
def test_an_empty_file_is_no_graph(text: str, name: str) -> None:
    assert place(text, name) == ("PS007", 1, 1)


@pytest.mark.usefixtures("loader")
def test_half_a_surrogate_pair_is_refused() -> None:
    assert refusal('a: "\\ud800"').code == "PS002"
    assert place('{"a": "\\ud800"}', "x.json") == ("PS002", 1, 7)
    assert refusal('{"a": "\\ude00\\ud83d"}').code == "PS002"


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ('{"a" 1}', 6, "':' behind a key"),
        ('{"a"', 5, "the text ends"),
        ('{"a", "b"}', 5, "':' behind a key"),
        ('{"a": 1,}', 9, "remove the comma"),
        ('{"a": [1,]}', 10, "remove the comma"),
        ('{"a": [1 2]}', 10, "comma missing"),
        ('{"a": 1 "b": 2}', 9, "comma missing"),
        ('{"a": NaN}', 7, "no such number"),
        ('{"a": -Infinity}', 7, "no such number"),
        ('{"a": 01}', 7, "write a number"),
        ('{"a": +1}', 7, "write a number"),
        ('{"a": .5}', 7, "write a number"),
        ('{"a": 1.}', 7, "write a number"),
        ('{"a": 0x1}', 7, "write a number"),
        ("{a: 1}", 2, "double quotes"),
        ("{'a': 1}", 2, "double quotes"),
        ("{1: 2}", 2, "a key"),
        ("{null: 2}", 2, "a key"),
        ("{[]: 2}", 2, "a key"),
        ('{"a": "x\ny"}', 7, "ends on its line"),
        ('{"a": "x\ty"}', 7, "ends on its line"),
        ('{"a": "x', 7, "ends on its line"),
        ('{"a": "x\\', 7, "ends on its line"),
        ('{"a": "x\\"}', 7, "ends on its line"),
        ('{"a": "ab\\x"}', 10, "escape"),
        ('{"a": "\\u12g4"}', 9, "escape"),
        ('{"a": True}', 7, "write true"),
        ('{"a": 1 // x\n}', 9, "no comments"),
        ('{"a": 1 # x\n}', 9, "no comments"),
        ('{"a": }', 7, "give the key a value"),
        ('{"a": [}', 8, "bracket"),
        ('{"a": {]', 8, "bracket"),
        ('{"a": 1]', 8, "bracket"),
        ("}", 1, "bracket"),
        ("]", 1, "bracket"),
        ('{"a": 1', 8, "close every bracket"),
        ("{", 2, "close every bracket"),
        ("{,}", 2, "a key"),
        ("{:}", 2, "a key"),
        ('{"a":: 1}', 6, "a value"),
        ('{"a": 1: 2}', 8, "',' or '}'"),
        ('{"a": ["b": 2]}', 11, "',' or ']'"),
        ('{"a": {}: 2}', 9, "',' or '}'"),
        ('{"a": 1,, "b": 2}', 9, "a key"),
        ('{"a": [,]}', 8, "a value"),
        ('{"a": 1} {"b": 2}', 10, "more text follows"),
        ('{"a": 1}}', 9, "more text follows"),
        ('{"a": 1},', 9, "more text follows"),
    ],
)
def test_json_syntax(text: str, column: int, words: str) -> None:
    error = refusal(text, "x.json")
    assert (error.code, error.line, error.column) == ("PS002", 1, column)
    assert words in str(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,\n "a": 2}', ("PS005", 2, 2)),
        ('[{"a": 1, "a": 2}', ("PS007", 1, 1)),
        ("7", ("PS007", 1, 1)),
        (' "x"', ("PS007", 1, 2)),
        ('{"a": [' + '{"b": 1, "\\u0062": 2}]}', ("PS005", 1, 17)),
        ('{"a": ' + "[" * 63 + "]" * 63 + ', "b": ' + "[" * 64, ("PS004", 1, 203)),
        ('{"a": ' * 65, ("PS004", 1, 385)),
        ('{"a": ' + "1" * 101 + "}", ("PS004", 1, 7)),
        ('{"a": 1e999}', ("PS004", 1, 7)),
        ('{"' + "k" * 1_001 + '": 1}', ("PS004", 1, 2)),
    ],
)
def test_json_refusals(text: str, expected: Place) -> None:
    assert place(text, "x.json") == expected


def test_a_complaint_shows_no_more_than_a_line_of_what_it_complains_about() -> None:
    key = "k" * 1_000
    assert len(str(refusal(f"{key}: 1\n{key}: 2"))) < 200
    assert len(str(refusal("a: !" + "x" * 100_000 + " 1"))) < 200
    assert "\\x1b" in str(refusal('"\\e[31m": 1\n"\\e[31m": 2'))
    assert "\x1b" not in str(refusal('"\\e[31m": 1\n"\\e[31m": 2'))


# --- sizes -----------------------------------------------------------------------------------------------------------


LARGE = """
import json
from graphs import from_text
from graphs.checking.check import check_graph
from graphs.files.json_document import _parts
nodes = {f"node {number}": {"notify": number % 2 == 0} for number in range(100_000)}
edges = [
    {"id": f"edge {number}", "from": f"node {number % 100_000}", "to": f"node {(number * 7 + 1) % 100_000}"}
    for number in range(140_000)
]
edges = [edge for edge in edges if int(edge["from"][5:]) < int(edge["to"][5:])]
edges += [{"from": f"node {number}", "to": f"node {number + 1}", "id": f"more {number}"} for number in range(99_999)]
text = json.dumps({"pointstamp": 1, "nodes": nodes, "edges": edges + [{"id": "in", "to": "node 0"}]})
del nodes, edges
report = check_graph(from_text(text.encode(), "large.json"))
print(_parts(text), report.conditions["condition_2"]["holds"])
"""


@pytest.mark.slow
def test_a_graph_of_100000_nodes_is_read_from_json_within_a_gigabyte() -> None:
    command = ["sh", "-c", 'ulimit -v 1048576; exec "$@"', "sh", sys.executable, "-c", LARGE]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    parts, holds = run.stdout.split()
    assert int(parts) > 1_500_000
    assert holds == "True"


def test_sizes_at_and_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphs.files import json_document, yaml_document

    monkeypatch.setattr(document, "MAXIMUM_BYTES", 40)
    monkeypatch.setattr(json_document, "MAXIMUM_JSON_PARTS", 6)
    monkeypatch.setattr(yaml_document, "MAXIMUM_YAML_PARTS", 9)
    assert read("a: " + "x" * 37) == {"a": "x" * 37}
    assert refusal("a: " + "x" * 38).code == "PS004"
    # '{', '[' and ':', then three commas
    assert read('{"a":[1,2,3,4]}', "x.json") == {"a": [1, 2, 3, 4]}
    assert read('{"a":[1,2,3,",:[{"]}', "x.json") == {"a": [1, 2, 3, ",:[{"]}
    error = refusal('{"a":[1,2,3,4,5]}', "x.json")
    assert (error.code, error.line) == ("PS004", None)
    # the mapping, the key, the list, then its values
    assert read("a: [1,2,3,4,5,6]") == {"a": [1, 2, 3, 4, 5, 6]}
    assert place("a: [1,2,3,4,5,6,7]")[0] == "PS004"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + "\\n" * 8_000_000,
        '{"a": ' + "\n" * 16_000_000 + "0}",
        '{"a": ' + "9" * 16_000_000 + "}",
        '{"a": [' + "{}," * 5_000_000,
        '{"a"' * 4_000_000,
        "[" * 16_000_000,
        "a: " + "[" * 16_000_000,
        "a: " + "{b: " * 4_000_000,
        "- " * 8_000_000,
        "a: " + "9" * 16_000_000,
        'a: "' + "\\n" * 8_000_000 + '"',
        "a: >\n" + "  x\n" * 4_000_000,
        "#\n" * 8_000_000,
        "a: &" + "x" * 16_000_000,
        "? " * 8_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_the_largest_texts_cost_little_time(text: str) -> None:
    content = text.encode()
    for name in ("x.json", "x.yaml"):
        begin = time.process_time()
        with contextlib.suppress(PointstampError):
            document.parse(content, name)
        assert time.process_time() - begin < 3


def test_collecting_garbage_goes_on_as_before() -> None:
    assert gc.isenabled()
    read("a: 1")
    refusal("a: [")
    assert gc.isenabled()
    gc.disable()
    try:
        read("a: 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


# --- names -----------------------------------------------------------------------------------------------------------


def first_key(text: str, name: str = "") -> ScalarItem:
    return document.parse(text.encode(), name).entries[0][0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a", "a"),
        ("7", "7"),
        ("0", "0"),
        ("-7", "-7"),
        ("'yes'", "yes"),
        ('"1:30"', "1:30"),
        ('"<<"', "<<"),
        ("1.2.3", "1.2.3"),
        ("a:30", "a:30"),
        ("e1", "e1"),
        ("yes sir", "yes sir"),
        ("->", "->"),
        ("2024-01", "2024-01"),
        ('"\\e[31m"', "\x1b[31m"),
        ("k" * 1_000, "k" * 1_000),
    ],
)
def test_names(text: str, name: str) -> None:
    assert document.name_of(first_key(f"{text}: x")) == name


AMBIGUOUS = [
    *("yes", "Yes", "YES", "no", "NO", "on", "On", "off", "true", "True", "TRUE", "false", "False"),
    *("~", "null", "Null", "NULL"),
    *("1:30", "-1:30", "12:30:45", "1:30.5"),
    *("010", "0x1F", "0X1f", "-0x1", "0o17", "0b101", "007", "08", "-0", "+7", "1_000"),
    *("1.5", "1.", ".5", "-1.5e3", "1e3", "1E-3", "+.5", ".inf", "-.inf", "+.INF", ".nan", ".NaN"),
    *("2024-01-01", "2024-1-1", "="),
]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_names_that_readers_could_take_for_something_else(text: str) -> None:
    for template in (f"{text}: x", f"? {text}\n: x", f"x: {text}"):
        key, value = document.parse(template.encode()).entries[0]
        name = key if key.text == text else value
        assert isinstance(name, ScalarItem)
        with pytest.raises(PointstampError) as caught:
            document.name_of(name)
        error = caught.value
        assert (error.code, error.line, error.column) == ("PS009", name.line, name.column)
        assert error.hint == f'put it in quotes: "{text}"'
    assert document.name_of(first_key(f"'{text}': x")) == text


def test_empty_and_long_names() -> None:
    long = "k" * 1_001
    for text, code in (
        ("x: ", "PS009"),
        ("x: ''", "PS009"),
        (f"x: {long}", "PS004"),
        ("x: 2024-01-01 12:00:00", "PS009"),
    ):
        value = document.parse(text.encode()).entries[0][1]
        assert isinstance(value, ScalarItem)
        with pytest.raises(PointstampError) as caught:
            document.name_of(value)
        assert (caught.value.code, caught.value.line) == (code, 1)


@pytest.mark.parametrize(("text", "name"), [("7", "7"), ('"7"', "7"), ('"true"', "true"), ("-0", None), ("true", None)])
def test_names_in_json(text: str, name: str | None) -> None:
    value: Item = document.parse(f'{{"x": {text}}}'.encode(), "x.json").entries[0][1]
    assert isinstance(value, ScalarItem)
    if name is not None:
        assert document.name_of(value) == name
    else:
        with pytest.raises(PointstampError, match="PS009"):
            document.name_of(value)


def test_nearest() -> None:
    known = ("time", "summary", "emits", "requests", "notify", "label")
    assert document.nearest("summry", known) == "summary"
    assert document.nearest("Label", known) == "label"
    assert document.nearest("zzz", known) is None
    assert document.nearest("", known) is None
    assert document.nearest("x" * 10_000, ["x" * 10_000]) is None
    many = [f"node{number}" for number in range(200_000)]
    assert document.nearest("Node7", ["x", "node7"]) == "node7"
    assert document.nearest("nodes", [*many, "node"]) is not None


def test_quoted() -> None:
    assert document.quoted("a") == "'a'"
    assert document.quoted("\x1b]0;x\x07\u202e") == r"'\x1b]0;x\x07\u202e'"
    assert document.quoted("x" * 100, 5) == "'xxxxx...'"
    assert document.quoted("it's") == '"it\'s"'


# --- files -----------------------------------------------------------------------------------------------------------


def unreadable(path: str | os.PathLike[str]) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        document.read_file(path)
    return caught.value


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a: 1\r\n\xff")
    assert document.read_file(str(tmp_path / "a")) == b"a: 1\r\n\xff"
    assert document.read_file(tmp_path / "a") == b"a: 1\r\n\xff"
    assert document.read_file("/dev/null") == b""


def test_what_is_not_a_readable_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
    cases = {
        str(tmp_path / "missing"): "no such file",
        str(tmp_path): "directory",
        str(tmp_path / "loop"): "symbolic",
        str(tmp_path / "socket"): "",
        "": "no such file",
        "a\0b": "NUL",
        "x" * 5_000: "too long",
    }
    for path, words in cases.items():
        error = unreadable(path)
        assert error.code == "PS001"
        assert words in error.message
        assert error.hint


def test_a_traceback_says_which_file_it_was(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("pointstamp: 1\nnodes:\n  a: {sumary: enter}\n", encoding="utf-8")
    for name, place in (("missing.yaml", ""), ("bad.yaml", ", line 3, column 7")):
        with pytest.raises(PointstampError) as caught:
            load(tmp_path / name)
        assert caught.value.__notes__ == [f"in '{tmp_path / name}'{place}"]


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:  # the tests may run as a user whom no permission stops
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    error = unreadable(tmp_path / "secret")
    assert (error.code, error.message) == ("PS001", "cannot read the file: permission denied")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(1 << 40)
    begin = time.process_time()
    error = unreadable(tmp_path / "large")
    assert (error.code, error.line) == ("PS004", None)
    assert time.process_time() - begin < 0.1


def test_an_endless_device_is_not_read_to_its_end() -> None:
    assert unreadable("/dev/zero").code == "PS004"


def test_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    begin = time.monotonic()
    assert unreadable(pipe).code == "PS001"
    assert time.monotonic() - begin < 2, "nobody writes to it"

    def write_late() -> None:
        with pipe.open("wb", buffering=0) as stream:
            time.sleep(0.2)
            stream.write(b"a: ")
            time.sleep(0.2)
            stream.write(b"1" * 200_000)

    writer = threading.Thread(target=write_late)
    writer.start()
    assert document.read_file(pipe) == b"a: " + b"1" * 200_000
    writer.join()


def test_standard_input() -> None:
    program = "from graphs.files import document\nprint(len(document.read_file('-')))"
    root = Path(__file__).resolve().parents[2]

    def run(**options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=False, **options)

    assert run(input=b"a: 1\xff").stdout == b"5\n"
    assert b"PS004" in run(input=b" " * (32 * 1024 * 1024 + 1)).stderr
    with Path("/dev/zero").open("rb") as zeros:
        assert b"PS004" in run(stdin=zeros).stderr


def test_importing_the_reader_loads_no_parser() -> None:
    root = Path(__file__).resolve().parents[2]
    program = "import sys, graphs.files.document; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"yaml", "difflib"}
    assert "graphs.files.json_document" not in run.stdout.split()
