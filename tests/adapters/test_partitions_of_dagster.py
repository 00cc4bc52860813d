"""Dagster 1.13: what it does with partitions, and that `check --from dagster` and `complete` say so before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.tools import ROOT, probe

STAYING = ("today", "tomorrow", "there_and_back", "month_of_its_days", "whole")
GOING_BACK = ("yesterday", "far_enough", "month_before")
FINE = (
    *("hours_days_weeks", "days_months", "trailing_week", "own_yesterday_and_today", "regions", "region_by_region"),
    *("last_of_all", "all_of_it", "whole_into_days", "clocks_change", "daily_into_hours", "nothing_of_partitions"),
    *("own_yesterday", "hours_exist", "days_late", "begins_with_it", "allowed"),
)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return probe("partitions_of_dagster")


def codes(report: dict[str, Any]) -> list[str]:
    return [found["code"] for found in report["diagnostics"]]


def test_cycles_that_stay_in_time_are_told_from_those_that_go_back(told: dict[str, Any]) -> None:
    for name in (*STAYING, *GOING_BACK):
        assert told["refused"][name] == "CircularDependencyError", name  # the tool says the same of both (#13368)
    assert told["refused"]["own_yesterday"] is None
    for name in STAYING:
        report = told["check"][name]
        assert (report["exit"], codes(report)) == (1, ["PS921"]), name
        (walk,) = report["diagnostics"][0]["witness"]["walks"]
        assert walk[0][0] == walk[-1][0]
        assert str(walk[0][1]) <= str(walk[-1][1])  # keys of days are in the order of time
    for name in GOING_BACK:
        assert (told["check"][name]["exit"], codes(told["check"][name])) == (0, ["PS925"]), name


def test_the_witness_and_the_hint_are_in_the_words_of_dagster(told: dict[str, Any]) -> None:
    (found,) = told["check"]["today"]["diagnostics"]
    assert found["message"] == "a[2026-04-30] needs b[2026-04-30], which needs a[2026-04-30]: it waits for itself"
    assert "TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)" in found["hint"]  # `yesterday`, which is clean
    (found,) = told["check"]["there_and_back"]["diagnostics"]
    assert "let b need an earlier partition of a" in found["hint"] or "start_offset=-1" in found["hint"]
    assert told["check"]["own_today"]["exit"] == 2
    assert "depends on itself" in told["check"]["own_today"]["stderr"]
    assert told["check"]["own_today"]["stderr"].count("\n") == 1


def test_a_day_that_runs_before_its_last_hours_exist(told: dict[str, Any]) -> None:
    """dagster#34094: eager waits for hours that exist, and not for those that do not exist yet."""
    assert told["eager"]["hours_exist"] == ["02 02:01"]
    assert told["eager"]["hours_late"] == ["02 00:01", "02 02:01"]
    assert told["eager"]["days_late"] == ["03 00:01"]  # mended as the hint says
    report = told["check"]["hours_late"]
    assert (report["exit"], codes(report)) == (1, ["PS923"])
    (found,) = report["diagnostics"]
    assert found["message"].startswith("eager runs daily[")
    assert [key[-5:] for _, key in found["witness"]["missing"]] == ["22:00", "23:00"]
    assert "end_offset=-1" in found["hint"]
    assert codes(told["check"]["hours_exist"]) == codes(told["check"]["days_late"]) == []
    for name in ("on_missing", "part_of_more"):  # they look for what is missing, as eager does
        assert told["eager"][name][0] == "02 00:01"
        assert codes(told["check"][name]) == ["PS923"]
    assert told["eager"]["at_three"] == ["02 03:10"]  # a schedule of its own comes late enough
    assert codes(told["check"]["at_three"]) == []


def test_windows_that_can_never_be_complete(told: dict[str, Any]) -> None:
    never = {name: count for name, count in told["never"].items() if count}
    assert never == {"begins_later": 24, "ends_earlier": 1, "never_together": 1, "ended_long_ago": 24}
    for name, count in told["never"].items():
        report = told["check"][name]
        assert codes(report) == ["PS922"] * bool(count), name
        for found in report["diagnostics"]:
            assert len(found["witness"]["never"]) == count
    assert told["check"]["begins_later"]["diagnostics"][0]["severity"] == "warning"
    assert "its partitions before 2026-03-11 can never" in told["check"]["begins_later"]["diagnostics"][0]["message"]
    assert "let y start at 2026-03-11" in told["check"]["begins_later"]["diagnostics"][0]["hint"]
    assert told["check"]["never_together"]["diagnostics"][0]["severity"] == "error"
    assert "its partitions from 2026-04-01 on" in told["check"]["ends_earlier"]["diagnostics"][0]["message"]
    assert "its partitions from 2024-06-01 on" in told["check"]["ended_long_ago"]["diagnostics"][0]["message"]


def test_graphs_without_a_fault_give_no_alarm(told: dict[str, Any]) -> None:
    for name in FINE:
        report = told["check"][name]
        assert (report["exit"], codes(report), report["stderr"]) == (0, [], ""), name
    assert set(codes(told["check"]["added_while_it_runs"])) == {"PS919"}
    for name in FINE:
        assert told["check"][name]["advancing"]["holds"] is True, name


def test_complete_or_not_and_what_is_missing(told: dict[str, Any]) -> None:
    answers = told["complete"]
    midnight = answers["at midnight"]
    assert midnight["exit"] == 1
    missing = [{"asset": "raw", "partition": f"2026-03-01-{hour}:00"} for hour in (22, 23)]
    assert midnight["data"] == {
        "format_version": 1,
        "asset": "daily",
        "partition": "2026-03-01",
        "complete": False,
        "needed": 24,
        "missing": missing,
        "never": [],
        "unknown": [],
    }
    said = "daily[2026-03-01]: not complete, 2 of 24 inputs missing\n  raw: 2026-03-01-22:00, 2026-03-01-23:00\n"
    assert answers["at midnight, for people"]["out"] == said
    assert answers["in the end"]["exit"] == answers["of an input"]["exit"] == 0
    assert answers["in the end"]["data"]["complete"] is True
    assert len(answers["before the input begins"]["data"]["never"]) == 24
    assert answers["before the input begins"]["exit"] == 1
    assert [answers[season]["data"]["needed"] for season in ("spring", "autumn")] == [23, 25]
    assert answers["without partitions"]["out"] == "c: not complete, 1 of 2 inputs missing\n  b: not materialised\n"
    assert answers["of two dimensions"]["exit"] == 0


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("no such partition", "'daily' has no partition '2026-03-32'"),
        ("no such asset", "did you mean 'daily'?"),
        ("no partition named", "daily=2026-03-01"),
        ("have of another asset", "did you mean 'raw'?"),
        ("have of no such partition", "'raw' has no partition '2026-03-01'"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(told: dict[str, Any], question: str, says: str) -> None:
    answer = told["complete"][question]
    assert answer["exit"] == 2
    assert says in answer["stderr"]
    assert answer["stderr"].count("\n") == 1
    assert answer["out"] == ""


def test_what_is_not_assets_is_refused_in_one_line(told: dict[str, Any]) -> None:
    for said, code in zip(told["not assets"], ("PS903", "PS903", "PS904"), strict=True):
        assert code in said
        assert said.count("\n") == 1


def test_partitions_that_were_left_out(told: dict[str, Any]) -> None:
    (found,) = told["gaps"]["diagnostics"]
    assert (found["code"], told["gaps"]["exit"]) == ("PS924", 1)
    assert found["witness"]["missing"] == [["raw", "2026-03-01-07:00"], ["raw", "2026-03-01-08:00"]]


def test_two_thousand_assets_take_few_questions(told: dict[str, Any]) -> None:
    assert codes(told["many"]["report"]) == []
    assert told["many"]["report"]["advancing"]["holds"] is True
    assert 0 < told["many"]["questions"] < 50  # one for each kind of mapping, not for each of 3,000 edges


def test_the_page_shows_what_is_said(told: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "partitions.md").read_text(encoding="utf-8")
    (found,) = told["check"]["hours_late"]["diagnostics"]
    assert f"  {found['message']}\n" in page
    assert f"  hint: {found['hint']}\n" in page
    assert told["complete"]["at midnight, for people"]["out"] in page
