"""Airflow 3.3: what its mappers and windows do; `check --from airflow` and `complete` say so before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.tools import ROOT, probe

NEVER = ("utc_keys", "backward_month", "week_of_a_day", "quarter_past", "working_days", "unreadable")
FINE = (
    *("utc_keys_mended", "backward_month_mended", "week_of_a_day_mended", "quarter_past_mended", "unreadable_mended"),
    *("early_enough", "in_a_row", "coarse_mended"),
)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return probe("partitions_of_airflow")


def codes(report: dict[str, Any]) -> list[str]:
    return [found["code"] for found in report["diagnostics"]]


def test_windows_that_airflow_accepts_and_that_can_never_be_complete(told: dict[str, Any]) -> None:
    facts = told["facts"]
    assert facts["utc_keys"]["complete"] is False
    assert len(facts["utc_keys"]["not waited for"]) == 24
    assert facts["utc_keys_mended"]["complete"] is True
    assert facts["backward_month"] == [28, 1]  # of 28 keys that it waits for one is routed back to it
    assert facts["week_of_a_day"] == [7, 1]
    assert facts["backward_month_mended"] == [31, 31]
    assert facts["week_of_a_day_mended"] == [7, 7]
    for name in NEVER:
        report = told["check"][name]
        assert (report["exit"], codes(report)) == (1, ["PS922"]), name
        assert report["diagnostics"][0]["severity"] == "error"
        assert report["diagnostics"][0]["witness"]["never"]


def test_the_hint_is_what_mends_it(told: dict[str, Any]) -> None:
    for name, says in (
        ("utc_keys", "or let the mapper have timezone UTC"),
        ("backward_month", "without direction=BACKWARD"),
        ("week_of_a_day", "StartOfWeekMapper for a WeekWindow"),
        ("unreadable", "input_format"),
        ("quarter_past", "which writes '2026-03-02T00:15:00'"),
    ):
        assert says in told["check"][name]["diagnostics"][0]["hint"]
        mended = told["check"][f"{name}_mended"]
        assert (mended["exit"], codes(mended)) == (0, [])


def test_days_on_which_clocks_change(told: dict[str, Any]) -> None:
    """A spring day is complete now with 23 hours, against the docstring; an autumn day does not wait for its 25th."""
    facts = told["facts"]
    for kind in ("", "_with_offset"):
        spring, autumn = facts[f"spring{kind}"], facts[f"autumn{kind}"]
        assert (spring["wanted"], spring["sent"], spring["complete"], spring["not waited for"]) == (23, 23, True, [])
        assert (autumn["wanted"], autumn["sent"], autumn["complete"]) == (24, 25, True)
        (found,) = told["check"][f"clocks{kind}"]["diagnostics"]
        assert (found["code"], found["severity"]) == ("PS923", "warning")
        assert [key for _, key in found["witness"]["missing"]] == autumn["not waited for"]
    assert codes(told["check"]["unknown_writer"]) == ["PS919"]


def test_a_window_with_fewer_keys_than_are_written(told: dict[str, Any]) -> None:
    """A quarter of days is complete with three of them, on every day of the year; clocks have no part in it."""
    (found,) = told["check"]["coarse"]["diagnostics"]
    assert (found["code"], found["severity"]) == ("PS923", "warning")
    assert found["message"].endswith(
        "and 83 more, which are routed to it: its window has fewer keys (3) than days writes"
    )
    assert "clocks" not in found["message"]
    assert found["hint"] == "let days have the steps of QuarterWindow, or roll it up to these steps first"


def test_dags_that_wait_for_each_other(told: dict[str, Any]) -> None:
    report = told["check"]["in_a_circle"]
    assert report["exit"] == 1
    assert codes(report)[0] == "PS921"
    assert report["diagnostics"][0]["witness"]["assets"] == ["Dag of_x", "x", "Dag of_y", "y", "Dag of_x"]


def test_graphs_without_a_fault_give_no_alarm(told: dict[str, Any]) -> None:
    for name in FINE:
        assert (told["check"][name]["exit"], codes(told["check"][name])) == (0, []), name
    examples = dict(told["examples"])
    partitions = examples.pop("example_asset_partition")
    for name, report in examples.items():
        assert (report["exit"], codes(report)) == (0, []), name
    (found,) = partitions["diagnostics"]  # of 21 Dags the one that Airflow calls "wont_ever_to_trigger"
    assert found["code"] == "PS922"
    assert "player_odds_quality_check_wont_ever_to_trigger" in found["message"]
    assert "StartOfYearMapper" in found["message"]


def test_complete_or_not(told: dict[str, Any]) -> None:
    answers = told["complete"]
    for name in ("spring", "spring, one missing", "backward"):
        assert answers[name]["data"] is not None, answers[name]["stderr"]
    assert (answers["spring"]["exit"], answers["spring"]["data"]["complete"]) == (0, True)
    assert answers["spring"]["data"]["needed"] == 23
    assert answers["spring, one missing"]["exit"] == 1
    missing = [{"asset": "hours", "partition": "2026-03-08T23"}]
    assert answers["spring, one missing"]["data"]["missing"] == missing
    assert len(answers["backward"]["data"]["never"]) == 27
    for question in ("no such key", "no key"):
        assert answers[question]["exit"] == 2
        assert answers[question]["stderr"].startswith("pointstamp: PS926: 'day' has ")
        assert answers[question]["stderr"].count("\n") == 1
    assert told["no dag"]["exit"] == 2


def test_the_page_shows_what_is_said(told: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "partitions.md").read_text(encoding="utf-8")
    (found,) = told["check"]["backward_month"]["diagnostics"]
    first, last = found["message"].split("days[2026-01-04]")[0], found["message"].rpartition(" and 25 more")[2]
    assert f"  {first}... and 25 more{last}\n" in page
    assert f"  hint: {found['hint']}\n" in page
