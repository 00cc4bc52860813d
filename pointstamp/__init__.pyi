"""The names of `pointstamp/__init__.py` for type checkers; a test compares the two."""

from graphs import (
    Graph as Graph,
)
from graphs import (
    JsonLines as JsonLines,
)
from graphs import (
    add_operator as add_operator,
)
from graphs import (
    compose as compose,
)
from graphs import (
    from_data as from_data,
)
from graphs import (
    from_edges as from_edges,
)
from graphs import (
    from_networkx as from_networkx,
)
from graphs import (
    from_predecessors as from_predecessors,
)
from graphs import (
    from_text as from_text,
)
from graphs import (
    load as load,
)
from graphs import (
    to_data as to_data,
)
from graphs import (
    to_networkx as to_networkx,
)
from graphs.assertions import (
    assert_valid_graph as assert_valid_graph,
)
from graphs.checking.check import (
    check_graph as check_graph,
)
from graphs.command import (
    main as main,
)
from graphs.sorter import (
    TopologicalSorter as TopologicalSorter,
)
from graphs.streams import (
    Collection as Collection,
)
from graphs.streams import (
    Flow as Flow,
)
from graphs.streams import (
    KeyedStream as KeyedStream,
)
from graphs.streams import (
    Stream as Stream,
)
from graphs.streams import (
    rounds as rounds,
)
from graphs.streams import (
    unchanged as unchanged,
)
from progress import (
    Antichain as Antichain,
)
from progress import (
    Blocker as Blocker,
)
from progress import (
    Closure as Closure,
)
from progress import (
    CouldResultIn as CouldResultIn,
)
from progress import (
    Domain as Domain,
)
from progress import (
    Eligibility as Eligibility,
)
from progress import (
    Finite as Finite,
)
from progress import (
    Holding as Holding,
)
from progress import (
    Int as Int,
)
from progress import (
    Lex as Lex,
)
from progress import (
    Nat as Nat,
)
from progress import (
    Pointstamp as Pointstamp,
)
from progress import (
    PointstampError as PointstampError,
)
from progress import (
    Product as Product,
)
from progress import (
    Report as Report,
)
from progress import (
    Step as Step,
)
from progress import (
    Sum as Sum,
)
from progress import (
    Tagged as Tagged,
)
from progress import (
    Tracker as Tracker,
)
from progress import (
    Unit as Unit,
)
from progress import (
    Why as Why,
)
from progress import (
    check_conditions as check_conditions,
)
from progress import (
    clock as clock,
)
from progress import (
    close as close,
)
from progress import (
    eligible as eligible,
)
from progress import (
    minimal_elements as minimal_elements,
)
from progress import (
    universal_time as universal_time,
)
from progress.escape import (
    check_behaviours as check_behaviours,
)
from progress.laws import (
    LAWS as LAWS,
)
from progress.laws import (
    check_composition as check_composition,
)
from progress.laws import (
    check_domain as check_domain,
)
from progress.laws import (
    check_summary as check_summary,
)
from progress.local_history import (
    Event as Event,
)
from progress.local_history import (
    Message as Message,
)
from progress.local_history import (
    Received as Received,
)
from progress.notification import (
    Blocked as Blocked,
)
from progress.runtime import (
    SILENT as SILENT,
)
from progress.runtime import (
    Batch as Batch,
)
from progress.runtime import (
    Bundle as Bundle,
)
from progress.runtime import (
    BundleSink as BundleSink,
)
from progress.runtime import (
    Complete as Complete,
)
from progress.runtime import (
    Dataflow as Dataflow,
)
from progress.runtime import (
    DeadLetter as DeadLetter,
)
from progress.runtime import (
    KafkaSink as KafkaSink,
)
from progress.runtime import (
    KafkaSource as KafkaSource,
)
from progress.runtime import (
    Mapped as Mapped,
)
from progress.runtime import (
    Messages as Messages,
)
from progress.runtime import (
    Node as Node,
)
from progress.runtime import (
    NodeFailed as NodeFailed,
)
from progress.runtime import (
    NotAllowed as NotAllowed,
)
from progress.runtime import (
    Out as Out,
)
from progress.runtime import (
    ParquetFiles as ParquetFiles,
)
from progress.runtime import (
    PostgresTable as PostgresTable,
)
from progress.runtime import (
    Refused as Refused,
)
from progress.runtime import (
    Relay as Relay,
)
from progress.runtime import (
    Retry as Retry,
)
from progress.runtime import (
    SourceFailed as SourceFailed,
)
from progress.runtime import (
    SqliteTable as SqliteTable,
)
from progress.runtime import (
    Stage as Stage,
)
from progress.runtime import (
    State as State,
)
from progress.runtime import (
    Stop as Stop,
)
from progress.runtime.on_spark.sinks.delta import (
    DeltaSink as DeltaSink,
)
from progress.runtime.on_spark.sinks.parquet import (
    ParquetSink as ParquetSink,
)
from progress.runtime.on_spark.sinks.parquet import (
    read_committed as read_committed,
)
from progress.runtime.on_spark.sources.files.source import (
    FileSource as FileSource,
)
from progress.runtime.on_spark.sources.rows import (
    FrameSource as FrameSource,
)
from progress.runtime.on_spark.sources.stream import (
    StreamSource as StreamSource,
)
from progress.runtime.policies import (
    by_count as by_count,
)
from progress.runtime.policies import (
    by_event_time as by_event_time,
)
from progress.runtime.policies import (
    with_idleness as with_idleness,
)
from progress.summary import (
    OpaqueSummary as OpaqueSummary,
)
from progress.way import (
    Fold as Fold,
)
from recursion.program import (
    Exit as Exit,
)
from recursion.program import (
    call as call,
)

__all__: list[str]
__version__: str
