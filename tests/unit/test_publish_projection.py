"""The verb `publish-projection` over ports in memory: what it refuses, what it starts, what it writes and says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from loopx_host.core.errors import Refused, refuse
from loopx_host.registry.surfaces import projection_bytes
from loopx_host.registry.view_schemas import SECTIONS_VIEW
from tests.support.fakes import NOW, PROGRAM, RUN_ID, Script, World, code_of
from tests.unit.test_run_verb import CAPABILITY

V0 = json.loads((Path(__file__).parents[1] / "data" / "v0" / "publish.json").read_text("utf-8"))["stdout"]
VIEW = {"title": "Board", "generated_at": "2025-01-01T00:00:00Z", "sections": []}
PLUGINS = [{"name": "probe-me", "value": "made_up.plugin"}]
Row = dict[str, Any]

SURFACE = """
[[presentation_surfaces]]
id = "board"
kind = "note_board"
title = "Notes"
view_schema = "{schema}"
view_validator = "made_up.views:check"
visibility = "{visibility}"
empty_state_title = "No notes yet"
empty_state_detail = "Publish some."
"""


def answer(view: object = VIEW) -> Script:
    return Script(stdout=json.dumps({"ok": True, "view": view}).encode())


def world(
    script: Script | None = None,
    *,
    visibility: str = "public-safe",
    schema: str = SECTIONS_VIEW,
    plugins: list[dict[str, str]] | None = None,
    more: str = "",
    top: str = "",
    **entry: Any,
) -> World:
    """Return a world that holds one ready extension with the surface `board`."""
    made = World(script or answer())
    made.holding(top=top, runtime=SURFACE.format(schema=schema, visibility=visibility) + more, **entry)
    if plugins is not None:
        document = made.store.document
        document["extensions"]["probe-me"]["revisions"][0]["plugins"] = plugins
        made.store.data = json.dumps(document).encode()
    return made


def file_of(made: World) -> Row:
    document: Row = json.loads(made.projections.published["probe-me", "board"])
    return document


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


def test_a_permission_that_the_manifest_does_not_declare_is_not_granted() -> None:
    made = world(top='permissions = ["fs.read:notes"]')

    assert code_of(lambda: made.publish(permissions=["net.connect"])) == "reference_invalid"
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

    assert file_of(made) == {
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


def test_the_provider_gets_what_the_caller_grants_and_no_more_time_than_it_has() -> None:
    made = world(top='permissions = ["fs.read:notes"]')

    made.publish(permissions=["fs.read:notes"], references={"notes": "/srv/notes"}, timeout_seconds=3)

    launch = made.processes.launches[0]
    assert (launch.grants.permissions, launch.grants.references) == (["fs.read:notes"], {"notes": "/srv/notes"})
    assert launch.limits.timeout_seconds == 3


def test_the_provider_reads_the_references_that_were_granted_as_a_governed_call_names_them() -> None:
    made = world(top='permissions = ["fs.read:notes", "fs.read:drafts"]')

    receipt = made.publish(
        request=b'{"of": "today"}',
        permissions=["fs.read:notes", "fs.read:drafts"],
        references={"notes": "/srv/notes", "drafts": "/srv/drafts"},
    )

    stdin = made.processes.launches[0].stdin
    assert json.loads(stdin) == {
        "of": "today",
        "context_refs": [
            {"name": "drafts", "kind": "path", "path": "/srv/drafts"},
            {"name": "notes", "kind": "path", "path": "/srv/notes"},
        ],
    }
    assert receipt["request_sha256"] == hashlib.sha256(stdin).hexdigest()


def test_a_request_that_names_its_references_itself_is_refused_when_the_host_grants_some() -> None:
    made = world(top='permissions = ["fs.read:notes"]')

    code = code_of(
        lambda: made.publish(
            request=b'{"context_refs": [{"name": "notes", "kind": "path", "path": "/etc"}]}',
            permissions=["fs.read:notes"],
            references={"notes": "/srv/notes"},
        )
    )

    assert (code, made.processes.launches) == ("reference_invalid", [])


def test_a_capability_provider_may_publish() -> None:
    assert world(more=CAPABILITY).publish()["status"] == "published"


def test_the_activation_state_is_left_alone() -> None:
    made = world()
    before = made.store.data

    made.publish()

    assert made.store.data == before


def test_a_receipt_says_when_the_view_is_already_due() -> None:
    assert world(answer({**VIEW, "review_after": NOW})).publish()["state"] == "review_due"
    assert world(answer({**VIEW, "review_after": "2099-01-01T00:00:00Z"})).publish()["state"] == "ready"


# --- who judges ------------------------------------------------------------------------------------------


def test_a_view_is_judged_by_the_schema_of_core() -> None:
    made = world()
    made.judging.verdict = [{"pointer": "/title", "message": "is no title"}]

    with pytest.raises(Refused) as caught:
        made.publish()

    assert caught.value.code == "view_invalid"
    assert caught.value.document["violations"] == made.judging.verdict
    assert made.plugins.called == []
    assert made.projections.published == {}


def test_a_view_is_judged_by_the_schema_its_activated_package_brings() -> None:
    made = world(schema="note_board_v0", plugins=PLUGINS)
    made.plugins.answers = [{"other_v0": {}}, {"note_board_v0": {"type": "object"}}]

    assert made.publish()["status"] == "published"
    assert made.plugins.called == [("probe-me", "loopx_view_schemas")]
    assert made.judging.judged == [VIEW]


def test_a_package_cannot_replace_a_schema_of_core() -> None:
    made = world(plugins=PLUGINS)
    made.plugins.answers = [{SECTIONS_VIEW: {}}]

    made.publish()

    assert made.plugins.called == []


@pytest.mark.parametrize("view", [{**VIEW, "view_schema": "{}"}, {**VIEW, "$schema": "x", "schema_version": "x"}])
def test_an_answer_does_not_choose_its_judge(view: Row) -> None:
    made = world(answer(view))

    made.publish()

    assert file_of(made)["view_schema"] == SECTIONS_VIEW


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [{}],
        [{"other_v0": {}}],
        [{"note_board_v0": "x"}],
        ["x"],
        [{"note_board_v0": {}}, {"note_board_v0": {"type": "object"}}],
    ],
    ids=["no answer", "nothing", "another", "no schema", "no table", "two"],
)
def test_a_package_that_brings_no_one_schema_is_refused_before_its_provider_starts(answers: list[Any]) -> None:
    made = world(schema="note_board_v0", plugins=PLUGINS)
    made.plugins.answers = answers

    assert code_of(made.publish) == "view_schema_unknown"
    assert made.processes.launches == []


def test_a_package_that_cannot_be_loaded_publishes_nothing() -> None:
    made = world(schema="note_board_v0", plugins=PLUGINS)
    made.plugins.refusal = refuse("plugin_load_failed", "probe-me", "it raised")

    assert code_of(made.publish) == "plugin_load_failed"
    assert made.processes.launches == []


def test_a_view_whose_judging_was_not_finished_is_refused() -> None:
    made = world()
    made.judging.verdict = None

    assert code_of(made.publish) == "view_invalid"
    assert made.projections.published == {}


@pytest.mark.parametrize("view", [None, [], "text", 1])
def test_a_view_that_is_no_object_is_refused(view: object) -> None:
    made = world(answer(view))

    assert code_of(made.publish) == "view_invalid"
    assert made.projections.published == {}


# --- private material ------------------------------------------------------------------------------------

PRIVATE = {
    "password": {**VIEW, "sections": [{"password": "letmein"}]},
    "token value": {**VIEW, "title": "ghp_" + "a1B2" * 6},
    "body": {**VIEW, "responseBody": "text"},
}
PATHS = {"path": {**VIEW, "title": "see /home/alice/notes"}, "file": {**VIEW, "title": "file:///srv/x"}}


@pytest.mark.req("M111")
@pytest.mark.parametrize("view", [*PRIVATE.values(), *PATHS.values()], ids=[*PRIVATE, *PATHS])
def test_a_public_safe_view_with_private_content_is_refused_whatever_its_validator_says(view: Row) -> None:
    """publish_public_safe_enforced (case 126): the schema of the package admits everything."""
    made = world(answer(view), schema="note_board_v0", plugins=PLUGINS)
    made.plugins.answers = [{"note_board_v0": {}}]

    with pytest.raises(Refused) as caught:
        made.publish()

    assert caught.value.code == "private_material"
    assert caught.value.document["findings"]
    assert made.projections.published == {}


@pytest.mark.parametrize("view", PRIVATE.values(), ids=PRIVATE)
def test_an_owner_only_view_never_shows_credentials(view: Row) -> None:
    assert code_of(world(answer(view), visibility="owner-only").publish) == "private_material"


@pytest.mark.parametrize("view", PATHS.values(), ids=PATHS)
def test_an_owner_only_view_may_name_paths(view: Row) -> None:
    assert world(answer(view), visibility="owner-only").publish()["status"] == "published"


def test_a_refusal_repeats_nothing_private_even_if_the_validator_would() -> None:
    secret = "ghp_" + "a1B2" * 6
    made = world(answer({**VIEW, "title": secret}))
    made.judging.verdict = [{"pointer": "/title", "message": f'"{secret}" is too long'}]

    with pytest.raises(Refused) as caught:
        made.publish()

    assert secret not in json.dumps(caught.value.document)
    assert made.judging.judged == []


def test_a_private_view_that_is_no_object_is_private_first() -> None:
    assert code_of(world(answer(["password=letmein"])).publish) == "private_material"


# --- what goes wrong on the way --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "script"),
    [
        ("provider_failed", "exit_nonzero", Script(exit_code=3)),
        ("provider_failed", "timeout", Script(lasts=True)),
        ("provider_failed", "provider_reported_failure", Script(stdout=b'{"ok": false}')),
        ("invalid_provider_output", "response_not_json_object", Script(stdout=b"[]")),
    ],
)
def test_a_provider_that_fails_publishes_nothing_and_says_so(status: str, kind: str, script: Script) -> None:
    made = world(script)

    receipt = made.publish()

    assert (receipt["ok"], receipt["status"], receipt["failure_kind"]) == (False, status, kind)
    assert (receipt["payload_sha256"], receipt["readback_verified"]) == (None, False)
    assert made.projections.published == {}


def test_a_failed_answer_is_shown_unless_it_is_private() -> None:
    said = world(Script(stdout=b'{"ok": false, "error": "no board"}')).publish()
    kept = world(Script(stdout=b'{"ok": false, "token": "letmein"}')).publish()

    assert said["provider_result"] == {"ok": False, "error": "no board"}
    assert kept["provider_result"] is None


def test_a_provider_that_changed_while_it_ran_is_not_trusted() -> None:
    script = answer()
    made = world(script)
    script.meanwhile = lambda: made.packages.programs.update({PROGRAM: "second"})

    assert code_of(made.publish) == "changed_during_run"
    assert made.projections.published == {}


@pytest.mark.parametrize("change", ["disabled", "gone", "switched"])
def test_an_extension_that_moved_while_its_provider_ran_publishes_nothing(change: str) -> None:
    script = answer()
    made = world(script)

    def meanwhile() -> None:
        document = made.store.document
        if change == "gone":
            document["extensions"].clear()
        elif change == "disabled":
            document["extensions"]["probe-me"]["enabled"] = False
        else:
            other = world(
                more='\n[x-notes]\na = 1\n[documentation]\nsource_root = "d"\nsite_root = "s"\ncanonical = "a.md"\n'
            )
            document["extensions"] = other.store.document["extensions"]
        made.store.data = json.dumps(document).encode()

    script.meanwhile = meanwhile

    assert code_of(made.publish) == "state_moved"
    assert made.projections.published == {}


def test_an_entry_that_was_proved_again_meanwhile_has_not_moved() -> None:
    script = answer()
    made = world(script)

    def meanwhile() -> None:
        document = made.store.document
        document["extensions"]["probe-me"]["proof"]["verified_at"] = "2025-01-02T03:04:06Z"
        made.store.data = json.dumps(document).encode()

    script.meanwhile = meanwhile

    assert made.publish()["status"] == "published"


def test_what_does_not_read_back_as_written_is_not_called_published() -> None:
    made = world()
    made.projections.spoil = lambda data: data[:-2]

    assert code_of(made.publish) == "state_moved"


def test_a_refused_view_leaves_the_published_one() -> None:
    made = world()
    made.publish()
    before = dict(made.projections.published)

    made.processes.script = answer({**VIEW, "title": "/home/alice"})

    assert code_of(made.publish) == "private_material"
    assert made.projections.published == before


def test_what_is_written_is_the_canonical_form() -> None:
    made = world()

    made.publish()

    assert made.projections.published["probe-me", "board"] == projection_bytes(file_of(made))
