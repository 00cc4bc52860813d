"""The former name of `progress.runtime.on_spark.session`: what users had from here stays here for one release."""

from progress.runtime.on_spark.session import DELTA, DELTA_SETTINGS, active_session, start_session

__all__ = ["DELTA", "DELTA_SETTINGS", "active_session", "start_session"]
