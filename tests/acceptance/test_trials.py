"""Every trial in tests/trials passes against the command line of this environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRIALS = ROOT / "tests" / "trials"
BIN = Path(sys.executable).parent
GREEN = (
    *("C01", "C03"),
    *("D02", "D03", "D05", "D07", "D08", "D10", "D12", "D15"),
    *("J01", "J03", "J05", "J07"),
    *("L01", "L03", "L05", "L07", "L09", "L11", "L13", "L15"),
    *("M01", "M03", "M05", "M07", "M09"),
    *("N01", "N02", "N04", "N05", "N07", "N09", "N12", "N15", "N18"),
    *("P01", "P03", "P04", "P06", "P09", "P11", "P13", "P15"),
    "S01",
)
# Made-up distributions that a provider has to import, too, must lie in the environment's own site-packages:
# providers get no PYTHONPATH. These trials run in an environment made for them.
OWN_ENVIRONMENT = {"L09"}
# These mount a file system of their own: they need root, and say UNSURE where they cannot have one.
NEEDS_A_MOUNT = {"N05", "N12"}
# Every trial runs at the level that users get. These cannot: what their providers do is refused there, by what the
# page of containment says, and is not what they are about.
AT_LIMITS = {
    "D15": "its provider imports a package from PYTHONPATH, which no environment carries",
    "L07": "its interpreter is a shell script that starts one elsewhere, which no first line names",
    "L11": "its providers import packages from PYTHONPATH, which no environment carries",
    "P01": "its provider writes down its processes outside its private directory",
    "P11": "its provider writes down its processes outside its private directory",
}
PRIVATE = ("LOOPX_CONTAINMENT", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "LOOPX_RUNTIME_ROOT", "XDG_RUNTIME_DIR")
VERDICT = re.compile(r"^VERDICT (?P<trial>[A-Z][0-9]{2}) (?P<verdict>PASS|FAIL|UNSURE)\b", re.MULTILINE)


def trial_folders() -> set[str]:
    return {folder.name for folder in TRIALS.glob("[A-Z][0-9][0-9]")}


def verdict(trial: str, programs: Path, **settings: str) -> tuple[str, str]:
    """Run one trial with the `loopx` and `python` of `programs`; return its verdict and everything it printed."""
    inherited = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    product = {"LOOPX": str(programs / "loopx"), "PY": str(programs / "python")}
    if trial in AT_LIMITS:
        product["LOOPX_CONTAINMENT"] = "limits"
    ended = subprocess.run(
        ["bash", str(TRIALS / trial / "run.sh")],
        env={**inherited, **product, "LISTCMD": "extension discover", "SCHEMA_KEYS": "1", **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    found = VERDICT.search(ended.stdout)
    return (found["verdict"] if found else "no verdict"), ended.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return a virtual environment of its own that sees this one's packages."""
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    (site / "seen.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    launcher = place / "bin" / "loopx"
    launcher.write_text(f"#!{place}/bin/python\nfrom loopx_host.entrypoint import main\nmain()\n", encoding="utf-8")
    launcher.chmod(0o755)
    return place


@pytest.mark.timeout(240)
@pytest.mark.parametrize("trial", [trial for trial in GREEN if trial not in OWN_ENVIRONMENT])
def test_the_trial_passes(trial: str) -> None:
    said, log = verdict(trial, BIN)

    if said == "UNSURE" and trial in NEEDS_A_MOUNT:
        pytest.skip(log[-500:])
    assert said == "PASS", log


@pytest.mark.timeout(240)
@pytest.mark.parametrize("trial", sorted(OWN_ENVIRONMENT))
def test_the_trial_passes_in_an_environment_of_its_own(trial: str, environment: Path) -> None:
    site = sysconfig.get_path("purelib", vars={"base": str(environment)})

    said, log = verdict(trial, environment / "bin", LX_SITE=site)

    assert said == "PASS", log


def test_every_trial_is_run() -> None:
    assert sorted(GREEN) == sorted(trial_folders())


def test_the_page_of_trials_has_a_section_for_each() -> None:
    page = (TRIALS / "TRIALS.md").read_text(encoding="utf-8")

    sections = re.findall(r"^### \[([A-Z][0-9]{2})\]", page, re.MULTILINE)

    assert sorted(sections) == sorted(trial_folders())


def test_a_trial_fails_when_the_command_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "loopx").symlink_to("/bin/false")
    (tmp_path / "python").symlink_to(sys.executable)

    said, log = verdict("M03", tmp_path)

    assert said == "FAIL", log


def test_a_trial_below_the_default_level_is_one_and_says_why() -> None:
    assert set(AT_LIMITS) <= trial_folders()
    assert all(AT_LIMITS.values())
    assert len(AT_LIMITS) <= 5
