"""What every verb that trusts a manifest checks before it starts anything, and what it then keeps."""

from __future__ import annotations

from loopx_host.core.diagnostics import WARNING, Problem
from loopx_host.core.errors import refuse
from loopx_host.lifecycle.extensions.state import BadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.diagnostics import ProblemRow
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import State
    from loopx_host.registry.manifest import Manifest, Runtime


class Source:
    """A checked manifest and where it came from; `path` is absolute, as text that can be shown.

    `by_id` says that the caller named the extension and its package's metadata led to the manifest; `carrier` is
    the distribution the manifest lies in, if one advertises it.
    """

    __slots__ = ("by_id", "carrier", "folder", "manifest", "path")

    def __init__(
        self,
        manifest: Manifest,
        path: str,
        folder: str,
        *,
        by_id: bool = False,
        carrier: dict[str, str] | None = None,
    ) -> None:
        self.manifest = manifest
        self.path = path
        self.folder = folder
        self.by_id = by_id
        self.carrier = carrier

    def preview(self, verb: str, *flags: str) -> tuple[str, ...]:
        """Return the command that says what `verb` would do with this manifest."""
        named = (self.manifest.id,) if self.by_id else ("--manifest", self.path)
        return ("extension", verb, *named, *flags)

    def command(self, verb: str, *flags: str) -> tuple[str, ...]:
        """Return the command that does it."""
        return (*self.preview(verb, *flags), "--execute")

    def warnings(self, owner: dict[str, str] | None) -> list[ProblemRow]:
        """Return the warning rows of a receipt: the manifest's own, and what is odd about the launcher's owner."""
        return [problem.row() for problem in (*self.manifest.warnings, *_owner_problems(self, owner))]

    def revision(self, target: Launcher, packages: Packages, at: str) -> dict[str, Any]:
        """Return the revision as the state file keeps it, pinned to `target` and to what its package brings."""
        manifest = self.manifest
        return {
            "revision": manifest.revision,
            "version": manifest.version,
            "manifest": manifest.form,
            "digest": manifest.digest,
            "manifest_path": self.path,
            "installed_at": at,
            **pins(target, manifest.id, packages),
            "source": "discovered" if self.by_id else "manifest",
        }


def pins(target: Launcher, extension_id: str, packages: Packages) -> dict[str, Any]:
    """Return what a revision is pinned to: launcher, distribution, and the activation record.

    The record names what of the package may run inside the host; an unowned launcher has none.
    """
    return {
        "launcher": target.pin(),
        "distribution": packages.owner(target),
        **packages.entry_points(target, extension_id),
    }


def _owner_problems(source: Source, owner: dict[str, str] | None) -> list[Problem]:
    manifest = source.manifest
    if owner is None:
        if not manifest.capabilities and not manifest.implementations:
            return []
        summary = "no installed distribution carries the launcher; an unowned command serves no capability"
        return [Problem("entrypoint_unowned", "runtime.entrypoint", summary, severity=WARNING)]
    others = {"the manifest": manifest.version}
    if source.carrier is not None and source.carrier["name"] == owner["name"]:
        others["the package the manifest lies in"] = source.carrier["version"]
    return [
        Problem(
            "entrypoint_version_differs",
            "runtime.entrypoint",
            f"the launcher comes from {owner['name']} {owner['version']}, and {what} is version {version}",
            severity=WARNING,
        )
        for what, version in others.items()
        if version != owner["version"]
    ]


def runtime_to_prove(manifest: Manifest) -> Runtime:
    """Return the runtime a doctor can prove. Raises Refused `doctor_not_configured`."""
    runtime = manifest.runtime
    if runtime is None or not runtime.doctor_args:
        raise refuse(
            "doctor_not_configured",
            manifest.id,
            f"extension `{manifest.id}` configures no doctor; nothing could prove that it works",
            hint="add doctor_args to [runtime]",
        )
    return runtime


def refuse_capability_clash(manifest: Manifest, state: State, core_capabilities: frozenset[str]) -> None:
    """Refuse a capability another owner provides, and an implementation of one that nobody declares.

    Raises Refused: `capability_duplicate`, `capability_unknown`.
    """
    owners = dict.fromkeys(core_capabilities, "loopx-core")
    for entry in state.entries():
        if not isinstance(entry, BadEntry) and entry.id != manifest.id:
            owners.update({capability["id"]: entry.id for capability in entry.manifest.capabilities})
    own = [str(capability["id"]) for capability in manifest.capabilities]
    for capability in own:
        if capability in owners:
            raise refuse(
                "capability_duplicate",
                capability,
                f"capability `{capability}` of `{manifest.id}` is already provided by `{owners[capability]}`",
                hint="only one owner may declare a capability",
                next_command=("extension", "list"),
            )
    for implementation in manifest.implementations:
        named = implementation["capability_id"]
        if named not in owners and named not in own:
            raise refuse(
                "capability_unknown",
                named,
                f"`{manifest.id}` implements the capability `{named}`, which no installed extension declares",
                hint="install the extension that declares it first",
            )
