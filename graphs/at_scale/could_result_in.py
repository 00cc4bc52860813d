"""Could-result-in (A&I 3.1, Definition 2) of a graph in Spark, with proofs for the pairs that are asked.

Whatever leads from one location to another lies on what the first reaches and what reaches the second. That part is
found in Spark, times left aside; it is taken out and asked of the local engine, so that proofs, and the search over
simple paths where Condition 2 fails, are the same. A part that does not fit is asked by Close-up: what is not in the
closure cannot be reached by any path; what is in it is answered only where no summary of the graph falls, and there
without a proof.
"""

from __future__ import annotations

from typing import Any

from graphs.at_scale.closure import close_in_spark, numbered
from graphs.at_scale.collected import network_of
from graphs.at_scale.errors import too_large_a_component
from graphs.at_scale.frames import numbers_frame
from graphs.at_scale.graph_in_spark import SparkGraph
from graphs.at_scale.reach import at_both_ends, backwards, reached
from graphs.at_scale.rounds import Options, cut, one_group
from progress.could_result_in import CouldResultIn
from progress.pointstamp import Pointstamp

Pair = tuple[tuple[str, Any], tuple[str, Any]]


def proof_in_spark(graph: SparkGraph, pair: Pair, options: Options) -> list[Pointstamp] | None:
    """The proof that the first pointstamp could-result-in the second; None where it could not.

    Cost: two `reached`, and `progress.CouldResultIn` on the edges between the two locations.
    """
    with one_group(graph.session, options, "could result in"):
        (from_edge, start, *_), (to_edge, end, *_) = numbered(graph, pair)
        (first, time), (last, limit) = pair
        if first == last:
            less_equal = graph.domains[start["domain"]].less_equal
            if not less_equal(time, limit):
                return None
            return [Pointstamp(*pair[0])] if time == limit else [Pointstamp(*pair[0]), Pointstamp(*pair[1])]
        source = start["dst"] if from_edge else start["id"]
        target = end["src"] if to_edge else end["id"]
        if source is None or target is None:
            return None
        steps = graph.steps()
        ends = steps.select("src", "dst")
        after = reached(ends, numbers_frame(graph.session, {"id": [source]}), options, "forward")
        if not after.where(f"id = {target}").head(1):
            return None
        before = reached(backwards(ends), numbers_frame(graph.session, {"id": [target]}), options, "backward")
        between = after.join(before, "id", "left_semi")
        inner = cut(at_both_ends(steps, between, "left_semi"))
        count = inner.count()
        if count > options.fits:
            if pair[1] not in close_in_spark(graph, [pair[0]], options):
                return None
            raise too_large_a_component(count, options.fits)
        network, _ = network_of(graph, inner, [row for row in (start, end) if "edge" in row], [source, target])
        return CouldResultIn(network).proof(*pair)
