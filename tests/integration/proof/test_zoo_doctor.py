"""A doctor changes nothing outside its private directory, whatever its manifest declares (X14)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import refuse_syscalls, zoo
from tests.support.zoo import C, Grounds, Guest

pytestmark = [
    pytest.mark.req("X14"),
    pytest.mark.skipif(sys.platform != "linux", reason="it is enforced on Linux"),
]
DECLARED = ("fs.write:out", "fs.read:out", "net.connect")


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


class Clinic:
    """A command line with an extension whose doctor is an animal; it exits with 1 when it managed anything."""

    def __init__(self, grounds: Grounds, folder: Path, who: str, level: str) -> None:
        self.owner = grounds.person(who)
        self.place = zoo.outside(folder, self.owner)
        root = folder / "guest"
        root.mkdir()
        self.guest = Guest(root, self.owner)
        self._animals = grounds.animals(C, who)
        self._env = {"LOOPX_CONTAINMENT": level} if level else {}

    def install(self, doctor: str, place: Path, *permissions: str) -> Any:
        """Install without expecting success."""
        manifest = self.guest.write_extension(
            "patient",
            manifest=f"permissions = {json.dumps(list(permissions))}",
            doctor_args=["--doctor", doctor, str(place)],
        )
        assert isinstance(self._animals, Path)
        manifest.with_name("provider").write_bytes(self._animals.read_bytes())
        self.owner.own(manifest.parent)
        return self.guest.install(manifest, env=self._env)

    def probe(self) -> Any:
        return self.guest("extension", "doctor", "patient", "--execute", env=self._env)


@pytest.fixture
def clinic(grounds: Grounds, request: pytest.FixtureRequest) -> Iterator[Clinic]:
    level, who = request.param
    with zoo.ground(grounds.person(who)) as folder:
        yield Clinic(grounds, folder, who, level)


def at(*levels: str) -> pytest.MarkDecorator:
    made = [(level, who) for level in levels for who in zoo.people()]
    ids = [f"{level or 'default'}-{who}" for level, who in made]
    return pytest.mark.parametrize("clinic", made, indirect=True, ids=ids)


@at("", "contained", "namespaced")
@pytest.mark.parametrize("permissions", [(), DECLARED], ids=["none", "declared"])
@pytest.mark.parametrize("doctor", ["writer", "caller", "gainer"])
def test_a_doctor_manages_nothing_and_the_receipt_says_what_held_it(
    clinic: Clinic, doctor: str, permissions: tuple[str, ...]
) -> None:
    before = zoo.snapshot(clinic.place)

    installed = clinic.install(doctor, clinic.place, *permissions)
    probed = clinic.probe()

    assert installed.status == 0, installed
    assert zoo.snapshot(clinic.place) == before
    assert (probed.document["verified"], probed.document["exit_code"]) == (True, 0)
    assert probed.document["read_only"]["enforced"] is True
    assert probed.document["read_only"]["by"]


@at("", "contained", "namespaced")
def test_a_doctor_writes_nothing_to_the_home_of_the_user(clinic: Clinic) -> None:
    home = Path(clinic.guest.env["HOME"])
    (home / "victim").write_bytes(b"the user's\n")
    clinic.owner.own(home)

    installed = clinic.install("writer", home)

    assert installed.status == 0, installed
    assert not (home / "zoo-was-here").exists()
    assert (home / "victim").read_bytes() == b"the user's\n"


@at("limits")
def test_where_a_doctor_is_not_held_the_receipt_says_so(clinic: Clinic) -> None:
    installed = clinic.install("plain_reader", clinic.place)
    probed = clinic.probe()

    assert installed.status == 0, installed
    assert probed.document["read_only"] == {"enforced": False, "by": None}


@at("")
@pytest.mark.skipif(not refuse_syscalls.is_supported(), reason="the call numbers are not known")
@pytest.mark.parametrize("mechanism", ["landlock", "seccomp"])
def test_a_kernel_that_cannot_hold_a_doctor_is_named_in_the_receipt(clinic: Clinic, mechanism: str) -> None:
    installed = clinic.install("plain_reader", clinic.place)
    clinic.guest.through = refuse_syscalls.without(clinic.owner.python, mechanism)

    probed = clinic.probe()

    assert installed.status == 0, installed
    assert probed.document["read_only"]["enforced"] is False
