"""The top of a manifest: what loads with which defaults, its ids, versions, API and permissions."""

from __future__ import annotations

import re

import pytest
import tomli

from tests.support.manifests import (
    Document,
    capability,
    found,
    load_bytes,
    load_document,
    minimal,
    refusal,
    runtime_of,
    without,
)

# --- what loads ------------------------------------------------------------------------------------------


def test_a_minimal_manifest_loads_with_the_defaults() -> None:
    """manifest_minimal (case 1)"""
    manifest = load_document(minimal())

    runtime = manifest.runtime
    assert runtime is not None
    assert (manifest.id, manifest.version, manifest.permissions) == ("sample", "1.0", [])
    assert (runtime.entrypoint, runtime.python_module, runtime.args) == ("sample", None, [])
    assert (runtime.timeout_seconds, runtime.doctor_timeout_seconds) == (30, 30)
    assert manifest.warnings == ()


def test_scalar_strings_are_stripped() -> None:
    manifest = load_document({**minimal(protocol=" sample_v0\t"), "id": " sample ", "version": "\u00a01.0\n"})

    assert (manifest.id, manifest.version) == ("sample", "1.0")
    assert runtime_of(manifest)["protocol"] == "sample_v0"


@pytest.mark.parametrize("key", ["args", "doctor_args"])
def test_arguments_are_kept_verbatim(key: str) -> None:
    verbatim = ["", " a ", "\n", "\x1b[0m", "--x=\ty", "读取"]

    manifest = load_document(minimal(**{key: verbatim}))

    assert runtime_of(manifest)[key] == verbatim


@pytest.mark.parametrize("key", ["args", "doctor_args"])
def test_an_argument_with_a_nul_is_refused(key: str) -> None:
    assert found(minimal(**{key: ["fine", "a\0b"]})) == {("manifest_bad_value", f"runtime.{key}[1]")}


@pytest.mark.parametrize("key", ["args", "doctor_args"])
@pytest.mark.parametrize(("value", "pointer"), [("--all", ""), ([1], "[0]"), ([["a"]], "[0]"), (True, "")])
def test_arguments_are_a_list_of_strings(key: str, value: object, pointer: str) -> None:
    assert found(minimal(**{key: value})) == {("manifest_wrong_type", f"runtime.{key}{pointer}")}


@pytest.mark.parametrize("control", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\x9b", "\n"])
@pytest.mark.parametrize("key", ["title", "user_value", "kind", "entry_command"])
def test_a_control_character_inside_a_string_is_refused(key: str, control: str) -> None:
    document = {**minimal(), "provides": [capability(**{key: f"a{control}b"})]}

    assert found(document) == {("manifest_bad_value", f"provides[0].{key}")}


def test_extensions_with_only_a_capability_load() -> None:
    manifest = load_document({**without(minimal(), "runtime"), "provides": [capability()]})

    assert manifest.runtime is None
    assert [row["id"] for row in manifest.capabilities] == ["notes"]


@pytest.mark.req("B16")
def test_manifests_are_read_by_tomli(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomli, "loads", lambda _text: minimal(timeout_seconds=7))

    manifest = load_bytes(b"not TOML at all")

    assert runtime_of(manifest)["timeout_seconds"] == 7


# --- the top of the manifest -----------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["loopx_extension_manifest_v1", "", "loopx_extension_manifest", 0, True, ["x"]])
def test_another_schema_version_is_refused(value: object) -> None:
    """manifest_wrong_schema (case 2)"""
    assert found({**minimal(), "schema_version": value}) == {("manifest_bad_value", "schema_version")}


@pytest.mark.parametrize("key", ["schema_version", "id", "version", "requires_loopx_api"])
def test_a_missing_top_key_is_refused(key: str) -> None:
    """manifest_version_required (case 4), and its three siblings"""
    assert found(without(minimal(), key)) == {("manifest_missing_key", key)}


@pytest.mark.parametrize(
    "value",
    [
        *("A", "a_b", "a-", "-a", "a--b", "1a", "../x", "a/b", "a.b", "a b", "", "é", "a\u0661", "a\nb", "x" * 49),
        *("loopx", "loopx-core"),
    ],
)
def test_an_id_outside_the_grammar_is_refused(value: str) -> None:
    """manifest_id_grammar (case 3)"""
    assert found({**minimal(), "id": value}) == {("manifest_bad_value", "id")}


@pytest.mark.parametrize("value", ["a", "a1-2", "x" * 48, "text-stats", "loopx-text-stats"])
def test_an_id_inside_the_grammar_loads(value: str) -> None:
    """manifest_id_grammar (case 3)"""
    assert load_document({**minimal(), "id": value}).id == value


@pytest.mark.parametrize("value", ["", "  ", "\t\n", "x" * 65, "1.0\u202e", "1\u200b0", "1\x070"])
def test_a_version_that_is_blank_long_or_not_printable_is_refused(value: str) -> None:
    """manifest_version_required (case 4)"""
    assert found({**minimal(), "version": value}) == {("manifest_bad_value", "version")}


@pytest.mark.parametrize("value", [1, 1.0, True, ["1"], {"x": 1}])
def test_a_version_that_is_no_string_is_refused(value: object) -> None:
    """manifest_version_required (case 4)"""
    assert found({**minimal(), "version": value}) == {("manifest_wrong_type", "version")}


def test_a_version_of_64_printable_characters_loads() -> None:
    assert load_document({**minimal(), "version": "é" * 64}).version == "é" * 64


@pytest.mark.parametrize("expression", ["1", "==1", ">=1,<2", ">= 1 , < 2", ">=0", "<=1", " >=1 ", ">0"])
def test_an_api_expression_that_holds_loads(expression: str) -> None:
    """api_ok (case 6)"""
    assert load_document({**minimal(), "requires_loopx_api": expression}).id == "sample"


@pytest.mark.parametrize(
    "expression", [">=1,", ",", "=1", "~=1", "!=2", "*", ">=1.0", "v1", "-1", ">= 1 2", "> =1", "\u0661", "1;2", ""]
)
def test_a_malformed_api_expression_is_refused(expression: str) -> None:
    """api_malformed (case 7)"""
    assert found({**minimal(), "requires_loopx_api": expression}) == {("manifest_bad_value", "requires_loopx_api")}


@pytest.mark.parametrize("expression", [">=2", "<1", "2", ">1", ">=1,<1", "0"])
def test_an_api_this_host_does_not_speak_is_refused_with_its_own_code(expression: str) -> None:
    """api_unmet (case 8)"""
    refused = refusal({**minimal(), "requires_loopx_api": expression})

    assert refused.code == "api_incompatible"
    assert expression in refused.diagnostic.summary  # what the manifest asks for …
    assert re.search(r"\bAPI 1\b", refused.diagnostic.summary)  # … and what this host speaks


def test_an_unmet_api_beside_another_problem_is_a_row_among_them() -> None:
    document = {**minimal(), "requires_loopx_api": ">=2", "version": ""}

    refused = refusal(document)

    assert refused.code == "manifest_invalid"
    assert found(document) == {("api_incompatible", "requires_loopx_api"), ("manifest_bad_value", "version")}


@pytest.mark.parametrize("token", ["notes.read", "external_write", "net.connect", "fs.read:repo", "a" * 64])
def test_permission_tokens_load(token: str) -> None:
    assert load_document({**minimal(), "permissions": [token]}).permissions == [token]


@pytest.mark.parametrize("token", ["", "Notes", "notes.", ".read", "a b", "fs.read:", "fs:Repo", "a" * 65, "é"])
def test_a_permission_outside_the_grammar_is_refused(token: str) -> None:
    assert found({**minimal(), "permissions": ["ok", token]}) == {("manifest_bad_value", "permissions[1]")}


@pytest.mark.parametrize(("value", "pointer"), [("notes", "permissions"), ([1], "permissions[0]")])
def test_permissions_are_a_list_of_strings(value: object, pointer: str) -> None:
    assert found({**minimal(), "permissions": value}) == {("manifest_wrong_type", pointer)}


@pytest.mark.parametrize("extra", [{}, {"provides": []}, {"implements": []}, {"provides": [], "implements": []}])
def test_a_manifest_that_declares_nothing_is_refused(extra: Document) -> None:
    """manifest_nothing_declared (case 17)"""
    assert found({**without(minimal(), "runtime"), **extra}) == {("manifest_missing_key", "runtime")}
