"""The activation state file: v0 shapes, with the additions of this host beside them. Unknown fields are kept."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.documents.normal_form import NormalForm
    from loopx_host.documents.parts import Distribution, EntryPoint, Pin

    class Revision(TypedDict):
        """One trusted snapshot of a manifest, pinned to a launcher unless a v0 tool wrote it.

        `revision` is the first 16 digits of `digest`; `proved_identity` what was last proved for it and
        `proved_distribution` the package that carried it then. `plugins` and `commands` are the activation record:
        what of the package may run inside the host. `search_path` is the PATH it is run with.
        """

        revision: str
        version: str
        manifest: NormalForm
        digest: NotRequired[str]
        manifest_path: NotRequired[str]
        installed_at: NotRequired[str]
        launcher: NotRequired[Pin | None]
        search_path: NotRequired[list[str]]
        distribution: NotRequired[Distribution | None]
        plugins: NotRequired[list[EntryPoint]]
        commands: NotRequired[list[EntryPoint]]
        source: NotRequired[str]
        proved_identity: NotRequired[str]
        proved_distribution: NotRequired[Distribution | None]

    class Failure(TypedDict):
        """How the last probe failed; of its standard error only the digest."""

        kind: str
        at: str
        exit_code: int | None
        signal: str | None
        stderr_sha256: str | None

    class Proof(TypedDict):
        """The last executed doctor: what it proved, or `failure` with `identity` null and no groups."""

        revision: str
        identity: str | None
        groups: dict[str, str]
        host_api: int
        platform: str
        verified_at: str | None
        failure: Failure | None

    class Event(TypedDict):
        """One thing that was done to an extension."""

        at: str
        operation: str
        revision: NotRequired[str]
        version: NotRequired[str]
        previous_revision: NotRequired[str]
        failure_kind: NotRequired[str | None]

    class Entry(TypedDict):
        """One installed extension; a proof counts only while it agrees with the two fields of v0."""

        id: str
        enabled: bool
        active_revision: str
        rollback_revision: str | None
        doctor_verified_revision: str | None
        doctor_verified_entrypoint_identity: str | None
        revisions: list[Revision]
        proof: NotRequired[Proof | None]
        history: NotRequired[list[Event]]

    class StateFile(TypedDict):
        """The whole file; entries by extension id."""

        schema_version: str
        extensions: dict[str, Entry]


ID = "loopx_extension_state_v0"


def schema() -> dict[str, object]:
    """Return the JSON Schema of the state file."""
    from loopx_host.documents import words

    revision = words.object_of(
        {"revision": words.REVISION, "version": words.TEXT, "manifest": words.OBJECT},
        {
            "digest": words.SHA256,
            "manifest_path": words.TEXT,
            "installed_at": words.TIME,
            "launcher": words.NULLABLE_OBJECT,
        },
    )
    entry = words.object_of(
        {
            "id": words.ID,
            "enabled": words.BOOLEAN,
            "active_revision": words.REVISION,
            "rollback_revision": words.NULLABLE_REVISION,
            "doctor_verified_revision": words.NULLABLE_REVISION,
            "doctor_verified_entrypoint_identity": words.NULLABLE_TEXT,
            "revisions": {"type": "array", "minItems": 1, "items": revision},
        },
        {"proof": words.NULLABLE_OBJECT, "history": {"type": "array", "maxItems": 50}},
    )
    return words.object_of(
        {"schema_version": {"const": ID}, "extensions": {"type": "object", "additionalProperties": entry}}
    )


def failure_schema() -> dict[str, object]:
    """Return the JSON Schema of how a probe failed, or of null where none did."""
    from loopx_host.documents import words

    fields = {
        "kind": words.TEXT,
        "at": words.TEXT,
        "exit_code": words.NULLABLE_INTEGER,
        "signal": words.NULLABLE_TEXT,
    }
    return words.nullable(words.object_of({**fields, "stderr_sha256": words.NULLABLE_TEXT}))
