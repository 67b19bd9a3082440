"""A standalone run starts only what is installed, enabled, ready and without permission or capability."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.manifests import NEW_CAPABILITY
from tests.support.providers import CANARY

IMPLEMENTATION = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def disable(loopx: Loopx) -> None:
    assert loopx("extension", "disable", "canary", "--execute").status == 0


def change(loopx: Loopx) -> None:
    with (loopx.root / "extensions/canary/provider").open("a", encoding="ascii") as provider:
        provider.write("# changed\n")


def remove(loopx: Loopx) -> None:
    (loopx.root / "extensions/canary/provider").unlink()


def make_unexecutable(loopx: Loopx) -> None:
    (loopx.root / "extensions/canary/provider").chmod(0o644)


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("act", "code"),
    [
        (disable, "extension_disabled"),
        (change, "readiness_stale"),
        (remove, "entrypoint_missing"),
        (make_unexecutable, "entrypoint_missing"),
    ],
)
def test_an_extension_that_is_not_ready_is_not_started(loopx: Loopx, tmp_path: Path, act: object, code: str) -> None:
    """entrypoint_replaced_or_removed, disabled_blocks_run (cases 65, 55)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    assert callable(act)

    act(loopx)
    answer = loopx.run("canary", {})

    assert (answer.status, answer.code) == (2, code)
    assert answer.document["next_command"]
    assert not canary.exists()


@pytest.mark.req("X6")
@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "executed"])
@pytest.mark.parametrize(
    ("code", "manifest", "runtime"),
    [
        ("permissions_declared", 'permissions = ["notes.read"]', {}),
        ("permissions_declared", 'permissions = ["notes.read"]', {"required_permissions": ["notes.read"]}),
        ("capability_provider", NEW_CAPABILITY, {}),
        ("capability_provider", NEW_CAPABILITY + IMPLEMENTATION, {}),
    ],
    ids=["permission", "required permission", "provides", "implements"],
)
def test_an_extension_with_permissions_or_a_capability_is_not_started(
    loopx: Loopx, tmp_path: Path, code: str, manifest: str, runtime: dict[str, object], execute: tuple[str, ...]
) -> None:
    """run_refuses_permissioned, run_refuses_capability_provider (cases 92, 93)."""
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary), manifest=manifest, **runtime)

    answer = loopx("extension", "run", "canary", "--input-json", "-", *execute, stdin=b"{}")

    assert (answer.status, answer.code) == (2, code)
    assert not canary.exists()


@pytest.mark.req("X6")
def test_an_extension_that_is_not_installed_is_refused(loopx: Loopx) -> None:
    answer = loopx.run("nobody", {})

    assert (answer.status, answer.code) == (2, "extension_not_installed")
    assert answer.document["next_command"]


def test_an_entry_without_a_runtime_has_nothing_to_run(loopx: Loopx) -> None:
    """A v0 state file may hold one: its manifest provides something and runs nothing."""
    form = {
        "capabilities": [],
        "documentation": None,
        "implementations": [
            {"capability_id": "other", "protocol": "a_v0", "provider_id": "bare", "provider_version": "1"}
        ],
        "presentation_surfaces": [],
        "provider": {
            "declared": True,
            "enabled": False,
            "id": "bare",
            "installed": False,
            "origin": "extension",
            "permissions": [],
            "ready": False,
            "requires_loopx_api": "1",
            "version": "1",
        },
        "runtime": None,
    }
    revision = _revision(form)
    entry = {
        "id": "bare",
        "enabled": True,
        "active_revision": revision,
        "rollback_revision": None,
        "doctor_verified_revision": None,
        "doctor_verified_entrypoint_identity": None,
        "revisions": [{"revision": revision, "version": "1", "manifest": form}],
    }
    document = {"schema_version": "loopx_extension_state_v0", "extensions": {"bare": entry}}
    loopx.state_file.write_text(json.dumps(document), encoding="utf-8")

    ran = loopx.run("bare", b"{}")
    probed = loopx("extension", "doctor", "bare", "--execute")

    assert (ran.status, ran.code) == (2, "runtime_missing")
    assert (probed.status, probed.code) == (2, "runtime_missing")


def _revision(form: object) -> str:
    from hashlib import sha256

    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]
