"""Fetch a broker of Kafka for the tests into .venv/kafka: its jars, by Ivy, which PySpark brings along.

.venv/bin/python scripts/fetch_kafka.py

It needs Java. What is there already is not fetched again; what is there is whole.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

VERSION = "4.1.0"
BROKER = ["org.apache.kafka", "kafka_2.13", VERSION]
FOLDER = Path(sys.prefix) / f"kafka-{VERSION}"


def main() -> None:
    """Fetch it, or say in one line why not."""
    if FOLDER.exists():
        return
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None or shutil.which("java") is None:
        sys.exit("PySpark or Java is missing")
    ivy = next((Path(spark.origin).parent / "jars").glob("ivy-*.jar"))
    new = FOLDER.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    run = ["java", "-jar", str(ivy), "-error", "-dependency", *BROKER, "-confs", "default"]
    told = subprocess.run(
        [*run, "-retrieve", f"{new}/[artifact]-[revision].[ext]"], capture_output=True, text=True, check=False
    )
    if told.returncode or not [*new.glob("kafka_*.jar")]:
        said = [line for line in (told.stderr + told.stdout).splitlines() if line.strip(" .\t")]
        sys.exit(said[-1].strip() if said else "its jars cannot be fetched")
    new.rename(FOLDER)


if __name__ == "__main__":
    main()
