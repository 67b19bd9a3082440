"""JSON Schemas of third parties: checked when they are trusted, applied to requests and responses of a run.

jsonschema checks a schema against its metaschema; jsonschema-rs judges instances, offline and with patterns whose
cost is linear (extension-formats, *Third-party schemas*). `$ref` reaches the snapshot and nothing else.
"""

from __future__ import annotations

import posixpath

from loopx_host.core.strict_json import parse_object
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema_rs import Draft202012Validator

    from loopx_host.documents.normal_form import SchemaFile
    from loopx_host.documents.parts import Violation

    Schema = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BASE = "loopx-snapshot:///"
_ROWS = 10
_MESSAGE = 300
_INDEX_DIGITS = 9
_DATA_KEYWORDS = ("enum", "const", "default", "examples")  # what they hold is data, whatever it looks like
_APPLIED, _APPLIED_IN_ALL = 5_000, 100_000  # the worst such schemas compile in 0.2 and 4 seconds
_BEGUN = 0


class SchemaError(ValueError):
    """A schema that cannot be used; `code` is a problem code of the manifest report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Bundle:
    """One schema and the sibling files its references reach, each parsed; `path` and `siblings` are relative."""

    __slots__ = ("path", "root", "siblings")

    def __init__(self, path: str, root: Schema, siblings: dict[str, Schema]) -> None:
        self.path = path
        self.root = root
        self.siblings = siblings

    @classmethod
    def of(cls, named: SchemaFile, snapshot: dict[str, bytes]) -> Bundle:
        """Return the bundle a normal form names (``{path, sha256, siblings}``), from bytes by SHA-256."""
        siblings = {name: parse_object(snapshot[digest]) for name, digest in named["siblings"].items()}
        return cls(named["path"], parse_object(snapshot[named["sha256"]]), siblings)


def check(bundle: Bundle) -> None:
    """Refuse a schema that is no 2020-12 schema, or that could not be applied. Raises SchemaError."""
    from jsonschema import Draft202012Validator as Checker
    from jsonschema.exceptions import SchemaError as BadSchema

    for name, document in {bundle.path: bundle.root, **bundle.siblings}.items():
        if document.get("$schema", DIALECT) != DIALECT:
            raise SchemaError("schema_invalid", f"{name} is not written for {DIALECT}")
        try:
            Checker.check_schema(document)
        except BadSchema as error:
            raise SchemaError("schema_invalid", f"{name}: {one_line(error.message, _MESSAGE)}") from None
        except RecursionError:
            raise SchemaError("schema_invalid", f"{name} is nested too deep") from None
    _Unfolding(bundle).check()
    validator(bundle)


def validator(bundle: Bundle) -> Draft202012Validator:
    """Return the judge of instances. Raises SchemaError."""
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(
            bundle.root,
            base_uri=_BASE + posixpath.normpath(bundle.path),
            registry=jsonschema_rs.Registry(_resources(bundle)),
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=False,
            offline=True,
        )
    except ValueError as error:
        # The only thing a checked schema can still do wrong is a pattern or a reference.
        message = one_line(str(error), _MESSAGE)
        code = "schema_pattern_unsupported" if 'not a "regex"' in message else "schema_invalid"
        raise SchemaError(code, f"{bundle.path}: {message}") from None


def violations(judge: Draft202012Validator, instance: object) -> list[Violation]:
    """Return where and how `instance` breaks the schema, at most ten rows of pointer and message."""
    rows: list[Violation] = []
    for error in judge.iter_errors(instance):
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
        rows.append({"pointer": one_line(pointer, _MESSAGE), "message": one_line(error.message, _MESSAGE)})
        if len(rows) == _ROWS:
            break
    return rows


class _Unfolding:
    """How many schemas apply to one and the same value, once references are followed.

    A library may need that many steps, or their square, before it judges anything, so a few lines that refer to
    each other twice at each of thirty levels would never be compiled.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._files: dict[str, Schema] = {posixpath.normpath(bundle.path): bundle.root, **bundle.siblings}
        self._weights: dict[int, int] = {}
        self._schemas = [(name, node) for name, document in self._files.items() for node in _objects(document)]
        self._dynamic: dict[str, list[tuple[str, Schema]]] = {}
        for name, node in self._schemas:
            anchor = node.get("$dynamicAnchor")
            if isinstance(anchor, str):
                self._dynamic.setdefault(anchor, []).append((name, node))

    def check(self) -> None:
        """Raises SchemaError `schema_invalid`."""
        total = 0
        for name, node in self._schemas:
            if isinstance(node.get("$id"), str) and node is not self._files[name]:
                raise SchemaError("schema_invalid", f"{name} holds an `$id` that is not at its top")
            try:
                weight = self._weight(name, node)
            except RecursionError:
                raise SchemaError("schema_invalid", f"{name} holds a chain of references that is too long") from None
            total += weight
            if weight > _APPLIED or total > _APPLIED_IN_ALL:
                raise SchemaError("schema_invalid", f"{name} applies too many schemas to one value")

    def _weight(self, name: str, node: object) -> int:
        if not isinstance(node, dict):
            return 1
        known = self._weights.get(id(node))
        if known == _BEGUN:
            raise SchemaError("schema_invalid", f"{name} refers to itself without going deeper into the value")
        if known is None:
            self._weights[id(node)] = _BEGUN
            known = 1 + sum(self._weight(*applied) for applied in self._applied(name, node))
            self._weights[id(node)] = known
        return known

    def _applied(self, name: str, node: Schema) -> Iterator[tuple[str, object]]:
        """Return what `node` applies to the very value it is applied to, each with its file."""
        for key in ("allOf", "anyOf", "oneOf"):
            several = node.get(key)
            if isinstance(several, list):
                yield from ((name, one) for one in several)
        yield from ((name, node[key]) for key in ("not", "if", "then", "else") if key in node)
        dependent, reference, dynamic = (node.get(key) for key in ("dependentSchemas", "$ref", "$dynamicRef"))
        if isinstance(dependent, dict):
            yield from ((name, one) for one in dependent.values())
        if isinstance(reference, str):
            yield from self._referred(name, reference)
        if isinstance(dynamic, str):
            yield from self._dynamic.get(dynamic.rpartition("#")[2]) or self._referred(name, dynamic)

    def _referred(self, name: str, reference: str) -> Iterator[tuple[str, object]]:
        """Return what a reference means; the library has the last word on one that leads nowhere."""
        from urllib.parse import unquote

        target, _, fragment = reference.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
        found: object = self._files.get(file)
        if fragment and not fragment.startswith("/"):
            anchored = (node for one, node in self._schemas if one == file and fragment in _anchors(node))
            found = next(anchored, None)
        for step in unquote(fragment).split("/")[1:] if fragment.startswith("/") else ():
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list):
                found = found[int(key)] if _is_index(key) and int(key) < len(found) else None
            else:
                found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            yield file, found


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) <= _INDEX_DIGITS


def _anchors(node: Schema) -> tuple[object, object]:
    return node.get("$anchor"), node.get("$dynamicAnchor")


def _objects(document: object) -> Iterator[Schema]:
    """Return every object of a file: any may be a schema, by its place or because a reference leads to it."""
    waiting: list[object] = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += [value for key, value in node.items() if key not in _DATA_KEYWORDS]
        elif isinstance(node, list):
            waiting += node


def _resources(bundle: Bundle) -> list[tuple[str, Schema]]:
    """Return (URI, schema) of every file, under the base of the snapshot and under the root's own `$id`."""
    from urllib.parse import urljoin

    files = {posixpath.normpath(bundle.path): bundle.root, **bundle.siblings}
    found = [(_BASE + name, document) for name, document in files.items()]
    identifier = bundle.root.get("$id")
    if isinstance(identifier, str):
        here = posixpath.dirname(posixpath.normpath(bundle.path)) or "."
        found += [(urljoin(identifier, posixpath.relpath(name, here)), document) for name, document in files.items()]
    return found
