"""What Dagster does with assets of partitions, and what is said of them; this file is the target of its own checks."""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")

import dagster as dg  # noqa: E402

THIS = Path(__file__).resolve()
SAME = dg.IdentityPartitionMapping()


def shifted(offset: int) -> Any:
    return dg.TimeWindowPartitionMapping(start_offset=offset, end_offset=offset)


def asset(name: str, partitions: Any, *inputs: tuple[str, Any], **options: Any) -> Any:
    deps = [dg.AssetDep(each, partition_mapping=mapping) for each, mapping in inputs]

    @dg.asset(name=name, partitions_def=partitions, deps=deps, **options)
    def made() -> None: ...

    return made


day = dg.DailyPartitionsDefinition(start_date="2026-03-01")
week = dg.WeeklyPartitionsDefinition(start_date="2026-03-01")
month = dg.MonthlyPartitionsDefinition(start_date="2026-01-01")
long_days = dg.DailyPartitionsDefinition(start_date="2026-01-01")
hour = dg.HourlyPartitionsDefinition(start_date="2026-03-01-00:00")
eager = dg.AutomationCondition.eager()


def pair(there: Any, back: Any) -> dg.Definitions:
    """a needs b by one mapping, b needs a by the other."""
    return dg.Definitions(assets=[asset("a", day, ("b", there)), asset("b", day, ("a", back))])


# --- cycles -----------------------------------------------------------------------------------------------------------

today = pair(SAME, SAME)
yesterday = pair(shifted(-1), SAME)
tomorrow = pair(shifted(1), SAME)
there_and_back = pair(shifted(2), shifted(-2))
far_enough = pair(shifted(2), shifted(-3))
own_yesterday = dg.Definitions(assets=[asset("a", day, ("a", shifted(-1)))])
month_of_its_days = dg.Definitions(
    assets=[asset("m", month, ("d", dg.TimeWindowPartitionMapping())), asset("d", long_days, ("m", shifted(-1)))]
)
month_before = dg.Definitions(
    assets=[asset("m", month, ("d", shifted(-1))), asset("d", long_days, ("m", dg.TimeWindowPartitionMapping()))]
)
whole = dg.Definitions(assets=[asset("a", None, ("b", None)), asset("b", None, ("a", None))])


def own_today() -> dg.Definitions:
    spec = dg.AssetSpec("a", partitions_def=day, deps=[dg.AssetDep("a", partition_mapping=SAME)])
    return dg.Definitions(assets=[spec])


def refusal(definitions: dg.Definitions) -> str | None:
    """What Dagster says, None where it accepts."""
    try:
        definitions.resolve_asset_graph().toposorted_asset_keys  # noqa: B018 - it raises
        definitions.resolve_all_job_defs()
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__  # type: ignore[assignment]
        return type(error).__name__
    return None


# --- late inputs (dagster#34094) --------------------------------------------------------------------------------------


def late_hours(hours: int = 0, days: int = 0, condition: Any = eager) -> dg.Definitions:
    """A day of hours, whose partitions exist so many hours, and days, later than their windows end."""
    hourly = dg.HourlyPartitionsDefinition(start_date="2026-03-01-00:00", end_offset=-hours)
    daily = dg.DailyPartitionsDefinition(start_date="2026-03-01", end_offset=-days)
    return dg.Definitions(
        assets=[
            asset("raw", hourly),
            asset("daily", daily, ("raw", dg.TimeWindowPartitionMapping()), automation_condition=condition),
        ]
    )


hours_exist = late_hours()
on_missing = late_hours(hours=2, condition=dg.AutomationCondition.on_missing())
part_of_more = late_hours(hours=2, condition=eager & ~dg.AutomationCondition.in_progress())
three_o_clock = dg.AutomationCondition.cron_tick_passed("5 3 * * *")
at_three = late_hours(hours=2, condition=dg.AutomationCondition.in_latest_time_window() & three_o_clock)
hours_late = late_hours(hours=2)
days_late = late_hours(hours=2, days=1)


def moment(number: int, at: int) -> datetime.datetime:
    return datetime.datetime(2026, 3, number, at, 1, tzinfo=datetime.UTC)


def hours_of(number: int, begin: int, end: int) -> list[str]:
    return [f"2026-03-{number:02}-{at:02}:00" for at in range(begin, end)]


def asked_for(definitions: dg.Definitions) -> list[str]:
    """The moments at which eager asks for the first day, while hours 22 and 23 materialise two hours late."""
    instance, cursor, found = dg.DagsterInstance.ephemeral(), None, []
    steps: list[tuple[datetime.datetime, list[str]]] = [
        (moment(1, 23), []),
        (moment(2, 0), hours_of(1, 0, 22)),
        (moment(2, 1), []),
        (moment(2, 2), hours_of(1, 22, 24)),
        (moment(2, 3) + datetime.timedelta(minutes=9), []),
        (moment(3, 0), []),
        (moment(3, 1), []),
    ]
    for now, keys in steps:
        for key in keys:
            instance.report_runless_asset_event(dg.AssetMaterialization("raw", partition=key))
        result = dg.evaluate_automation_conditions(definitions, instance, cursor=cursor, evaluation_time=now)
        cursor = result.cursor
        for key in result.get_requested_partitions(dg.AssetKey("daily")):
            instance.report_runless_asset_event(dg.AssetMaterialization("daily", partition=key))
            if key == "2026-03-01":
                found.append(f"{now:%d %H:%M}")
    return found


# --- windows that cannot be complete ----------------------------------------------------------------------------------

begins_later = dg.Definitions(
    assets=[
        asset("x", dg.HourlyPartitionsDefinition(start_date="2026-03-11-00:00")),
        asset("y", day, ("x", dg.TimeWindowPartitionMapping())),
    ]
)
begins_with_it = dg.Definitions(
    assets=[
        asset("x", dg.HourlyPartitionsDefinition(start_date="2026-03-11-00:00")),
        asset("y", dg.DailyPartitionsDefinition(start_date="2026-03-11"), ("x", dg.TimeWindowPartitionMapping())),
    ]
)
allowed = dg.Definitions(
    assets=[
        asset("x", dg.HourlyPartitionsDefinition(start_date="2026-03-11-00:00")),
        asset("y", day, ("x", dg.TimeWindowPartitionMapping(allow_nonexistent_upstream_partitions=True))),
    ]
)
ends_earlier = dg.Definitions(
    assets=[
        asset("x", dg.DailyPartitionsDefinition(start_date="2026-03-01", end_date="2026-04-01")),
        asset("y", day, ("x", dg.TimeWindowPartitionMapping())),
    ]
)
never_together = dg.Definitions(
    assets=[
        asset("x", dg.DailyPartitionsDefinition(start_date="2025-01-01", end_date="2025-02-01")),
        asset("y", dg.DailyPartitionsDefinition(start_date="2026-01-01", end_date="2026-02-01"), ("x", shifted(0))),
    ]
)
ended_long_ago = dg.Definitions(
    assets=[
        asset("x", dg.HourlyPartitionsDefinition(start_date="2015-01-01-00:00", end_date="2024-06-01-00:00")),
        asset("y", dg.DailyPartitionsDefinition(start_date="2015-01-01"), ("x", dg.TimeWindowPartitionMapping())),
    ]
)


def missing_in_dagster(definitions: dg.Definitions, key: str) -> int:
    """How many partitions of x that y needs will never exist, asked of Dagster as late as 2040."""
    graph = definitions.resolve_asset_graph()
    up, down = graph.get(dg.AssetKey("x")).partitions_def, graph.get(dg.AssetKey("y")).partitions_def
    result = graph.get_partition_mapping(
        dg.AssetKey("y"), dg.AssetKey("x")
    ).get_upstream_mapped_partitions_result_for_partitions(
        downstream_partitions_subset=down.subset_with_partition_keys([key]),
        downstream_partitions_def=down,
        upstream_partitions_def=up,
        current_time=datetime.datetime(2040, 1, 1, tzinfo=datetime.UTC),
    )
    return len(list(result.required_but_nonexistent_subset.get_partition_keys()))


# --- graphs without a fault -------------------------------------------------------------------------------------------

regions = dg.StaticPartitionsDefinition(["eu", "us"])
both = dg.MultiPartitionsDefinition({"day": day, "region": regions})
ny_day = dg.DailyPartitionsDefinition(start_date="2026-03-01", timezone="America/New_York")
ny_hour = dg.HourlyPartitionsDefinition(start_date="2026-03-01-00:00", timezone="America/New_York")

# "From hourly to daily", "Self-dependent", "Dimensions": the pages of Dagster on partitions, rewritten small
FINE = {
    "hours_days_weeks": [
        asset("h", hour),
        asset("d", day, ("h", dg.TimeWindowPartitionMapping()), automation_condition=eager),
        asset("w", week, ("d", dg.TimeWindowPartitionMapping()), automation_condition=eager),
    ],
    "days_months": [asset("d", long_days), asset("m", month, ("d", dg.TimeWindowPartitionMapping()))],
    "trailing_week": [asset("d", day), asset("t", day, ("d", dg.TimeWindowPartitionMapping(start_offset=-6)))],
    "own_yesterday_and_today": [asset("d", day), asset("t", day, ("d", SAME), ("t", shifted(-1)))],
    "regions": [asset("m", both, ("d", None)), asset("d", day), asset("r", regions, ("m", None))],
    "region_by_region": [asset("x", regions), asset("y", regions, ("x", SAME))],
    "last_of_all": [asset("w", week), asset("s", None, ("w", dg.LastPartitionMapping()))],
    "all_of_it": [asset("d", day), asset("s", None, ("d", dg.AllPartitionMapping()))],
    "whole_into_days": [asset("s", None), asset("d", day, ("s", None), automation_condition=eager)],
    "clocks_change": [
        asset("h", ny_hour),
        asset("d", ny_day, ("h", dg.TimeWindowPartitionMapping()), automation_condition=eager),
    ],
    "daily_into_hours": [asset("d", day), asset("h", hour, ("d", dg.TimeWindowPartitionMapping()))],
    "added_while_it_runs": [
        asset("x", dg.DynamicPartitionsDefinition(name="users")),
        asset("y", dg.DynamicPartitionsDefinition(name="users"), ("x", SAME)),
    ],
    "nothing_of_partitions": [
        asset("a", None),
        asset("b", None, ("a", None)),
        asset("c", None, ("a", None), ("b", None)),
    ],
}
globals().update({name: dg.Definitions(assets=assets) for name, assets in FINE.items()})


def many(count: int = 2000) -> dg.Definitions:
    """A half of the assets in one definition, of days; a half with one each, of hours and days."""
    specs = [
        dg.AssetSpec(f"x{n}", partitions_def=day, deps=[f"x{each}" for each in {n // 2, n - 1} if 0 <= each < n])
        for n in range(count // 2)
    ]

    @dg.multi_asset(specs=specs, can_subset=True)
    def together(): ...  # type: ignore[no-untyped-def]  # Dagster reads the annotation

    late = dg.HourlyPartitionsDefinition(start_date="2026-03-01-00:00", end_offset=-2)
    apart = [
        asset(f"y{n}", late if n % 3 else day, (f"x{n}", None), *([(f"y{n - 1}", None)] if n % 3 == 2 else []))
        for n in range(count - count // 2)
    ]
    return dg.Definitions(assets=[together, *apart])


def answer() -> dict[str, Any]:
    from graphs.adapters import dagster as adapter
    from tests.adapters.tools import answered, checked

    def check(name: str, *options: str) -> dict[str, Any]:
        return checked("dagster", f"{THIS}:{name}", *options)

    cycles = ["today", "yesterday", "tomorrow", "there_and_back", "far_enough", "own_yesterday"]
    cycles += ["month_of_its_days", "month_before", "whole"]
    found: dict[str, Any] = {"check": {name: check(name) for name in (*cycles, "own_today", *FINE)}}
    found["refused"] = {name: refusal(globals()[name]) for name in cycles}
    late = {name: globals()[name] for name in ("hours_exist", "hours_late", "days_late", "on_missing", "part_of_more")}
    late["at_three"] = at_three
    found["eager"] = {name: asked_for(definitions) for name, definitions in late.items()}
    windows = {"begins_later": "2026-03-01", "begins_with_it": "2026-03-11", "allowed": "2026-03-01"}
    windows |= {"ends_earlier": "2026-04-01", "never_together": "2026-01-05"}
    windows["ended_long_ago"] = "2024-06-01"
    found["check"] |= {name: check(name) for name in (*late, *windows)}
    found["never"] = {name: missing_in_dagster(globals()[name], key) for name, key in windows.items()}

    with tempfile.TemporaryDirectory() as folder:

        def complete(have: dict[str, Any], question: str, target: str = "hours_late", *options: str) -> dict[str, Any]:
            file = Path(folder, "have.json")
            file.write_text(json.dumps(have))
            return answered(
                "complete", "--from", "dagster", f"{THIS}:{target}", "--have", str(file), question, *options
            )

        at_midnight = {"raw": hours_of(1, 0, 22)}
        in_the_end = {"raw": hours_of(1, 0, 24)}
        found["complete"] = {
            "at midnight": complete(at_midnight, "daily=2026-03-01", "hours_late", "--format", "json"),
            "at midnight, for people": complete(at_midnight, "daily=2026-03-01"),
            "in the end": complete(in_the_end, "daily=2026-03-01", "hours_late", "--format", "json"),
            "of an input": complete({}, "raw=2026-03-01-00:00"),
            "before the input begins": complete({}, "y=2026-03-01", "begins_later", "--format", "json"),
            "spring": complete({}, "d=2026-03-08", "clocks_change", "--format", "json"),
            "autumn": complete({}, "d=2026-11-01", "clocks_change", "--format", "json"),
            "without partitions": complete({"a": True}, "c", "nothing_of_partitions"),
            "of two dimensions": complete({"d": ["2026-03-01"]}, "m=2026-03-01|eu", "regions"),
            "no such partition": complete({}, "daily=2026-03-32"),
            "no such asset": complete({}, "dayli=2026-03-01"),
            "no partition named": complete({}, "daily"),
            "have of another asset": complete({"rwa": []}, "daily=2026-03-01"),
            "have of no such partition": complete({"raw": ["2026-03-01"]}, "daily=2026-03-01"),
        }
        found["not assets"] = [check(name)["stderr"] for name in ("day", "SAME", "refusal")]
        file = Path(folder, "gaps.json")
        file.write_text(json.dumps({"raw": [*hours_of(1, 3, 7), *hours_of(1, 9, 12)], "daily": ["2026-03-01"]}))
        found["gaps"] = check("hours_exist", "--have", str(file))

    questions: list[Any] = []
    original = adapter.__dict__["asked"]

    def counting(*asked: Any) -> Any:
        questions.append(asked)
        return original(*asked)

    adapter.__dict__["asked"] = counting
    begin = time.process_time()
    found["many"] = {"report": check("many")}
    found["many"] |= {"seconds": time.process_time() - begin, "questions": len(questions)}
    adapter.__dict__["asked"] = original
    return found


if __name__ == "__main__":
    json.dump(answer(), sys.stdout)
