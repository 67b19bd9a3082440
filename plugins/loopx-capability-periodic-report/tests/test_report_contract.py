"""The contract by itself: neutral, complete as data, and passed by the fake sinks."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_periodic_report.testing import FakeSink, ReportSinkContract, Sink

DATA = Path(str(resources.files("loopx_periodic_report")))
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "periodic-report.md"
PROVIDERS = re.compile(
    r"smtp|e-?mail|mailto|\bimap\b|folder/|webhook|slack|s3\b|ftp\b|loopx[-_]sink|telegram", re.IGNORECASE
)


class TestReadableFakeSink(ReportSinkContract):
    def make_sink(self, folder: Path) -> Sink:  # noqa: ARG002 (a fake keeps nothing on disk)
        return FakeSink("readable")


class TestUnsafeFakeSink(ReportSinkContract):
    def make_sink(self, folder: Path) -> Sink:  # noqa: ARG002 (a fake keeps nothing on disk)
        return FakeSink("unsafe")


def document(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.req("M112")
def test_the_contract_names_no_provider() -> None:
    files = [PAGE, *sorted(path for path in DATA.rglob("*") if path.suffix in {".py", ".json", ".toml"})]

    named = {path.name: PROVIDERS.findall(path.read_text(encoding="utf-8")) for path in files}

    assert len(files) > 10
    assert {name: found for name, found in named.items() if found} == {}


def test_the_profile_holds_the_schema_of_the_document() -> None:
    schema = document("schemas/report.schema.json")
    inline = document("profile.json")["operations"][0]["request_schema"]["properties"]["report"]

    assert inline == {key: value for key, value in schema.items() if key not in {"$schema", "title"}}


@pytest.mark.parametrize("name", ["profile.json", "sink-profile.json"])
def test_a_profile_has_the_exact_keys_and_usable_schemas(name: str) -> None:
    profile = document(name)

    assert set(profile) == {"schema_version", "capability_id", "protocol", "operations"}
    assert len((DATA / name).read_bytes()) <= 65_536
    for operation in profile["operations"]:
        wanted = {"id", "effect_class", "required_permission", "request_schema", "result_schema"}
        writes = operation["effect_class"] == "external_write"
        assert set(operation) == wanted | ({"todo_contract"} if writes else set())
        jsonschema.Draft202012Validator.check_schema(operation["request_schema"])
        jsonschema.Draft202012Validator.check_schema(operation["result_schema"])


def test_every_code_a_refusal_can_have_is_in_the_reference() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in DATA.glob("*.py"))

    codes = set(re.findall(r'(?:OperationFailed|_refuse)\(\s*"([a-z]+_[a-z_]+)"', sources))

    assert {"body_too_large", "document_too_large"} <= codes
    assert {code for code in codes if f"`{code}`" not in text} == set()
