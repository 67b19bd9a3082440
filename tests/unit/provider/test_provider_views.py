"""Views by the provider seam: the request to publish a surface, and nothing of a governed call in it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from loopx_host import OperationFailed, serve_operations


def asked(request: bytes, **settings: Any) -> dict[str, Any]:
    reading, given = os.pipe()
    answered, answering = os.pipe()
    os.write(given, request)
    os.close(given)
    settings.setdefault("views", {"board": lambda request, opened: {"title": request["title"], "opened": opened}})
    status = serve_operations({}, manifest_id="sample", descriptors=(reading, answering), **settings)
    os.close(answering)
    with os.fdopen(answered, "rb") as answer:
        said = json.load(answer)
    os.close(reading)
    assert status == 0
    assert isinstance(said, dict)
    return said


def test_a_surface_is_answered_with_its_view() -> None:
    said = asked(b'{"publish": "board", "title": "t"}')

    assert said == {"ok": True, "view": {"title": "t", "opened": {}}}


@pytest.mark.req("X10")
def test_a_reference_that_a_request_to_publish_names_is_not_believed() -> None:
    said = asked(b'{"publish": "board", "title": "t", "context_refs": [{"name": "r", "kind": "path", "path": "/a"}]}')

    assert (said["ok"], said["code"]) == (False, "request_invalid")


@pytest.mark.parametrize("wanted", [b'"nowhere"', b"1", b"[]", b"null", b"{}"])
def test_a_surface_that_is_not_there_is_a_failure(wanted: bytes) -> None:
    said = asked(b'{"title": "t", "publish": ' + wanted + b"}")

    assert (said["ok"], said["effect"]) == (False, "none")
    assert said["code"] == ("surface_unknown" if wanted != b"null" else "request_invalid")


@pytest.mark.parametrize("rows", [b"1", b"[1]", b'[{"name": "r"}]', b'[{"name": 1, "path": "/a"}]'])
def test_references_out_of_shape_are_a_failure(rows: bytes) -> None:
    assert asked(b'{"publish": "board", "title": "t", "context_refs": ' + rows + b"}")["code"] == "request_invalid"


def test_without_views_a_request_to_publish_is_no_request() -> None:
    assert asked(b'{"publish": "board"}', views=None)["code"] == "request_invalid"


def test_a_view_that_cannot_be_made_is_a_failure() -> None:
    def make(_request: dict[str, Any], _opened: dict[str, str]) -> dict[str, Any]:
        raise OperationFailed("nothing_there", "there is nothing to show")

    assert asked(b'{"publish": "board"}', views={"board": make})["code"] == "nothing_there"


@pytest.mark.req("X10")
def test_a_governed_request_needs_its_envelope_whatever_it_publishes() -> None:
    said = asked(b'{"schema_version": "loopx_external_domain_capability_request_v1", "publish": "board"}')

    assert said["code"] == "request_invalid"
