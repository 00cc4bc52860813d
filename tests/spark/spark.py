"""The one Spark session of the tests: local, on two cores, with GraphFrames, and what makes small jobs start sooner.

What is said to all JVMs of the tests: `small_jvm`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from progress.runtime.on_spark.session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.scheduler.mode": "FAIR",
}


@cache
def spark_session() -> SparkSession:
    """The session, started when the first test asks for it."""
    young = "-Xmn600m"  # nearly all that a test makes is soon of no use
    return start_session("local[2]", {**SETTINGS, "spark.driver.extraJavaOptions": young})
