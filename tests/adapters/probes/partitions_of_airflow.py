"""What Airflow does with rollup windows, and what is said of them. The Dags of each case are a module of their own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

HOME = tempfile.TemporaryDirectory()
os.environ["AIRFLOW_HOME"] = HOME.name

from airflow.partition_mappers.base import RollupMapper  # noqa: E402
from airflow.partition_mappers.temporal import StartOfDayMapper, StartOfMonthMapper, StartOfWeekMapper  # noqa: E402
from airflow.partition_mappers.window import DayWindow, MonthWindow, WeekWindow, Window  # noqa: E402

NEW_YORK = "America/New_York"
LOCAL, OFFSET, DAY = "%Y-%m-%dT%H", "%Y-%m-%dT%H%z", "%Y-%m-%d"

BEGIN = """
from airflow.sdk import *
from airflow.sdk import DAG, Asset, task

def maker(name, cron="0 * * * *", timezone="UTC", **options):
    made = Asset(name=name, uri=f"file://{name}")
    with DAG(f"make_{name}", schedule=CronPartitionTimetable(cron, timezone=timezone, **options)):
        @task(outlets=[made])
        def make(): ...
        make()
    return made

def rollup(name, asset, mapper, window, outlets=(), **options):
    roll = RollupMapper(upstream_mapper=mapper, window=window, **options)
    with DAG(name, schedule=PartitionedAssetTimetable(assets=asset, default_partition_mapper=roll)):
        @task(outlets=list(outlets))
        def roll_up(): ...
        roll_up()
"""

HOURLY = f'maker("hours", timezone="{NEW_YORK}", key_format="{{}}")'
CASES = {
    # accepted by Airflow, and never complete
    "utc_keys": f'rollup("day", maker("hours", key_format="{OFFSET}"), '
    f'StartOfDayMapper(timezone="{NEW_YORK}", input_format="{OFFSET}"), DayWindow())',
    "backward_month": f'rollup("month", Asset("days"), StartOfMonthMapper(input_format="{DAY}"), '
    "MonthWindow(direction=Window.Direction.BACKWARD))",
    "week_of_a_day": f'rollup("day", Asset("days"), StartOfDayMapper(input_format="{DAY}"), WeekWindow())',
    "quarter_past": 'rollup("day", maker("hours", "15 * * * *"), StartOfDayMapper(), DayWindow())',
    "working_days": f'rollup("week", maker("days", "0 0 * * 1-5", key_format="{DAY}"), '
    f'StartOfWeekMapper(input_format="{DAY}"), WeekWindow())',
    "unreadable": f'rollup("day", maker("hours", key_format="{LOCAL}"), StartOfDayMapper(), DayWindow())',
    "in_a_circle": """
x, y = Asset("x"), Asset("y")
back = StartOfDayMapper(input_format="%Y-%m-%d", output_format="%Y-%m-%dT00:00:00")
rollup("of_x", x, StartOfDayMapper(), DayWindow(), outlets=[y])
rollup("of_y", y, back, DayWindow(), outlets=[x])
""",
    # the same, mended as the hints say
    "utc_keys_mended": f'rollup("day", maker("hours", key_format="{OFFSET}"), '
    f'StartOfDayMapper(input_format="{OFFSET}"), DayWindow())',
    "backward_month_mended": f'rollup("month", Asset("days"), StartOfMonthMapper(input_format="{DAY}"), MonthWindow())',
    "week_of_a_day_mended": f'rollup("week", Asset("days"), StartOfWeekMapper(input_format="{DAY}"), WeekWindow())',
    "quarter_past_mended": 'rollup("day", maker("hours", "0 * * * *"), StartOfDayMapper(), DayWindow())',
    "unreadable_mended": f'rollup("day", maker("hours", key_format="{LOCAL}"), '
    f'StartOfDayMapper(input_format="{LOCAL}"), DayWindow())',
    "early_enough": 'rollup("day", maker("hours", "0 8-17 * * *"), StartOfDayMapper(), DayWindow(), '
    "wait_policy=MinimumCount(10))",
    "in_a_row": """
x, y = Asset("x"), Asset("y")
rollup("of_x", x, StartOfDayMapper(), DayWindow(), outlets=[y])
rollup("of_y", y, StartOfMonthMapper(input_format="%Y-%m-%d"), MonthWindow())
""",
    # a day without one, and with one more hour
    "clocks": f'rollup("day", {HOURLY.format(LOCAL)}, StartOfDayMapper(timezone="{NEW_YORK}", input_format="{LOCAL}"), '
    "DayWindow())",
    "clocks_with_offset": f'rollup("day", {HOURLY.format(OFFSET)}, '
    f'StartOfDayMapper(timezone="{NEW_YORK}", input_format="{OFFSET}"), DayWindow())',
    # a quarter waits for the first days of its three months, whatever else is written
    "coarse": f'rollup("quarter", maker("days", "0 0 * * *", key_format="{DAY}"), '
    f'StartOfQuarterMapper(input_format="{DAY}"), QuarterWindow())',
    "coarse_mended": f'rollup("quarter", maker("days", "0 0 1 * *", key_format="{DAY}"), '
    f'StartOfQuarterMapper(input_format="{DAY}"), QuarterWindow())',
    "unknown_writer": 'rollup("day", Asset("hours"), '
    f'StartOfDayMapper(timezone="{NEW_YORK}", input_format="{OFFSET}"), DayWindow())',
}
EXAMPLES = (
    "example_asset_partition",
    "example_assets",
    "example_asset_decorator",
    "example_asset_alias",
    "example_inlet_event_extra",
    "example_outlet_event_extra",
)


def hours(day: str, timezone: str, written: str, utc: bool = False) -> list[str]:
    """The keys that an hourly maker writes on a local day."""
    zone, found = ZoneInfo(timezone), []
    begin = datetime.strptime(day, DAY).replace(tzinfo=zone).astimezone(UTC)
    end = (datetime.strptime(day, DAY) + timedelta(days=1)).replace(tzinfo=zone).astimezone(UTC)
    while begin < end:
        found.append((begin if utc else begin.astimezone(zone)).strftime(written))
        begin += timedelta(hours=1)
    return found


def awaited(mapper: Any, day: str, sent: list[str]) -> dict[str, Any]:
    """What the scheduler's classes make of what was sent: is the day complete, and what does it not wait for?"""
    wanted = mapper.to_upstream(day)
    matched = {key for key in sent if mapper.to_downstream(key) == day}
    done = mapper.wait_policy.is_satisfied_by_keys(matched=matched, expected=wanted).satisfied
    missed = [key for key in sent if key not in wanted] + sorted({key for key in sent if sent.count(key) > 1})
    return {"wanted": len(wanted), "sent": len(sent), "complete": done, "not waited for": missed}


def routed_back(mapper: Any, window: Any, key: str) -> list[int]:
    rollup = RollupMapper(upstream_mapper=mapper, window=window)
    wanted = rollup.to_upstream(key)
    return [len(wanted), sum(rollup.to_downstream(each) == key for each in wanted)]


def facts() -> dict[str, Any]:
    def day(written: str, timezone: str = NEW_YORK) -> Any:
        return RollupMapper(
            upstream_mapper=StartOfDayMapper(timezone=timezone, input_format=written), window=DayWindow()
        )

    return {
        "utc_keys": awaited(day(OFFSET), "2026-03-07", hours("2026-03-07", NEW_YORK, OFFSET, utc=True)),
        "utc_keys_mended": awaited(day(OFFSET, "UTC"), "2026-03-07", hours("2026-03-07", "UTC", OFFSET)),
        "spring": awaited(day(LOCAL), "2026-03-08", hours("2026-03-08", NEW_YORK, LOCAL)),
        "spring_with_offset": awaited(day(OFFSET), "2026-03-08", hours("2026-03-08", NEW_YORK, OFFSET)),
        "autumn": awaited(day(LOCAL), "2026-11-01", hours("2026-11-01", NEW_YORK, LOCAL)),
        "autumn_with_offset": awaited(day(OFFSET), "2026-11-01", hours("2026-11-01", NEW_YORK, OFFSET)),
        "backward_month": routed_back(
            StartOfMonthMapper(input_format=DAY), MonthWindow(direction=Window.Direction.BACKWARD), "2026-03"
        ),
        "backward_month_mended": routed_back(StartOfMonthMapper(input_format=DAY), MonthWindow(), "2026-03"),
        "week_of_a_day": routed_back(StartOfDayMapper(input_format=DAY), WeekWindow(), "2026-03-09"),
        "week_of_a_day_mended": routed_back(StartOfWeekMapper(input_format=DAY), WeekWindow(), "2026-03-09 (W11)"),
    }


def answer() -> dict[str, Any]:
    from tests.adapters.tools import answered, checked

    found: dict[str, Any] = {"facts": facts(), "check": {}, "complete": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            file = Path(folder, f"dags_{name}.py")
            file.write_text(f"{BEGIN}\n{text}\n")
            found["check"][name] = checked("airflow", str(file))

        def complete(name: str, question: str, have: list[str], *options: str) -> dict[str, Any]:
            Path(folder, "have.json").write_text(json.dumps({"hours": have} if have else {}))
            dags, given = str(Path(folder, f"dags_{name}.py")), str(Path(folder, "have.json"))
            return answered("complete", "--from", "airflow", dags, "--have", given, question, *options)

        spring = hours("2026-03-08", NEW_YORK, LOCAL)
        found["complete"] = {
            "spring": complete("clocks", "day=2026-03-08", spring, "--format", "json"),
            "spring, one missing": complete("clocks", "day=2026-03-08", spring[:-1], "--format", "json"),
            "backward": complete("backward_month", "month=2026-03", [], "--format", "json"),
            "no such key": complete("clocks", "day=8.3.2026", []),
            "no key": complete("clocks", "day", []),
        }
        found["no dag"] = checked("airflow", str(Path(folder, "have.json")))
    found["examples"] = {name: checked("airflow", f"airflow.example_dags.{name}") for name in EXAMPLES}
    return found


if __name__ == "__main__":
    json.dump(answer(), sys.stdout)
