"""The laws: kept by every domain and summary of this project, and each caught where it is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from graphs.files.notation import read_domain, read_summary
from graphs.graph import bind
from progress import Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit
from progress.laws import LAWS, Broken, check_comparison, check_composition, check_domain, check_summary
from progress.order import Domain
from progress.summary import Composite, NoMinimalTimes, NormalSummary, OpaqueSummary, Summary

NAT = Nat()
PAIR = Product([NAT, NAT])

DIAMOND = {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]}}
CROSS = {"finite": {"elements": ["a", "b", "c", "d"], "below": [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]}}
CHAIN = {"finite": {"elements": ["z", "y", "x"], "below": [["x", "y"], ["y", "z"]]}}
ISLANDS = {"finite": {"elements": ["a", "b"]}}

DOMAINS: list[Any] = [
    "nat",
    {"nat": {"max": 0}},
    {"nat": {"max": 3}},
    "int",
    "unit",
    DIAMOND,
    CROSS,
    CHAIN,
    ISLANDS,
    {"product": ["nat"]},
    {"product": ["nat", "nat"]},
    {"product": ["int", {"nat": {"max": 2}}, "unit"]},
    {"product": ["nat", "nat", "nat", "nat"]},
    {"product": [DIAMOND, CROSS]},
    {"product": [{"product": ["nat", "nat"]}, CHAIN]},
    {"product": [{"lex": ["nat", "nat"]}, "nat"]},
    {"product": [{"nat": {"max": 0}}, "unit", CHAIN]},
    {"lex": ["nat"]},
    {"lex": ["nat", "nat"]},
    {"lex": ["int", "int", {"nat": {"max": 1}}]},
    {"lex": [CHAIN, "nat"]},
    {"lex": [{"lex": ["nat", "nat"]}, "nat"]},
    {"lex": [{"product": ["nat", "unit"]}, "nat"]},
    {"lex": [{"sum": {"only": "nat"}}, "nat"]},
    {"sum": {"left": "nat", "right": "int"}},
    {"sum": {"only": CHAIN}},
    {"sum": {"left": {"product": ["nat", "nat"]}, "right": {"sum": {"x": CROSS, "y": "unit"}}}},
    {"product": [{"sum": {"left": "nat", "right": DIAMOND}}, "nat"]},
]


@pytest.mark.parametrize("notation", DOMAINS, ids=str)
def test_built_in_domains_keep_the_laws(notation: Any) -> None:
    domain = read_domain(notation)
    assert check_domain(domain) is None


@pytest.mark.parametrize("parts", [[], [Unit()], [Unit(), Unit()]])
@pytest.mark.parametrize("kind", [Product, Lex])
def test_domains_of_one_time_keep_the_laws(kind: type[Product | Lex], parts: list[Domain]) -> None:
    assert check_domain(kind(parts)) is None


SUMMARIES: list[tuple[Any, Any, Any]] = [
    *((notation, domain, domain) for domain in DOMAINS for notation in ("identity", "never")),
    *(
        (notation, domain, domain)
        for domain in ("nat", "int", {"nat": {"max": 3}})
        for notation in (
            {"advance": 2},
            {"advance": -2},
            {"round_up": 3},
            {"at_least": 2},
            {"constant": 1},
            "feedback",
            {"then": [{"round_up": 2}, {"advance": 1}, {"round_up": 3}]},
            {"any": [{"round_up": 4}, {"advance": 2}]},
            {"map": [[1, 3], [0, 2], [1, 0]]},
        )
    ),
    *(
        (notation, {kind: ["nat", part]}, {kind: ["nat", part]})
        for kind in ("product", "lex")
        for part in ("nat", {"nat": {"max": 2}})
        for notation in (
            {"advance": [1, -1]},
            {"advance": [-1, 2]},
            {"at_least": [1, 2]},
            "feedback",
            {"any": [{"advance": [1, -1]}, {"advance": [0, 1]}]},
            {"map": [[[1, 1], [0, 2]], [[1, 1], [2, 0]], [[0, 2], [1, 1]]]},
        )
    ),
    ({"advance": [-1, 0]}, {"lex": ["nat", "int"]}, {"lex": ["nat", "int"]}),
    ({"at_least": "b"}, DIAMOND, DIAMOND),
    ({"at_least": "b"}, CROSS, CROSS),
    ({"at_least": {"left": 2}}, {"sum": {"left": "nat", "right": "int"}}, {"sum": {"left": "nat", "right": "int"}}),
    ({"map": [["b", "c"], ["c", "b"], ["d", "a"]]}, DIAMOND, DIAMOND),
    ({"map": [["d", 0], ["a", 3]]}, DIAMOND, "nat"),
    ("enter", "nat", {"product": ["nat", "nat"]}),
    ({"enter": 2}, {"lex": ["nat", "nat"]}, {"lex": ["nat", "nat", "nat"]}),
    ("leave", {"product": ["nat", "nat"]}, "nat"),
    ("leave", {"lex": ["nat", "nat", "nat"]}, {"lex": ["nat", "nat"]}),
    ({"tag": "left"}, "nat", {"sum": {"left": "nat", "right": "int"}}),
    ({"untag": "left"}, {"sum": {"left": "nat", "right": "int"}}, "nat"),
]


def bound(notation: Any, source: Any, target: Any) -> NormalSummary:
    """A declared summary between two domains."""
    summary = bind(read_summary(notation), read_domain(source), read_domain(target))
    assert isinstance(summary, NormalSummary)
    return summary


@pytest.mark.parametrize(("notation", "source", "target"), SUMMARIES, ids=str)
def test_declared_summaries_keep_the_laws(notation: Any, source: Any, target: Any) -> None:
    assert check_summary(bound(notation, source, target)) is None


ENDOMORPHISMS = [case for case in SUMMARIES if case[1] == case[2] and case[0] not in ("identity", "never")]


@pytest.mark.parametrize(
    "domain", [domain for domain in DOMAINS if any(case[1] == domain for case in ENDOMORPHISMS)], ids=str
)
def test_declared_summaries_compose_and_compare(domain: Any) -> None:
    here = [bound(*case) for case in ENDOMORPHISMS if case[1] == domain]
    for first in here:
        for second in here:
            assert check_composition(first, second, here[0]) is None
            assert check_comparison(first, second) is None
            opaque = Composite((second, here[-1]))
            assert check_composition(first, opaque, second) is None


def test_a_summary_without_minimal_times_is_passed_over() -> None:
    falls = bound({"advance": [-1, 0]}, {"lex": ["nat", "int"]}, {"lex": ["nat", "int"]})
    with pytest.raises(NoMinimalTimes):
        falls.apply((0, 3))
    assert check_summary(falls) is None
    assert check_composition(falls, falls, falls) is None
    assert check_comparison(falls, falls) is None


# --- every law is caught where it is broken --------------------------------------------------------------------------


class Altered:
    """A domain of the user's own: an honest one, but for what a test alters."""

    def __init__(self, honest: Domain, **altered: Any) -> None:
        self.honest = honest
        self.altered = altered

    def __getattr__(self, name: str) -> Any:
        return self.altered.get(name, getattr(self.honest, name))


def by_table(below: str, **altered: Any) -> Altered:
    """A domain of letters whose order is a table like "ab bc", with all letters equal to themselves."""
    pairs = {tuple(pair) for pair in below.split()}
    letters = sorted({letter for pair in pairs for letter in pair})
    honest: dict[str, Any] = {
        "contains": lambda value: value in letters if isinstance(value, str) else False,
        "less_equal": lambda a, b: a == b or (a, b) in pairs,
        "sample": lambda: letters,
        "minimal_upper_bounds": lambda a, b: (),
        "least": tuple,
        "sort_key": lambda value: value,
        "is_total": False,
    }
    return Altered(NAT, **{**honest, **altered})


class Interval:
    """Intervals of floats, ordered by where they begin: two that begin together lie at or before each other."""

    is_total = True

    def contains(self, value: object) -> bool:
        return isinstance(value, tuple) and len(value) == 2 and all(isinstance(end, float) for end in value)

    def less_equal(self, earlier: Any, later: Any) -> bool:
        return bool(earlier[0] <= later[0])

    def minimal_upper_bounds(self, one: Any, other: Any) -> tuple[Any, ...]:
        return (max(one, other),)

    def least(self) -> tuple[Any, ...]:
        return ()

    def sort_key(self, value: Any) -> Any:
        return value

    def sample(self) -> list[Any]:
        return [(0.0, 1.0), (0.0, 2.0), (0.5, 1.5)]


CROSSED = Finite("abcd", ["ac", "ad", "bc", "bd"])

BROKEN_DOMAINS: dict[str, Domain] = {
    "has a sample": Altered(NAT, sample=list),
    "times are hashable": Altered(NAT, sample=lambda: [0, [1], 2]),
    "contains its sample": Altered(NAT, sample=lambda: [0, 1, 2.0]),
    "contains answers for anything": Altered(NAT, contains=lambda value: value >= 0),
    "reflexive": Altered(NAT, less_equal=lambda a, b: a < b),
    "antisymmetric": Interval(),
    "transitive": by_table("ab bc"),
    "total as it says": by_table("ab ac", is_total=True),
    "sort key is a linear extension": Altered(Int(), sort_key=abs),
    "sort key tells times apart": Altered(PAIR, sort_key=sum),
    "upper bounds are upper bounds": Altered(PAIR, minimal_upper_bounds=lambda a, b: (min(a, b),)),
    "upper bounds are minimal": Altered(PAIR, minimal_upper_bounds=lambda a, b: ((9, 9),)),
    "upper bounds are complete": Altered(
        CROSSED, minimal_upper_bounds=lambda a, b: CROSSED.minimal_upper_bounds(a, b)[:1]
    ),
    "least is minimal": Altered(NAT, least=lambda: (1,)),
    "least lies below": Altered(CROSSED, least=lambda: ("a",)),
}


class Own:
    """A summary of the user's own, from a function."""

    endless = False

    def __init__(self, function: Callable[[Any], Iterable[Any]], source: Domain = NAT, target: Domain = NAT) -> None:
        self.source = source
        self.target = target
        self.function = function

    def apply(self, time: Any) -> tuple[Any, ...]:
        return tuple(self.function(time))

    def limits(self, time: Any) -> tuple[Any, ...]:
        return self.apply(time)


class Forgetful(Own):
    """Another answer each time."""

    asked = 0

    def apply(self, time: Any) -> tuple[Any, ...]:
        self.asked += 1
        return (time + self.asked,)


BROKEN_SUMMARIES: dict[str, Summary] = {
    "results are times of the target": Own(lambda time: [time - 1]),
    "apply is a function": Forgetful(lambda time: [time]),
    "results are an antichain": Own(lambda time: [time + 2, time]),
    "monotone": Own(lambda time: [8 - time]),
    "hull": Own(lambda time: [time] if time else []),
}


class WrongThen(Own):
    """A user's summary with a `then` of its own, which forgets the second half."""

    def then(self, other: Summary) -> Summary:
        return self


class WrongNormalThen(NormalSummary):
    """A normal form whose composition is one too high."""

    def then(self, other: NormalSummary) -> NormalSummary:
        return super().then(other).then(bound({"advance": 1}, "nat", "nat"))


class Grouped(Own):
    """Its composition with a composition is wrong, with a plain summary right."""

    def then(self, other: Summary) -> Summary:
        return self if isinstance(other, Composite) else Composite((Own(self.function), other))


class Boastful(NormalSummary):
    """Says that it is no later than anything."""

    def no_later_than(self, other: NormalSummary) -> bool:
        return True


def normal(kind: type[NormalSummary], notation: Any) -> NormalSummary:
    """A normal form on the naturals, of a given class."""
    return kind(NAT, NAT, bound(notation, "nat", "nat").pieces)


LATER = bound({"advance": 1}, "nat", "nat")

BROKEN_COMPOSITIONS: dict[str, Callable[[], Broken | None]] = {
    "composition": lambda: check_composition(WrongThen(lambda time: [time]), LATER),
    "NormalSummary.then equals Composite": lambda: check_composition(normal(WrongNormalThen, "identity"), LATER),
    "associative": lambda: check_composition(Grouped(lambda time: [time]), Own(lambda time: [time + 1]), LATER),
    "no later than": lambda: check_comparison(normal(Boastful, {"advance": 2}), LATER),
}


def broken(law: str) -> Broken | None:
    """What the check says of the example that breaks this law."""
    if law in BROKEN_DOMAINS:
        return check_domain(BROKEN_DOMAINS[law])
    return check_summary(BROKEN_SUMMARIES[law]) if law in BROKEN_SUMMARIES else BROKEN_COMPOSITIONS[law]()


def test_every_law_has_an_example_that_breaks_it() -> None:
    assert [*BROKEN_DOMAINS, *BROKEN_SUMMARIES, *BROKEN_COMPOSITIONS] == list(LAWS)


@pytest.mark.parametrize("law", LAWS)
def test_a_broken_law_is_caught_by_its_name(law: str) -> None:
    found = broken(law)
    assert found is not None
    assert found.law == law
    assert found.sentence == LAWS[law]
    assert found.witnesses
    assert str(found).startswith(f"{law}: {LAWS[law]}; not so for ")
    for name, value in found.witnesses.items():
        assert f"{name} = {value!r}" in str(found)


def test_sentences_are_sentences() -> None:
    for name, sentence in LAWS.items():
        assert name.strip() == name
        assert len(sentence) > 5
        assert not sentence.endswith(".")
    assert len(set(LAWS.values())) == len(LAWS)


def test_the_first_counterexample() -> None:
    found = check_domain(Interval())
    assert found == Broken("antisymmetric", LAWS["antisymmetric"], {"a": (0.0, 1.0), "b": (0.0, 2.0)})
    assert str(found) == "antisymmetric: a <= b and b <= a only where a == b; not so for a = (0.0, 1.0), b = (0.0, 2.0)"
    assert check_domain(by_table("ab bc")) == Broken("transitive", LAWS["transitive"], {"a": "a", "b": "b", "c": "c"})


def test_a_sample_can_be_handed_in() -> None:
    shifted = Altered(NAT, less_equal=lambda a, b: a <= b or a == 100)
    assert check_domain(shifted) is None
    assert check_domain(shifted, [0, 100]) == Broken("antisymmetric", LAWS["antisymmetric"], {"a": 0, "b": 100})
    late = Own(lambda time: [time if time < 50 else 0])
    assert check_summary(late) is None
    assert check_summary(late, iter([3, 50])) == Broken(
        "monotone", LAWS["monotone"], {"t": 3, "u": 50, "of apply(t)": 3, "of apply(u)": 0}
    )
    assert check_composition(WrongThen(lambda time: [time]), bound({"at_least": 5}, "nat", "nat"), sample=[7]) is None
    assert check_comparison(normal(Boastful, {"at_least": 3}), bound("identity", "nat", "nat"), [3, 4]) is None


def test_what_is_listed_twice_is_no_antichain() -> None:
    doubled = Altered(NAT, minimal_upper_bounds=lambda a, b: (max(a, b),) * 2)
    assert check_domain(doubled) == Broken(
        "upper bounds are minimal", LAWS["upper bounds are minimal"], {"a": 0, "b": 0, "bound": 0, "lower": 0}
    )
    twice = check_summary(Own(lambda time: [time, time]))
    assert twice is not None
    assert twice.law == "results are an antichain"


def test_an_opaque_summary_is_judged_by_what_the_user_wrote() -> None:
    class Early:
        def apply(self, time: int) -> Iterable[int]:
            yield time - 1

    class Both:
        def apply(self, time: int) -> Iterable[int]:
            yield time + 1
            yield time

    found = check_summary(OpaqueSummary(NAT, NAT, Early()))
    assert found == Broken(
        "results are times of the target", LAWS["results are times of the target"], {"t": 0, "result": -1}
    )
    assert check_summary(OpaqueSummary(NAT, NAT, Both())) is None  # the engine takes the minimal ones
    assert check_composition(OpaqueSummary(NAT, NAT, Both()), LATER, OpaqueSummary(NAT, NAT, Both())) is None


def test_what_the_users_code_raises_is_told_with_the_law() -> None:
    def compare(one: Any, other: Any) -> bool:
        raise RuntimeError("no idea")

    with pytest.raises(RuntimeError) as caught:
        check_domain(Altered(NAT, less_equal=compare))
    assert "keeps the law 'reflexive': a <= a" in caught.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as caught_too:
        check_summary(Own(lambda time: [1 // time]))
    assert "'results are times of the target'" in caught_too.value.__notes__[0]


def test_values_of_other_domains_are_no_times() -> None:
    both = Sum({"left": NAT, "right": NAT})
    assert check_domain(both, [Tagged("left", 0), 0]) == Broken(
        "contains its sample", LAWS["contains its sample"], {"t": 0}
    )
