"""`loopx extension schema NAME`: every schema is one, and the schema of the manifest agrees with the rules."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from benchmarks.targets import TARGETS
from loopx_host.authoring import documents
from loopx_host.core.errors import Refused
from loopx_host.documents.catalog import MODULES, document
from loopx_host.documents.manifest import BOUNDED_INTEGERS
from loopx_host.registry import manifest_rules, surface_rules
from tests.support.project_files import ROOT

DIALECT = "https://json-schema.org/draft/2020-12/schema"
GOOD = """\
schema_version = "loopx_extension_manifest_v0"
id = "sample"
version = "1.0"
requires_loopx_api = "1"
[runtime]
protocol = "sample_v0"
entrypoint = "sample"
"""


def described(name: str) -> dict[str, Any]:
    """Return a schema, to look into."""
    return documents.schema(name)


def judge(name: str, document: object) -> list[str]:
    return [error.json_path for error in Draft202012Validator(documents.schema(name)).iter_errors(document)]


def manifest(**runtime: object) -> dict[str, Any]:
    made = tomllib.loads(GOOD)
    made["runtime"].update(runtime)
    return made


@pytest.mark.parametrize("name", documents.names())
def test_a_schema_is_a_valid_schema_of_its_dialect(name: str) -> None:
    schema = documents.schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DIALECT


@pytest.mark.parametrize("name", documents.names())
def test_every_required_field_is_described(name: str) -> None:
    schema = described(name)

    assert set(schema.get("required", ())) - set(schema["properties"]) == set()


@pytest.mark.parametrize("name", documents.names())
@pytest.mark.parametrize("document", [{}, [], None, "text", {"ok": True}])
def test_no_schema_accepts_just_anything(name: str, document: object) -> None:
    assert judge(name, document) != []


def test_the_documents_of_the_contract_have_a_schema() -> None:
    assert {"manifest", "integration-profile", "state", "export", "error"} <= set(documents.names())


def test_an_unknown_name_is_refused_with_all_names() -> None:
    with pytest.raises(Refused) as caught:
        documents.schema("manifests")

    assert caught.value.code == "schema_unknown"
    assert caught.value.document["names"] == documents.names()


@pytest.mark.parametrize("name", ["", "../manifest", "Manifest", "manifest\n", "\x1b[31m"])
def test_a_name_that_is_none_is_refused_and_shown_without_control_characters(name: str) -> None:
    with pytest.raises(Refused) as caught:
        documents.schema(name)

    assert re.search(r"[\x00-\x1f\x7f]", str(caught.value.document["error"])) is None


def test_the_manifest_schema_knows_every_key_of_the_rules() -> None:
    keys = described("manifest")["properties"]

    assert sorted(keys) == sorted(manifest_rules.TOP_KEYS)
    assert sorted(keys["runtime"]["properties"]) == sorted(manifest_rules.RUNTIME_KEYS)
    assert sorted(keys["provides"]["items"]["properties"]) == sorted(manifest_rules.PROVIDES_KEYS)
    assert sorted(keys["implements"]["items"]["properties"]) == sorted(manifest_rules.IMPLEMENTS_KEYS)
    assert sorted(keys["presentation_surfaces"]["items"]["properties"]) == sorted(surface_rules.CHECKS)
    assert sorted(keys["documentation"]["properties"]) == sorted(manifest_rules.DOCUMENTATION_KEYS)


MANIFESTS = [
    *sorted(path for path in (ROOT / "tests" / "data").rglob("*.toml") if path.name != "pyproject.toml"),
    ROOT / "examples" / "standalone-extension" / "extension.toml",
]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_manifest_that_is_accepted_follows_the_schema(path: Path) -> None:
    assert judge("manifest", tomllib.loads(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"timeout_seconds": 121}, "$.runtime.timeout_seconds"),
        ({"timeout_seconds": True}, "$.runtime.timeout_seconds"),
        ({"python_module": "sample"}, "$.runtime"),
        ({"protocol": "Sample"}, "$.runtime.protocol"),
        ({"doctor_argz": []}, "$.runtime"),
        ({"args": "serve"}, "$.runtime.args"),
        ({"memory_limit_mb": 1}, "$.runtime.memory_limit_mb"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_editor_sees_what_the_rules_refuse(change: dict[str, object], where: str) -> None:
    assert judge("manifest", manifest(**change)) == [where]


def test_a_key_of_the_author_is_accepted_as_the_rules_accept_it() -> None:
    assert judge("manifest", {**manifest(**{"x-note": 1}), "x-mine": {}}) == []


def test_the_manifest_without_anything_to_use_breaks_the_schema() -> None:
    empty = manifest()
    del empty["runtime"]

    assert judge("manifest", empty) == ["$"]


def test_a_profile_follows_its_schema() -> None:
    profile = ROOT / "tests" / "data" / "revisions" / "profile" / "profiles" / "notes.json"

    assert judge("integration-profile", json.loads(profile.read_bytes())) == []


def rows(page: str, after: str = "") -> list[str]:
    """Return the first cells in backquotes of the tables of a reference page, of one section if `after` is given."""
    text = (ROOT / "docs" / "reference" / page).read_text("utf-8")
    section = text.partition(f"\n## {after}\n")[2].partition("\n## ")[0] if after else text
    return re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)


def test_the_page_of_schemas_lists_every_name_once() -> None:
    assert sorted(rows("schemas.md")) == documents.names()


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("Top level", manifest_rules.TOP_KEYS),
        ("`[runtime]`", manifest_rules.RUNTIME_KEYS),
        ("`[[provides]]`", manifest_rules.PROVIDES_KEYS),
        ("`[[implements]]`", manifest_rules.IMPLEMENTS_KEYS),
        ("`[[presentation_surfaces]]`", surface_rules.CHECKS),
        ("`[documentation]`", manifest_rules.DOCUMENTATION_KEYS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_page_of_the_manifest_has_every_key_of_a_table_once(section: str, keys: tuple[str, ...]) -> None:
    assert sorted(rows("manifest.md", section)) == sorted(keys)


@pytest.mark.parametrize("key", BOUNDED_INTEGERS)
def test_the_page_of_the_manifest_states_the_bounds(key: str) -> None:
    low, high = BOUNDED_INTEGERS[key]
    page = (ROOT / "docs" / "reference" / "manifest.md").read_text("utf-8")

    line = next(line for line in page.splitlines() if line.startswith(f"| `{key}`"))

    assert f"{low} to {high:,}" in line


def test_the_page_of_performance_has_every_row_of_the_benchmark() -> None:
    page = (ROOT / "docs" / "reference" / "performance.md").read_text("utf-8").partition("\n## ")[0]
    table = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]

    stated = {row[0].removeprefix("| "): row[2].strip() for row in table}

    assert list(stated) == list(TARGETS)
    assert [name for name, target in TARGETS.items() if target and not stated[name].startswith(str(target))] == []


@pytest.mark.req("X17")
def test_every_receipt_about_one_provider_names_its_owner() -> None:
    shapes = {name: document(name).schema().get("properties", {}) for name in MODULES}
    about = {name for name, shape in shapes.items() if {"extension_id", "provider"} & set(shape)}
    of_authors = {"conformance", "scaffold"}  # about a package that need not be installed
    receipts = {name for name in about - of_authors if {"executed", "verified", "dry_run"} & set(shapes[name])}

    assert {"operation", "doctor", "run-receipt", "publish-receipt", "invocation"} <= receipts
    assert {name for name in receipts if "owner" not in shapes[name]} == set()
