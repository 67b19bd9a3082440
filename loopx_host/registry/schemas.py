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
    from typing import Any

    from jsonschema_rs import Draft202012Validator

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BASE = "loopx-snapshot:///"
_ROWS = 10
_MESSAGE = 300


class SchemaError(ValueError):
    """A schema that cannot be used; `code` is a problem code of the manifest report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Bundle:
    """One schema and the sibling files its references reach, each parsed; `path` and `siblings` are relative."""

    __slots__ = ("path", "root", "siblings")

    def __init__(self, path: str, root: dict[str, Any], siblings: dict[str, dict[str, Any]]) -> None:
        self.path = path
        self.root = root
        self.siblings = siblings

    @classmethod
    def of(cls, named: dict[str, Any], snapshot: dict[str, bytes]) -> Bundle:
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


def violations(judge: Draft202012Validator, instance: object) -> list[dict[str, str]]:
    """Return where and how `instance` breaks the schema, at most ten rows of pointer and message."""
    rows: list[dict[str, str]] = []
    for error in judge.iter_errors(instance):
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
        rows.append({"pointer": one_line(pointer, _MESSAGE), "message": one_line(error.message, _MESSAGE)})
        if len(rows) == _ROWS:
            break
    return rows


def _resources(bundle: Bundle) -> list[tuple[str, Any]]:
    """Return (URI, schema) of every file, under the base of the snapshot and under the root's own `$id`."""
    from urllib.parse import urljoin

    files = {posixpath.normpath(bundle.path): bundle.root, **bundle.siblings}
    found = [(_BASE + name, document) for name, document in files.items()]
    identifier = bundle.root.get("$id")
    if isinstance(identifier, str):
        here = posixpath.dirname(posixpath.normpath(bundle.path)) or "."
        found += [(urljoin(identifier, posixpath.relpath(name, here)), document) for name, document in files.items()]
    return found
