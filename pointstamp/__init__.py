"""Pointstamp: may anything at or before time t still arrive at node v?

Everything that most programs use, under one name:

    from pointstamp import Graph, Tracker, check_conditions, load

Each name is the one of the package where it lives (`progress`, `recursion`, `graphs`), imported when it is first asked
for: `import pointstamp` itself imports nothing else. What is for special purposes is imported from those packages.
"""

_NAMES = {
    "graphs": """
        Graph JsonLines add_operator compose from_data from_edges from_networkx from_predecessors from_text load to_data
        to_networkx
    """,
    "graphs.assertions": "assert_valid_graph",
    "graphs.checking.check": "check_graph",
    "graphs.command": "main",
    "graphs.sorter": "TopologicalSorter",
    "graphs.streams": "Collection Flow KeyedStream Stream rounds unchanged",
    "progress": """
        Antichain Blocker Closure CouldResultIn Domain Eligibility Finite Holding Int Lex Nat Pointstamp PointstampError
        Product Report Step Sum Tagged Tracker Unit Why check_conditions clock close eligible minimal_elements
        universal_time
    """,
    "progress.escape": "check_behaviours",
    "progress.laws": "LAWS check_composition check_domain check_summary",
    "progress.local_history": "Event Message Received",
    "progress.notification": "Blocked",
    "progress.runtime": """
        SILENT Batch Bundle BundleSink Complete Dataflow DeadLetter KafkaSink KafkaSource Mapped Messages Node
        NodeFailed NotAllowed Out ParquetFiles PostgresTable Refused Relay Retry SourceFailed SqliteTable Stage State
        Stop
    """,
    "progress.runtime.on_spark.sinks.delta": "DeltaSink",
    "progress.runtime.on_spark.sinks.parquet": "ParquetSink read_committed",
    "progress.runtime.on_spark.sources.files.source": "FileSource",
    "progress.runtime.on_spark.sources.rows": "FrameSource",
    "progress.runtime.on_spark.sources.stream": "StreamSource",
    "progress.runtime.policies": "by_count by_event_time with_idleness",
    "progress.summary": "OpaqueSummary",
    "progress.way": "Fold",
    "recursion.program": "Exit call",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - the names are strings


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("pointstamp")
    if name not in _MODULE_OF:
        import sys

        said = f"module 'pointstamp' has no attribute {name!r}"
        raise AttributeError(said, name=name, obj=sys.modules[__name__])  # so that Python says which name is near
    from importlib import import_module

    from pointstamp.foreign import foreign_package

    complaint = foreign_package()
    if complaint:
        raise ImportError(complaint)
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
