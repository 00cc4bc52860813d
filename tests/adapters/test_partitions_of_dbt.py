"""dbt 1.12: what its microbatch models do, and that `check --from dbt` and `complete` say so before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.tools import ROOT, probe

FINE = ("lookback", "as_in_the_guide", "hours_of_days", "without_batches")


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return probe("partitions_of_dbt")


def codes(report: dict[str, Any]) -> list[str]:
    return [found["code"] for found in report["diagnostics"]]


def test_batches_are_those_of_the_builder_of_dbt(told: dict[str, Any]) -> None:
    assert told["compared"] == {"same": 160, "other": 0}


def test_without_lookback_no_day_is_whole(told: dict[str, Any]) -> None:
    """dbt#10867, which is so where `lookback=0` is said: the default is 1."""
    assert told["default lookback"] == 1
    assert all(until.endswith("T12:00") for until in told["story"]["noon, lookback 0"].values())
    assert [until[-5:] for until in told["story"]["noon, lookback 1"].values()] == ["00:00"] * 4 + ["12:00"]
    report = told["check"]["no_lookback"]  # before it runs
    assert (report["exit"], codes(report)) == (0, ["PS923"])
    assert report["diagnostics"][0]["severity"] == "warning"
    assert report["diagnostics"][0]["hint"].startswith("lookback=1 on daily")
    report = told["runs"]["noon, lookback 0"]
    assert (report["exit"], codes(report)) == (1, ["PS923"])
    days = [key for _, key in report["diagnostics"][0]["witness"]["missing"]]
    assert days == ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]  # the fifth may still be built again
    assert report["diagnostics"][0]["hint"] == "lookback=1 on daily"
    assert codes(told["runs"]["noon, lookback 1"]) == codes(told["check"]["lookback"]) == []


def test_a_day_without_a_run_stays_a_gap(told: dict[str, Any]) -> None:
    """dbt#15518: no run on the third and the fourth."""
    built = told["story"]["two days without a run"]
    assert "2026-03-03T00" not in built
    assert built["2026-03-02T00"] == "2026-03-02T12:00"
    report = told["runs"]["two days without a run"]
    assert (report["exit"], codes(report)) == (1, ["PS924", "PS923"])
    gap, half = report["diagnostics"]
    assert gap["witness"]["missing"] == [["daily", "2026-03-03"]]
    assert "--event-time-start 2026-03-03T00:00 --event-time-end 2026-03-04T00:00" in gap["hint"]
    assert half["witness"]["missing"] == [["daily", "2026-03-02"]]
    mended = told["story"]["two days without a run, lookback 3"]
    assert half["hint"] == "lookback=3 on daily"
    assert mended["2026-03-02T00"] == "2026-03-03T00:00"
    assert mended["2026-03-03T00"] == "2026-03-04T00:00"


def test_what_an_input_does_later_or_further_back(told: dict[str, Any]) -> None:
    (found,) = told["check"]["input_goes_further_back"]["diagnostics"]
    assert (found["code"], found["severity"], found["hint"]) == ("PS923", "warning", "lookback=3 on daily")
    (found,) = told["check"]["input_begins_later"]["diagnostics"]
    assert (found["code"], found["severity"]) == ("PS922", "warning")
    assert "4 of its batches" in found["message"]
    assert "begin='2026-03-05' on daily" in found["hint"]


def test_projects_without_a_fault_give_no_alarm(told: dict[str, Any]) -> None:
    for name in FINE:
        report = told["check"][name]
        assert (report["exit"], codes(report), report["stderr"]) == (0, [], ""), name


def test_complete_or_not(told: dict[str, Any]) -> None:
    answers = told["complete"]
    assert (answers["all hours"]["exit"], answers["all hours"]["data"]["complete"]) == (0, True)
    assert answers["one missing"]["data"]["missing"] == [{"asset": "hourly", "partition": "2026-03-01T23"}]
    assert answers["one missing"]["exit"] == 1
    missing = [need["partition"] for need in answers["by runs"]["data"]["missing"]]
    assert missing == ["2026-03-30", "2026-03-31"]  # built until noon, and not at all
    assert answers["all of an input"]["data"]["complete"] is None
    assert answers["all of an input"]["exit"] == 1


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("of no model", "PS926"),
        ("before the begin", "PS926"),
        ("not a moment", "PS927"),
        ("not JSON", "PS927"),
        ("twice", "PS927"),
        ("not a list", "PS927"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(told: dict[str, Any], question: str, code: str) -> None:
    answer = told["complete"][question]
    assert answer["exit"] == 2
    assert answer["stderr"].startswith(f"pointstamp: {code}: ")
    assert answer["stderr"].count("\n") == 1


def test_the_page_shows_what_is_said(told: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "partitions.md").read_text(encoding="utf-8")
    for found in told["runs"]["two days without a run"]["diagnostics"]:
        assert f"  {found['message']}\n" in page
        assert f"  hint: {found['hint']}\n" in page
