"""Refusals that several verbs make, written once."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.lifecycle.extensions.identity import LauncherNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.process import Ended


_NAMED = 5  # how many changed files a refusal names


def moved(extension_id: str) -> Refused:
    """Return the refusal of a compare-and-set that found the entry changed meanwhile."""
    return refuse(
        "state_moved",
        extension_id,
        f"the entry of `{extension_id}` was changed by another command meanwhile; nothing was written",
        hint="look again, then repeat the command",
    )


def changed_during_run(extension_id: str, changed: list[str], ended: Ended) -> Refused:
    """Return the refusal of an answer whose provider was not, all the time, what had been proved."""
    return refuse(
        "changed_during_run",
        extension_id,
        f"{', '.join(changed[:_NAMED])} of `{extension_id}` changed while it ran; its answer is not trusted",
        hint="prove what is installed now, then repeat the request",
        next_command=("extension", "doctor", extension_id, "--execute"),
        containment=ended.containment,
    )


def missing_entrypoint(target: LauncherNotFound | Launcher, again: tuple[str, ...]) -> Refused:
    """Return the refusal of a launcher that was not found, or of a pinned one that is gone."""
    if isinstance(target, LauncherNotFound):
        return refuse(
            "entrypoint_missing",
            target.name,
            f"`{target.name}` is not an executable in any of: {', '.join(target.searched) or 'no directory'}",
            hint="correct the path, or make the file executable (chmod +x)"
            if "/" in target.name
            else f"install the package that carries it into the environment loopx runs in: {target.environment}",
            next_command=again,
            searched=list(target.searched),
        )
    return refuse(
        "entrypoint_missing",
        target.path,
        f"the pinned launcher {target.path} is not an executable file now",
        hint="put the package back where it was, then repeat the command",
        next_command=again,
        searched=[target.path],
    )


def doctor_failed(
    extension_id: str,
    target: Launcher,
    probed: Probe,
    doctor: dict[str, Any],
    again: tuple[str, ...],
    **blocks: object,
) -> Refused:
    """Return the refusal of a verb whose probe failed, with the doctor document as evidence."""
    named = f"{target.path} -m {target.module}" if target.module else target.path
    return refuse(
        "doctor_failed",
        extension_id,
        f"the doctor of `{extension_id}` ({named}) failed: {probed.reason}",
        hint="repair the package, then repeat the command",
        next_command=again,
        doctor=doctor,
        **blocks,
    )
