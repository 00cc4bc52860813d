"""Pointstamp's engine: may anything at or before time t still arrive at node v?"""

from progress.antichain import Antichain, minimal_elements
from progress.clock import clock
from progress.closure import Closure, close
from progress.conditions import Report, check_conditions
from progress.could_result_in import CouldResultIn
from progress.errors import PointstampError
from progress.notification import Eligibility, eligible
from progress.order import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit
from progress.pointstamp import Pointstamp
from progress.tracker import Tracker
from progress.tracking.blocking import Blocker, Holding, Why
from progress.tracking.step import Step
from progress.universal import universal_time

__all__ = [
    "Antichain",
    "Blocker",
    "Closure",
    "CouldResultIn",
    "Domain",
    "Eligibility",
    "Finite",
    "Holding",
    "Int",
    "Lex",
    "Nat",
    "Pointstamp",
    "PointstampError",
    "Product",
    "Report",
    "Step",
    "Sum",
    "Tagged",
    "Tracker",
    "Unit",
    "Why",
    "check_conditions",
    "clock",
    "close",
    "eligible",
    "minimal_elements",
    "universal_time",
]
