"""The provider of recall: one governed request, its doctor, its manifest and profile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from loopx_recall.operations import search_notes

from loopx_host import OperationFailed, governed_environment, governed_request

PACKAGE = resources.files("loopx_recall")
PROFILE = json.loads((PACKAGE / "profile.json").read_text("utf-8"))
MANIFEST = tomllib.loads((PACKAGE / "extension.toml").read_text("utf-8"))
EXAMPLE = Path(__file__).parents[1] / "examples/request.json"
(OPERATION,) = PROFILE["operations"]
V0_TOP = {"schema_version", "id", "version", "requires_loopx_api", "permissions", "runtime", "provides"}
V0_RUNTIME = {"protocol", "entrypoint", "args", "doctor_args", "required_permissions", "timeout_seconds"}
V0_PROVIDES = {
    *("id", "kind", "title", "status", "visibility", "user_value", "next_real_step", "real_world_anchor"),
    *("entry_command", "integration_profile"),
}
V0_RESULT = {
    *("schema_version", "invocation_id", "status", "observations", "domain_state_mutations"),
    *("domain_transition_receipts", "transition_proposals", "effect_receipt", "follow_up"),
}
SECRET = "ghp_" + "a1" * 18


def notes(path: Path, **texts: str) -> dict[str, str]:
    for name, text in texts.items():
        (path / f"{name}.md").write_text(text, "utf-8")
    return {"notes": str(path)}


def call(*args: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "loopx_recall", *args],
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        check=False,
    )


def governed(references: dict[str, str], given: dict[str, object]) -> subprocess.CompletedProcess[bytes]:
    """Call the provider as the host does: with the envelope that binds the request, and what it must agree with."""
    made = governed_request(
        "loopx-capability-recall", "recall", "search", given, protocol="loopx_recall_v0", references=references
    )
    return call(stdin=json.dumps(made).encode(), **governed_environment(made))


def test_a_governed_request_is_answered_with_a_result_that_the_profile_describes(tmp_path: Path) -> None:
    ended = governed(notes(tmp_path, a="# Soup\nleek\n", b="# Pears\n"), {"query": "leek"})

    answer = json.loads(ended.stdout)
    jsonschema.validate(answer, OPERATION["result_schema"])
    assert (ended.returncode, [row["note"] for row in answer["observations"]]) == (0, ["a.md"])


def test_nothing_found_is_a_result_too(tmp_path: Path) -> None:
    answer = json.loads(governed(notes(tmp_path, a="x\n"), {"query": "zebra"}).stdout)

    jsonschema.validate(answer, OPERATION["result_schema"])
    assert (answer["status"], answer["observations"]) == ("succeeded", [])


def test_a_search_that_cannot_be_done_is_answered_with_its_code(tmp_path: Path) -> None:
    answer = json.loads(governed({"notes": str(tmp_path / "absent")}, {"query": "x"}).stdout)

    assert (answer["ok"], answer["code"]) == (False, "notes_unreadable")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"# Kite\nkey {SECRET}\n", {"note": "a.md", "title": "(withheld)", "snippet": "(withheld)", "withheld": 2}),
        (f"# Kite\n{'word ' * 60}\nkey {SECRET}\n", {"note": "a.md", "snippet": "(withheld)", "withheld": 2}),
        ("# Kite\nlies in /home/somebody/kites\n", {"title": "Kite", "snippet": "(withheld)", "withheld": 1}),
        ("# Kite\nthe password of the kite is no secret\n", {"note": "a.md", "title": "Kite", "withheld": 0}),
    ],
    ids=["beside", "elsewhere", "home", "prose"],
)
def test_a_text_with_private_material_is_withheld_and_the_note_still_found(
    tmp_path: Path, text: str, shown: dict[str, object]
) -> None:
    references = notes(tmp_path, a=text)

    (row,) = search_notes({"query": "kite"}, references)

    assert shown.items() <= row.items()
    assert SECRET not in json.dumps(row)


def test_a_snippet_that_begins_inside_a_secret_does_not_show_the_rest_of_it(tmp_path: Path) -> None:
    references = notes(tmp_path, a=f"# Log\n{'word ' * 40}password={SECRET[4:]} {'kite ' * 30}\n")

    (row,) = search_notes({"query": "kite"}, references)

    assert SECRET[4:10] not in json.dumps(row)


def test_a_refusal_of_the_search_is_one_of_the_operation() -> None:
    with pytest.raises(OperationFailed) as refused:
        search_notes({"query": "x"}, {})

    assert refused.value.code == "reference_missing"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": ""},
        {"query": "x" * 1001},
        {"query": "x", "limit": 51},
        {"query": "x", "limit": True},
        {"q": "x"},
    ],
    ids=lambda given: str(given)[:40],
)
def test_what_the_schema_refuses_the_operation_refuses_too(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(OperationFailed) as refused:
        search_notes(given, {"notes": str(tmp_path)})

    assert refused.value.code == "invalid_input"
    assert not jsonschema.Draft202012Validator(OPERATION["request_schema"]).is_valid(given)


@pytest.mark.parametrize(
    "given", [{"query": "x"}, {"query": "x" * 1000, "limit": 50, "now": "2026-01-31T12:00:00Z"}], ids=["one", "all"]
)
def test_what_the_schema_takes_the_operation_takes_too(tmp_path: Path, given: dict[str, object]) -> None:
    jsonschema.validate(given, OPERATION["request_schema"])

    assert search_notes(given, {"notes": str(tmp_path)}) == []


@pytest.mark.parametrize("name", ["request_schema", "result_schema"])
def test_a_schema_of_the_profile_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(OPERATION[name])


def test_the_result_schema_is_that_of_the_whole_answer() -> None:
    assert set(OPERATION["result_schema"]["required"]) == V0_RESULT
    assert set(OPERATION["result_schema"]["properties"]) == V0_RESULT


def test_the_manifest_uses_no_key_beyond_v0() -> None:
    assert set(MANIFEST) <= V0_TOP
    assert set(MANIFEST["runtime"]) <= V0_RUNTIME
    assert [set(one) <= V0_PROVIDES for one in MANIFEST["provides"]] == [True]


def test_the_profile_and_the_manifest_name_the_same_things() -> None:
    assert MANIFEST["provides"][0]["id"] == PROFILE["capability_id"]
    assert MANIFEST["runtime"]["protocol"] == PROFILE["protocol"]
    assert OPERATION["required_permission"] in MANIFEST["runtime"]["required_permissions"]


def test_the_example_is_answered(tmp_path: Path) -> None:
    example = EXAMPLE.read_bytes()
    ended = subprocess.run(
        [sys.executable, "-m", "loopx_recall"],
        cwd=tmp_path,
        env={**os.environ, **governed_environment(json.loads(example))},
        input=example,
        capture_output=True,
        check=False,
    )

    jsonschema.validate(json.loads(ended.stdout), OPERATION["result_schema"])


def test_the_doctor_passes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    ended = call("--doctor", TMPDIR=str(tmp_path))

    assert (ended.returncode, list(tmp_path.iterdir())) == (0, [])


def test_arguments_nobody_defined_are_refused() -> None:
    assert call("--other").returncode == 2
