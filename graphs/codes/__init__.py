"""The registry: every code that this project reports, with its name, its usual severity, and one line that says it.

Law (tested): the codes here, the codes in the sources, and the pages in docs/codes are the same set.

The first digit tells where a code comes from: 0 a file that cannot be read as a graph, 1 Condition 1, 2 Condition 2, 3
cycles, 4 shape, 5 steps and questions that do not fit the graph, 6 answers that cannot be had, 7 a dataflow that runs,
8 time-aware operators and streams, 9 graphs of other tools. The long explanations are loaded when one is looked at, not
before: every `pointstamp check` imports this file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from progress.errors import PointstampError

if TYPE_CHECKING:
    from graphs.codes.explanation import Example, Explanation

Severity: TypeAlias = Literal["error", "warning", "note"]


class Code(NamedTuple):
    """A code of the registry."""

    number: str
    name: str
    severity: Severity
    says: str

    @property
    def explanation(self) -> Explanation:
        """What it means, why it matters, an example, a fix."""
        from graphs.codes.of_adapters import ADAPTERS
        from graphs.codes.of_calls import CALLS
        from graphs.codes.of_commands import COMMANDS
        from graphs.codes.of_engines import ENGINES
        from graphs.codes.of_files import FILES
        from graphs.codes.of_live import LIVE
        from graphs.codes.of_models import MODELS
        from graphs.codes.of_operators import OPERATORS
        from graphs.codes.of_partitions import PARTITIONS
        from graphs.codes.of_questions import QUESTIONS
        from graphs.codes.of_runs import RUNS
        from graphs.codes.of_spark import SPARK
        from graphs.codes.of_steps import STEPS
        from graphs.codes.of_streams import STREAMS
        from graphs.codes.of_tables import TABLES
        from graphs.codes.of_verdicts import VERDICTS

        runs = (STEPS, RUNS, COMMANDS, LIVE, ENGINES, SPARK, TABLES, STREAMS)
        parts = (FILES, CALLS, VERDICTS, QUESTIONS, MODELS, OPERATORS, ADAPTERS, PARTITIONS, *runs)
        return next(part[self.number] for part in parts if self.number in part)

    def to_json(self) -> dict[str, str]:
        """All that is known of it, as plain data."""
        found = self.explanation
        words = {"means": found.means, "why": found.why, "fix": found.fix}
        return {**self._asdict(), **words, "example": found.example.text, "language": found.example.language}

    @property
    def means(self) -> str:
        """What it means."""
        return self.explanation.means

    @property
    def why(self) -> str:
        """Why it matters."""
        return self.explanation.why

    @property
    def example(self) -> Example:
        """Something real that shows it."""
        return self.explanation.example

    @property
    def fix(self) -> str:
        """How to mend what it reports."""
        return self.explanation.fix


# number, name, usual severity, what it says
_TABLE: tuple[tuple[str, str, Severity, str], ...] = (
    # A file that cannot be read as a graph.
    ("PS001", "unreadable-file", "error", "The file cannot be opened, or is not a UTF-8 text."),
    ("PS002", "syntax-error", "error", "The text is not well-formed YAML or JSON."),
    ("PS003", "refused-feature", "error", "The file uses a feature of YAML that graph files do without."),
    ("PS004", "too-large", "error", "A file, a number, a name or a nesting is beyond what is read."),
    ("PS005", "duplicate-key", "error", "One mapping has the same key twice."),
    ("PS006", "unknown-key", "error", "A key is none that graph files have."),
    ("PS007", "wrong-type", "error", "A value is of another kind than its key asks for."),
    ("PS008", "unsupported-version", "error", "The format version is missing, or not one that is read."),
    ("PS009", "ambiguous-name", "error", "A name is not a text, or not everybody reads it as one."),
    ("PS010", "name-taken", "error", "Two nodes or edges have the same name."),
    ("PS011", "unknown-location", "error", "A name leads to no node, or to no edge that leaves the node."),
    ("PS012", "bad-domain", "error", "This is not a domain of times."),
    ("PS013", "bad-summary", "error", "This is not a summary."),
    ("PS014", "bad-time", "error", "A summary contains something that is not a time."),
    ("PS015", "self-loop", "error", "An edge leads from a node to the same node."),
    ("PS016", "bad-recursion", "error", "What is said of calls does not describe calls of this graph."),
    ("PS017", "times-beside-stacks", "error", "A graph with calls has other times than stacks, or changes them."),
    # Condition 1, Condition 2, cycles.
    ("PS101", "requests-into-the-past", "error", "An event may trigger a notification request at an earlier time."),
    ("PS201", "sends-into-the-past", "error", "A message can come back to a node before it left."),
    ("PS202", "arrives-incomparable", "warning", "A message can come back neither before nor after it left."),
    ("PS301", "cycle-without-advance", "error", "A cycle can return to its start without a later time."),
    # Shape.
    ("PS401", "domain-mismatch", "error", "A summary, or an edge, joins times that do not fit together."),
    ("PS402", "unreachable", "warning", "Nothing can ever arrive here."),
    ("PS403", "dangling", "warning", "What arrives here has no effect."),
    ("PS404", "begins-by-itself", "note", "No edge leads here: it can only begin by itself."),
    ("PS411", "unreachable-from-in", "error", "No run of the graph can ever reach this node."),
    ("PS412", "no-way-out", "error", "No path leads from this node to the end of a run."),
    ("PS413", "no-base-case", "error", "Every run calls another run, so none can end."),
    ("PS414", "past-the-ends", "error", "An edge enters the beginning of a run, or leaves its end."),
    ("PS415", "no-epochs", "error", "A graph with calls is joined to the outside, and has no epochs."),
    ("PS416", "joins-two-graphs", "error", "An edge joins two graphs that call each other."),
    # Steps of a running system.
    ("PS501", "bad-line", "error", "The line or argument is not one that a step or a question has."),
    ("PS502", "unknown-place", "error", "A step or a question names a node or an edge that is not there."),
    ("PS503", "no-time-there", "error", "A step or a question names something that is not a time of its location."),
    ("PS504", "wrong-kind-of-place", "error", "Something was put at a node that belongs on an edge, or the reverse."),
    ("PS505", "count-below-zero", "error", "More messages are consumed than are queued."),
    ("PS506", "outside-clock", "error", "Nothing outstanding could result in what the step adds."),
    ("PS507", "not-requested", "error", "A notification is delivered that nobody waits for."),
    ("PS508", "not-eligible", "error", "A notification is delivered too early."),
    ("PS509", "input-moves-back", "error", "An input opens again at a time that it has passed."),
    ("PS510", "late-start", "error", "The start of a session comes after its beginning."),
    ("PS511", "bad-snapshot", "error", "This is not a snapshot of a tracker of this graph."),
    ("PS512", "no-such-engine", "error", "The engine or the kernel that was asked for is not there."),
    ("PS513", "bad-trace", "error", "A line belongs to no recorded session."),
    ("PS514", "sorter-misused", "error", "A sorter is used out of turn, or told of a node it has not handed out."),
    # Questions.
    ("PS601", "no-minimal-times", "error", "The answer goes down without end: it has no earliest times."),
    ("PS602", "outside-domain", "error", "A summary of your own gives something that is not a time of its target."),
    ("PS603", "search-too-long", "error", "A could-result-in question exceeded its budget of steps."),
    ("PS604", "closure-too-large", "error", "A closure exceeded its budget of steps."),
    ("PS614", "no-such-code", "error", "There is no diagnostic code of this number or name."),
    ("PS615", "not-a-function", "error", "The step of a node is not a function of its state and an event."),
    ("PS616", "no-interface", "error", "What a graph says of itself to others cannot be composed from its summaries."),
    ("PS617", "not-a-graph", "error", "Something was given where a graph belongs."),
    # Models that are explored.
    ("PS631", "bad-task", "error", "The tasks of a model, or what one of them does, are not what it has."),
    ("PS632", "bad-epochs", "error", "The inputs of a model are not streams of epochs."),
    ("PS633", "no-such-execution", "error", "A trace has a step that cannot be, or is not explained."),
    ("PS634", "explanations-apart", "error", "Two explanations of systems do not fit together."),
    ("PS635", "bad-rollback", "error", "A rollback names a node, an edge or a time that is not there."),
    ("PS636", "several-rollbacks", "error", "There may be several largest ways for nodes to go back."),
    ("PS637", "not-a-system", "error", "What is to be classified is not a system with channels and machines."),
    # A dataflow that runs.
    ("PS701", "no-such-exit", "error", "A node sends on an edge that does not leave it."),
    ("PS702", "sends-too-early", "error", "A node sends at a time that its summary does not allow."),
    ("PS703", "asks-too-early", "error", "A node requests a notification at an earlier time than it may."),
    ("PS704", "out-of-turn", "error", "A node acts after the call that it acts in is over."),
    ("PS705", "node-failed", "error", "The code of a node raised an exception."),
    ("PS706", "no-message", "error", "A source gave something that is not a message."),
    ("PS707", "no-sink", "error", "Values cannot be given to what was named as their sink."),
    ("PS708", "no-node-code", "error", "Code was given for no node, or something that is not code."),
    ("PS709", "no-such-input", "error", "A source was given for an edge that is not an input."),
    ("PS710", "needs-event-loop", "error", "A source can be waited for by the engine asyncio alone."),
    ("PS711", "no-such-runner", "error", "The engine that a dataflow is to run on is not there."),
    ("PS712", "cancelled", "error", "The run was cancelled before its end."),
    ("PS713", "timed-out", "error", "The run took longer than it was given."),
    ("PS714", "no-telemetry", "error", "The library that metrics go through is not installed."),
    ("PS715", "bad-run", "error", "A run was given something that it cannot work with, or has no use for."),
    ("PS716", "no-such-output", "error", "A sink was given for something by which nothing leaves."),
    ("PS717", "loop-in-loop", "error", "An event loop was to begin where one runs already."),
    ("PS718", "bad-on-error", "error", "What is to be done when a node raises is for no node, or cannot be done."),
    ("PS719", "mixed-outputs", "error", "Late or dead messages would leave by an output edge of the graph."),
    ("PS720", "bad-policy", "error", "A time policy cannot work with what it was given."),
    ("PS722", "not-copied", "error", "A node is to be copied for a run, and cannot be."),
    ("PS723", "used-by-another-run", "error", "Two runs, or two nodes, would share what is one's at a time."),
    ("PS724", "source-failed", "error", "A source raised an exception, or no message can be made of what it gave."),
    ("PS725", "sink-failed", "error", "A sink cannot store what leaves, or say what it has stored."),
    ("PS730", "unsafe-state", "error", "The folder of a state belongs to somebody else, or others may write to it."),
    ("PS731", "bad-input-line", "error", "A line of an input is neither a message nor does it complete times."),
    ("PS732", "not-json", "error", "A value that leaves the graph cannot be written as JSON."),
    ("PS733", "pipeline-failed", "error", "The file of a pipeline, or what it defines, raised an exception."),
    ("PS734", "no-dataflow", "error", "There is no file that defines a dataflow."),
    ("PS735", "not-kept", "error", "The state of a node, or a message, cannot be kept."),
    ("PS736", "damaged-state", "error", "A state, or a file of its run, is not as it was left."),
    ("PS737", "other-state", "error", "A state belongs to another command or pipeline."),
    ("PS738", "state-in-use", "error", "Another process runs with this state."),
    ("PS739", "waits-for-ever", "error", "A run is over, and something waits for ever."),
    ("PS740", "unwritable-file", "error", "A file cannot be written: there is no room, or the system does not let it."),
    # Tables in runs.
    ("PS741", "no-session", "error", "This is not a session of Spark, or the engine has no use for one."),
    ("PS742", "kept-nowhere", "error", "A table is kept until a time at a place that does not exist."),
    ("PS743", "no-folder", "error", "A table is kept with a name, and there is no folder for it."),
    ("PS744", "mixed-tables", "error", "Values are not tables of one kind, or there is no kind to make."),
    ("PS745", "bad-row", "error", "Rows do not fit the columns of their table, or the columns are none."),
    ("PS746", "bad-order", "error", "An order of a run cannot be read, or does not fit the run."),
    ("PS747", "not-in-order", "error", "A node is to take its messages in order, and the graph keeps it from that."),
    ("PS748", "replay-differs", "error", "A run that goes on did otherwise than the one that was killed."),
    ("PS749", "no-live-view", "error", "Nothing answers at the address of a live view, or something else does."),
    # Spark.
    ("PS751", "spark-missing", "error", "Spark was asked for and is not installed."),
    ("PS752", "java-missing", "error", "Spark needs Java, and there is none or an old one."),
    ("PS753", "wrong-spark", "error", "This is another version of Spark than is needed."),
    ("PS754", "package-missing", "error", "GraphFrames, or another package for Spark, cannot be had."),
    ("PS755", "spark-connect", "error", "What is asked for needs Spark's JVM, which Spark Connect keeps out of reach."),
    ("PS756", "spark-failed", "error", "A session or a job of Spark failed."),
    ("PS757", "not-in-spark", "error", "Spark cannot compute this in columns."),
    ("PS758", "too-many-rounds", "error", "A run on Spark exceeded its bound on rounds."),
    ("PS759", "spark-cancelled", "error", "A run on Spark was cancelled before its end."),
    ("PS760", "bad-table", "error", "A table is none of nodes or none of edges."),
    ("PS761", "number-too-large", "error", "A number is too large for a column of Spark."),
    ("PS762", "part-lost", "error", "A part of Spark was lost: a worker, a process of Python there, or the JVM."),
    ("PS771", "null-time", "error", "Rows of a source on Spark have no time."),
    ("PS772", "wrong-time", "error", "Rows or files of a source on Spark have a time that is none of the edge."),
    ("PS773", "other-columns", "error", "A DataFrame has other columns than those before it."),
    ("PS774", "unreadable-source", "error", "A source on Spark cannot be read."),
    ("PS776", "stream-failed", "error", "A stream of Structured Streaming failed."),
    ("PS777", "no-commits", "error", "A folder holds no commits of a sink, or one that cannot be read."),
    ("PS778", "not-written", "error", "A time could not be written by its sink."),
    ("PS779", "shared-place", "error", "Two edges write each time once to the same place."),
    ("PS780", "there-already", "error", "A sink's place holds what its run has not written, or the mode is none."),
    ("PS801", "not-an-event", "error", "An operator cannot take what came in."),
    ("PS802", "bad-operator", "error", "An operator was made of something that cannot be right."),
    ("PS803", "not-a-time-of-the-stream", "error", "The time of an event is not a time of the stream."),
    ("PS804", "incomparable-times", "error", "Two times of a stream cannot be compared."),
    ("PS805", "unknown-next-times", "error", "Which times come after a watermark is not known."),
    ("PS806", "not-monotone", "error", "Data came at or below a watermark of before."),
    ("PS807", "broken-specification", "error", "An operator breaks a property of its specification."),
    # Programs of streams.
    ("PS811", "streams-apart", "error", "A step joins streams that are of different flows, loops or times."),
    ("PS812", "no-key", "error", "A step works on the values of a key, and its stream has no keys."),
    ("PS813", "step-name-taken", "error", "Two steps that keep state, two inputs or two outputs have one name."),
    ("PS814", "bad-stream-step", "error", "A step of a stream was given something that it cannot work with."),
    ("PS815", "other-times", "error", "A step needs times of another kind than its stream has."),
    ("PS816", "bad-loop-body", "error", "What the body of a loop gives does not lead back into it."),
    ("PS817", "loop-without-end", "error", "A loop goes on after as many rounds as it may have."),
    ("PS818", "not-a-change", "error", "What came in for a collection is not a change, or has no key."),
    ("PS819", "taken-too-often", "error", "More of a value was taken away from a collection than was there."),
    # Graphs of other tools, read by adapters: reading them, agent graphs, partitions.
    ("PS901", "no-such-tool", "error", "There is no adapter of this name, or it does not keep to the protocol."),
    ("PS902", "tool-missing", "error", "The library of a tool is not installed here."),
    ("PS903", "no-such-target", "error", "A target is not there, or is not a graph of the tool."),
    ("PS904", "target-failed", "error", "The user's code that defines a target raised an exception."),
    ("PS905", "undeclared-way", "error", "A node of another tool goes where nobody declared that it may."),
    ("PS906", "no-update", "error", "A node of LangGraph gives something that is not an update of the state."),
    ("PS911", "fires-more-than-once", "warning", "A join runs more than once for one event, or in one round."),
    ("PS912", "may-never-fire", "warning", "A join may wait for ever for a branch that is not taken."),
    ("PS913", "mixes-rounds", "warning", "A join may put values of different rounds, or runs, together."),
    ("PS914", "ends-only-by-its-step-limit", "error", "A loop has no way out but the tool's limit of steps."),
    ("PS915", "waits-for-an-unrelated-loop", "warning", "A join waits for a loop that it takes nothing from."),
    ("PS919", "decided-in-a-run", "note", "A part of the graph cannot be read before it runs."),
    ("PS921", "cycle-that-stays", "error", "A partition needs itself, or ever later ones."),
    ("PS922", "never-complete", "error", "A partition needs others that will never be there."),
    ("PS923", "runs-too-early", "error", "A partition is made before what it needs is complete."),
    ("PS924", "gap", "error", "A partition was left out, and nothing comes back to it."),
    ("PS925", "refused-by-the-tool", "note", "A cycle goes back in time as it should; the tool refuses it."),
    ("PS926", "no-such-partition", "error", "There is no such asset, or it has no such partition."),
    ("PS927", "bad-have", "error", "What is said to have materialised cannot be read."),
)

CODES: dict[str, Code] = {row[0]: Code(*row) for row in _TABLE}

_FORMER = {f"PS61{last}": f"PS50{last + 1}" for last in range(4)}
"""Numbers that questions had of their own for what steps say, too: each is explained by the one that stayed."""


def code(number: str) -> Code:
    """The code of this number, or of this name, in capitals or not; refused (PS614) when there is none.

    Cost: one look-up for a number as it is written here.

    Returns
    -------
    The code, with its name, its severity and what it says in one line.

    Raises
    ------
    PointstampError
        PS614 where there is none.

    Examples
    --------
    >>> from graphs.codes import code
    >>> code("PS301").name
    'cycle-without-advance'
    """
    number = _FORMER.get(number.upper(), number)
    found = CODES.get(number) or CODES.get(number.upper())
    if found is None:
        found = next((entry for entry in CODES.values() if entry.name == number.lower()), None)
    if found is None:
        raise _unknown(number)
    return found


def _unknown(number: str) -> PointstampError:
    from graphs.files.document import nearest, quoted

    begins = [each for each in CODES if len(number) > 2 and each.startswith(number.upper())]
    is_number = re.fullmatch(r"PS\d{3}", number.upper()) is not None  # each number is as near as any other
    names = [*CODES, *(entry.name for entry in CODES.values())]
    digits = number[:2].upper() + number[2:].upper().translate(str.maketrans("OIL", "011"))  # as they are read
    likely = begins[0] if begins else digits if digits in CODES else None
    close = likely or (None if is_number else nearest(number, names))
    hint = (
        f"did you mean {close}?"
        if close
        else f"a number from {min(CODES)} to {max(CODES)}, as `pointstamp explain` lists them"
    )
    return PointstampError("PS614", f"there is no code {quoted(number)}", hint)
