"""What a row of the index of commands lacks: its module, route, documents with their schemas, renderer."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from loopx_host.cli import commands, render
from loopx_host.cli.index import ROWS, Row
from loopx_host.cli.route import Route
from loopx_host.documents.catalog import MODULES, document

# Renderers of answers that belong to no command, and what renderers share.
OF_NO_COMMAND = {"error", "foreign"}
SHARED = {"as_json", "in_colour", "parts"}


def problems() -> list[str]:
    """Return what is missing in every row, and what no row leads to."""
    return [*(problem for row in ROWS for problem in row_problems(row)), *_unreached()]


def row_problems(row: Row) -> list[str]:
    """Return what one row lacks."""
    words = " ".join(row.words)
    return [f"{words}: {problem}" for part in (_command, _documents, _renderer) for problem in part(row)]


def _command(row: Row) -> Iterator[str]:
    module = _module(row.module)
    if module is None:
        yield f"there is no module {row.module}"
        return
    route = getattr(module, "ROUTE", None)
    if not isinstance(route, Route) or not callable(getattr(module, "serve", None)):
        yield f"{row.module} has no ROUTE or no serve"
        return
    if route.words != row.words:
        yield f"{row.module} is the route of {' '.join(route.words)}"
    taken, read = {argument.name for argument in route.arguments}, _read(module)
    if taken != read:
        yield f"takes {sorted(taken)} and reads {sorted(read)}"


def _read(module: ModuleType) -> set[str]:
    """Return the attributes of `arguments` that a command's source mentions."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "arguments"}


def _documents(row: Row) -> Iterator[str]:
    if not row.documents and row.renderer != "schema":
        yield "answers with no document"
    for name in row.documents:
        if name not in MODULES:
            yield f"there is no document {name}"
            continue
        module = document(name)
        if f"'{getattr(module, 'ID', None)}'" not in str(module.schema()):
            yield f"the schema of {name} does not say its id"


def _renderer(row: Row) -> Iterator[str]:
    module = _module(f"{render.__name__}.{row.renderer}")
    if module is None or not callable(getattr(module, "to_text", None)):
        yield f"there is no renderer {row.renderer}"


def _unreached() -> Iterator[str]:
    served = {row.module for row in ROWS}
    for path in sorted(Path(commands.__path__[0]).glob("*/*.py")):
        name = f"{commands.__name__}.{path.parent.name}.{path.stem}"
        if path.stem != "__init__" and name not in served:
            yield f"no row leads to {name}"
    shown = {row.renderer for row in ROWS} | OF_NO_COMMAND | SHARED
    for path in sorted(Path(render.__path__[0]).glob("[!_]*.py")):
        if path.stem not in shown:
            yield f"no row leads to the renderer {path.stem}"


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
