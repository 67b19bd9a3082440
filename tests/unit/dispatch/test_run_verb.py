"""The verb `run` over ports in memory: what it refuses, what it launches, what it says."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from loopx_host.core.errors import Interrupted, Refused
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.plan import plan_digest
from tests.support.fakes import NOW, PROGRAM, RUN_ID, Script, World, code_of, refusal_of
from tests.support.manifests import NEW_CAPABILITY

IMPLEMENTATION = '[[implements]]\ncapability_id = "core-thing"\nprotocol = "test_v0"\n'


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("code", "top", "entry"),
    [
        ("permissions_declared", 'permissions = ["notes.read"]', {}),
        ("capability_provider", NEW_CAPABILITY, {}),
        ("capability_provider", IMPLEMENTATION, {}),
        ("extension_disabled", "", {"enabled": False}),
        ("doctor_required", "", {"proof": None}),
    ],
)
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_what_the_state_decides_is_refused_before_anything_starts(
    code: str, top: str, entry: dict[str, Any], execute: bool
) -> None:
    """run_refuses_permissioned, run_refuses_capability_provider, disabled_blocks_run (cases 92, 93, 55)."""
    world = World().holding(top=top, **entry)

    assert code_of(lambda: world.run(execute=execute)) == code
    assert world.processes.launches == []


@pytest.mark.req("X6")
def test_a_stale_extension_is_refused_before_anything_starts() -> None:
    world = World().holding()
    world.packages.programs[PROGRAM] = "second"

    assert code_of(world.run) == "readiness_stale"
    assert world.processes.launches == []


@pytest.mark.req("X6")
def test_a_missing_program_is_refused_before_anything_starts() -> None:
    world = World().holding()
    world.packages.programs.clear()

    assert code_of(world.run) == "entrypoint_missing"


@pytest.mark.parametrize("change", ["second", None], ids=["changed", "gone"])
def test_what_the_environment_decides_is_no_error_in_a_preview(change: str | None) -> None:
    """Extension-formats, *Preview*."""
    world = World().holding()
    if change:
        world.packages.programs[PROGRAM] = change
    else:
        world.packages.programs.clear()

    receipt = world.run(execute=False)

    assert receipt["ok"] is True
    assert receipt["would_refuse"]["code"] == ("readiness_stale" if change else "entrypoint_missing")
    assert receipt["would_refuse"]["next_command"]


def test_an_unknown_extension_is_refused() -> None:
    assert code_of(lambda: World().run()) == "extension_not_installed"


def test_the_size_of_a_request_is_looked_at_before_the_extension() -> None:
    """run_request_limit (case 87)."""
    assert code_of(lambda: World().run(b" " * 1_000_001)) == "request_too_large"


def test_a_request_of_exactly_the_limit_is_taken() -> None:
    request = b"{}" + b" " * 999_998
    world = World().holding()

    world.run(request)

    assert world.processes.launches[0].stdin == request


@pytest.mark.parametrize(
    ("request_bytes", "violation"),
    [
        (b"[]", "not_an_object"),
        (b"1", "not_an_object"),
        (b"", "empty"),
        (b"{} x", "syntax"),
        (b'{"a": "\xff"}', "encoding"),
        (b'{"a": "\x01"}', "syntax"),
        (b'{"a": 1, "a": 1}', "duplicate_key"),
        (b'{"a": NaN}', "not_finite"),
        (b'{"a": Infinity}', "not_finite"),
        (b'{"a": 1e999}', "not_finite"),
        ("{}".encode("utf-16"), "encoding"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "too_deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too_deep"),
        (b'{"a": ' + b"1" * 4301 + b"}", "integer_too_long"),
        (b'{"a": "\\udfff"}', "lone_surrogate"),
        (b"\xef\xbb\xbf{}", "byte_order_mark"),
    ],
)
def test_a_request_that_is_not_one_strict_object_is_refused(request_bytes: bytes, violation: str) -> None:
    """run_request_shape, run_request_strict (cases 88, 89)."""
    world = World().holding()

    with pytest.raises(Refused) as refused:
        world.run(request_bytes)

    assert (refused.value.code, refused.value.document["violation"]) == ("request_invalid", violation)
    assert world.processes.launches == []


def test_a_preview_starts_nothing_and_says_ready() -> None:
    """run_preview (case 75)."""
    world = World().holding()

    receipt = world.run(execute=False)

    assert (receipt["status"], receipt["executed"], receipt["dry_run"]) == ("ready", False, True)
    assert receipt["would_refuse"] is None
    assert world.processes.launches == []


def test_the_plan_of_a_run_binds_the_request_the_entry_and_the_program() -> None:
    """Extension-formats, *Plan digest*: what a call reads is the digest of its request."""
    world = World().holding()
    entry, request = world.entry(), b'{"x": 1}'
    runtime = entry.manifest.runtime
    assert runtime is not None
    program = Candidate.pinned(entry, runtime, world.packages)
    reads = {"request_sha256": hashlib.sha256(request).hexdigest()}

    receipt = world.run(request, execute=False)

    assert receipt["plan"] == plan_digest("run", entry.id, entry, to=entry.manifest, candidate=program, reads=reads)


@pytest.mark.req("X5")
def test_a_launch_is_made_of_the_active_revision_and_the_request_alone() -> None:
    world = World().holding(
        runtime='env = ["API_BASE"]\nmemory_limit_mb = 512\nopen_files_limit = 64\ndoctor_timeout_seconds = 3'
    )

    world.run(b'{"x": 1}')

    launch = world.processes.launches[0]
    assert launch.argv == [PROGRAM, "--serve"]
    assert launch.stdin == b'{"x": 1}'
    assert launch.env_names == ["API_BASE"]
    assert (launch.limits.timeout_seconds, launch.limits.memory_mb, launch.limits.open_files) == (20, 512, 64)
    assert (launch.limits.stdout_bytes, launch.limits.stderr_bytes) == (1_000_000, 1_000_000)


def test_a_module_runs_with_the_unsafe_path_off_and_in_utf_8() -> None:
    """cwd_shadow (case 73) rests on it."""
    world = World().holding(module="made.up")

    world.run()

    launch = world.processes.launches[0]
    assert launch.argv == [PROGRAM, "-P", "-m", "made.up", "--serve"]
    assert launch.env_set["PYTHONUTF8"] == "1"


def test_a_command_is_told_nothing_about_utf_8() -> None:
    world = World().holding()

    world.run()

    assert "PYTHONUTF8" not in world.processes.launches[0].env_set


@pytest.mark.parametrize(("asked", "given"), [(3.5, 3.5), (20, 20), (21, 20), (1e9, 20), (None, 20)])
def test_a_caller_can_only_shorten_the_timeout(asked: float | None, given: float) -> None:
    world = World().holding()

    world.run(timeout_seconds=asked)

    assert world.processes.launches[0].limits.timeout_seconds == given


def test_a_success_is_told_in_full() -> None:
    """run_success (case 76)."""
    world = World(Script(stdout=b'{"ok": true, "n": 1}', stderr=b"note\n")).holding()

    receipt = world.run(b'{"schema_version": "ask_v0"}')

    expected = {
        "ok": True,
        "schema_version": "loopx_extension_run_receipt_v0",
        "operation": "run",
        "extension_id": "probe-me",
        "provider_version": "1.0",
        "revision": world.raw()["active_revision"],
        "protocol": "test_v0",
        "required_permissions": [],
        "dry_run": False,
        "executed": True,
        "status": "succeeded",
        "input_schema_version": "ask_v0",
        "exit_code": 0,
        "provider_result": {"ok": True, "n": 1},
        "failure_kind": None,
        "signal": None,
        "at": NOW,
        "run_id": RUN_ID,
        "duration_ms": 7,
        "request_sha256": hashlib.sha256(b'{"schema_version": "ask_v0"}').hexdigest(),
        "response_sha256": hashlib.sha256(b'{"ok": true, "n": 1}').hexdigest(),
        "stderr_tail": "note\n",
        "containment": {"rung": "made-up"},
    }
    assert {key: receipt[key] for key in expected} == expected


@pytest.mark.parametrize(
    "script",
    [
        Script(exit_code=3, stdout=b"{}"),
        Script(stdout=b"no"),
        Script(lasts=True),
        Script(stdout=b'{"ok": false}'),
        Script(missing=True),
    ],
    ids=["exit", "output", "timeout", "reported", "start"],
)
def test_a_failure_is_told_in_a_receipt_and_never_raised(script: Script) -> None:
    world = World(script).holding()

    receipt = world.run()

    assert (receipt["ok"], receipt["executed"]) == (False, True)
    assert receipt["failure_kind"] is not None


def test_a_crash_is_told_with_a_redacted_bounded_tail_of_standard_error() -> None:
    """run_crash_no_json (case 79)."""
    noise = b"x" * 100_000 + b"\nTraceback\x1b[0m\napi_key=abcdef0123456789\nValueError\n"
    world = World(Script(exit_code=1, stderr=noise)).holding()

    tail = world.run()["stderr_tail"]

    assert len(tail.encode()) <= 4096
    assert tail.endswith("ValueError\n")
    assert "abcdef0123456789" not in tail
    assert "\x1b" not in tail


def test_a_run_leaves_the_state_as_it_was() -> None:
    world = World(Script(stdout=b'{"ok": true, "secret": "never stored"}')).holding()
    before = world.store.data

    world.run()

    assert world.store.data == before


def test_an_interruption_passes_through() -> None:
    world = World(Script(interrupted_by=15)).holding()

    with pytest.raises(Interrupted) as interrupted:
        world.run()

    assert interrupted.value.signal_number == 15


def test_without_a_byte_code_cache_the_provider_writes_none() -> None:
    world = World().holding()
    world.packages.cache = None

    world.run()

    assert "PYTHONPYCACHEPREFIX" not in world.processes.launches[0].env_set


@pytest.mark.parametrize(
    ("code", "top"), [("capability_provider", NEW_CAPABILITY), ("permissions_declared", 'permissions = ["a.b"]')]
)
def test_what_only_a_capability_command_may_call_leads_there(code: str, top: str) -> None:
    refusal = refusal_of(World().holding(top=top).run)

    assert (refusal.code, refusal.diagnostic.subject) == (code, "probe-me")
    assert refusal.diagnostic.next_command == ("capability", "list")


def test_a_bare_host_runs_nothing_and_previews_nothing() -> None:
    world = World().holding()
    world.is_off = True

    assert code_of(world.run) == code_of(lambda: world.run(execute=False)) == "extensions_off"
    assert world.processes.launches == []


def test_a_response_is_judged_by_the_schema_of_its_manifest() -> None:
    world = World(Script(stdout=b'{"n": 1}'))
    world.holding(runtime='response_schema = "r.json"', files={"r.json": "{}"})
    for revision in world.entry().revisions:
        world.store.schemas |= dict.fromkeys(revision.schemas, b"{}")
    rows: list[Any] = [{"pointer": "/n", "message": "is odd"}]
    world.judging.verdict = rows

    receipt = world.run()

    assert (receipt["status"], receipt["failure_kind"]) == ("invalid_provider_output", "response_schema")
    assert receipt["violations"] == rows
