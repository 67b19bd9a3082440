"""`publish-projection`: who judges a view, what is too private to publish, and what goes wrong on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopx_host.core.errors import Refused, refusal
from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from loopx_host.registry.surfaces import projection_bytes
from tests.support.fakes import PROGRAM, Script, code_of
from tests.support.publications import VIEW, Row, answer, file_of, world

PLUGINS = [{"name": "probe-me", "value": "made_up.plugin"}]


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
    made.plugins.refusal = refusal("plugin_load_failed", "probe-me", "it raised")

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
