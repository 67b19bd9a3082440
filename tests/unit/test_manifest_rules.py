"""Every rule of the manifest: what loads, what is refused, and where the report points."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tomli

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.codes import CODES, PROBLEM_CODES
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.admission import refuse_capability_clash
from loopx_host.lifecycle.extensions.state import State
from loopx_host.registry.manifest import Manifest
from loopx_host.registry.report import ROWS
from loopx_host.registry.toml_source import Lines
from tests.support.manifests import (
    Document,
    capability,
    documentation,
    found,
    load_bytes,
    load_document,
    load_text,
    minimal,
    problems,
    refusal,
    to_toml,
    without,
)

MINIMAL = to_toml(minimal())


def surface(**keys: object) -> Document:
    return {
        "id": "board",
        "kind": "note_board",
        "title": "Notes",
        "view_schema": "note_board_v0",
        "view_validator": "sample.views:check",
        "visibility": "public-safe",
        "empty_state_title": "No notes yet",
        "empty_state_detail": "Publish some.",
        **keys,
    }


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
    assert manifest.form["runtime"]["protocol"] == "sample_v0"


@pytest.mark.parametrize("key", ["args", "doctor_args"])
def test_arguments_are_kept_verbatim(key: str) -> None:
    verbatim = ["", " a ", "\n", "\x1b[0m", "--x=\ty", "读取"]

    manifest = load_document(minimal(**{key: verbatim}))

    assert manifest.form["runtime"][key] == verbatim


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

    assert manifest.form["runtime"]["timeout_seconds"] == 7


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


# --- [runtime] -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [{}, {"entrypoint": "sample", "python_module": "sample"}])
def test_a_runtime_has_exactly_one_target(target: Document) -> None:
    """runtime_exactly_one_target (case 10)"""
    document = {**minimal(), "runtime": {"protocol": "sample_v0", **target}}

    assert found(document) == {("manifest_conflict", "runtime.entrypoint")}


@pytest.mark.parametrize(
    "value", ["p", "P_v0", "p-v0", "p_v", "p_v0x", "1p_v0", "_v0", "p_v\u0660", "", "a" * 65 + "_v0"]
)
def test_a_protocol_outside_the_grammar_is_refused(value: str) -> None:
    """runtime_protocol_grammar (case 11)"""
    assert found(minimal(protocol=value)) == {("manifest_bad_value", "runtime.protocol")}


@pytest.mark.parametrize("value", ["p_v0", "a" * 64 + "_v0", "a1_b_v12", "sample_v0_v1"])
def test_a_protocol_inside_the_grammar_loads(value: str) -> None:
    """runtime_protocol_grammar (case 11)"""
    assert load_document(minimal(protocol=value)).form["runtime"]["protocol"] == value


@pytest.mark.parametrize(
    "value", ["a-b", ".a", "a.", "a..b", "a.b:c", "", "a b", "é", "a.1b", "a/b", "class", "a.import", "None.x"]
)
def test_a_module_name_that_cannot_be_imported_is_refused(value: str) -> None:
    """runtime_module_grammar (case 12)"""
    document = minimal()
    document["runtime"] = {"protocol": "sample_v0", "python_module": value}

    assert found(document) == {("manifest_bad_value", "runtime.python_module")}


@pytest.mark.parametrize("value", ["a", "a.b_2", "_a.B", "match.case"])
def test_a_dotted_module_name_loads(value: str) -> None:
    document = minimal()
    document["runtime"] = {"protocol": "sample_v0", "python_module": value}

    assert load_document(document).form["runtime"]["python_module"] == value


@pytest.mark.parametrize("value", ["-c", "../run", "bin/../../run", "bin/", "..", ".", ""])
def test_an_entry_point_that_is_an_option_or_climbs_is_refused(value: str) -> None:
    assert found(minimal(entrypoint=value)) == {("manifest_bad_value", "runtime.entrypoint")}


@pytest.mark.parametrize("value", ["text-stats", "bin/run", "./run", "/opt/sample/bin/run", "run.py"])
def test_a_command_name_and_both_kinds_of_path_load(value: str) -> None:
    assert load_document(minimal(entrypoint=value)).form["runtime"]["entrypoint"] == value


BOUNDS = {
    "timeout_seconds": (1, 120),
    "doctor_timeout_seconds": (1, 120),
    "memory_limit_mb": (16, 1_048_576),
    "open_files_limit": (16, 65_536),
}


@pytest.mark.parametrize("key", BOUNDS)
def test_the_bounds_of_an_integer_are_inclusive(key: str) -> None:
    """runtime_timeout_bounds (case 13)"""
    for value in BOUNDS[key]:
        assert load_document(minimal(**{key: value})).form["runtime"][key] == value


@pytest.mark.parametrize("key", BOUNDS)
def test_an_integer_beyond_its_bounds_is_refused(key: str) -> None:
    """runtime_timeout_bounds (case 13): 0, -1, 121"""
    low, high = BOUNDS[key]

    for value in (low - 1, -1, high + 1, 10**30):
        assert found(minimal(**{key: value})) == {("manifest_out_of_range", f"runtime.{key}")}


@pytest.mark.parametrize("key", BOUNDS)
@pytest.mark.parametrize("value", [30.0, "30", True, False, [30], float("inf")])
def test_only_an_integer_is_an_integer(key: str, value: object) -> None:
    """runtime_timeout_bounds (case 13), runtime_timeout_bool (case 14)"""
    text = to_toml(minimal(**{key: value})).replace("Infinity", "inf")

    assert found(text) == {("manifest_wrong_type", f"runtime.{key}")}


def test_the_doctor_takes_the_time_out_of_the_run_unless_it_has_its_own() -> None:
    inherited = load_document(minimal(timeout_seconds=7)).runtime
    own = load_document(minimal(timeout_seconds=7, doctor_timeout_seconds=3)).runtime

    assert inherited is not None
    assert own is not None
    assert (inherited.doctor_timeout_seconds, own.doctor_timeout_seconds) == (7, 3)


def test_a_required_permission_that_is_not_declared_is_refused() -> None:
    """runtime_permission_subset (case 16)"""
    document = {**minimal(required_permissions=["notes.read", "notes.write"]), "permissions": ["notes.read"]}

    assert found(document) == {("manifest_conflict", "runtime.required_permissions")}


def test_required_permissions_that_are_declared_load() -> None:
    """runtime_permission_subset (case 16)"""
    document = {**minimal(required_permissions=["notes.read"]), "permissions": ["notes.write", " notes.read "]}

    manifest = load_document(document)

    assert manifest.form["runtime"]["required_permissions"] == ["notes.read"]


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A=B", "é", "A" * 129])
def test_a_name_that_no_environment_variable_has_is_refused(name: str) -> None:
    assert found(minimal(env=["HOME", name])) == {("manifest_bad_value", "runtime.env[1]")}


def test_prerequisites_are_names_with_version_clauses() -> None:
    manifest = load_document(minimal(requires={"node": ">=22.22.3", "git": ">= 2, <3"}))

    assert manifest.form["runtime"]["requires"] == {"node": ">=22.22.3", "git": ">= 2, <3"}


@pytest.mark.parametrize(
    ("requires", "row"),
    [
        ({"node": "latest"}, ("manifest_bad_value", "runtime.requires.node")),
        ({"node": 22}, ("manifest_wrong_type", "runtime.requires.node")),
        ({"Node": ">=22"}, ("manifest_bad_value", "runtime.requires.Node")),
        ("node", ("manifest_wrong_type", "runtime.requires")),
    ],
)
def test_a_malformed_prerequisite_is_refused(requires: object, row: tuple[str, str]) -> None:
    assert found(minimal(requires=requires)) == {row}


@pytest.mark.parametrize("key", ["runtime", "documentation"])
@pytest.mark.parametrize("value", ["x", 1, [], ["x"]])
def test_a_table_that_is_no_table_is_refused(key: str, value: object) -> None:
    assert ("manifest_wrong_type", key) in found({**minimal(), key: value})


@pytest.mark.parametrize("key", ["provides", "implements", "presentation_surfaces"])
def test_an_array_of_tables_that_is_none_is_refused(key: str) -> None:
    assert found({**minimal(), key: "x"}) == {("manifest_wrong_type", key)}
    assert found({**minimal(), key: [1]}) == {("manifest_wrong_type", f"{key}[0]")}


# --- capabilities ----------------------------------------------------------------------------------------


def test_an_implementation_speaks_the_protocol_of_the_runtime() -> None:
    """implements_protocol_match (case 22)"""
    differs = {**minimal(), "implements": [{"capability_id": "other", "protocol": "sample_v1"}]}
    same = {**minimal(), "implements": [{"capability_id": "other", "protocol": "sample_v0"}]}

    assert found(differs) == {("manifest_conflict", "implements[0].protocol")}
    assert load_document(same).implementations[0]["capability_id"] == "other"


def test_an_implementation_without_a_runtime_is_refused() -> None:
    """implements_protocol_match (case 22)"""
    document = {
        **without(minimal(), "runtime"),
        "implements": [{"capability_id": "other", "protocol": "sample_v0"}],
    }

    assert found(document) == {("manifest_conflict", "implements[0].protocol")}


@pytest.mark.parametrize("key", ["capability_id", "protocol"])
def test_an_incomplete_implementation_is_refused(key: str) -> None:
    row = without({"capability_id": "other", "protocol": "sample_v0"}, key)

    assert found({**minimal(), "implements": [row]}) == {("manifest_missing_key", f"implements[0].{key}")}


@pytest.mark.parametrize("key", capability())
def test_an_incomplete_public_capability_is_refused(key: str) -> None:
    """provides_incomplete_public (case 23)"""
    document = {**minimal(), "provides": [without(capability(), key)]}

    assert found(document) == {("manifest_incomplete", f"provides[0].{key}")}


@pytest.mark.parametrize("visibility", ["internal", " internal "])
def test_an_internal_capability_needs_no_anchor_and_no_command(visibility: str) -> None:
    row = without(capability(visibility=visibility), "real_world_anchor", "entry_command")

    manifest = load_document({**minimal(), "provides": [row]})

    assert manifest.capabilities[0]["visibility"] == "internal"


def test_an_unknown_visibility_is_refused() -> None:
    document = {**minimal(), "provides": [capability(visibility="secret")]}

    assert found(document) == {("manifest_bad_value", "provides[0].visibility")}


def test_the_same_capability_twice_in_one_manifest_is_refused() -> None:
    """provides_duplicate (case 24), itself"""
    document = {**minimal(), "provides": [capability(), capability(id="other"), capability(id=" notes ")]}

    assert found(document) == {("manifest_duplicate", "provides")}


def installed(manifest: Manifest) -> dict[str, Any]:
    revision = {"revision": canonical_digest(manifest.form)[:16], "version": "1.0", "manifest": manifest.form}
    return {
        "id": manifest.id,
        "enabled": True,
        "active_revision": revision["revision"],
        "rollback_revision": None,
        "revisions": [revision],
    }


def state_of(*manifests: Manifest) -> State:
    extensions = {manifest.id: installed(manifest) for manifest in manifests}
    return State({"schema_version": "loopx_extension_state_v0", "extensions": extensions})


PROVIDER = load_document({**minimal(), "id": "first", "provides": [capability()]})
SECOND = load_document({**minimal(), "id": "second", "provides": [capability()]})
IMPLEMENTER = load_document({**minimal(), "implements": [{"capability_id": "notes", "protocol": "sample_v0"}]})


def test_a_capability_of_another_extension_is_refused() -> None:
    """provides_duplicate (case 24), other extension"""
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(SECOND, state_of(PROVIDER), frozenset())

    assert (caught.value.code, caught.value.diagnostic.subject) == ("capability_duplicate", "notes")


def test_a_capability_of_the_core_is_refused() -> None:
    """provides_duplicate (case 24), builtin"""
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(SECOND, state_of(), frozenset({"notes"}))

    assert caught.value.code == "capability_duplicate"


def test_the_own_earlier_revision_is_no_other_owner() -> None:
    refuse_capability_clash(PROVIDER, state_of(PROVIDER), frozenset({"something-else"}))


def test_an_implementation_of_a_capability_nobody_declares_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(IMPLEMENTER, state_of(), frozenset())

    assert (caught.value.code, caught.value.diagnostic.subject) == ("capability_unknown", "notes")


@pytest.mark.parametrize(("others", "core"), [((PROVIDER,), frozenset()), ((), frozenset({"notes"}))])
def test_an_implementation_of_a_declared_capability_is_admitted(
    others: tuple[Manifest, ...], core: frozenset[str]
) -> None:
    refuse_capability_clash(IMPLEMENTER, state_of(*others), core)


# --- [documentation] and [[presentation_surfaces]] -------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("source_root", "site_root") for value in ("/docs", "../docs", "a/../..", "a\\b")),
        *(("canonical", value) for value in ("/a.md", "../a.md", "a.txt", "a", "c:/a.md", "a//b.md", "")),
    ],
)
def test_a_documentation_path_that_leads_away_is_refused(key: str, value: str) -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(**{key: value})}

    assert found(document) == {("manifest_bad_value", f"documentation.{key}")}


@pytest.mark.parametrize("alias", ["/a.md", "../a.md", "a.txt"])
def test_an_alias_that_leads_away_is_refused(alias: str) -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(aliases=["ok.md", alias])}

    assert found(document) == {("manifest_bad_value", "documentation.aliases[1]")}


def test_a_duplicate_alias_is_refused() -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(aliases=["a.md", "b.md", " a.md "])}

    assert found(document) == {("manifest_duplicate", "documentation.aliases")}


@pytest.mark.parametrize("key", ["source_root", "site_root", "canonical"])
def test_incomplete_documentation_is_refused(key: str) -> None:
    document = {**minimal(), "documentation": without(documentation(), key)}

    assert found(document) == {("manifest_missing_key", f"documentation.{key}")}


def test_documentation_without_aliases_has_none() -> None:
    manifest = load_document({**minimal(), "documentation": without(documentation(), "aliases")})

    assert manifest.form["documentation"]["aliases"] == []


@pytest.mark.parametrize("key", surface())
def test_an_incomplete_surface_is_refused(key: str) -> None:
    document = {**minimal(), "presentation_surfaces": [without(surface(), key)]}

    assert found(document) == {("manifest_missing_key", f"presentation_surfaces[0].{key}")}


# --- encodings and syntax --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + MINIMAL.encode(),
        MINIMAL.encode("utf-16"),
        MINIMAL.encode("utf-16-be").join([b"\xfe\xff", b""]),
        MINIMAL.encode() + b"# \xff\n",
        MINIMAL.encode() + b"# \xed\xa0\x80\n",
    ],
    ids=["bom", "utf-16-le", "utf-16-be", "byte", "surrogate"],
)
def test_a_manifest_that_is_not_plain_utf_8_is_refused(data: bytes) -> None:
    """manifest_bom_dup_utf8 (case 19)"""
    assert refusal(data).code == "manifest_encoding"


@pytest.mark.parametrize(
    "text",
    [
        'id = "twice"\n' + MINIMAL,
        MINIMAL + "\n[runtime]\n",
        MINIMAL + 'protocol = "sample_v0"\n',
        MINIMAL + 'requires = {node = ">=1", node = ">=2"}\n',
        MINIMAL + "x-a = 1\nx-a.b = 2\n",
        MINIMAL + "[x-a.b]\n[x-a]\nb.c = 1\n",
    ],
)
def test_a_duplicate_key_is_refused_by_that_name(text: str) -> None:
    """manifest_bom_dup_utf8 (case 19); the words are promised"""
    refused = refusal(text)

    assert refused.code == "manifest_syntax"
    assert "duplicate key" in refused.diagnostic.summary


@pytest.mark.parametrize(
    "tail", ["[runtime", "x = ", "x = 1979-99-99", "x = " + "9" * 5000, 'x = "\\ud800"', "x = \0", "x = 'a\nb'", "="]
)
def test_text_that_is_not_toml_is_refused(tail: str) -> None:
    assert refusal(MINIMAL + tail).code == "manifest_syntax"


@pytest.mark.parametrize(
    "tail",
    [
        "x-a = " + "[" * 5000 + "]" * 5000,
        "x-a = " + "{a = " * 5000 + "1" + "}" * 5000,
        "x-a = " + "[" * 250_000,
        "x-a." + "a." * 5000 + "a = 1",
        "[x-a." + "a." * 5000 + "a]",
        "x-a = " + "[" * 64 + "]" * 64,
    ],
    ids=["arrays", "inline-tables", "open", "dotted", "header", "one-too-many"],
)
def test_deep_nesting_is_refused(tail: str) -> None:
    """manifest_deep_nesting (case 21)"""
    text = f"{tail}\n{MINIMAL}" if tail.startswith("x") else f"{MINIMAL}\n{tail}\n"

    assert refusal(text).code == "manifest_too_deep"


def test_64_levels_load() -> None:
    manifest = load_text("x-a = " + "[" * 63 + "]" * 63 + "\n" + MINIMAL)

    assert manifest.id == "sample"


# --- keys nobody knows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "pointer", "nearest"),
    [
        ({**minimal(), "permission": ["notes.read"]}, "permission", "permissions"),
        ({**minimal(), "Permissions": ["notes.read"]}, "Permissions", "permissions"),
        ({**minimal(), "provide": []}, "provide", "provides"),
        (minimal(enviroment=["A"]), "runtime.enviroment", "env"),
        (minimal(timeout_second=5), "runtime.timeout_second", "timeout_seconds"),
        (minimal(required_permission=[]), "runtime.required_permission", "required_permissions"),
        (minimal(colour="red"), "runtime.colour", None),
        ({**minimal(), "provides": [capability(tittle="x")]}, "provides[0].tittle", "title"),
        ({**minimal(), "documentation": documentation(alias=[])}, "documentation.alias", "aliases"),
        ({**minimal(), "presentation_surfaces": [surface(colour="red")]}, "presentation_surfaces[0].colour", None),
    ],
)
def test_a_key_that_is_close_or_in_a_closed_table_is_refused(
    document: Document, pointer: str, nearest: str | None
) -> None:
    """manifest_unknown_key (case 18); where a valid key is close, the row names it"""
    (row,) = problems(document)

    assert (row["code"], row["pointer"]) == ("manifest_unknown_key", pointer)
    assert nearest is None or row["nearest"] == nearest


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({**minimal(), "homepage": "x"}, "homepage"),
        ({**minimal(), "provides": [capability(colour="red")]}, "provides[0].colour"),
        ({**minimal(), "documentation": documentation(colour="red")}, "documentation.colour"),
        ({**minimal(), "tool": {"other": {"permissions": []}}}, "tool"),
    ],
)
def test_any_other_unknown_key_is_a_warning(document: Document, pointer: str) -> None:
    """manifest_unknown_key (case 18)"""
    (warning,) = load_document(document).warnings

    assert (warning.code, warning.pointer) == ("manifest_unknown_key", pointer)


def test_keys_that_start_with_x_are_the_authors_own() -> None:
    document = {
        **minimal(**{"x-timeout_seconds": 5}),
        "x-permissions": [1],
        "provides": [capability(**{"x-title": "y"})],
    }

    assert load_document(document).warnings == ()


# --- the report ------------------------------------------------------------------------------------------

MANY = '''\
schema_version = "loopx_extension_manifest_v0"
id = "Sample"
requires_loopx_api = "1"
permission = []
x-note = """
[runtime]
version = "in a string"
"""
homepage = "x"

[runtime]  # """ in a comment
protocol = "sample_v0"
args = [
  "timeout_seconds = 1",
  7,
  ["[provides]"],
]
timeout_seconds = 0
"doctor_timeout_seconds" = true
enviroment = []
requires.node = "new"
'required_permissions' = 1

[[provides]]
id = "one"

[[provides]]
id = "two"
title = """
visibility = 3
"""
visibility = "secret"
'''


def test_every_problem_is_listed_with_pointer_line_and_nearest_key() -> None:
    missing = [
        "kind", "title", "status", "user_value", "next_real_step", "visibility", "real_world_anchor", "entry_command",
    ]  # fmt: skip

    rows = {(row["pointer"], row["code"]): row for row in problems(MANY)}

    assert {name: row["line"] for name, row in rows.items()} == {
        ("id", "manifest_bad_value"): 2,
        ("permission", "manifest_unknown_key"): 4,
        ("version", "manifest_missing_key"): None,
        ("runtime.args[1]", "manifest_wrong_type"): 13,
        ("runtime.args[2]", "manifest_wrong_type"): 13,
        ("runtime.timeout_seconds", "manifest_out_of_range"): 18,
        ("runtime.doctor_timeout_seconds", "manifest_wrong_type"): 19,
        ("runtime.enviroment", "manifest_unknown_key"): 20,
        ("runtime.requires.node", "manifest_bad_value"): 21,
        ("runtime.required_permissions", "manifest_wrong_type"): 22,
        ("runtime.entrypoint", "manifest_conflict"): None,
        **{(f"provides[0].{key}", "manifest_incomplete"): None for key in missing},
        **{
            (f"provides[1].{key}", "manifest_incomplete"): None
            for key in missing
            if key not in {"title", "visibility"}
        },
        ("provides[1].visibility", "manifest_bad_value"): 32,
    }
    assert rows["permission", "manifest_unknown_key"]["nearest"] == "permissions"


def test_the_codes_of_a_report_are_documented_ones() -> None:
    refused = refusal(MANY)

    assert refused.code in CODES
    assert {row["code"] for row in problems(MANY)} <= set(PROBLEM_CODES)


def test_a_warning_has_its_line_too() -> None:
    (warning,) = load_text("\n\nhomepage = 1\n" + MINIMAL).warnings

    assert (warning.pointer, warning.line) == ("homepage", 3)


def test_line_ends_of_windows_count_as_one() -> None:
    text = MINIMAL.replace("\n", "\r\n") + "timeout_seconds = 0\r\n"

    (row,) = problems(text)

    assert row["line"] == text.count("\r\n")


@pytest.mark.parametrize(
    ("text", "pointer", "line"),
    [
        ("a = 1\n", "a", 1),
        ("\n# a = 1\n  a = 1\n", "a", 3),
        ("[t]\na = 1\n[u]\na = 1\n", "u.a", 4),
        ("[t]\nb = 1\n", "t", 1),
        ("[t.u]\nb = 1\n", "t", 1),
        ("[t.u]\n[t]\n", "t", 2),
        ("[ t . 'u' ]\na = 1\n", "t.u.a", 2),
        ("t.u.a = 1\n", "t.u.a", 1),
        ("[[p]]\n[[p]]\na = 1\n[[p]]\na = 1\n", "p[1].a", 3),
        ("[[p]]\n[[p]]\na = 1\n[[p]]\na = 1\n", "p[2].a", 5),
        ("[[p]]\n[[p]]\n", "p[1]", 2),
        ("[[p]]\n[[p]]\n", "p", 1),
        ("[[p]]\n[[p]]\n[p.t]\na = 1\n", "p[1].t.a", 4),
        ("[[p]]\n[[p]]\n[[p.q]]\na = 1\n", "p[1].q[0].a", 4),
        ("a = [\n1,\n2]\nb = 1\n", "a[1]", 1),
        ("a = [\n['x'],\n['y']\n]\nb = 1\n", "b", 5),
        ("a = [[\n'b = 1'\n]]\nb = 1\n", "b", 4),
        ('a = """\nb = 1\n"""\nb = 1\n', "b", 4),
        ('a = """x\\""""\nb = 1\n', "b", 2),
        ('a = """x"""""\nb = 1\n', "b", 2),
        ("a = '''\n\"\"\"\nb = 1'''\nb = 1\n", "b", 4),
        ('a = \'"""\'\nb = 1\n', "b", 2),
        ("# '''\nb = 1\n", "b", 2),
        ('a = 1 # """ \' [\nb = 1\n', "b", 2),
        ('"a b" = 1\n', '"a b"', 1),
        ('"t.a" = 1\n[t]\na = 1\n', "t.a", 3),
        ('"t.a" = 1\n[t]\na = 1\n', '"t.a"', 1),
        ('"\\u0061" = 1\n', "a", 1),
        ("t = {\n a = 1,\n}\na = 1\n", "a", 4),
        ("t = {a = 1}\n", "t.a", None),
        ("a = 1\n", "b", None),
        ("", "a", None),
    ],
)
def test_a_pointer_has_the_line_of_its_key(text: str, pointer: str, line: int | None) -> None:
    tomli.loads(text)  # the reading is promised for valid documents

    assert Lines(text).of(pointer) == line


def test_a_quoted_key_with_a_dot_is_not_taken_for_a_key_of_a_table() -> None:
    (row,) = problems('"runtime.protocol" = 1\n' + MINIMAL.replace('"sample_v0"', '"P"'))

    assert (row["pointer"], row["line"]) == ("runtime.protocol", 8)


def test_a_report_on_a_hostile_manifest_is_made_in_one_pass() -> None:
    """256 KiB of unknown keys, duplicates and undeclared tokens; quadratic work would meet the time-out."""
    aliases = ",".join(['"a.md"'] * 12_000)
    tokens = ",".join(f'"t{number}"' for number in range(8_000))
    unknown = "".join(f"k{number} = 1\n" for number in range(4_000))
    text = f"{unknown}permissions = [{tokens}]\n{MINIMAL}required_permissions = [{tokens.replace('t', 'u')}]\n"
    text += f'[documentation]\nsource_root = "a"\nsite_root = "b"\ncanonical = "c.md"\naliases = [{aliases}]\n'
    assert len(text) <= 256 * 1024

    refused = refusal(text)

    assert len(refused.document["problems"]) == ROWS  # type: ignore[arg-type]
    assert refused.document["problems_left_out"] >= 8_001 - ROWS  # type: ignore[operator]
