"""What `pointstamp run --engine spark` needs besides: a session, with the master and settings of the command line."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from graphs.arguments import check_of_use, settings_of
from graphs.running.pipeline import load_pipeline
from graphs.running.shipped_code import ship_beside, ship_by_value
from graphs.terminal import complain
from progress.runtime import Dataflow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from progress.runtime.on_spark.engine import OnSpark


def check_options(options: argparse.Namespace) -> None:
    """Refuse Spark's options where another engine runs, and settings that are none."""
    if options.engine != "spark":
        check_of_use(options, ("master", "conf", "tables"), f"to the engine {options.engine}", "--engine spark")
    settings_of(options.conf)


def on_spark(options: argparse.Namespace, opened: ExitStack) -> OnSpark | None:
    """The run's Spark, before the pipeline is loaded, so that a pipeline that asks for the active session has this one.

    None with the other engines. A session that is started here is stopped when `opened` is closed.
    """
    if options.engine != "spark":
        return None
    from progress.runtime.on_spark.engine import OnSpark
    from progress.runtime.on_spark.session import active_session, start_session

    session = active_session()
    if session is None:
        session = start_session(options.master, settings_of(options.conf), graphframes=False)
        opened.callback(_stop, session)
    elif options.master or options.conf:
        complain("pointstamp: a session is active and is used as it is: --master and --conf change nothing")
    return opened.enter_context(OnSpark(session, options.tables))


def _stop(session: SparkSession) -> None:
    with suppress(Exception):  # its JVM may have gone, which has been said
        session.stop()


def load_on(spark: OnSpark | None, path: str) -> Dataflow:
    """The dataflow of a file; its code is at the workers of Spark as well."""
    if spark is None:
        return load_pipeline(path)
    if Path(path).is_file():  # else it is refused in a moment
        ship_beside(spark.session, Path(path))
    return load_pipeline(path, ship_by_value)
