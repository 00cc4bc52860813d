"""Word count as a program of streams: what is so far is said so, and the state that this takes is the builder's.

pointstamp run examples/pipelines/word_count/stream.py --input lines=examples/pipelines/word_count/stream.jsonl
"""

from pointstamp import Flow

TOO_COMMON = {"a", "and", "in", "is", "it", "of", "that", "the", "to"}


def ranked(counts, changed):
    """All counts so far, and the three largest."""
    counts = {**(counts or {}), **dict(changed)}
    return counts, sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]


flow = Flow(name="word_count")
words = flow.input("lines", str).flat_map(str.split).map(lambda word: word.strip(".,;:!?\"'()").lower())
kept = words.filter(lambda word: word and word not in TOO_COMMON)
counts = kept.key_on(str).count(accumulate=True, name="count")
counts.output("counts")
first = counts.whole(lambda time, changed: [("all", changed)]).keyed().stateful_map(None, ranked, name="rank")
total = kept.key_on(lambda word: "all").count(accumulate=True, name="total")
total.keyed().join(first.keyed(), lambda key, words, first: {"words": words, "first": first}).output("reports")
