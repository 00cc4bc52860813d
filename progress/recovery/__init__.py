"""Recovery from failures as models that are explored (*Failure Transparency in Stateful Dataflow Systems*, here FT).

`progress.recovery.model` has the implementation model, `progress.recovery.transparency` what failure transparency is of
any transition system, `progress.recovery.construction` the failure-free trace behind a faulty one. Nothing is imported
from here, so that each part costs only itself.
"""
