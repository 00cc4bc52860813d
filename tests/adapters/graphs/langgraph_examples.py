"""LangGraph: the shapes of its own tutorials and of its prebuilt agent, with plain functions for models."""

import operator
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from langgraph.types import Command, Send, interrupt


class State(TypedDict):
    messages: Annotated[list[Any], operator.add]


def pass_on(state: State) -> dict[str, Any]:
    return {"messages": []}


def graph_of(nodes: str, *edges: tuple[Any, Any]) -> Any:
    graph: Any = StateGraph(State)
    for name in nodes.split():
        graph.add_node(name, pass_on)
    for source, target in edges:
        graph.add_edge(source, target)
    return graph


def search(query: str) -> str:
    """Look something up."""
    return query


class Model(FakeListChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


prebuilt_agent = create_react_agent(Model(responses=["done"]), [search], checkpointer=InMemorySaver())

agent_with_tools = graph_of("agent", (START, "agent"))
agent_with_tools.add_node("tools", ToolNode([search]))
agent_with_tools.add_conditional_edges("agent", tools_condition)
agent_with_tools.add_edge("tools", "agent")

prompt_chaining = graph_of("generate improve polish", (START, "generate"), ("improve", "polish"), ("polish", END))
prompt_chaining.add_conditional_edges("generate", lambda state: "Fail", {"Fail": "improve", "Pass": END})

parallelization = graph_of(
    "joke story poem aggregator",
    *((START, name) for name in ("joke", "story", "poem")),
    *((name, "aggregator") for name in ("joke", "story", "poem")),
    ("aggregator", END),
)


def which(state: State) -> Literal["story", "joke", "poem"]:
    return "story"


routing = graph_of("router story joke poem", (START, "router"), *((name, END) for name in ("story", "joke", "poem")))
routing.add_conditional_edges("router", which)


def assign(state: State) -> list[Send]:
    return [Send("worker", state)]


orchestrator_and_workers = graph_of(
    "orchestrator worker synthesizer", (START, "orchestrator"), ("worker", "synthesizer"), ("synthesizer", END)
)
orchestrator_and_workers.add_conditional_edges("orchestrator", assign, ["worker"])

evaluator_and_optimizer = graph_of("generator evaluator", (START, "generator"), ("generator", "evaluator"))
evaluator_and_optimizer.add_conditional_edges(
    "evaluator", lambda state: "Accepted", {"Accepted": END, "Rejected": "generator"}
)


def supervise(state: State) -> Command[Literal["researcher", "coder", "__end__"]]:
    return Command(goto=END)


def research(state: State) -> Command[Literal["supervisor"]]:
    return Command(goto="supervisor")


supervisor = StateGraph(State)
supervisor.add_node("supervisor", supervise)
supervisor.add_node("researcher", research)
supervisor.add_node("coder", research)
supervisor.add_edge(START, "supervisor")


def grade(state: State) -> Literal["transform_query", "generate"]:
    return "generate"


corrective_rag = graph_of(
    "retrieve grade generate transform_query web_search",
    (START, "retrieve"),
    ("retrieve", "grade"),
    ("transform_query", "web_search"),
    ("web_search", "generate"),
    ("generate", END),
)
corrective_rag.add_conditional_edges("grade", grade)

self_rag = graph_of(
    "retrieve grade generate transform_query",
    (START, "retrieve"),
    ("retrieve", "grade"),
    ("transform_query", "retrieve"),
)
self_rag.add_conditional_edges("grade", grade)
self_rag.add_conditional_edges(
    "generate",
    lambda state: "useful",
    {"not supported": "generate", "useful": END, "not useful": "transform_query"},
)

plan_and_execute = graph_of("planner agent replan", (START, "planner"), ("planner", "agent"), ("agent", "replan"))
plan_and_execute.add_conditional_edges("replan", lambda state: END, ["agent", END])

code_assistant = graph_of("generate check reflect", (START, "generate"), ("generate", "check"), ("reflect", "generate"))
code_assistant.add_conditional_edges(
    "check", lambda state: "end", {"end": END, "reflect": "reflect", "again": "generate"}
)

collaboration = graph_of("researcher chart call_tool", (START, "researcher"))
collaboration.add_conditional_edges("researcher", lambda state: "x", {"go": "chart", "tool": "call_tool", "x": END})
collaboration.add_conditional_edges("chart", lambda state: "x", {"go": "researcher", "tool": "call_tool", "x": END})
collaboration.add_conditional_edges("call_tool", lambda state: "chart", {"researcher": "researcher", "chart": "chart"})

sql_agent = graph_of(
    "list_tables call_get_schema get_schema generate_query check_query run_query",
    (START, "list_tables"),
    ("list_tables", "call_get_schema"),
    ("call_get_schema", "get_schema"),
    ("get_schema", "generate_query"),
    ("check_query", "run_query"),
    ("run_query", "generate_query"),
)
sql_agent.add_conditional_edges("generate_query", lambda state: END, [END, "check_query"])


def ask(state: State) -> dict[str, Any]:
    return {"messages": [interrupt("what next?")]}


conversation = graph_of("agent", (START, "agent"), ("agent", "human"), ("human", "agent"))
conversation.add_node("human", ask)

deferred = graph_of("a b b2 c", (START, "a"), ("a", "b"), ("a", "c"), ("b", "b2"), ("b2", "d"), ("c", "d"), ("d", END))
deferred.add_node("d", pass_on, defer=True)

with_subgraph = graph_of("before after", (START, "before"), ("before", "rag"), ("rag", "after"), ("after", END))
with_subgraph.add_node("rag", corrective_rag.compile())


def expand(state: State) -> Literal["expand", "__end__"]:
    return END


tree_of_thoughts = graph_of("expand score prune", (START, "expand"), ("expand", "score"), ("score", "prune"))
tree_of_thoughts.add_conditional_edges("prune", expand)

nested_loops = graph_of(
    "h p q x j", (START, "h"), ("h", "p"), ("h", "q"), (["q", "x"], "j"),
)  # fmt: skip
nested_loops.add_conditional_edges("p", lambda state: "x", ["p", "x"])
nested_loops.add_conditional_edges("j", lambda state: END, ["h", END])

EXAMPLES = [name for name, value in list(vars().items()) if isinstance(getattr(value, "builder", value), StateGraph)]
