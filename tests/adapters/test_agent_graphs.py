"""What is found of agent graphs, against an oracle that runs them: supersteps, every decision, no times and no rounds.

The oracle shares nothing with what it judges but the description of the graph. Graphs are without loops, so that all
runs of a graph can be tried, and each is small enough to be tried in every way.
"""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from graphs import Graph
from graphs.adapters import Finding, Found, first_ways, joins
from graphs.adapters.agent_findings import Words, judge, together
from graphs.adapters.agents import AgentGraph, Exit, Part
from graphs.adapters.sending import may_be_silent
from progress.closure import close
from progress.conditions import check_conditions

WORDS = Words("", "", "", "", "")
END = "end"


class Ran(NamedTuple):
    """A run: how often each part fired, and the joins that have something when it is over and never fired."""

    fired: dict[str, int]
    waiting: set[str]


def random_graph(random: Random) -> AgentGraph:
    """A graph without loops: each node goes on to all of some nodes, and to one of two where it decides."""
    names = [f"n{number}" for number in range(random.randint(3, 7))]
    agents = AgentGraph("random", names[0], END, limit="nothing ends it", pace="steps")
    exits: dict[str, list[Exit]] = {name: [] for name in names}
    for number, name in enumerate(names[:-1]):
        later = names[number + 1 :]
        plain = tuple(random.sample(later, random.randint(0, min(2, len(later)))))
        if plain:
            exits[name].append(Exit(plain))
        if random.random() < 0.5 or not plain:
            pool = [*(each for each in later if each not in plain), END]
            ways = tuple(random.sample(pool, min(2, len(pool))))
            exits[name].append(Exit(ways, "one", "somebody"))
    joins: list[Part] = []
    for number in range(random.randint(0, 2)):
        target = random.randrange(2, len(names))
        sources = random.sample(names[:target], 2)
        joins.append(Part(f"j{number}", "all", [Exit((names[target],))], shown=names[target], steps=0))
        for source in sources:
            exits[source].append(Exit((f"j{number}",)))
    for name in names:
        agents.add(Part(name, "step", exits[name]))
    for join in joins:
        agents.add(join)
    return agents


def every_run(agents: AgentGraph) -> Iterator[Ran]:
    """Run the graph with every combination of decisions; a part fires at most once a step."""
    deciding = [name for name, part in agents.parts.items() if any(exit.takes == "one" for exit in part.exits)]
    ways = [next(exit.targets for exit in agents.parts[name].exits if exit.takes == "one") for name in deciding]
    for decided in product(*ways):
        yield run(agents, dict(zip(deciding, decided, strict=True)))


def run(agents: AgentGraph, decided: dict[str, str]) -> Ran:
    sources = {
        name: {other for other, each in agents.parts.items() for exit in each.exits if name in exit.targets}
        for name, part in agents.parts.items()
        if part.waits == "all"
    }
    got: dict[str, set[str]] = {name: set() for name in sources}
    fired = dict.fromkeys(agents.parts, 0)
    step = {agents.start}
    while step:
        following: set[str] = set()
        for name in sorted(step):
            fired[name] += 1
            for exit in agents.parts[name].exits:
                for target in exit.targets if exit.takes == "all" else (decided[name],):
                    if target in got:
                        got[target].add(name)
                        if got[target] == sources[target]:
                            got[target] = set()
                            fired[target] += 1
                            following.update(agents.parts[target].exits[0].targets)
                    elif target != END:
                        following.add(target)
        step = following
    return Ran(fired, {name for name, have in got.items() if have and not fired[name]})


def findings(agents: AgentGraph) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in judge(agents, WORDS)[1]:
        found.setdefault(finding.code, []).append(finding)
    return found


def led_to(agents: AgentGraph, begin: set[str]) -> set[str]:
    reached, waiting = set(begin), list(begin)
    while waiting:
        name = waiting.pop()
        for target in {target for exit in agents.parts[name].exits for target in exit.targets} - reached - {END}:
            reached.add(target)
            waiting.append(target)
    return reached - begin


@pytest.mark.parametrize("seed", range(6))
def test_what_is_found_happens_and_what_happens_is_found(seed: int) -> None:
    random = Random(seed)
    seen = {"PS911": 0, "PS912": 0, "neither": 0, "certain": 0}
    for _ in range(120):
        agents = random_graph(random)
        runs = list(every_run(agents))
        found = findings(agents)
        assert set(found) <= {"PS911", "PS912"}  # no loops, nothing that is kept
        twice = {name for ran in runs for name, times in ran.fired.items() if times > 1 and name[0] == "n"}
        told = {str(finding.witness["join"]) for finding in found.get("PS911", [])}
        assert told - twice <= led_to(agents, told & twice), "an alarm that is false, and not what a true one leads to"
        assert bool(told) == bool(twice), "a part fires twice, and nothing is found"
        for finding in found.get("PS911", []):
            if finding.severity == "error":
                seen["certain"] += 1
                fork = finding.witness["walks"][0][0][0]
                name = finding.witness["join"]
                assert all(ran.fired[name] > 1 for ran in runs if ran.fired[fork])
        half = {agents.shown(name) for ran in runs for name in ran.waiting}
        told = {str(finding.witness["join"]) for finding in found.get("PS912", [])}
        assert told <= half, "an alarm that is false"
        assert bool(told) == bool(half), "a join waits for ever, and nothing is found"
        for finding in found.get("PS912", []):
            if finding.severity == "error":
                name = finding.witness["join"]
                joins = [join for join, part in agents.parts.items() if part.waits == "all" and part.shown == name]
                assert any(all(not ran.fired[join] for ran in runs) for join in joins)
        seen["PS911"] += bool(twice)
        seen["PS912"] += bool(half)
        seen["neither"] += not twice and not half
    assert min(seen.values()) >= 5, seen


# --- loops ------------------------------------------------------------------------------------------------------------


def random_loops(random: Random) -> AgentGraph:
    """Nodes that go on to any nodes, themselves too: to all of some, or to one of two."""
    names = [f"n{number}" for number in range(random.randint(2, 6))]
    agents = AgentGraph("random", names[0], END, limit="nothing ends it", pace="steps")
    for name in names:
        exits = []
        if random.random() < 0.6:
            exits.append(Exit(tuple(random.sample(names, random.randint(1, min(2, len(names)))))))
        if random.random() < 0.6:
            exits.append(Exit(tuple(random.sample([*names, END], 2)), "one", "somebody"))
        agents.add(Part(name, "step", exits))
    return agents


def lasting(agents: AgentGraph, decided: dict[str, str], steps: int) -> tuple[set[str], bool]:
    """The parts that fired in so many steps, and whether the run still goes on."""
    fired: set[str] = set()
    step = {agents.start}
    for _ in range(steps):
        fired |= step
        step = {
            target
            for name in step
            for exit in agents.parts[name].exits
            for target in (exit.targets if exit.takes == "all" else (decided[name],))
            if target != END
        }
    return fired, bool(step)


@pytest.mark.parametrize("seed", range(4))
def test_loops_without_a_way_out_are_those_that_never_end(seed: int) -> None:
    random = Random(seed)
    seen = {"found": 0, "all of them": 0, "none": 0}
    for _ in range(150):
        agents = random_loops(random)
        rounds, found = judge(agents, WORDS)
        verdict = check_conditions(rounds.graph())
        assert verdict.condition_2.holds is verdict.advancing.holds is True
        deciding = [name for name, part in agents.parts.items() if any(exit.takes == "one" for exit in part.exits)]
        ways = [next(exit.targets for exit in agents.parts[name].exits if exit.takes == "one") for name in deciding]
        runs = [lasting(agents, dict(zip(deciding, each, strict=True)), 20) for each in product(*ways)]
        loops = [set(finding.witness["loop"]) for finding in found if finding.code == "PS914"]
        for loop in loops:
            assert all(goes_on for fired, goes_on in runs if fired & loop)
        never_ends = all(goes_on for _, goes_on in runs)
        assert not never_ends or loops, "no run ends, and nothing is found"
        seen["found"] += bool(loops)
        seen["all of them"] += never_ends
        seen["none"] += not loops
    assert min(seen.values()) >= 10, seen


# --- what cannot be read, and graphs in graphs ------------------------------------------------------------------------


@pytest.mark.parametrize("is_open", [False, True])
def test_a_source_that_no_way_leads_to_is_a_fault_only_where_all_ways_are_known(is_open: bool) -> None:
    agents = AgentGraph("lost", "a", END, limit="nothing ends it", pace="steps")
    agents.add(Part("a", "step", [Exit(("join",))]))
    agents.add(Part("b", "step", [Exit(("join",))]))
    agents.add(Part("join", "all"))
    agents.is_open = is_open
    assert [*findings(agents)] == ([] if is_open else ["PS912"])


@pytest.mark.parametrize("optional", [False, True])
def test_a_join_with_a_source_that_comes_anyway_may_be_left_out_where_joins_are_optional(optional: bool) -> None:
    agents = AgentGraph("left out", "plan", END, limit="nothing ends it", optional_joins=optional)
    agents.add(Part("plan", "each", [Exit(("join",)), Exit(("draw", END), "one", "it")]))
    agents.add(Part("draw", "each", [Exit(("join",))]))
    agents.add(Part("join", "all"))
    assert [*findings(agents)] == ([] if optional else ["PS912"])


@pytest.mark.parametrize("takes", [False, True])
def test_to_wait_for_a_loop_is_a_fault_only_where_nothing_is_taken_from_it(takes: bool) -> None:
    agents = AgentGraph("waits", "plan", END, limit="nothing ends it", pace="steps")
    agents.add(Part("plan", "step", [Exit(("write", "poll"))]))
    agents.add(Part("poll", "step", [Exit(("poll", END), "one", "it"), *[Exit(("sum",))] * takes]))
    agents.add(Part("write", "step", [Exit(("sum",))]))
    agents.add(Part("sum", "rest", [Exit((END,))]))
    assert [*findings(agents)] == ([] if takes else ["PS915"])


async def sends_unless_it_fails(context: Any) -> None:
    try:
        await context.send_message(1)
    except ValueError:
        print("not sent")


async def sends_however_it_ends(context: Any) -> None:
    try:
        await context.send_message(1)
    except ValueError:
        await context.send_message(2)


def test_what_sends_nothing_where_it_fails_may_be_silent() -> None:
    assert may_be_silent(sends_unless_it_fails, ["send_message"], 0)
    assert not may_be_silent(sends_however_it_ends, ["send_message"], 0)


def test_what_is_found_and_unknown_in_an_inner_graph_says_where() -> None:
    said = Found(Graph(), [Finding("PS912", "it waits")], ["who comes"])
    found = together([("", said), ("outer.inner", said)])
    assert [finding.message for finding in found.findings] == ["it waits", "in 'outer.inner': it waits"]
    assert found.unknown == ["who comes", "in 'outer.inner': who comes"]


# --- cost -------------------------------------------------------------------------------------------------------------


def chain_of_routers(length: int) -> AgentGraph:
    """Each router goes on or ends; two of them feed a join."""
    agents = AgentGraph("chain", "n0", END, limit="nothing ends it", pace="steps")
    for number in range(length):
        exits = [Exit((f"n{number + 1}", END), "one", "somebody")] if number < length - 1 else []
        if number in (length // 2, length - 2):
            exits.append(Exit(("join",)))
        agents.add(Part(f"n{number}", "step", exits))
    agents.add(Part("join", "all", [Exit((END,))], steps=0))
    return agents


def dense_layers(count: int) -> AgentGraph:
    agents = AgentGraph("layers", "begin", END, limit="nothing ends it", pace="steps")
    agents.add(Part("begin", "step", [Exit(tuple(f"0-{place}" for place in range(count)))]))
    for layer in range(count):
        following = tuple(f"{layer + 1}-{place}" for place in range(count)) if layer < count - 1 else (END,)
        for place in range(count):
            agents.add(Part(f"{layer}-{place}", "step", [Exit(following)]))
    return agents


def swarm(count: int) -> AgentGraph:
    """Everybody hands over to everybody: loops in loops, as deep as they come."""
    agents = AgentGraph("swarm", "n0", END, limit="nothing ends it", pace="steps")
    for number in range(count):
        others = tuple(f"n{other}" for other in range(count) if other != number)
        agents.add(Part(f"n{number}", "step", [Exit((*others, END), "unsure", "a Command")]))
    return agents


@pytest.mark.parametrize(
    ("agents", "codes", "most"),
    [(chain_of_routers(400), ["PS912"], 60), (dense_layers(8), [], 80), (swarm(40), [], 10)],
    ids=["chain", "layers", "swarm"],
)
def test_large_graphs_take_few_closures(
    agents: AgentGraph, codes: list[str], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    closures = 0

    def counted(*given: Any) -> Any:
        nonlocal closures
        closures += 1
        return close(*given)

    monkeypatch.setattr(joins, "close", counted)
    monkeypatch.setattr(first_ways, "close", counted)
    rounds, found = judge(agents, WORDS)
    assert [finding.code for finding in found] == codes
    assert closures <= most
    assert len(rounds.graph().nodes) < 10 * len(rounds.arcs)


def test_nodes_may_be_called_like_edges() -> None:
    agents = AgentGraph("names", "a", END, limit="nothing ends it", pace="steps")
    agents.add(Part("a", "step", [Exit(("b", "a->b", "a"))]))
    agents.add(Part("b", "step", [Exit(("(begin)",))]))
    agents.add(Part("a->b", "step", [Exit(("(begin)",))]))
    agents.add(Part("(begin)", "step"))
    rounds, _ = judge(agents, WORDS)
    assert check_conditions(rounds.graph()).condition_2.holds
    assert sorted(rounds.graph().nodes)[:4] == ["(begin)", "a", "a->a (1)", "a->b"]
