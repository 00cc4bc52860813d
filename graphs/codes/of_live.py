"""The explanation of PS749: what answers where a live view was asked for."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

LIVE = {
    "PS749": Explanation(
        means="""`pointstamp why URL` asks a live view what waits in its run. Nothing answers at this address,
something else than a live view does, it takes too long, or it does not let this ask.""",
        why="""What waits in a run is known to its process alone, and only while it runs.""",
        example=Example("pointstamp why http://127.0.0.1:9/", "sh"),
        fix="""`pointstamp run PIPELINE.py --ui PORT` says the address in its first line. Copy all of it.""",
    ),
}
