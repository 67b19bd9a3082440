"""Versions meet constraints by number, and the first prerequisite that lacks is refused with exit 69."""

from __future__ import annotations

import pytest

from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, Launcher
from loopx_host.lifecycle.extensions.prerequisites import prerequisite_refusal, satisfies
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Runtime
from tests.support.fakes import PROGRAM, MemoryFolder, MemoryPackages
from tests.support.packages import manifest


def runtime(**requires: str) -> Runtime:
    table = ", ".join(f'{name} = "{wanted}"' for name, wanted in requires.items())
    text = manifest("needy") + f"requires = {{ {table} }}\n"
    found = load(MemoryFolder({"extension.toml": text}), "extension.toml").runtime
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("version", "wanted", "meets"),
    [
        ("22.22.3", ">=22.22.3", True),
        ("22.22.2", ">=22.22.3", False),
        ("22.100.0", ">=22.22.3", True),
        ("22", "==22.0.0", True),
        ("22.0.0.1", "==22", False),
        ("23.1", ">22", True),
        ("22", ">22", False),
        ("22.0.0", "<=22", True),
        ("24.0", ">=22,<24", False),
        ("23.9", " >=22 , <24 ", True),
        ("", ">=0", False),
        ("next", ">=0", False),
        ("1.x", ">=0", False),
        ("\u0661", ">=0", False),
    ],
)
def test_versions_compare_number_by_number(version: str, wanted: str, *, meets: bool) -> None:
    assert satisfies(version, wanted) is meets


@pytest.mark.parametrize(
    ("have", "code", "status"),
    [
        ({}, "node_unavailable", 69),
        ({"node": ("/made/up/node", "1.0")}, "node_unavailable", 69),
        ({"node": ("/made/up/node", None)}, "node_unavailable", 69),
        ({"node": ("/made/up/node", "22.5")}, "prerequisite_unavailable", 69),
        ({"node": ("/made/up/node", "22.5"), "zoo": ("/made/up/zoo", "3")}, None, None),
    ],
    ids=["none", "too_old", "no_version", "the_other", "all"],
)
def test_the_first_that_lacks_is_refused(
    have: dict[str, tuple[str, str | None]], code: str | None, status: int | None
) -> None:
    packages = MemoryPackages()
    packages.prerequisites = have

    needy = runtime(zoo=">=2", node=">=22")
    identity = packages.identify(Launcher(ENTRYPOINT, PROGRAM, requires=needy.requires))
    assert identity is not None

    refused = prerequisite_refusal("needy", needy, identity, packages, may_start=True)

    assert (refused and refused.code, refused and refused.exit_status) == (code, status)
