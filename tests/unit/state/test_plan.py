"""The plan digest: everything that decides a change is in it, and nothing else (extension-formats, *Plan digest*)."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, MODULE, Launcher, LauncherNotFound, RuntimeIdentity
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.state import Entry, State
from loopx_host.registry.manifest import Manifest
from tests.support.fakes import World, code_of, timeless
from tests.support.manifests import canonical, load_document, minimal, sha256

LAUNCHER = Launcher(ENTRYPOINT, "/made/up/bin/sample")
DIGEST = "1" * 64


def identity(launcher: str = DIGEST) -> RuntimeIdentity:
    return RuntimeIdentity({"launcher": launcher, "interpreter": "python"}, launcher)


def entry(**fields: object) -> Entry:
    world = World().holding(**fields)  # type: ignore[arg-type]
    found = State.parse(world.store.read(), world.store.location).entry("probe-me")
    assert isinstance(found, Entry)
    return found


def manifest(**runtime: object) -> Manifest:
    return load_document(minimal(args=["serve"], **runtime))


def digest(verb: str = "upgrade", extension_id: str = "sample", of: Entry | None = None, **changed: Any) -> str:
    fields: dict[str, Any] = {
        "to": manifest(),
        "launcher": LAUNCHER,
        "identity": identity(),
        "permissions_added": ["a.b"],
        **changed,
    }
    runtime = fields["to"].runtime
    candidate = Candidate(runtime, fields.pop("launcher"), fields.pop("identity"))
    return plan_digest(verb, extension_id, of or entry(), candidate=candidate, **fields)


def test_the_digest_is_over_the_documented_fields_and_no_other() -> None:
    of, to = entry(), manifest(env=["TOKEN"], timeout_seconds=7)
    assert of.proof is not None
    plan = {
        "schema": "loopx_extension_plan_v0",
        "verb": "upgrade",
        "extension_id": "sample",
        "state": timeless(of.raw),
        "to_revision": to.digest,
        "launcher": {"path": LAUNCHER.path, "sha256": DIGEST},
        "identity": identity().digest,
        "argv": [LAUNCHER.path, "serve"],
        "env": ["TOKEN"],
        "permissions_added": ["a.b"],
        "limits": {
            "timeout_seconds": 7,
            "doctor_timeout_seconds": 7,
            "memory_limit_mb": None,
            "open_files_limit": 1024,
        },
        "host_api": 1,
        "reads": {},
    }

    assert digest(of=of, to=to) == f"sha256:{sha256(canonical(plan))}"


CHANGES: dict[str, dict[str, Any]] = {
    "verb": {"verb": "rollback"},
    "id": {"extension_id": "other"},
    "state_unknown_field": {"of": entry(x_note="who knows")},
    "pinned_launcher": {"of": entry(pinned={"launcher": {"kind": ENTRYPOINT, "path": "/elsewhere"}})},
    "activation": {"of": entry(pinned={"commands": [{"name": "a", "value": "b:c"}]})},
    "what_else_is_read": {"reads": {"request_sha256": "0" * 64}},
    "interpreter": {"identity": RuntimeIdentity({"launcher": DIGEST, "interpreter": "other"}, DIGEST)},
    "enabled": {"of": entry(enabled=False)},
    "proof": {"of": entry(doctor_verified_revision=None)},
    "revision": {"to": manifest(doctor_args=["--doctor"])},
    "launcher_path": {"launcher": Launcher(ENTRYPOINT, "/elsewhere/sample")},
    "launcher_bytes": {"identity": identity("2" * 64)},
    "module": {"launcher": Launcher(MODULE, LAUNCHER.path, "sample.cli")},
    "missing_launcher": {"launcher": LauncherNotFound("sample", [], "/made/up")},
    "permissions": {"permissions_added": []},
    "more_permissions": {"permissions_added": ["a.b", "c"]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_the_change_changes_the_plan(change: str) -> None:
    assert digest(**CHANGES[change]) != digest()


KEPT: dict[str, dict[str, object]] = {
    "history": {"history": [{"operation": "doctor", "at": "2020-01-01T00:00:00Z"}]},
    "installed_at": {"pinned": {"installed_at": "2020-01-01T00:00:00Z"}},
}


@pytest.mark.parametrize("change", KEPT)
def test_what_decides_nothing_keeps_the_plan(change: str) -> None:
    assert digest(of=entry(**KEPT[change])) == digest()


def test_the_moment_of_the_proof_keeps_the_plan() -> None:
    proof = {**(entry().raw["proof"] or {}), "verified_at": "2030-12-31T00:00:00Z"}

    assert digest(of=entry(proof=proof)) == digest()


def test_the_plan_that_was_asked_for_is_let_through() -> None:
    hold_to_plan("sha256:1", "sha256:1", "sample", ("extension", "show"))


def test_no_plan_binds_nothing() -> None:
    hold_to_plan("sha256:1", None, "sample", ("extension", "show"))


@pytest.mark.parametrize("asked", ["sha256:2", "1", "", "SHA256:1", "sha256:1 "])
def test_any_other_plan_is_refused(asked: str) -> None:
    assert code_of(lambda: hold_to_plan("sha256:1", asked, "sample", ("extension", "show"))) == "plan_changed"


def test_the_plan_of_what_is_not_about_one_extension_is_over_verb_and_content_and_no_more() -> None:
    plan = {"schema": "loopx_extension_plan_v0", "verb": "restore", "content": [1, {"a": None}]}

    assert content_digest("restore", [1, {"a": None}]) == f"sha256:{sha256(canonical(plan))}"
