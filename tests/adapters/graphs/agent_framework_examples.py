"""agent-framework: the shapes of its own samples, with plain executors for agents."""

import asyncio
from typing import Any

from agent_framework import (
    Case,
    Default,
    Executor,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    WorkflowExecutor,
    executor,
    handler,
    response_handler,
)


@executor(id="upper")
async def upper(text: str, ctx: WorkflowContext[str]) -> None:
    await ctx.send_message(text.upper())


@executor(id="reverse")
async def reverse(text: str, ctx: WorkflowContext[str, str]) -> None:
    await ctx.yield_output(text[::-1])


sequential = WorkflowBuilder(start_executor=upper, output_from=[reverse]).add_edge(upper, reverse).build()


class Dispatch(Executor):
    @handler
    async def go(self, text: str, ctx: WorkflowContext[str]) -> None:
        await ctx.send_message(text)


class Aggregate(Executor):
    @handler
    async def go(self, texts: list[str], ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(" ".join(texts))


class Split(Executor):
    def __init__(self, targets: list[str], id: str) -> None:
        super().__init__(id=id)
        self.targets = targets

    @handler
    async def go(self, text: str, ctx: WorkflowContext[str]) -> None:
        async def one(number: int) -> None:
            await ctx.send_message(text, self.targets[number])

        await asyncio.gather(*(one(number) for number in range(len(self.targets))))


def concurrent() -> Any:
    dispatch, aggregate = Dispatch(id="dispatch"), Aggregate(id="aggregate")
    experts = [Dispatch(id=name) for name in ("researcher", "marketer", "lawyer")]
    return (
        WorkflowBuilder(start_executor=dispatch, output_from=[aggregate])
        .add_fan_out_edges(dispatch, experts)
        .add_fan_in_edges(experts, aggregate)
        .build()
    )


fan_out_and_in = concurrent()


def map_reduce() -> Any:
    mappers = [Dispatch(id=f"map{number}") for number in range(3)]
    reducers = [Dispatch(id=f"reduce{number}") for number in range(4)]
    split = Split([each.id for each in mappers], "split")

    class Shuffle(Executor):
        @handler
        async def go(self, texts: list[str], ctx: WorkflowContext[str]) -> None:
            for reducer in ["reduce0", "reduce1", "reduce2", "reduce3"]:
                await ctx.send_message(" ".join(texts), reducer)

    shuffle, done = Shuffle(id="shuffle"), Aggregate(id="done")
    return (
        WorkflowBuilder(start_executor=split, output_from=[done])
        .add_fan_out_edges(split, mappers)
        .add_fan_in_edges(mappers, shuffle)
        .add_fan_out_edges(shuffle, reducers)
        .add_fan_in_edges(reducers, done)
        .build()
    )


word_count = map_reduce()


class Send(Executor):
    @handler
    async def go(self, text: str, ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(text)


def conditional() -> Any:
    detect, assistant, send, spam = Dispatch(id="detect"), Dispatch(id="assistant"), Send(id="send"), Send(id="spam")
    return (
        WorkflowBuilder(start_executor=detect, output_from=[send, spam])
        .add_edge(detect, assistant, condition=lambda text: "spam" not in text)
        .add_edge(assistant, send)
        .add_edge(detect, spam, condition=lambda text: "spam" in text)
        .build()
    )


edge_conditions = conditional()


def switch() -> Any:
    detect, assistant, send = Dispatch(id="detect"), Dispatch(id="assistant"), Send(id="send")
    spam, uncertain = Send(id="spam"), Send(id="uncertain")
    return (
        WorkflowBuilder(start_executor=detect, output_from=[send, spam, uncertain])
        .add_switch_case_edge_group(
            detect,
            [
                Case(condition=lambda text: "ham" in text, target=assistant),
                Case(condition=lambda text: "spam" in text, target=spam),
                Default(target=uncertain),
            ],
        )
        .add_edge(assistant, send)
        .build()
    )


switch_case = switch()


def multi_selection() -> Any:
    store, analysis = Dispatch(id="store"), Dispatch(id="analysis")
    spam, submit, summarize, uncertain = Send(id="spam"), Dispatch(id="submit"), Dispatch(id="summarize"), Send(id="u")
    finalize, merge, database = Send(id="finalize"), Dispatch(id="merge"), Send(id="database")
    return (
        WorkflowBuilder(start_executor=store, output_from=[spam, uncertain, finalize, database])
        .add_edge(store, analysis)
        .add_multi_selection_edge_group(
            analysis, [spam, submit, summarize, uncertain], selection_func=lambda text, targets: targets[1:3]
        )
        .add_edge(submit, finalize)
        .add_edge(summarize, merge)
        .add_edge(analysis, database, condition=lambda text: len(text) < 100)
        .add_edge(merge, database)
        .build()
    )


selection = multi_selection()


class Guess(Executor):
    @handler
    async def go(self, hint: str, ctx: WorkflowContext[int, str]) -> None:
        if hint == "right":
            await ctx.yield_output("found")
        elif hint == "above":
            await ctx.send_message(7)
        else:
            await ctx.send_message(3)


class Judge(Executor):
    @handler
    async def go(self, number: int, ctx: WorkflowContext[str]) -> None:
        if number == 5:
            await ctx.send_message("right")
        elif number < 5:
            await ctx.send_message("above")
        else:
            await ctx.send_message("below")


guess, judge = Guess(id="guess"), Judge(id="judge")
guessing = (
    WorkflowBuilder(start_executor=guess, output_from=[guess]).add_edge(guess, judge).add_edge(judge, guess).build()
)


class Turn(Executor):
    """Asks a person."""

    @handler
    async def begin(self, text: str, ctx: WorkflowContext[str]) -> None:
        await ctx.request_info(request_data=text, response_type=str)

    @response_handler
    async def answered(self, asked: str, answer: str, ctx: WorkflowContext[str]) -> None:
        await ctx.send_message(answer)


turn, agent = Turn(id="turn"), Dispatch(id="agent")
human_in_the_loop = WorkflowBuilder(start_executor=turn).add_edge(turn, agent).add_edge(agent, turn).build()


def nested() -> Any:
    inner = WorkflowExecutor(concurrent(), id="experts")
    begin, end = Dispatch(id="begin"), Send(id="end")
    return WorkflowBuilder(start_executor=begin, output_from=[end]).add_edge(begin, inner).add_edge(inner, end).build()


sub_workflow = nested()
EXAMPLES = [name for name, value in list(vars().items()) if isinstance(value, Workflow)]
