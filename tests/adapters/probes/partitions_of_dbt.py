"""What dbt does with microbatch models, and what is said of their manifests. (dbt imports what is called dbt_*.)"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

warnings.simplefilter("ignore")
os.environ.update(DO_NOT_TRACK="1", DBT_SEND_ANONYMOUS_USAGE_STATS="False", DBT_VERSION_CHECK="False")

from dbt.artifacts.resources.types import BatchSize  # noqa: E402
from dbt.contracts.graph.nodes import NodeConfig  # noqa: E402
from dbt.materializations.incremental.microbatch import MicrobatchBuilder  # noqa: E402

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
RAW = "{{ config(materialized='table', event_time='ts') }} select timestamp '2026-03-01 01:00' as ts, 1 as v"


def model(size: str, source: str, more: str = "", begin: str = "2026-03-01") -> str:
    config = f"materialized='incremental', incremental_strategy='microbatch', event_time='ts', begin='{begin}'"
    return f"{{{{ config({config}, batch_size='{size}'{more}) }}}}\nselect * from {source}"


def ref(name: str) -> str:
    return f"{{{{ ref('{name}') }}}}"


PROJECTS: dict[str, dict[str, str]] = {
    "no_lookback": {"raw": RAW, "daily": model("day", ref("raw"), ", lookback=0")},
    "lookback": {"raw": RAW, "daily": model("day", ref("raw"))},
    "input_goes_further_back": {
        "raw": RAW,
        "hourly": model("hour", ref("raw"), ", lookback=60"),
        "daily": model("day", ref("hourly")),
    },
    "input_begins_later": {
        "raw": RAW,
        "hourly": model("hour", ref("raw"), begin="2026-03-05"),
        "daily": model("day", ref("hourly")),
    },
    "as_in_the_guide": {  # sessions of the guide on microbatch: events, then what is made of them day by day
        "raw": RAW,
        "dim": "select 1 as v",
        "sessions": model("day", f"{ref('raw')} join {ref('dim')} using (v)", ", lookback=3"),
        "monthly": model("month", ref("sessions"), ", lookback=1"),
        "report": f"select count(*) as n from {ref('monthly')}",
    },
    "hours_of_days": {
        "raw": RAW,
        "hourly": model("hour", ref("raw"), ", lookback=3"),
        "daily": model("day", ref("hourly"), ", concurrent_batches=false"),
        "all_of_it": model("day", "{{ ref('hourly').render() }}"),
    },
    "without_batches": {
        "raw": RAW,
        "dim": "select 1 as v",
        "both": f"select * from {ref('raw')} join {ref('dim')} using (v)",
    },
}


def builder(size: BatchSize, lookback: int, now: datetime, first: bool) -> Any:
    config = NodeConfig(incremental_strategy="microbatch", lookback=lookback)
    config.batch_size, config.begin = size, BEGIN.replace(tzinfo=None)
    node: Any = SimpleNamespace(name="m", config=config)
    return MicrobatchBuilder(node, not first, event_time_start=None, event_time_end=None, default_end_time=now)


def batches(size: BatchSize, lookback: int, now: datetime, first: bool) -> list[tuple[datetime, datetime]]:
    """As dbt's runner asks for them: from a start that goes back from the end."""
    made = builder(size, lookback, now, first)
    end = made.build_end_time()
    found: list[tuple[datetime, datetime]] = made.build_batches(made.build_start_time(end), end)
    return found


def story(runs: list[datetime], lookback: int, size: BatchSize = BatchSize.day) -> dict[str, str]:
    """Until when each batch has been built, as dbt's own builder says."""
    seen: dict[datetime, datetime] = {}
    for number, now in enumerate(runs):
        for start, end in batches(size, lookback, now, number == 0):
            seen[start] = max(seen.get(start, start), min(now, end))
    return {f"{start:%Y-%m-%dT%H}": f"{until:%Y-%m-%dT%H:%M}" for start, until in sorted(seen.items())}


def noons(*days: int) -> list[datetime]:
    return [datetime(2026, 3, day, 12, tzinfo=UTC) for day in days]


def compared() -> dict[str, int]:
    """Random runs: the batches of dbt's builder against those of the adapter."""
    from graphs.adapters.microbatch import Batches

    rng, same, other = random.Random(1), 0, 0
    longer = {BatchSize.hour: 1, BatchSize.day: 1, BatchSize.month: 20, BatchSize.year: 400}
    for size in (BatchSize.hour, BatchSize.day, BatchSize.month, BatchSize.year):
        for _ in range(40):
            lookback, now = rng.randint(0, 4), BEGIN
            runs = []
            for _ in range(rng.randint(1, 6)):
                now += timedelta(hours=rng.randint(1, 40) * longer[size])
                if rng.random() < 0.3:
                    now = now.replace(hour=0, minute=0)
                runs.append(max(now, BEGIN + timedelta(hours=1)) + timedelta(minutes=rng.choice((0, 0, 7))))
            runs.sort()
            begin = BEGIN.replace(month=1) if size == BatchSize.year else BEGIN
            first = f"{begin:%Y-%m-%dT%H}"  # dbt looks back beyond the begin, too, where there is nothing
            theirs = {start: until for start, until in story(runs, lookback, size).items() if start >= first}
            built = Batches(size.value, begin, lookback).built(runs)
            ours = {f"{start:%Y-%m-%dT%H}": f"{until:%Y-%m-%dT%H:%M}" for start, until in sorted(built.items())}
            if ours == theirs:
                same += 1
            else:
                other += 1
    return {"same": same, "other": other}


def answer() -> dict[str, Any]:
    from tests.adapters.tools import answered, checked

    found: dict[str, Any] = {"check": {}, "runs": {}, "complete": {}, "compared": compared()}
    found["story"] = {
        "noon, lookback 0": story(noons(1, 2, 3, 4, 5), 0),
        "noon, lookback 1": story(noons(1, 2, 3, 4, 5), 1),
        "two days without a run": story(noons(1, 2, 5, 6), 1),
        "two days without a run, lookback 3": story(noons(1, 2, 5, 6), 3),
    }
    found["default lookback"] = NodeConfig().lookback
    with tempfile.TemporaryDirectory() as folder:
        manifests = parsed(Path(folder))
        for name, manifest in manifests.items():
            found["check"][name] = checked("dbt", str(manifest))

        def have(data: Any) -> str:
            file = Path(folder, "have.json")
            file.write_text(data if isinstance(data, str) else json.dumps(data))
            return str(file)

        def runs(*days: int) -> dict[str, list[str]]:
            return {"runs": [f"{moment:%Y-%m-%dT%H:%M}" for moment in noons(*days)]}

        for label, name, days in (
            ("noon, lookback 0", "no_lookback", (1, 2, 3, 4, 5)),
            ("noon, lookback 1", "lookback", (1, 2, 3, 4, 5)),
            ("two days without a run", "lookback", (1, 2, 5, 6)),
        ):
            found["runs"][label] = checked("dbt", str(manifests[name]), "--have", have(runs(*days)))

        def complete(name: str, question: str, given: Any) -> dict[str, Any]:
            at = ("--from", "dbt", str(manifests[name]), "--have", have(given))
            return answered("complete", *at, question, "--format", "json")

        hours = [f"2026-03-01T{hour:02}" for hour in range(24)]
        found["complete"] = {
            "all hours": complete("hours_of_days", "daily=2026-03-01", {"hourly": hours}),
            "one missing": complete("hours_of_days", "daily=2026-03-01", {"hourly": hours[:-1]}),
            "by runs": complete("as_in_the_guide", "monthly=2026-03", runs(*range(1, 31))),
            "all of an input": complete("hours_of_days", "all_of_it=2026-03-01", {"hourly": hours}),
            "of no model": complete("hours_of_days", "dayly=2026-03-01", {}),
            "before the begin": complete("hours_of_days", "daily=2026-02-28", {}),
            "not a moment": complete("hours_of_days", "daily=2026-03-01", {"runs": ["noon"]}),
            "not JSON": complete("hours_of_days", "daily=2026-03-01", "{"),
            "twice": complete("hours_of_days", "daily=2026-03-01", '{"hourly": [], "hourly": []}'),
            "not a list": complete("hours_of_days", "daily=2026-03-01", {"hourly": 3}),
        }
    return found


def parsed(folder: Path) -> dict[str, Path]:
    """The manifests that dbt writes for the projects."""
    from dbt.cli.main import dbtRunner

    found = {}
    for name, models in PROJECTS.items():
        project = folder / name
        (project / "models").mkdir(parents=True)
        (project / "dbt_project.yml").write_text(f"name: {name}\nversion: '1.0'\nprofile: p\n")
        target = "{type: duckdb, path: w.duckdb, threads: 1}"
        (project / "profiles.yml").write_text(f"p: {{target: dev, outputs: {{dev: {target}}}}}\n")
        for each, text in models.items():
            (project / "models" / f"{each}.sql").write_text(text)
        at = ["--project-dir", str(project), "--profiles-dir", str(project)]
        result = dbtRunner().invoke(["-q", "parse", "--no-partial-parse", *at])
        assert result.success, result.exception
        found[name] = project / "target" / "manifest.json"
    return found


if __name__ == "__main__":
    said = sys.stdout
    sys.stdout = sys.stderr  # what dbt prints is not the answer
    json.dump(answer(), said)
