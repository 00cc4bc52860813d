"""How long `pointstamp check --from dagster` takes for 2,000 assets with 3,300 edges, beside Dagster's own steps.

    .venv/bin/python -m benchmarks.partitions

It runs in .venv-adapters, which `make setup-adapters` makes. Each figure is processor time of one fresh process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-adapters" / "bin" / "python"
SCRIPT = """
import time
begin = time.process_time()
import dagster
imported = time.process_time()
from tests.adapters.probes.partitions_of_dagster import many
definitions = many(2000)
defined = time.process_time()
definitions.resolve_asset_graph()
resolved = time.process_time()
from graphs.adapters.dagster import Assets
from graphs.adapters.report import report_on
from graphs.adapters import Found
assets = Assets(definitions.resolve_asset_graph())
report = report_on(Found(assets.graph(), list(assets.findings({})), assets.unknown()), "2,000 assets")
judged = time.process_time()
assert report.valid
print(f"import dagster                {imported - begin:6.2f} s")
print(f"defining 2,000 assets         {defined - imported:6.2f} s")
print(f"Dagster resolves its graph    {resolved - defined:6.2f} s")
print(f"we read and judge it          {judged - resolved:6.2f} s")
print(f"all of it                     {judged - begin:6.2f} s")
"""


def main() -> int:
    """Print the table; the exit code is that of the process that made it."""
    if not PYTHON.exists():
        print("there is no .venv-adapters: make setup-adapters", file=sys.stderr)
        return 1
    return subprocess.run([str(PYTHON), "-W", "ignore", "-c", SCRIPT], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
