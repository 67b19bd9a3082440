"""Is it still what was proved? One verdict per entry, from its proof and its identity now."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.limits import HOST_API
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.candidate import Program
from loopx_host.lifecycle.extensions.identity import Launcher, changes
from loopx_host.registry import api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.documents.parts import Owner
    from loopx_host.documents.state import Failure
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import Entry

READY = "ready"
# Verdicts that the state file alone decides; the others depend on the environment.
DECIDED_BY_STATE = frozenset({"runtime_missing", "extension_disabled", "doctor_required", "api_incompatible"})


class ReadyProvider:
    """An extension that may be dispatched now: enabled, proved, and its program still what was proved."""

    __slots__ = ("entry", "program")

    def __init__(self, entry: Entry, program: Program) -> None:
        self.entry = entry
        self.program = program


class Readiness:
    """The verdict on one entry: `ready`, or the code of the refusal.

    `provider` is there exactly when it is ready. `program` is what would run now, also where the proof is stale;
    then `changed` names the groups it no longer covers, `details` the files and libraries behind them.
    """

    __slots__ = ("changed", "details", "entry", "program", "provider", "verdict")

    def __init__(
        self,
        entry: Entry,
        verdict: str,
        program: Program | None = None,
        changed: list[str] | None = None,
        details: list[str] | None = None,
    ) -> None:
        self.entry = entry
        self.verdict = verdict
        self.program = program
        self.provider = ReadyProvider(entry, program) if program is not None and verdict == READY else None
        self.changed = changed or []
        self.details = details or []

    @property
    def owner(self) -> Owner | None:
        """Who carries what would be started; None where nothing was identified (requirement X17)."""
        return self.program.identity.owner if self.program else None

    @property
    def is_owned(self) -> bool:
        """Whether an installed distribution carries what would be started."""
        return self.program is not None and self.program.identity.is_owned

    @property
    def is_ready(self) -> bool:
        """Whether the extension may be dispatched."""
        return self.provider is not None


def readiness(entry: Entry, packages: Packages) -> Readiness:
    """Judge one entry (contract section 5): enabled, proved, and unchanged since."""
    runtime, proof, pin = entry.manifest.runtime, entry.proof, entry.active.launcher
    if runtime is None:
        return Readiness(entry, "runtime_missing")
    if not api.admits(entry.manifest.requires_loopx_api):
        return Readiness(entry, "api_incompatible")
    if not entry.enabled:
        return Readiness(entry, "extension_disabled")
    if proof is None or pin is None or proof["revision"] != entry.active.id:
        return Readiness(entry, "doctor_required")
    launcher = Launcher.from_pin(pin, runtime, entry.active.search_path)
    identity = packages.identify(launcher)
    if identity is None:
        return Readiness(entry, "entrypoint_missing")
    changed = changes(proof["groups"], identity.groups)
    if proof["identity"] != identity.digest and not changed:
        changed = ["identity"]
    details = packages.explain(proof["identity"] or "", identity, changed) if changed else []
    if proof.get("host_api") != HOST_API:
        changed.append("host_api")
    if proof.get("platform") != packages.platform():
        changed.append("platform")
    verdict = "readiness_stale" if changed else READY
    return Readiness(entry, verdict, Program(entry.manifest, runtime, launcher, identity), changed, details)


def readiness_to_call(entry: Entry, packages: Packages) -> Readiness:
    """Return the readiness of an entry that only the environment may still keep from running.

    Raises Refused where the activation state decides: no runtime, another API, disabled, never proved.
    """
    now = readiness(entry, packages)
    if now.verdict in DECIDED_BY_STATE:
        raise why_not_ready(now)
    return now


def why_not_ready(now: Readiness) -> Refused:
    """Return the refusal of a verdict that is not `ready`, with the command that would change it."""
    entry = now.entry
    probe = ("extension", "doctor", entry.id, "--execute")
    name = f"extension `{entry.id}`"
    pin = entry.active.launcher
    path = pin["path"] if pin else ""
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
        "doctor_required": (
            _unproved(name, entry.failure),
            "repair the package" if entry.failure else "probe it",
            probe,
        ),
        "entrypoint_missing": (
            f"{name} is pinned to {path}, which is not an executable file now",
            f"put {_package(entry)} back where it was, then probe it",
            probe,
        ),
        "readiness_stale": (
            f"{name} is stale: {_what_changed(now)} changed since the doctor proved it",
            "trust the changed manifest" if _manifest_changed(now) else "probe it as it is now",
            _upgrade(entry) if _manifest_changed(now) else probe,
        ),
    }
    summary, hint, command = sentences[now.verdict]
    blocks: dict[str, object] = {"changed": now.changed, "changed_details": now.details} if now.changed else {}
    if now.verdict == "doctor_required" and entry.failure:
        blocks["last_failure"] = entry.failure
    return refusal(now.verdict, entry.id, summary, hint=hint, next_command=command, **blocks)


def _unproved(name: str, failure: Failure | None) -> str:
    """Say that there is no proof, and how the last try ended, if there was one."""
    if failure is None:
        return f"{name} has no current proof"
    how = one_line(failure["kind"], 40)
    if failure["exit_code"] is not None:
        how += f" with status {failure['exit_code']}"
    if failure["signal"] is not None:
        how += f" by {one_line(failure['signal'], 20)}"
    return f"{name} has no current proof: its doctor failed at {one_line(failure['at'], 30)} ({how})"


def _package(entry: Entry) -> str:
    """Name the package that carried the launcher when it was proved."""
    owner = entry.active.raw.get("distribution")
    return f"{owner['name']} {owner['version']}" if isinstance(owner, dict) else "the program"


def _manifest_changed(now: Readiness) -> bool:
    """Whether the manifest itself is among what changed: probing would prove the old one once more."""
    return any(detail.split(" ")[0].endswith("extension.toml") for detail in now.details)


def _upgrade(entry: Entry) -> tuple[str, ...]:
    """Return the command that trusts the manifest as it is now, found the way it was found at install."""
    path = entry.active.raw.get("manifest_path")
    if entry.active.raw.get("source") == "discovered" or not isinstance(path, str):
        return ("extension", "upgrade", entry.id, "--execute")
    return ("extension", "upgrade", "--manifest", path, "--execute")


def _what_changed(now: Readiness) -> str:
    groups = ", ".join(now.changed)
    return f"{groups} ({', '.join(now.details)})" if now.details else groups
