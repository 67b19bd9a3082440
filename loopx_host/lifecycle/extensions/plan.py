"""The plan of an execution: everything it reads, in one digest that a preview prints and `--plan` binds.

The fields are those of extension-formats, *Plan digest*: no times, no path of the state file.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refusal
from loopx_host.core.limits import HOST_API
from loopx_host.lifecycle.extensions.identity import Launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.lifecycle.extensions.candidate import Candidate, Program
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
    candidate: Candidate | Program | None = None,
    permissions_added: list[str] | None = None,
    reads: Mapping[str, object] | None = None,
) -> str:
    """Return ``sha256:`` and the digest of the plan of one change, or of one call.

    `candidate` is the program behind the manifest: it counts whole, with its interpreter and its distribution.
    `reads` is what else the execution reads, by name: a request, a binding, what is published now.
    """
    runtime = to.runtime if to is not None else None
    launcher = candidate.launcher if candidate and isinstance(candidate.launcher, Launcher) else None
    identity = candidate.identity if candidate else None
    plan = {
        "schema": PLAN_SCHEMA,
        "verb": verb,
        "extension_id": extension_id,
        "state": _state(entry),
        "to_revision": to.digest if to is not None else None,
        "launcher": _launcher(launcher, identity),
        "identity": identity.digest if identity else None,
        "argv": launcher.argv(runtime.args) if launcher and runtime else None,
        "env": runtime.env if runtime else [],
        "permissions_added": permissions_added or [],
        "limits": _limits(runtime),
        "host_api": HOST_API,
        "reads": dict(reads or {}),
    }
    return f"sha256:{canonical_digest(plan)}"


def content_digest(verb: str, content: object) -> str:
    """Return the plan of a verb that is not about one extension: what it would read, write or move."""
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


# What an entry says of the past, and no execution reads.
_TIMES = ("history", "installed_at")


def _state(entry: Entry | None) -> dict[str, object] | None:
    """Return all that an entry says, but for the times; of its proof only what was proved."""
    if entry is None:
        return None
    proof = entry.proof
    revisions = [_without_times(revision.raw) for revision in entry.revisions]
    proved = proof["identity"] if proof else None
    return {**_without_times(entry.raw), "revisions": revisions, "proof": proved}


def is_same(one: Entry, other: Entry) -> bool:
    """Whether two entries say the same, but for times."""
    return _state(one) == _state(other)


def _without_times(raw: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in raw.items() if key not in _TIMES}


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
