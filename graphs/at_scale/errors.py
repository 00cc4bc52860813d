"""What Spark refuses, each with one line (PS757 to PS761); what a local run refuses too has the code it has there."""

from __future__ import annotations

from progress.errors import PointstampError


def not_here(what: str) -> PointstampError:
    """Something that only Python can compute."""
    return PointstampError("PS757", f"{what} cannot be computed in Spark's columns", 'engine="local"')


def too_many_rounds(rounds: int, active: int) -> PointstampError:
    """Still not finished."""
    return PointstampError(
        "PS758", f"after {rounds} rounds there are still {active} active nodes", "more rounds, or mend what never ends"
    )


def cancelled() -> PointstampError:
    """The event was set."""
    return PointstampError("PS759", "the run on Spark was cancelled", "nothing is wrong: the event was set")


def wrong_table(which: str, what: str, right: str) -> PointstampError:
    """A table that is not one of nodes, or of edges."""
    return PointstampError("PS760", f"the table of {which} {what}", right)


def too_large_a_component(edges: int, fits: int) -> PointstampError:
    """Neither fits the local engine nor is what Spark can judge."""
    return PointstampError(
        "PS757",
        f"{edges} edges belong together, more than the {fits} that are taken out of Spark, and not all just add",
        "a larger `fits`, where the driver has the memory",
    )


def too_large_a_number() -> PointstampError:
    """Beyond 62 bits."""
    return PointstampError("PS761", "a number is beyond the 62 bits that Spark's columns have", 'engine="local"')


def no_engine(engine: object) -> PointstampError:
    """Neither local nor spark nor auto."""
    return PointstampError("PS512", f"there is no engine {engine!r} for graphs", "one of local, spark, auto")


def failed(reason: str) -> PointstampError:
    """Spark gave up."""
    hint = "a session with spark.log.level=ERROR tells all of it"
    return PointstampError("PS756", f"a job of Spark failed: {reason}", hint)
