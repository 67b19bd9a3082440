"""What a provider is given: variables, a private directory, three descriptors, the arguments of its manifest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.providers import CANARY, PYTHON
from tests.support.puppets import SURROUNDINGS, install_puppets


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


def told(code: str) -> dict[str, object]:
    return {"code": code}


CALLER = {
    "USER": "me",
    "LOGNAME": "me",
    "LANGUAGE": "de",
    "LC_ALL": "C.UTF-8",
    "LC_MADE_UP": "x",
    "TZ": "UTC",
    "SECRET_TOKEN": "secret",
    "PYTHONPATH": "/nonexistent",
    "LOOPX_DEBUG": "1",
    "DECLARED": "declared value",
    "LCALL": "not a locale category",
}


def test_a_provider_gets_the_listed_variables_and_no_other(puppets: Loopx) -> None:
    """run_environment (case 95)."""
    result = puppets.run("puppet", told(SURROUNDINGS), env=CALLER).document["provider_result"]

    listed = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_MADE_UP", "TZ"}
    assert set(result["env"]) == listed | {"TMPDIR", "PYTHONPYCACHEPREFIX"}
    assert {name: result["env"][name] for name in listed} == {
        name: {**puppets.env, **CALLER}[name] for name in listed
    }
    # Its doctor compiled nothing that could have been kept for it.
    assert Path(result["env"]["PYTHONPYCACHEPREFIX"]).is_relative_to(result["env"]["TMPDIR"])


def test_a_declared_variable_is_passed_on_and_an_undeclared_one_is_not(puppets: Loopx) -> None:
    """run_environment (case 95)."""
    result = puppets.run("declares", told(SURROUNDINGS), env=CALLER).document["provider_result"]

    assert result["env"]["DECLARED"] == "declared value"
    assert {"SECRET_TOKEN", "DECLARED_BUT_NOT_SET"}.isdisjoint(result["env"])


def test_a_declared_variable_cannot_move_the_private_directory(loopx: Loopx) -> None:
    loopx.make_extension("puppet", env=["TMPDIR", "PYTHONPYCACHEPREFIX"])

    result = loopx.run(
        "puppet", told(SURROUNDINGS), env={"PYTHONPYCACHEPREFIX": str(loopx.root / "elsewhere")}
    ).document

    env = result["provider_result"]["env"]
    assert env["TMPDIR"] == result["provider_result"]["cwd"]
    assert env["PYTHONPYCACHEPREFIX"] != str(loopx.root / "elsewhere")


def test_a_provider_runs_in_a_private_directory_that_is_gone_afterwards(puppets: Loopx) -> None:
    result = puppets.run("puppet", told(SURROUNDINGS)).document["provider_result"]

    assert result["cwd"] == result["env"]["TMPDIR"]
    assert Path(result["cwd"]).parents[1] == puppets.runtime
    assert result["mode"] == "0o700"
    assert not Path(result["cwd"]).parent.exists()


def test_a_provider_holds_no_descriptor_but_the_three_standard_ones(puppets: Loopx, tmp_path: Path) -> None:
    with (tmp_path / "inherited").open("wb") as inherited:
        os.set_inheritable(inherited.fileno(), True)
        answer = puppets.run("puppet", told(SURROUNDINGS), close_fds=False)

    assert answer.document["provider_result"]["descriptors"] == [0, 1, 2]
    assert answer.document["provider_result"]["session"] is True


@pytest.mark.req("X5")
def test_a_provider_gets_the_arguments_of_its_manifest_and_no_other(puppets: Loopx) -> None:
    result = puppets.run("puppet", told(SURROUNDINGS)).document["provider_result"]

    assert result["argv"] == ["run"]


@pytest.mark.req("X5")
@pytest.mark.parametrize("extra", [("more",), ("--", "more"), ("--verbose",), ("--timeout", "1")], ids=" ".join)
def test_a_caller_can_add_no_argument(loopx: Loopx, tmp_path: Path, extra: tuple[str, ...]) -> None:
    canary = tmp_path / "canary"
    loopx.make_extension("canary", CANARY.format(canary=canary))
    words = ("--format", "json", "--state-file", str(loopx.state_file), "extension", "run", "canary")

    answer = loopx(*words, "--input-json", "-", "--execute", *extra, stdin=b"{}", options=False)

    assert (answer.status, answer.code) == (2, "usage_error")
    assert not canary.exists()


@LEAVES_MARKS
def test_a_doctor_gets_the_same_surroundings_and_no_input(loopx: Loopx, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    provider = PYTHON + (
        "import json, os, sys\n"
        f"json.dump([dict(os.environ), os.getcwd(), sys.stdin.read()], open({str(seen)!r}, 'w'))\n"
    )

    loopx.make_extension("looks", provider)

    env, cwd, stdin = json.loads(seen.read_bytes())
    assert set(env) == {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONPYCACHEPREFIX"}
    assert (env["TMPDIR"], stdin) == (cwd, "")
    assert not Path(cwd).exists()
