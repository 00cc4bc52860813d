"""Haystack: pipelines that do what nobody meant, each beside the one that is mended, and shapes of its tutorials."""

from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.routers import ConditionalRouter

LOG: list[Any] = []


@component
class Route:
    """Decides in its function which outputs it gives."""

    def __init__(self, decide: Callable[[int], dict[str, int]]) -> None:
        self.decide = decide

    @component.output_types(left=int, right=int)
    def run(self, x: int) -> dict[str, int]:
        LOG.append(("route", x))
        return self.decide(x)


@component
class Both:
    """Gives both outputs, always."""

    @component.output_types(left=int, right=int)
    def run(self, x: int) -> dict[str, int]:
        return {"left": x, "right": x}


@component
class Add:
    def __init__(self, name: str) -> None:
        self.name = name

    @component.output_types(y=int)
    def run(self, x: int) -> dict[str, int]:
        LOG.append((self.name, x))
        return {"y": x + 1}


@component
class Sum:
    @component.output_types(z=int)
    def run(self, a: int, b: int) -> dict[str, int]:
        LOG.append(("join", a, b))
        return {"z": a + b}


@component
class OptionalSum:
    @component.output_types(z=int)
    def run(self, a: int, b: int = 0) -> dict[str, int]:
        return {"z": a + b}


def branches(route: Any, join: Any) -> Any:
    p = Pipeline(max_runs_per_component=6)
    for name, each in {"route": route, "l": Add("l"), "r": Add("r"), "join": join}.items():
        p.add_component(name, each)
    for source, target in (("route.left", "l.x"), ("route.right", "r.x"), ("l.y", "join.a"), ("r.y", "join.b")):
        p.connect(source, target)
    return p


blocked = branches(Route(lambda x: {"left": x}), Sum())
blocked_mended = branches(Both(), Sum())
blocked_optional = branches(Route(lambda x: {"left": x}), OptionalSum())


def routed(join: Any) -> Any:
    routes = [
        {"condition": "{{ x > 3 }}", "output": "{{ x }}", "output_name": "left", "output_type": int},
        {"condition": "{{ True }}", "output": "{{ x }}", "output_name": "right", "output_type": int},
    ]
    return branches(ConditionalRouter(routes), join)


exclusive = routed(Sum())


def loop(route: Any) -> Any:
    p = Pipeline(max_runs_per_component=6)
    for name, each in {"j": BranchJoiner(int), "route": route, "l": Add("l"), "join": Sum()}.items():
        p.add_component(name, each)
    for source, target in (
        ("j.value", "route.x"),
        ("route.left", "l.x"),
        ("l.y", "j.value"),
        ("l.y", "join.a"),
        ("route.right", "join.b"),
    ):
        p.connect(source, target)
    return p


def silent_once(x: int) -> dict[str, int]:
    return {} if x > 3 else {"left": x, "right": x} if x > 1 else {"left": x}


mixed = loop(Route(silent_once))


def loop_after_the_join() -> Any:
    again = [
        {"condition": "{{ z < 7 }}", "output": "{{ z }}", "output_name": "more", "output_type": int},
        {"condition": "{{ True }}", "output": "{{ z }}", "output_name": "done", "output_type": int},
    ]
    p = Pipeline(max_runs_per_component=6)
    parts = {"j": BranchJoiner(int), "both": Both(), "l": Add("l"), "join": Sum(), "again": ConditionalRouter(again)}
    for name, each in parts.items():
        p.add_component(name, each)
    for source, target in (
        ("j.value", "both.x"),
        ("both.left", "l.x"),
        ("both.right", "join.b"),
        ("l.y", "join.a"),
        ("join.z", "again.z"),
        ("again.more", "j.value"),
    ):
        p.connect(source, target)
    return p


mixed_mended = loop_after_the_join()


def no_way_out() -> Any:
    p = Pipeline(max_runs_per_component=6)
    p.add_component("j", BranchJoiner(int))
    p.add_component("add", Add("add"))
    p.connect("j.value", "add.x")
    p.connect("add.y", "j.value")
    return p


endless = no_way_out()

# --- shapes of its tutorials ------------------------------------------------------------------------------------------


@component
class Retrieve:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": []}


@component
class Generate:
    @component.output_types(replies=list[str], meta=list[dict[str, Any]])
    def run(self, prompt: str) -> dict[str, Any]:
        return {"replies": [prompt], "meta": [{}]}


@component
class Validate:
    @component.output_types(valid=list[str], invalid=list[str], error=str)
    def run(self, replies: list[str]) -> dict[str, Any]:
        if replies:
            return {"valid": replies}
        return {"invalid": replies, "error": "empty"}


def pipeline(components: dict[str, Any], *connections: str) -> Any:
    p = Pipeline()
    for name, each in components.items():
        p.add_component(name, each)
    for connection in connections:
        source, target = connection.split()
        p.connect(source, target)
    return p


PROMPT = "{{ documents }} {{ query }}"
rag = pipeline(
    {"retriever": Retrieve(), "prompt": PromptBuilder(PROMPT, required_variables="*"), "llm": Generate()},
    "retriever.documents prompt.documents",
    "prompt.prompt llm.prompt",
)
hybrid_retrieval = pipeline(
    {
        "bm25": Retrieve(),
        "embedding": Retrieve(),
        "joiner": DocumentJoiner(),
        "prompt": PromptBuilder(PROMPT, required_variables="*"),
        "llm": Generate(),
    },
    "bm25.documents joiner.documents",
    "embedding.documents joiner.documents",
    "joiner.documents prompt.documents",
    "prompt.prompt llm.prompt",
)
loop_with_validation = pipeline(
    {
        "prompt": PromptBuilder("{{ query }} {{ invalid }} {{ error }}", required_variables=["query"]),
        "llm": Generate(),
        "validator": Validate(),
    },
    "prompt.prompt llm.prompt",
    "llm.replies validator.replies",
    "validator.invalid prompt.invalid",
    "validator.error prompt.error",
)
FALL_BACK = [
    {
        "condition": "{{ 'no_answer' in replies[0] }}",
        "output": "{{ query }}",
        "output_name": "go_web",
        "output_type": str,
    },
    {"condition": "{{ True }}", "output": "{{ replies[0] }}", "output_name": "answer", "output_type": str},
]
conditional_web_search = pipeline(
    {
        "retriever": Retrieve(),
        "prompt": PromptBuilder(PROMPT, required_variables="*"),
        "llm": Generate(),
        "router": ConditionalRouter(FALL_BACK),
        "web": Retrieve(),
        "web_prompt": PromptBuilder(PROMPT, required_variables="*"),
        "web_llm": Generate(),
    },
    "retriever.documents prompt.documents",
    "prompt.prompt llm.prompt",
    "llm.replies router.replies",
    "router.go_web web.query",
    "router.go_web web_prompt.query",
    "web.documents web_prompt.documents",
    "web_prompt.prompt web_llm.prompt",
)
EXAMPLES = ["rag", "hybrid_retrieval", "loop_with_validation", "conditional_web_search"]
NOT_A_GRAPH = 7
