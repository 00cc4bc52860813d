"""The guarantee: after a notification nothing comes that it ruled out, and what may be delivered is delivered."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import pytest

from graphs import Graph
from progress.local_history import Event, Message, Received
from progress.semantics import (
    Composition,
    Failed,
    Inputs,
    LocalClocks,
    Not,
    Says,
    Specification,
    State,
    System,
    Variant,
    all_of_section_5,
    always_since,
    explore,
    guarantee,
    join,
    leads_each,
    nothing_is_late,
    what_may_be_is_delivered,
)
from progress.semantics.actions import notify
from progress.semantics.clocks import Frontiers
from progress.semantics.properties import LeadsEach, Since
from tests.questions.local_histories import FunctionNode
from tests.semantics.labelled import Labelled
from tests.semantics.random_systems import random_system
from tests.semantics.small_systems import chain, loop, messages, nested, relay
from tests.semantics.small_systems import join as meeting

QUIET = Variant(inputs=Inputs.FORBIDDEN)


class Regardless(Specification):
    """Breaks `Not` on purpose: every pending notification is delivered, whatever Clock says."""

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        yield from (each for each in super().successors(state) if not isinstance(each[0], Not))
        yield from notify(self.system, state, Frontiers(self.system.network(), {}))


class Holding(Specification):
    """Breaks `Not` on purpose: only so many notifications may be delivered, or none while something is queued."""

    def successors(self, state: State) -> Iterator[tuple[Any, State]]:
        for action, after in super().successors(state):
            if not isinstance(action, Not) or not any(state.queues):
                yield action, after


SOUND = {
    "chain": chain({"in": messages(0, 0, 1)}),
    "out of order": chain({"in": messages(1, 0, 2)}),
    "counting": meeting({"left": messages(0, 1), "right": messages(0, 1)}),
    "loop": loop({"input": messages(0, 1)}),
    "nested": nested({"in": messages((0, 0))}),
}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("variant", [QUIET, QUIET._replace(reordering=True)])
def test_the_guarantee_holds_of_sound_systems(name: str, variant: Variant) -> None:
    """By the claims alone: no other test is needed to see that `Not` heeds Clock."""
    specification = Specification(SOUND[name], variant)
    found = explore(specification, guarantee(specification)).check()
    assert [verdict.says for verdict in found.verdicts] == [Says.HOLDS] * 4


# --- nothing is late -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [chain({"in": messages(0, 0, 1)}), loop({"input": messages(0, 1)})])
def test_what_is_delivered_whatever_clock_says_is_late_and_nothing_else_notices(system: System) -> None:
    """The eight verdicts of section 5 are of Clock, and hold; the first claim alone says what is wrong."""
    specification = Regardless(system, QUIET)
    found = explore(specification, all_of_section_5(specification))
    eight, (late, somebody, delivered, some) = found.verdicts[:8], found.verdicts[8:]
    assert [verdict.says for verdict in eight] == [Says.HOLDS] * 8
    assert late.says is Says.FAILS
    assert [somebody.says, delivered.says, some.says] == [Says.HOLDS] * 3
    assert late.path is not None
    state = late.path.state
    network = system.network()
    notified = [action for action, _ in late.path.steps if isinstance(action, Not)]
    assert any(
        message.time <= each.time
        for each in notified
        for edge in network.incoming[network.number(each.node)]
        for message in state.queues[edge]
    )
    with pytest.raises(Failed, match=r"nothing is late.*fails after"):
        explore(specification, nothing_is_late(specification)).check()


def test_the_shortest_way_to_something_late() -> None:
    system = chain({"in": messages(0, 0)})
    specification = Regardless(system, QUIET)
    path = explore(specification, nothing_is_late(specification)).verdicts[0].path
    assert path is not None
    assert [str(action) for action, _ in path.steps] == [
        "Mess: a takes 0 from in, sends 0 on mid",
        "Mess: b takes 0 from mid, asks for 0",
        "Not: b is notified of 0, sends 0 on out",
        "Mess: a takes 0 from in, sends 0 on mid",
    ]


def by_all_histories(specification: Specification, quiet: bool) -> bool:
    """Whether something is late, with all notifications of the past beside each state: no code is shared."""
    network, names = specification.system.network(), specification.system.names
    inputs = specification.system.inputs
    start = [(state, frozenset[Any]()) for state in specification.initial()]
    seen, waiting = set(start), deque(start)
    while waiting:
        state, over = waiting.popleft()
        for edge, target in enumerate(network.targets):
            for message in state.queues[edge]:
                if any(names.node[node] == target and message.time <= time for node, time in over):
                    return True
        for action, after in specification.successors(state):
            if quiet and any(len(after.queues[edge]) > len(state.queues[edge]) for edge in inputs):
                continue
            more = over | {(action.node, action.time)} if isinstance(action, Not) else over
            if (after, more) not in seen:
                seen.add((after, more))
                waiting.append((after, more))
    return False


class Forgetting:
    """A Clock that leaves out some of what is outstanding."""

    def __init__(self, specification: Specification, seed: int) -> None:
        self.clocks, self.seed = specification.clocks, seed

    def __call__(self, outstanding: Any) -> Any:
        rng = random.Random(self.seed)
        return self.clocks(frozenset(each for each in sorted(outstanding, key=repr) if rng.random() < 0.8))


def test_nothing_is_late_against_all_histories_of_notifications() -> None:
    """Sound systems, ones that ask too early, and Clocks that forget; every variant of inputs."""
    seen: Counter[Any] = Counter()
    for seed in range(240):
        system = random_system(seed // 3 if seed % 3 == 1 else seed, early=seed % 3 == 1)
        variant = Variant(reordering=seed % 2 == 0, inputs=list(Inputs)[seed // 3 % 4])
        variant = QUIET if seed % 3 == 1 else variant
        specification = Specification(system, variant)
        if seed % 3 == 2:
            specification = Specification(system, variant, Forgetting(specification, seed))
        found = explore(specification, nothing_is_late(specification)[:1], most_states=120)
        if found.finished:
            (verdict,) = found.verdicts
            is_late = by_all_histories(specification, variant.inputs is Inputs.FREE)
            assert (verdict.says is Says.FAILS) == is_late, seed
            seen[seed % 3, verdict.says] += 1
    assert seen[0, Says.HOLDS] > 15
    assert seen[0, Says.FAILS] == 0
    assert seen[1, Says.FAILS] > 0
    assert seen[2, Says.FAILS] > 5


def test_free_inputs_may_be_late_and_are_left_out() -> None:
    """`Inp` need not be harmonious with Clock (4.2): the claim is of steps in which no input grows."""
    system = chain({}, {"in": messages(0, 0)})
    specification = Specification(system)
    claim = nothing_is_late(specification)[0]
    assert isinstance(claim, Since)
    assert explore(specification, [claim]).verdicts[0].says is Says.HOLDS
    assert explore(specification, [claim._replace(along=None)]).verdicts[0].says is Says.FAILS
    announced = Specification(system, Variant(inputs=Inputs.ANNOUNCED))
    explore(announced, guarantee(announced)).check()


def test_two_graphs_that_do_not_tell_each_other_are_late() -> None:
    def told(state: Any, event: Event) -> Any:
        return (state, [event.time], {}) if isinstance(event, Received) else (state, [], {"x": [Message(event.time)]})

    graph = Graph().node("a").node("b").edge(None, "a", "in").edge("a", None, "x").edge(None, "b", "y")
    nodes = {"a": FunctionNode(told), "b": FunctionNode(lambda state, event: (state, [], {}), [(None, [0])])}
    first = System(graph, nodes, {"in": messages(0)})
    second = System(Graph().node("c").edge(None, "c", "x").edge("c", None, "y"), {"c": relay("y")})
    whole = Composition(first, second, QUIET, together=True)
    explore(whole, guarantee(whole)).check()
    blind = LocalClocks(first, second, exchange=False)
    for specification in (
        Specification(join(first, second), QUIET, blind),
        Composition(first, second, QUIET, blind, together=True),
    ):
        assert explore(specification, nothing_is_late(specification)[:1]).verdicts[0].says is Says.FAILS


# --- what may be delivered is ----------------------------------------------------------------------------------------


def test_a_request_that_nobody_delivers_is_found() -> None:
    system = chain({"in": messages(0)})

    class Never(Specification):
        def successors(self, state: State) -> Iterator[tuple[Any, State]]:
            return (each for each in super().successors(state) if not isinstance(each[0], Not))

    specification = Never(system, QUIET)
    found = explore(specification, guarantee(specification))
    assert [verdict.says for verdict in found.verdicts] == [Says.HOLDS, Says.FAILS, Says.FAILS, Says.HOLDS]
    path = found.verdicts[2].path
    assert path is not None
    assert str(path.state) == "b waits for 0"


def going_round() -> System:
    """A message at 1 goes from p to q and back for ever, and p is in another state each time; p waits for 0."""

    def p(state: bool, event: Event) -> Any:
        if isinstance(event, Received):
            return not state, [], {"forth": [Message(1)]}
        return state, [], {"told": [Message(0, state)]}

    def q(state: Any, event: Event) -> Any:
        return state, [], {"back": [Message(1)]} if isinstance(event, Received) else {}

    graph = Graph().node("p", emits={"forth": {"at_least": 1}}).node("q", notify=False)
    graph.edge(None, "p", "in").edge("p", "q", "forth").edge("q", "p", "back").edge("p", None, "told")
    return System(graph, {"p": FunctionNode(p, [(False, [0])]), "q": FunctionNode(q)}, {"in": messages(1)})


def test_a_request_need_not_wait_for_what_never_ends() -> None:
    """The message that goes round at 1 keeps nobody from 0, though p does something else at each notification."""
    system = going_round()
    good, bad = Specification(system, QUIET), Holding(system, QUIET)
    assert explore(good, guarantee(good)).check().finished
    found = explore(bad, what_may_be_is_delivered(bad))
    assert [verdict.says for verdict in found.verdicts] == [Says.FAILS, Says.HOLDS]
    path = found.verdicts[0].path
    assert path is not None
    assert path.state in [path.start, *(state for _, state in path.steps[:-1])]  # once around
    claim = what_may_be_is_delivered(good)[0]
    assert isinstance(claim, LeadsEach)
    literal = claim._replace(kind=None)
    assert explore(good, [literal]).verdicts[0].says is Says.FAILS


def test_that_another_is_notified_for_ever_is_no_delivery() -> None:
    """p asks for 0 again at each notification; q, which may have its own, never gets it, nor does p its other one."""

    class Favouring(Specification):
        def successors(self, state: State) -> Iterator[tuple[Any, State]]:
            return (each for each in super().successors(state) if getattr(each[0], "time", None) == 0)

    def again(state: Any, event: Event) -> Any:
        return state, [0] if event.time == 0 else [], {}

    for asked, others in (([0], [1]), ([0, 1], [])):
        graph = Graph().node("p").node("q").edge("p", None, "out").edge("q", None, "other")
        nodes = {"p": FunctionNode(again, [(None, asked)]), "q": FunctionNode(again, [(None, others)])}
        system = System(graph, nodes)
        sound, broken = Specification(system, QUIET), Favouring(system, QUIET)
        explore(sound, what_may_be_is_delivered(sound)).check()
        assert explore(broken, what_may_be_is_delivered(broken)).verdicts[0].says is Says.FAILS


def test_a_request_that_is_made_again_is_delivered_again() -> None:
    """What is delivered counts, not that nothing is pending: this node asks for the same time for ever."""

    def again(state: Any, event: Event) -> Any:
        return state, [0], {}

    graph = Graph().node("p").edge("p", None, "out")
    specification = Specification(System(graph, {"p": FunctionNode(again, [(None, [0])])}), QUIET)
    found = explore(specification, guarantee(specification)).check()
    assert (len(found.states), found.number_of_steps) == (1, 1)


@pytest.mark.parametrize(("asked", "says"), [(5, Says.HOLDS), (1, Says.FAILS)])
def test_a_request_that_might_have_been_delivered_is_held_up_for_ever(asked: int, says: Says) -> None:
    """b may have 2. Then a, told of 5, asks for 1: Condition 1 fails, and on its cycle it waits for itself."""
    graph = Graph().node("a").node("b").node("q", notify=False)
    graph.edge(None, "a", "in").edge("a", "q", "forth").edge("q", "a", "back").edge("a", "b", "on")
    idle = FunctionNode(lambda state, event: (state, [], {}))
    asks = FunctionNode(lambda state, event: (state, [asked] if isinstance(event, Received) else [], {}))
    nodes = {"a": asks, "b": FunctionNode(lambda state, event: (state, [], {}), [(None, [2])]), "q": idle}
    specification = Specification(System(graph, nodes, {"in": messages(5)}), QUIET)
    (verdict, _) = explore(specification, what_may_be_is_delivered(specification)).verdicts
    assert verdict.says is says
    assert verdict.path is None or [str(action) for action, _ in verdict.path.steps] == [
        "Mess: a takes 5 from in, asks for 1"
    ]


def test_a_budget_that_does_not_suffice_is_said() -> None:
    specification = Specification(loop({"input": messages(0, 1)}), QUIET)
    found = explore(specification, guarantee(specification), most_states=20)
    says = {verdict.property.name.partition(":")[0]: verdict.says for verdict in found.verdicts}
    assert says["nothing is late"] is says["what may be delivered is"] is Says.NOT_DECIDED


# --- the properties that the claims are made of ----------------------------------------------------------------------

Table = dict[int, list[tuple[str, int]]]


def random_table(chance: random.Random, count: int) -> Table:
    labels = ["a1", "a2", "b1", "b2", "goal1", "goal2"]
    return {
        number: [(chance.choice(labels), chance.randrange(count)) for _ in range(chance.randint(0, 3))]
        for number in range(count)
    }


def reached_from(table: Table, start: int, without: str = "-") -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for label, after in table.get(waiting.pop(), []):
            if not label.startswith(without) and after not in found:
                found.add(after)
                waiting.append(after)
    return found


def may_be_put_off(table: Table) -> bool:
    """Whether, from some state on, a fair behaviour never has a step to the goal: all sets of states that may recur."""
    numbers = sorted(reached_from(table, 0))
    for bits in range(1, 1 << len(numbers)):
        kept = {number for place, number in enumerate(numbers) if bits >> place & 1}
        inner: Table = {
            a: [(label, b) for label, b in table.get(a, []) if b in kept and not label.startswith("goal")] for a in kept
        }
        if any(reached_from(inner, a) != kept for a in kept):
            continue
        possible = set.intersection(*({label[:-1] for label, _ in table.get(a, [])} for a in kept))
        if possible <= {label[:-1] for steps in inner.values() for label, _ in steps}:
            return True
    return False


def test_what_has_to_come_by_an_action_against_all_sets_that_may_recur() -> None:
    """`leads_each` with kinds of actions, where the number of a label does not count."""
    chance, seen = random.Random(29), Counter[Says]()
    for _ in range(300):
        table = random_table(chance, chance.randint(1, 5))
        wanted = leads_each(
            "it comes", lambda state: ["goal"], lambda thing, label: label.startswith(thing), lambda label: label[:-1]
        )
        (verdict,) = explore(Labelled(table, [0]), [wanted]).verdicts
        assert verdict.says is (Says.FAILS if may_be_put_off(table) else Says.HOLDS), table
        seen[verdict.says] += 1
        if verdict.path is not None:
            assert all(
                (action, state) in [step for steps in table.values() for step in steps]
                for action, state in verdict.path.steps
            )
    assert min(seen.values()) > 30


def test_what_happens_against_all_that_is_reached_from_there() -> None:
    """`always_since` on machines of numbers: each step's label with each number that comes at or after its end."""
    chance, seen = random.Random(31), Counter[Says]()
    for _ in range(300):
        table = random_table(chance, chance.randint(2, 6))
        bad = {(label, chance.randrange(6)) for label in ("a1", "b2", "goal1")}
        avoids = chance.choice(["-", "goal"])
        wanted = always_since(
            "apart",
            lambda before, action, after: [action],
            lambda state: [state],
            lambda label, number: (label, number) not in bad,  # noqa: B023 - used before it changes
            lambda before, action, after: not action.startswith(avoids),  # noqa: B023
        )
        (verdict,) = explore(Labelled(table, [0]), [wanted]).verdicts
        lengths = shortest(table, bad, avoids)
        seen[verdict.says] += 1
        assert verdict.says is (Says.FAILS if lengths else Says.HOLDS)
        assert (verdict.path is None) == (not lengths)
        if verdict.path is not None:
            assert len(verdict.path.steps) == min(lengths)
            labels = [label for label, _ in verdict.path.steps]
            assert any((label, verdict.path.state) in bad for label in labels)
    assert min(seen.values()) > 30


def shortest(table: Table, bad: set[tuple[str, int]], avoids: str) -> list[int]:
    """How many steps it takes to each pair that fails, by all walks up to a length."""
    level: set[tuple[int, frozenset[str]]] = {(0, frozenset())}
    lengths = []
    for length in range(2 * len(table) + 1):
        lengths += [length for state, labels in level if any((label, state) in bad for label in labels)]
        level = {
            (after, labels | {label})
            for state, labels in level
            for label, after in table.get(state, [])
            if not label.startswith(avoids)
        }
    return lengths
