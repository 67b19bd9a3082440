"""What `init` would write, as text; and which names and versions cannot work."""

from __future__ import annotations

import ast
import json
import keyword
import re
import sys
import tomllib

import pytest
from jsonschema import Draft202012Validator

from loopx_host.authoring import names, scaffold
from loopx_host.authoring.init import DEFAULT_VERSION, InitRequest, init
from loopx_host.authoring.package_names import PackageNames
from loopx_host.cli.commands.extension.init import VERSION
from loopx_host.core.errors import Refused
from loopx_host.registry import grammar
from tests.support.project_files import ROOT

LONGEST = "a" + "-b" * 23 + "c"  # 48 characters
IDS = ["a", "acme-word-count", "x1-2-3", LONGEST]
RECORDED = json.loads((ROOT / "tests/data/v0/scaffold.json").read_bytes())["stdout"]


class Nowhere:
    """A destination that holds nothing and takes what is written (see `authoring.ports`)."""

    def __init__(self, shown: str = "./sample", flags: tuple[str, ...] = ()) -> None:
        self.shown = self.place = shown
        self.flags = flags
        self.written: dict[str, str] | None = None

    def refuse_existing(self) -> None:
        return

    def write(self, files: dict[str, str]) -> None:
        self.written = files


class Taken:
    """A machine on which only Python holds names (see `authoring.ports`)."""

    def module(self, name: str, of: PackageNames) -> str | None:  # noqa: ARG002 (the port's)
        return "the standard library" if name in sys.stdlib_module_names else None

    def distribution(self, name: str, of: PackageNames) -> str | None:  # noqa: ARG002 (the port's)
        return None

    def command(self, name: str, of: PackageNames) -> str | None:  # noqa: ARG002 (the port's)
        return None


class Places:
    """Every destination is the one place."""

    def __init__(self, place: Nowhere) -> None:
        self.place = place
        self.new_trees = self
        self.taken_names = Taken()

    def at(self, _destination: str | None, _name: str) -> Nowhere:
        return self.place


def made(extension_id: str = "sample", version: str = "0.1.0") -> dict[str, str]:
    return scaffold.files(extension_id, extension_id.replace("-", "_"), version)


def do(
    extension_id: str = "sample", version: str = "0.1.0", *, shown: str = "./sample", execute: bool = False
) -> object:
    return init(InitRequest(extension_id, version=version, execute=execute), Places(Nowhere(shown)))


def receipt(**settings: object) -> dict[str, object]:
    answered = do(**settings)  # type: ignore[arg-type]
    assert isinstance(answered, dict)
    return answered


def refusal(extension_id: str = "sample", version: str = "0.1.0") -> Refused:
    with pytest.raises(Refused) as caught:
        do(extension_id, version)
    return caught.value


def test_the_longest_id_has_48_characters() -> None:
    assert len(LONGEST) == grammar.ID_LENGTH == 48


@pytest.mark.parametrize("extension_id", IDS)
def test_manifest_and_project_name_the_same_extension(extension_id: str) -> None:
    files, module = made(extension_id, "2.1"), extension_id.replace("-", "_")

    manifest = tomllib.loads(files[f"src/{module}/extension.toml"])
    project = tomllib.loads(files["pyproject.toml"])["project"]

    assert (manifest["id"], manifest["version"]) == (extension_id, "2.1")
    assert (project["name"], project["version"]) == (extension_id, "2.1")
    assert project["entry-points"]["loopx.extensions"] == {extension_id: module}
    assert project["scripts"] == {manifest["runtime"]["entrypoint"]: f"{module}.cli:main"}
    assert project["dependencies"] == []


def test_its_tests_are_configured_by_its_own_project_wherever_it_lies() -> None:
    """Inside another checkout pytest would otherwise take that one's settings."""
    assert "ini_options" in tomllib.loads(made()["pyproject.toml"])["tool"]["pytest"]


@pytest.mark.parametrize("extension_id", IDS)
def test_the_protocol_is_one_the_grammar_admits(extension_id: str) -> None:
    manifest = tomllib.loads(made(extension_id)[f"src/{extension_id.replace('-', '_')}/extension.toml"])

    assert grammar.protocol(manifest["runtime"]["protocol"]) is None


@pytest.mark.parametrize("extension_id", IDS)
def test_every_python_file_can_be_parsed(extension_id: str) -> None:
    sources = {path: text for path, text in made(extension_id).items() if path.endswith(".py")}

    for text in sources.values():
        ast.parse(text)
    assert len(sources) == 3


def test_the_example_follows_the_schema_it_is_written_with() -> None:
    files = made()
    schema = json.loads(files["src/sample/schemas/request.schema.json"])

    Draft202012Validator(schema).validate(json.loads(files["examples/request.json"]))


@pytest.mark.parametrize("name", ["request", "response"])
def test_a_schema_is_closed_and_valid(name: str) -> None:
    schema = json.loads(made()[f"src/sample/schemas/{name}.schema.json"])

    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False


def test_the_manifest_at_the_root_is_a_relative_link_into_the_package() -> None:
    content = made()["extension.toml"]

    assert content == f"{scaffold.LINK}src/sample/extension.toml"


def test_the_first_line_tells_an_editor_where_the_schema_is() -> None:
    assert made()["src/sample/extension.toml"].startswith("#:schema ")


def test_state_files_are_kept_out_of_version_control() -> None:
    assert {"state.json", "state.json.*"} <= set(made()[".gitignore"].splitlines())


def test_no_file_leaves_a_gap_unfilled() -> None:
    assert [path for path, text in made().items() if re.search(r"%\(\w+\)s", text)] == []


@pytest.mark.parametrize(
    "extension_id",
    [
        *(word for word in keyword.kwlist if word.islower()),
        *keyword.softkwlist[1:],
        "json",
        "email",
        "abc",
        "test",
        "tests",
        "loopx",
        "loopx-host",
        "loopx-core",
        "loopx-pytest",
        "Upper",
        "1st",
        "under_score",
        "a--b",
        "-a",
        "a-",
        "",
        "a b",
        "../a",
        "ä",
        "a" * 49,
        "python",
        "python3",
        "pip",
        "jsonschema",
        "pytest",
    ],
)
def test_a_name_that_cannot_work_is_refused(extension_id: str) -> None:
    assert refusal(extension_id).code == "name_unusable"


def test_every_module_of_the_standard_library_is_refused() -> None:
    possible = [name for name in sys.stdlib_module_names if grammar.extension_id(name.replace("_", "-")) is None]

    assert len(possible) > 100
    assert {refusal(name.replace("_", "-")).code for name in possible} == {"name_unusable"}


def test_each_kind_of_reason_is_told_apart() -> None:
    kinds = ("class", "match", "json", "tests", "loopx", "python", "pytest", "a--b", "a" * 49)

    reasons = {str(refusal(name).document["error"]).partition(": it ")[2].replace(name, "NAME") for name in kinds}

    assert len(reasons) == len(kinds) - 1  # a soft keyword is a keyword


def test_what_the_host_depends_on_cannot_be_replaced_by_an_extension() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plugin = tomllib.loads((ROOT / "plugins/loopx-pytest/pyproject.toml").read_text("utf-8"))["project"]
    starter = tomllib.loads(made()["pyproject.toml"])
    needed = [
        *project["dependencies"],
        *plugin["dependencies"],
        *starter["project"]["optional-dependencies"]["test"],
        *starter["build-system"]["requires"],
        plugin["name"],
    ]

    distributions = {re.split(r"[^a-z0-9-]", line)[0] for line in needed} - grammar.HOST_NAMES

    assert distributions - names.NEEDED == set()


@pytest.mark.parametrize(
    "version",
    [
        "",
        " ",
        "one",
        "1.0.",
        "1..0",
        "v1.0",
        "1.0-rc1",
        "1.0 ",
        "1.0\n",
        "01.0",
        "1.0+A",
        "1.0+" + "a" * 64,
        "1,0",
        "٣.0",
    ],
)
def test_a_version_the_package_could_not_have_is_refused(version: str) -> None:
    assert refusal(version=version).code == "version_unusable"


@pytest.mark.parametrize(
    "version", ["0.1.0", "1", "2024.12", "1.0rc1", "1.0.post1", "1.0.dev3", "1!2.0", "1.0+local.1"]
)
def test_a_version_that_a_package_can_have_is_taken(version: str) -> None:
    assert receipt(version=version)["version"] == version


@pytest.mark.parametrize(("version", "repeated"), [("0.1.0", ()), ("2.0", ("--version", "2.0"))])
def test_the_command_after_a_preview_makes_the_same_package(version: str, repeated: tuple[str, ...]) -> None:
    assert receipt(version=version)["next_command"] == ("extension", "init", "sample", *repeated, "--execute")


def test_the_version_left_out_is_the_one_of_the_command_line() -> None:
    assert VERSION.settings["default"] == DEFAULT_VERSION


def test_every_v0_field_is_in_the_receipt_with_its_type() -> None:
    answered = receipt(extension_id="loopx-text-stats", shown="pkg/loopx-text-stats", execute=True)

    assert set(RECORDED) - set(answered) == set()
    assert {key: type(answered[key]) for key in RECORDED} == {key: type(value) for key, value in RECORDED.items()}


@pytest.mark.parametrize("field", sorted(set(RECORDED) - {"files"}))
def test_a_v0_field_has_the_value_v0_gave_it(field: str) -> None:
    answered = receipt(extension_id="loopx-text-stats", shown="pkg/loopx-text-stats", execute=True)

    assert answered[field] == RECORDED[field]


def test_the_files_of_v0_are_among_those_written() -> None:
    answered = receipt(extension_id="loopx-text-stats", execute=True)
    files = answered["files"]
    assert isinstance(files, list)

    written = {row["path"] for row in files}

    # v0 kept its schemas beside the manifest; here both are in the package.
    v0 = {row["path"].replace("schemas/", "src/loopx_text_stats/schemas/") for row in RECORDED["files"]}
    assert v0 - written == set()
    assert {row["status"] for row in files} == {"created"}


@pytest.mark.parametrize(
    ("shown", "typed"),
    [
        ("./sample", "./sample"),
        ("sample", "./sample"),
        ("with space/sample", "'with space/sample'"),
        ("~/my work/sample", "~/'my work/sample'"),
        ("/tmp/sample", "/tmp/sample"),
        ("it's/sample", "'it'\"'\"'s/sample'"),
    ],
)
def test_the_next_commands_can_be_typed_and_never_name_a_package_of_a_registry(shown: str, typed: str) -> None:
    commands = receipt(shown=shown)["next_commands"]
    assert isinstance(commands, dict)

    assert commands["install_package"] == f"python3 -m pip install {typed}"
