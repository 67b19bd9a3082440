"""What a switch from one manifest to another changes, for the person who decides about it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.operation import Changes
    from loopx_host.registry.manifest import Manifest


def added_permissions(old: Manifest, new: Manifest) -> list[str]:
    """Return the tokens that `new` declares and `old` did not, in file order."""
    return [token for token in new.permissions if token not in old.permissions]


def differences(old: Manifest, new: Manifest) -> Changes:
    """Return the `changes` block of a receipt: version, permissions, and the runtime fields that differ."""
    before: dict[str, object] = {**(old.form["runtime"] or {})}
    after: dict[str, object] = {**(new.form["runtime"] or {})}
    return {
        "version": {"from": old.version, "to": new.version},
        "permissions": {
            "added": added_permissions(old, new),
            "removed": added_permissions(new, old),
        },
        "runtime": {
            field: {"from": before.get(field), "to": after.get(field)}
            for field in sorted(before.keys() | after.keys())
            if before.get(field) != after.get(field)
        },
    }
