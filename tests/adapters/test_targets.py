"""`check --from`: targets that are not there or fail, adapters of one's own, formats, exit codes; networkx is there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphs.adapters import to_dataflow
from progress.errors import PointstampError

ROOT = Path(__file__).resolve().parents[2]
OWN = """
from graphs import Graph
from graphs.adapters import Finding, Found
from graphs.adapters.target import load

def read(target):
    print("this goes to standard error")
    names = load(target)
    graph = Graph()
    for name in names:
        graph.node(name)
    graph.edge(None, names[0], "begin")
    walks = [[[names[0], [0], "begins"], [names[-1], [0, 1]]]]
    findings = [Finding("PS912", "'b\\x1b[31m' may never fire", "mend it", {"walks": walks})]
    return Found(graph, findings, ["how often 'b' runs is decided in a run"])

def nothing(target):
    return None

def fails(target):
    raise RuntimeError("two\\nlines")

not_callable = 7
"""


HOSTILE = """
class Broken:
    @property
    def names(self):
        raise RuntimeError("boom")
    @property
    def quits(self):
        raise SystemExit(3)
    @property
    def deeper(self):
        raise AttributeError("deep inside")
broken = Broken()

def __getattr__(name):
    print("this goes to standard error")
    if name.startswith("__"):
        raise AttributeError(name)
    raise ValueError(name) if name == "lazy" else AttributeError(name)
import networkx
class Graph(networkx.DiGraph):
    def nodes(self, data):
        raise RuntimeError("no nodes")
graph = Graph()
"""
PACKAGES = {
    "quitting": "raise SystemExit(5)\n",
    "needing": "import is_not_installed\n",
    "packed": "print('hello')\n",
}
FAILING = {
    "base": "raise BaseException('base')\n",
    "generator": "raise GeneratorExit\n",
    "unsayable": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
    "hidden": "import sys\ndel sys.modules[__name__]\nraise ValueError('x')\n",
}


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "graphs", "check", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "app.py").write_text("print('hello')\nnames = ['a', 'b']\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("x = [\n", encoding="utf-8")
    (tmp_path / "raises.py").write_text("def f():\n    raise KeyError('k')\nf()\n", encoding="utf-8")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    (tmp_path / "hostile.py").write_text(HOSTILE, encoding="utf-8")
    for name, text in PACKAGES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text, encoding="utf-8")
    (tmp_path / "packed" / "inner.py").write_text("names = ['a']\n", encoding="utf-8")
    for name, text in FAILING.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("tool", "target", "code", "says"),
    [
        ("langgraf", "app:names", "PS901", "did you mean 'langgraph'?"),
        ("own.py:not_callable", "app:names", "PS901", "it cannot be called"),
        ("own:nothing", "app:names", "PS901", "gave None"),
        ("langgraph", "app:names", "PS902", "pip install 'pointstamp[langgraph]'"),
        ("own:read", "app", "PS903", "does not name an attribute"),
        ("own:read", "app:nams", "PS903", "did you mean 'names'?"),
        ("own:read", "nowhere:x", "PS903", "there is no module 'nowhere'"),
        ("own:read", "nowhere.deep:x", "PS903", "there is no module 'nowhere.deep'"),
        ("own:read", "nowhere.py:x", "PS903", "there is no file 'nowhere.py'"),
        ("own:read", "broken:x", "PS904", "broken.py:1: SyntaxError"),
        ("own:read", "raises:x", "PS904", "raises.py:2: KeyError: 'k'"),
        ("own:read", "ends:x", "PS904", "SystemExit: 3"),
        ("own:fails", "app:names", "PS904", "RuntimeError: two lines"),
        ("networkx", "hostile.py:broken.names", "PS904", "hostile.py:5: RuntimeError: boom"),
        ("networkx", "hostile.py:broken.quits", "PS904", "hostile.py:8: SystemExit: 3"),
        ("networkx", "hostile.py:broken.deeper", "PS904", "hostile.py:11: AttributeError: deep inside"),
        ("networkx", "hostile:lazy", "PS904", "hostile.py:18: ValueError: lazy"),
        ("networkx", "hostile:broken.nowhere", "PS903", "has no attribute 'broken.nowhere'"),
        ("networkx", "hostile:graph", "PS904", "hostile.py:22: RuntimeError: no nodes"),
        ("networkx", "quitting.inner:names", "PS904", "__init__.py:1: SystemExit: 5"),
        ("networkx", "needing.inner:names", "PS904", "No module named 'is_not_installed'"),
        ("networkx", "packed.nowhere:names", "PS903", "there is no module 'packed.nowhere'"),
        ("networkx", "base.py:x", "PS904", "base.py:1: BaseException: base"),
        ("networkx", "generator:x", "PS904", "generator.py:1: GeneratorExit"),
        ("networkx", "unsayable:x", "PS904", "unsayable.py:3: E ("),
        ("networkx", "hidden.py:x", "PS904", "hidden.py:3: ValueError: x"),
    ],
)
def test_what_cannot_be_read_is_one_line(folder: Path, tool: str, target: str, code: str, says: str) -> None:
    run = check(folder, "--from", tool, target)
    assert (run.returncode, run.stdout) == (2, "")
    complaint = [line for line in run.stderr.splitlines() if line.startswith("pointstamp: ")]
    assert len(complaint) == 1
    assert f"{code}: " in complaint[0]
    assert says in complaint[0]
    assert "Traceback" not in run.stderr


def test_the_answer_is_one_document_also_where_a_target_cannot_be_read(folder: Path) -> None:
    run = check(folder, "--from", "own:read", "app:names", "nowhere:x", "--format", "json")
    assert run.returncode == 2
    good, bad = json.loads(run.stdout)["files"]
    assert (good["file"], good["valid"]) == ("app:names", True)
    assert [each["code"] for each in good["diagnostics"]] == ["PS912", "PS919"]
    assert [each["severity"] for each in good["diagnostics"]] == ["warning", "note"]
    assert good["condition_2"] == {"holds": True}
    assert (bad["valid"], [each["code"] for each in bad["diagnostics"]]) == (False, ["PS903"])
    assert "hello" in run.stderr
    assert "this goes to standard error" in run.stderr


def test_what_a_package_prints_while_a_module_is_looked_for_is_not_in_the_answer(folder: Path) -> None:
    run = check(folder, "--from", "own:read", "packed.inner:names", "--format", "json")
    assert (run.returncode, json.loads(run.stdout)["files"][0]["valid"]) == (0, True)
    assert "hello" in run.stderr


def test_findings_are_shown_in_every_format(folder: Path) -> None:
    text = check(folder, "--from", "own.py:read", "app:names")
    assert text.returncode == 0
    assert "● a  [0]      begins" in text.stdout
    assert "\x1b" not in text.stdout
    github = check(folder, "--from", "own.py:read", "app.py:names", "--format", "github").stdout.splitlines()
    assert [line.partition(" ")[0] for line in github] == ["::warning", "::notice"]
    sarif = json.loads(check(folder, "--from", "own.py:read", "app:names", "--format", "sarif").stdout)
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["PS912", "PS919"]


def test_severities_are_raised_and_lowered(folder: Path) -> None:
    raised = check(folder, "--from", "own:read", "app:names", "--error", "PS912")
    assert (raised.returncode, "error PS912" in raised.stdout) == (1, True)
    left_out = check(folder, "--from", "own:read", "app:names", "--ignore", "PS912,decided-in-a-run")
    assert left_out.stdout.startswith("✓ app:names: good.")
    refused = check(folder, "--from", "own:read", "app:names", "--ignore", "PS903")
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    "arguments", [["--from", "own:read"], ["--from", "own:read", "app:names", "--engine", "spark"]]
)
def test_bad_usage_is_one_line(folder: Path, arguments: list[str]) -> None:
    run = check(folder, *arguments)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)


def test_only_graphs_of_two_tools_become_dataflows() -> None:
    with pytest.raises(PointstampError, match="PS903"):
        to_dataflow(object())
