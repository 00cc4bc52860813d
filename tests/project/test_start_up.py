"""How little it takes to start: `import progress` and `pointstamp check` of a small file (SPEC section 4)."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "networkx", "pyspark", "yaml", "pandas", "pyarrow")
ATTEMPTS = 12  # the least of so many runs is what the work takes; the rest is what else the machine did

IMPORT_TIMED = "import time; begin = time.process_time(); import progress; print(time.process_time() - begin)"

FILES_OPENED = """
import sys
opened = []
sys.addaudithook(lambda event, values: opened.append(str(values[0])) if event == "open" else None)
import progress
print("\\n".join(path for path in opened if not path.endswith((".py", ".pyc", ".so")) and ".pyc." not in path))
"""

CALLS_REFUSED = """
import sys
started = []
words = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect")
sys.addaudithook(lambda event, values: started.append(event) if event in words else None)
import progress
print(*started)
"""


def environment() -> dict[str, str]:
    """This process's environment, with compiled files kept as any user has them."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "COVERAGE")}
    return kept | {"PYTHONPATH": str(ROOT)}


def output_of(code: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""
    return run.stdout.strip()


def least_seconds(command: list[str], attempts: int = ATTEMPTS) -> float:
    """The processor's time for the fastest of several runs: what else the machine does is left out."""
    seconds = []
    for _ in range(attempts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment(), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def test_import_progress_takes_less_than_a_tenth_of_a_second() -> None:
    seconds = min(float(output_of(IMPORT_TIMED)) for _ in range(ATTEMPTS))
    assert seconds < 0.1, f"import progress took {seconds * 1000:.0f} ms; see python -X importtime -c 'import progress'"


@pytest.mark.parametrize("package", ["progress", "graphs"])
def test_importing_loads_nothing_heavy(package: str) -> None:
    loaded = output_of(f"import sys, {package}; print(*sorted(sys.modules))").split()
    assert package in loaded
    allowed = {"yaml"} if package == "graphs" else set()
    assert not set(HEAVY) - allowed & set(loaded)


def test_importing_the_engine_loads_nothing_of_graphs() -> None:
    loaded = output_of("import sys, progress; print(*sorted(sys.modules))").split()
    assert not {name.partition(".")[0] for name in loaded} & {"graphs", "recursion"}


def test_importing_opens_no_file_but_its_own_code() -> None:
    output_of("import progress")  # leaves the compiled files behind
    assert output_of(FILES_OPENED) == ""


def test_importing_starts_no_process_and_connects_to_nothing() -> None:
    assert output_of(CALLS_REFUSED) == ""


def test_check_of_a_small_file_within_ten_times_the_bare_interpreter() -> None:
    bare = [sys.executable, "-c", "pass"]
    check = [sys.executable, "-m", "graphs", "check", str(ROOT / "examples" / "loop.yaml")]
    for _ in range(3):  # a busy machine may spoil one comparison, hardly three
        allowed = 10 * least_seconds(bare)
        taken = least_seconds(check)
        if taken <= allowed:
            return
    pytest.fail(f"pointstamp check took {taken * 1000:.0f} ms, ten bare interpreters take {allowed * 1000:.0f} ms")


# --- what a run starts with -------------------------------------------------------------------------------------------

TOTALS = """
from pointstamp import Dataflow, Relay, from_edges
dataflow = Dataflow(from_edges([(None, "a"), ("a", None)]), {"a": Relay})
"""
RUN = """
import sys
from pathlib import Path
def hear(event, arguments):
    if event == "os.exec":
        Path("loaded").write_text(" ".join(sys.modules))
sys.addaudithook(hear)
from graphs.command import main
code = main()
Path("at_the_end").write_text(" ".join(sys.modules))
sys.exit(code)
"""


def modules_of_a_run(folder: Path, *options: str) -> None:
    """Run a pipeline in a folder; which modules are loaded there goes to files."""
    (folder / "totals.py").write_text(TOTALS)
    (folder / "in.jsonl").write_text('{"time": 1, "value": 2}\n')
    seedless = {name: value for name, value in environment().items() if name != "PYTHONHASHSEED"}
    arguments = ["run", "totals.py", "--input", "in->a=in.jsonl", *options]
    run = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], env=seedless, cwd=folder, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""


@pytest.mark.parametrize(("engine", "loads"), [("sim", False), ("threads", False), ("asyncio", True)])
def test_a_run_loads_asyncio_where_an_event_loop_is_needed(engine: str, loads: bool, tmp_path: Path) -> None:
    modules_of_a_run(tmp_path, "--engine", engine)
    assert ("asyncio" in (tmp_path / "at_the_end").read_text().split()) is loads


def test_a_command_that_begins_again_with_another_seed_has_loaded_no_engine_before(tmp_path: Path) -> None:
    modules_of_a_run(tmp_path, "--state", "state", "--output", "a->out=out.jsonl")
    loaded = (tmp_path / "loaded").read_text().split()
    assert "progress.runtime.durable.hash_seed" in loaded
    assert "progress.runtime.dataflow" not in loaded
