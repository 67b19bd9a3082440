"""Is it still what was proved? One verdict per entry, from its proof and its identity now."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.core.limits import HOST_API
from loopx_host.lifecycle.extensions.identity import Launcher, changes
from loopx_host.registry import api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import Entry

READY = "ready"
# Verdicts that the state file alone decides; the others depend on the environment.
DECIDED_BY_STATE = frozenset({"runtime_missing", "extension_disabled", "doctor_required", "api_incompatible"})


class Readiness:
    """`verdict` is `ready` or the code of the refusal; `changed` names the groups a stale proof no longer covers.

    `details` name the files and libraries behind `changed`, as far as they are remembered.
    """

    __slots__ = ("changed", "details", "identity", "target", "verdict")

    def __init__(
        self,
        verdict: str,
        target: Launcher | None = None,
        identity: RuntimeIdentity | None = None,
        changed: list[str] | None = None,
        details: list[str] | None = None,
    ) -> None:
        self.verdict = verdict
        self.target = target
        self.identity = identity
        self.changed = changed or []
        self.details = details or []

    @property
    def is_ready(self) -> bool:
        """Whether the extension may be dispatched."""
        return self.verdict == READY


def readiness(entry: Entry, packages: Packages) -> Readiness:
    """Judge one entry (contract section 5): enabled, proved, and unchanged since."""
    runtime, proof, pin = entry.manifest.runtime, entry.proof, entry.active.launcher
    if runtime is None:
        return Readiness("runtime_missing")
    if not api.admits(entry.manifest.requires_loopx_api):
        return Readiness("api_incompatible")
    if not entry.enabled:
        return Readiness("extension_disabled")
    if proof is None or pin is None or proof["revision"] != entry.active.id:
        return Readiness("doctor_required")
    target = Launcher.from_pin(pin, runtime)
    identity = packages.identify(target)
    if identity is None:
        return Readiness("entrypoint_missing", target)
    changed = changes(proof["groups"], identity.groups)
    if proof["identity"] != identity.digest and not changed:
        changed = ["identity"]
    details = packages.explain(proof["identity"], identity, changed) if changed else []
    if proof.get("host_api") != HOST_API:
        changed.append("host_api")
    if proof.get("platform") != packages.platform():
        changed.append("platform")
    return Readiness("readiness_stale" if changed else READY, target, identity, changed, details)


def refusal(entry: Entry, found: Readiness) -> Refused:
    """Return the refusal of a verdict that is not `ready`, with the command that would change it."""
    probe = ("extension", "doctor", entry.id, "--execute")
    name = f"extension `{entry.id}`"
    path = found.target.path if found.target else ""
    sentences = {
        "runtime_missing": (f"{name} declares no runtime; there is nothing to run", None, None),
        "api_incompatible": (
            f"{name} asks for API `{entry.manifest.requires_loopx_api}`; this host speaks {HOST_API}",
            None,
            None,
        ),
        "extension_disabled": (
            f"{name} is disabled",
            "enable it",
            ("extension", "enable", entry.id, "--execute"),
        ),
        "doctor_required": (f"{name} has no current proof", "probe it", probe),
        "entrypoint_missing": (
            f"{name} is pinned to {path}, which is not an executable file now",
            f"put {_package(entry)} back where it was, then probe it",
            probe,
        ),
        "readiness_stale": (
            f"{name} is stale: {_what_changed(found)} changed since the doctor proved it",
            "trust the changed manifest" if _manifest_changed(found) else "probe it as it is now",
            _upgrade(entry) if _manifest_changed(found) else probe,
        ),
    }
    summary, hint, command = sentences[found.verdict]
    blocks: dict[str, object] = {"changed": found.changed, "changed_details": found.details} if found.changed else {}
    return refuse(found.verdict, entry.id, summary, hint=hint, next_command=command, **blocks)


def _package(entry: Entry) -> str:
    """Name the package that carried the launcher when it was proved."""
    owner = entry.active.raw.get("distribution")
    return f"{owner['name']} {owner['version']}" if isinstance(owner, dict) else "the program"


def _manifest_changed(found: Readiness) -> bool:
    """Whether the manifest itself is among what changed: probing would prove the old one once more."""
    return any(detail.split(" ")[0].endswith("extension.toml") for detail in found.details)


def _upgrade(entry: Entry) -> tuple[str, ...]:
    """Return the command that trusts the manifest as it is now, found the way it was found at install."""
    path = entry.active.raw.get("manifest_path")
    if entry.active.raw.get("source") == "discovered" or not isinstance(path, str):
        return ("extension", "upgrade", entry.id, "--execute")
    return ("extension", "upgrade", "--manifest", path, "--execute")


def _what_changed(found: Readiness) -> str:
    groups = ", ".join(found.changed)
    return f"{groups} ({', '.join(found.details)})" if found.details else groups
