"""Hostile and broken graph files, each with the exit code and the diagnostic that `pointstamp check` must give.

`python -m tests.files.hostile_files FOLDER` writes them. The tables below are the list: a case is a name, a content,
and what is expected of it. Exit code 2 (with a code PS0xx) is for what cannot be read as a graph, 1 for findings in a
graph, 0 for what is only strange.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.files.hostile_calls import judged_calls, large_calls, wrong_calls

MIB = 1024 * 1024


class Hostile(NamedTuple):
    """A file, or another thing where a file should be. `expected` is how the code of some diagnostic begins."""

    name: str
    content: bytes | Callable[[Path], None]
    exit_code: int
    expected: str = ""

    def write(self, folder: Path) -> Path:
        """Make it; the path is what the command is given."""
        path = folder / self.name
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content)
        return path


# A small loop that is fine, in the two formats. Cases are this graph with something wrong in it.
YAML = """pointstamp: 1
name: loop
time: nat
nodes:
  body: {notify: true, label: Body}
  feedback: {summary: {advance: 1}, notify: false}
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: feedback}
  - {id: back, from: feedback, to: body}
  - {id: result, from: body}
"""
JSON = """{
 "pointstamp": 1,
 "nodes": {
  "body": {"notify": true},
  "feedback": {"summary": {"advance": 1}}
 },
 "edges": [
  {"id": "input", "to": "body"},
  {"id": "out", "from": "body", "to": "feedback"},
  {"id": "back", "from": "feedback", "to": "body"}
 ]
}
"""


def yaml_with(old: str, new: str) -> bytes:
    assert old in YAML, old
    return YAML.replace(old, new, 1).encode()


def json_with(old: str, new: str) -> bytes:
    assert old in JSON, old
    return JSON.replace(old, new, 1).encode()


def one_node(body: str, top: str = "") -> bytes:
    """A graph of one node `a` with the given body and an edge in and out."""
    return f"pointstamp: 1\n{top}\nnodes: {{a: {body}}}\nedges: [{{id: i, to: a}}, {{id: o, from: a}}]\n".encode()


def two_nodes(first: str, second: str = "{}", edge: str = "") -> bytes:
    """Nodes `a` and `b` and an edge between them."""
    return (
        f"pointstamp: 1\nnodes:\n  a: {first}\n  b: {second}\n"
        f"edges:\n  - {{id: i, to: a}}\n  - {{id: e, from: a, to: b{edge}}}\n  - {{id: o, from: b}}\n"
    ).encode()


def contents() -> Iterator[tuple[str, bytes, int, str]]:
    """Bytes that are no text, and texts in another encoding."""
    body = YAML.encode()
    yield "utf16.yaml", YAML.encode("utf-16"), 2, "PS001"
    yield "utf16_big_endian.yaml", b"\xfe\xff" + YAML.encode("utf-16-be"), 2, "PS001"
    yield "utf16_unmarked.yaml", YAML.encode("utf-16-le"), 2, "PS001"
    yield "utf16.json", JSON.encode("utf-16"), 2, "PS001"
    yield "utf32.yaml", YAML.encode("utf-32"), 2, "PS001"
    yield "latin1.yaml", YAML.replace("Body", "Körper").encode("latin-1"), 2, "PS001"
    yield "latin1.json", JSON.replace("body", "körper").encode("latin-1"), 2, "PS001"
    yield "broken_utf8_at_the_end.yaml", body + b"\xe2\x82", 2, "PS001"
    yield "overlong_utf8.yaml", yaml_with("loop", "LOOP").replace(b"LOOP", b"\xc0\xaf"), 2, "PS001"
    yield "surrogate_in_utf8.yaml", yaml_with("loop", "LOOP").replace(b"LOOP", b"\xed\xa0\x80"), 2, "PS001"
    yield "nul.yaml", yaml_with("loop", "lo\0op"), 2, "PS001"
    yield "nul_at_the_end.json", JSON.encode() + b"\0", 2, "PS001"
    yield "only_nul.yaml", b"\0" * 1000, 2, "PS001"
    yield "escape_sequence.yaml", yaml_with("loop", "\x1b[2J\x1b[31mloop"), 2, "PS001"
    yield "escape_sequence.json", json_with("body", "\x1b]0;title\x07"), 2, "PS001"
    yield "bell.yaml", yaml_with("loop", "lo\x07op"), 2, "PS001"
    yield "backspace.yaml", yaml_with("loop", "lo\x08op"), 2, "PS001"
    yield "delete.yaml", yaml_with("loop", "lo\x7fop"), 2, "PS001"
    yield "c1_control.yaml", yaml_with("loop", "lo\x9bop"), 2, "PS001"
    yield "form_feed.yaml", yaml_with("nodes:", "\x0cnodes:"), 2, "PS001"
    yield "mark_in_the_middle.yaml", yaml_with("loop", "lo\ufeffop"), 2, "PS001"
    yield "noncharacter.yaml", yaml_with("loop", "lo\uffffop"), 2, "PS001"
    yield "elf_binary", b"\x7fELF\x02\x01\x01" + bytes(range(256)), 2, "PS001"
    yield "gzip.yaml", b"\x1f\x8b\x08\x00\x00\x00\x00\x00", 2, "PS001"
    yield "png.json", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 2, "PS001"
    yield "empty.yaml", b"", 2, "PS007"
    yield "empty.json", b"", 2, "PS007"
    yield "only_blank_lines.yaml", b"\n \n\r\n", 2, "PS007"
    yield "only_comments.yaml", b"# nothing\n# here\n", 2, "PS007"
    yield "only_a_mark.json", b"\xef\xbb\xbf", 2, "PS007"
    # Strange, but legal.
    yield "mark.yaml", b"\xef\xbb\xbf" + body, 0, ""
    yield "mark.json", b"\xef\xbb\xbf" + JSON.encode(), 0, ""
    yield "windows_line_ends.yaml", body.replace(b"\n", b"\r\n"), 0, ""
    yield "old_macintosh_line_ends.yaml", body.replace(b"\n", b"\r"), 0, ""
    yield "windows_line_ends.json", JSON.replace("\n", "\r\n").encode(), 0, ""
    yield "tabs_between_tokens.json", JSON.replace(" ", "\t").encode(), 0, ""
    yield "no_line_end_at_the_end.yaml", body.rstrip(), 0, ""
    yield "document_marks.yaml", b"---\n" + body + b"...\n", 0, ""
    yield "json_under_another_name.txt", JSON.encode(), 0, ""
    yield "json_with_comments.yaml", b"# a comment\n" + JSON.encode(), 0, ""
    yield "no_extension", body, 0, ""


def syntax() -> Iterator[tuple[str, bytes, int, str]]:
    """Texts that are neither YAML nor JSON."""
    for size in (20, 60, 100, 140, 170):
        yield f"cut_after_{size}.json", JSON.encode()[:size], 2, "PS002"
    for size in (66, 107, 160, 190, 220):
        yield f"cut_after_{size}.yaml", YAML.encode()[:size], 2, "PS002"
    for name, old, new in (
        ("tab_as_indentation", "  body", "\tbody"),
        ("unclosed_bracket", "label: Body}", "label: Body"),
        ("unclosed_quote", "name: loop", 'name: "loop'),
        ("unclosed_single_quote", "name: loop", "name: 'loop"),
        ("wrong_bracket", "label: Body}", "label: Body]"),
        ("colon_twice", "name: loop", "name: loop: twice"),
        ("at_sign", "name: loop", "name: @loop"),
        ("backtick", "name: loop", "name: `loop`"),
        ("percent_sign", "name: loop", "name: %loop"),
        ("unknown_escape", "name: loop", 'name: "\\q"'),
        ("half_a_surrogate_pair", "name: loop", 'name: "\\ud800"'),
        ("wrong_indentation", "  feedback:", " feedback:"),
        ("text_behind_a_quote", "name: loop", 'name: "loop" loop'),
        ("missing_space_behind_colon", "time: nat", "time:nat"),
        ("comma_missing", "{id: out, from", "{id: out from"),
        ("merge_conflict", "time: nat", "<<<<<<< ours\ntime: nat\n=======\ntime: int\n>>>>>>> theirs"),
    ):
        yield f"{name}.yaml", yaml_with(old, new), 2, "PS002"
    for name, old, new in (
        ("trailing_comma", '"notify": true', '"notify": true,'),
        ("comma_missing", '"pointstamp": 1,', '"pointstamp": 1'),
        ("colon_missing", '"notify": true', '"notify" true'),
        ("comment", '"notify": true', '"notify": true // a comment\n'),
        ("single_quotes", '"notify"', "'notify'"),
        ("no_quotes", '"notify"', "notify"),
        ("python_constant", "true", "True"),
        ("nan", '"advance": 1', '"advance": NaN'),
        ("infinity", '"advance": 1', '"advance": -Infinity'),
        ("leading_zero", '"advance": 1', '"advance": 01'),
        ("plus_sign", '"advance": 1', '"advance": +1'),
        ("hexadecimal", '"advance": 1', '"advance": 0x1'),
        ("line_end_in_a_text", '"body"', '"bo\ndy"'),
        ("tab_in_a_text", '"body"', '"bo\tdy"'),
        ("unknown_escape", '"body"', '"bo\\dy"'),
        ("half_a_surrogate_pair", '"body"', '"\\ud800"'),
        ("reversed_surrogate_pair", '"body"', '"\\ude00\\ud83d"'),
        ("wrong_bracket", "]", "}"),
    ):
        yield f"{name}.json", json_with(old, new), 2, "PS002"
    yield "second_document.json", (JSON + JSON).encode(), 2, "PS002"
    yield "bracket_too_many.json", (JSON + "}").encode(), 2, "PS002"
    yield "yaml_named.json", YAML.encode(), 2, "PS002"
    yield "html.yaml", b"<!DOCTYPE html><html><body>404: not found</body></html>\n", 2, "PS0"
    yield "toml.yaml", b"[nodes]\nbody = { notify = true }\n", 2, "PS007"
    yield "dot.yaml", b"digraph { a -> b; }\n", 2, "PS007"


def refused_features() -> Iterator[tuple[str, bytes, int, str]]:
    """What YAML offers and this format refuses: PS003, and a key twice: PS005."""
    laughs = "".join(f"  l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9 if i else ['lol'] * 9)}]\n" for i in range(10))
    yield "billion_laughs.yaml", f"pointstamp: 1\nx:\n{laughs}nodes: *l9\n".encode(), 2, "PS003"
    yield "alias_to_itself.yaml", b"pointstamp: 1\nnodes: &n {a: *n}\n", 2, "PS003"
    for name, old, new in (
        ("anchor", "time: nat", "time: &t nat"),
        ("anchor_on_a_mapping", "{notify: true", "&n {notify: true"),
        ("anchor_on_a_key", "  body:", "  &b body:"),
        ("alias", "time: nat", "time: *t"),
        ("alias_as_a_key", "  body:", "  *b :"),
        ("asterisk", "time: nat", "time: *"),
        ("tag", "time: nat", "time: !!str nat"),
        ("tag_of_ones_own", "time: nat", "time: !domain nat"),
        ("tag_binary", "name: loop", "name: !!binary bG9vcA=="),
        ("tag_set", "edges:", "edges: !!set"),
        ("tag_python", "name: loop", 'name: !!python/object/apply:os.system ["touch hostile"]'),
        ("tag_python_name", "name: loop", "name: !!python/name:os.system"),
        ("tag_on_the_document", "pointstamp: 1", "!!python/object:object\npointstamp: 1"),
        ("merge_key", "{notify: true", "{<<: {summary: identity}, notify: true"),
        ("merge_key_at_the_top", "time: nat", "<<: {time: nat}"),
        ("list_as_a_key", "time: nat", "? [a, b]\n: nat"),
        ("mapping_as_a_key", "time: nat", "{a: b}: nat"),
        ("directive", "pointstamp: 1", "%YAML 1.1\n---\npointstamp: 1"),
        ("directive_of_ones_own", "pointstamp: 1", "%TAG ! tag:example.org,2000:\n---\npointstamp: 1"),
        ("second_document", "edges:", "---\nedges:"),
    ):
        yield f"{name}.yaml", yaml_with(old, new), 2, "PS003"
    yield "second_empty_document.yaml", YAML.encode() + b"---\n", 2, "PS003"
    for name, old, new in (
        ("at_the_top", "time: nat", "time: nat\ntime: int"),
        ("version", "time: nat", "pointstamp: 1"),
        ("node", "  feedback:", "  body: {}\n  feedback:"),
        ("quoted_node", "  feedback:", "  'body': {}\n  feedback:"),
        ("node_key", "{notify: true", "{notify: true, notify: true"),
        ("edge_key", "{id: out, from: body", "{id: out, from: body, from: body"),
        ("summary", "{advance: 1}", "{advance: 1, advance: 2}"),
        ("number_and_text", "  feedback:", "  7: {}\n  '7': {}\n  feedback:"),
        ("in_a_sum", "time: nat", "time: {sum: {left: nat, left: int}}"),
    ):
        yield f"twice_{name}.yaml", yaml_with(old, new), 2, "PS005"
    for name, old, new in (
        ("at_the_top", '"pointstamp": 1', '"pointstamp": 1, "pointstamp": 1'),
        ("node", '"body": {', '"body": {}, "body": {'),
        ("escaped_node", '"body": {', '"\\u0062ody": {}, "body": {'),
        ("node_key", '"notify": true', '"notify": true, "notify": true'),
        ("summary", '"advance": 1', '"advance": 1, "advance": 1'),
    ):
        yield f"twice_{name}.json", json_with(old, new), 2, "PS005"


def sizes() -> Iterator[tuple[str, bytes, int, str]]:
    """Too deep, too long, too many: refused before it costs time or memory."""
    for name, opening, closing in (("list", "[", "]"), ("mapping", "{a: ", "}"), ("any", "{any: [", "]}")):
        for depth in (70, 5_000):
            deep = opening * depth + "identity" + closing * depth
            yield f"deep_{name}_{depth}.yaml", yaml_with("{advance: 1}", deep), 2, "PS004"
    yield "deep_then.yaml", yaml_with("{advance: 1}", "{then: [" * 70 + "identity" + "]}" * 70), 2, "PS004"
    yield "deep_block_mapping.yaml", b"pointstamp: 1\n" + b"".join(b" " * i + b"a:\n" for i in range(200)), 2, "PS004"
    yield "deep_block_list.yaml", b"nodes:\n" + b"- " * 100_000, 2, "PS004"
    yield "deep_unclosed.yaml", b"nodes: " + b"[" * 4_000_000, 2, "PS004"
    yield "deep_unclosed_mapping.yaml", b"nodes: " + b"{a: " * 1_000_000, 2, "PS004"
    yield "deep_question_marks.yaml", b"nodes:\n  " + b"? " * 100_000, 2, "PS00"
    yield "deep_list.json", json_with('{"advance": 1}', "[" * 100_000 + "]" * 100_000), 2, "PS004"
    yield "deep_mapping.json", json_with('{"advance": 1}', '{"a":' * 100_000 + "1" + "}" * 100_000), 2, "PS004"
    yield "deep_unclosed.json", b'{"nodes": ' + b"[" * 4_000_000, 2, "PS004"
    yield "deep_product.yaml", one_node("{time: " + "{product: [" * 40 + "nat" + "]}" * 40 + "}"), 2, "PS004"
    for name, digits in (
        ("advance", "9" * 101),
        ("advance_long", "9" * 200_000),
        ("advance_negative", "-" + "9" * 101),
    ):
        yield f"huge_{name}.yaml", yaml_with("{advance: 1}", f"{{advance: {digits}}}"), 2, "PS004"
        yield f"huge_{name}.json", json_with('"advance": 1', f'"advance": {digits}'), 2, "PS004"
    yield "huge_version.yaml", yaml_with("pointstamp: 1", "pointstamp: 1" + "0" * 5_000), 2, "PS004"
    yield "huge_exponent.yaml", yaml_with("{advance: 1}", "{advance: 1e999}"), 2, "PS004"
    yield "huge_exponent.json", json_with('"advance": 1', '"advance": 1e999999999'), 2, "PS004"
    yield "large_number.yaml", yaml_with("{advance: 1}", "{advance: " + "9" * 100 + "}"), 0, ""
    yield "long_key.yaml", yaml_with("label:", "l" * 1_001 + ":"), 2, "PS004"
    yield "long_key.json", json_with('"notify"', f'"{"n" * 1_000_000}"'), 2, "PS004"
    yield "long_node.yaml", yaml_with("  feedback:", f"  ? {'f' * 5_000}\n  : {{}}\n  feedback:"), 2, "PS004"
    yield "long_edge.yaml", yaml_with("id: input", f"id: {'i' * 1_001}"), 2, "PS0"
    yield "long_target.yaml", yaml_with("id: input, to: body", f"id: input, to: {'b' * 100_000}"), 2, "PS0"
    yield "long_domain.yaml", yaml_with("time: nat", f"time: {'n' * 1_000_000}"), 2, "PS0"
    yield "longest_node.json", json_with('"body": {', f'"{"n" * 1_000}": {{}}, "body": {{'), 0, ""
    keys = ", ".join(f"key{number}: {number}" for number in range(100_000))
    yield "unknown_keys_by_the_100000.yaml", yaml_with("{notify: true", "{" + keys + ", notify: true"), 2, "PS0"
    yield "unknown_top_keys_by_the_100000.yaml", f"{keys.replace(', ', chr(10))}\n{YAML}".encode(), 2, "PS0"
    numbers = ",".join(f'"key{number}":{number}' for number in range(100_000))
    yield "unknown_keys_by_the_100000.json", json_with('"notify"', f'{numbers}, "notify"'), 2, "PS0"
    yield "values_by_the_million.json", json_with('{"advance": 1}', f"[{'0,' * 3_000_000}0]"), 2, "PS004"
    yield "mappings_by_the_million.json", json_with('{"advance": 1}', f"[{'{},' * 3_000_000}0]"), 2, "PS004"
    yield "coordinates_by_the_100000.yaml", one_node("{time: {product: [" + "nat, " * 100_000 + "nat]}}"), 2, "PS0"
    elements = ", ".join(f"e{number}" for number in range(50_000))
    yield "elements_by_the_50000.yaml", one_node("{time: {finite: {elements: [" + elements + "]}}}"), 2, "PS0"
    chain = ", ".join(f"[e{number}, e{number + 1}]" for number in range(20_000))
    yield (
        "long_chain_of_elements.yaml",
        one_node("{time: {finite: {elements: [" + elements + "], below: [" + chain + "]}}}"),
        2,
        "PS0",
    )
    many = "{advance: 1}, " * 50_000
    yield "summaries_by_the_50000.yaml", one_node("{summary: {any: [" + many + "never]}}"), 2, "PS004"
    yield "long_then.yaml", one_node("{summary: {then: [" + many + "identity]}}"), 2, "PS004"
    yield "long_label.yaml", yaml_with("Body", "x" * MIB), 0, ""
    yield "long_name_of_the_graph.yaml", yaml_with("loop", "x" * MIB), 0, ""
    yield "comment_of_10_megabytes.yaml", b"# " + b"x" * 10 * MIB + b"\n" + YAML.encode(), 0, ""
    yield "blank_lines_of_10_megabytes.yaml", b"\n" * 10 * MIB + YAML.encode(), 0, ""
    yield "blank_lines_of_10_megabytes.json", b"\n" * 10 * MIB + JSON.encode(), 0, ""
    yield "33_megabytes.json", b" " * 33 * MIB, 2, "PS004"


# Every key of SPEC section 2, wrong in type, arity, range or spelling. All of these cannot be read as a graph.
TOP = """
pointstamp: 2 | pointstamp: 0 | pointstamp: -1 | pointstamp: "1" | pointstamp: 1.0 | pointstamp: 1.5
pointstamp: true | pointstamp: | pointstamp: [1] | pointstamp: {1: 1} | pointstamp: one | Pointstamp: 1 | pointstmp: 1
version: 1
"""
NAME = "name: 7 | name: [a] | name: {a: b} | name: true"
NODES = """
nodes: [a, b] | nodes: a | nodes: 7 | nodes: true | nodes: [{a: {}}] | nodes: {a: []} | nodes: {a: text}
nodes: {a: 7} | nodes: {a: true} | nodes: {a: [notify]} | nodes: {yes: {}} | nodes: {no: {}} | nodes: {null: {}}
nodes: {~: {}} | nodes: {1:30: {}} | nodes: {010: {}} | nodes: {0x1f: {}} | nodes: {1.5: {}} | nodes: {.inf: {}}
nodes: {.nan: {}} | nodes: {2024-01-01: {}} | nodes: {"": {}} | nodes: {on: {}} | nodes: {True: {}}
nodes: {1_000: {}} | nodes: {-0: {}}
"""
EDGES = """
edges: {a: b} | edges: a | edges: 7 | edges: true | edges: [a] | edges: [7] | edges: [[a, b]] | edges: [null]
edges: [[]] | edges: [{}] | edges: [{id: i}]
"""
NODE = """
{notfy: true} | {Notify: true} | {colour: red} | {summaries: identity} | {emit: {}} | {request: identity}
{tiem: nat} | {notify: yes} | {notify: "true"} | {notify: 1} | {notify: null} | {notify: [true]} | {notify: {}}
{label: 7} | {label: [a]} | {label: {a: b}} | {label: true} | {emits: identity} | {emits: [identity]}
{emits: {i: identity}} | {emits: {nowhere: identity}} | {emits: {o: }} | {emits: {o: 7}} | {emits: {o: forward}}
{emits: 7} | {requests: 7} | {requests: sometimes} | {requests: [identity]} | {requests: {advance: x}} | {to: a}
{nodes: {}} | {1: 2} | {null: 1} | {true: 1}
"""
DOMAIN = """
natural | Nat | NAT | integer | "" | 7 | 1.5 | true | [] | [nat] | {} | {nat: } | {nat: 255} | {nat: {}}
{nat: {max: -1}} | {nat: {max: 1.5}} | {nat: {max: true}} | {nat: {max: "255"}} | {nat: {max: }} | {nat: {max: [1]}}
{nat: {maximum: 255}} | {nat: {max: 1, min: 0}} | {int: {max: 3}} | {int: } | {unit: } | {unit: 1}
{nat: {max: 1}, int: 1} | product | lex | sum | finite | {product: } | {product: nat} | {product: []} | {product: {}}
{product: [natt]} | {product: [nat, 7]} | {product: [nat, null]} | {product: [[nat]]} | {lex: []} | {lex: nat}
{lex: 2} | {Lex: [nat]} | {lex: [{product: [nat, nat]}, nat]} | {lex: [{sum: {left: nat, right: nat}}]}
{lex: [nat, {lex: [{product: [nat, nat]}]}]} | {lex: [{finite: {elements: [a, b]}}, nat]}
{lex: [{finite: {elements: [a, b, c], below: [[a, b], [a, c]]}}]} | {finite: } | {finite: []} | {finite: [a, b]}
{finite: {}} | {finite: {elements: }} | {finite: {elements: []}} | {finite: {elements: a}}
{finite: {elements: {a: b}}} | {finite: {elements: [a, a]}} | {finite: {elements: [1.5]}}
{finite: {elements: [yes, no]}} | {finite: {elements: [a, null]}} | {finite: {elements: [[a]]}}
{finite: {elements: [a], below: [[a, b]]}} | {finite: {elements: [a, b], below: [a, b]}}
{finite: {elements: [a, b], below: [[a]]}} | {finite: {elements: [a, b, c], below: [[a, b, c]]}}
{finite: {elements: [a, b], below: [[a, b], [b, a]]}}
{finite: {elements: [a, b, c], below: [[a, b], [b, c], [c, a]]}} | {finite: {elements: [a, b], below: {a: b}}}
{finite: {elements: [a], above: []}} | {finite: {element: [a]}} | {sum: } | {sum: {}} | {sum: nat} | {sum: [nat, int]}
{sum: {left: }} | {sum: {left: natt}} | {sum: {yes: nat}} | {sum: {1.5: nat}} | {sum: {left: nat, right: [nat]}}
{product: [nat], lex: [nat]}
"""
SUMMARY = """
identical | Identity | none | "" | 7 | 1.5 | true | [] | [identity] | {} | advance | at_least | constant | round_up
map | tag | untag | then | any | {identity: } | {never: 1} | {leave: 1} | {feedback: 1} | {advance: 1, enter: 0}
{advanse: 1} | {advance: } | {advance: x} | {advance: "1"} | {advance: 1.5} | {advance: true} | {advance: {}}
{advance: [x]} | {advance: [1.5]} | {advance: [true]} | {advance: [null]} | {advance: {left: 1}} | {round_up: 0}
{round_up: -5} | {round_up: } | {round_up: 1.5} | {round_up: x} | {round_up: [5]} | {round_up: true} | {at_least: 1.5}
{at_least: true} | {at_least: {}} | {at_least: {a: 1, b: 2}} | {constant: 1.5} | {constant: false} | {constant: {}}
{constant: [1.5]} | {enter: 1.5} | {enter: true} | {enter: {}} | {map: } | {map: a} | {map: {a: b}} | {map: [a, b]}
{map: [[a]]} | {map: [[a, b, c]]} | {map: [[1.5, 2]]} | {map: 7} | {tag: } | {tag: 7.5} | {tag: [left]} | {tag: {}}
{untag: } | {untag: [left]} | {untag: 1.5} | {tag: true} | {then: } | {then: identity} | {then: {}} | {then: 7}
{then: [identity, 7]} | {then: [identical]} | {then: [[identity]]} | {any: } | {any: never} | {any: {}} | {any: []}
{any: [7]} | {any: [{any: []}]} | {any: [{advance: x}]} | {any: [nevr]}
"""
EDGE = """
{to: nowhere} | {from: nowhere} | {from: a, to: nowhere} | {from: nowhere, to: b} | {from: A, to: b}
{from: a, to: a} | {from: "a ", to: b} | {from: i, to: b} | {from: a, to: 7} | {from: a, to: 1.5}
{from: a, to: true} | {from: a, to: [b]} | {from: [a, b], to: b} | {from: {a: b}, to: b} | {from: a, to: {}}
{from: a, to: yes} | {form: a, to: b} | {from: a, too: b} | {from: a, to: b, ID: x}
{from: a, to: b, summary: identity} | {from: a, to: b, notify: true} | {id: "", from: a, to: b}
{id: 1.5, from: a, to: b} | {id: yes, from: a, to: b} | {id: [x], from: a, to: b} | {id: {}, from: a, to: b}
{id: 1:30, from: a, to: b} | {id: a, from: a, to: b} | {id: i, from: a, to: b} | {from: a, to: b, time: natt}
{from: a, to: b, time: 7} | {from: a, to: b, time: []} | {from: a, to: b, label: 7} | {from: a, to: b, label: []}
{id: x, time: nat} | {label: x}
"""

# Graphs that can be read, and do not fit together or do not do what they should: exit code 1.
PAIR = "{time: {product: [nat, nat]}}"
ONE = "{time: {finite: {elements: [p]}}}"
MISMATCHES = {
    "advance_arity": ("{time: {product: [nat, nat]}, summary: {advance: [1, 2, 3]}}", PAIR),
    "advance_list_on_nat": ("{summary: {advance: [1, 2]}}", "{}"),
    "advance_number_on_product": ("{time: {product: [nat, nat]}, summary: {advance: 1}}", PAIR),
    "advance_on_unit": ("{time: unit, summary: {advance: 1}}", "{time: unit}"),
    "domains_differ": ("{time: nat}", "{time: int}"),
    "product_and_lex": (PAIR, "{time: {lex: [nat, nat]}}"),
    "leave_on_nat": ("{summary: leave}", "{}"),
    "leave_nothing": ("{time: unit, summary: leave}", "{time: unit}"),
    "enter_same_domain": ("{summary: enter}", "{}"),
    "enter_outside": ("{summary: {enter: -1}}", PAIR),
    "enter_text": ("{summary: {enter: x}}", PAIR),
    "feedback_on_finite": ("{time: {finite: {elements: [p]}}, summary: feedback}", ONE),
    "round_up_on_product": ("{time: {product: [nat, nat]}, summary: {round_up: 5}}", PAIR),
    "constant_outside": ("{summary: {constant: -1}}", "{}"),
    "constant_text": ("{summary: {constant: x}}", "{}"),
    "constant_arity": ("{summary: {constant: [1, 2]}}", "{}"),
    "constant_beyond_the_maximum": ("{summary: {constant: 9}}", "{time: {nat: {max: 5}}}"),
    "at_least_text": ("{summary: {at_least: x}}", "{}"),
    "at_least_arity": ("{time: {product: [nat, nat]}, summary: {at_least: [1]}}", PAIR),
    "map_unknown_element": ("{time: {finite: {elements: [p]}}, summary: {map: [[p, q]]}}", ONE),
    "tag_on_nat": ("{summary: {tag: left}}", "{}"),
    "tag_unknown": ("{summary: {tag: middle}}", "{time: {sum: {left: nat, right: nat}}}"),
    "untag_on_nat": ("{summary: {untag: left}}", "{}"),
    "untag_unknown": ("{time: {sum: {left: nat, right: nat}}, summary: {untag: middle}}", "{}"),
    "then_mismatch": ("{summary: {then: [enter, leave, leave]}}", "{}"),
    "any_mismatch": ("{summary: {any: [identity, enter]}}", "{}"),
    "emits_mismatch": ("{emits: {e: enter}}", "{}"),
    "requests_mismatch": ("{requests: enter}", "{}"),
    "bounds_differ": ("{time: {nat: {max: 5}}}", "{time: {nat: {max: 6}}}"),
    "elements_differ": (ONE, "{time: {finite: {elements: [q]}}}"),
}
FINDINGS = {
    "no_advance": (yaml_with("{advance: 1}", "identity"), "PS301"),
    "into_the_past": (yaml_with("nat", "int").replace(b"advance: 1", b"advance: -1"), "PS201"),
    "requests_into_the_past": (one_node("{time: int, requests: {advance: -1}}"), "PS101"),
    "edge_of_another_domain": (two_nodes("{}", "{}", ", time: int"), "PS4"),
}
# Strange, and fine: only their names, their size or their shape is unusual.
FINE = {
    "numbers_as_names": YAML.replace("body", "7").replace("feedback", "-8"),
    "words_of_the_format_as_names": YAML.replace("body", "nodes").replace("feedback", "edges"),
    "quoted_booleans_as_names": YAML.replace("body", '"yes"').replace("feedback", '"null"'),
    "quoted_merge_key_as_a_name": YAML.replace("body", '"<<"'),
    "quoted_anchor_as_a_name": YAML.replace("body", '"&a"').replace("feedback", "'*a'"),
    "escape_sequence_as_a_name": YAML.replace("body", '"\\e[31m\\a\\b"'),
    "line_end_as_a_name": YAML.replace("body", '"a\\nb\\r\\n::error::x"'),
    "nul_as_a_name": YAML.replace("body", '"\\0"'),
    "direction_marks_as_a_name": YAML.replace("body", '"\\u202Etxt.exe"'),
    "emoji_as_names": YAML.replace("body", "😀").replace("feedback", "家"),
    "spaces_as_a_name": YAML.replace("body", '"   "'),
    "combining_characters_as_names": YAML.replace("body", "e\u0301").replace("feedback", "é"),
    "dunder_names": YAML.replace("body", "__class__").replace("feedback", "__init__"),
    "format_string_as_a_name": YAML.replace("body", '"{0.__class__} %s %n"'),
    "path_as_a_name": YAML.replace("body", '"../../etc/passwd"'),
    "html_as_a_name": YAML.replace("body", '"<script>alert(1)</script>"'),
    "workflow_command_as_a_name": YAML.replace("body", '"%0A::error file=x::y"'),
    "nodes_without_a_body": YAML.replace("{notify: true, label: Body}", ""),
    "only_a_version_and_nothing": "pointstamp: 1\nnodes: {}\nedges: []\n",
    "decreasing_on_nat": YAML.replace("{advance: 1}", "{then: [{advance: 3}, {advance: -1}]}"),
    "parallel_edges": YAML + "  - {id: out2, from: body, to: feedback}\n",
}


def cells(text: str) -> list[str]:
    """The cells of a table above: between bars and line ends."""
    return [cell.strip() for row in text.strip().splitlines() for cell in row.split(" | ")]


def wrong_values() -> Iterator[tuple[str, bytes, int, str]]:
    rest = "\nnodes: {a: {}}\nedges: [{id: i, to: a}, {id: o, from: a}]\n"
    for number, line in enumerate(cells(TOP)):
        yield f"version_{number:02}.yaml", f"{line}{rest}".encode(), 2, "PS0"
    yield "version_missing.yaml", rest.encode(), 2, "PS0"
    for number, line in enumerate(cells(NAME)):
        yield f"name_{number:02}.yaml", f"pointstamp: 1\n{line}{rest}".encode(), 2, "PS0"
    for number, line in enumerate(cells(NODES)):
        yield f"nodes_{number:02}.yaml", f"pointstamp: 1\n{line}\nedges: []\n".encode(), 2, "PS0"
    for number, line in enumerate(cells(EDGES)):
        yield f"edges_{number:02}.yaml", f"pointstamp: 1\nnodes: {{a: {{}}}}\n{line}\n".encode(), 2, "PS0"
    for key in ("node", "edge", "nods", "Nodes", "times", "graph", "summary", "1", "null"):
        yield f"unknown_{key}.yaml", f"pointstamp: 1\n{key}: x{rest}".encode(), 2, "PS0"
    for number, cell in enumerate(cells(NODE)):
        yield f"node_{number:02}.yaml", one_node(cell), 2, "PS0"
    for number, cell in enumerate(cells(DOMAIN)):
        yield f"domain_{number:03}.yaml", one_node(f"{{time: {cell}}}"), 2, "PS0"
    for number, cell in enumerate(cells(SUMMARY)):
        yield f"summary_{number:03}.yaml", one_node(f"{{summary: {cell}}}"), 2, "PS0"
    for number, cell in enumerate(cells(EDGE)):
        edges = f"edges: [{{id: i, to: a}}, {{id: o, from: b}}, {cell}]"
        yield f"edge_{number:02}.yaml", f"pointstamp: 1\nnodes: {{a: {{}}, b: {{}}}}\n{edges}\n".encode(), 2, "PS0"
    for place, content in (
        ("default", one_node("{}", "time: {lex: [nat, natt]}")),
        ("edge", two_nodes("{}", "{}", ", time: {finite: {elements: [a, b], below: [[a, b], [b, a]]}}")),
        ("requests", one_node("{requests: {any: []}}")),
        ("emits", one_node("{emits: {o: {then: [{advance: 1}, {advance: x}]}}}")),
    ):
        yield f"nested_mistake_in_{place}.yaml", content, 2, "PS0"
    for name, content in (
        ("parallel_edges_without_ids", two_nodes("{}").replace(b"id: e, ", b"") + b"  - {from: a, to: b}\n"),
        ("two_inputs_without_ids", one_node("{}").replace(b"id: i, to: a", b"to: a}, {to: a")),
        ("edge_named_as_a_node", yaml_with("id: out,", "id: body,")),
        ("edge_named_as_another", yaml_with("id: out,", "id: back,")),
        ("default_id_is_a_node", two_nodes("{}", "{}\n  a->b: {}").replace(b"id: e, ", b"")),
    ):
        yield f"{name}.yaml", content, 2, "PS0"


def judged() -> Iterator[tuple[str, bytes, int, str]]:
    for name, (first, second) in MISMATCHES.items():
        yield f"mismatch_{name}.yaml", two_nodes(first, second), 1, "PS4"
    for name, (content, code) in FINDINGS.items():
        yield f"finding_{name}.yaml", content, 1, code
    for name, text in FINE.items():
        yield f"fine_{name}.yaml", text.encode(), 0, ""


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(40 * MIB)


def endless_link(path: Path) -> None:
    path.symlink_to(path)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def silent_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def pipe_without_a_writer(path: Path) -> None:
    os.mkfifo(path)


NO_FILES = (
    Hostile("missing.yaml", lambda path: None, 2, "PS001"),
    Hostile("directory.yaml", lambda path: path.mkdir(), 2, "PS001"),
    Hostile("directory_missing/file.yaml", lambda path: None, 2, "PS001"),
    Hostile("x" * 300 + ".yaml", lambda path: None, 2, "PS001"),
    Hostile("endless_link.yaml", endless_link, 2, "PS001"),
    Hostile("link_to_nothing.yaml", link_to_nothing, 2, "PS001"),
    Hostile("pipe_without_a_writer.yaml", pipe_without_a_writer, 2, "PS001"),
    Hostile("endless_device.yaml", endless_device, 2, "PS004"),
    Hostile("silent_device.yaml", silent_device, 2, "PS007"),
    Hostile("40_megabytes.yaml", sparse, 2, "PS004"),
    Hostile("40_megabytes.json", sparse, 2, "PS004"),
    Hostile("name with spaces, ümläuts and 'quotes'.yaml", YAML.encode(), 0),
    Hostile("name_with_\x1b[31m_and_\n_line_end.yaml", b"a: [", 2, "PS002"),
    Hostile("-dash.yaml", YAML.encode(), 0),
)


def small_mistakes() -> list[Hostile]:
    """One wrong value in an otherwise fine graph: what is special about them is over once the graph is read."""
    return [Hostile(*case) for table in (wrong_values(), wrong_calls()) for case in table]


def large_mistakes() -> list[Hostile]:
    """All the others."""
    tables = (contents(), syntax(), refused_features(), sizes(), judged(), judged_calls(), large_calls())
    return [*(Hostile(*case) for table in tables for case in table), *NO_FILES]


def cases() -> list[Hostile]:
    """All of them; no two have one name."""
    found = [*large_mistakes(), *small_mistakes()]
    assert len({case.name for case in found}) == len(found)
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    for case in cases():
        case.write(folder)
        print(case.exit_code, f"{case.expected or '-':6}", ascii(case.name)[1:-1])


if __name__ == "__main__":
    main()
