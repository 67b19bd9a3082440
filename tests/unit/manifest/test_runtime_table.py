"""`[runtime]`: one target, names that can be run, integers within their bounds, what it requires."""

from __future__ import annotations

import pytest

from tests.support.manifests import Document, found, load_document, minimal, runtime_of, to_toml


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
    assert runtime_of(load_document(minimal(protocol=value)))["protocol"] == value


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

    assert runtime_of(load_document(document))["python_module"] == value


@pytest.mark.parametrize("value", ["-c", "../run", "bin/../../run", "bin/", "..", ".", ""])
def test_an_entry_point_that_is_an_option_or_climbs_is_refused(value: str) -> None:
    assert found(minimal(entrypoint=value)) == {("manifest_bad_value", "runtime.entrypoint")}


@pytest.mark.parametrize("value", ["text-stats", "bin/run", "./run", "/opt/sample/bin/run", "run.py"])
def test_a_command_name_and_both_kinds_of_path_load(value: str) -> None:
    assert runtime_of(load_document(minimal(entrypoint=value)))["entrypoint"] == value


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
        assert runtime_of(load_document(minimal(**{key: value})))[key] == value


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

    assert runtime_of(manifest)["required_permissions"] == ["notes.read"]


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A=B", "é", "A" * 129])
def test_a_name_that_no_environment_variable_has_is_refused(name: str) -> None:
    assert found(minimal(env=["HOME", name])) == {("manifest_bad_value", "runtime.env[1]")}


def test_prerequisites_are_names_with_version_clauses() -> None:
    manifest = load_document(minimal(requires={"node": ">=22.22.3", "git": ">= 2, <3"}))

    assert runtime_of(manifest)["requires"] == {"node": ">=22.22.3", "git": ">= 2, <3"}


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
