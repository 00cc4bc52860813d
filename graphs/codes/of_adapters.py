"""Explanations of PS9xx: graphs of other tools, read by adapters (docs/adapters.md)."""

from __future__ import annotations

from graphs.codes.explanation import Example, Explanation

ADAPTERS = {
    "PS901": Explanation(
        means="""\
`check --from TOOL` names a tool that this project has no adapter for, or an adapter of your own
that cannot be called, or that does not give `graphs.adapters.Found`.""",
        why="""\
Nothing else knows how the graph of a tool is read.""",
        example=Example("pointstamp check --from langgraf app:graph\n", "sh"),
        fix="""\
One of the names in docs/adapters.md, or `module:function`, an adapter of your own.""",
    ),
    "PS902": Explanation(
        means="""\
The library of the tool is not installed in the environment in which the command runs.""",
        why="""\
Your graph is a Python object of that library. To read it, your code is imported, and that needs
what it was written for.""",
        example=Example(
            "printf 'import no_such_library\\n\\ndef read(target): pass\\n' > own.py\n"
            "python3 - <<'END' 2>/dev/null || true\nEND\n"
            "pointstamp check --from own.py:read app:graph; pointstamp check --from langgraph app:graph\n",
            "sh",
        ),
        fix="""\
Install this project where your graph runs: `pip install 'pointstamp[langgraph]'`.""",
    ),
    "PS903": Explanation(
        means="""\
There is no such module, file or attribute, or what is there is not a graph of the tool.""",
        why="""\
A target that is misspelled would otherwise look like a graph without faults.""",
        example=Example(
            "printf 'import app\\n\\ndef read(target):\\n    pass\\n' > own.py\n"
            "pointstamp check --from own.py:raed app:graph\n",
            "sh",
        ),
        fix="""\
`module:attribute`, as Python imports it from the current folder, or `path/to/file.py:attribute`.""",
    ),
    "PS904": Explanation(
        means="""\
The code that defines the target, or the adapter of your own, raised an exception. The line says
which, and where.""",
        why="""\
A graph that cannot be built cannot be read.""",
        example=Example("printf 'x = 1 / 0\\n' > own.py\npointstamp check --from own.py:read app:graph\n", "sh"),
        fix="""\
Mend what it says. Code that needs a key of a service, or a model, to build its graph can be given
a stand-in: nothing of the graph is run.""",
    ),
}
