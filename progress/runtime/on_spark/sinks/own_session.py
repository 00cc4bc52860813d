"""Rows in a session of their own: the settings, views and tables of theirs, and settings that nobody else meets.

What some tables are told of a write is a setting of the session, which all threads share. A clone has it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def cloned(rows: DataFrame, settings: Mapping[str, str]) -> tuple[Any, Any]:
    """A session like that of the rows, with these settings, and the rows in it; both of the JVM. Cost: no job.

    Its catalogs are others, so what it has written is seen elsewhere after `refreshTable`.
    """
    jvm: Any = rows.sparkSession._jvm
    session: Any = rows.sparkSession._jsparkSession.cloneSession()
    for name, value in settings.items():
        session.conf().set(name, value)
    return session, jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, rows._jdf.logicalPlan())
