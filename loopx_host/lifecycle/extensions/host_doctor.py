"""`loopx doctor`: what is wrong here, row by row, with the command that helps; changes nothing."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.prerequisites import prerequisite_refusal
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

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


HOST_DOCTOR_SCHEMA = "loopx_doctor_v0"
OK, WARNING, ERROR = "ok", "warning", "error"
_PROMISED = ("contained", "namespaced")

Row = dict[str, "Any"]


def host_doctor(ports: HostDoctorPorts) -> dict[str, Any]:
    """Check the activation state, every extension, and the environment (contract section 4).

    ``ok`` is false, and the exit status 1, when the state file or an enabled extension is not usable; a
    disabled extension is not unhealthy, and what is wrong with other packages is a warning.
    """
    store, packages = ports.store, ports.packages
    reach = ports.containment_probe.reach()
    rows = [*_state_rows(store, packages), _containment_row(reach), *_environment_rows(ports.discovery)]
    return {
        "ok": all(row["status"] != ERROR for row in rows),
        "schema_version": HOST_DOCTOR_SCHEMA,
        "platform": packages.platform(),
        "state_file": store.location,
        "containment": reach,
        "checks": rows,
    }


def _state_rows(store: StateStore, packages: Packages) -> list[Row]:
    try:
        entries = State.parse(store.read(), store.location).entries()
    except Refused as refused:
        return [_refused("activation_state", store.location, refused)]
    rows = [_row("activation_state", OK, store.location, f"readable, {len(entries)} extensions")]
    for entry in entries:
        if isinstance(entry, BadEntry):
            rows.append(_refused("extension", entry.id, entry.refusal()))
        else:
            rows += _extension_rows(entry, packages)
    return rows


def _extension_rows(entry: Entry, packages: Packages) -> list[Row]:
    now = readiness(entry, packages)
    if not entry.enabled:
        return [_refused("extension", entry.id, why_not_ready(now), status=OK)]
    runtime = entry.manifest.runtime
    lacking = prerequisite_refusal(entry.id, runtime, packages, may_start=False) if runtime else None
    if lacking is not None:
        return [_refused("prerequisite", entry.id, lacking)]
    if now.is_ready:
        proof = entry.proof or {}
        return [
            _row(
                "extension",
                OK,
                entry.id,
                f"{entry.id} is enabled, unchanged since its proof of {proof.get('verified_at')}",
            )
        ]
    row = _refused("extension", entry.id, why_not_ready(now))
    owner = entry.active.raw.get("distribution")
    if now.verdict == "entrypoint_missing" and owner:
        pin = entry.active.launcher
        row["install_package"] = packages.pip_command(owner, pin["path"] if pin else None)
    return [row]


def _containment_row(reach: dict[str, Any]) -> Row:
    """Say at which level runs are contained here; below the default of the platform it is a warning."""
    default, highest = reach["default"], reach["highest"]
    why = "; ".join(reach["reasons"])
    summary = f"runs are at level `{default}`, up to `{highest}` when asked for{f' ({why})' if why else ''}"
    if default in _PROMISED:
        return _row("containment", OK, default, summary)
    return _row("containment", WARNING, default, summary, code="containment_below_default")


def _environment_rows(discovery: Discovery) -> list[Row]:
    rows, index = discovery.offers(rebuild=False)
    broken = [row for row in rows if row["state"] != "available"]
    made = [_row("index", OK, str(index["path"]), f"{index['status']}, {len(rows)} extensions offered")]
    made += [
        _row(
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
        _row(one["check"], WARNING, one["subject"], one["summary"], code=one["code"]) for one in discovery.findings()
    ]
    return made


def _refused(check: str, subject: str, refused: Refused, status: str = ERROR) -> Row:
    said = refused.diagnostic
    return _row(check, status, subject, said.summary, code=said.code, next_command=said.next_command)


def _row(
    check: str,
    status: str,
    subject: str,
    summary: str,
    *,
    code: str | None = None,
    next_command: tuple[str, ...] | None = None,
) -> Row:
    return {
        "check": check,
        "status": status,
        "code": code,
        "subject": subject,
        "summary": summary,
        "next_command": next_command,
    }
