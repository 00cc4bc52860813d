"""PIPELINE.py: loaded as a module, it has to define `dataflow`, or a program of streams `flow` (docs/running.md)."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Callable, Collection
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType, TracebackType

from graphs.arguments import InFile
from graphs.beside import look_first_in
from graphs.graph import Graph
from graphs.running.own_files import reading
from graphs.terminal import FINDINGS, complain
from graphs.wording import printable
from progress.errors import PointstampError, brief
from progress.runtime import Dataflow
from progress.runtime.durable.bundles import IN as IN_A_SINK
from progress.runtime.failure import NodeFailed
from progress.runtime.source_failure import SourceFailed

IN_A_FILE = "in "  # what a note of `load` begins with
ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(f"{ROOT / package}/" for package in ("progress", "graphs", "recursion"))
STANDARD = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
INSTALLED = ("site-packages/", "dist-packages/")
SPARK = ("/pyspark/", "/py4j/")  # how it passes on what the JVM says is of no interest

OWN_FAULTS = ("PS713", "PS732", "PS733", "PS735", "PS739", "PS748", "PS762")  # of a run; others are of the command


class PipelineFailed(PointstampError):
    """The user's own code raised. `trace` is the part of the traceback that is theirs."""

    def __init__(self, what: str, error: BaseException) -> None:
        says = str(error)
        super().__init__("PS733", f"{what}: {type(error).__name__}" + (f": {says}" if says else ""), "mend it")
        self.trace = own_trace(error)


def load_pipeline(path: str, begun: Callable[[ModuleType], object] = lambda module: None) -> Dataflow:
    """The dataflow of a file, its `dataflow` or that of its `flow`; its imports are looked for in its folder first.

    `begun` is told of the module before any of the file is run.

    PS734 where there is none, `PipelineFailed` where the file raises; what it raises of this project's own errors, as
    for a graph file that is none, is told with the place in the file.
    """
    module = _loaded(Path(path), path, begun)
    if not hasattr(module, "dataflow"):
        if hasattr(module, "flow"):
            return _of_flow(path, module.flow)
        raise _no_dataflow(f"{path} defines no dataflow", "dataflow = Dataflow(graph, nodes), or flow = Flow()")
    if not isinstance(module.dataflow, Dataflow):
        what = f"dataflow in {path} is {brief(module.dataflow)}"
        raise _no_dataflow(what, "dataflow = Dataflow(graph, nodes), of pointstamp")
    return module.dataflow


def load_graph(path: str) -> Graph:
    """The graph of a pipeline, for those who ask nothing else of it. What the file prints goes to standard error.

    PS734 and `PipelineFailed` as in `load_pipeline`.
    """
    try:
        with redirect_stdout(sys.stderr):
            graph = load_pipeline(path).graph
    except _InPipeline as error:
        error.line = error.at_line  # a place in the file that is looked at, as of graph files
        raise
    if not isinstance(graph, Graph):
        raise _no_dataflow(
            f"the graph of {path} is {brief(graph)}", "one of pointstamp.Graph, which has names and places"
        )
    return graph


def _of_flow(path: str, flow: object) -> Dataflow:
    """The dataflow of a program of streams, which may be refused as a whole."""
    from graphs.streams import Flow  # a file without one does without

    if not isinstance(flow, Flow):
        raise _no_dataflow(f"flow in {path} is {brief(flow)}", "flow = Flow(), of pointstamp")
    try:
        return flow.dataflow
    except PointstampError as error:
        raise _InPipeline(path, error) from None


def _loaded(path: Path, shown: str, begun: Callable[[ModuleType], object]) -> ModuleType:
    if not path.is_file():
        raise _no_dataflow(f"there is no file {shown}", "a Python file that defines dataflow, or flow")
    look_first_in(path.resolve().parent)
    known = sys.modules.get(path.stem)
    is_taken = known is not None and getattr(known, "__file__", None) != str(path.absolute())
    name = "pipeline" if is_taken or not path.stem.isidentifier() else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _no_dataflow(f"{shown} is no Python file", "a name that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle looks for its classes
    begun(module)
    try:
        with reading():
            spec.loader.exec_module(module)
    except PointstampError as error:
        line = next((frame.lineno for frame in reversed(_frames(error)) if frame.filename == spec.origin), None)
        raise _InPipeline(shown if line is None else f"{shown}:{line}", error) from None
    except (Exception, SystemExit) as error:
        raise PipelineFailed(f"{shown} cannot be loaded", error) from None
    return module


def _no_dataflow(what: str, right: str) -> PointstampError:
    return PointstampError("PS734", what, right)


class _InPipeline(InFile):
    """One of this project's errors, raised while a pipeline is loaded."""

    def __init__(self, place: str, error: PointstampError) -> None:
        super().__init__(place, error)
        file, _, line = place.partition(":")
        self.message = error.message.removeprefix(f"{Path(file).name}:{line}: ")  # as a program of streams has it
        within = next((note for note in getattr(error, "__notes__", ()) if note.startswith(IN_A_FILE)), "")
        if within:  # a graph file that it loads
            self.message = f"{within}: {self.message}"
        if within and error.code == "PS001":
            self.hint = (
                "a file as seen from the current folder; load(Path(__file__).with_name(...)) is beside the program"
            )
        self.at_line = int(line) if line else None


# --- tracebacks -------------------------------------------------------------------------------------------------------


def told(pipeline: str, act: Callable[[], int], own_faults: Collection[str] = OWN_FAULTS) -> int:
    """The exit code of what is done with a pipeline; where its own code fails, its traceback and one line.

    Errors of this project with the codes `own_faults` are told so as well; others are raised.
    """
    try:
        return act()
    except NodeFailed as failure:
        value = "" if failure.value is None else f"; the message: {brief(failure.value)}"
        return _failed(PipelineFailed("", failure.error).trace, f"{failure}{value}")
    except SourceFailed as failure:
        if isinstance(failure.error, PointstampError):  # what came in is at fault, not the pipeline
            raise
        return _failed(PipelineFailed("", failure.error).trace, str(failure))
    except PipelineFailed as failure:
        return _failed(failure.trace, str(failure))
    except PointstampError as error:
        if error.code not in own_faults:
            raise
        return _failed("", str(error))
    except (Exception, SystemExit) as error:  # a node that exits has not done what the command is for
        if not is_own(error):
            raise
        where = "".join(f" {note}" for note in getattr(error, "__notes__", ()) if note.startswith(IN_A_SINK))
        found = PipelineFailed(f"{pipeline} failed{where}", error)
        return _failed(found.trace, str(found))


def _failed(trace: str, line: str) -> int:
    sys.stderr.write("".join(f"{printable(each)}\n" for each in trace.splitlines()))
    complain(f"pointstamp: {line}")
    return FINDINGS


def is_own(error: BaseException) -> bool:
    """Whether code of the user's raised it, or called what did."""
    return any(_is_theirs(frame.filename) for frame in _frames(error))


def own_trace(error: BaseException) -> str:
    """The traceback of an exception as Python shows it, from the first line of the user's own code on."""
    error = error.error if isinstance(error, NodeFailed) else error
    found = traceback.TracebackException.from_exception(error)
    pending: list[traceback.TracebackException] = [found]
    while pending:
        each = pending.pop()
        pending += [other for other in (each.__cause__, each.__context__) if other is not None]
        pending += each.exceptions or ()
        frames = list(each.stack)
        first = next((number for number, frame in enumerate(frames) if _is_theirs(frame.filename)), len(frames))
        each.stack[:] = [frame for frame in frames[first:] if not _is_passed_over(frame.filename)]
    return "".join(found.format())


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    trace: TracebackType | None = error.__traceback__
    return list(traceback.extract_tb(trace))


def _is_passed_over(file: str) -> bool:
    return file.startswith(OURS) or any(part in file for part in SPARK)


def _is_theirs(file: str) -> bool:
    if file.startswith((*OURS, "<frozen ")):
        return False
    return not file.startswith(STANDARD) or any(part in file for part in INSTALLED)
