"""Day files that feed a report for the month, as a program of streams.

pointstamp run examples/pipelines/month/stream.py --input files=examples/pipelines/month/files.jsonl
"""

from pointstamp import Flow

DAYS = {"finite": {"elements": [f"{day:02}" for day in range(1, 32)]}}


def report(month, files):
    """What a month's files say together."""
    names = sorted(name for name, _ in files)
    total = sum(total for _, total in files)
    return [{"files": len(files), "from": names[0], "to": names[-1], "total": total}]


flow = Flow(time={"product": ["nat", DAYS]}, name="month")
days = flow.input("files").map(lambda content: (content["file"], sum(content["amounts"])))
days.map(lambda day: day[1]).output("totals")
days.roll_up().whole(report).output("reports")
