"""`loopx doctor`: what is wrong here, row by row, with the command that helps; changes nothing."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.documents import host_doctor as document
from loopx_host.documents.discovery_index import AVAILABLE, SHADOWED
from loopx_host.documents.host_doctor import check
from loopx_host.lifecycle.extensions.prerequisites import prerequisite_refusal
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.host_doctor import Check, HostDoctor, Reach
    from loopx_host.lifecycle.extensions.ports import (
        Discovery,
        HasContainmentProbe,
        HasDiscovery,
        HasPackages,
        HasStore,
        Packages,
        StateStore,
    )
    from loopx_host.lifecycle.extensions.state import Entry

    class HostDoctorPorts(HasStore, HasPackages, HasDiscovery, HasContainmentProbe, Protocol):
        """What the host's own doctor looks at."""


OK, WARNING, ERROR = "ok", "warning", "error"
_PROMISED = ("contained", "namespaced")


def host_doctor(ports: HostDoctorPorts) -> HostDoctor:
    """Check the activation state, every extension, and the environment (contract section 4).

    ``ok`` is false, and the exit status 1, when the state file or an enabled extension is not usable; a
    disabled extension is not unhealthy, and what is wrong with other packages is a warning.
    """
    store, packages = ports.store, ports.packages
    reach = ports.containment_probe.reach()
    rows = [*_state_rows(store, packages), _containment_check(reach), *_environment_rows(ports.discovery)]
    return document.host_doctor(
        platform=packages.platform(), state_file=store.location, containment=reach, checks=rows
    )


def _state_rows(store: StateStore, packages: Packages) -> list[Check]:
    try:
        entries = State.parse(store.read(), store.location).entries()
    except Refused as refused:
        return [_refused("activation_state", store.location, refused)]
    rows = [check("activation_state", OK, store.location, f"readable, {len(entries)} extensions")]
    for entry in entries:
        if isinstance(entry, BadEntry):
            rows.append(_refused("extension", entry.id, entry.refusal()))
        else:
            rows += _extension_rows(entry, packages)
    return rows


def _extension_rows(entry: Entry, packages: Packages) -> list[Check]:
    now = readiness(entry, packages)
    if not entry.enabled:
        return [_refused("extension", entry.id, why_not_ready(now), status=OK)]
    lacking = (
        prerequisite_refusal(entry.id, now.program.runtime, now.program.identity, packages, may_start=False)
        if now.program
        else None
    )
    if lacking is not None:
        return [_refused("prerequisite", entry.id, lacking)]
    if now.is_ready:
        verified_at = entry.proof["verified_at"] if entry.proof else None
        return [
            check(
                "extension",
                OK,
                entry.id,
                f"{entry.id} is enabled, unchanged since its proof of {verified_at}",
            )
        ]
    row = _refused("extension", entry.id, why_not_ready(now))
    owner = entry.active.raw.get("distribution")
    if now.verdict == "entrypoint_missing" and owner:
        pin = entry.active.launcher
        command = packages.pip_command(owner, pin["path"] if pin else None)
        if command is not None:
            row["install_package"] = command
    return [row]


def _containment_check(reach: Reach) -> Check:
    """Say at which level runs are contained here; below the default of the platform it is a warning."""
    default, highest = reach["default"], reach["highest"]
    why = "; ".join(reach["reasons"])
    summary = f"runs are at level `{default}`, up to `{highest}` when asked for{f' ({why})' if why else ''}"
    if default in _PROMISED:
        return check("containment", OK, default, summary)
    return check("containment", WARNING, default, summary, code="containment_below_default")


def _environment_rows(discovery: Discovery) -> list[Check]:
    rows, index = discovery.offers(rebuild=False)
    broken = [row for row in rows if row["state"] not in (AVAILABLE, SHADOWED)]  # the other is a finding of its own
    made = [check("index", OK, str(index["path"]), f"{index['status']}, {len(rows)} extensions offered")]
    made += [
        check(
            "offer",
            WARNING,
            str(row["id"] or row["location"]),
            str(row["reason"]),
            code=row["code"],
            next_command=("extension", "discover"),
        )
        for row in broken
    ]
    made += [
        check(one["check"], WARNING, one["subject"], one["summary"], code=one["code"]) for one in discovery.findings()
    ]
    return made


def _refused(name: str, subject: str, refused: Refused, status: str = ERROR) -> Check:
    said = refused.diagnostic
    return check(name, status, subject, said.summary, code=said.code, next_command=said.next_command)
