"""Refusals that several verbs make, written once."""

from __future__ import annotations

from loopx_host.core.errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.documents.doctor import Doctor
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.registry.catalog import TrainMember


_NAMED = 5  # how many changed files a refusal names


def state_moved(extension_id: str) -> Refused:
    """Return the refusal of a compare-and-set that found the entry changed meanwhile."""
    return refusal(
        "state_moved",
        extension_id,
        f"the entry of `{extension_id}` was changed by another command meanwhile; nothing was written",
        hint="look again, then repeat the command",
    )


def changed_during_run(extension_id: str, changed: list[str], ended: Ended) -> Refused:
    """Return the refusal of an answer whose provider was not, all the time, what had been proved."""
    return refusal(
        "changed_during_run",
        extension_id,
        f"{', '.join(changed[:_NAMED])} of `{extension_id}` changed while it ran; its answer is not trusted",
        hint="prove what is installed now, then repeat the request",
        next_command=("extension", "doctor", extension_id, "--execute"),
        containment=ended.containment,
    )


def not_installed(subject: str, what: str, member: TrainMember, packages: Packages) -> Refused:
    """Return the refusal of `what` comes with a package of the release train that is not there."""
    command = packages.pip_command({"name": member["distribution"], "version": member["version"]})
    return refusal(
        "package_not_installed",
        subject,
        f"{what} comes with the package {member['distribution']}, which is not installed",
        hint=f"bring it with: {command}",
        install_package=command,
    )


def doctor_failed(
    extension_id: str,
    launcher: Launcher,
    probed: Probe,
    doctor: Doctor,
    retry_command: tuple[str, ...],
    **blocks: object,
) -> Refused:
    """Return the refusal of a verb whose probe failed, with the doctor document as evidence."""
    named = f"{launcher.path} -m {launcher.module}" if launcher.module else launcher.path
    return refusal(
        "doctor_failed",
        extension_id,
        f"the doctor of `{extension_id}` ({named}) failed: {probed.reason}",
        hint="repair the package, then repeat the command",
        next_command=retry_command,
        doctor=doctor,
        **blocks,
    )
