"""What a caller asks of the lifecycle; each request is a preview unless `execute`.

`plan` is the digest an earlier preview showed, where the caller binds the change to it (extension-formats,
*Plan digest*).
"""

from __future__ import annotations


class ChangeRequest:
    """Probe, enable, disable or uninstall one installed extension."""

    __slots__ = ("execute", "extension_id", "plan")

    def __init__(self, extension_id: str, *, execute: bool, plan: str | None = None) -> None:
        self.extension_id = extension_id
        self.execute = execute
        self.plan = plan


class TrustRequest:
    """Trust the manifest at `manifest_path`, or else the one an installed package offers as `extension_id`.

    `accept_permissions` says that an upgrade may declare more permissions than the active revision.
    """

    __slots__ = ("accept_permissions", "execute", "extension_id", "manifest_path", "plan")

    def __init__(
        self,
        extension_id: str | None,
        manifest_path: str | None,
        *,
        execute: bool,
        plan: str | None = None,
        accept_permissions: bool = False,
    ) -> None:
        self.extension_id = extension_id
        self.manifest_path = manifest_path
        self.execute = execute
        self.plan = plan
        self.accept_permissions = accept_permissions


class RollbackRequest:
    """Return to the kept revision `to`, or to the previous one where it is None."""

    __slots__ = ("execute", "extension_id", "plan", "to")

    def __init__(self, extension_id: str, *, execute: bool, plan: str | None = None, to: str | None = None) -> None:
        self.extension_id = extension_id
        self.execute = execute
        self.plan = plan
        self.to = to
