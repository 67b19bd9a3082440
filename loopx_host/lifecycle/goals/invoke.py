"""The verb `capability invoke`: one governed read, by a bound provider, under an envelope (contract section 7).

Everything is decided before anything starts: the binding, that nothing drifted from it, the request, the references,
the domain check of the package; then the envelope is made and looked at once more. A call that would write to the
outside goes through an operation of the kernel, never through here.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refuse
from loopx_host.core.limits import TIMEOUT_MAX_SECONDS
from loopx_host.core.private_material import findings
from loopx_host.core.text import one_line, stderr_tail
from loopx_host.lifecycle.dispatch.inline_schema import violations
from loopx_host.lifecycle.dispatch.launch import run_launch
from loopx_host.lifecycle.dispatch.outcome import INVALID_OUTPUT, SUCCEEDED, Outcome, outcome
from loopx_host.lifecycle.dispatch.run import check_request
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.prerequisites import missing as missing_prerequisite
from loopx_host.lifecycle.extensions.probe import changed_since
from loopx_host.lifecycle.extensions.readiness import refusal
from loopx_host.lifecycle.extensions.refusals import changed_during_run
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.goals import envelope as envelopes
from loopx_host.lifecycle.goals.bind import missing, refuse_unknown
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from loopx_host.lifecycle.goals.domain_result import fault
from loopx_host.lifecycle.goals.offered import Offer, offers, refuse_unowned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import Launcher, RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import (
        Clock,
        Judging,
        Packages,
        Plugins,
        Processes,
        References,
        StateStore,
    )
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.registry.manifest import Runtime

INVOCATION_SCHEMA = "loopx_external_domain_capability_invocation_v0"
REQUEST_SCHEMA = "loopx_external_domain_capability_request_v0"
READ_ONLY = "read_only"
_CHECK = "loopx_check_invocation"
_REFERENCE_PREFIXES = ("fs.read:", "fs.write:")
_ID_DIGITS = 24


class Governed:
    """The ports of a governed call by the names the verb takes."""

    def __init__(
        self,
        *,
        store: StateStore,
        bindings: StateStore,
        packages: Packages,
        processes: Processes,
        judging: Judging,
        plugins: Plugins,
        references: References,
        clock: Clock,
    ) -> None:
        self.store = store
        self.bindings = bindings
        self.packages = packages
        self.processes = processes
        self.judging = judging
        self.plugins = plugins
        self.references = references
        self.clock = clock


def invoke(
    capability_id: str,
    request: bytes,
    *,
    goal_id: str,
    operation_id: str,
    references: dict[str, str],
    ports: Governed,
    execute: bool,
) -> dict[str, Any]:
    """Invoke one read-only operation for a goal, or say whether it would be invoked.

    `request` is the operation's input; `references` maps names to paths of the caller. Raises Refused before anything
    starts; what the provider does is in the receipt, ``ok: false`` included.
    """
    asked = check_request(request)
    call = _Call(capability_id, goal_id, operation_id, ports)
    call.refuse_effect()
    call.refuse_input(asked)
    opened = call.resolve(references)
    document = call.request(asked, opened)
    receipt = call.receipt(document)
    if not execute:
        refused = call.obstacle(ask=False)
        said = None if refused is None else {"code": refused.code, "next_command": refused.diagnostic.next_command}
        return {**receipt, "status": "ready" if refused is None else "not_ready", "would_refuse": said}
    refused = call.obstacle(ask=True)
    if refused is not None:
        raise refused
    seconds = call.checked(document)
    sealed = call.sealed(document)
    at = ports.clock.now()
    ended = call.run(sealed, opened, seconds)
    return {**receipt, "at": at, **call.settled(document, ended)}


class _Call:
    """One call while it is being decided: the binding, the offer behind it, the operation."""

    def __init__(self, capability_id: str, goal_id: str, operation_id: str, ports: Governed) -> None:
        self._ports = ports
        self.capability_id = capability_id
        binding = Bindings.parse(ports.bindings.read(), ports.bindings.location).find(goal_id, capability_id)
        if binding is None:
            raise missing(goal_id, capability_id, operation_id)
        self.binding = binding
        self.offer = self._bound_offer()
        refuse_unknown(capability_id, self.offer, [operation_id])
        if operation_id not in binding["operations"]:
            raise _not_bound(binding, operation_id)
        operation = self.offer.operation(operation_id)
        if operation is None:
            raise _drift(binding, "its profile has no such operation now")
        self.operation = operation

    def _bound_offer(self) -> Offer:
        """Return the offer exactly as it was bound. Raises Refused: `binding_drift`, or why it is off."""
        provider = self.binding["provider"]
        state = State.parse(self._ports.store.read(), self._ports.store.location)
        found = offers(self.capability_id, state, self._ports.packages)
        offer = next((one for one in found if one.entry.id == provider["extension_id"]), None)
        if offer is None:
            raise _drift(self.binding, "its provider is not installed")
        if offer.entry.active.id != provider["revision"]:
            raise _drift(self.binding, f"its provider is at revision {offer.entry.active.id}")
        if offer.profile["digest"] != provider["profile_digest"]:
            raise _drift(self.binding, "its provider has another profile")
        if not offer.found.is_ready:
            raise refusal(offer.entry, offer.found)
        refuse_unowned(offer, self._ports.packages)
        return offer

    @property
    def runtime(self) -> Runtime:
        """The runtime of the provider; one that is ready has one."""
        runtime = self.offer.entry.manifest.runtime
        if runtime is None:
            raise refusal(self.offer.entry, self.offer.found)
        return runtime

    @property
    def proved(self) -> tuple[Launcher, RuntimeIdentity]:
        """What will be executed, and its identity; one that is ready has both."""
        target, identity = self.offer.found.target, self.offer.found.identity
        if target is None or identity is None:
            raise refusal(self.offer.entry, self.offer.found)
        return target, identity

    def refuse_effect(self) -> None:
        """Refuse what is not read-only: that takes an admitted turn. Raises Refused `operations_unavailable`."""
        if self.operation["effect_class"] != READ_ONLY:
            raise refuse(
                "operations_unavailable",
                self.operation["id"],
                f"operation `{self.operation['id']}` writes to the outside; it runs as an operation of an admitted"
                " turn, which this release does not have, and never through direct invoke",
                hint="use a read-only operation",
            )

    def refuse_input(self, asked: dict[str, Any]) -> None:
        """Refuse an input that breaks the operation's schema. Raises Refused `request_schema`."""
        rows = violations(self._ports.judging, self.operation["request_schema"], asked)
        if rows:
            where, what = rows[0]["pointer"] or "/", rows[0]["message"]
            raise refuse(
                "request_schema",
                self.operation["id"],
                f"the input breaks the schema of `{self.operation['id']}` at {where}: {what}",
                hint="correct the input",
                violations=rows,
            )

    def resolve(self, references: dict[str, str]) -> dict[str, str]:
        """Return name → absolute path of the references the operation needs, no more and no less.

        Raises Refused `reference_invalid`.
        """
        token = str(self.operation["required_permission"])
        needed = {token.removeprefix(prefix) for prefix in _REFERENCE_PREFIXES if token.startswith(prefix)}
        if set(references) != needed:
            named = ", ".join(f"--ref {name}=PATH" for name in sorted(needed)) or "no reference"
            summary = f"operation `{self.operation['id']}` takes {named}"
            raise refuse("reference_invalid", self.operation["id"], summary, hint="name exactly these")
        return {name: self._ports.references.resolve(name, path) for name, path in references.items()}

    def request(self, asked: dict[str, Any], opened: dict[str, str]) -> dict[str, Any]:
        """Return the request document, without envelope; its id follows from what is asked and nothing else."""
        rows = [{"name": name, "kind": "path", "path": path} for name, path in sorted(opened.items())]
        said = [binding_digest(self.binding), self.operation["id"], asked, rows]
        return {
            "schema_version": REQUEST_SCHEMA,
            "invocation_id": f"capability-{canonical_digest(said)[:_ID_DIGITS]}",
            "goal_id": self.binding["goal_id"],
            "capability_id": self.capability_id,
            "operation": self.operation["id"],
            "protocol": self.offer.protocol,
            "input": asked,
            "context_refs": rows,
        }

    def obstacle(self, *, ask: bool) -> Refused | None:
        """Return the refusal for a prerequisite that is missing, or None."""
        return missing_prerequisite(self.offer.entry.id, self.runtime, self._ports.packages, ask=ask)

    def checked(self, document: dict[str, Any]) -> float | None:
        """Ask the package's domain check; return the seconds it allows, None for the manifest's.

        Raises Refused `domain_check_denied`, and `plugin_hook_failed` for an answer that does more than narrow.
        """
        activation = Activation.of(self.offer.entry)
        if not activation.plugins:
            return None
        seconds: list[float] = []
        for verdict in self._ports.plugins.call(activation, _CHECK, {"request": document}):
            seconds += _narrowed(self.offer.entry.id, verdict)
        return min(seconds, default=None)

    def sealed(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the request with its envelope, looked at once more as the provider will."""
        expected = envelopes.make_envelope(
            document,
            action=envelopes.action_of(self.capability_id, self.operation["id"]),
            scope=envelopes.scope_of(document),
            extension_id=self.offer.entry.id,
            revision=self.offer.entry.active.id,
        )
        sealed = {**document, envelopes.ENVELOPE_KEY: expected}
        as_seen = envelopes.expected_by_provider(sealed, self.offer.entry.id)
        envelopes.check_envelope(sealed[envelopes.ENVELOPE_KEY], as_seen)
        return sealed

    def run(self, sealed: dict[str, Any], opened: dict[str, str], seconds: float | None) -> Ended:
        """Run the provider with what the operation's permission opens. Raises Refused `changed_during_run`."""
        from loopx_host.core.canonical import canonical_bytes

        target, identity = self.proved
        packages = self._ports.packages
        launch = run_launch(
            target,
            self.runtime,
            identity,
            packages,
            request=canonical_bytes(sealed),
            seconds=seconds,
            permissions=[self.operation["required_permission"]],
            references=opened,
        )
        ended = self._ports.processes.run(launch)
        changed = changed_since(identity, target, packages)
        if changed:
            raise changed_during_run(self.offer.entry.id, changed, ended)
        return ended

    def receipt(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the receipt of a call that has not been made, v0 names and nesting."""
        return {
            "ok": True,
            "schema_version": INVOCATION_SCHEMA,
            "status": "ready",
            "dry_run": True,
            "executed": False,
            "capability_id": self.capability_id,
            "operation": self.operation["id"],
            "effect_class": self.operation["effect_class"],
            "provider": self.binding["provider"],
            "goal_binding": {
                "goal_id": self.binding["goal_id"],
                "binding_digest": binding_digest(self.binding),
                "turn_required": False,
            },
            "invocation_id": document["invocation_id"],
            "request_digest": f"sha256:{envelopes.request_digest(document)}",
            "context_ref_count": len(document["context_refs"]),
            "effects": _effects(invoked=False),
        }

    def settled(self, document: dict[str, Any], ended: Ended) -> dict[str, Any]:
        """Return what a call that was made adds to its receipt; only a clean result is passed on."""
        judged = self._judged(document, ended)
        succeeded = judged.status == SUCCEEDED
        return {
            "ok": succeeded,
            "status": judged.status,
            "dry_run": False,
            "executed": True,
            "effects": _effects(invoked=ended.start_error is None),
            "provider_result_digest": f"sha256:{sha256_hex(ended.stdout)}",
            "provider_result": judged.result if succeeded else None,
            "failure_kind": judged.failure_kind,
            "error": judged.error,
            "violations": judged.violations,
            "exit_code": ended.exit_code,
            "signal": ended.signal,
            "duration_ms": ended.duration_ms,
            "stderr_tail": stderr_tail(ended.stderr),
            "containment": ended.containment,
        }

    def _judged(self, document: dict[str, Any], ended: Ended) -> Outcome:
        judged = outcome(ended)
        if judged.status != SUCCEEDED or judged.result is None:
            return _with_its_own_words(judged)
        wrong = fault(judged.result, document["invocation_id"])
        if wrong is not None:
            return Outcome(INVALID_OUTPUT, "response_schema", None, wrong)
        rows = violations(self._ports.judging, self.operation["result_schema"], judged.result)
        if rows:
            sentence = f"the result breaks its schema at {rows[0]['pointer'] or '/'}: {rows[0]['message']}"
            return Outcome(INVALID_OUTPUT, "response_schema", None, sentence, rows)
        return judged


def _with_its_own_words(judged: Outcome) -> Outcome:
    """Return a failure with the code and sentence that the provider gave, as bounded plain text.

    Words that hold private material are not passed on, no more than a result that does.
    """
    said = judged.result or {}
    code, sentence = said.get("code"), said.get("error")
    is_spoken = isinstance(code, str) and isinstance(sentence, str) and not findings([code, sentence])
    if judged.failure_kind == "provider_reported_failure" and is_spoken:
        shown = f"the provider reported {one_line(str(code), 60)}: {one_line(str(sentence), 300)}"
        return Outcome(judged.status, judged.failure_kind, None, shown)
    return Outcome(judged.status, judged.failure_kind, None, judged.error)


def _narrowed(extension_id: str, verdict: object) -> list[float]:
    """Return the time a verdict leaves, if it says so. Raises Refused for a denial, and for anything that widens."""
    if isinstance(verdict, dict) and set(verdict) == {"deny"} and isinstance(verdict["deny"], str):
        raise refuse(
            "domain_check_denied",
            extension_id,
            f"the domain check of `{extension_id}` denies this call: {one_line(verdict['deny'], 300)}",
            hint="nothing was started; ask for what it allows",
        )
    seconds = verdict.get("timeout_seconds") if isinstance(verdict, dict) and len(verdict) == 1 else None
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0:
        return [float(min(seconds, TIMEOUT_MAX_SECONDS))]  # an integer of many digits has no float
    raise refuse(
        "plugin_hook_failed",
        extension_id,
        f"the domain check of `{extension_id}` answered what is neither a denial nor a shorter time",
        hint="a domain check may only narrow; nothing was started",
        next_command=("extension", "disable", extension_id, "--execute"),
    )


def _effects(*, invoked: bool) -> dict[str, bool]:
    return {
        "provider_invoked": invoked,
        "external_write_performed": False,
        "loopx_state_written": False,
        "quota_spent": False,
    }


def _not_bound(binding: dict[str, Any], operation_id: str) -> Refused:
    shown = one_line(operation_id, 60)
    operations = ", ".join(binding["operations"])
    command = ["capability", "bind", binding["capability_id"], "--goal-id", binding["goal_id"]]
    for operation in (*binding["operations"], shown):
        command += ["--operation", operation]
    return refuse(
        "operation_not_bound",
        shown,
        f"goal `{binding['goal_id']}` is bound to {operations} of `{binding['capability_id']}`, not to `{shown}`",
        hint="bind the goal to it as well",
        next_command=tuple(command),
    )


def _drift(binding: dict[str, Any], why: str) -> Refused:
    command = ["capability", "bind", binding["capability_id"], "--goal-id", binding["goal_id"]]
    for operation in binding["operations"]:
        command += ["--operation", operation]
    return refuse(
        "binding_drift",
        binding["capability_id"],
        f"the binding of goal `{binding['goal_id']}` no longer holds: {why}",
        hint="bind again to what is there now",
        next_command=tuple(command),
        binding=binding,
    )
