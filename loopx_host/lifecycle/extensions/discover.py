"""The verb `discover`: what the environment offers, and how it stands to what is installed."""

from __future__ import annotations

from loopx_host.core.errors import Refused, refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.state import Entry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Discovery, StateStore

DISCOVERY_SCHEMA = "loopx_extension_discovery_v0"


def discover(*, store: StateStore, discovery: Discovery, rebuild: bool) -> dict[str, Any]:
    """Return one row per advertised extension (contract section 3). A damaged state file spoils only `state`."""
    rows, index = discovery.offers(rebuild=rebuild)
    state, state_code = _state(store)
    return {
        "ok": True,
        "schema_version": DISCOVERY_SCHEMA,
        "extensions": [_standing(row, state) for row in rows],
        "index": index,
        "state_code": state_code,
    }


def offered(extension_id: str, verb: str, discovery: Discovery) -> str:
    """Return the manifest path of the one offer of an id; to trust it, the packages are asked and not an index.

    Raises Refused: `extension_not_offered`, `extension_ambiguous` naming every carrier, `extension_broken`.
    """
    rows, _ = discovery.offers(rebuild=True)
    found = [row for row in rows if row["id"] == extension_id]
    shown, again = one_line(extension_id, 60), ("extension", "discover")
    if not found:
        raise refuse(
            "extension_not_offered",
            shown,
            f"no installed package offers an extension `{shown}`",
            hint="see what is offered; a manifest that no package advertises is named with --manifest",
            next_command=again,
        )
    if len(found) > 1:
        named = [row for row in found if row["manifest_path"]]
        raise refuse(
            "extension_ambiguous",
            shown,
            "; ".join(dict.fromkeys(str(row["reason"]) for row in (*named, *found))),
            hint="uninstall one of the packages, or name the manifest to trust with --manifest",
            next_command=("extension", verb, "--manifest", str(named[0]["manifest_path"])) if named else again,
        )
    if found[0]["state"] != "available":
        raise refuse(
            "extension_broken",
            shown,
            f"the offer of `{shown}` is unusable [{found[0]['code']}]: {found[0]['reason']}",
            hint="repair the package",
            next_command=again,
        )
    return str(found[0]["manifest_path"])


def _state(store: StateStore) -> tuple[State | None, str | None]:
    try:
        return State.parse(store.read(), store.location), None
    except Refused as refused:
        return None, refused.code


def _way_out(row: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the command that still works for an offer that cannot be installed by its id, or None."""
    if row["state"] == "ambiguous":
        return ("extension", "install", "--manifest", str(row["manifest_path"]))
    return ("extension", "install", "--help") if row["code"] == "editable_unresolved" else None


def _standing(row: dict[str, Any], state: State | None) -> dict[str, Any]:
    """Return the row with the activation state joined in, and the command that goes on from there."""
    shown = {key: value for key, value in row.items() if key != "files"}
    entry = state.find(str(row["id"])) if state is not None else None
    if row["state"] != "available":
        return {**shown, "next_command": _way_out(row)}
    if not isinstance(entry, Entry):
        return {**shown, "next_command": ("extension", "install", row["id"])}
    if entry.active.manifest.digest == row["digest"]:
        return {**shown, "state": "installed", "next_command": None}
    return {**shown, "state": "upgrade_available", "next_command": ("extension", "upgrade", row["id"])}
