"""The normal form of a manifest: what a revision is the digest of, as the state file keeps it.

Keys of v0 are always there; what came later enters only where a manifest uses it, or old revisions would change.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.documents.integration_profile import IntegrationProfile

    class SchemaFile(TypedDict):
        """A schema the manifest names, with the digests of the files its references reach, by relative path."""

        path: str
        sha256: str
        siblings: dict[str, str]

    class Profile(TypedDict):
        """An integration profile the manifest names; `digest` is over its canonical JSON, with ``sha256:``."""

        path: str
        digest: str
        document: IntegrationProfile

    class Provider(TypedDict):
        """What v0 kept of the extension itself; the facts are those of a manifest nobody activated."""

        declared: bool
        enabled: bool
        id: str
        installed: bool
        origin: str
        permissions: list[str]
        ready: bool
        requires_loopx_api: str
        version: str

    class Runtime(TypedDict):
        """The program that runs, named by one of `entrypoint` and `python_module`; sizes in MiB, times in seconds."""

        args: list[str]
        doctor_args: list[str]
        protocol: str
        required_permissions: list[str]
        timeout_seconds: int
        entrypoint: NotRequired[str]
        python_module: NotRequired[str]
        doctor_timeout_seconds: NotRequired[int]
        memory_limit_mb: NotRequired[int]
        open_files_limit: NotRequired[int]
        env: NotRequired[list[str]]
        requires: NotRequired[dict[str, str]]
        request_schema: NotRequired[SchemaFile]
        response_schema: NotRequired[SchemaFile]

    class Documentation(TypedDict):
        """Where the pages of a package are."""

        aliases: list[str]
        canonical: str
        site_root: str
        source_root: str

    class Capability(TypedDict):
        """A capability the extension provides; the two fields about the real world only where it is public."""

        origin: str
        provider_id: str
        provider_version: str
        id: str
        kind: str
        title: str
        status: str
        user_value: str
        next_real_step: str
        visibility: str
        real_world_anchor: NotRequired[str]
        entry_command: NotRequired[str]
        capability_kind: str
        documentation: NotRequired[Documentation]
        integration_profile: NotRequired[Profile]

    class Implementation(TypedDict):
        """A capability of another extension that this one serves over a protocol."""

        capability_id: str
        protocol: str
        provider_id: str
        provider_version: str
        integration_profile: NotRequired[Profile]

    class Surface(TypedDict):
        """A place on which the extension may publish a view."""

        id: str
        kind: str
        title: str
        view_schema: str
        view_validator: str
        visibility: str
        empty_state_title: str
        empty_state_detail: str

    class NormalForm(TypedDict):
        """One manifest, defaults filled in and strings stripped; lists in file order."""

        capabilities: list[Capability]
        documentation: Documentation | None
        implementations: list[Implementation]
        presentation_surfaces: list[Surface]
        provider: Provider
        runtime: Runtime | None


def schema() -> dict[str, object]:
    """Return the JSON Schema of a normal form."""
    from loopx_host.documents import words

    documentation = words.object_of(
        {**dict.fromkeys(("canonical", "site_root", "source_root"), words.TEXT), "aliases": words.TEXTS}
    )
    return words.object_of(
        {
            "capabilities": words.rows_of(_capability(documentation)),
            "documentation": words.nullable(documentation),
            "implementations": words.rows_of(_implementation()),
            "presentation_surfaces": words.rows_of(_surface()),
            "provider": _provider(),
            "runtime": words.nullable(_runtime()),
        }
    )


def _provider() -> dict[str, object]:
    from loopx_host.documents import words

    facts = dict.fromkeys(("declared", "enabled", "installed", "ready"), words.BOOLEAN)
    texts = dict.fromkeys(("origin", "requires_loopx_api", "version"), words.TEXT)
    return words.object_of({**facts, **texts, "id": words.ID, "permissions": words.TEXTS})


def _runtime() -> dict[str, object]:
    from loopx_host.documents import words

    whole: dict[str, object] = {"type": "integer", "minimum": 1}
    table: dict[str, object] = {"type": "object", "additionalProperties": words.TEXT}
    file = words.object_of(
        {"path": words.TEXT, "sha256": words.SHA256, "siblings": {**table, "additionalProperties": words.SHA256}}
    )
    made = words.object_of(
        {
            "args": words.TEXTS,
            "doctor_args": words.TEXTS,
            "protocol": words.TEXT,
            "required_permissions": words.TEXTS,
            "timeout_seconds": whole,
        },
        {
            "entrypoint": words.TEXT,
            "python_module": words.TEXT,
            "doctor_timeout_seconds": whole,
            "memory_limit_mb": whole,
            "open_files_limit": whole,
            "env": words.TEXTS,
            "requires": table,
            "request_schema": file,
            "response_schema": file,
        },
    )
    return {**made, "oneOf": [{"required": ["entrypoint"]}, {"required": ["python_module"]}]}


def _profile() -> dict[str, object]:
    from loopx_host.documents import integration_profile, words

    return words.object_of({"path": words.TEXT, "digest": words.DIGEST, "document": integration_profile.any_schema()})


def _capability(documentation: dict[str, object]) -> dict[str, object]:
    from loopx_host.documents import words

    texts = (
        *("origin", "provider_id", "provider_version", "id", "kind", "title", "status", "user_value"),
        *("next_real_step", "capability_kind"),
    )
    return words.object_of(
        {**dict.fromkeys(texts, words.TEXT), "visibility": {"enum": ["public", "internal"]}},
        {
            "real_world_anchor": words.TEXT,
            "entry_command": words.TEXT,
            "documentation": documentation,
            "integration_profile": _profile(),
        },
    )


def _implementation() -> dict[str, object]:
    from loopx_host.documents import words

    texts = ("capability_id", "protocol", "provider_id", "provider_version")
    return words.object_of(dict.fromkeys(texts, words.TEXT), {"integration_profile": _profile()})


def _surface() -> dict[str, object]:
    from loopx_host.documents import words
    from loopx_host.documents.manifest import SURFACE_KEYS

    texts = dict.fromkeys(SURFACE_KEYS, words.TEXT)
    return words.object_of({**texts, "visibility": {"enum": ["public-safe", "owner-only"]}})
