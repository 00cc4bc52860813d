"""Explanations of PS921 to PS927: assets with partitions, in tools of others (docs/partitions.md)."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

# Two assets whose partitions are days 1 to 9: `a` needs `b` of the same day, and `b` needs `a` of BACK days before.
_OWN = """\
cat > own.py <<'END'
from pointstamp import Graph
from graphs.adapters import Found
from graphs.adapters.partition_findings import cycle_findings
from graphs.adapters.partitions import Need, Needs

class Days:
    def assets(self): return ["a", "b"]
    def ways(self): return [("a", "b"), ("b", "a")]
    def samples(self, component): return [Need("a", "5")]
    def moment(self, need): return int(need.key)
    def needs(self, asset, key):
        return Needs([Need("b", key) if asset == "a" else Need("a", str(int(key) - BACK))])

def read(target):
    found = cycle_findings(Days(), "this tool", lambda walk: "need an earlier day")
    return Found(Graph(), list(found))
END
pointstamp check --from own.py:read days
"""

_MANIFEST = """\
import json
micro = {"incremental_strategy": "microbatch", "batch_size": "day", "begin": "2026-03-01"}
micro["lookback"] = LOOKBACK
daily = {"resource_type": "model", "package_name": "shop", "name": "daily", "config": micro}
json.dump({"nodes": {"model.shop.daily": daily}}, open("manifest.json", "w"))
"""
_TWO_MODELS = """\
import json
micro = {"incremental_strategy": "microbatch", "batch_size": "day", "begin": "2026-03-01"}
late = {**micro, "begin": "2026-03-05", "event_time": "at"}
model = {"resource_type": "model", "package_name": "shop"}
clicks = {**model, "name": "clicks", "config": {**late, "lookback": 1}}
daily = {**model, "name": "daily", "config": {**micro, "lookback": 1}}
daily["depends_on"] = {"nodes": ["model.shop.clicks"]}
nodes = {"model.shop.clicks": clicks, "model.shop.daily": daily}
json.dump({"nodes": nodes}, open("manifest.json", "w"))
"""


def _dbt(manifest: str, command: str) -> Example:
    return Example(f"python3 - <<'END'\n{manifest}END\n{command}", "sh")


def _asked(have: str, question: str) -> str:
    return f"echo '{have}' > have.json\npointstamp complete --from dbt manifest.json --have have.json {question}\n"


ONE, NONE = _MANIFEST.replace("LOOKBACK", "1"), _MANIFEST.replace("LOOKBACK", "0")

PARTITIONS = {
    "PS921": Explanation(
        means="""Assets need each other, and following what one partition needs leads back to this partition, or
to a later one of the same asset. So it waits for itself, or for ever later ones.""",
        why="""It can never be made. A cycle as such is not a fault: an asset that needs its own yesterday moves
back in time with each step, and comes to an end where the data begins.""",
        example=Example(_OWN.replace("BACK", "0"), "sh"),
        fix="""Let one dependency of the cycle need an earlier partition; the hint says which, and how it is
written in the tool. In Dagster: `TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)`.""",
    ),
    "PS922": Explanation(
        means="""A partition needs others that will never be there: its input begins later or ends earlier, keys
are routed to another partition, or nobody writes keys of this spelling. It is an error where no
partition of the asset can be complete, a warning where some can.""",
        why="""What waits for all of its inputs waits for ever, and tools accept it without a word.""",
        example=_dbt(_TWO_MODELS, "pointstamp check --from dbt manifest.json\n"),
        fix="""What the hint says: the same begin on both, the mapper that belongs to the window, or keys that
are written as they are waited for.""",
    ),
    "PS923": Explanation(
        means="""A partition is made, for the last time or by a condition that does not look again, before all that
it needs is there.""",
        why="""It looks complete, and lacks what came later. In Dagster a condition looks at the partitions that
exist at that moment, so one that appears two hours late is not missed. In dbt a batch that is
built at noon has half a day, and `lookback` says whether anybody comes back to it.""",
        example=_dbt(NONE, "pointstamp check --from dbt manifest.json\n"),
        fix="""Let the partition exist, or be built again, as late as its inputs: the hint names the offset or
the lookback. `pointstamp complete` answers it for one partition.""",
    ),
    "PS924": Explanation(
        means="""Partitions have not materialised although earlier and later ones have, and nothing that the tool
does by itself will come back to them.""",
        why="""A gap stays for ever, and what is summed up over it is too small.""",
        example=_dbt(
            ONE,
            """\
echo '{"runs": ["2026-03-02T12:00", "2026-03-06T12:00", "2026-03-07T12:00"]}' > have.json
pointstamp check --from dbt manifest.json --have have.json
""",
        ),
        fix="""Make them: a backfill of the partitions that are named. A greater lookback bridges runs that
fail.""",
    ),
    "PS925": Explanation(
        means="""Assets need each other's earlier partitions. Every cycle goes back in time, so each partition can
be made; the tool looks at the assets alone, and refuses the cycle.""",
        why="""Its message is the same as that of a cycle that cannot work, which this is not.""",
        example=Example(_OWN.replace("BACK", "1"), "sh"),
        fix="""Make both outputs of one definition that depends on itself, which the tool accepts, or read the
earlier partition from where it is stored, without declaring it.""",
    ),
    "PS926": Explanation(
        means="""There is no asset of this name, or the asset has no such partition.""",
        why="""Nothing can be said of a partition that does not exist, and a key that is misspelled would look
as if it had not materialised.""",
        example=_dbt(ONE, _asked("{}", "dayli=2026-03-01")),
        fix="""Write assets and partitions as the tool shows them; the hint has one of them.""",
    ),
    "PS927": Explanation(
        means="""The file of `--have` is not what it should be: a JSON object that has for each asset the list of
its partitions that have materialised, `true` for an asset without partitions, and, for dbt,
under `runs` the moments at which it ran.""",
        why="""What cannot be read would look as if nothing had materialised.""",
        example=_dbt(ONE, _asked("[1]", "daily=2026-03-01")),
        fix="""`{"raw": ["2026-03-01", "2026-03-02"], "dim": true}`""",
    ),
}
