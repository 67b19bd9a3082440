"""What a provider reads of a governed call: the goal, the operation, its input, the references that were opened."""

from __future__ import annotations

from loopx_host.documents.execution_envelope import SCOPE_OF_A_TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NotRequired, TypedDict

    from loopx_host.documents.execution_envelope import ExecutionEnvelope
    from loopx_host.documents.parts import ContextReference

    class GovernedRequest(TypedDict):
        """`invocation_id` follows from what is asked and nothing else; the envelope is put in last.

        `surface` is there when a view is asked for, to be published on it; `input` is then the request to publish.
        Agent, workspace and delivery are those of an admitted turn: absent from a call that has none.
        """

        schema_version: str
        invocation_id: str
        goal_id: str
        capability_id: str
        operation: str
        protocol: str
        input: dict[str, object]
        context_refs: list[ContextReference]
        surface: NotRequired[str]
        agent: NotRequired[str]
        workspace: NotRequired[str]
        delivery: NotRequired[str]
        execution_envelope: NotRequired[ExecutionEnvelope]


ID = "loopx_external_domain_capability_request_v1"
ENVELOPE_KEY = "execution_envelope"
REFERENCES_KEY = "context_refs"
SURFACE_KEY = "surface"
_OTHER_TYPES = ("input", REFERENCES_KEY, ENVELOPE_KEY)
_REFERENCE = {"name", "kind", "path"}
_KEYS = {
    "schema_version",
    "invocation_id",
    "goal_id",
    "capability_id",
    "operation",
    "protocol",
    "input",
    REFERENCES_KEY,
}


def request(
    *,
    invocation_id: str,
    goal_id: str,
    capability_id: str,
    operation: str,
    protocol: str,
    asked: dict[str, object],
    references: list[ContextReference],
    surface: str | None = None,
) -> GovernedRequest:
    """Return the request without its envelope; `asked` is the input of the operation, or of a view for `surface`."""
    asking: GovernedRequest = {
        "schema_version": ID,
        "invocation_id": invocation_id,
        "goal_id": goal_id,
        "capability_id": capability_id,
        "operation": operation,
        "protocol": protocol,
        "input": asked,
        "context_refs": references,
    }
    return asking if surface is None else {**asking, "surface": surface}


def has_its_keys(document: Mapping[str, object]) -> bool:
    """Whether a document has every key of a request and no key that none has."""
    return _KEYS <= set(document) <= {*_KEYS, SURFACE_KEY, *SCOPE_OF_A_TURN, ENVELOPE_KEY}


def has_its_types(document: Mapping[str, object]) -> bool:
    """Whether everything in a document with a request's keys is of its type, its references closed and told apart."""
    rows = document[REFERENCES_KEY]
    return (
        isinstance(document["input"], dict)
        and all(isinstance(value, str) and value for key, value in document.items() if key not in _OTHER_TYPES)
        and isinstance(rows, list)
        and all(isinstance(row, dict) and set(row) == _REFERENCE and row["kind"] == "path" for row in rows)
        and all(isinstance(value, str) and value for row in rows for value in row.values())
        and len({row["name"] for row in rows}) == len(rows)
    )


def references(opened: dict[str, str]) -> list[ContextReference]:
    """Return the rows of references that the host opened: name → absolute path."""
    return [{"name": name, "kind": "path", "path": path} for name, path in sorted(opened.items())]


def sealed(document: GovernedRequest, envelope: ExecutionEnvelope) -> GovernedRequest:
    """Return the request with the envelope that says what it may do."""
    return {**document, "execution_envelope": envelope}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a governed request as its provider reads it."""
    from loopx_host.documents import execution_envelope, words

    reference = words.object_of({"name": words.TEXT, "kind": {"const": "path"}, "path": words.TEXT}, closed=True)
    return words.object_of(
        {
            "schema_version": {"const": ID},
            "invocation_id": words.TEXT,
            "goal_id": words.TEXT,
            "capability_id": words.TEXT,
            "operation": words.TEXT,
            "protocol": words.TEXT,
            "input": words.OBJECT,
            REFERENCES_KEY: words.rows_of(reference),
        },
        {**dict.fromkeys((SURFACE_KEY, *SCOPE_OF_A_TURN), words.TEXT), ENVELOPE_KEY: execution_envelope.schema()},
        closed=True,
    )
