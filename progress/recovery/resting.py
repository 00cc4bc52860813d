"""A kept run that rests (`pointstamp run --state`) in the implementation model (FT 4): all tasks save at once.

The run rests between two actions: nothing is being worked on, every event of an epoch has been taken, and each node's
state is written down, all in one. A failure is that of the process: where one task has failed nothing goes on but the
recovery, which takes all of them back. So its executions are some of those of the model, in which each task reaches its
border by itself and the others go on when one fails; what holds of all holds of these (Theorems 6.9 and 6.10).
"""

from __future__ import annotations

from progress.recovery.configuration import Configuration
from progress.recovery.model import Implementation
from progress.recovery.rules import Rule, Steps, is_failure


class Resting(Implementation):
    """The model whose borders wait until no event can be taken, which stops where one fails. Cost: the model's."""

    def successors(self, c: Configuration) -> Steps:
        """A border once no event is left; a recovery before anything else."""
        steps = list(super().successors(c))
        has_failed = any(c.state(task.name).failed for task in self.program.tasks)
        has_events = any(step.rule is Rule.EVENT for step, _ in steps)
        for step, after in steps:
            if is_failure(step) if has_failed else step.rule is not Rule.BORDER or not has_events:
                yield step, after
