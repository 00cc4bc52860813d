"""Explanations of PS73x, PS740, PS746: what goes wrong with `pointstamp run`, its files, and the state it keeps."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

_BEGIN = """\
cat > count.py <<'END'
from pointstamp import Dataflow, Graph, Node

graph = Graph().node("count").edge(None, "count", "words").edge("count", None, "counts")
"""


def _script(code: str, command: str) -> Example:
    return Example(f"{_BEGIN}{code}END\n{command}\n", "sh")


_PLAIN = "dataflow = Dataflow(graph)\n"
_WORD = """echo '{"time": 0, "value": "a"}' > words.jsonl
"""

COMMANDS = {
    "PS730": Explanation(
        means="""The folder that `--state` names belongs to another user, or others may write to it.""",
        why="""What is kept there decides how the run goes on. With `--pickle`, reading it runs whatever code is
in it: who may write to the folder may then run code as you.""",
        example=_script(_PLAIN, "mkdir -m 777 kept\npointstamp run count.py --state kept"),
        fix="""A folder of your own: one that does not exist is made so that nobody else can look into it
(`0700`). If all that is in this one is yours, `chmod go-w DIR`.""",
    ),
    "PS731": Explanation(
        means="""A line of an input is neither a message nor does it complete times. The complaint names the file
and the line, and says what would be right.""",
        why="""A line that is passed over is a value that is missing from a result, and nobody would know.""",
        example=_script(_PLAIN, """echo '{"time": -3, "value": "a"}' | pointstamp run count.py --input words=-"""),
        fix="""`{"time": t, "value": v}`, where t is a time of the input edge, or `{"complete": [t, ...]}`, each
on a line of its own. Over a domain without least times (`int`) the first line says where the
input begins: `{"complete": [0]}`.""",
    ),
    "PS732": Explanation(
        means="""A value leaves the graph that cannot be written as JSON, or its time is of a domain of your own
whose times cannot.""",
        why="""What is written has to be what was meant: a set has no order, NaN is no JSON. The message of which
the value is part is not written, nor is anything after it.""",
        example=_script(
            'dataflow = Dataflow(graph, {"count": lambda word: {word}})\n',
            """echo '{"time": 0, "value": "a"}' | pointstamp run count.py --input words=-""",
        ),
        fix="""Numbers, texts, true, false, None; lists, tuples and mappings of these. Between nodes values may
be anything.""",
    ),
    "PS733": Explanation(
        means="""The file of the pipeline raised an exception when it was loaded, or a sink that it defines raised
one in the run. The lines before the complaint are the traceback of your own code.""",
        why="""There is nothing to run, or something of the run is missing.""",
        example=_script("graph.nodes[3]\n", "pointstamp run count.py 2>&1 | tail -n 1"),
        fix="""What the traceback says. `python count.py` raises the same without anything around it.""",
    ),
    "PS734": Explanation(
        means="""The file defines neither `dataflow` nor `flow`, or something else by that name; or there is no
such file.""",
        why="""`pointstamp run` runs what these names stand for, and nothing else.""",
        example=_script("flow = Dataflow(graph)\n", "pointstamp run count.py"),
        fix="""`dataflow = Dataflow(graph, nodes)`, or a program of streams, `flow = Flow()`, at the top level
of the file.""",
    ),
    "PS735": Explanation(
        means="""Something that belongs to the state of a run is not plain data: what a node knows, or a message
that waits for one. The complaint names the node and the attribute.""",
        why="""With `--state` the run has to be able to go on in another process. A part that is left out would
be missing there. Plain data is read without running code: lists, dicts, sets, numbers, texts,
dates, dataclasses and enums of the pipeline's own, arrays and tables.""",
        example=_script(
            """
class Count(Node):
    def __init__(self):
        self.log = open("log", "a")

dataflow = Dataflow(graph, {"count": Count})
""",
            "pointstamp run count.py --state kept",
        ),
        fix="""Give the node `snapshot(self)`, which returns what is to be kept, and `restore(self, state)`,
which takes it back. Open files, locks and connections belong into neither. A class of your own
that is data becomes a dataclass at the top level of its module. `--pickle` keeps what pickle
takes; who may write to the folder may then run code as you.""",
    ),
    "PS736": Explanation(
        means="""The state is damaged, or a file is not as it was left: the checkpoint does not have its checksum,
an output is shorter than what was written to it, an input is not the one that was read, or has
grown after its end was read.""",
        why="""Going on from there, values would be missing or be there twice.""",
        example=_script(_PLAIN, "mkdir kept\necho something > kept/checkpoint\npointstamp run count.py --state kept"),
        fix="""Bring the files back as they were. Otherwise begin anew: name another folder, or delete this one;
the outputs are then written from their beginning.""",
    ),
    "PS737": Explanation(
        means="""The state belongs to another command, or to a pipeline whose graph or nodes are others.""",
        why="""A state says how far these inputs were read, and how much of these outputs was written. With other
files, another engine or another graph it says nothing.""",
        example=_script(
            _PLAIN,
            f"{_WORD}pointstamp run count.py --input words=words.jsonl --state kept\n"
            "pointstamp run count.py --input words=words.jsonl --state kept --engine sim",
        ),
        fix="""The same command again, or another folder. What nodes do may change, as long as they understand
what they knew: a node that failed can be mended.""",
    ),
    "PS738": Explanation(
        means="""Another process runs with this state.""",
        why="""Two of them would write each line twice.""",
        example=_script(
            _PLAIN,
            "mkfifo words\npointstamp run count.py --input words=words --state kept &\n"
            "until [ -e kept/checkpoint ]; do sleep 0.1; done\n"
            "pointstamp run count.py --input words=words --state kept\n"
            ": > words     # nothing comes: the first one ends\nwait",
        ),
        fix="""Wait for the other one, or stop it; or use a folder for each. When a process is killed, its lock
is gone with it.""",
    ),
    "PS739": Explanation(
        means="""All inputs are closed and nothing can be done any more, and yet nodes wait for notifications that
will never be delivered: a cycle does not advance, and their own requests hold them back.
`Dataflow.run` raises it when all the rest is done; sinks have what left until then.""",
        why="""What the nodes would have done with the notifications is missing from the outputs.""",
        example=Example(
            """\
cat > round.py <<'END'
from pointstamp import Dataflow, Graph, Node

class Count(Node):
    def on_message(self, edge, time, value, out):
        out.request(time)

graph = Graph().node("count").node("back").edge(None, "count", "words")
graph.edge("count", "back", "out").edge("back", "count", "again")
dataflow = Dataflow(graph, {"count": Count()})
END
echo '{"time": 0, "value": "a"}' | pointstamp run round.py --input words=-
""",
            "sh",
        ),
        fix="""`pointstamp check` shows the cycle (PS301). Let the time advance on it, by `feedback` for
instance.""",
    ),
    "PS748": Explanation(
        means="""A kept run that goes on after a kill did otherwise than before: what leaves now is something else
than what has left since the last checkpoint, or the order in which things happened cannot be
followed any more. The complaint names the first node that sent something else, and with what.""",
        why="""What has left is never taken back. Going on, something would be there that contradicts what a
reader has seen, or be there twice. Nothing was written.""",
        example=_script(
            """
import os, random
from pathlib import Path

class Count(Node):
    def on_message(self, edge, time, value, out):
        if value == "b" and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getpid(), 9)
        out.send("counts", time, random.random())

dataflow = Dataflow(graph, {"count": Count})
""",
            """for word in a b; do echo "{\\"time\\": 0, \\"value\\": \\"$word\\"}"; done > words.jsonl
for start in 1 2; do
  pointstamp run count.py --input words=words.jsonl --output counts=out --state kept \\
    --engine sim --seed 2
done""",
        ),
        fix="""`deterministic = False` in the class of a node that may do otherwise: what leaves then waits for
checkpoints. This run goes on with `--delivery at-least-once`, which writes again what has left
since the last one. Where somebody has altered an output, put it back as it was.""",
    ),
    "PS740": Explanation(
        means="""A file cannot be written on: the disk is full, a limit is reached, or the system refuses it.""",
        why="""Lines that are not in an output are results that are missing. What was written by then is whole
lines, and with `--state` the run goes on from its last checkpoint.""",
        example=_script(_PLAIN, f"{_WORD}pointstamp run count.py --input words=words.jsonl --output counts=/dev/full"),
        fix="""Make room, or name another file. With `--state` the same command then goes on.""",
    ),
    "PS746": Explanation(
        means="""A file that `--order` names is not an order of a run, or one of its choices is not possible where
the run has come to: what it takes is not there, or the run is over before the order is.""",
        why="""An order makes a run again, choice by choice. A run that would choose something else instead is
another run, and nobody would see it.""",
        example=_script(
            _PLAIN,
            """echo '{"pointstamp_order": 1}' > order.jsonl
echo '{"notify": "count", "time": 0}' >> order.jsonl
pointstamp run count.py --engine sim --order order.jsonl""",
        ),
        fix="""Run the same pipeline with the same inputs as when `--save-order` wrote the file. Or end the order
before the line that is named: what comes after its last line is chosen in turn, or by `--seed`.""",
    ),
}
