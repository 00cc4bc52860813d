"""Explanations of PS1xx to PS4xx: what is wrong with a graph that can be read."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

VERDICTS = {
    "PS101": Explanation(
        means="""When something happens at a node at time t, the node may ask to be notified at a time that is
not t or later. This breaks Condition 1 (A&I 3.2).""",
        why="""A notification says "this time is complete here: nothing at it or before it will follow". A
request for an earlier time may ask about one that was declared complete already. Work that was
finished would begin again, and the set of times at which work may remain could grow.""",
        example=Example("""\
pointstamp: 1
nodes:
  window: {requests: {advance: -1}}   # at 3 it asks for a notification at 2
edges:
  - {id: input, to: window}
  - {id: result, from: window}
"""),
        fix="""Let the node ask for its own time, which is the default (`requests: identity`), or for a later
one (`requests: {advance: 1}`, `requests: {round_up: 10}`). To act when 2 is complete, ask at 2.""",
    ),
    "PS201": Explanation(
        means="""A message that leaves a node can come back to it, along the path that the witness shows, at an
earlier time than it left. This breaks Condition 2 (A&I 3.2): whatever (p, t) could result in on
an edge into p must be at t or later.""",
        why="""A time is complete only when nothing is left that could lead back to it. On such a cycle
everything later can, so early times stay open as long as anything is under way, and a node on
the cycle may wait for itself for ever. Could-result-in is not even transitive then (Theorem 1):
a tracker that visits each location only once would call times complete too early.""",
        example=Example("""\
pointstamp: 1
nodes:
  body: {}
  retry: {summary: {advance: -1}, notify: false}   # sends 3 on as 2
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: retry}
  - {id: back, from: retry, to: body}
  - {id: result, from: body}
"""),
        fix="""Find the step of the path where the time falls; it is marked. Let that node keep or raise times:
`summary: {advance: 1}`. If an attempt has to run again at its old time, count the attempts in a
second coordinate: `time: {lex: [nat, nat]}`, `summary: feedback`.""",
    ),
    "PS202": Explanation(
        means="""A message that leaves a node can come back to it at a time that is neither before nor after the
time at which it left. This breaks Condition 2 (A&I 3.2), but never downwards. The usual case is
a loop inside a loop with times [outer, inner] under `product`: going round the outer loop
raises the first number and sets the second back, as from [0, 1] to [1, 0].""",
        why="""Nothing blocks itself, so the graph runs well, and this is only a warning. Still,
could-result-in is not transitive (Theorem 1): two steps that each are possible need not make a
possible whole, and Close-up contains more than one application of could-result-in gives.""",
        example=Example("""\
pointstamp: 1
time: {product: [nat, nat]}           # [outer round, inner round]
nodes:
  start: {time: nat, summary: enter}
  body: {}
  inner: {summary: feedback, notify: false}
  leave: {summary: leave, notify: false}
  outer: {time: nat, summary: {then: [feedback, enter]}, notify: false}
edges:
  - {id: input, to: start}
  - {from: start, to: body}
  - {from: body, to: inner}
  - {from: inner, to: body}
  - {from: body, to: leave}
  - {from: leave, to: outer}
  - {from: outer, to: body}
  - {id: result, from: body}
"""),
        fix="""Order the counters lexicographically, the outer one first: `time: {lex: [nat, nat]}`. Then every
round of the outer loop comes after all inner rounds before it, and Condition 2 holds. Where
the order is meant as it is, `--ignore PS202` silences the warning.""",
    ),
    "PS301": Explanation(
        means="""Something can go round a cycle and return to where it started at the same time, or an earlier
one. Condition 2 allows the same time; this rule, which goes beyond the paper, does not. In a
graph with calls every cycle is such a cycle: calls alone change a stack, and one that returns
leaves it as it was. A cycle that passes a call also goes through all that the call runs.""",
        why="""A request for a notification at t is delivered when nothing can arrive at t any more (A&I 4.2).
On this cycle the request itself could result in a message at t that arrives at the same node:
it waits for itself, for ever. Where no node on the cycle asks for notifications nobody waits,
and it is a warning: messages may still circle at one time without end.""",
        example=Example("""\
pointstamp: 1
nodes:
  body: {}
  again: {notify: false}              # passes times on as they are
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: again}
  - {id: back, from: again, to: body}
  - {id: result, from: body}
"""),
        fix="""Let one node on the cycle raise the time: `again: {summary: {advance: 1}}`, or `feedback` where
times have a loop counter. If no node on the cycle needs notifications, say so: `notify: false`.
A call asks for none unless it says `notify: true`. In a graph with calls, let the next round be
a call instead of an edge that leads back: each round then has a stack of its own.""",
    ),
    "PS401": Explanation(
        means="""Two domains of times meet that do not fit: a summary cannot be applied to the times of its node,
or leads to other times than the destination has, or an edge names another domain than its
destination. The message names both.""",
        why="""A message is an event at its destination at the same time (A&I 2.1), so the two share a domain.
Times of different domains are never comparable; until they fit, no verdict is possible.""",
        example=Example("""\
pointstamp: 1
nodes:
  source: {}                          # times are numbers, and the summary leaves them so
  loop: {time: {lex: [nat, nat]}}     # times are pairs
edges:
  - {id: input, to: source}
  - {from: source, to: loop}
"""),
        fix="""Change the summary, or the `time` of one of the nodes. Into a loop leads `enter`, out of it
`leave`: `source: {summary: enter}`. Into and out of a sum lead `{tag: left}`, `{untag: left}`.""",
    ),
    "PS402": Explanation(
        means="""No input edge leads here, and no node that asks for notifications, which could begin by itself
(A&I 2.2); or these locations are in a graph that nobody calls. Nothing ever happens at them.""",
        why="""They never run. Usually an edge was forgotten, or points the wrong way.""",
        example=Example("""\
pointstamp: 1
nodes:
  reader: {notify: false}
  lookup: {notify: false}             # no edge leads to it
  writer: {notify: false}
edges:
  - {id: input, to: reader}
  - {from: reader, to: writer}
  - {from: lookup, to: writer}
  - {id: result, from: writer}
"""),
        fix="""Add the missing edge, or remove what is not needed. A node that begins by itself asks for
notifications: `notify: true`.""",
    ),
    "PS404": Explanation(
        means="""No edge leads to these nodes. A node that asks for notifications, as all do that do not say
`notify: false`, may begin by itself: initial requests are part of the model (A&I 2.2).""",
        why="""It is a note and fails nothing. Often the graph is meant so. Sometimes an input edge was
forgotten, and nothing will ever happen there.""",
        example=Example("""\
pointstamp: 1
nodes:
  reader: {}                          # asks for notifications, and no edge leads to it
  writer: {notify: false}
edges:
  - {from: reader, to: writer}
  - {id: result, from: writer}
"""),
        fix="""Add the input edge: `{id: input, to: reader}`. Where the node begins by itself, leave it; to hear
nothing of it, `pointstamp check --ignore PS404`.""",
    ),
    "PS403": Explanation(
        means="""From here no output edge is reached, and no node that asks for notifications. What arrives leads
to nothing that anybody can notice.""",
        why="""The work is done for nothing, as far as the graph tells. Usually an edge was forgotten.""",
        example=Example("""\
pointstamp: 1
nodes:
  reader: {}
  archive: {notify: false}            # nothing leaves it
edges:
  - {id: input, to: reader}
  - {id: result, from: reader}
  - {from: reader, to: archive}
"""),
        fix="""Add an output edge, let a node there ask for notifications, or remove it. A node whose effect
lies outside the graph, as a file that it writes, may have an output edge that stands for it:
`{id: written, from: archive}`.""",
    ),
}
