"""A hostile schema spoils the row of its own package only, and data in a schema is data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.packages import Environment, manifest, offering, write
from tests.support.providers import ECHO


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{}], "$ref": f"#/allOf/{'9' * 5000}"},
        {"allOf": [{"pattern": f"^[^a]{{1,3000}}x{index}$"} for index in range(1500)]},
        {"allOf": [{"$ref": "#z"}] * 8000, "$defs": {f"d{index}": {} for index in range(8000)}},
    ],
    ids=["an index of 5000 digits", "patterns that fill the memory", "anchors looked up again and again"],
)
def test_a_hostile_schema_spoils_its_own_row_only(environment: Environment, schema: object) -> None:
    offering(environment.site, "honest")
    hostile = manifest("hostile", request_schema="request.json")
    offering(environment.site, "hostile", text=hostile, files={"request.json": json.dumps(schema)})

    states = {row["id"]: row["state"] for row in environment.offers()}

    assert states == {"honest": "available", "hostile": "broken"}


def test_a_dollar_id_inside_data_is_data(loopx: Loopx) -> None:
    path = loopx.write_extension("subject", ECHO, request_schema="request.json")
    write(path.with_name("request.json"), json.dumps({"enum": [{"$id": "x"}, {"a": 1}]}))

    assert loopx.install(path).status == 0
