"""The rules of an integration profile (contract section 2): which operations, with which effect, for which todo."""

from __future__ import annotations

import re

from loopx_host.core.permissions import NET_CONNECT, may_write, reference_of
from loopx_host.documents import integration_profile_v0
from loopx_host.documents.integration_profile import ID, KEYS
from loopx_host.registry import grammar
from loopx_host.registry.report import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from loopx_host.documents.integration_profile import IntegrationProfile, ProfileOperation
    from loopx_host.registry.report import Report
    from loopx_host.registry.schemas import Bundle

    _Rules = Callable[[dict[str, Any], list[str]], Iterator[str]]

READ_ONLY, EXTERNAL_WRITE = "read_only", "external_write"
OPERATION_KEYS = {"id", "effect_class", "required_permission", "request_schema", "result_schema"}
SCHEMA_KEYS = ("request_schema", "result_schema")
TODO_KEYS = ("action_kinds", "target_key_prefixes")
OPERATIONS, TOKENS = 32, 32
_ID_LENGTH, _TOKEN_LENGTH = 64, 128

_ID = re.compile(r"[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*", re.ASCII)
_ACTION_KIND = re.compile(r"[a-z][a-z0-9_]*(?:[.:-][a-z0-9_]+)*", re.ASCII)
_PREFIX = re.compile(r"[!-~]+", re.ASCII)
_TOKENS = dict(zip(TODO_KEYS, (_ACTION_KIND, _PREFIX), strict=True))


def checked(
    found: Report,
    pointer: str,
    path: str,
    document: dict[str, object],
    *,
    capability: str,
    permissions: list[str],
    check_schema: Callable[[Bundle], None],
) -> IntegrationProfile | None:
    """Return the profile that a document is, or None with what breaks a rule reported under `pointer`.

    `permissions` are those the manifest declares.
    """
    before = len(found.errors)
    for clause in _profile(document, capability, permissions):
        found.bad(pointer, f"names {path}, which {clause}")
    if len(found.errors) > before:
        return None
    followed: Any = document  # every key and type was looked at
    profile: IntegrationProfile = followed
    if profile["schema_version"] == ID:
        _check_schemas(found, pointer, path, profile["operations"], check_schema)
    return profile


def _profile(document: dict[str, object], capability: str, permissions: list[str]) -> Iterator[str]:
    if set(document) != set(KEYS):
        yield f"must hold exactly the keys {', '.join(KEYS)}"
        return
    if document["schema_version"] not in (ID, integration_profile_v0.ID):
        yield f"must have schema_version `{ID}`, or `{integration_profile_v0.ID}` with tokens for schemas"
        return
    rules = _v0_rules if document["schema_version"] == integration_profile_v0.ID else _rules
    if document["capability_id"] != capability:
        yield f"is for the capability {kind_of(document['capability_id'])}, not this one"
    if not isinstance(document["protocol"], str) or grammar.protocol(document["protocol"]):
        yield "must name a protocol such as `name_v0`"
    operations = document["operations"]
    if not isinstance(operations, list) or not 1 <= len(operations) <= OPERATIONS:
        yield f"must list 1 to {OPERATIONS} operations"
        return
    for index, operation in enumerate(operations):
        for clause in _operation(operation, permissions, rules):
            yield f"has in operations[{index}] {clause}"
    ids = [row["id"] for row in operations if isinstance(row, dict) and isinstance(row.get("id"), str)]
    if len(set(ids)) != len(ids):
        yield "has two operations with the same id"


def _operation(row: object, permissions: list[str], rules: _Rules) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"{kind_of(row)} instead of an object"
        return
    effect = row.get("effect_class")
    if effect not in (READ_ONLY, EXTERNAL_WRITE):
        yield f"an effect_class that is neither {READ_ONLY} nor {EXTERNAL_WRITE}"
        return
    keys = OPERATION_KEYS | ({"todo_contract"} if effect == EXTERNAL_WRITE else set())
    if set(row) != keys:
        # The one that matters most has a sentence of its own: what an operation may write is said by its todo.
        if ("todo_contract" in row) != ("todo_contract" in keys):
            yield f"a todo_contract to {'add' if effect == EXTERNAL_WRITE else 'remove'}: its effect is {effect}"
        else:
            yield f"other keys than {', '.join(sorted(keys))}"
        return
    if not _is_token(row["id"], _ID, _ID_LENGTH):
        yield "an id that is not lower-case words joined by `-`, `_` or `.`"
    yield from rules(row, permissions)
    if effect == EXTERNAL_WRITE:
        yield from _todo_contract(row["todo_contract"])


def _rules(row: dict[str, Any], permissions: list[str]) -> Iterator[str]:
    """Say what keeps permission and schemas of an operation from being ours: JSON Schemas, and a declared token."""
    permission = row["required_permission"]
    if not isinstance(permission, str) or permission not in permissions:
        yield f"a required_permission that the manifest does not declare: {kind_of(permission)}"
    elif row["effect_class"] == READ_ONLY and may_write(permission):
        yield f"the effect_class {READ_ONLY}, and a required_permission that writes: {permission}"
    yield from (f"a {key} that is not an object" for key in SCHEMA_KEYS if not isinstance(row[key], dict))


def _v0_rules(row: dict[str, Any], permissions: list[str]) -> Iterator[str]:
    """Say what keeps them from being those of a v0 profile: tokens, and a permission that is a word of its domain.

    That grants nothing and refuses nothing; one that opens the network has to be declared as ever.
    """
    permission = row["required_permission"]
    if not _is_token(permission, _PREFIX, _TOKEN_LENGTH):
        yield f"a required_permission that is no token: {kind_of(permission)}"
    elif reference_of(permission) is not None:
        yield f"a required_permission that opens a path, as only {ID} has it: {permission}"
    elif permission == NET_CONNECT and permission not in permissions:
        yield f"a required_permission that the manifest does not declare: {permission}"
    for key in SCHEMA_KEYS:
        if isinstance(row[key], dict):
            yield f"a {key} that is a JSON Schema, as only {ID} has it; here stands a token"
        elif not _is_token(row[key], _PREFIX, _TOKEN_LENGTH):
            yield f"a {key} that is no token of at most {_TOKEN_LENGTH} characters"


def _todo_contract(contract: object) -> Iterator[str]:
    if not isinstance(contract, dict) or set(contract) != set(TODO_KEYS):
        yield f"a todo_contract that does not hold exactly {' and '.join(TODO_KEYS)}"
        return
    for key, shape in _TOKENS.items():
        tokens = contract[key]
        good = isinstance(tokens, list) and all(_is_token(token, shape, _TOKEN_LENGTH) for token in tokens)
        if not good or not 1 <= len(tokens) <= TOKENS or len(set(tokens)) != len(tokens):
            yield f"a todo_contract whose {key} is not a list of 1 to {TOKENS} different tokens"


def _is_token(value: object, shape: re.Pattern[str], limit: int) -> bool:
    return isinstance(value, str) and len(value) <= limit and shape.fullmatch(value) is not None


def _check_schemas(
    found: Report,
    pointer: str,
    path: str,
    operations: list[ProfileOperation],
    check_schema: Callable[[Bundle], None],
) -> None:
    """Report the first schema that could not judge anything; each stands alone, so it refers to itself only."""
    from loopx_host.registry.schemas import Bundle, SchemaError

    for operation in operations:
        for key, schema in zip(SCHEMA_KEYS, (operation["request_schema"], operation["result_schema"]), strict=True):
            try:
                if isinstance(schema, dict):
                    check_schema(Bundle(f"{operation['id']}.{key}", schema, {}))
            except SchemaError as error:
                found.error(error.code, pointer, f"{pointer} names {path}, whose schemas cannot be used: {error}")
                return
