"""How hypothesis draws its cases: the same in every `make test`, new and many more in `make soak`; interrupts."""

import os
import signal

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("soak", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # so it is in the background of a shell, and then in all children
    signal.signal(signal.SIGINT, signal.default_int_handler)
