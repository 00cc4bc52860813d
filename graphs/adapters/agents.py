"""What adapters read from a tool for agents: nodes, what each waits for, and the ways out that it may take.

It says what the tool will do as far as that can be read, and not more: a way out that nobody declared is not guessed.
`graphs.adapters.rounds` makes a `Graph` of it whose times are rounds; `graphs.adapters.agent_findings` judges it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Takes: TypeAlias = Literal["all", "together", "one", "some", "unsure"]
Waits: TypeAlias = Literal["each", "step", "all", "rest", "fork"]

Pace: TypeAlias = Literal["steps", "free"] | None


class Exit(NamedTuple):
    """Ways out of a node that are decided together.

    `takes` says which of `targets` a node that has run goes on to: `all` of them; all `together`, or none; exactly
    `one`; `some`, which may well be several, or none; `unsure`: nobody knows, none, one or several. `by` is who
    decides, in the tool's words.

    Examples
    --------
    >>> from graphs.adapters.agents import Exit
    >>> Exit(("write", "END"), "one", "the function route").takes
    'one'
    """

    targets: tuple[str, ...]
    takes: Takes = "all"
    by: str = ""


class Part(NamedTuple):
    """A node, or a join that the tool keeps apart from the node that it starts.

    `waits` says when it runs: `each`, for every message; `step`, once for all that comes in one step of the tool;
    `all`, when every source has sent; `rest`, when nothing else runs; `fork`, when all that a fork before it began is
    over. `shown` is its name in findings. `steps` is how many steps of the tool it takes. `pauses`: it may hand over
    to somebody outside, who may never answer. `silent`: it may also take no way out at all.

    Examples
    --------
    >>> from graphs.adapters.agents import Exit, Part
    >>> Part("plan", "step", [Exit(("write",))]).steps
    1
    """

    name: str
    waits: Waits
    exits: Sequence[Exit] = ()
    shown: str = ""
    steps: int = 1
    pauses: bool = False
    silent: bool = False


@dataclass(eq=False)
class AgentGraph:
    """The parts by name, where a run starts, and what the tool does about limits and what joins keep.

    `end` is the name by which ways out leave the graph; it is a part only where the tool makes something of what
    arrives there first. `limit` is what ends a loop without a way out, as a sentence. `keeps`: joins keep what they
    have when a run ends, for the next one on the same `kept_by`. `pace`: nodes run in `steps`, all of one before any
    of the next; or `free`ly, as soon as they can and as long as they take; None where the order does not show.
    `optional_joins`: a join of which one source is there anyway is simply not on the way of a run without the other.

    Examples
    --------
    >>> from graphs.adapters.agents import AgentGraph, Exit, Part
    >>> agents = AgentGraph("two", "plan", "END", limit="its step limit")
    >>> agents.add(Part("plan", "step", [Exit(("write",))]))
    >>> agents.add(Part("write", "step", [Exit(("plan", "END"), "one", "it")]))
    >>> [(name, target) for name, _, _, target in agents.arcs()]
    [('plan', 'write'), ('write', 'plan'), ('write', 'END')]
    """

    name: str
    start: str
    end: str
    _: KW_ONLY
    limit: str
    keeps: bool = False
    kept_by: str = ""
    pace: Pace = None
    optional_joins: bool = False
    is_open: bool = field(default=False, init=False)  # there are ways that cannot be read: a run may come to any part
    parts: dict[str, Part] = field(default_factory=dict, init=False)

    def add(self, part: Part) -> None:
        """Add a part; its exits may lead to parts that are added later."""
        self.parts[part.name] = part

    def add_join(self, sources: Sequence[str], target: str) -> str:
        """Add a join of all that the tool keeps apart from the node that it starts; its name."""
        listed = ", ".join(sources) if len(sources) < 5 else f"{sources[0]}, ..., {sources[-1]}"
        name = f"[{listed}] -> {target}"
        while name in self.parts:
            name += "'"
        self.add(Part(name, "all", [Exit((target,))], shown=target, steps=0))
        return name

    def shown(self, name: str) -> str:
        """How a part is called in findings."""
        part = self.parts.get(name)
        return part.shown if part is not None and part.shown else name

    def arcs(self) -> Iterator[tuple[str, int, Exit, str]]:
        """Every way out: the part, the number of the exit, the exit, and where it leads."""
        for part in self.parts.values():
            for number, exit in enumerate(part.exits):
                for target in dict.fromkeys(exit.targets):
                    if target == self.end or target in self.parts:
                        yield part.name, number, exit, target
