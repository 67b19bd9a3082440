"""Small wrong changes to a Python source, one at a time: what a test has to notice.

Left alone: documentation, annotations, `__slots__`, what only a type checker reads, and sentences for people (texts
with a blank in them), which tests should not pin word by word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MODULE, CLASS = "(module)", "(class)"
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
}
WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Mutant:
    """One change: the function it is in, the line, what changed into what, and the whole source with it."""

    function: str
    line: int
    change: str
    source: str


@dataclass
class _Site:
    """A node that can be replaced in its parent, and the function whose running decides whether that matters."""

    function: str
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a source, in the order of its lines; each compiles and differs from the source."""
    tree = ast.parse(source)
    plain = ast.unparse(tree)
    for site in list(_sites(tree, MODULE)):
        for change, replacement in _changes(site):
            site.put(replacement)
            text = ast.unparse(ast.fix_missing_locations(tree))
            site.put(site.node)
            if text != plain:
                yield Mutant(site.function, getattr(site.node, "lineno", 0), change, text)


def _sites(node: ast.AST, function: str) -> Iterator[_Site]:
    for field, value in ast.iter_fields(node):
        if _is_left_alone(node, field):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_documentation(node, field, index, child):
                continue
            inside = _function(function, field, child)
            yield _Site(inside, node, field, index, child)
            yield from _sites(child, inside)


def _function(function: str, field: str, child: ast.AST) -> str:
    """Return what has to run for `child` to matter: a function of the module, a method of a class, or a body."""
    if field != "body":
        return function
    if isinstance(child, ast.ClassDef) and function == MODULE:
        return f"{child.name} {CLASS}"
    if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_body(function):
        return child.name if function == MODULE else f"{function.partition(' ')[0]}.{child.name}"
    return function


def is_body(function: str) -> bool:
    """Whether it is what runs while a module is loaded, and no function of it."""
    return function == MODULE or function.endswith(CLASS)


def _is_left_alone(node: ast.AST, field: str) -> bool:
    if field in {"annotation", "returns", "decorator_list", "type_comment", "bases", "ctx", "type_params"}:
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in {"__slots__", "__all__", "TYPE_CHECKING"} or field == "targets"
    return isinstance(node, (ast.JoinedStr, ast.FormattedValue)) and field == "format_spec"


def _is_documentation(node: ast.AST, field: str, index: int | None, child: ast.AST) -> bool:
    is_first = field == "body" and index == 0 and not isinstance(node, (ast.If, ast.For, ast.With, ast.Try))
    return is_first and isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)


def _changes(site: _Site) -> Iterator[tuple[str, ast.AST]]:
    for operator in (_operators, _values, _calls, _rows, _tests, _statements):
        for replacement in operator(site, site.node):
            yield f"`{_short(ast.unparse(site.node))}` → `{_short(ast.unparse(replacement))}`", replacement


def _operators(_: _Site, node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[first, *rest]) if type(first) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(first)](), *rest], node.comparators)
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            yield ast.BinOp(node.left, ARITHMETIC[type(operator)](), node.right)
        case ast.AugAssign(op=operator) if type(operator) in ARITHMETIC:
            yield ast.AugAssign(node.target, ARITHMETIC[type(operator)](), node.value)


def _values(site: _Site, node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Constant) or isinstance(site.parent, (ast.JoinedStr, ast.FormattedValue)):
        return
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and (not value or WORD.fullmatch(value)):
        yield ast.Constant(f"{value}X")


def _calls(_: _Site, node: ast.AST) -> Iterator[ast.AST]:
    """Leave out one named argument that is no sentence."""
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if not _is_sentence(keyword.value):
                yield ast.Call(node.func, node.args, _without(node.keywords, index))


def _is_sentence(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() as text):
            return " " in text
        case ast.IfExp():
            return _is_sentence(node.body) and _is_sentence(node.orelse)
        case _:
            return isinstance(node, ast.JoinedStr)


def _rows(site: _Site, node: ast.AST) -> Iterator[ast.AST]:
    """Take one row from a collection that the module holds, of several."""
    if not is_body(site.function) or site.field not in {"value", "values", "elts", "args"}:
        return
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)) and len(node.elts) > 1:
        for index in range(len(node.elts)):
            yield type(node)(elts=_without(node.elts, index))
    elif isinstance(node, ast.Dict) and len(node.keys) > 1:
        for index in range(len(node.keys)):
            yield ast.Dict(_without(node.keys, index), _without(node.values, index))


def _without(items: list[Any], index: int) -> list[Any]:
    return items[:index] + items[index + 1 :]


def _tests(site: _Site, node: ast.AST) -> Iterator[ast.AST]:
    if site.field == "test" and isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
        yield ast.UnaryOp(ast.Not(), node)


def _statements(_: _Site, node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case _:
            return


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:60]} … {line[-27:]}"
