"""`extension publish-projection`: one run of a ready provider, its view judged by the host and kept for a surface."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_bytes, canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused, refusal
from loopx_host.core.text import one_line, redact, stderr_tail
from loopx_host.documents import publish_receipt as document
from loopx_host.lifecycle.dispatch.call_plan import held_call_plan
from loopx_host.lifecycle.dispatch.call_provider import (
    call_provider,
    declared_schemas,
    parse_request,
    provider_to_call,
    refuse_when_off,
)
from loopx_host.lifecycle.dispatch.launch import CallGrants
from loopx_host.lifecycle.dispatch.outcome import SUCCEEDED
from loopx_host.lifecycle.dispatch.schemas import UNDECIDED
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.readiness import readiness_to_call
from loopx_host.lifecycle.extensions.refusals import state_moved
from loopx_host.lifecycle.extensions.state import Entry, State
from loopx_host.registry import surfaces
from loopx_host.registry.schemas import Bundle
from loopx_host.registry.surface_rules import OWNER_ONLY
from loopx_host.registry.view_schemas import core_view_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.normal_form import Surface
    from loopx_host.documents.parts import Violation
    from loopx_host.documents.publish_receipt import PublishReceipt
    from loopx_host.lifecycle.dispatch.outcome import Outcome
    from loopx_host.lifecycle.dispatch.ports import CanCall, HasPlugins, HasReferences, Judging, Plugins
    from loopx_host.lifecycle.extensions.ports import HasProjections, Packages, Projections, StateStore
    from loopx_host.lifecycle.extensions.readiness import Readiness, ReadyProvider

    class PublishPorts(CanCall, HasPlugins, HasProjections, HasReferences, Protocol):
        """What publishing a view needs."""


_HOOK = "loopx_view_schemas"
_CONTEXT_REFS = "context_refs"
_NAMED = 5


class PublishRequest:
    """Publish the view a provider answers with on one of its surfaces, or say whether it would be published.

    `data` is the exact request the provider will read. `references` maps names to paths of the caller that this run
    opens for reading; where there are some, the provider reads the request as canonical JSON with the rows
    `context_refs` in it, shaped as those of a governed call.
    """

    __slots__ = ("data", "execute", "extension_id", "plan", "references", "surface_id")

    def __init__(
        self,
        extension_id: str,
        surface_id: str,
        data: bytes,
        *,
        execute: bool,
        references: dict[str, str] | None = None,
        plan: str | None = None,
    ) -> None:
        self.plan = plan
        self.extension_id = extension_id
        self.surface_id = surface_id
        self.data = data
        self.execute = execute
        self.references = references or {}


def publish_projection(request: PublishRequest, ports: PublishPorts) -> PublishReceipt:
    """Publish one view, or say whether it would be (contract section 5); a preview starts neither judge nor provider.

    The run has no permission but reading its references. What a provider does wrong is in the receipt,
    ``ok: false``; a view that must not be shown is refused, and what was published before stays.
    """
    refuse_when_off(ports)
    opened = {name: ports.references.resolve(name, path) for name, path in request.references.items()}
    data = request.data
    payload = parse_request(data)
    if opened:
        data = _with_references(request.extension_id, payload, opened)
        payload = parse_request(data)
    entry = State.parse(ports.store.read(), ports.store.location).entry(request.extension_id)
    surface = _surface(entry, request.surface_id)
    now = readiness_to_call(entry, ports.packages)
    grants = CallGrants([f"fs.read:{name}" for name in opened], opened)
    _refuse_undeclared(entry, grants.permissions)
    _refuse_unknown_to_all(entry, surface)
    schemas = declared_schemas(entry.id, entry.manifest.runtime, ports)
    if schemas is not None:
        schemas.refuse_request(payload)
    provider = _owned_provider(now, ports.packages, may_start=request.execute)
    published = ports.projections.read(entry.id, surface["id"])
    reads = {
        "surface": surface,
        "references": {name: ports.references.standing(path) for name, path in opened.items()},
        "published": None if published is None else sha256_hex(published),
    }
    plan = held_call_plan("publish-projection", now, data, request.plan, reads=reads)
    receipt = document.planned(_receipt(entry, surface, data), plan)
    if not request.execute:
        return document.previewed(receipt, provider if isinstance(provider, Refused) else None)
    if isinstance(provider, Refused):
        raise provider
    schema = _view_schema(entry, surface, ports.plugins)
    at, run_id = ports.clock.now(), ports.clock.run_id()
    outcome = call_provider(provider, data, grants, ports, schemas=schemas)
    receipt = _with_run(receipt, at, run_id, outcome)
    if outcome.status != SUCCEEDED or outcome.result is None:
        return document.failed(receipt, status=outcome.status, provider_result=_harmless(outcome.result))
    view = _judged_view(entry, surface, outcome.result, schema, ports.judging)
    projection = surfaces.projection(entry.manifest, surface, view, at)
    written = surfaces.projection_bytes(projection)
    _refuse_moved(entry, ports.store)
    _write(entry, surface, written, ports.projections)
    state = surfaces.state_of(entry.manifest, surface, written, at).state
    return document.published(receipt, payload_sha256=projection["payload_sha256"], state=state)


def _judged_view(
    entry: Entry, surface: Surface, result: dict[str, object], schema: dict[str, object], judging: Judging
) -> dict[str, object]:
    """Return the view in an answer. Raises Refused: `private_material`, `view_invalid`."""
    view = result.get("view", result)
    _refuse_private(entry, surface, view)
    if not isinstance(view, dict):
        raise _invalid(entry, surface, [{"pointer": "/view", "message": "a view is one JSON object"}])
    verdict = judging.violations(Bundle(surface["view_schema"], schema, {}), view)
    if verdict != []:
        raise _invalid(entry, surface, verdict or UNDECIDED)
    return view


def _surface(entry: Entry, surface_id: str) -> Surface:
    surface = surfaces.surface_of(entry.manifest, surface_id)
    if surface is not None:
        return surface
    names = [one["id"] for one in surfaces.declared(entry.manifest)]
    raise refusal(
        "surface_unknown",
        one_line(surface_id, 60),
        f"extension `{entry.id}` declares no surface `{one_line(surface_id, 60)}`",
        hint=f"it declares: {', '.join(names)}" if names else "it declares none",
        next_command=("extension", "show", entry.id),
        surfaces=names,
    )


def _owned_provider(now: Readiness, packages: Packages, *, may_start: bool) -> ReadyProvider | Refused:
    """Return the provider, or what the environment decides against a publication."""
    ready = now.provider
    if ready is not None and packages.owner(ready.program.launcher) is None:
        return refusal(
            "provider_unowned",
            ready.entry.id,
            f"the provider of `{ready.entry.id}` belongs to no installed package; nobody answers for what it shows",
            hint="install it as a package, then upgrade the extension",
        )
    return provider_to_call(now, packages, may_start=may_start)


def _with_references(extension_id: str, payload: dict[str, object], references: dict[str, str]) -> bytes:
    """Return the request with the references the host opened. Raises Refused `reference_invalid`."""
    if _CONTEXT_REFS in payload:
        raise refusal(
            "reference_invalid",
            extension_id,
            f"the request names `{_CONTEXT_REFS}` itself; the host writes them when references are granted",
            hint=f"leave `{_CONTEXT_REFS}` out of the request",
        )
    rows = [{"name": name, "kind": "path", "path": path} for name, path in sorted(references.items())]
    return canonical_bytes({**payload, _CONTEXT_REFS: rows})


def _refuse_undeclared(entry: Entry, permissions: list[str]) -> None:
    """Refuse to grant what the trusted manifest does not declare."""
    known = set(entry.manifest.permissions)
    for token in permissions:
        if token not in known:
            raise refusal(
                "reference_invalid",
                one_line(token, 80),
                f"extension `{entry.id}` does not declare the permission `{one_line(token, 80)}`",
                hint="grant what it declares, or nothing",
            )


def _refuse_unknown_to_all(entry: Entry, surface: Surface) -> None:
    """Refuse a view schema that core does not know when the package has nothing that could bring it."""
    if core_view_schema(surface["view_schema"]) is None and not Activation.of(entry).plugins:
        raise _schema_unknown(entry, surface, "its package brings no view schemas")


def _view_schema(entry: Entry, surface: Surface, plugins: Plugins) -> dict[str, object]:
    """Return the schema that judges the views of a surface: core's, or else the one its activated package has.

    The name of a schema of core always means that one, whatever a package says.
    """
    name = surface["view_schema"]
    known = core_view_schema(name)
    if known is not None:
        return known
    answers = plugins.call(Activation.of(entry), _HOOK, {})
    offered = [one[name] for one in answers if isinstance(one, dict) and isinstance(one.get(name), dict)]
    if len({canonical_digest(schema) for schema in offered}) != 1:
        why = "its package brings several under this name" if offered else "its package does not bring it"
        raise _schema_unknown(entry, surface, why)
    schema: dict[str, object] = offered[0]
    return schema


def _schema_unknown(entry: Entry, surface: Surface, why: str) -> Refused:
    return refusal(
        "view_schema_unknown",
        surface["view_schema"],
        f"the host does not know the view schema `{surface['view_schema']}` of surface `{surface['id']}`: {why}",
        hint="nothing was started; what a provider says of its own view counts for nothing",
        next_command=("extension", "show", entry.id),
    )


def _receipt(entry: Entry, surface: Surface, request: bytes) -> PublishReceipt:
    return document.ready(
        extension_id=entry.id,
        surface_id=surface["id"],
        revision=entry.active.id,
        provider_version=entry.manifest.version,
        visibility=surface["visibility"],
        view_schema=surface["view_schema"],
        request_sha256=sha256_hex(request),
    )


def _with_run(receipt: PublishReceipt, at: str, run_id: str, outcome: Outcome) -> PublishReceipt:
    """Return the receipt with how the run went; the answer itself is not in it."""
    ended = outcome.ended
    return document.with_run(
        receipt,
        at=at,
        run_id=run_id,
        exit_code=ended.exit_code,
        failure_kind=outcome.failure_kind,
        error=outcome.error and redact(outcome.error),
        signal=ended.signal,
        duration_ms=ended.duration_ms,
        response_sha256=sha256_hex(ended.stdout),
        stderr_tail=stderr_tail(ended.stderr),
        containment=ended.containment,
    )


def _harmless(result: dict[str, object] | None) -> dict[str, object] | None:
    """Return the answer of a provider that failed, unless it holds what a receipt should not repeat."""
    return None if surfaces.private_rows(result, OWNER_ONLY) else result


def _refuse_private(entry: Entry, surface: Surface, payload: object) -> None:
    """Look for private material before anybody judges the view: whatever a judge says, this holds."""
    rows = surfaces.private_rows(payload, surface["visibility"])
    if rows:
        places = ", ".join(f"{row['pointer'] or '/'} ({row['kind']})" for row in rows[:_NAMED])
        raise refusal(
            "private_material",
            entry.id,
            f"the view for the {surface['visibility']} surface `{surface['id']}` holds private material: {places}",
            hint="let the provider leave it out; nothing was published",
            findings=rows,
        )


def _invalid(entry: Entry, surface: Surface, rows: list[Violation]) -> Refused:
    return refusal(
        "view_invalid",
        entry.id,
        f"the view breaks `{surface['view_schema']}` at {rows[0]['pointer'] or '/'}: {rows[0]['message']}",
        hint="let the provider follow the schema of its surface; nothing was published",
        violations=rows,
    )


def _refuse_moved(entry: Entry, store: StateStore) -> None:
    """Refuse to publish for an extension that was switched, disabled or taken away while its provider ran."""
    now = State.parse(store.read(), store.location).find(entry.id)
    if not isinstance(now, Entry) or now.active.id != entry.active.id or not now.enabled:
        raise state_moved(entry.id)


def _write(entry: Entry, surface: Surface, data: bytes, projections: Projections) -> None:
    """Write, and believe it only when it reads back as the same bytes."""
    projections.publish(entry.id, surface["id"], data)
    if projections.read(entry.id, surface["id"]) != data:
        raise refusal(
            "state_moved",
            entry.id,
            f"what is published on `{surface['id']}` is not what was written; another command wrote there meanwhile",
            hint="look again, then repeat the command",
        )
