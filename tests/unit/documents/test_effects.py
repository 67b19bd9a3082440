"""What a receipt says of effects follows from what was granted and from what held the process."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.documents import catalog, doctor, effects
from loopx_host.documents.effects import DECLARED, ENFORCED

HOLDING = ("network", "file_writes", "file_attributes")


def containment(*, without: str | None = None) -> Any:
    rows = [{"limit": name, "value": "", "enforced": name != without, "by": ""} for name in HOLDING]
    return {"limits": rows}


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize(
    ("permission", "invoked", "held", "writes", "basis"),
    [
        ("fs.read:in", True, containment(), False, ENFORCED),
        ("notes.read", True, containment(), False, ENFORCED),
        ("net.connect", True, containment(), False, DECLARED),
        *(("fs.read:in", True, containment(without=name), False, DECLARED) for name in HOLDING),
        ("fs.read:in", True, {}, False, DECLARED),
        ("fs.write:out", True, containment(), True, ENFORCED),
        ("fs.write:out", True, containment(without="file_writes"), True, DECLARED),
        ("fs.write:out", False, {}, False, ENFORCED),
        ("net.connect", False, {}, False, ENFORCED),
    ],
)
def test_effects_follow_from_grant_and_containment(
    permission: str, invoked: bool, held: Any, writes: bool, basis: str
) -> None:
    said = effects.of_call(permission, invoked=invoked, settled=False, containment=held)

    assert (said["provider_invoked"], said["external_write_performed"], said["basis"]) == (invoked, writes, basis)
    assert (said["loopx_state_written"], said["quota_spent"]) == (False, False)


def test_a_call_that_is_settled_writes_state_and_spends_quota() -> None:
    said = effects.of_call("fs.read:in", invoked=True, settled=True, containment=containment())

    assert (said["loopx_state_written"], said["quota_spent"]) == (True, True)


def test_every_document_that_speaks_of_effects_says_on_which_basis() -> None:
    shapes = [catalog.document(name).schema().get("properties", {}) for name in catalog.MODULES]
    speaking = [shape["effects"] for shape in shapes if "effects" in shape]

    assert speaking
    assert all(set(one["properties"]) == set(effects.of_nothing()) for one in speaking)


@pytest.mark.req("X14", "M071")
def test_a_doctor_that_nothing_held_only_declares_that_it_wrote_nothing() -> None:
    def said(held: Any) -> tuple[bool, str | None]:
        block = doctor.probed("x", "1", identity="i", failure_kind=None, reason=None, containment=held)
        return block["external_writes_performed"], block.get("basis")

    assert said(containment()) == (False, ENFORCED)
    assert said(containment(without="file_writes")) == (False, DECLARED)
    assert said(None) == (False, ENFORCED)
