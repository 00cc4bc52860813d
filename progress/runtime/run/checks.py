"""What a dataflow and a run are given, looked at before anything happens: what is of no use is refused."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from progress.errors import PointstampError, brief, one_of
from progress.order import Domain
from progress.runtime.durable.delivery import MODES
from progress.runtime.failure import DeadLetter, OnError, Retry, Stop, dead_letters
from progress.topology import Network

OBSERVES = ("started", "performed", "failed", "refused", "brought", "ended")  # the methods of an observer
LATE = "late"  # the side output of sources that name no other
LATE_BESIDE_AN_EDGE = "late data"  # where an output edge has that name


def late_name(name: str, network: Network) -> str:
    """The side output of late data: the usual name gives way to an edge."""
    return LATE_BESIDE_AN_EDGE if name == LATE and LATE in network.outputs else name


def late_edges(items: Mapping[str, Any], domains: Mapping[str, Domain]) -> dict[str, list[str]]:
    """The input edges on which late data come in, each with the inputs whose they are: those that `late` names.

    Refused (PS719) is one that has a source of its own, or other times.
    """
    found: dict[str, list[str]] = {}
    for edge, source in items.items():
        name = getattr(source, "late", LATE)
        if name not in domains:
            continue
        what = f"what is late at {brief(edge)} would come in on {brief(name)}"
        if name in items:
            raise PointstampError("PS719", f"{what}, which has a source of its own", "an input edge without one")
        if domains[name] != domains[edge]:
            raise PointstampError(
                "PS719", f"{what}, which has times of {domains[name]!r}", f"times of {domains[edge]!r}"
            )
        found.setdefault(name, []).append(edge)
    return found


def check_numbers(engine: str, seed: Any, workers: Any, limit: Any) -> None:
    """Refuse (PS715) a run in which nobody would work, or nothing could wait, and a seed for what chooses nothing."""
    if seed is not None and engine != "sim":
        raise _bad_run(f"seed={brief(seed)} is of no use to the engine {engine}", 'engine="sim"')
    if seed is not None and type(seed) is not int:
        raise _bad_run(f"seed={brief(seed)} is not a whole number", "any whole number, or none")
    if type(workers) is not int or workers < 1:
        raise _bad_run(f"workers={brief(workers)}: nobody would work", "1 or more")
    if type(limit) is not int or limit < 1:
        raise _bad_run(f"limit={brief(limit)}: nothing could wait at a node, so nothing could come there", "1 or more")


def check_control(timeout: Any, cancel: Any) -> None:
    """Refuse (PS715) what cannot stop a run."""
    if timeout is not None and (type(timeout) not in (int, float) or not timeout >= 0):  # which nan is not either
        raise _bad_run(f"timeout={brief(timeout)} is not a time to wait", "a number of seconds, 0 or more")
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise _bad_run(f"cancel={brief(cancel)} cannot be asked whether it is set", "a threading.Event()")


def check_keeping(state: Any, every: Any, delivery: Any, synced: Any, with_pickle: Any) -> None:
    """Refuse (PS715) what says how a run is kept where that is not so, or not a way to keep one."""
    if state is None and (every, delivery, synced, with_pickle) != (1.0, None, False, False):
        raise _bad_run(
            "every=, delivery=, synced= and with_pickle= say how a run is kept, and it is not", 'state="folder"'
        )
    if state is not None and not isinstance(state, (str, os.PathLike)):
        raise _bad_run(f"state={brief(state)} names no folder", 'a path, as in state="folder"')
    if type(every) not in (int, float) or not 0 <= every < float("inf"):
        raise _bad_run(f"every={brief(every)} is not a time to wait", "a number of seconds, 0 or more")
    if delivery is not None and delivery not in MODES:
        right = one_of(str(delivery), MODES)
        if str(delivery).replace("_", "-") == "exactly-once":  # which at-least-once is near to as a word alone
            right = "'deterministic' and 'barrier' are exactly once, each in its way; 'at-least-once' is not"
        raise _bad_run(f"there is no delivery {brief(delivery)}", right)


def check_told(observer: Any, record: Any, pause: Any) -> None:
    """Refuse (PS715) what cannot be told how a run goes."""
    for name, given, right in (
        ("record", record, "a function of a step; or a list's append"),
        ("pause", pause, "a function of seconds, such as time.sleep"),
    ):
        if given is not None and not callable(given):
            raise _bad_run(f"{name}={brief(given)} cannot be called", right)
    lacks = [name for name in OBSERVES if observer is not None and not callable(getattr(observer, name, None))]
    if lacks:
        what = f"observer={brief(observer)} has no method {lacks[0]}"
        raise _bad_run(what, "an Observer (progress.runtime.observer), which has all that it may be told")


def by_edge(what: str, given: Any) -> dict[str, Any]:
    """Sources or sinks, by edge; refused (PS715) where they are not."""
    if given is not None and not isinstance(given, Mapping):
        raise _bad_run(f"the {what} are {brief(given)}", f"{what} by edge: " + '{"name": ...}')
    return dict(given or {})


def check_inputs(names: Iterable[str], network: Network) -> None:
    """Refuse (PS709) what are no input edges."""
    for name in names:
        if name not in network.inputs:
            right = one_of(name, network.inputs, "the graph has none")
            raise PointstampError("PS709", f"the graph has no input edge {brief(name)}", right)


def times_ahead(ahead: Any, network: Network) -> dict[str, int]:
    """How many times of each input may be in flight, by input edge; refused (PS709, PS715) is what bounds nothing."""
    if not isinstance(ahead, Mapping):
        ahead = {} if ahead is None else dict.fromkeys(network.inputs, ahead)
    for edge, most in ahead.items():
        check_inputs((edge,), network)
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise _bad_run(f"ahead={brief(most)} at {brief(edge)}: no time of it could come in", "1 or more")
    return dict(ahead)


def _bad_run(what: str, right: str) -> PointstampError:
    return PointstampError("PS715", what, right)


def policies(on_error: Any, network: Network) -> dict[str, OnError]:
    """What is done when a node raises, or no message can be made of what comes in: by node, input edge or `"*"`.

    Refused (PS718, PS719) is what cannot be done.
    """
    found = dict(on_error) if isinstance(on_error, Mapping) else {} if on_error is None else {"*": on_error}
    nodes = [*network.nodes, *network.inputs]
    for name, policy in found.items():
        if name != "*" and name not in nodes:
            what = f"on_error names {brief(name)}, which is not a node of the graph"
            raise PointstampError("PS718", what, f"a node or an input edge, or '*' for all: {one_of(name, nodes)}")
        last: Any = policy.then if isinstance(policy, Retry) else policy
        if not isinstance(last, Stop | DeadLetter):
            what = f"on_error is {brief(policy)} for {brief(name)}"
            raise PointstampError("PS718", what, "Stop(), Retry() or DeadLetter(); after Retry one of the others")
        times: Any = policy.times if isinstance(policy, Retry) else 0
        if not isinstance(times, int) or times < 0:
            raise PointstampError("PS718", f"{brief(policy)} for {brief(name)}", "times: a whole number from 0 on")
        if isinstance(last, DeadLetter):
            side_output: Any = last.name
            if not isinstance(side_output, str) or not side_output:
                raise PointstampError("PS718", f"{brief(last)} names no side output", "a name: text")
            _check_apart(side_output, f"what fails at {brief(name)}", network)
    return found


def check_outputs(
    network: Network,
    on_error: Mapping[str, OnError],
    late: Mapping[str, str],
    sinks: Iterable[str],
    besides: Iterable[Any],
) -> None:
    """Refuse side outputs that are edges (PS719), and sinks of what nothing leaves by (PS716).

    late : by input edge, the side output of what is late there
    besides : sources that do not take part, whose side outputs may have sinks all the same
    """
    for edge, side_output in late.items():
        _check_apart(side_output, f"what is late at {brief(edge)}", network)
    known: list[str | None] = [
        *network.outputs,
        late_name(LATE, network),
        *late.values(),
        *filter(None, map(dead_letters, on_error.values())),
    ]
    for source in besides:
        name: str | None = getattr(source, "late", None)
        if name is None and callable(source):  # it may name any
            return
        known.append(name)
    for sink in sinks:
        if sink not in known:
            raise PointstampError("PS716", f"nothing leaves by {brief(sink)}", one_of(sink, dict.fromkeys(known)))


def _check_apart(name: str, what: str, network: Network) -> None:
    if name in network.outputs:
        right = "another name for the edge or the side output"
        raise PointstampError("PS719", f"{what} would leave by {brief(name)}, which is an output edge", right)
