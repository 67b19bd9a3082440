"""The verb `publish-projection` over ports in memory: what it refuses, what it starts, what it writes and says."""

from __future__ import annotations

import hashlib
import json

import pytest

from loopx_host.core.errors import Refused
from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from tests.support.fakes import NOW, PROGRAM, RUN_ID, Script, World, code_of
from tests.support.manifests import NEW_CAPABILITY
from tests.support.project_files import ROOT
from tests.support.publications import VIEW, Row, answer, file_of, world

V0 = json.loads((ROOT / "tests/data/v0" / "publish.json").read_text("utf-8"))["stdout"]
PLUGINS = [{"name": "probe-me", "value": "made_up.plugin"}]


def canonical_sha256(value: object) -> str:
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    ).hexdigest()


# --- what is refused before anything starts ---------------------------------------------------------------


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
@pytest.mark.parametrize(
    ("code", "entry"),
    [("extension_disabled", {"enabled": False}), ("doctor_required", {"proof": None})],
)
def test_what_the_state_decides_is_refused_before_anything_starts(code: str, entry: Row, execute: bool) -> None:
    made = world(**entry)

    assert code_of(lambda: made.publish(execute=execute)) == code
    assert (made.processes.launches, made.projections.published) == ([], {})


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_a_surface_that_is_not_declared_is_refused(execute: bool) -> None:
    made = world()

    with pytest.raises(Refused) as caught:
        made.publish("other", execute=execute)

    assert caught.value.code == "surface_unknown"
    assert caught.value.document["surfaces"] == ["board"]
    assert caught.value.document["next_command"]
    assert made.processes.launches == []


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_a_view_schema_that_nobody_could_know_is_refused(execute: bool) -> None:
    made = world(schema="note_board_v0")

    assert code_of(lambda: made.publish(execute=execute)) == "view_schema_unknown"
    assert made.processes.launches == []


@pytest.mark.parametrize(
    ("code", "request_bytes"), [("request_invalid", b"[]"), ("request_too_large", b" " * 1_000_001)]
)
def test_a_request_is_looked_at_before_the_extension(code: str, request_bytes: bytes) -> None:
    assert code_of(lambda: World().publish(request=request_bytes)) == code


def test_a_stale_extension_is_refused() -> None:
    made = world()
    made.packages.programs[PROGRAM] = "second"

    assert code_of(made.publish) == "readiness_stale"
    assert made.processes.launches == []


def test_a_provider_that_no_package_owns_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = world()
    monkeypatch.setattr(made.packages, "owner", lambda _target: None)

    assert made.publish(execute=False)["would_refuse"]["code"] == "provider_unowned"
    assert code_of(made.publish) == "provider_unowned"
    assert made.processes.launches == []


def test_a_missing_prerequisite_is_refused() -> None:
    made = world(more='\n[runtime.requires]\nnode = ">=22"\n')

    assert code_of(made.publish) == "node_unavailable"


# --- a preview -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [SECTIONS_VIEW, "note_board_v0"])
def test_a_preview_starts_neither_provider_nor_validator(schema: str) -> None:
    """publish_preview_inert (case 125)"""
    made = world(schema=schema, plugins=PLUGINS)

    receipt = made.publish(execute=False)

    assert (receipt["dry_run"], receipt["executed"], receipt["status"]) == (True, False, "ready")
    assert (receipt["payload_sha256"], receipt["readback_verified"], receipt["would_refuse"]) == (None, False, None)
    assert (made.processes.launches, made.plugins.called, made.judging.judged) == ([], [], [])
    assert made.projections.published == {}


def test_what_the_environment_decides_is_no_error_in_a_preview() -> None:
    made = world()
    made.packages.programs.clear()

    receipt = made.publish(execute=False)

    assert (receipt["ok"], receipt["status"]) == (True, "not_ready")
    assert receipt["would_refuse"]["code"] == "entrypoint_missing"


# --- what is published -----------------------------------------------------------------------------------


def test_the_receipt_of_a_publication_has_the_v0_fields() -> None:
    receipt = world().publish()

    assert [key for key in receipt if key in V0] == list(V0)
    given = {key: receipt[key] for key in V0}
    named = ("extension_id", "surface_id", "revision", "payload_sha256")
    assert {key: given[key] for key in V0 if key not in named} == {key: V0[key] for key in V0 if key not in named}
    assert (receipt["extension_id"], receipt["surface_id"]) == ("probe-me", "board")
    assert receipt["payload_sha256"] == canonical_sha256(VIEW)
    assert (receipt["at"], receipt["run_id"], receipt["duration_ms"]) == (NOW, RUN_ID, 7)
    assert receipt["containment"] == {"rung": "made-up"}


def test_the_file_binds_extension_revision_and_surface() -> None:
    made = world()

    made.publish()

    document = file_of(made)
    seal = document.pop("document_sha256")
    assert seal == canonical_sha256({key: document[key] for key in document if key != "payload"})
    assert document == {
        "schema_version": "extension_projection_v0",
        "extension_id": "probe-me",
        "revision": made.entry().active.id,
        "surface_id": "board",
        "visibility": "public-safe",
        "view_schema": SECTIONS_VIEW,
        "published_at": NOW,
        "payload_sha256": canonical_sha256(VIEW),
        "payload": VIEW,
    }


def test_an_answer_without_a_view_is_the_view() -> None:
    made = world(Script(stdout=json.dumps(VIEW).encode()))

    made.publish()

    assert file_of(made)["payload"] == VIEW


def test_the_provider_reads_the_exact_request_with_no_permission() -> None:
    made = world(top='permissions = ["fs.read:notes"]')

    made.publish(request=b' {"a":1} ')

    launch = made.processes.launches[0]
    assert launch.stdin == b' {"a":1} '
    assert (launch.grants.permissions, launch.grants.references) == ([], {})


def test_a_capability_provider_may_publish() -> None:
    assert world(more=NEW_CAPABILITY).publish()["status"] == "published"


def test_the_activation_state_is_left_alone() -> None:
    made = world()
    before = made.store.data

    made.publish()

    assert made.store.data == before


def test_a_receipt_says_when_the_view_is_already_due() -> None:
    assert world(answer({**VIEW, "review_after": NOW})).publish()["state"] == "review_due"
    assert world(answer({**VIEW, "review_after": "2099-01-01T00:00:00Z"})).publish()["state"] == "ready"
