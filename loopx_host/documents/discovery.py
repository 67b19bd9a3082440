"""What the environment offers, and how it stands to what is installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.discovery_index import Declares, IndexUse, Offer
    from loopx_host.documents.parts import Command, Distribution

    class Discovered(TypedDict):
        """One offer with the activation state joined in, and the command that goes on from there."""

        id: str | None
        distribution: Distribution | None
        location: str
        manifest_path: str | None
        version: str | None
        revision: str | None
        digest: str | None
        declares: Declares | None
        commands: list[str]
        state: str
        code: str | None
        reason: str | None
        next_command: Command | None

    class Discovery(TypedDict):
        """`state_code` says why the activation state could not be joined in, or is null."""

        ok: Literal[True]
        schema_version: str
        extensions: list[Discovered]
        index: IndexUse
        state_code: str | None


ID = "loopx_extension_discovery_v0"
INSTALLED, UPGRADE_AVAILABLE = "installed", "upgrade_available"


def discovery(rows: list[Discovered], index: IndexUse, state_code: str | None) -> Discovery:
    """Return the document of these offers."""
    return {"ok": True, "schema_version": ID, "extensions": rows, "index": index, "state_code": state_code}


def row(offer: Offer, *, state: str, next_command: Command | None) -> Discovered:
    """Return an offer as it is shown; the files behind it are for the index alone."""
    return {
        "id": offer["id"],
        "distribution": offer["distribution"],
        "location": offer["location"],
        "manifest_path": offer["manifest_path"],
        "version": offer["version"],
        "revision": offer["revision"],
        "digest": offer["digest"],
        "declares": offer["declares"],
        "commands": offer["commands"],
        "state": state,
        "code": offer["code"],
        "reason": offer["reason"],
        "next_command": next_command,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a discovery."""
    from loopx_host.documents import words
    from loopx_host.documents.discovery_index import STATES

    states = [INSTALLED, UPGRADE_AVAILABLE, *STATES]
    row = words.object_of(
        {
            "id": words.NULLABLE_TEXT,
            "state": {"enum": states},
            "code": words.NULLABLE_TEXT,
            "reason": words.NULLABLE_TEXT,
            "distribution": words.NULLABLE_OBJECT,
            "location": words.TEXT,
            "manifest_path": words.NULLABLE_TEXT,
            "version": words.NULLABLE_TEXT,
            "revision": words.NULLABLE_REVISION,
            "next_command": words.NULLABLE_TEXT,
        }
    )
    return words.receipt_of(ID, {"extensions": words.rows_of(row), "index": words.OBJECT})
