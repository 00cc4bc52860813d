"""Explanations of PS0xx: a file that cannot be read as a graph."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

FILES = {
    "PS001": Explanation(
        means="""The file does not exist, may not be read, is a directory, or holds something that is no UTF-8
text: another encoding, or control characters that no editor writes by itself.""",
        why="""Nothing was checked. A pipeline that goes on would take silence for a good graph, so the exit
code is 2, not 0.""",
        example=Example("pointstamp check no-such-file.yaml", "sh"),
        fix="""Check the spelling of the path; `-` is standard input. Save the file as UTF-8. Where a name
really needs a control character, write it as an escape inside double quotes: "\\u001b".""",
    ),
    "PS002": Explanation(
        means="""The text breaks off or breaks a rule of its notation: an open bracket or quote, a key without
its colon, an indentation that fits nowhere. The line and column are where reading stopped,
which may be a little after the mistake.""",
        why="""What cannot be read in one way only is refused, never guessed at.""",
        example=Example("""\
pointstamp: 1
nodes: {first: {}, second: {}
edges:
  - {from: first, to: second}
"""),
        fix="""Close what was opened, indent with spaces, put a space behind each colon, and quote texts that
contain special characters.""",
    ),
    "PS003": Explanation(
        means="""The file uses anchors and aliases (`&`, `*`), merge keys (`<<`), tags (`!`), directives (`%`),
or holds several documents. Graph files are plain data and do without these.""",
        why="""Tags can make readers of YAML build arbitrary objects, a few aliases can unfold to gigabytes,
and readers disagree on merge keys. A file without them means the same to every reader.""",
        example=Example("""\
pointstamp: 1
nodes:
  first: &quiet {notify: false}   # an anchor
  second: *quiet                  # an alias
edges:
  - {from: first, to: second}
"""),
        fix="""Write the value out where it is needed. For what all nodes share, use the graph's own `time`.
A text that begins with one of these characters goes in quotes.""",
    ),
    "PS004": Explanation(
        means="""Something is larger than the reader takes: the file (16 MiB), the number of names and values in
it, a nesting (64 levels), a number (100 digits), a name (1,000 characters), the elements of a
finite domain (1,024), the alternatives to which nested `any` and `then` multiply (a million steps
of working them out), or of a graph with calls the nodes (10,000) or the graphs that call each
other (64).""",
        why="""The limits lie far beyond graphs that people write, and let a broken or hostile file be refused
at once, before it costs memory.""",
        example=Example(f"""\
pointstamp: 1
nodes:
  first: {{summary: {{advance: {10**100}}}}}
  second: {{}}
edges:
  - {{from: first, to: second}}
"""),
        fix="""Make the part smaller. A graph with more nodes and edges than a file may hold is built through
the Python API (`graphs.Graph`), which takes any number of them.""",
    ),
    "PS005": Explanation(
        means="""A key appears twice in one mapping: two nodes of the same name, or `summary` twice at one node.""",
        why="""Most readers keep the last one and drop the other without a word. Half of what the file says
would not be checked.""",
        example=Example("""\
pointstamp: 1
nodes:
  first: {}
  second: {}
  first: {notify: false}
edges:
  - {from: first, to: second}
"""),
        fix="""Keep one of the two, or rename one. The message tells the line of the first.""",
    ),
    "PS006": Explanation(
        means="""A key is none of those that graph files have at this place. The hint names the nearest one that
exists.""",
        why="""A misspelt key would otherwise be ignored, and its default would be checked instead: `sumary`
would make the node an identity.""",
        example=Example("""\
pointstamp: 1
nodes:
  first: {sumary: {advance: 1}}
  second: {}
edges:
  - {from: first, to: second}
"""),
        fix="""Correct the spelling. Notes of your own go into `label`, or into a comment.""",
    ),
    "PS007": Explanation(
        means="""A value is of another kind than expected: a list where a mapping belongs, a text where true or
false belongs, an edge without both ends, an empty file.""",
        why="""Another program might convert it silently. Here a file says what it means, or is refused.""",
        example=Example("""\
pointstamp: 1
nodes: [first, second]            # a mapping belongs here: {first: {}, second: {}}
edges:
  - {from: first, to: second}
"""),
        fix="""Write the kind of value that the hint shows.""",
    ),
    "PS008": Explanation(
        means="""The key `pointstamp` is missing, or its number is not one that this program reads; or the file
asks for a feature that this version does not have.""",
        why="""The number lets old files keep their meaning when the format changes.""",
        example=Example("""\
pointstamp: 2
nodes: {first: {}, second: {}}
edges:
  - {from: first, to: second}
"""),
        fix="""Begin the file with `pointstamp: 1`.""",
    ),
    "PS009": Explanation(
        means="""A name of a node or an edge is not a text, or is written so that some readers of YAML take it for
something else: `no` and `on` for booleans, `1:30` for a number of base 60, `1e3` for a
thousand, `2024-01-01` for a date, `~` for nothing.""",
        why="""The node `no` of one program would be the node `false` of the next.""",
        example=Example("""\
pointstamp: 1
nodes:
  start: {}
  no: {}                          # false, to a reader of YAML 1.1
edges:
  - {from: start, to: no}
"""),
        fix="""Put the name in quotes, everywhere: `"no": {}` and `to: "no"`.""",
    ),
    "PS010": Explanation(
        means="""Two locations have one name. Nodes and edges share one set of names (A&I 3.1 calls both
locations), and an edge without `id` is called `from->to`, so the second of two parallel edges
needs an `id`. A call `again` becomes the locations `call-again`, `ret-again`, `call-again->entry`
and `exit->ret-again`, where `entry` and `exit` are its graph's ends: these names are taken.""",
        why="""Pointstamps, answers and witnesses name locations. A name must mean one.""",
        example=Example("""\
pointstamp: 1
nodes: {first: {}, second: {}}
edges:
  - {from: first, to: second}
  - {from: first, to: second}     # a parallel edge, which needs an id
"""),
        fix="""Give one of the two another name: `{id: urgent, from: first, to: second}`.""",
    ),
    "PS011": Explanation(
        means="""`from` or `to` of an edge names no node, or `emits` of a node names no edge that leaves it.""",
        why="""A misspelt end would add a node that nobody meant, and the real one would lose an edge.""",
        example=Example("""\
pointstamp: 1
nodes: {first: {}, second: {}}
edges:
  - {from: first, to: secnd}
"""),
        fix="""Correct the spelling, or declare the node under `nodes`. The keys of `emits` are ids of edges,
not names of the nodes where they lead.""",
    ),
    "PS012": Explanation(
        means="""A `time` is none of the domains: nat, int, unit, product, lex, finite, sum; or its parts do not
fit, as a cycle in `below` of a finite domain, or a part of `lex` that is not totally ordered.
In a graph with calls it is `stack`, or `{product: [nat, stack]}`, and nowhere else.""",
        why="""All verdicts are about the order of times. Without a partial order there is nothing to judge.""",
        example=Example("""\
pointstamp: 1
time: {finite: {elements: [low, high], below: [[low, high], [high, low]]}}   # a cycle
nodes: {first: {}, second: {}}
edges:
  - {from: first, to: second}
"""),
        fix="""Take one of the domains, as `nat`, `{product: [nat, nat]}` or `{lex: [nat, nat]}`. In a finite
domain, remove one of the pairs that close the cycle.""",
    ),
    "PS013": Explanation(
        means="""A `summary`, an entry of `emits`, or `requests` is none of the summaries, or lacks its value.
A summary says what a node may do to a time on its way out; `identity` leaves it as it is.""",
        why="""The summary is all that is known of the node. A guessed one would make every verdict a guess.""",
        example=Example("""\
pointstamp: 1
nodes:
  first: {summary: advance}       # by how much?
  second: {}
edges:
  - {from: first, to: second}
"""),
        fix="""Write it as in `identity`, `{advance: 1}`, `feedback`, `enter`, `leave`, `{round_up: 10}` or
`{then: [enter, feedback]}`.""",
    ),
    "PS014": Explanation(
        means="""The value inside `enter`, `constant`, `at_least` or `map` is not a time: a fraction, true or
false, or a mapping of several keys.""",
        why="""Times are whole numbers, texts of a finite domain, null, lists of times, or `{tag: time}`.
Fractions are left out because their sums are not exact.""",
        example=Example("""\
pointstamp: 1
nodes:
  first: {summary: {at_least: 1.5}}
  second: {}
edges:
  - {from: first, to: second}
"""),
        fix="""Count in a smaller unit, so that all times are whole: `{at_least: 1500}` for milliseconds.""",
    ),
    "PS015": Explanation(
        means="""An edge has the same node as its source and its destination. In the model the two are distinct
(A&I 2.1).""",
        why="""Could-result-in follows paths over distinct locations (A&I 3.1, Definition 2). An edge from a
node to itself would never be followed, and whatever it does to times would go unseen.""",
        example=Example("""\
pointstamp: 1
nodes: {loop: {}}
edges:
  - {from: loop, to: loop}
"""),
        fix="""Put a node between that passes messages on, and let it carry the summary:
`again: {summary: {advance: 1}, notify: false}` with edges loop -> again -> loop.""",
    ),
}
