"""Explanations of PS5xx: steps that a tracker does not take, and traces of sessions that cannot be played."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_LOOP = """\
cat > loop.yaml <<'END'
pointstamp: 1
nodes: {body: {}, again: {summary: {advance: 1}}}
edges:
  - {id: input, to: body}
  - {id: out, from: body, to: again}
  - {id: back, from: again, to: body}
END
"""


def _track(*lines: str) -> Example:
    quoted = " \\\n    ".join(f"'{line}'" for line in lines)
    return Example(f"{_LOOP}printf '%s\\n' {quoted} |\n    pointstamp track loop.yaml\n", "sh")


STEPS = {
    "PS501": Explanation(
        means="""The line is not one JSON object, has a key that lines of `track` or of `ask` do not have, or
holds something of the wrong type or length. In Python: an argument has the wrong type or form.""",
        why="""A step is taken whole or not at all. Leaving out what cannot be read would take half of it, and
every answer after that would be about another system than yours. Nothing was changed, and the
next line is read: one bad line does not end a session.""",
        example=_track('{"mesages": [["input", 0, 1]]}'),
        fix="""Write a step as in `{"messages": [["input", 0, 1]], "requests": [["body", 0]]}`: a message is an
edge, a time and a change of the count; a request is a node and a time. A question
is one key with its parts, as in `{"close": [["body", 3]]}` or
`{"could_result_in": [["body", 3], ["back", 4]]}`.""",
    ),
    "PS502": Explanation(
        means="""A step or a question names a location that the graph does not have.""",
        why="""A message on a misspelt edge would hold nothing back, and a notification would come too early;
that nothing can arrive at a misspelt location would be true, and misleading.""",
        example=_track('{"messages": [["inptu", 0, 1]]}'),
        fix="""Name a node or an edge of the graph. An edge without `id` is called `from->to`.""",
    ),
    "PS503": Explanation(
        means="""A step or a question names a time that is not in the domain of its location: a fraction, a
number where a list belongs, a negative number on `nat`.""",
        why="""A time that does not exist compares to no other, so it could neither hold anything back nor ever
be complete.""",
        example=_track('{"messages": [["input", [0, 0], 1]]}'),
        fix="""Use a time of the domain that the hint names: numbers for `nat` and `int`, lists for `product`
and `lex` (tuples in Python), `null` for `unit` (None), a text for `finite`, `{"left": 3}` for
`sum` (`Tagged("left", 3)`).""",
    ),
    "PS504": Explanation(
        means="""Messages wait on edges, requests are made by nodes, and only edges without `from` are inputs. A
step or a question put one of these elsewhere.""",
        why="""The three count differently: a message on an edge into a node holds that node's requests back, a
request of the node itself does not.""",
        example=_track('{"messages": [["body", 0, 1]]}'),
        fix="""Put a message on the edge on which it waits, a request at the node that is to be told, and under
`inputs` only edges that come from outside.""",
    ),
    "PS505": Explanation(
        means="""A step consumes more messages of one edge and time than are queued there. All changes of one
edge and time in a step are added up first.""",
        why="""A count below zero would hide a message that is sent later, so a notification could come before
everything that belongs to it.""",
        example=_track('{"messages": [["input", 0, -1]]}'),
        fix="""Tell of a message when it is sent, in the same step at the latest; consume it once, at the time
with which it was sent.""",
    ),
    "PS506": Explanation(
        means="""A step adds a message or a request at a time that is not in Clock: nothing outstanding before
the step could result in it. What is outstanding are queued messages, pending requests and open
inputs.""",
        why="""Clock may only shrink (A&I 4.2). Somebody may have been told already that nothing of this time
will arrive any more.""",
        example=_track('{"inputs": {"input": [5]}}', '{"messages": [["input", 3, 1]]}'),
        fix="""Send before the input moves on or in the same step, and send in the step that consumes the
message or delivers the notification which caused it. If a node really sends at this time, its
summary in the graph is too high: `pointstamp explain PS201` tells what summaries promise.""",
    ),
    "PS507": Explanation(
        means="""A step delivers a notification that nobody waits for: it was not requested, was delivered
before, or stands twice in the step.""",
        why="""A delivery ends a request. One too many means that two parts of a program believe that they are
to deliver it.""",
        example=_track('{"delivered": [["body", 0]]}'),
        fix="""Request first; deliver what `ready` lists, once. A node that wants to be told of the same time
again requests it again, in the step of the delivery or later.""",
    ),
    "PS508": Explanation(
        means="""A step delivers a notification that may not be delivered yet: something at or before its time
can still arrive at its node.""",
        why="""The notification says that nothing will. Delivered now, it would be wrong.""",
        example=_track('{"requests": [["body", 3]]}', '{"delivered": [["body", 3]]}'),
        fix="""Wait until the request is in `ready`. `{"why": ["body", 3]}` lists what holds it back, each with
the way on which it could arrive.""",
    ),
    "PS509": Explanation(
        means="""An input is to bring messages from a time on that is not at or after one from which it was open:
it moves back, or opens after it was closed.""",
        why="""That an input has passed a time was a promise, and notifications may have been delivered on it.""",
        example=_track('{"inputs": {"input": [5]}}', '{"inputs": {"input": [3]}}'),
        fix="""Move an input on only when nothing earlier comes any more. Where it opens is said by `start`, or
by `inputs` of `Tracker`; without that, at the least times of its domain, and on `int`, which
has none, it is closed.""",
    ),
    "PS510": Explanation(
        means="""`start` says where inputs open and what is requested before anything happens. It came after a
line that was taken.""",
        why="""A second beginning would forget what is outstanding.""",
        example=_track("{}", '{"start": {"inputs": {"input": [5]}}}'),
        fix="""Put `start` on the first line. To move an input later, use `inputs`; to begin anew, run the
command anew.""",
    ),
    "PS511": Explanation(
        means="""`Tracker.restore` was given something that is not a snapshot, one of another version, or one that
does not fit together.""",
        why="""A tracker in a wrong state gives wrong answers from then on, so it is refused as a whole.""",
        example=Example(
            """\
from pointstamp import Graph, Tracker

graph = Graph().node("body").edge(None, "body", id="input")
Tracker.restore(graph, {"inputs": {"input": [0]}})
""",
            "python",
        ),
        fix="""Give it what `snapshot()` returned, for the same graph. It is plain data: `json.dumps` and
`json.loads` keep it as it is.""",
    ),
    "PS512": Explanation(
        means="""`Tracker` was asked for an engine that does not exist, or for the compiled kernel where it is
not installed or does not serve this graph.""",
        why="""Both engines give the same answers. Whoever asks for one by name wants to know that it is in
use.""",
        example=Example(
            """\
from pointstamp import Graph, Tracker

Tracker(Graph().node("body"), engine="fast")
""",
            "python",
        ),
        fix="""Leave out `engine` and `kernel`: what is there and fits is taken.""",
    ),
    "PS513": Explanation(
        means="""`pointstamp replay` came to a line that is none of a recorded session: no JSON object, or an
answer without a line before it that waits for one.""",
        why="""A session is replayed to see what really happened. What comes after a gap would be made up.""",
        example=Example(
            _LOOP
            + """\
printf '%s\\n' '{"requests": [["body", 0]]}' '{"messages": [["inp' > trace.jsonl
pointstamp replay loop.yaml trace.jsonl
""",
            "sh",
        ),
        fix="""Replay up to the line before: `pointstamp replay loop.yaml trace.jsonl --at 1`. Or remove the
line that is named, if it never belonged to the session.""",
    ),
    "PS514": Explanation(
        means="""A `TopologicalSorter` is asked before `prepare()`, gets nodes after it, or is told that a node is
done which it has not handed out, or has been told of already. Another round is asked for by a
node that lies on no cycle, or `previous=` names one.""",
        why="""These are the misuses that `graphlib` refuses with ValueError, which this error is as well, and
those of rounds, which `graphlib` does not have.""",
        example=Example(
            """\
from pointstamp import TopologicalSorter

sorter = TopologicalSorter({"b": ["a"]})
sorter.prepare()
sorter.done("a")                      # nobody has asked for it: get_ready() comes first
""",
            "python",
        ),
        fix="""`add`, then `prepare`, then as long as it is active `get_ready` and, for each node, `done`.""",
    ),
}
