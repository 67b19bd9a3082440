"""`loopx extension validate`: what an author hears before anyone installs the package."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import tree
from tests.support.project_files import ROOT

STRANGER = ROOT / "tests" / "data" / "v0-package"
EXAMPLE = ROOT / "examples" / "standalone-extension"
REQUEST_SCHEMA = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "minLength": 1}},
}
FULL_OF_PROBLEMS = """\
schema_version = "loopx_extension_manifest_v0"
id = "Not An Id"
requires_loopx_api = "1"
permissions = "none"
[runtime]
protocol = "sample_v0"
entrypoint = "sample"
python_module = "sample"
timeout_second = 5
doctor_timeout_seconds = 0
timeout_seconds = true
[[implements]]
capability_id = "x"
protocol = "other_v0"
"""


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def package(loopx: Loopx) -> Path:
    """A package whose manifest names a request schema, with an example that follows it."""
    folder = loopx.write_extension("sample", request_schema="request.json").parent
    (folder / "request.json").write_text(json.dumps(REQUEST_SCHEMA))
    example(folder, b'{"name": "world"}')
    return folder


def example(folder: Path, data: bytes) -> None:
    (folder / "examples").mkdir(exist_ok=True)
    (folder / "examples" / "request.json").write_bytes(data)


def test_a_good_package_is_told_what_was_checked(loopx: Loopx, package: Path) -> None:
    answer = loopx("extension", "validate", str(package))

    assert answer.status == 0
    assert answer.document["warnings"] == []
    assert answer.document["advice"] == []
    assert answer.document["checked"] == ["manifest", "request.json", str(package / "examples/request.json")]


@pytest.mark.parametrize("how", ["folder", "folder with a slash", "manifest", "link to the manifest", "relative"])
def test_folder_manifest_and_link_are_the_same_package(how: str, loopx: Loopx, package: Path) -> None:
    manifest = package / "extension.toml"
    link = loopx.root / "linked.toml"
    link.symlink_to(manifest)
    paths = {
        "folder": str(package),
        "folder with a slash": f"{package}/",
        "manifest": str(manifest),
        "link to the manifest": str(link),
        "relative": ".",
    }

    answer = loopx("extension", "validate", paths[how], cwd=package)

    assert answer.status == 0, answer
    assert answer.document["extension_id"] == "sample"
    assert "request.json" in answer.document["checked"]


@pytest.mark.parametrize("folder", [EXAMPLE, STRANGER], ids=lambda path: path.name)
def test_packages_of_this_project_are_valid_under_strict(folder: Path, loopx: Loopx) -> None:
    answer = loopx("extension", "validate", str(folder), "--strict")

    assert answer.status == 0, answer
    assert answer.document["warnings"] == []


def test_validating_starts_nothing_and_writes_nothing(loopx: Loopx, package: Path) -> None:
    canary = loopx.root / "started"
    (package / "provider").write_text(f"#!/bin/sh\n: > '{canary}'\n")
    before = tree(package)

    answer = loopx("extension", "validate", str(package))

    assert answer.status == 0
    assert not canary.exists()
    assert tree(package) == before
    assert not loopx.state_file.exists()


def test_every_problem_is_told_at_once_with_pointer_and_line(loopx: Loopx) -> None:
    manifest = loopx.root / "extension.toml"
    manifest.write_text(FULL_OF_PROBLEMS)

    answer = loopx("extension", "validate", str(manifest))

    assert (answer.status, answer.code) == (2, "manifest_invalid")
    rows = {row["pointer"]: row for row in answer.document["problems"]}
    assert {"id", "version", "permissions", "runtime.timeout_second", "runtime.timeout_seconds"} <= set(rows)
    assert {"runtime.doctor_timeout_seconds", "implements[0].protocol"} <= set(rows)
    assert {row["code"] for row in rows.values()} >= {
        "manifest_missing_key",
        "manifest_unknown_key",
        "manifest_wrong_type",
        "manifest_bad_value",
        "manifest_out_of_range",
        "manifest_conflict",
    }
    assert rows["id"]["line"] == 2
    assert rows["runtime.timeout_second"]["nearest"] == "timeout_seconds"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({}, "manifest_file_unreadable"),
        ({"request.json": "{"}, "manifest_file_unreadable"),
        ({"request.json": '{"type": 1}'}, "schema_invalid"),
        ({"request.json": '{"$ref": "https://example.invalid/a.json"}'}, "manifest_bad_value"),
        ({"request.json": '{"$ref": "missing.json"}'}, "manifest_file_unreadable"),
        ({"request.json": '{"pattern": "(a)\\\\1"}'}, "schema_pattern_unsupported"),
        ({"request.json": '{"$schema": "http://json-schema.org/draft-07/schema#"}'}, "schema_invalid"),
    ],
    ids=["missing", "no json", "no schema", "remote", "no sibling", "backtracking", "another dialect"],
)
def test_a_schema_that_cannot_be_used_is_a_problem_of_its_key(files: dict[str, str], code: str, loopx: Loopx) -> None:
    manifest = loopx.write_extension("sample", request_schema="request.json")
    for name, text in files.items():
        (manifest.parent / name).write_text(text)

    answer = loopx("extension", "validate", str(manifest))

    assert (answer.status, answer.code) == (2, "manifest_invalid")
    assert [(row["pointer"], row["code"]) for row in answer.document["problems"]] == [
        ("runtime.request_schema", code)
    ]


def test_an_unknown_key_is_a_warning(loopx: Loopx) -> None:
    manifest = loopx.write_extension("sample", manifest="colour = 1")

    answer = loopx("extension", "validate", str(manifest))

    assert answer.status == 0
    assert [(row["code"], row["pointer"]) for row in answer.document["warnings"]] == [
        ("manifest_unknown_key", "colour")
    ]


def test_strict_refuses_every_warning(loopx: Loopx) -> None:
    manifest = loopx.write_extension("sample", manifest="colour = 1\nflavour = 2")

    answer = loopx("extension", "validate", str(manifest), "--strict")

    assert (answer.status, answer.code) == (2, "manifest_invalid")
    assert [row["pointer"] for row in answer.document["problems"]] == ["colour", "flavour"]


def test_a_key_of_the_author_is_no_warning(loopx: Loopx) -> None:
    manifest = loopx.write_extension("sample", manifest="x-colour = 1")

    assert loopx("extension", "validate", str(manifest), "--strict").status == 0


@pytest.mark.parametrize(
    ("data", "pointers"),
    [
        (b'{"name": 1}', ["/name"]),
        (b'{"name": ""}', ["/name"]),
        (b"{}", [""]),
        (b'{"name": "a", "b": 1}', [""]),
    ],
    ids=["type", "length", "missing", "more"],
)
def test_an_example_outside_the_schema_is_refused_with_rows(
    data: bytes, pointers: list[str], loopx: Loopx, package: Path
) -> None:
    example(package, data)

    answer = loopx("extension", "validate", str(package))

    assert (answer.status, answer.code) == (2, "example_invalid")
    assert [row["pointer"] for row in answer.document["violations"]] == pointers


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{", b'{"name": "a", "name": "b"}', b"\xff\xfe", b'{"name": NaN}', b'{"name": "\\ud800"}'],
    ids=["empty", "array", "half", "twice", "no text", "no number", "surrogate"],
)
def test_an_example_that_is_no_request_is_refused(data: bytes, loopx: Loopx, package: Path) -> None:
    example(package, data)

    answer = loopx("extension", "validate", str(package))

    assert (answer.status, answer.code) == (2, "example_invalid")


def test_an_example_larger_than_a_request_may_be_is_refused(loopx: Loopx, package: Path) -> None:
    example(package, b'{"name": "' + b"x" * 1_000_000 + b'"}')

    answer = loopx("extension", "validate", str(package))

    assert answer.status == 2
    assert answer.code in ("example_invalid", "request_too_large")


def test_an_example_that_is_a_fifo_does_not_hang(loopx: Loopx, package: Path) -> None:
    (package / "examples/request.json").unlink()
    os.mkfifo(package / "examples/request.json")

    answer = loopx("extension", "validate", str(package))

    assert answer.status == 0
    assert len(answer.document["advice"]) == 1


def test_the_example_lies_above_a_manifest_inside_the_package(loopx: Loopx) -> None:
    project = loopx.root / "project"
    inside = project / "src" / "sample"
    inside.mkdir(parents=True)
    manifest = loopx.write_extension("sample")
    (inside / "extension.toml").write_bytes(manifest.read_bytes())
    example(project, b"[]")

    answer = loopx("extension", "validate", str(inside))

    assert answer.code == "example_invalid"


def test_a_package_without_a_doctor_is_valid_and_warned_that_install_refuses_it(loopx: Loopx) -> None:
    manifest = loopx.write_extension("sample", doctor_args=None)
    example(manifest.parent, b"{}")

    answer = loopx("extension", "validate", str(manifest))

    assert answer.status == 0
    assert len(answer.document["advice"]) == 1
    assert loopx.install(manifest).code == "doctor_not_configured"


@pytest.mark.parametrize("kind", ["nothing", "empty folder", "dangling link", "fifo", "device"])
def test_a_path_without_a_manifest_is_refused_at_once(kind: str, loopx: Loopx) -> None:
    place = loopx.root / "place"
    match kind:
        case "empty folder":
            place.mkdir()
        case "dangling link":
            place.symlink_to("nowhere")
        case "fifo":
            os.mkfifo(place)
        case "device":
            place = Path("/dev/zero")
        case _:
            pass

    answer = loopx("extension", "validate", str(place))

    assert (answer.status, answer.code) == (2, "manifest_unreadable")


def test_what_is_valid_installs(loopx: Loopx, package: Path) -> None:
    revision = loopx("extension", "validate", str(package)).document["revision"]

    installed = loopx.install(package / "extension.toml")

    assert installed.status == 0
    assert installed.document["revision"] == revision
