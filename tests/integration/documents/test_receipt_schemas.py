"""What every verb really prints, and the state it really writes, held to `loopx extension schema NAME`.

The judge is the reference implementation in Python, not the one the host uses.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from loopx_host.authoring import documents
from tests.support.cli import Loopx
from tests.support.lifecycle import Subject
from tests.support.project_files import ROOT

DATA = ROOT / "tests/data/v0"
NAME_OF = {
    "loopx_extension_operation_v0": "operation",
    "loopx_extension_state_v0": "list",
    "loopx_extension_detail_v0": "detail",
    "loopx_extension_history_v0": "history",
    "loopx_extension_doctor_v0": "doctor",
    "loopx_extension_run_receipt_v0": "run-receipt",
    "loopx_extension_export_v0": "export",
    "loopx_extension_restore_v0": "restore",
    "loopx_extension_repair_v0": "repair",
    "loopx_extension_discovery_v0": "discovery",
    "loopx_doctor_v0": "host-doctor",
    "loopx_capability_catalog_v0": "capability-catalog",
    "loopx_capability_detail_v0": "capability-detail",
    "loopx_extension_scaffold_v0": "scaffold",
    "loopx_extension_validation_v0": "validation",
    "loopx_extension_conformance_v0": "conformance",
    "loopx_performance_diagnosis_v0": "performance-diagnosis",
    "loopx_extension_error_v0": "error",
    "loopx_completions_v0": "completions",
    "loopx_help_v0": "help",
    "loopx_version_v0": "version",
}
# What is printed under each label, the schema it has to follow, and the exit status it came with.
EXPECTED = {
    "install preview": ("operation", 0),
    "install preview that would be refused": ("operation", 0),
    "install": ("operation", 0),
    "install, doctor failed": ("error", 2),
    "install, manifest invalid": ("error", 2),
    "list": ("list", 0),
    "list of nothing": ("list", 0),
    "list with a bad entry": ("list", 0),
    "show": ("detail", 0),
    "show nobody": ("error", 2),
    "history": ("history", 0),
    "doctor preview": ("doctor", 0),
    "doctor": ("doctor", 0),
    "doctor, unhealthy": ("doctor", 1),
    "doctor, disabled": ("error", 2),
    "disable preview": ("operation", 0),
    "disable": ("operation", 0),
    "enable preview": ("operation", 0),
    "enable": ("operation", 0),
    "upgrade preview": ("operation", 0),
    "upgrade": ("operation", 0),
    "rollback preview": ("operation", 0),
    "rollback": ("operation", 0),
    "run preview": ("run-receipt", 0),
    "run preview, stale": ("run-receipt", 0),
    "run": ("run-receipt", 0),
    "run, provider failed": ("run-receipt", 1),
    "run, response outside its schema": ("run-receipt", 1),
    "run, request outside its schema": ("error", 2),
    "run, request too large": ("error", 2),
    "export": ("export", 0),
    "export to a file": ("operation", 0),
    "restore preview": ("restore", 0),
    "restore": ("restore", 0),
    "restore, incomplete": ("restore", 1),
    "repair preview": ("repair", 0),
    "repair": ("repair", 0),
    "repair of what is whole": ("repair", 0),
    "discover": ("discovery", 0),
    "host doctor": ("host-doctor", 0),
    "host doctor, unhealthy": ("host-doctor", 1),
    "capability list": ("capability-catalog", 0),
    "capability show": ("capability-detail", 0),
    "init preview": ("scaffold", 0),
    "init": ("scaffold", 0),
    "init, refused": ("error", 2),
    "validate": ("validation", 0),
    "validate with warnings": ("validation", 0),
    "validate, example invalid": ("error", 2),
    "conformance preview": ("conformance", 0),
    "conformance": ("conformance", 0),
    "conformance, a rule broken": ("conformance", 1),
    "performance-diagnosis": ("performance-diagnosis", 0),
    "uninstall preview": ("operation", 0),
    "uninstall": ("operation", 0),
    "completions": ("completions", 0),
    "help": ("help", 0),
    "help of a command": ("help", 0),
    "version": ("version", 0),
    "usage error": ("error", 2),
    "unknown schema": ("error", 2),
}
PROVIDER = """\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
read -r request
case "$request" in
    *fail*) echo '{"ok": false, "error": "asked to"}'; exit 1 ;;
    *odd*) echo '{"ok": true, "n": "not a number"}' ;;
    '{"do": "number"}') echo '{"ok": true, "n": 1}' ;;
    *) echo '{"ok": false, "error": "no request of mine"}'; exit 1 ;;
esac
"""
CAPABILITY = """\
[[provides]]
id = "sample-report"
kind = "projection_sink"
title = "Sample report"
status = "active"
user_value = "value"
next_real_step = "none"
visibility = "public"
real_world_anchor = "fixture"
entry_command = "sample report"
"""

Gathered = dict[str, tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Return label → (exit status, document) of every command, one life of a few extensions."""
    return dict(_gather(tmp_path_factory.mktemp("receipts")))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a state file that has seen an upgrade, a rollback and a failed doctor."""
    loopx = Loopx(tmp_path_factory.mktemp("state"))
    subject = Subject(loopx)
    for answer in (
        subject.install("1.0", "--execute"),
        subject.upgrade("2.0", "--execute"),
        subject.do("rollback", "--execute"),
    ):
        assert answer.status == 0, answer
    subject.doctor_exits(1)
    assert subject.do("doctor", "--execute").status == 1
    written = json.loads(loopx.state_file.read_bytes())
    assert isinstance(written, dict)
    return written


def _gather(root: Path) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    loopx = Loopx(root)

    def said(*words: str, **settings: Any) -> tuple[int, dict[str, Any]]:
        answer = loopx(*words, **settings)
        return answer.status, answer.document

    yield "list of nothing", said("extension", "list")
    yield from _one_life(Subject(loopx), said)
    yield from _runs(loopx, said)
    yield from _authoring(loopx, said)
    yield from _moving(loopx, said)
    yield "discover", said("extension", "discover")
    yield "performance-diagnosis", said("performance-diagnosis", "--pairs", "1")
    yield "completions", said("completions", "fish")
    yield "help", said("--help")
    yield "help of a command", said("extension", "run", "--help")
    yield "version", said("--version")
    yield "usage error", said("extension", "run")
    yield "unknown schema", said("extension", "schema", "nothing")
    yield from _damage(loopx, said)


def _one_life(subject: Subject, said: Any) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    manifest, later = str(subject.manifest("1.0")), str(subject.manifest("2.0"))
    missing = str(subject.manifest("9.0", entrypoint="no-such-command-anywhere"))
    wrong = str(subject.manifest("8.0", timeout_seconds=0, protocol="x"))
    yield "install preview", said("extension", "install", "--manifest", manifest)
    yield "install preview that would be refused", said("extension", "install", "--manifest", missing)
    yield "install, manifest invalid", said("extension", "install", "--manifest", wrong)
    subject.doctor_exits(1)
    yield "install, doctor failed", said("extension", "install", "--manifest", manifest, "--execute")
    subject.doctor_exits(0)
    yield "install", said("extension", "install", "--manifest", manifest, "--execute")
    yield "list", said("extension", "list")
    yield "show", said("extension", "show", subject.id)
    yield "show nobody", said("extension", "show", "nobody")
    yield "doctor preview", said("extension", "doctor", subject.id)
    yield "doctor", said("extension", "doctor", subject.id, "--execute")
    yield "upgrade preview", said("extension", "upgrade", "--manifest", later)
    yield "upgrade", said("extension", "upgrade", "--manifest", later, "--execute")
    yield "rollback preview", said("extension", "rollback", subject.id)
    yield "rollback", said("extension", "rollback", subject.id, "--execute")
    for verb in ("disable", "enable"):
        yield f"{verb} preview", said("extension", verb, subject.id)
        yield verb, said("extension", verb, subject.id, "--execute")
        if verb == "disable":
            yield "doctor, disabled", said("extension", "doctor", subject.id, "--execute")
    yield "host doctor", said("doctor")
    subject.doctor_exits(1)
    yield "doctor, unhealthy", said("extension", "doctor", subject.id, "--execute")
    yield "host doctor, unhealthy", said("doctor")
    yield "history", said("extension", "history", subject.id)
    subject.doctor_exits(0)
    yield "uninstall preview", said("extension", "uninstall", subject.id)
    yield "uninstall", said("extension", "uninstall", subject.id, "--execute")


def _runs(loopx: Loopx, said: Any) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    folder = loopx.root / "extensions" / "runner"
    (folder / "examples").mkdir(parents=True)
    (folder / "request.json").write_text('{"type": "object", "properties": {"n": {"type": "string"}}}')
    (folder / "response.json").write_text('{"type": "object", "properties": {"n": {"type": "integer"}}}')
    (folder / "examples" / "request.json").write_text('{"do": "number"}')
    loopx.make_extension("runner", PROVIDER, request_schema="request.json", response_schema="response.json")

    def run(request: dict[str, object], *flags: str) -> tuple[int, dict[str, Any]]:
        data = json.dumps(request).encode() + b"\n"
        answered: tuple[int, dict[str, Any]] = said(
            "extension", "run", "runner", "--input-json", "-", *flags, stdin=data
        )
        return answered

    yield "run preview", run({"do": "number"})
    yield "run", run({"do": "number"}, "--execute")
    yield "run, provider failed", run({"do": "fail"}, "--execute")
    yield "run, response outside its schema", run({"do": "odd"}, "--execute")
    yield "run, request outside its schema", run({"n": 1}, "--execute")
    yield "run, request too large", run({"n": "x" * 1_000_001}, "--execute")


def _authoring(loopx: Loopx, said: Any) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    package = loopx.root / "acme-report"
    yield "init preview", said("extension", "init", "acme-report", "--destination", str(package))
    yield "init", said("extension", "init", "acme-report", "--destination", str(package), "--execute")
    yield "init, refused", said("extension", "init", "class", "--execute")
    runner = loopx.root / "extensions" / "runner"
    yield "validate", said("extension", "validate", str(package))
    yield "conformance preview", said("extension", "conformance", str(runner))
    yield "conformance", said("extension", "conformance", str(runner), "--execute")
    bad = loopx.write_extension("bad", PROVIDER.replace("exit 0", "exit 3"))
    yield "conformance, a rule broken", said("extension", "conformance", str(bad), "--execute")
    capable = loopx.write_extension("capable", PROVIDER, manifest=f"unheard_of = 1\n{CAPABILITY}")
    yield "validate with warnings", said("extension", "validate", str(capable))
    yield "capability list", said("capability", "list", "--extension-manifest", str(capable))
    yield "capability show", said("capability", "show", "sample-report", "--extension-manifest", str(capable))
    (package / "examples" / "request.json").write_text('{"name": 1}')
    yield "validate, example invalid", said("extension", "validate", str(package))


def _moving(loopx: Loopx, said: Any) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    export = loopx.root / "export.json"
    yield "export", said("extension", "export")
    yield "export to a file", said("extension", "export", "--output", str(export), "--execute")
    yield "restore preview", said("extension", "restore", str(export))
    yield "restore", said("extension", "restore", str(export), "--execute")
    document = json.loads(export.read_bytes())
    document["extensions"][0]["id"] = "elsewhere"
    export.write_text(json.dumps(document))
    yield "restore, incomplete", said("extension", "restore", str(export), "--execute")


def _damage(loopx: Loopx, said: Any) -> Iterator[tuple[str, tuple[int, dict[str, Any]]]]:
    (loopx.root / "extensions" / "runner" / "provider").write_text(f"{PROVIDER}# changed\n")
    request = b'{"do": "number"}'
    yield "run preview, stale", said("extension", "run", "runner", "--input-json", "-", stdin=request)
    yield "repair of what is whole", said("extension", "repair", "--execute")
    document = json.loads(loopx.state_file.read_bytes())
    document["extensions"]["odd"] = {"id": "odd"}
    loopx.state_file.write_text(json.dumps(document))
    yield "list with a bad entry", said("extension", "list")
    yield "repair preview", said("extension", "repair")
    yield "repair", said("extension", "repair", "--execute")


def wrong_with(name: str, document: object) -> list[str]:
    """Return what the schema `name` holds against a document."""
    judge = Draft202012Validator(documents.schema(name))
    return [f"{error.json_path}: {error.message}" for error in judge.iter_errors(document)]


def test_every_expected_document_was_printed_and_no_other(receipts: Gathered) -> None:
    assert sorted(receipts) == sorted(EXPECTED)


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_follows_the_schema_of_its_name(label: str, receipts: Gathered) -> None:
    name, status = EXPECTED[label]

    answered, document = receipts[label]

    assert NAME_OF[document["schema_version"]] == name, document
    assert answered == status, document
    assert wrong_with(name, document) == []


def test_a_document_of_every_name_was_judged(receipts: Gathered) -> None:
    judged = {EXPECTED[label][0] for label in receipts}

    assert {name for name in NAME_OF.values() if name not in judged} == set()


def required(schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """Return the fields that a schema requires of this very document."""
    branches = [schema, *schema.get("allOf", ())]
    found = list(schema["required"])
    for branch in branches:
        if "if" in branch and Draft202012Validator(branch["if"]).is_valid(document):
            found += branch["then"]["required"]
    return found


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_without_a_required_field_breaks_its_schema(label: str, receipts: Gathered) -> None:
    name, (_, document) = EXPECTED[label][0], receipts[label]
    fields = required(documents.schema(name), document)

    broken = {field: wrong_with(name, {key: document[key] for key in document if key != field}) for field in fields}

    assert len(fields) >= 2
    assert [field for field, problems in broken.items() if not problems] == []


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_with_a_field_of_another_type_breaks_its_schema(label: str, receipts: Gathered) -> None:
    name, (_, document) = EXPECTED[label][0], receipts[label]
    schema: dict[str, Any] = documents.schema(name)
    typed = [field for field in schema["properties"] if field in document]

    accepted = [field for field in typed if not wrong_with(name, {**document, field: [{"of": "no type"}, 1]})]

    assert typed
    assert accepted == []


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("list", ("extensions", 0, "enabled")),
        ("install", ("doctor", "verified")),
        ("run", ("provider_version",)),
        ("run, response outside its schema", ("violations", 0, "pointer")),
        ("restore", ("extensions", 0, "status")),
        ("discover", ("index",)),
        ("host doctor", ("checks", 0, "check")),
        ("capability list", ("capabilities", 0, "provider_state", "ready")),
        ("capability list", ("providers", 0, "origin")),
        ("capability show", ("capability", "provider_state")),
        ("init", ("files", 0, "path")),
        ("validate with warnings", ("warnings", 0, "code")),
        ("install, manifest invalid", ("problems", 0, "pointer")),
        ("conformance", ("rules", 0, "status")),
        ("performance-diagnosis", ("routes", 0, "median_ms")),
        ("performance-diagnosis", ("targets_ms", 0, "target")),
        ("export", ("extensions", 0, "digest")),
        ("repair", ("damaged", 0, "code")),
        ("history", ("history", 0, "operation")),
        ("show", ("revisions", 0, "revision")),
    ],
    ids=lambda value: value if isinstance(value, str) else ".".join(map(str, value)),
)
def test_a_field_missing_further_in_breaks_the_schema(
    label: str, path: tuple[str | int, ...], receipts: Gathered
) -> None:
    changed = copy.deepcopy(receipts[label][1])
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]

    assert wrong_with(EXPECTED[label][0], changed) != []


def test_a_real_state_file_follows_its_schema(state: dict[str, Any]) -> None:
    assert wrong_with("state", state) == []


@pytest.mark.parametrize("field", ["id", "enabled", "active_revision", "rollback_revision", "revisions"])
def test_a_state_entry_without_a_field_breaks_the_schema(field: str, state: dict[str, Any]) -> None:
    changed = copy.deepcopy(state)
    del changed["extensions"]["subject"][field]

    assert wrong_with("state", changed) != []


# Kinds of v0 documents whose verb this host does not have yet.
NOT_OURS = {"binding", "invocation", "publish"}
V0 = sorted(path.stem for path in DATA.glob("*.json") if "stdout" in json.loads(path.read_bytes()))


@pytest.mark.parametrize("recording", [name for name in V0 if name not in NOT_OURS])
def test_a_recorded_v0_receipt_follows_the_same_schema(recording: str) -> None:
    document = json.loads((DATA / f"{recording}.json").read_bytes())["stdout"]

    assert wrong_with(NAME_OF[document["schema_version"]], document) == []


def test_a_recorded_v0_state_file_follows_the_same_schema() -> None:
    assert wrong_with("state", json.loads((DATA / "state.json").read_bytes())) == []


@pytest.mark.parametrize("recording", [name for name in V0 if name not in NOT_OURS])
def test_every_v0_field_is_in_the_schema_of_its_document(recording: str) -> None:
    document = json.loads((DATA / f"{recording}.json").read_bytes())["stdout"]

    schema: dict[str, Any] = documents.schema(NAME_OF[document["schema_version"]])

    assert set(document) - set(schema["properties"]) == set()
