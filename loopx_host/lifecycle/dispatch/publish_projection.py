"""`extension publish-projection`: one run of a ready provider, its view judged by the host and kept for a surface."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
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
    from loopx_host.documents.publish_receipt import PublishingGoal, PublishReceipt
    from loopx_host.lifecycle.dispatch.launch import CallGrants
    from loopx_host.lifecycle.dispatch.outcome import Outcome
    from loopx_host.lifecycle.dispatch.ports import CanCall, HasPlugins, Judging, Plugins
    from loopx_host.lifecycle.extensions.ports import HasProjections, Packages, Projections, StateStore
    from loopx_host.lifecycle.extensions.readiness import Readiness, ReadyProvider

    class PublishPorts(CanCall, HasPlugins, HasProjections, Protocol):
        """What publishing a view needs."""

    class Governing(Protocol):
        """What the call of a goal adds to a publication; whoever asks for one has decided that it may be made."""

        @property
        def request(self) -> bytes:
            """The request that the provider will read, before it is sealed."""
            ...

        @property
        def reads(self) -> dict[str, object]:
            """What the call reads beside the request, for its plan."""
            ...

        @property
        def goal_binding(self) -> PublishingGoal:
            """For which goal, and by which operation of its binding."""
            ...

        @property
        def permission(self) -> str:
            """The one permission that is granted."""
            ...

        def seal(self) -> SealedCall:
            """Ask the domain check, and return the request as it is sent. Raises Refused."""
            ...


_HOOK = "loopx_view_schemas"
_NAMED = 5


class PublishRequest:
    """Publish the view a provider answers with on one of its surfaces, or say whether it would be published.

    `data` is the exact request the provider will read, or what a goal's call puts into its own.
    """

    __slots__ = ("data", "execute", "extension_id", "plan", "surface_id")

    def __init__(
        self,
        extension_id: str,
        surface_id: str,
        data: bytes,
        *,
        execute: bool,
        plan: str | None = None,
    ) -> None:
        self.plan = plan
        self.extension_id = extension_id
        self.surface_id = surface_id
        self.data = data
        self.execute = execute


class SealedCall:
    """A request as it is sent: its bytes, what the call may do, and the seconds that the domain check leaves it."""

    __slots__ = ("data", "grants", "seconds")

    def __init__(self, data: bytes, grants: CallGrants | None = None, seconds: float | None = None) -> None:
        self.data = data
        self.grants = grants
        self.seconds = seconds


def publish_projection(
    request: PublishRequest, ports: PublishPorts, governing: Governing | None = None
) -> PublishReceipt:
    """Publish one view, or say whether it would be (contract section 5); a preview starts neither judge nor provider.

    The run has no permission, unless a goal's call is `governing` it. What a provider does wrong is in the receipt,
    ``ok: false``; a view that must not be shown is refused, and what was published before stays.
    """
    refuse_when_off(ports)
    payload = parse_request(request.data)
    data = governing.request if governing else request.data
    entry = State.parse(ports.store.read(), ports.store.location).entry(request.extension_id)
    surface = _surface(entry, request.surface_id)
    now = readiness_to_call(entry, ports.packages)
    _refuse_unknown_to_all(entry, surface)
    schemas = declared_schemas(entry.id, entry.manifest.runtime, ports)
    if schemas is not None:
        schemas.refuse_request(payload)
    provider = _owned_provider(now, ports.packages, may_start=request.execute)
    published = ports.projections.read(entry.id, surface["id"])
    reads = {
        "surface": surface,
        "published": None if published is None else sha256_hex(published),
        **(governing.reads if governing else {}),
    }
    plan = held_call_plan("publish-projection", now, data, request.plan, reads=reads)
    receipt = document.planned(_receipt(now, surface, data), plan)
    if governing:
        receipt = document.governed(receipt, governing.goal_binding)
    if not request.execute:
        return document.previewed(receipt, provider if isinstance(provider, Refused) else None)
    if isinstance(provider, Refused):
        raise provider
    schema = _view_schema(entry, surface, ports.plugins)
    sealed = governing.seal() if governing else SealedCall(data)
    at, run_id = ports.clock.now(), ports.clock.run_id()
    outcome = call_provider(provider, sealed.data, sealed.grants, ports, schemas=schemas, seconds=sealed.seconds)
    receipt = _with_run(receipt, at, run_id, governing.permission if governing else None, outcome)
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
    if ready is not None and not now.is_owned:
        return refusal(
            "provider_unowned",
            ready.entry.id,
            f"the provider of `{ready.entry.id}` belongs to no installed package; nobody answers for what it shows",
            hint="install it as a package, then upgrade the extension",
        )
    return provider_to_call(now, packages, may_start=may_start)


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


def _receipt(now: Readiness, surface: Surface, request: bytes) -> PublishReceipt:
    entry = now.entry
    return document.ready(
        extension_id=entry.id,
        surface_id=surface["id"],
        revision=entry.active.id,
        provider_version=entry.manifest.version,
        visibility=surface["visibility"],
        view_schema=surface["view_schema"],
        request_sha256=sha256_hex(request),
        owner=now.owner,
    )


def _with_run(
    receipt: PublishReceipt, at: str, run_id: str, permission: str | None, outcome: Outcome
) -> PublishReceipt:
    """Return the receipt with how the run went; the answer itself is not in it."""
    ended = outcome.ended
    return document.with_run(
        receipt,
        at=at,
        run_id=run_id,
        permission=permission,
        invoked=ended.start_error is None,
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
