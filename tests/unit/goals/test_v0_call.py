"""What a caller gives to a plain v0 provider: one object of exactly two keys, its references bounded and typed."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.goals.v0_call import provider_input
from tests.support.fakes import code_of

REFERENCE = {"kind": "note", "ref": "note-1", "digest": f"sha256:{'a' * 64}"}
NO_ROWS: list[object] = [None, "note-1", [], {}]
NO_TEXTS: list[object] = [None, "", 1, True, []]
NO_OBJECTS: list[object] = [None, [], "", 1]


@pytest.mark.parametrize("count", [1, 32])
def test_what_v0_takes_is_passed_on_as_it_is(count: int) -> None:
    given: dict[str, Any] = {"context_refs": [REFERENCE] * count, "input": {"deep": [{"a": None}]}}

    assert provider_input("inspect", given) == given


@pytest.mark.parametrize(
    "change",
    [
        {"context_refs": []},
        {"context_refs": [REFERENCE] * 33},
        {"context_refs": None},
        {"context_refs": {}},
        *({"context_refs": [REFERENCE, row]} for row in NO_ROWS),
        *({"context_refs": [{**REFERENCE, key: value}]} for key in REFERENCE for value in NO_TEXTS),
        {"context_refs": [{**REFERENCE, "digest": "a" * 64}]},
        {"context_refs": [{**REFERENCE, "digest": f"sha256:{'a' * 64}\n"}]},
        {"context_refs": [{**REFERENCE, "path": "/"}]},
        *({"input": value} for value in NO_OBJECTS),
        {"goal": {}},
    ],
    ids=str,
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"context_refs": [REFERENCE], "input": {}, **change}

    assert code_of(lambda: provider_input("inspect", given)) == "request_invalid"


@pytest.mark.parametrize("key", ["context_refs", "input"])
def test_a_missing_key_is_refused(key: str) -> None:
    given: dict[str, Any] = {"context_refs": [REFERENCE], "input": {}}
    del given[key]

    assert code_of(lambda: provider_input("inspect", given)) == "request_invalid"
