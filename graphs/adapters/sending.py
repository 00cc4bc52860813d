"""Whether a function that sends may end without having sent, read from its source.

Law: True only where the source shows a way through the function that sends nothing and gives what it sends with to
nobody else. Without source, or where it is not clear, the answer is False: silence is not guessed.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from typing import Any


def may_be_silent(function: Any, methods: Sequence[str], context: int) -> bool:
    """Whether a call may end without a call of one of `methods` on its parameter number `context`."""
    tree = parsed(function)
    if tree is None:
        return False
    parameters = [*tree.args.posonlyargs, *tree.args.args]
    if len(parameters) <= context:
        return False
    search = _Search(parameters[context].arg, frozenset(methods))
    return not search.sends(tree.body) or search.returned


def parsed(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The syntax tree of a function, where its source is there."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # no source; a lambda within a line
        return None
    found = tree.body[0] if tree.body else None
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


class _Search:
    """Follows every way through a body; `returned`: one of them returns before anything is sent."""

    def __init__(self, context: str, methods: frozenset[str]) -> None:
        self.context = context
        self.methods = methods
        self.returned = False

    def sends(self, body: Sequence[ast.stmt]) -> bool:
        """Whether every way to the end of a body has sent, or does not get there."""
        return any(self._always(statement) for statement in body)

    def _always(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Return(value=value):
                if value is None or not self._expresses(value):
                    self.returned = True
                return True
            case ast.Raise() | ast.Continue() | ast.Break():
                return True
            case ast.If(test=test, body=body, orelse=orelse):
                both = [self.sends(body), self.sends(orelse)]
                return self._expresses(test) or all(both)
            case ast.Match(cases=cases):
                every = [self.sends(case.body) for case in cases]
                last = cases[-1]
                total = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
                return total and all(every)
            case ast.With(body=body, items=items) | ast.AsyncWith(body=body, items=items):
                return self.sends(body) or any(self._expresses(item.context_expr) for item in items)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                tried = self.sends([*body, *orelse])
                every = [self.sends(handler.body) for handler in handlers]
                return self.sends(finalbody) or (tried and all(every))
            case ast.While(test=ast.Constant(value=true), body=body) if true:
                return self.sends(body)
            case ast.For(iter=items, body=body) | ast.AsyncFor(iter=items, body=body):
                some = isinstance(items, (ast.List, ast.Tuple)) and bool(items.elts)
                return (self.sends(body) and some) or self._expresses(items)
            case ast.While(test=test):
                return self._expresses(test)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._mentions(statement)
            case _:
                return self._expresses(statement)

    def _expresses(self, node: ast.AST) -> bool:
        """Whether an expression sends, or gives the context to somebody who may."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                called = each.func
                if isinstance(called, ast.Attribute) and self._is_context(called.value):
                    if called.attr in self.methods:
                        return True
                elif any(self._is_context(given) for given in [*each.args, *(word.value for word in each.keywords)]):
                    return True
        return False

    def _is_context(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.context

    def _mentions(self, node: ast.AST) -> bool:
        """A function within the function that knows the context may send whenever it is called."""
        return any(isinstance(each, ast.Name) and each.id == self.context for each in ast.walk(node))
