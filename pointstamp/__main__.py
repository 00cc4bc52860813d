"""`python -m pointstamp` is the `pointstamp` command."""

import sys
from collections.abc import Sequence

from pointstamp.foreign import foreign_package


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and answer its exit code; one line where the packages that it needs are not those of Pointstamp."""
    complaint = foreign_package()
    if complaint:
        sys.stderr.write(f"pointstamp: {complaint}\n")
        return 2
    from graphs.command import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
