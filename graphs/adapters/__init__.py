"""Graphs that people have in other tools: `pointstamp check --from TOOL TARGET` (docs/adapters.md).

An *adapter* reads the graph of one tool. It is a function from a target, the text after `--from TOOL`, to what was
found: the graph, whose times are rounds or partitions; findings, in the words of the tool; what stays unknown, because
the tool decides it only when it runs. It imports the tool when it is called, never before. `TOOLS` names those of this
project; `--from` takes one of your own as `module:function` or `file.py:function`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from graphs.codes import Severity
from graphs.graph import Graph
from progress.errors import PointstampError, brief, one_of

if TYPE_CHECKING:
    from progress.runtime import Dataflow


class Finding(NamedTuple):
    """One fault: a code of the registry, and what it says of this graph in the words of the tool.

    `hint` is the smallest change that mends it. `witness` is plain data that shows it; its key `walks`, where there is
    one, is drawn: walks of steps `[name, time]` or `[name, time, note]`. `severity` is the code's usual one if None.

    Examples
    --------
    >>> from graphs.adapters import Finding
    >>> Finding("PS912", "'sum' may never run", "let 'a' always send").severity is None
    True
    """

    code: str
    message: str
    hint: str = ""
    witness: Mapping[str, Any] = MappingProxyType({})
    severity: Severity | None = None


class Found(NamedTuple):
    """What an adapter found in a target.

    `graph` has the tool's names; it is judged like a graph of a file (Conditions 1 and 2, transitivity, advancing).
    `unknown`: sentences, each about something that cannot be read from the graph because it is decided in a run.
    `told`: codes of the engine's findings that `findings` say already, in the words of the tool.

    Examples
    --------
    >>> from graphs import from_edges
    >>> from graphs.adapters import Found
    >>> Found(from_edges([(None, "a")])).findings
    ()
    """

    graph: Graph
    findings: Sequence[Finding] = ()
    unknown: Sequence[str] = ()
    told: Sequence[str] = ()


class Adapter(Protocol):
    """Reads one target.

    Laws: it raises nothing but `PointstampError` (PS903 where the target is not the tool's; what
    `graphs.adapters.target` raises); it runs nothing of the graph; the same target gives the same answer.
    """

    def __call__(self, target: str) -> Found: ...  # pragma: no cover - a protocol


class Tool(NamedTuple):
    """A row of the registry: where the adapter is, what it needs, and what its target looks like."""

    module: str
    library: str
    takes: str


# Each module has a function `read`, which is the adapter. `library` is the distribution that has to be installed, by
# the extra of the tool's name; none where the standard library is enough.
TOOLS: dict[str, Tool] = {
    "airflow": Tool("graphs.adapters.airflow", "apache-airflow-core", "file.py or module: the Dags in it"),
    "dagster": Tool("graphs.adapters.dagster", "dagster", "module:defs, a Definitions"),
    "dbt": Tool("graphs.adapters.dbt", "", "target/manifest.json"),
    "networkx": Tool("graphs.adapters.networkx", "networkx", "module:graph, a DiGraph or a MultiDiGraph"),
    "langgraph": Tool("graphs.adapters.langgraph", "langgraph", "module:graph, a StateGraph, compiled or not"),
    "agent-framework": Tool("graphs.adapters.agent_framework", "agent-framework-core", "module:workflow, a Workflow"),
    "pydantic-graph": Tool("graphs.adapters.pydantic_graph", "pydantic-graph", "module:graph, a built Graph"),
    "haystack": Tool("graphs.adapters.haystack", "haystack-ai", "module:pipeline, a Pipeline"),
    "adk": Tool("graphs.adapters.adk", "google-adk", "module:workflow, a Workflow"),
}


def adapter(name: str) -> Adapter:
    """The adapter of this name, or one of the user's own, written `module:function`; its module is imported now.

    PS901 where there is none, PS902 where its library is not installed.
    """
    if ":" in name:
        from graphs.adapters.target import load

        own: Any = load(name)
        if not callable(own):
            raise PointstampError("PS901", f"{brief(name)} is not an adapter: it cannot be called", _OWN)
        return _checked(name, own)
    tool = TOOLS.get(name)
    if tool is None:
        raise PointstampError("PS901", f"there is no tool {brief(name)}", one_of(name, TOOLS))
    from importlib import import_module

    try:
        return import_module(tool.module).read  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("graphs."):
            raise
        raise PointstampError(
            "PS902",
            f"--from {name} needs {tool.library}, and the module {error.name} is not installed",
            f"pip install 'pointstamp[{name}]', in the environment of your graph",
        ) from None


def to_dataflow(given: Any) -> Dataflow:
    """The tool's own node functions as a dataflow, for the engine `asyncio`: of LangGraph, or of agent-framework.

    Joins wait until nothing of their round can come any more, and rounds stay apart (docs/adapters.md).

    Returns
    -------
    The dataflow, to be run.

    Raises
    ------
    PointstampError
        PS903 where it is a graph of neither tool.

    Examples
    --------
    >>> from graphs.adapters import to_dataflow
    >>> from pointstamp import PointstampError
    >>> try:
    ...     to_dataflow("a text")
    ... except PointstampError as error:
    ...     print(error.code, error.hint)
    PS903 a StateGraph of LangGraph, or a Workflow of agent-framework
    """
    tool = type(given).__module__.partition(".")[0]
    if tool == "langgraph":
        from graphs.adapters.langgraph_dataflow import to_dataflow as of_langgraph

        return of_langgraph(given)
    if tool == "agent_framework":
        from graphs.adapters.agent_framework_dataflow import to_dataflow as of_agent_framework

        return of_agent_framework(given)
    right = "a StateGraph of LangGraph, or a Workflow of agent-framework"
    raise PointstampError("PS903", f"{brief(given)} cannot be run as a dataflow", right)


_OWN = "a function from the target's text to graphs.adapters.Found"


def _checked(name: str, own: Callable[[str], object]) -> Adapter:
    """An adapter of the user's own, held to the protocol."""

    def read(target: str) -> Found:
        from graphs.adapters.target import users_code

        with users_code(f"the adapter {name}"):
            found = own(target)
        if not isinstance(found, Found) or not isinstance(found.graph, Graph):
            raise PointstampError("PS901", f"the adapter {brief(name)} gave {brief(found)}", _OWN)
        return found

    return read
