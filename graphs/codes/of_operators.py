"""Explanations of PS801 to PS807: what time-aware operators are given, and what they and their streams do wrong."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

OPERATORS = {
    "PS801": Explanation(
        means="""A time-aware operator got something that it cannot take: not an event, or data of another
form than it works on, as `flatten` needs lists, `incr` batches, and a histogram data with a
hash.""",
        why="""Streams are made of data with their times, `DT(time, data)`, and of watermarks, `WM(time)`.
Anything else would have to be passed over, and would be lost.""",
        example=Example(
            """\
from progress.operators import batch, produce

list(produce(batch(), [(0, "a")]))
""",
            "python",
        ),
        fix="""`DT(0, "a")` for data, `WM(0)` for a watermark; `map_data` brings data into the form that
the next operator works on.""",
    ),
    "PS802": Explanation(
        means="""An operator was made of something that cannot be right: a buffer that is not pairs of a time
and data, a number that is not one, something to compose that is not an operator, an edge on
no side.""",
        why="It would fail only when the first event comes, far from where it was written.",
        example=Example(
            """\
from progress.operators import batch

batch(["a", "b"])
""",
            "python",
        ),
        fix='Buffers are `[(time, data), ...]`, as in `batch([(0, "a"), (1, "b")])`.',
    ),
    "PS803": Explanation(
        means="""The time of an event is not a time of the stream: not one of the domain that the operator
was given, not a `Left` or `Right` where two streams are in one, or a value without a hash.""",
        why="Such a time is comparable to no other; its data would wait for ever.",
        example=Example(
            """\
from pointstamp import Nat
from progress.operators import DT, batch, produce

list(produce(batch(domain=Nat()), [DT(-1, "a")]))
""",
            "python",
        ),
        fix="Give the operator the domain whose times come, or the stream times of that domain.",
    ),
    "PS804": Explanation(
        means="""Two times cannot be compared: Python's own `<=` has no answer for them, or an operator that
needs a total order got times of which none is at or before the other.""",
        why="""What a watermark completes is decided by the order of times. In a total order the last
histogram is all that has to be kept; over other orders that gives wrong counts.""",
        example=Example(
            """\
from progress.operators import DT, WM, batch, produce

list(produce(batch(), [DT("monday", 1), WM(3)]))
""",
            "python",
        ),
        fix="""Times of one kind; `domain=` with an order of `progress.order`; `histogram` instead of
`total_histogram` over orders that are not total.""",
    ),
    "PS805": Explanation(
        means="""Which times may still come after a watermark is not known: the domain is one of your own,
has no least times, or has times after which none comes first.""",
        why="""A watermark says what is over, a frontier what may still come: the minimal times that no
watermark is at or above. Where there are none, no input can be open at them.""",
        example=Example(
            """\
from pointstamp import Dataflow, Graph
from progress.operators import WM
from progress.operators.node import Watermarked

graph = Graph(time="int").node("a").edge(None, "a", "in").edge("a", None, "out")
Dataflow(graph).run(sources={"in": Watermarked([WM(3)])})
""",
            "python",
        ),
        fix="""A domain of `progress.order` with least times, such as `nat`; or a source that says by
`Complete([time])` itself from where on messages come.""",
    ),
    "PS806": Explanation(
        means="Data came at or below a watermark that had come before: the stream is not monotone.",
        why="""Operators act on what a watermark completes. Data that come later are in no batch of their
time, and what was counted without them has left.""",
        example=Example(
            """\
from progress.operators import DT, WM, monitored

list(monitored([DT(0, "a"), WM(0), DT(0, "b")]))
""",
            "python",
        ),
        fix="""Let watermarks wait for what is late; or decide at the input what is late and send it
elsewhere, as the runtime does with what comes behind a frontier.""",
    ),
    "PS807": Explanation(
        means="""An operator breaks its specification: soundness, completeness, or that monotone and
productive streams stay so. The line shows a small stream on which it does. Or the streams
to judge it by meet an assumption never, so that nothing was judged.""",
        why="""Composed operators are right if each of them is: what one may assume is what the one before
it preserves.""",
        example=Example(
            """\
from progress.operators import DT, WM, batch, check_operator, map_data
from progress.operators.laws.of_operators import of_batch

streams = [[DT(0, "a"), WM(0)]]
check_operator(map_data(lambda time, data: []), of_batch(), streams).raise_if_broken()
""",
            "python",
        ),
        fix="""Follow the operator by hand on the stream that is shown: it is as short as leaving out makes
it.""",
    ),
}
