"""The settings of a session: what its user has said, wherever that may be, and what this project fills in.

Spark reads its settings from many places. What is said there is never changed here; it decides what is left to fill in.
From what counts most to what counts least:

1. what is given to `start_session`, or on the command line: `--master`, `--conf`
2. the flags of `spark-submit`, and those in `PYSPARK_SUBMIT_ARGS`
3. `spark-defaults.conf`, in `SPARK_CONF_DIR`, else in `conf` of Spark's own folder
4. variables of the environment that Spark itself reads: `MASTER`, `SPARK_DRIVER_MEMORY`
5. `fill`

What is found in 2 to 4 stays where it was found, and is not repeated on a command line, where others would read it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SMALLEST, LARGEST = 1024, 8192  # MiB of a JVM that is driver and executor in one
FLAGS = {
    "--master": "spark.master",
    "--remote": "spark.remote",
    "--name": "spark.app.name",
    "--packages": "spark.jars.packages",
    "--jars": "spark.jars",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
VARIABLES = {"MASTER": "spark.master", "SPARK_DRIVER_MEMORY": "spark.driver.memory"}
DEFAULTS, LOGGING = "spark-defaults.conf", "log4j2.properties"
ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
KEY_AND_VALUE = re.compile(r"((?:\\.|[^\s=:\\])+)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def found() -> dict[str, str]:
    """What has been said of the settings before a JVM is there. Cost: a file or two are read."""
    flags = _in_flags(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    file = flags.pop("--properties-file", None)
    here = {} if file is not None else _in_file(_folder() / DEFAULTS)
    if file is not None:
        here = _in_file(Path(file))
    variables = {key: os.environ[name] for name, key in VARIABLES.items() if os.environ.get(name)}
    return {**variables, **here, **flags}


def found_in(jvm: Any) -> dict[str, str]:
    """The settings with which somebody else has started a JVM, `spark-submit` for instance. Cost: a call of the JVM."""
    return {pair._1(): pair._2() for pair in jvm.org.apache.spark.SparkConf(True).getAll()}


def fill(master: str, said: Mapping[str, str], app_name: str = "pointstamp") -> dict[str, str]:
    """What is filled in where nothing is said. The settings for a small machine are for a JVM that runs the tasks, too.

    The listening ends stay on this machine unless the master is elsewhere.
    """
    filled = {
        "spark.master": master,
        "spark.app.name": app_name,
        "spark.ui.showConsoleProgress": "false",
        "spark.scheduler.mode": "FAIR",  # jobs of several times share the executors (progress.runtime.on_spark)
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # else each expression looks at Python's stack
    }
    if is_local(master):
        few = str(max(2, _cores(master)))
        filled |= {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": few,
            "spark.default.parallelism": few,
            "spark.driver.memory": f"{_memory()}m",
        }
        if not (_folder() / LOGGING).is_file():
            filled["spark.log.level"] = "FATAL"  # what fails is raised, in one line
    if is_here(master):
        filled |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return {key: value for key, value in filled.items() if key not in said}


def is_local(master: str) -> bool:
    """Whether the driver's machine runs the tasks."""
    return master.startswith("local")


def is_here(master: str) -> bool:
    """Whether all of it runs on this machine."""
    return is_local(master) or re.match(r"spark://(127\.|localhost[:/])", master) is not None


def as_text(value: Any) -> str:
    """A setting as Spark writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def joined(*lists: str) -> str:
    """Lists with commas as one."""
    return ",".join(part for part in lists if part)


# --- where settings stand --------------------------------------------------------------------------------------------


def _folder() -> Path:
    """The folder of Spark's settings."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf")  # type: ignore[no-untyped-call]


def _in_flags(written: str) -> dict[str, str]:
    """Settings among the flags of spark-submit, and the file that is named in place of `spark-defaults.conf`."""
    settings: dict[str, str] = {}
    named: dict[str, str] = {}
    words = iter(shlex.split(written))
    for word in words:
        flag, is_joined, value = word.partition("=")
        if flag not in FLAGS and flag not in ("--conf", "-c", "--properties-file"):
            continue
        value = value if is_joined else next(words, "")
        if flag in FLAGS:
            named[FLAGS[flag]] = value
        elif flag == "--properties-file":
            named[flag] = value
        else:
            key, _, of_key = value.partition("=")
            settings[key] = of_key
    return {**settings, **named}


def _in_file(path: Path) -> dict[str, str]:
    """The settings in a file; none where there is no such file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(properties(text))


def properties(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a file as Java reads it: `key value`, `key=value` or `key: value`, comments after # or !."""
    lines = iter(text.splitlines())
    for line in lines:
        whole = line.lstrip()
        if not whole or whole.startswith(("#", "!")):
            continue
        while len(whole) - len(whole.rstrip("\\")) & 1:  # an odd number of backslashes: the next line belongs to it
            whole = whole[:-1] + next(lines, "").lstrip()
        pair = KEY_AND_VALUE.match(whole)
        if pair is not None:
            yield _unescaped(pair[1]), _unescaped(pair[2]).strip()


def _unescaped(text: str) -> str:
    def plain(escaped: re.Match[str]) -> str:
        letter = escaped[1]
        return (
            chr(int(letter[1:], 16))
            if len(letter) > 1
            else {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(letter, letter)
        )

    return ESCAPED.sub(plain, text)


# --- this machine ----------------------------------------------------------------------------------------------------


def _cores(master: str) -> int:
    threads = re.match(r"local(?:\[(\d+|\*))?", master)
    if threads is None or threads[1] is None:
        return 1
    return int(threads[1]) if threads[1] != "*" else os.cpu_count() or 1


def _memory() -> int:
    """MiB for a JVM that is driver and executor in one: a third of the machine's, from 1 GiB to 8 GiB."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
    except (ValueError, OSError, AttributeError):
        there = 0
    return min(max(there // 3, SMALLEST), LARGEST)
