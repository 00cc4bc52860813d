"""The declared summaries, as a graph file names them, and the pieces of the normal form that each one means.

Each class offers `targets(source, hints)`, the domains it can lead to from `source` (a hint that fits comes first), and
`pieces(source, target)`. What fits no domain is refused with PS401, naming the domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product as combinations_of
from typing import Any, NamedTuple, Protocol, TypeVar

from progress.effort import Effort
from progress.errors import PointstampError
from progress.normal_form.coordinate import KEEP, Move, chain
from progress.normal_form.hull import at_least, at_most, shift
from progress.normal_form.layout import Case, Layout, Rows, layout_of
from progress.normal_form.pieces import Limit, Piece, compose, make_piece, undominated
from progress.order import Domain, Int, Lex, Nat, Product, Sum

Hints = tuple[Domain, ...]
STEPS_A_COMPOSITION = 5  # of `progress.effort`
STEPS_A_COMPARISON = 2


class Declared(Protocol):
    """A summary as written, before it is bound to two domains."""

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        """The domains it may lead to from `source`, the preferred one first."""

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        """Its monotone hull in normal form; `TooMuchWork` where an effort is given and that is more than it."""


Kind = TypeVar("Kind", bound=type)


def of_its_own_kind(kind: Kind) -> Kind:
    """Summaries are equal when they are written alike, class by class, which plain tuples would not see to.

    `Tag("l")` is not `Untag("l")`, and a constant `Tagged("l", 3)` is not the constant `("l", 3)`.
    """

    def equal(self: object, other: object) -> bool:
        return self is other or (type(self) is type(other) and repr(self) == repr(other))

    def unequal(self: object, other: object) -> bool:
        return not equal(self, other)

    def hashed(self: object) -> int:
        return hash(repr(self))

    for name, method in (("__eq__", equal), ("__ne__", unequal), ("__hash__", hashed)):
        setattr(kind, name, method)
    return kind


def mismatch(summary: object, domain: Domain, right: str) -> PointstampError:
    """The refusal of a summary that does not fit a domain."""
    return PointstampError("PS401", f"{summary} does not fit times of {domain!r}", right)


@of_its_own_kind
class Identity(NamedTuple):
    """t goes to t."""

    def __str__(self) -> str:
        return "identity"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        return [source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        return _made(rows, ((case, (), case, (KEEP,) * len(row.leaves)) for case, row in rows.items()))


@of_its_own_kind
class Never(NamedTuple):
    """Nothing is sent, whatever the domains."""

    def __str__(self) -> str:
        return "never"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        return [*hints, source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        return []


@of_its_own_kind
class Advance(NamedTuple):
    """Adds to one number, or to each coordinate; a result outside the domain is nothing."""

    amount: Any

    def __str__(self) -> str:
        return f"{{advance: {_shown(self.amount)}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        self._amounts(source, self.amount)
        return [source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        return _shifted(source, self._amounts(source, self.amount))

    def _amounts(self, domain: Domain, amount: Any) -> dict[Case, list[int]]:
        """One amount a leaf, in every case of the domain."""
        if isinstance(domain, Nat | Int) and isinstance(amount, int):
            return {(): [amount]}
        if isinstance(domain, Product | Lex) and isinstance(amount, tuple) and len(amount) == len(domain.parts):
            parts = [self._amounts(part, item) for part, item in zip(domain.parts, amount, strict=True)]
            return {
                sum((case for case, _ in choice), ()): [item for _, items in choice for item in items]
                for choice in combinations_of(*(part.items() for part in parts))
            }
        if amount == 0 and not isinstance(amount, tuple) and not isinstance(domain, Product | Lex):
            return {case: [0] * len(rows.leaves) for case, rows in _rows(domain).items()}
        if isinstance(domain, Product | Lex):
            raise mismatch(self, domain, f"a list of {len(domain.parts)} amounts there")
        raise mismatch(self, domain, "one amount for nat and int, 0 or another summary elsewhere")


@of_its_own_kind
class Feedback(NamedTuple):
    """Adds 1 to the last coordinate."""

    def __str__(self) -> str:
        return "feedback"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        self._amount(source)
        return [source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        return Advance(self._amount(source)).pieces(source, target)

    def _amount(self, domain: Domain) -> Any:
        if isinstance(domain, Nat | Int):
            return 1
        if isinstance(domain, Product | Lex) and domain.parts:
            return (*map(_no_amount, domain.parts[:-1]), self._amount(domain.parts[-1]))
        raise mismatch(self, domain, "a domain whose last coordinate is nat or int")


@of_its_own_kind
class Enter(NamedTuple):
    """Appends a coordinate: into a loop. Where the destination says so, it is one of the last coordinate of the time.

    So a loop in a loop is entered whose counters are in lexicographic order, and the epoch beside them is not.
    """

    value: Any = 0

    def __str__(self) -> str:
        return f"{{enter: {_shown(self.value)}}}" if self.value != 0 else "enter"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        fitting = [
            hint
            for hint in hints
            if (coordinate := _appended(source, hint)) is not None and coordinate.contains(self.value)
        ]
        counter = Nat()
        if counter.contains(self.value):
            kind: type[Product | Lex] = Lex if isinstance(source, Lex) else Product
            parts = source.parts if isinstance(source, Product | Lex) else (source,)
            fitting.append(kind([*parts, counter]))
        if not fitting:
            raise mismatch(self, source, f"a destination with `time` whose last coordinate has {_shown(self.value)}")
        return fitting

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        coordinate = _appended(source, target)
        assert coordinate is not None
        rows = _rows(source)
        case, numbers = _layout(coordinate).encode(self.value)
        constants = tuple(Move(None, number) for number in numbers)
        return _made(rows, ((old, (), old + case, (KEEP,) * len(row.leaves) + constants) for old, row in rows.items()))


@of_its_own_kind
class Leave(NamedTuple):
    """Drops the last coordinate: out of a loop. Where the destination says so, it is that of the last coordinate."""

    def __str__(self) -> str:
        return "leave"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        if not isinstance(source, Product | Lex) or len(source.parts) < 2:
            raise mismatch(self, source, "a product or lex of at least two coordinates")
        fitting = [hint for hint in hints if _appended(hint, source) is not None]
        return [*fitting, source.parts[0] if len(source.parts) == 2 else type(source)(source.parts[:-1])]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows, kept = _rows(source), _rows(target)
        prefixes = {case: next(case[:end] for end in range(len(case) + 1) if case[:end] in kept) for case in rows}
        return _made(
            rows, ((case, (), prefix, (KEEP,) * len(kept[prefix].leaves)) for case, prefix in prefixes.items())
        )


@of_its_own_kind
class AtLeast(NamedTuple):
    """The minimal times that are >= both the time and a given one."""

    time: Any

    def __str__(self) -> str:
        return f"{{at_least: {_shown(self.time)}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        if not source.contains(self.time):
            raise mismatch(self, source, "a time of that domain")
        return [source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        case, numbers = _layout(source).encode(self.time)
        parts = at_least(rows[case], rows[case].structure, numbers)
        return _made(rows, ((case, limits, case, moves) for limits, moves in parts))


@of_its_own_kind
class Constant(NamedTuple):
    """Every time goes to the given one."""

    time: Any

    def __str__(self) -> str:
        return f"{{constant: {_shown(self.time)}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        return _those_with(self, [self.time], source, hints)

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        new_case, numbers = _layout(target).encode(self.time)
        constants = tuple(Move(None, number) for number in numbers)
        return _made(rows, ((case, (), new_case, constants) for case in rows))


@of_its_own_kind
class RoundUp(NamedTuple):
    """The least multiple of `step` that is >= the time, on nat and int."""

    step: int

    def __str__(self) -> str:
        return f"{{round_up: {self.step}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        if not isinstance(source, Nat | Int):
            raise mismatch(self, source, "nat or int")
        return [source]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        high = rows[()].leaves[0].high
        limits = () if high is None else (Limit(0, None, high // self.step * self.step),)
        return _made(rows, [((), limits, (), (Move(chain((0,), (0, self.step, 0)), None),))])


@of_its_own_kind
class Table(NamedTuple):
    """Every time listed for t; `map` in graph files. Closed upward: a row also speaks for all times below its own."""

    rows: tuple[tuple[Any, Any], ...]

    def __str__(self) -> str:
        return f"{{map: {_shown(tuple(self.rows))}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        for time, _ in self.rows:
            if not source.contains(time):
                raise mismatch(self, source, f"{_shown(time)} is not a time of it")
        return _those_with(self, [result for _, result in self.rows], source, hints)

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        made = []
        for time, result in self.rows:
            case, numbers = _layout(source).encode(time)
            new_case, new_numbers = _layout(target).encode(result)
            constants = tuple(Move(None, number) for number in new_numbers)
            boxes = at_most(rows[case], rows[case].structure, numbers)
            made += [(case, box, new_case, constants) for box in boxes]
        return _made(rows, made)


@of_its_own_kind
class Tag(NamedTuple):
    """Into the summand of this tag."""

    tag: str

    def __str__(self) -> str:
        return f"{{tag: {self.tag}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        fitting = [hint for hint in hints if isinstance(hint, Sum) and hint.summands.get(self.tag) == source]
        return [*fitting, Sum({self.tag: source})]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        return _made(rows, ((case, (), (self.tag, *case), (KEEP,) * len(row.leaves)) for case, row in rows.items()))


@of_its_own_kind
class Untag(NamedTuple):
    """Out of the summand of this tag; times of other tags give nothing."""

    tag: str

    def __str__(self) -> str:
        return f"{{untag: {self.tag}}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        if not isinstance(source, Sum) or self.tag not in source.summands:
            raise mismatch(self, source, f"a sum with the tag {self.tag}")
        return [source.summands[self.tag]]

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        rows = _rows(source)
        mine = ((case, row) for case, row in rows.items() if case[0] == self.tag)
        return _made(rows, ((case, (), case[1:], (KEEP,) * len(row.leaves)) for case, row in mine))


@of_its_own_kind
class Then(NamedTuple):
    """One summary after the other, each meaning its hull."""

    parts: tuple[Declared, ...]

    def __str__(self) -> str:
        return f"{{then: [{', '.join(map(str, self.parts))}]}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        if sends_nothing(self):
            return [*hints, source]
        refusals: list[PointstampError] = []
        found = list(dict.fromkeys(domains[-1] for domains in self._chains(source, hints, refusals)))
        if not found:
            raise refusals[-1]
        return found

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        if sends_nothing(self):
            return []
        domains = next((found for found in self._chains(source, (target,), []) if found[-1] == target), None)
        if domains is None:  # a `then` within took a domain from further out to pass through
            raise mismatch(self, source, f"summaries that lead to {target!r} without passing another domain")
        result = self.parts[0].pieces(source, domains[0], effort)
        rows = _rows(source)
        charge = comparing(effort)
        for part, before, after in zip(self.parts[1:], domains, domains[1:], strict=False):
            following = part.pieces(before, after, effort)
            if effort is not None:
                effort.spend(STEPS_A_COMPOSITION * len(result) * len(following))
            joined = [compose(rows[one.source_case], one, two) for one in result for two in following]
            result = list(undominated(rows, _rows(after), [piece for piece in joined if piece is not None], charge))
        return result

    def _chains(self, source: Domain, hints: Hints, refusals: list[PointstampError]) -> Iterator[list[Domain]]:
        """The domains after each part, for every way to choose them; what stood in the way of others.

        Ways that meet after a part in one domain go on alike, so only the first of them does.
        """
        hints = tuple(dict.fromkeys((*hints, source)))
        seen: set[tuple[int, Domain]] = set()

        def extended(position: int, domain: Domain) -> Iterator[list[Domain]]:
            if (position, domain) in seen:
                return
            seen.add((position, domain))
            if position == len(self.parts):
                yield []
                return
            try:
                choices = self.parts[position].targets(domain, hints)
            except PointstampError as error:
                refusals.append(error)
                return
            for choice in dict.fromkeys(choices):
                for rest in extended(position + 1, choice):
                    yield [choice, *rest]

        return extended(0, source)


@of_its_own_kind
class AnyOf(NamedTuple):
    """The minimal times of all of them; `any` in graph files."""

    parts: tuple[Declared, ...]

    def __str__(self) -> str:
        return f"{{any: [{', '.join(map(str, self.parts))}]}}"

    def targets(self, source: Domain, hints: Hints) -> list[Domain]:
        choices = [part.targets(source, hints) for part in self.parts if not sends_nothing(part)]
        if not choices:
            return [*hints, source]
        common = [domain for domain in dict.fromkeys(choices[0]) if all(domain in choice for choice in choices)]
        if not common:
            raise mismatch(self, source, "summaries that lead to one domain")
        return common

    def pieces(self, source: Domain, target: Domain, effort: Effort | None = None) -> list[Piece]:
        return [
            piece for part in self.parts if not sends_nothing(part) for piece in part.pieces(source, target, effort)
        ]


def comparing(effort: Effort | None) -> Callable[[int], None] | None:
    """What is told of comparisons of pieces, and spends for them."""
    return None if effort is None else lambda compared: effort.spend(STEPS_A_COMPARISON * compared)


def sends_nothing(declared: Declared) -> bool:
    """Whether a summary is `never` by its form, so that it fits between any two domains."""
    if isinstance(declared, Then):
        return any(map(sends_nothing, declared.parts))
    if isinstance(declared, AnyOf):
        return all(map(sends_nothing, declared.parts))
    return isinstance(declared, Never)


# ---------------------------------------------------------------------------------------------------------------------


def _layout(domain: Domain) -> Layout:
    layout = layout_of(domain)
    if layout is None:
        raise PointstampError(
            "PS401", f"declared summaries do not know the domain {domain!r}", "use a summary of your own there"
        )
    return layout


def _rows(domain: Domain) -> dict[Case, Rows]:
    return _layout(domain).rows


def _made(rows: dict[Case, Rows], parts: Any) -> list[Piece]:
    pieces = (make_piece(rows[case], case, limits, target, moves) for case, limits, target, moves in parts)
    return [piece for piece in pieces if piece is not None]


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return "null" if value is None else str(value)


def _no_amount(domain: Domain) -> Any:
    return tuple(map(_no_amount, domain.parts)) if isinstance(domain, Product | Lex) else 0


def _appended(shorter: Domain, longer: Domain) -> Domain | None:
    """The coordinate that `longer` has at its end and `shorter` has not, else being the same; None where it is not so.

    They are of one kind where `shorter` has a kind. The coordinate is one more of the last of both, if these are such.
    """
    if not isinstance(longer, Product | Lex):
        return None
    if not isinstance(shorter, Product | Lex):
        return longer.parts[-1] if longer.parts[:-1] == (shorter,) else None
    if type(shorter) is not type(longer) or not shorter.parts:
        return None
    if shorter.parts == longer.parts[:-1]:
        return longer.parts[-1]
    same = len(shorter.parts) == len(longer.parts) and shorter.parts[:-1] == longer.parts[:-1]
    return _appended(shorter.parts[-1], longer.parts[-1]) if same else None


def _those_with(summary: object, times: list[Any], source: Domain, hints: Hints) -> list[Domain]:
    fitting = [domain for domain in (*hints, source) if all(map(domain.contains, times))]
    if not fitting:
        wanted = hints[0] if hints else source
        raise mismatch(summary, wanted, "times of the destination's domain; an output edge may name it with `time`")
    return fitting


def _shifted(domain: Domain, amounts: dict[Case, list[int]]) -> list[Piece]:
    rows = _rows(domain)
    return _made(
        rows,
        [
            (case, limits, case, moves)
            for case, row in rows.items()
            for limits, moves in shift(row, row.structure, amounts[case])
        ],
    )
