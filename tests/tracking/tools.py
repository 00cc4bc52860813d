"""What tests of trackers share: random sessions as scripts, and what a refusal says."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from progress import PointstampError, reference
from progress.reference.session import Closures
from tests.reference.random_sessions import Script, Told, random_session, random_start


def scripts(rng: random.Random, oracle: reference.Graph) -> tuple[Script, Told]:
    """A session that the reference can follow."""
    while True:
        script = random_start(rng, oracle)
        with suppress(reference.TooManySteps):
            return script, random_session(rng, oracle, Closures(oracle), script)


def refused(code: str, call: Callable[[], object]) -> PointstampError:
    with pytest.raises(PointstampError) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.message
    assert caught.value.hint
    return caught.value
