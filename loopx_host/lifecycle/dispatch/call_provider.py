"""A request to a ready provider, from the last look before to the last look after.

`call_provider` is the only place that sends a provider a request; its doctor is probed in `extensions.probe`.
"""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.lifecycle.dispatch.launch import run_launch
from loopx_host.lifecycle.dispatch.outcome import outcome
from loopx_host.lifecycle.extensions.prerequisites import prerequisite_refusal
from loopx_host.lifecycle.extensions.probe import changed_since
from loopx_host.lifecycle.extensions.readiness import why_not_ready
from loopx_host.lifecycle.extensions.refusals import changed_during_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.dispatch.launch import CallGrants
    from loopx_host.lifecycle.dispatch.outcome import Outcome
    from loopx_host.lifecycle.dispatch.ports import HasJudging, HasSwitch
    from loopx_host.lifecycle.dispatch.schemas import RunSchemas
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasProcesses, HasStore, Packages
    from loopx_host.lifecycle.extensions.readiness import Readiness, ReadyProvider
    from loopx_host.registry.manifest import Runtime

    class CallPorts(HasPackages, HasProcesses, HasSwitch, Protocol):
        """What one call takes."""

    class SchemaPorts(HasStore, HasJudging, Protocol):
        """What judging by a manifest's own schemas takes."""


def parse_request(request: bytes) -> dict[str, object]:
    """Return a request as an object. Raises Refused `request_too_large` or `request_invalid`."""
    if len(request) > REQUEST_BYTES:
        raise refusal(
            "request_too_large",
            "request",
            f"the request is larger than {REQUEST_BYTES} bytes",
            hint="send less in one request",
        )
    try:
        return parse_object(request)
    except JsonViolation as violation:
        raise refusal(
            "request_invalid",
            "request",
            f"the request is not strict JSON: {violation}",
            hint="send one JSON object in UTF-8",
            violation=violation.kind,
        ) from None


def declared_schemas(extension_id: str, runtime: Runtime | None, ports: SchemaPorts) -> RunSchemas | None:
    """Return the schemas of a runtime; one without any does not pay for their machinery."""
    if runtime is None or not {"request_schema", "response_schema"} & runtime.form.keys():
        return None
    from loopx_host.lifecycle.dispatch.schemas import RunSchemas as Schemas

    return Schemas(extension_id, runtime, ports.store, ports.judging)


def provider_to_call(now: Readiness, packages: Packages, *, may_start: bool) -> ReadyProvider | Refused:
    """Return the provider, or what keeps it from being called: a preview shows that, an executed call raises it.

    `may_start` lets a prerequisite be started for its version, if it is the one that was proved; a preview starts
    nothing.
    """
    lacking, program, may_ask = None, now.program, may_start and now.is_ready
    if program is not None:
        lacking = prerequisite_refusal(now.entry.id, program.runtime, program.identity, packages, may_start=may_ask)
    return lacking or now.provider or why_not_ready(now)


def call_provider(
    ready: ReadyProvider,
    request: bytes,
    grants: CallGrants | None,
    ports: CallPorts,
    *,
    schemas: RunSchemas | None = None,
    seconds: float | None = None,
) -> Outcome:
    """Send `request`, the exact bytes, in one bounded process, and judge how it went (contract section 6).

    `seconds` only shortens the manifest's timeout. What the provider does wrong is in the outcome. Raises Refused:
    `extensions_off`, `changed_during_run` for one that was not, all the time, what had been proved, and those of
    the process port.
    """
    refuse_when_off(ports)
    launch = run_launch(ready.program, ports.packages, request=request, grants=grants, seconds=seconds)
    ended = ports.processes.run(launch)
    changed = changed_since(ready.program, ports.packages)
    if changed:
        raise changed_during_run(ready.entry.id, changed, ended)
    return outcome(ended, schemas.response if schemas else None)


def refuse_when_off(ports: HasSwitch) -> None:
    """Refuse to run anything of an extension when the host runs bare. Raises Refused `extensions_off`."""
    if ports.is_off:
        summary = "extensions are off: --no-extensions, or LOOPX_NO_EXTENSIONS in the environment"
        raise refusal("extensions_off", "loopx", summary, hint="leave it out to run what is installed")
