"""What every command really prints, and what really lies on disk, held to schema and shape of each document.

The judge of schemas is the reference implementation in Python, not the one the host uses.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from loopx_host.cli.index import ROWS, Row, find
from loopx_host.documents.catalog import MODULES, document
from tests.support.cli import Loopx
from tests.support.document_life import Life, lived
from tests.support.document_shapes import closed_schema, shape_of
from tests.support.schema_places import of_another_type, required_places, typed_places, without

pytestmark = pytest.mark.timeout(180)  # the first test waits for a life of eighty commands
DATA = Path(__file__).parents[2] / "data" / "v0"
# What is printed under each label, the schema it has to follow, and the exit status it came with.
EXPECTED = {
    "list of nothing": ("list", 0),
    "install preview": ("operation", 0),
    "install preview that would be refused": ("operation", 0),
    "install, manifest invalid": ("error", 2),
    "install, doctor failed": ("error", 2),
    "install": ("operation", 0),
    "list": ("list", 0),
    "show": ("detail", 0),
    "show nobody": ("error", 2),
    "doctor preview": ("doctor", 0),
    "doctor": ("doctor", 0),
    "upgrade preview": ("operation", 0),
    "upgrade": ("operation", 0),
    "rollback preview": ("operation", 0),
    "rollback": ("operation", 0),
    "disable preview": ("operation", 0),
    "disable": ("operation", 0),
    "doctor, disabled": ("error", 2),
    "enable preview": ("operation", 0),
    "enable": ("operation", 0),
    "host doctor": ("host-doctor", 0),
    "doctor, unhealthy": ("doctor", 1),
    "host doctor, unhealthy": ("host-doctor", 1),
    "history": ("history", 0),
    "uninstall preview": ("operation", 0),
    "uninstall": ("operation", 0),
    "run preview": ("run-receipt", 0),
    "run": ("run-receipt", 0),
    "run, provider failed": ("run-receipt", 1),
    "run, response outside its schema": ("run-receipt", 1),
    "run, request outside its schema": ("error", 2),
    "run, request too large": ("error", 2),
    "init preview": ("scaffold", 0),
    "init": ("scaffold", 0),
    "init, refused": ("error", 2),
    "validate": ("validation", 0),
    "conformance preview": ("conformance", 0),
    "conformance": ("conformance", 0),
    "conformance, a rule broken": ("conformance", 1),
    "validate with warnings": ("validation", 0),
    "capability list": ("capability-catalog", 0),
    "capability show": ("capability-detail", 0),
    "validate, example invalid": ("error", 2),
    "export": ("export", 0),
    "export to a file": ("operation", 0),
    "restore preview": ("restore", 0),
    "restore": ("restore", 0),
    "restore, incomplete": ("restore", 1),
    "discover": ("discovery", 0),
    "performance-diagnosis": ("performance-diagnosis", 0),
    "completions": ("completions", 0),
    "help": ("help", 0),
    "help of a command": ("help", 0),
    "version": ("version", 0),
    "usage error": ("error", 2),
    "unknown schema": ("error", 2),
    "run preview, stale": ("run-receipt", 0),
    "repair of what is whole": ("repair", 0),
    "list with a bad entry": ("list", 0),
    "export with a bad entry": ("operation", 0),
    "repair preview": ("repair", 0),
    "repair": ("repair", 0),
    "install of an offer": ("operation", 0),
    "show of a provider": ("detail", 0),
    "bind preview": ("binding-receipt", 0),
    "bind": ("binding-receipt", 0),
    "bind again": ("binding-receipt", 0),
    "bind, refused": ("error", 2),
    "show of a capability with operations": ("capability-detail", 0),
    "invoke preview": ("invocation", 0),
    "invoke": ("invocation", 0),
    "invoke, provider failed": ("invocation", 1),
    "invoke, no clean result": ("invocation", 1),
    "publish preview": ("publish-receipt", 0),
    "publish, provider failed": ("publish-receipt", 1),
    "publish": ("publish-receipt", 0),
    "publish, refused": ("error", 2),
    "capability list with a view": ("capability-catalog", 0),
    "unbind preview": ("binding-receipt", 0),
    "unbind": ("binding-receipt", 0),
    "unbind, refused": ("error", 2),
}
# What lies on disk meanwhile, and what a provider is handed and answers.
KEPT = (
    *("manifest", "integration-profile", "normal-form", "state", "discovery-index", "bindings", "binding"),
    *("projection", "sections-view", "governed-request", "governed-result", "execution-envelope"),
    *("integration-profile-v0", "governed-request-v0", "governed-result-v0"),
)
OF_EVERY_COMMAND = {"error", "help"}
V0 = sorted(path.stem for path in DATA.glob("*.json") if "stdout" in json.loads(path.read_bytes()))
# The id of the state file is that of the list too, as v0 has it; what a command prints is the list.
NAME_OF = {document(name).ID: name for name in MODULES if name != "state" and hasattr(document(name), "ID")}


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    return lived(tmp_path_factory.mktemp("life"))


@functools.cache
def judge(name: str) -> Draft202012Validator:
    return Draft202012Validator(document(name).schema())


def wrong_with(name: str, instance: object) -> list[str]:
    """Return what the schema `name` holds against a document."""
    return [f"{error.json_path}: {error.message}" for error in judge(name).iter_errors(instance)]


def misshapen(name: str, instance: object) -> list[str]:
    """Return what of a document is not in its TypedDict, or not as that says."""
    place = shape_of(name)
    if place is None:
        return []
    shape = Draft202012Validator(closed_schema(*place))
    return [f"{error.json_path}: {error.message}" for error in shape.iter_errors(instance)]


def accepted_without(name: str, instance: object) -> list[object]:
    """Return the keys that a schema requires of a document and does not miss."""
    places = list(required_places(document(name).schema(), instance))
    assert places
    return [place for place in places if judge(name).is_valid(without(instance, place))]


def accepted_with_another_type(name: str, instance: object) -> list[object]:
    """Return the places where a schema says what is to stand there and takes anything."""
    places = list(typed_places(document(name).schema(), instance))
    assert places
    return [place for place in places if judge(name).is_valid(of_another_type(instance, place))]


def test_every_expected_document_was_printed_and_no_other(life: Life) -> None:
    printed = {label for label, one in life.printed.items() if "$schema" not in one.document}

    assert sorted(printed) == sorted(EXPECTED)


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_follows_the_schema_of_its_name(label: str, life: Life) -> None:
    name, status = EXPECTED[label]
    printed = life.printed[label]

    assert NAME_OF[printed.document["schema_version"]] == name, printed.document
    assert printed.status == status, printed.document
    assert wrong_with(name, printed.document) == []


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_has_the_shape_that_is_built(label: str, life: Life) -> None:
    assert misshapen(EXPECTED[label][0], life.printed[label].document) == []


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_without_a_required_field_breaks_its_schema(label: str, life: Life) -> None:
    assert accepted_without(EXPECTED[label][0], life.printed[label].document) == []


@pytest.mark.parametrize("label", EXPECTED)
def test_a_receipt_with_a_field_of_another_type_breaks_its_schema(label: str, life: Life) -> None:
    assert accepted_with_another_type(EXPECTED[label][0], life.printed[label].document) == []


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_or_handed_over_follows_its_schema(name: str, life: Life) -> None:
    assert wrong_with(name, life.kept[name]) == []
    assert misshapen(name, life.kept[name]) == []


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_or_handed_over_breaks_its_schema_when_it_is_broken(name: str, life: Life) -> None:
    assert accepted_without(name, life.kept[name]) == []
    assert accepted_with_another_type(name, life.kept[name]) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row.words))
def test_a_command_was_seen_to_answer_with_each_document_of_its_row_and_no_other(row: Row, life: Life) -> None:
    answered = {EXPECTED[label][0] for label in EXPECTED if find(life.printed[label].words) is row}

    assert answered - OF_EVERY_COMMAND == set(row.documents)


def test_a_document_of_every_name_was_judged(life: Life) -> None:
    printed = {EXPECTED[label][0] for label in life.printed if label in EXPECTED}

    assert sorted(life.kept) == sorted(KEPT)
    assert printed | life.kept.keys() == MODULES.keys()


@pytest.mark.parametrize("recording", V0)
def test_a_recorded_v0_receipt_follows_the_same_schema(recording: str) -> None:
    receipt = json.loads((DATA / f"{recording}.json").read_bytes())["stdout"]

    assert wrong_with(NAME_OF[receipt["schema_version"]], receipt) == []


@pytest.mark.parametrize("recording", V0)
def test_every_v0_field_is_in_the_schema_of_its_document(recording: str) -> None:
    receipt = json.loads((DATA / f"{recording}.json").read_bytes())["stdout"]

    assert set(receipt) - set(document(NAME_OF[receipt["schema_version"]]).schema()["properties"]) == set()


def test_a_recorded_v0_state_file_follows_the_same_schema() -> None:
    assert wrong_with("state", json.loads((DATA / "state.json").read_bytes())) == []


def test_what_is_shown_of_a_state_that_v0_wrote_follows_the_schemas(tmp_path: Path) -> None:
    loopx = Loopx(tmp_path)
    shutil.copy(DATA / "state.json", loopx.state_file)
    (extension_id,) = json.loads(loopx.state_file.read_bytes())["extensions"]

    shown, listed = loopx("extension", "show", extension_id).document, loopx("extension", "list").document
    exported = loopx("extension", "export").document

    assert wrong_with("detail", shown) == []
    assert wrong_with("list", listed) == []
    assert wrong_with("export", exported) == []
    assert misshapen("detail", shown) + misshapen("list", listed) + misshapen("export", exported) == []
