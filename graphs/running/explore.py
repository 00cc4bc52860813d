"""`pointstamp explore PIPELINE.py`: every interleaving of a pipeline on small samples (docs/explore.md).

The nodes are the very ones that `run` runs, and section 4 of the paper is how they run: whatever order an engine could
choose is visited. The claims are judged of all of it, and one that fails comes with a shortest way there, which
`pointstamp replay` shows as a recorded session. A file may add claims of its own, `claims`: properties of
`progress.semantics`, or a function from the specification to a list of them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from graphs.running.files import check_apart, check_own, named
from graphs.running.json_lines import JsonLines
from graphs.running.line_sink import plain_step
from graphs.running.own_files import own_files
from graphs.running.pipeline import load_pipeline, told
from graphs.terminal import FINDINGS, FINE, answer, bad_usage
from graphs.wording import plural, printable
from progress.errors import brief, reason_of
from progress.runtime import Dataflow
from progress.runtime.failure import dead_letters
from progress.runtime.source import Feed, begun, check_no_file, items_of, opening
from progress.semantics import Exploration, Not, Says, State, Variant, Verdict, explore
from progress.semantics.properties import About, AnyProperty, Leads, LeadsEach
from progress.semantics.running_claims import RunningSpecification, has_failed, running_claims
from progress.semantics.running_nodes import running_system
from progress.semantics.specification import Inputs
from progress.semantics.trace import recorded

MOST_MESSAGES = 1_000


class Found(NamedTuple):
    """What an exploration of a pipeline says."""

    exploration: Exploration[State]
    specification: RunningSpecification
    messages: int
    outcomes: int | None  # how many different results the pipeline can have, where all was visited


def explore_pipeline(options: argparse.Namespace) -> int:
    """Explore, say what was found, and answer the exit code: 1 where a claim fails, or is not decided."""
    return told(options.pipeline, lambda: _explore(options), own_faults=())


def _explore(options: argparse.Namespace) -> int:
    found = _explored(options)
    bad = [verdict for verdict in found.exploration.verdicts if verdict.says is not Says.HOLDS]
    if options.trace is not None:
        _write_trace(options.trace, found, bad)
    answer(options.format, lambda: to_json(options.pipeline, found), lambda: in_text(found))
    return FINDINGS if bad else FINE


def _explored(options: argparse.Namespace) -> Found:
    modules: list[ModuleType] = []
    dataflow = load_pipeline(options.pipeline, modules.append)
    files = named(options.input, "input", dataflow.network.inputs)
    read = {"PIPELINE.py": options.pipeline, **{f"--input {edge}": file for edge, file in files.items()}}
    written = {} if options.trace is None else {"--trace": options.trace}
    check_apart(read, written)
    check_own(options.pipeline, own_files(), written)
    samples = {edge: list(_sample(edge, dataflow, files)) for edge in dataflow.network.inputs}
    messages = sum(map(len, samples.values()))
    if messages > MOST_MESSAGES:
        raise bad_usage(f"{messages} messages come in: every interleaving of them is too much", "a small sample")
    system = running_system(dataflow, samples, not options.any_order)
    inputs = Inputs.ANNOUNCED if options.any_order else Inputs.FORBIDDEN
    specification = RunningSpecification(system, Variant(reordering=True, inputs=inputs, outputs=False))
    claims = [*running_claims(specification), *_own_claims(modules[0], specification)]
    exploration = explore(specification, claims, options.states, options.steps)
    outcomes = None
    if any(has_failed(state) for state in exploration.states):  # which ends a run, whatever was still to come
        exploration.verdicts = [
            verdict._replace(says=Says.NOT_DECIDED, path=None)
            if isinstance(verdict.property, Leads | LeadsEach)
            else verdict
            for verdict in exploration.verdicts
        ]
    elif exploration.finished:
        ends = (state for state, steps in zip(exploration.states, exploration.steps, strict=True) if not steps)
        outcomes = len({_results(specification, state) for state in ends})
    return Found(exploration, specification, messages, outcomes)


def _own_claims(module: ModuleType, specification: RunningSpecification) -> Iterable[AnyProperty]:
    claims: Any = getattr(module, "claims", ())
    found = claims(specification) if callable(claims) else claims
    if not isinstance(found, list | tuple) or not all(map(_is_claim, found)):
        raise bad_usage(f"claims in {module.__file__} is {brief(found)}", "a list of always(...), sometimes(...)")
    return found


def _is_claim(given: object) -> bool:
    """Whether it is a property, of functions where functions belong."""
    return isinstance(given, AnyProperty) and all(
        part is None or callable(part) or isinstance(part, str | bool | About) for part in given
    )


def _sample(edge: str, dataflow: Dataflow, files: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    """The messages that come in on an edge, from its file or else from the source in the pipeline, read as in a run.

    What would be a dead letter there is left out; what is malformed otherwise is refused as there.
    """
    network = dataflow.network
    domain = network.domain(network.number(edge))
    source: Any = JsonLines(files[edge]) if edge in files else dataflow.sources.get(edge, ())
    check_no_file(edge, source)
    items = begun(edge, partial(items_of, source, "threads", edge, domain))
    if not isinstance(items, Iterator):
        raise bad_usage(f"the source of {brief(edge)} is {brief(source)}", f"--input {edge}=FILE, a small sample")
    feed = Feed(edge, domain, begun(edge, partial(opening, edge, items, domain)), items)
    policy = dataflow.on_error.get(edge, dataflow.on_error.get("*"))
    feed.dead_letters = "" if policy is None else dead_letters(policy)
    for number in count():
        brought = feed.look(1)
        if brought.late:
            time = brief(brought.late[0][0])
            raise bad_usage(f"a message at {time} on {brief(edge)} is late", "a sample without late messages")
        for time, values in brought.batches.items():
            for value in values:
                yield time, value
        if feed.is_over:
            return
        if number >= MOST_MESSAGES:
            raise bad_usage(f"more than {MOST_MESSAGES} items come in on {brief(edge)}", "a small sample")


def _results(specification: RunningSpecification, state: State) -> frozenset[Any]:
    """What has left the graph, whatever the order."""
    names = specification.system.names.edges
    return frozenset(
        Counter((names[e], message) for e in specification.system.outputs for message in state.queues[e]).items()
    )


# --- saying it -------------------------------------------------------------------------------------------------------


def _write_trace(path: str, found: Found, bad: list[Verdict[State]]) -> None:
    shown = next((verdict.path for verdict in bad if verdict.path is not None), None)
    lines = [] if shown is None else [plain_step(line) for line in recorded(found.specification, shown)]
    try:
        Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise bad_usage(f"--trace {path}: {reason_of(error)}", "a file that may be written") from None


def notes(found: Found) -> list[str]:
    """What keeps claims from saying much."""
    said = [] if found.messages else ["nothing came in: --input EDGE=FILE gives a sample"]
    if not any(isinstance(action, Not) for steps in found.exploration.steps for action, _ in steps):
        said.append("nobody was notified: what is said of notifications is empty")
    return said


def _many(number: int, what: str) -> str:
    return f"{number} {plural(number, what)}"


def in_text(found: Found) -> str:
    """What was found, for a reader."""
    exploration = found.exploration
    lines = [
        f"{_many(found.messages, 'message')}: {_many(len(exploration.states), 'state')}, "
        f"{_many(exploration.number_of_steps, 'step')}, "
        f"at most {exploration.depth} one after the other; {exploration.outcome.value}"
    ]
    lines += [str(verdict) for verdict in exploration.verdicts]
    if found.outcomes is not None:
        several = (
            "the same results in every interleaving" if found.outcomes == 1 else "different results: the order matters"
        )
        lines.append(f"{found.outcomes} {several}" if found.outcomes != 1 else several)
    lines += [f"note: {note}" for note in notes(found)]
    return "\n".join(printable(line) for line in "\n".join(lines).split("\n"))


HOLDS = {Says.HOLDS: True, Says.FAILS: False, Says.NOT_DECIDED: None}


def to_json(pipeline: str, found: Found) -> dict[str, Any]:
    """What was found, as one document."""
    exploration = found.exploration
    return {
        "format_version": 1,
        "pipeline": pipeline,
        "messages": found.messages,
        "states": len(exploration.states),
        "steps": exploration.number_of_steps,
        "depth": exploration.depth,
        "finished": exploration.finished,
        "outcome": exploration.outcome.name.lower().replace("_", "-"),
        "results": found.outcomes,
        "notes": notes(found),
        "claims": [_claim(found, verdict) for verdict in exploration.verdicts],
    }


def _claim(found: Found, verdict: Verdict[State]) -> dict[str, Any]:
    said: dict[str, Any] = {"claim": verdict.property.name, "holds": HOLDS[verdict.says]}
    if verdict.says is Says.FAILS and verdict.path is not None:
        said["counterexample"] = {
            "actions": [str(action) for action, _ in verdict.path.steps],
            "trace": [plain_step(line) for line in recorded(found.specification, verdict.path)],
        }
    return said
