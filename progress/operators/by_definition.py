"""The paper's definitions word for word, on lists: the oracle of the operators (sections 3 to 5, Figures 5, 7 and 9).

Slow and obvious. Nothing is shared with the other operators but the events. An operator is its `Logic`: a function from
an item to the next operator and what leaves, and the exit. `le` is the order of times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from progress.operators.event import DT, WM, Left, Right

Pairs = Sequence[tuple[Any, Any]]
LessEqual = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Logic:
    """The codatatype `op`."""

    apply: Callable[[Any], tuple[Any, list[Any]]]
    ending: Callable[[], list[Any]] = list

    def exit(self) -> list[Any]:
        """What leaves when no more comes."""
        return self.ending()


def produce(op: Any, lxs: Iterable[Any]) -> list[Any]:
    """`produce` of a finite list."""
    out: list[Any] = []
    for h in lxs:
        op, more = op.apply(h)
        out = out + more
    return out + list(op.exit())


def fproduce(op: Any, xs: Iterable[Any]) -> tuple[Any, list[Any]]:
    """`fproduce`: the operator after these items, and what has left."""
    out: list[Any] = []
    for e in xs:
        op, more = op.apply(e)
        out = out + more
    return op, out


def comp_op(op1: Any, op2: Any) -> Logic:
    """`comp_op`."""

    def apply(ev: Any) -> tuple[Logic, list[Any]]:
        after1, out = op1.apply(ev)
        after2, out2 = fproduce(op2, out)
        return comp_op(after1, after2), out2

    return Logic(apply, lambda: produce(op2, op1.exit()))


def skip_op(op: Any, n: int) -> Logic:
    """`skip_op`."""

    def apply(ev: Any) -> tuple[Any, list[Any]]:
        after, out = op.apply(ev)
        return (skip_op(after, n - len(out)), []) if len(out) < n else (after, out[n:])

    return Logic(apply, lambda: list(op.exit())[n:])


def bulk_op(f: Callable[[list[Any]], list[Any]], n: int, buf: list[Any]) -> Logic:
    """`bulk_op`."""

    def apply(e: Any) -> tuple[Logic, list[Any]]:
        full = [e, *buf]
        return (bulk_op(f, n, full), []) if len(full) < n else (bulk_op(f, n, []), list(f(full)))

    return Logic(apply, lambda: list(f(buf)))


def remdups(xs: Sequence[Any]) -> list[Any]:
    """`remdups`, which keeps the last of equals."""
    return [x for i, x in enumerate(xs) if x not in xs[i + 1 :]]


def maximal_antichain_list(xs: Sequence[Any], le: LessEqual) -> list[Any]:
    """The distinct maximal elements, in the order of first occurrence."""
    return [x for i, x in enumerate(xs) if x not in xs[:i] and not any(le(x, y) and x != y for y in xs)]


def batches(wms: Sequence[Any], tds: Pairs, le: LessEqual) -> tuple[list[Any], Pairs]:
    """`batches`."""
    if not wms:
        return [], tds
    bs, rest = batches(wms[1:], [(t, d) for t, d in tds if not le(t, wms[0])], le)
    return [DT(wms[0], [(t, d) for t, d in tds if le(t, wms[0])]), *bs], rest


def batch_op(tds: Pairs, le: LessEqual) -> Logic:
    """`batch_op`."""

    def apply(ev: Any) -> tuple[Logic, list[Any]]:
        if isinstance(ev, DT):
            return batch_op([*tds, (ev.time, ev.data)], le), []
        out, rest = batches([ev.time], tds, le)
        return batch_op(rest, le), [x for x in out if x.data != []] + [ev]

    return Logic(apply, lambda: batches(maximal_antichain_list([t for t, _ in tds], le), tds, le)[0])


def incr_op(abs_: Pairs) -> Logic:
    """`incr_op`."""

    def apply(ev: Any) -> tuple[Logic, list[Any]]:
        if isinstance(ev, WM):
            return incr_op(abs_), [ev]
        longer = [*abs_, *ev.data]
        return incr_op(longer), [DT(t, longer) for t in remdups([t for t, _ in ev.data])]

    return Logic(apply)


def incr_batch_op(tds: Pairs, abs_: Pairs, le: LessEqual) -> Logic:
    """`incr_batch_op`."""
    return comp_op(batch_op(tds, le), incr_op(abs_))


def map_op(f: Callable[[Any, Any], Any]) -> Logic:
    """`map_op`."""
    return Logic(lambda ev: (map_op(f), [ev if isinstance(ev, WM) else DT(ev.time, f(ev.time, ev.data))]))


def flatten_op() -> Logic:
    """`flatten_op`."""
    return Logic(lambda ev: (flatten_op(), [ev] if isinstance(ev, WM) else [DT(ev.time, d) for d in ev.data]))


def coll(xs: Pairs, t: Any) -> Counter[Any]:
    """`coll`: the multiset of the data at t."""
    return Counter([d for t2, d in xs if t2 == t])


def s_coll(xs: Pairs, t: Any, le: LessEqual) -> Counter[Any]:
    """`S_coll`: the sum of the collections at or below t."""
    total: Counter[Any] = Counter()
    for t2 in remdups([t2 for t2, _ in xs]):
        if le(t2, t):
            total = total + coll(xs, t2)
    return total


def ihist_op(tds: Pairs, abs_: Pairs, le: LessEqual) -> Logic:
    """`ihist_op`."""
    return comp_op(incr_batch_op(tds, abs_, le), map_op(lambda t, xs: s_coll(xs, t, le)))


def multi_s_coll(xs: Pairs, t: Any, le: LessEqual) -> Counter[Any]:
    """The variant: C(t) and the histograms of the maximal times below t, as often as they are below."""
    below = [t2 for t2, _ in xs if le(t2, t) and t2 != t]
    total = coll(xs, t)
    for t2 in maximal_antichain_list(below, le):
        total = total + multi_s_coll(xs, t2, le)
    return total


def multi_ihist_op(tds: Pairs, abs_: Pairs, le: LessEqual) -> Logic:
    """The variant of `ihist_op` in which H(t5) = H(t2) + H(t3) + C(t5)."""
    return comp_op(incr_batch_op(tds, abs_, le), map_op(lambda t, xs: multi_s_coll(xs, t, le)))


def total_ihist_op(h: Counter[Any], buf: Pairs, le: LessEqual) -> Logic:
    """`ihist_op'`, but for the else-branch, which passes the watermark on, as (24) needs."""

    def released(out: Pairs) -> list[Any]:
        return [DT(t, h + Counter([d for t2, d in out if le(t2, t)])) for t in remdups([t for t, _ in out])]

    def apply(ev: Any) -> tuple[Logic, list[Any]]:
        if isinstance(ev, DT):
            return total_ihist_op(h, [*buf, (ev.time, ev.data)], le), []
        out = [(t, d) for t, d in buf if le(t, ev.time)]
        rest = [(t, d) for t, d in buf if not le(t, ev.time)]
        return total_ihist_op(h + Counter([d for _, d in out]), rest, le), [*released(out), ev]

    return Logic(apply, lambda: released(buf))


def swapped(time: Any) -> Any:
    """`case_sum Inr Inl`."""
    return Right(time.value) if isinstance(time, Left) else Left(time.value)


def sided(le: LessEqual) -> LessEqual:
    """The order of sums, from that of their values."""
    return lambda one, other: type(one) is type(other) and le(one.value, other.value)


def producible(wm: Any, ma: Sequence[Any], le: LessEqual) -> bool:
    """`producible`: a watermark at or above it has come on the other side."""
    return any(sided(le)(wm, swapped(other)) for other in ma)


def union_op(wms: Sequence[Any], ma: Sequence[Any], le: LessEqual) -> Logic:
    """`union_op`."""

    def apply(ev: Any) -> tuple[Logic, list[Any]]:
        if isinstance(ev, DT):
            return union_op(wms, ma, le), [DT(ev.time.value, ev.data)]
        after = maximal_antichain_list([ev.time, *ma], sided(le))
        both = [ev.time, *wms]
        prds = [wm for wm in both if producible(wm, after, le)]
        return union_op([wm for wm in both if wm not in prds], after, le), [WM(wm.value) for wm in both if wm in prds]

    return Logic(apply)


def join_list(join: Callable[[Any, Any], Any], st: Any, xs: Pairs) -> list[Any]:
    """`join_list`."""
    lefts = [d for v, d in xs if isinstance(v, Left) and v.value == st.value]
    rights = [d for v, d in xs if isinstance(v, Right) and v.value == st.value]
    return [join(d1, d2) for d1 in lefts for d2 in rights if join(d1, d2) is not None]


def join_op(join: Callable[[Any, Any], Any], le: LessEqual) -> Logic:
    """`join_op` with empty buffers."""
    matching = comp_op(map_op(lambda st, xs: join_list(join, st, xs)), flatten_op())
    return comp_op(comp_op(incr_batch_op([], [], sided(le)), matching), union_op([], [], le))
