"""Section 4 of A&I word for word: a graph with its nodes as a state machine, explored in every interleaving.

Small, exact and slow, and independent of every engine: what a real run did can be judged by it.
"""

from progress.semantics.actions import Inp, Mess, Not, Outp
from progress.semantics.asynchronous import Asynchronous
from progress.semantics.buffers import Buffer, with_buffers
from progress.semantics.clocks import CloseUp, OneApplication
from progress.semantics.composition import Composition
from progress.semantics.explorer import Exploration, Failed, Outcome, Says, Verdict, explore
from progress.semantics.guarantee import guarantee, nothing_is_late, what_may_be_is_delivered
from progress.semantics.interchange import InContext, Interchange, may_take_place
from progress.semantics.interfaces import Interface, condition_2_of_both, interface_of
from progress.semantics.joining import join
from progress.semantics.judge import Judgement, is_behaviour
from progress.semantics.local_clocks import LocalClocks
from progress.semantics.machine import Machine, Path
from progress.semantics.properties import (
    always,
    always_along,
    always_later,
    always_since,
    always_step,
    eventually,
    leads_each,
    leads_to,
    sometimes,
    sometimes_along,
    sometimes_step,
)
from progress.semantics.propositions import all_of_section_5, proposition_7, proposition_8, proposition_9, theorem_2
from progress.semantics.specification import Inputs, Specification, Variant
from progress.semantics.state import State
from progress.semantics.system import System
from progress.semantics.trace import recorded
from progress.semantics.visible import Comparison, compare

__all__ = [
    "Asynchronous",
    "Buffer",
    "CloseUp",
    "Comparison",
    "Composition",
    "Exploration",
    "Failed",
    "InContext",
    "Inp",
    "Inputs",
    "Interchange",
    "Interface",
    "Judgement",
    "LocalClocks",
    "Machine",
    "Mess",
    "Not",
    "OneApplication",
    "Outcome",
    "Outp",
    "Path",
    "Says",
    "Specification",
    "State",
    "System",
    "Variant",
    "Verdict",
    "all_of_section_5",
    "always",
    "always_along",
    "always_later",
    "always_since",
    "always_step",
    "compare",
    "condition_2_of_both",
    "eventually",
    "explore",
    "guarantee",
    "interface_of",
    "is_behaviour",
    "join",
    "leads_each",
    "leads_to",
    "may_take_place",
    "nothing_is_late",
    "proposition_7",
    "proposition_8",
    "proposition_9",
    "recorded",
    "sometimes",
    "sometimes_along",
    "sometimes_step",
    "theorem_2",
    "what_may_be_is_delivered",
    "with_buffers",
]
