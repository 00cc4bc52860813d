"""The agent as a program of streams: what a question has to wait for is the builder's.

pointstamp run examples/pipelines/agent/stream.py --engine asyncio \
    --input questions=examples/pipelines/agent/questions.jsonl
"""

import asyncio

from pointstamp import Flow

KNOWN = {"oslo": "Oslo is the capital of Norway", "rome": "Rome was not built in a day"}
PAGES = {"oslo": "717,710 people", "rome": "2,755,309 people", "paris": "2,102,650 people"}
MOST_ATTEMPTS = 3


async def recall(about):
    """What the agent knows already."""
    await asyncio.sleep(0)  # where a database would be asked
    return KNOWN[about]


async def search(asked):
    """A tool that fails now and then."""
    attempt, query = asked
    await asyncio.sleep(0.001 * attempt)  # where a service would be asked, more patiently each time
    return attempt, query, attempt >= query.get("fails", 0)


async def read(found):
    """A page, as a note; notes are pairs, in the order in which they are told."""
    attempt, query, _ = found
    await asyncio.sleep(0)  # where a page would be loaded
    return 1, f"{PAGES.get(query['about'], 'nothing')} (attempt {attempt + 1})"


def tries(going):
    """What is found leaves; what fails goes round again, some times."""
    found, failed = going.map_at(lambda time, query: (time[-1], query)).map_async(search).branch(lambda tried: tried[2])
    return failed.filter(lambda tried: tried[0] + 1 < MOST_ATTEMPTS).map(lambda tried: tried[1]), found.map_async(read)


def answer(question, heard):
    """All that was heard for a question."""
    (text,) = [what for place, what in heard if place < 0]
    return [{"question": text, "notes": [what for place, what in sorted(heard) if place >= 0]}]


flow = Flow(name="agent")
asked = flow.input("questions")
known = asked.map(lambda asked: asked["about"]).filter(KNOWN.__contains__).map_async(recall).map(lambda note: (0, note))
sums = asked.filter(lambda asked: "add" in asked).map(lambda asked: (2, f"the sum is {sum(asked['add'])}"))
texts = asked.map(lambda asked: (-1, asked["text"]))
texts.merge(known, sums, asked.loop(tries)).whole(answer).output("answers")
