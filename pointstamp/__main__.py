"""`python -m pointstamp` is the `pointstamp` command. Ctrl-C ends it without a word from the first import on."""

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself imports so much that a trace could show
import sys


def main() -> int:
    """Run the command that this process is, and answer its exit code; one line where the packages are not Pointstamp's.

    An interrupt while it starts, or while Python takes it down, has nothing to end: the process is gone at once, with
    the exit code of an interrupt. In between a command knows what to do about it.
    """
    ends = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # it may be ignored, as for what nohup starts
    try:
        if ends:
            signal.signal(signal.SIGINT, _end)
        return _run(ends)
    except KeyboardInterrupt:  # just before a command listens, or just after
        return 130
    finally:
        if ends:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: object) -> None:
    import os

    os._exit(128 + number)


def _run(ends: bool) -> int:
    from pointstamp.foreign import foreign_package

    complaint = foreign_package()
    if complaint:
        sys.stderr.write(f"pointstamp: {complaint}\n")
        return 2
    from graphs.command import main as run

    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


if __name__ == "__main__":
    sys.exit(main())
