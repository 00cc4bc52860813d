"""The environment in which the tools are installed whose graphs adapters read, and what runs there.

A *probe* is a Python file that is run once, in a process of its own in that environment, with this project on its path,
and prints one JSON document: what the tools did, and what `pointstamp check --from` says. Importing a tool takes
seconds, so a probe has all cases of its tool, and each test reads its own part of the answer.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv-adapters" / "bin" / "python"


@cache
def tools_python() -> str:
    """The interpreter of the tools' environment, which is made where it is not there yet."""
    made = subprocess.run(
        ["sh", str(ROOT / "scripts" / "set_up_adapters.sh")], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return str(PYTHON)


def environment() -> dict[str, str]:
    """This process's, with the project to import from, and without what tools would tell their makers."""
    quiet = {"LANGSMITH_TRACING": "false", "HAYSTACK_TELEMETRY_ENABLED": "False", "DAGSTER_DISABLE_TELEMETRY": "1"}
    return {**os.environ, **quiet, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def run_script(script: str, folder: Path) -> str:
    """What a shell script prints in an empty folder, where `pointstamp` runs in the tools' environment."""
    command = folder / "bin" / "pointstamp"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {tools_python()} -W ignore -m graphs "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    python = command.with_name("python")
    python.write_text(f'#!/bin/sh\nexec {tools_python()} -W ignore "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    path = f"{command.parent}:{os.environ['PATH']}"
    run = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={**environment(), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return run.stdout + run.stderr


def run_with_tools(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Python with these arguments, in the tools' environment."""
    return subprocess.run(
        [tools_python(), "-W", "ignore", *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@cache
def probe(name: str) -> dict[str, Any]:
    """What the probe `tests/adapters/probes/NAME.py` prints; run once a process."""
    run = run_with_tools(str(ROOT / "tests" / "adapters" / "probes" / f"{name}.py"))
    assert run.returncode == 0, run.stderr[-4000:]
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def checked(tool: str, target: str, *options: str) -> dict[str, Any]:
    """What `pointstamp check --from TOOL TARGET` says, as data, with its exit code; for probes, in their process."""
    from graphs.command import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", "--from", tool, target, "--format", "json", *options])
    (report,) = json.loads(out.getvalue())["files"]
    return {**report, "exit": code, "stderr": err.getvalue()}


def answered(*arguments: str) -> dict[str, Any]:
    """What a command says, in this process, and its exit code; for probes."""
    from graphs.command import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    data = json.loads(out.getvalue()) if "json" in arguments and out.getvalue() else None
    return {"exit": code, "out": out.getvalue(), "data": data, "stderr": err.getvalue()}
