"""agent-framework: workflows that do what nobody meant, each beside the one that is mended. No models."""

from typing import Any

from agent_framework import Case, Default, Executor, WorkflowBuilder, WorkflowContext, handler


class Pass(Executor):
    """Sends on what comes."""

    @handler
    async def go(self, m: int, ctx: WorkflowContext[int]) -> None:
        await ctx.send_message(m)


class Add(Executor):
    """Sends one more."""

    @handler
    async def go(self, m: int, ctx: WorkflowContext[int]) -> None:
        await ctx.send_message(m + 1)


class Late(Executor):
    """Has nothing to say to the first."""

    @handler
    async def go(self, m: int, ctx: WorkflowContext[int]) -> None:
        if m != 1:
            await ctx.send_message(m)


class Join(Executor):
    @handler
    async def go(self, m: list[int], ctx: WorkflowContext[int, list[int]]) -> None:
        await ctx.yield_output(m)


class Out(Executor):
    @handler
    async def go(self, m: int, ctx: WorkflowContext[int, int]) -> None:
        await ctx.yield_output(m)


class Named(Executor):
    """Says itself where a message goes."""

    @handler
    async def go(self, m: int, ctx: WorkflowContext[int]) -> None:
        await ctx.send_message(m, target_id="b")


def loop(slow: Executor) -> Any:
    gate, fast, inc, join = Pass(id="gate"), Pass(id="fast"), Add(id="inc"), Join(id="join")
    return (
        WorkflowBuilder(start_executor=gate, output_from=[join])
        .add_edge(gate, fast)
        .add_edge(gate, slow)
        .add_edge(fast, inc, condition=lambda m: m < 3)
        .add_edge(inc, gate)
        .add_fan_in_edges([fast, slow], join)
        .build()
    )


silent = loop(Late(id="slow"))
silent_mended = loop(Pass(id="slow"))


def choosing(mended: bool) -> Any:
    s, a, b = Pass(id="s"), Pass(id="a"), Pass(id="b")
    join = Out(id="join") if mended else Join(id="join")
    builder = (
        WorkflowBuilder(start_executor=s, output_from=[join])
        .add_edge(s, a, condition=lambda m: m > 0)
        .add_edge(s, b, condition=lambda m: m <= 0)
    )
    if mended:
        return builder.add_edge(a, join).add_edge(b, join).build()
    return builder.add_fan_in_edges([a, b], join).build()


untaken = choosing(False)
untaken_mended = choosing(True)


def switching() -> Any:
    s, a, b, join = Pass(id="s"), Pass(id="a"), Pass(id="b"), Join(id="join")
    return (
        WorkflowBuilder(start_executor=s, output_from=[join])
        .add_switch_case_edge_group(s, [Case(condition=lambda m: m > 0, target=a), Default(target=b)])
        .add_fan_in_edges([a, b], join)
        .build()
    )


switched = switching()


def diamond(mended: bool, equal: bool = False) -> Any:
    s, a, b1, b2 = Pass(id="s"), Pass(id="a"), Pass(id="b1"), Pass(id="b2")
    join = Join(id="join") if mended else Out(id="join")
    builder = WorkflowBuilder(start_executor=s, output_from=[join]).add_edge(s, a).add_edge(s, b1)
    last = b1 if equal else b2
    builder = builder if equal else builder.add_edge(b1, b2)
    if mended:
        return builder.add_fan_in_edges([a, last], join).build()
    return builder.add_edge(a, join).add_edge(last, join).build()


unequal = diamond(False)
unequal_mended = diamond(True)
equal = diamond(False, equal=True)


def endless_loop(mended: bool) -> Any:
    a, b = Pass(id="a"), Add(id="b")
    return (
        WorkflowBuilder(start_executor=a, max_iterations=12)
        .add_edge(a, b)
        .add_edge(b, a, condition=(lambda m: m < 3) if mended else None)
        .build()
    )


endless = endless_loop(False)
endless_mended = endless_loop(True)
named = (
    WorkflowBuilder(start_executor=(start := Named(id="s")))
    .add_edge(start, Pass(id="a"))
    .add_edge(start, Pass(id="b"))
    .build()
)
NOT_A_GRAPH = 7
