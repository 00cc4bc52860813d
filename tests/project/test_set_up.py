"""What `scripts/set_up.sh` installs for each part, and that it has nothing to do when that is there.

The interpreter of the .venv is replaced by one that writes down what it is asked to install and to start.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.slowest import table

ROOT = Path(__file__).resolve().parents[2]

STUB = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$TOLD"
case "$*" in
*_base_executable*) echo "$0" ;;
*"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*pip*install*) ;;
*on_spark* | *fetch_kafka*) ;;
*) exec "$REAL" "$@" ;;
esac
"""


class Project:
    """A folder with all that the script reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = folder / "told"
        for name in ("pyproject.toml", "setup.py", "constraints.txt", "scripts/set_up.sh", "scripts/fetch_kafka.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        (folder / "progress" / "kernel").mkdir(parents=True)
        (folder / "progress" / "kernel" / "kernel.c").write_text("int kernel;\n")
        self.stub = folder / "stub"
        self.stub.write_text(STUB)
        self.stub.chmod(0o755)

    def set_up(self, *part: str, without: str = "", **more: str) -> tuple[str, list[str]]:
        """What the script says, and what it has installed and started."""
        self.told.write_text("")
        environment = os.environ | {"PYTHON": str(self.stub), "TOLD": str(self.told), "REAL": sys.executable}
        environment |= {"WITHOUT_SPARK": without, "WITHOUT_CHROMIUM": "1", "CI": ""} | more
        run = subprocess.run(
            ["sh", "scripts/set_up.sh", *part],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stderr == ""
        assert run.returncode == 0
        lines = self.told.read_text().splitlines()
        return run.stdout, [line for line in lines if "install" in line or "start_session" in line]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def installed(actions: list[str]) -> list[str]:
    """What pip was asked for, after the pins."""
    return [line.partition("--constraint constraints.txt ")[2] for line in actions if "pip" in line]


def test_the_core_has_no_extras_and_starts_no_spark(project: Project) -> None:
    said, actions = project.set_up("core")
    assert installed(actions) == ["pip setuptools", "--no-build-isolation --editable ."]
    assert not any("start_session" in line for line in actions)
    assert "Spark" not in said
    assert project.set_up("core") == ("", [])


def test_everything_is_everything(project: Project) -> None:
    _, actions = project.set_up()
    assert installed(actions) == ["pip setuptools", "--no-build-isolation --editable .[all]"]
    assert any("start_session" in line for line in actions)
    assert project.set_up() == ("", [])
    assert project.set_up("core") == ("", [])  # it is there as well


def test_what_the_core_lacks_is_added_when_it_is_needed(project: Project) -> None:
    project.set_up("core")
    said, actions = project.set_up()
    assert "bringing .venv up to date" in said
    assert installed(actions)[-1] == "--no-build-isolation --editable .[all]"
    assert any("start_session" in line for line in actions)


def test_without_spark_on_request(project: Project) -> None:
    _, actions = project.set_up(without="1")
    assert installed(actions)[-1] == "--no-build-isolation --editable .[all]"
    assert not any("start_session" in line for line in actions)


@pytest.mark.parametrize("comes", [True, False])
def test_a_browser_is_installed_where_there_is_none_and_where_that_fails_words_say_so(
    project: Project, tmp_path: Path, comes: bool
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat", "cksum", "head", "tail", "mkdir", "cp", "rm", "dirname", "chmod"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    gives = 'echo "#!/bin/sh" >"$TOOLS/chromium"; chmod +x "$TOOLS/chromium"' if comes else "exit 100"
    (tools / "apt-get").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>"$TOLD"\n{gives}\n')
    (tools / "id").write_text("#!/bin/sh\necho 0\n")
    for name in ("apt-get", "id"):
        (tools / name).chmod(0o755)
    with_tools = {"PATH": str(tools), "TOOLS": str(tools), "WITHOUT_CHROMIUM": "", "CC": "true"}
    said, actions = project.set_up("core", **with_tools)
    assert "hromium" not in said + "".join(actions)  # `make demo` needs none
    said, actions = project.set_up(without="1", **with_tools)
    assert any(line.endswith("--no-install-recommends chromium") for line in actions)
    assert ("will fail" in said) is not comes


def test_a_change_of_the_kernel_is_compiled(project: Project) -> None:
    project.set_up("core")
    (project.folder / "progress" / "kernel" / "kernel.c").write_text("int changed;\n")
    _, actions = project.set_up("core")
    assert installed(actions)[-1] == "--no-build-isolation --editable ."


def test_an_unknown_part_is_refused_in_one_line(project: Project) -> None:
    run = subprocess.run(["sh", "scripts/set_up.sh", "spark"], cwd=project.folder, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == "set-up: no part is called spark: core or all\n"
    assert run.stdout == ""


def test_the_demo_needs_the_core_alone_and_tests_need_everything() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    needs = {line.partition(":")[0]: line.partition(":")[2].split("##")[0].split() for line in makefile.splitlines()}
    assert needs["demo"] == ["setup-core"]
    assert needs["bench"] == ["setup", "setup-adapters"]
    for target in ("lint", "soak", "mutants", "compiled", "test"):
        assert needs[target] == ["setup"]
    recipe = makefile.partition("\ntest: ")[2].splitlines()
    assert recipe[1].split()[-3:] == ["lint", "setup-adapters", "compiled"]  # side by side, before the tests


def test_the_table_of_what_takes_longest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="tests.test_a" name="test_one" time="1.4"/>
        <testcase classname="tests.test_b" name="test_two" time="5.0"/>
        <testcase classname="tests.test_a" name="test_three[x]" time="1.6"/>
        </testsuite></testsuites>"""
    )
    assert table(report).splitlines()[2:] == [
        "| `test_b.py` | 5 | 62% | `test_two` |",
        "| `test_a.py` | 3 | 38% | `test_three[x]` |",
    ]
