"""The peers of the engine, built and run by command: timely's tracker, Beam's watermark manager, Bytewax.

**timely** (Rust, the published crate 0.31): the small program in `timely/` replays a trace on
`timely::progress::reachability::Tracker`, the tracker inside every timely dataflow. It is built with `cargo build
--release`, whole-program optimisation on. The text of a trace and the digest are described in `trace_text.py`. What is
compared: both get the same steps one at a time, and after each both know the frontier at every watched node. Timely's
tracker keeps the frontiers of all places whether or not anybody watches; that is its way of working, and the cost shown
is that of the step. It does not refuse illegal steps, cannot say why something waits, and has one kind of time a graph.

**Beam** and **Bytewax** (Python, PyPI) live in an environment of their own, `.peers`, made on first use from
`peers-requirements.txt`, since Beam pins versions that the project does not. `beam_peer.py` and `bytewax_peer.py` run
there, know nothing of this project, and say themselves what can be compared.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.replay import Replayed
from benchmarks.trace_text import written
from benchmarks.traces import Trace

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".peers"
REQUIREMENTS = HERE / "peers-requirements.txt"


class MissingPeer(Exception):
    """A peer cannot be built or run here; the text is one line for people."""


@functools.cache
def timely_program() -> Path:
    """The replaying program on timely's tracker, built when it is not up to date."""
    folder = HERE / "timely"
    if shutil.which("cargo") is None:
        raise MissingPeer("timely is left out: cargo, which builds it, is not installed (Rust 1.86 or newer)")
    target = folder / "target"
    _run(
        "timely is left out: cargo could not build it",
        ["cargo", "build", "--quiet", "--release", "--manifest-path", folder / "Cargo.toml", "--target-dir", target],
    )
    return target / "release" / ("timely-peer.exe" if os.name == "nt" else "timely-peer")


def timely(trace: Trace, repeat: int = 50, limit: float = 1.0) -> Replayed:
    """Replay a trace on timely's tracker; fewer than `repeat` times, two at least, when those take `limit` seconds."""
    program = timely_program()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        file.write_text(written(trace))
        printed = _run("timely's tracker failed", [program, file, str(repeat), str(limit)])
    answer = json.loads(printed)
    return Replayed(answer["seconds"], answer["build_seconds"], answer["seen"], answer["digest"])


@functools.cache
def peers_python() -> Path:
    """The interpreter of the peers' own environment, which is made first if need be."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = ENVIRONMENT / "complete"
    wanted = f"{ENVIRONMENT}\n{REQUIREMENTS.read_text()}"
    if not (stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        what = "Beam and Bytewax are left out: their environment could not be made"
        _run(what, [sys.executable, "-m", "venv", ENVIRONMENT])
        install = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-input", "--no-deps"]
        _run(what, [python, *install, "--only-binary", ":all:", "--requirement", REQUIREMENTS])
        stamp.write_text(wanted)
    return python


def in_peers_environment(program: str, question: Any) -> Any:
    """Ask one of the programs that run in the peers' environment: JSON in, JSON out."""
    python = peers_python()
    return json.loads(_run(f"{program} failed", [python, HERE / program], json.dumps(question)))


def _run(what: str, command: list[Any], given: str | None = None) -> str:
    """Run a command and answer what it prints; `MissingPeer` with the last line of its complaint if it fails."""
    run = subprocess.run(list(map(str, command)), input=given, capture_output=True, text=True, check=False)
    if run.returncode:
        complaint = (run.stderr or run.stdout).strip().splitlines() or [f"exit code {run.returncode}"]
        raise MissingPeer(f"{what}: {complaint[-1]}")
    return run.stdout
