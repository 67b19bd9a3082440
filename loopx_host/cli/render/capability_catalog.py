"""Each capability with how far it is from being usable, and the way to the next step."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, next_commands, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.capability_catalog import CapabilityCatalog, CatalogCapability, SurfaceRow


def to_text(document: CapabilityCatalog) -> str:
    """Return the capabilities, how to go on with them, then the presentation surfaces."""
    rows = document["capabilities"]
    cells: list[list[object]] = [[row["id"], _reached(row), row["provider_id"], row["title"] or ""] for row in rows]
    cells += [["-", "broken", bad["id"], bad["code"]] for bad in document["invalid"]]
    if not cells:
        return "no capability is known here\n"
    capabilities = table(["CAPABILITY", "STATE", "PROVIDER", "TITLE"], cells)
    packages = clean(f"{row['id']}: {row['install_package']}" for row in rows if row["install_package"])
    return capabilities + next_commands(rows, "id") + packages + _surfaces(document["presentation_surfaces"])


def _reached(row: CatalogCapability) -> str:
    """Say in one word how far a capability is; `off` says that its package is not there."""
    state = row["provider_state"]
    if state["ready"]:
        return "ready"
    if state["enabled"]:
        return "not ready"
    if state["installed"]:
        return "disabled"
    return "off" if row["reason"] == "package_not_installed" else "not installed"


def _surfaces(rows: list[SurfaceRow]) -> str:
    if not rows:
        return ""
    cells = [[row["surface_id"], row["state"], row["visibility"], row["extension_id"], row["title"]] for row in rows]
    return "\n" + table(["SURFACE", "STATE", "VISIBILITY", "EXTENSION", "TITLE"], cells)
