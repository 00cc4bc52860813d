"""The command `pointstamp` as a process of its own that does not start an interpreter of its own.

An interpreter with the packages imported takes a third of a second of processor time, and the tests start a thousand.
Here one process imports them and forks: `Forked` is the command in such a child, with its own standard streams,
folder, environment and limits. It runs what the installed command runs, is killed and waited for like any process, and
ends as an interpreter does, but for its modules, which are not taken apart. What is said before the first import is not
this file's subject: `test_interrupts.py`, `test_killer.py` and all that names `COMMAND` start the installed command.

The nursery, which forks, is this file run as a program. A request is one datagram: JSON, and the handles of the three
standard streams and of a pipe. On that pipe come the number of the child and, when it has ended, its status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from io import IOBase
from pathlib import Path
from select import select
from typing import IO, Any

IMPORTED = (
    "pointstamp.foreign",
    "graphs.command",
    "graphs.running.run",
    "progress.runtime.engines.asynchronous",
    "progress.runtime.on_spark.tables.kept_frames",
    "graphs.sessions.replay",
    "graphs.files.yaml_document",
)
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "loop.yaml"
ENDS_AFTER = 3  # the first handle that is not a standard stream
NUMBER = struct.Struct("i")
LARGEST = 1 << 18  # of a request
ONE_AT_A_TIME = threading.Lock()  # two threads that begin have one nursery


class Forked(subprocess.Popen[bytes]):
    """The command with these arguments in a child of the nursery. The streams are as those of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path | str,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = subprocess.PIPE,
        stderr: int | IO[Any] | None = subprocess.PIPE,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self.args = list(arguments)
        self._theirs: list[int] = []
        self.stdin = self._stream(stdin, is_input=True)
        self.stdout = self._stream(stdout)
        self.stderr = self._stream(stderr)
        self._told, told = os.pipe()
        request = {
            "arguments": list(arguments),
            "cwd": str(cwd),
            "env": dict(os.environ if env is None else env),
            "limits": dict(limits or {}),
        }
        with ONE_AT_A_TIME:
            requests, _ = _nursery()
        socket.send_fds(requests, [json.dumps(request).encode()], [*self._theirs, told])
        for handle in (*self._theirs, told):
            os.close(handle)
        (self.pid,) = NUMBER.unpack(os.read(self._told, NUMBER.size))
        self._result: int | None = None

    def _stream(self, wanted: int | IO[Any] | None, is_input: bool = False) -> IO[bytes] | None:
        """One handle goes to the child; the other end of a pipe is this process's."""
        if wanted == subprocess.PIPE:
            ends = os.pipe()
            theirs, ours = ends if is_input else ends[::-1]
            self._theirs.append(theirs)
            return os.fdopen(ours, "wb" if is_input else "rb")
        if wanted == subprocess.DEVNULL or wanted is None:
            self._theirs.append(os.open(os.devnull, os.O_RDWR))
        else:
            self._theirs.append(os.dup(wanted if isinstance(wanted, int) else wanted.fileno()))
        return None

    @property
    def returncode(self) -> int | None:  # type: ignore[override]
        """The exit code, once somebody has seen it; as `subprocess` has it, minus the signal that ended it."""
        return self._result

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self._result is None and select([self._told], [], [], timeout)[0]:
            (status,) = NUMBER.unpack(os.read(self._told, NUMBER.size))
            os.close(self._told)
            self._result = os.waitstatus_to_exitcode(status)
        return self._result

    def send_signal(self, sig: int) -> None:
        """Send it a signal, where it has not ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def communicate(self, input: bytes | None = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Give it all its input; all that it says, when it has ended."""
        said: dict[str, bytes] = {}

        def read(name: str, stream: IO[bytes]) -> None:
            said[name] = stream.read()

        streams = [(name, stream) for name in ("stdout", "stderr") if (stream := getattr(self, name)) is not None]
        readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in streams]
        for reader in readers:
            reader.start()
        if self.stdin is not None and not self.stdin.closed:
            with suppress(BrokenPipeError):
                self.stdin.write(input or b"")
                self.stdin.flush()
            with suppress(BrokenPipeError):
                self.stdin.close()
        self.wait(timeout)
        for reader in readers:
            reader.join()
        for _, stream in streams:
            stream.close()
        return said.get("stdout"), said.get("stderr")


@cache
def _nursery() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that forks, and the way to it; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {**os.environ, "PYTHONUTF8": "1"}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno())],
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours, process


# --- the nursery -----------------------------------------------------------------------------------------------------


def _serve(requests: socket.socket) -> Callable[[], int] | None:
    """Fork for each request until there are no more. In a child the answer is what it has to run."""
    children: dict[int, int] = {}  # the handle on which the status of each is said
    wakes, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        ready, _, _ = select([requests.fileno(), wakes], [], [])
        if wakes in ready:
            os.read(wakes, 4096)
            while children:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    break
                _say(children.pop(process), status)
        if requests.fileno() in ready:
            data, handles, _, _ = socket.recv_fds(requests, LARGEST, 4)
            if not data:
                return None
            *streams, told = handles
            process = os.fork()
            if not process:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                requests.detach()
                return _as_asked(json.loads(data), streams)
            for stream in streams:
                os.close(stream)
            children[process] = told
            os.write(told, NUMBER.pack(process))


def _say(told: int, status: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(told, NUMBER.pack(status))
    os.close(told)


def _as_asked(request: dict[str, Any], streams: list[int]) -> Callable[[], int]:
    """Make this process what was asked for; what is left to be called is the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(ENDS_AFTER, 1024)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for name, limit in request["limits"].items():
        resource.setrlimit(getattr(resource, name), (limit, limit))
    sys.argv = ["pointstamp", *request["arguments"]]
    sys.stdin = open(0, errors="surrogateescape", closefd=False)  # noqa: SIM115 - as an interpreter begins
    sys.stdout = open(1, "w", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", closefd=False, buffering=1)  # noqa: SIM115

    from pointstamp.__main__ import main

    return main


def _end(code: int) -> None:
    """End as an interpreter does: threads are waited for, what was registered is called, files are written out.

    Beyond that an interpreter takes its modules apart, and so touches each page of memory that this child shares with
    the nursery: that takes longer than most commands.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr, *gc.get_objects()):
            if issubclass(type(stream), IOBase) and not stream.closed:
                stream.flush()
    except (OSError, ValueError):  # then an interpreter has more to say
        sys.exit(code)
    os._exit(code)


def _warm() -> None:
    """Read and check a graph once: what is compiled and kept at the first time is there in every child."""
    from graphs.command import main

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        for form in ("text", "json"):
            main(["check", "--format", form, str(EXAMPLE)])


if __name__ == "__main__":
    import importlib

    for name in IMPORTED:
        importlib.import_module(name)
    _warm()
    gc.freeze()  # a child that collects what is here would copy it
    command = _serve(socket.socket(fileno=int(sys.argv[1])))
    if command is not None:
        _end(command())
