"""What can be done here, in four environments: the core alone, with packages, with one off, with one broken.

Contract section 7. Two throw-away environments are made of wheels: the host alone, and the host with its train.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer
from tests.support.lifecycle import ROOT, build_wheel, words
from tests.support.train_hosts import TRAIN, Host

pytestmark = pytest.mark.timeout(300)

FACTS = ("declared", "installed", "enabled", "ready")
OWNER = {capability["id"]: one for one in TRAIN for capability in one["declares"]["capabilities"]}
COMMANDS = {name: one for one in TRAIN for name in one["commands"]}
EXIT_REFUSED, EXIT_ABSENT = 2, 69
SUBJECT = "repo-health"  # the capability that is off or broken


def facts(row: dict[str, Any]) -> str:
    return "/".join("T" if row["provider_state"][fact] else "F" for fact in FACTS)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("wheels")
    sources = {"core": ROOT, **{one["distribution"]: ROOT / "plugins" / one["distribution"] for one in TRAIN}}
    return {name: build_wheel(source, out) for name, source in sources.items()}


@pytest.fixture(scope="module")
def bare(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Host:
    """The core and nothing else."""
    return Host(tmp_path_factory.mktemp("bare"), [wheels["core"]])


@pytest.fixture(scope="module")
def full(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Host:
    """The core with every package of the train."""
    return Host(tmp_path_factory.mktemp("full"), list(wheels.values()))


@pytest.fixture(scope="module")
def proved(full: Host) -> bytes:
    """The state file in which every extension of the train is installed and proved."""
    full.state_file = full.root / "proved.json"
    full.trust_all()
    return full.state_file.read_bytes()


@pytest.fixture
def untrusted(full: Host, tmp_path: Path) -> Host:
    full.state_file = tmp_path / "state.json"
    return full


@pytest.fixture
def trusted(full: Host, proved: bytes, tmp_path: Path) -> Host:
    full.state_file = tmp_path / "state.json"
    full.state_file.write_bytes(proved)
    kept = full.root / "proved.json.d"
    if kept.exists():
        shutil.copytree(kept, tmp_path / "state.json.d")
    return full


def refused(answer: Answer, code: str, status: int) -> dict[str, Any]:
    assert (answer.status, answer.code) == (status, code), answer
    return answer.document


@pytest.mark.req("S5", "M124")
def test_a_core_alone_lists_what_its_train_could_do_and_how_to_get_it(bare: Host) -> None:
    rows = bare.listed()

    assert OWNER
    assert set(OWNER) <= set(rows)
    for capability, one in OWNER.items():
        row = rows[capability]
        assert (facts(row), row["reason"]) == ("T/F/F/F", "package_not_installed")
        assert f"{one['distribution']}=={one['version']}" in row["install_package"]
        assert (
            bare("capability", "show", capability).document["capability"]["install_package"]
            == (row["install_package"])
        )


@pytest.mark.req("S5", "M124")
def test_a_core_alone_refuses_the_commands_of_its_train_with_the_way_to_them(bare: Host) -> None:
    assert COMMANDS
    for name, one in COMMANDS.items():
        document = refused(bare(name), "package_not_installed", EXIT_ABSENT)
        assert f"{one['distribution']}=={one['version']}" in document["install_package"]


def test_a_core_alone_keeps_the_help_rows_of_the_commands_of_its_train(bare: Host) -> None:
    bare("extension", "discover")

    text = bare("--help").document["text"].partition("\noptions of every")[0]

    assert {name for name in COMMANDS if f"\n  {name} " in text} == set(COMMANDS)


@pytest.mark.req("S5")
@pytest.mark.parametrize(
    "command",
    [
        ("extension", "list"),
        ("extension", "discover"),
        ("doctor",),
        ("--help",),
        ("--version",),
        ("completions", "bash"),
    ],
    ids=" ".join,
)
def test_a_core_alone_serves_every_command_of_its_own(bare: Host, command: tuple[str, ...]) -> None:
    assert bare(*command).status == 0


@pytest.mark.req("S5")
def test_a_core_alone_runs_an_extension(bare: Host) -> None:
    bare.make_extension("alone", '#!/bin/sh\n[ "$1" = --doctor ] || echo \'{"ok": true}\'\n')

    assert bare.run("alone", {}).status == 0


@pytest.mark.req("M077")
def test_packages_that_nobody_trusted_are_there_and_off(untrusted: Host) -> None:
    rows = untrusted.listed()

    for capability, one in OWNER.items():
        row = rows[capability]
        assert (facts(row), row["reason"], row["install_package"]) == ("T/F/F/F", "extension_not_installed", None)
        assert words(row["next_command"])[:3] == ["extension", "install", one["extension_id"]]


@pytest.mark.req("X15", "M124")
def test_the_commands_of_packages_that_nobody_trusted_are_off(untrusted: Host) -> None:
    for name, one in COMMANDS.items():
        document = refused(untrusted(name), "command_not_activated", EXIT_REFUSED)
        assert words(document["next_command"])[:3] == ["extension", "install", one["extension_id"]]


@pytest.mark.req("M077")
def test_packages_that_are_trusted_are_ready(trusted: Host) -> None:
    rows = trusted.listed()

    assert {capability: (facts(rows[capability]), rows[capability]["reason"]) for capability in OWNER} == (
        dict.fromkeys(OWNER, ("T/T/T/T", None))
    )


@pytest.mark.req("S5", "M051")
def test_one_that_is_disabled_is_listed_as_off_and_every_other_as_before(trusted: Host) -> None:
    before = trusted.listed()
    trusted("extension", "disable", OWNER[SUBJECT]["extension_id"], "--execute")

    after = trusted.listed()

    row = after[SUBJECT]
    assert (facts(row), row["reason"]) == ("T/T/F/F", "extension_disabled")
    assert words(row["next_command"])[:3] == ["extension", "enable", OWNER[SUBJECT]["extension_id"]]
    assert others(after) == others(before)


def others(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows of other extensions than that of the subject."""
    own = OWNER[SUBJECT]["extension_id"]
    return {name: row for name, row in rows.items() if row["provider_id"] != own}


def garble(host: Host) -> Path:
    return next(host.site.glob("loopx_repo_health/extension.toml"))


def launcher(host: Host) -> Path:
    return host.scripts / str(OWNER[SUBJECT]["extension_id"])


def metadata(host: Host) -> Path:
    return next(host.site.glob("loopx_capability_repo_health-*/METADATA"))


@pytest.fixture(params=[garble, launcher, metadata], ids=["manifest", "launcher", "metadata"])
def broken(request: pytest.FixtureRequest, full: Host, proved: bytes) -> Iterator[None]:  # noqa: ARG001 (proved first)
    """Damage one file of the subject's package for one test."""
    which: Callable[[Host], Path] = request.param
    path = which(full)
    aside = full.root / "aside"
    shutil.copy2(path, aside)
    path.write_bytes(b"\0broken")
    yield
    shutil.copy2(aside, path)


@pytest.mark.req("S5", "M051")
def test_one_that_is_broken_is_named_and_every_other_is_as_before(trusted: Host, proved: bytes, broken: None) -> None:  # noqa: ARG001
    rows = trusted.listed()

    assert rows[SUBJECT]["provider_state"]["ready"] is False
    assert (rows[SUBJECT]["reason"] is None, rows[SUBJECT]["next_command"] is None) == (False, False)
    assert {facts(row) for name, row in others(rows).items() if name in OWNER} == {"T/T/T/T"}
    assert trusted.state_file.read_bytes() == proved


@pytest.mark.usefixtures("broken")
@pytest.mark.req("S5")
def test_a_package_that_is_broken_before_anybody_trusted_it_spoils_no_other(untrusted: Host) -> None:
    document = untrusted("capability", "list").document

    rows = {row["id"]: row for row in document["capabilities"]}
    assert {facts(row) for row in others(rows).values()} == {"T/F/F/F"}
    assert {row["reason"] for name, row in others(rows).items() if name in OWNER} == {"extension_not_installed"}
    named = {row["id"] for row in [*document["providers"], *document["invalid"]]}
    assert OWNER[SUBJECT]["extension_id"] in named
