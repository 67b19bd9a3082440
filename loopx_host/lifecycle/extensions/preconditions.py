"""What manifest and state decide before anything is started: a doctor to prove with, capabilities without a clash."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.lifecycle.extensions.state import BadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.state import State
    from loopx_host.registry.manifest import Manifest, Runtime

# Capabilities that stay in core; their names belong to `loopx-core` and to nobody else.
CORE_CAPABILITIES: frozenset[str] = frozenset()


def runtime_to_prove(manifest: Manifest) -> Runtime:
    """Return the runtime a doctor can prove. Raises Refused `doctor_not_configured`."""
    runtime = manifest.runtime
    if runtime is None or not runtime.doctor_args:
        raise refusal(
            "doctor_not_configured",
            manifest.id,
            f"extension `{manifest.id}` configures no doctor; nothing could prove that it works",
            hint="add doctor_args to [runtime]",
        )
    return runtime


def refuse_capability_clash(
    manifest: Manifest, state: State, core_capabilities: frozenset[str] = CORE_CAPABILITIES
) -> None:
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
            raise refusal(
                "capability_duplicate",
                capability,
                f"capability `{capability}` of `{manifest.id}` is already provided by `{owners[capability]}`",
                hint="only one owner may declare a capability",
                next_command=("extension", "list"),
            )
    for implementation in manifest.implementations:
        named = implementation["capability_id"]
        if named not in owners and named not in own:
            raise refusal(
                "capability_unknown",
                named,
                f"`{manifest.id}` implements the capability `{named}`, which no installed extension declares",
                hint="install the extension that declares it first",
            )
