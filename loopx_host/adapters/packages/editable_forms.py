"""The files by which build backends say where the source of an editable install lies, read as data.

Nothing of them is ever executed. What they are called differs by backend and does not matter: a line of a ``.pth``
file names the module, and the module holds a mapping in one of four shapes.
"""

from __future__ import annotations

import ast
import os

from loopx_host.core.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    # dotted name → the folder of a package, or the file of a module (setuptools: without its suffix)
    Mapping = dict[str, str]

CODE = ("import ", "import\t")  # how a line begins that Python executes at every start
EDITABLES = "editables"  # the library behind the finders of several backends
_INIT = "/__init__.py"
_LITERALS = ("MAPPING", "NAMESPACES")
_PLACEHOLDER, _HOOK = "PATH_PLACEHOLDER = ", ' + ".__path_hook__"'
_REDIRECTS = ("from editables.redirector import RedirectingFinder as F", "F.install()")
# SHA-256 of the import finders that setuptools 64 to 83 write, each with an empty mapping and an empty name.
_FINDERS = frozenset(
    {
        "0630d38473bcd86e3468d52d2bfcadbd33b6deac666c48687e5806cfafca0f12",
        "50193684790b35bcc03c81424ca3939f0291f7f548ae54ccaf70102d25a28afa",
        "51d1b53b7a463bbac882d5e9097be64e028a10a4494d780db206431b4950fa44",
        "a2048bcca9713f8c63ed12b391acf25ee74fce236bdbeb672985d4f55c0c2769",
        "c578a1382f6e5321d20d7db7e5d4097886fc8d509b9cb68243b1f08a51f1895e",
        "c724d8bba779a1c71c5e73e6b47be3e5f26bd1b80c8adf278fe8b44a3b347497",
        "ffd23849878a2a856c55dbb4b68056cfe4b572949d3ce16241fd5912707a4bef",
    }
)
_RARE_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# SHA-256 of `__init__.py` and `redirector.py` of the library `editables`, 0.3 to 0.6.
_LIBRARIES = (
    {
        "a6962b0c6a7a4196a723dbbb186c493acf6f2b897f6458b38592d5921ee94785",
        "af8fe0e43423e811e933174938135bb4547adfa5301ffe48c25b3834cfcc2443",
    },
    {
        "aa6db3bf05bf578a14c8ec7b5be63c9e2d43660238f208181c35a22c9289e5fd",
        "6124a792bf610c4315d64beb8bf84b8ea8ab27c754ea0394b369c313d0832fbb",
    },
    {
        "423380b03d508e252274194447a4c466ee940e07476fe91ebb059dd96217f085",
        "57551d9dd2841ea231d6a5a433192d634d9dadc3c624711dbe85ee6dc0f6a21e",
    },
    {
        "af36c748ffaa74c8b923897225a5a50db61e5cca70f83ed56eb629f6ebf56385",
        "ed19ce3cb49e92d295134a6689b4b695f076cb7d381b0f2f550a9ff547e351da",
    },
)


class Finder:
    """What a generated import finder maps; `namespaces` are further places of namespace packages."""

    __slots__ = ("is_of_editables", "mapping", "namespaces")

    def __init__(
        self, mapping: Mapping, namespaces: dict[str, list[str]] | None = None, *, is_of_editables: bool = False
    ) -> None:
        self.mapping = mapping
        self.namespaces = namespaces or {}
        self.is_of_editables = is_of_editables


def is_code(line: str) -> bool:
    """Whether Python executes this line of a ``.pth`` file."""
    return line.startswith(CODE)


def imported_by(code: str) -> list[str]:
    """Return the top-level names that code imports when it is executed, by a statement or a call with a literal."""
    tree = _parsed(code)
    found = [name for node in (_executed(tree) if tree else ()) for name in _imports(node)]
    return list(dict.fromkeys(name.split(".")[0] for name in found))


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is executed with a module: everything but the bodies of functions."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(one)


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.module and not node.level else []
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(("__import__", "import_module")):
        return []
    return [value for value in (_value(argument) for argument in node.args[:1]) if isinstance(value, str)]


def places_in(code: str) -> list[str]:
    """Return the absolute paths that stand in code as literals."""
    tree = _parsed(code)
    values = (node.value for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Constant))
    texts = dict.fromkeys(value for value in values if isinstance(value, str))
    return [text for text in texts if os.path.isabs(text) and "\0" not in text and text.strip("/")]


def is_ambiguous(text: str) -> bool:
    """Whether Pythons disagree on the lines of a ``.pth`` file: by a byte order mark, or a rare separator."""
    return text.startswith("\ufeff") or any(separator in text for separator in _RARE_SEPARATORS)


def is_known_library(code: set[str]) -> bool:
    """Whether the files with these digests are those of `editables`, 0.3 to 0.6."""
    return code in _LIBRARIES


def only_finder(line: str) -> str | None:
    """Return the module of a line that starts a finder and does nothing else, or None."""
    module = line.removeprefix("import ").partition(";")[0].strip()
    plain = (f"import {module}", f"import {module}; {module}.install()")
    return module if module.isidentifier() and line.strip() in plain else None


def read(source: str) -> Finder | None:
    """Return what a module maps, as far as it says so in literals; None where it says nothing that can be read.

    Whether it does what it seems to do is not asked: this finds a manifest, which the doctor then has to prove.
    """
    tree = _parsed(source)
    if tree is None:
        return None
    literals = dict(_assigned(tree))
    if "MAPPING" in literals:
        if not isinstance(literals["MAPPING"], dict):
            return None
        return Finder(_texts(literals["MAPPING"]), _lists(literals.get("NAMESPACES")))
    mapping: Mapping = {}
    for call in _calls(tree):
        mapping.update(_mapped(call))
    return Finder(mapping) if mapping else None


def generated(source: str) -> Finder | None:
    """Return the same, only of a module that is to the byte what a known backend generates around its mapping."""
    lines = source.split("\n")
    if tuple(lines[: len(_REDIRECTS)]) == _REDIRECTS:
        return _redirected(lines[len(_REDIRECTS) :])
    literals: dict[str, object] = {}
    for number, line in enumerate(lines):
        name = line.partition(" = ")[0].partition(":")[0]
        if name in _LITERALS and name not in literals:
            literals[name] = _literal(line.partition(" = ")[2])
            lines[number] = line.partition(" = ")[0] + " = {}"
        elif line.startswith(_PLACEHOLDER) and line.endswith(_HOOK):
            name_of_project = _literal(line[len(_PLACEHOLDER) : -len(_HOOK)])
            lines[number] = f"{_PLACEHOLDER}''{_HOOK}" if isinstance(name_of_project, str) else line
    if sha256_hex("\n".join(lines).encode()) not in _FINDERS:
        return None
    mapping, namespaces = (literals[name] for name in _LITERALS)
    # Its code takes whatever it can iterate; what is not of the shape that the backend writes is not understood.
    if mapping != _texts(mapping) or namespaces != _lists(namespaces):
        return None
    return Finder(_texts(mapping), _lists(namespaces))


def _redirected(lines: list[str]) -> Finder | None:
    """Return what calls of `map_module` map, if the lines are nothing else."""
    tree = _parsed("\n".join(lines))
    if tree is None:
        return None
    rows = [_redirection(one) for one in tree.body]
    mapping = {name: path for row in rows for name, path in row.items()}
    return Finder(mapping, is_of_editables=True) if all(rows) else None


def _redirection(statement: ast.stmt) -> Mapping:
    """Return what ``F.map_module('name', 'path')`` maps; nothing for anything else, however much alike."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.keywords or ast.unparse(call.func) != "F.map_module":
        return {}
    return _mapped(call) if all(isinstance(argument, ast.Constant) for argument in call.args) else {}


def _mapped(call: ast.expr) -> Mapping:
    """Return what one call maps: of editables or of scikit-build-core."""
    if not isinstance(call, ast.Call):
        return {}
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    values = [_value(argument) for argument in call.args]
    if called == "map_module" and len(values) == 2 and all(isinstance(value, str) for value in values):  # noqa: PLR2004
        return {str(values[0]): _package(str(values[1]))}
    if called == "install" and values and isinstance(values[0], dict):
        return {name: _package(path) for name, path in _texts(values[0]).items()}
    return {}


def _package(path: str) -> str:
    """Return the folder of a package whose first file is named, or the path as it is."""
    return path.removesuffix(_INIT)


def _calls(tree: ast.Module) -> Iterator[ast.expr]:
    return (one.value for one in tree.body if isinstance(one, ast.Expr))


def _assigned(tree: ast.Module) -> Iterator[tuple[str, object]]:
    for node in tree.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        value = getattr(node, "value", None)
        for target in targets:
            if isinstance(target, ast.Name) and target.id in _LITERALS and value is not None:
                yield target.id, _value(value)


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value


def _literal(text: str) -> object:
    tree = _parsed(text)
    statements = tree.body if tree else []
    return _value(statements[0].value) if len(statements) == 1 and isinstance(statements[0], ast.Expr) else None


def _texts(value: object) -> Mapping:
    pairs = value.items() if isinstance(value, dict) else ()
    return {key: path for key, path in pairs if isinstance(key, str) and isinstance(path, str)}


def _lists(value: object) -> dict[str, list[str]]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {
        key: [path for path in paths if isinstance(path, str)]
        for key, paths in pairs
        if isinstance(key, str) and isinstance(paths, list)
    }
