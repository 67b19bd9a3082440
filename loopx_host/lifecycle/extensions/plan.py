"""The plan of a change: everything that decides it, in one digest that a preview prints and `--plan` binds.

The fields are those of extension-formats, *Plan digest*: no times, no path of the state file.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refusal
from loopx_host.core.limits import HOST_API
from loopx_host.lifecycle.extensions.identity import Launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.candidate import Candidate
    from loopx_host.lifecycle.extensions.identity import RuntimeIdentity
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest, Runtime

PLAN_SCHEMA = "loopx_extension_plan_v0"


def plan_digest(
    verb: str,
    extension_id: str,
    entry: Entry | None,
    *,
    to: Manifest | None = None,
    candidate: Candidate | None = None,
    permissions_added: list[str] | None = None,
) -> str:
    """Return ``sha256:`` and the digest of the plan of one change."""
    runtime = to.runtime if to is not None else None
    launcher = candidate.launcher if candidate and isinstance(candidate.launcher, Launcher) else None
    plan = {
        "schema": PLAN_SCHEMA,
        "verb": verb,
        "extension_id": extension_id,
        "state": _state(entry),
        "to_revision": to.digest if to is not None else None,
        "launcher": _launcher(launcher, candidate.identity if candidate else None),
        "argv": launcher.argv(runtime.args) if launcher and runtime else None,
        "env": runtime.env if runtime else [],
        "permissions_added": permissions_added or [],
        "limits": _limits(runtime),
        "host_api": HOST_API,
    }
    return f"sha256:{canonical_digest(plan)}"


def content_digest(verb: str, content: object) -> str:
    """Return the plan of a verb that is not about one extension: what it would write or move."""
    return f"sha256:{canonical_digest({'schema': PLAN_SCHEMA, 'verb': verb, 'content': content})}"


def hold_to_plan(plan: str, expected: str | None, extension_id: str, preview: tuple[str, ...]) -> None:
    """Hold a change to the plan the caller saw; `preview` is the command that shows the present one.

    Raises Refused `plan_changed` with the new plan.
    """
    if expected is not None and expected != plan:
        raise refusal(
            "plan_changed",
            extension_id,
            "this is no longer the change that was previewed",
            hint="preview again, and bind the plan it shows",
            next_command=preview,
            plan=plan,
        )


def _state(entry: Entry | None) -> dict[str, object] | None:
    if entry is None:
        return None
    proof = entry.proof
    return {
        "active_revision": entry.active.id,
        "enabled": entry.enabled,
        "proof": proof["identity"] if proof else None,
    }


def _launcher(launcher: Launcher | None, identity: RuntimeIdentity | None) -> dict[str, object] | None:
    if launcher is None:
        return None
    return {"path": launcher.path, "sha256": identity.launcher_sha256 if identity else None}


def _limits(runtime: Runtime | None) -> dict[str, object] | None:
    if runtime is None:
        return None
    return {
        "timeout_seconds": runtime.timeout_seconds,
        "doctor_timeout_seconds": runtime.doctor_timeout_seconds,
        "memory_limit_mb": runtime.memory_limit_mb,
        "open_files_limit": runtime.open_files_limit,
    }
