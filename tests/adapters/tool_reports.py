"""What a probe's answer says of one graph."""

from typing import Any


def codes(said: dict[str, Any]) -> list[tuple[str, str]]:
    """The codes of a report, each with its severity."""
    return [(each["code"], each["severity"]) for each in said["diagnostics"]]


def finding(facts: dict[str, Any], name: str, code: str) -> dict[str, Any]:
    """The one finding of a code on one graph."""
    (found,) = [each for each in facts["said"][name]["diagnostics"] if each["code"] == code]
    assert isinstance(found, dict)
    return found


def nodes(walk: list[list[Any]]) -> list[str]:
    """The nodes of a walk of a witness."""
    return [step[0] for step in walk]


def clean(facts: dict[str, Any], *names: str) -> None:
    """Nothing is found in these graphs, and the engine's own verdicts hold."""
    for name in names:
        said = facts["said"][name]
        assert (said["diagnostics"], said["exit"], said["stderr"]) == ([], 0, ""), name
        assert said["advancing"]["holds"] is said["condition_2"]["holds"] is True


def no_alarm(facts: dict[str, Any], noted: set[str]) -> None:
    """Nothing but notes is said of the examples, and notes only of those `noted`."""
    found = {name: codes(said) for name, said in facts["examples"].items()}
    assert {name: each for name, each in found.items() if {code for code, _ in each} - {"PS919"}} == {}
    assert {name for name, each in found.items() if each} == noted
    assert all(said["exit"] == 0 for said in facts["examples"].values())


def refused(said: dict[str, Any]) -> None:
    """What is not a graph of the tool is refused in one line."""
    assert (codes(said), said["exit"], said["stderr"].count("\n")) == ([("PS903", "error")], 2, 1)
