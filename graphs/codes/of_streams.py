"""Explanations of PS811 to PS815: what a program of streams is refused for, in the line that writes it."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

STREAMS = {
    "PS811": Explanation(
        means="""A step reads several streams that cannot be joined: they are of two flows, one of them is
inside of a loop that the step is not in, or their times are of different domains.""",
        why="""A value of one stream is joined with those of another at the same time. Times of different
domains are never the same, and a round of a loop means nothing outside of the loop.""",
        example=Example(
            """\
from pointstamp import Flow

ours, theirs = Flow().input("orders"), Flow().input("orders")
ours.merge(theirs)
""",
            "python",
        ),
        fix="""One `Flow()` for a program; what `loop` and `iterate` give is the stream outside of the loop;
`roll_up` brings times into a coarser domain.""",
    ),
    "PS812": Explanation(
        means="An operator that works on all values of a key was called on a stream without keys.",
        why="""`reduce`, `count`, `join` and the like give a result for each key. Which part of a value is
its key cannot be known.""",
        example=Example(
            """\
from pointstamp import Flow

Flow().input("orders").count()
""",
            "python",
        ),
        fix="""`key_on(lambda order: order["shop"])` before it, or `keyed()` where values are pairs of a key
and a value. `whole` is given all values of a time, whatever their keys.""",
    ),
    "PS813": Explanation(
        means="""Two steps that keep state have one name, or two inputs, or two outputs. A step without a name
of its own is called after the path that leads to it: `orders.reduce`.""",
        why="""A run that goes on finds the state of a step by its name. Numbers would do, but they would be
others as soon as a step is added before.""",
        example=Example(
            """\
from pointstamp import Flow

orders = Flow().input("orders").keyed()
orders.reduce(min)
orders.reduce(max)
""",
            "python",
        ),
        fix='A name of its own for one of them: `orders.reduce(max, name="largest")`.',
    ),
    "PS814": Explanation(
        means="""A step was given something that it cannot work with: a function that cannot be called, a
number that is too small, a start that all keys would share, something that is not a stream.""",
        why="It would fail only when the first value comes, far from where it was written.",
        example=Example(
            """\
from pointstamp import Flow

Flow().input("numbers").map(3)
""",
            "python",
        ),
        fix="What the message says; the reference of the operators is in docs/streams.md.",
    ),
    "PS815": Explanation(
        means="""A step needs times of another kind than its stream has: windows and sessions need times that
are numbers, what is done in the order of times needs times of which any two are in order.""",
        why="""A window is so many ticks long, which means nothing for times that are not numbers; and of two
times in no order neither is the later one.""",
        example=Example(
            """\
from pointstamp import Flow

Flow(time={"product": ["nat", "nat"]}).input("readings").tumbling(10)
""",
            "python",
        ),
        fix="""`Flow()`, whose times are numbers, or `roll_up` to a domain of numbers before the step.""",
    ),
    "PS816": Explanation(
        means="""The body of a loop gives back what it was given, without a step between, or a stream that is
outside of the loop.""",
        why="""The first would go round for ever and change nothing. The second is the same in every round, so
nothing goes round; most often one variable was taken for another.""",
        example=Example(
            """\
from pointstamp import Flow

flow = Flow()
numbers = flow.input("numbers")
numbers.iterate(lambda inside: numbers.map(lambda n: n // 2))
""",
            "python",
        ),
        fix="Begin with what the body is given: `lambda inside: inside.map(lambda n: n // 2)`.",
    ),
    "PS817": Explanation(
        means="""A loop by rounds, or one of collections, has not come to its end after as many rounds as it may
have: 10,000, or what `most=` says.""",
        why="""A loop whose rounds give the same things in turn, or more each time, never ends, and fills the
memory. So there is a bound on rounds.""",
        example=Example(
            """\
from pointstamp import Flow

flow = Flow()
flow.input("signs").iterate(lambda signs: signs.map(lambda sign: -sign)).output("ends")
flow.run(sources={"signs": [(0, 1)]})
""",
            "python",
        ),
        fix="""An `until` that holds at last, such as `rounds(20)` or one with a tolerance; a body that comes to
rest; `most=` with more rounds where so many are needed.""",
    ),
    "PS818": Explanation(
        means="""What came in for a collection is not a change, `(value, count)` with a whole number as the count;
or `reduce` or `join` of a collection met a value that is not a pair of a key and a value.""",
        why="""A collection is what all changes so far add up to. What is not a change cannot be added up, and
without a key nothing can be brought together.""",
        example=Example(
            """\
from pointstamp import Flow

flow = Flow()
flow.collection("words").changes().output("changes")
flow.run(sources={"words": [(0, "to")]})
""",
            "python",
        ),
        fix="""`(0, ("to", 1))` for one more, `(0, ("to", -1))` for one less. For a key, `map` to `(key, value)`
before `reduce` or `join`.""",
    ),
    "PS819": Explanation(
        means="""`reduce` or `count` of a collection met a value that is there less than 0 times: it was taken
away more often than it came.""",
        why="""There is no list with a value less than 0 times in it, so the function cannot be asked. Most
often a deletion names a value that was never there, or is not equal to what was put in.""",
        example=Example(
            """\
from pointstamp import Flow

flow = Flow()
flow.collection("words").count().changes().output("counts")
flow.run(sources={"words": [(0, ("to", -1))]})
""",
            "python",
        ),
        fix="""Take away what is there. Where less than nothing is meant, as with `negate`, `distinct` before:
it takes what is there less than once for absent.""",
    ),
}
