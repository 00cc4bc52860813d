"""`python -m tests.project.mutants [WORD ...]`: break the algorithms on purpose; the suite must notice each time.

Each mutant is one replacement in one file. It is made in a copy of the project, where the compiled kernel is built anew
when it is the kernel that is broken, and the tests that judge what is broken run there until the first failure. Exit
code 1 when a mutant survives or does not apply any more. With words, only mutants that have one of them in their name
or file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.project.mutants.every import MUTANTS
from tests.project.mutants.trying import Spent, judge, prepare, try_out


def main(words: list[str]) -> int:
    """Try the mutants, two at a time, and print what became of them; first of all, what is not broken must pass."""
    mutants = [each for each in MUTANTS if not words or any(word in f"{each.name} {each.file}" for word in words)]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        template = Path(name)
        broken = prepare(template)
        if broken:
            print(f"{broken}; what it does cannot be judged")
        suites = list(dict.fromkeys(mutant.suite for mutant in mutants))
        usual: dict[tuple[str, ...], Spent | None] = {}
        for suite, (killed, reason, spent) in zip(
            suites, pool.map(lambda each: judge(template, each), suites), strict=True
        ):
            if killed or reason != "pytest ended with 0":
                print(f"what is not broken fails in {' '.join(suite)}: {reason}")
                return 1
            usual[suite] = spent
        survivors = 0
        for mutant, (killed, reason, _) in zip(
            mutants, pool.map(lambda each: try_out(each, template, usual[each.suite]), mutants), strict=True
        ):
            survivors += not killed
            print(f"{'killed  ' if killed else 'SURVIVED'}  {mutant.name}  ({mutant.file})  {reason}", flush=True)
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants killed in {time.perf_counter() - started:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
