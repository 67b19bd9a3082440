"""Installing what is installed already, and launchers that the installed packages do not explain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import Subject, installed
from tests.support.providers import ECHO

EXIT_REFUSED = 2


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    made = Loopx(tmp_path)
    (tmp_path / "home/cache").mkdir()  # a preview may fill it
    return made


@pytest.mark.parametrize("disabled", [False, True])
def test_installing_what_is_installed_starts_no_doctor(loopx: Loopx, *, disabled: bool) -> None:
    subject = installed(loopx)
    if disabled:
        subject.do("disable", "--execute")

    answer = subject.install("2.0", "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "already_installed")
    assert subject.starts == []


@pytest.mark.req("X17")
def test_an_entry_point_that_no_distribution_carries_is_shown_as_unowned(loopx: Loopx) -> None:
    subject = Subject(loopx)
    keys = {"entrypoint": "/bin/sh", "args": ["-c", "echo '{}'"], "doctor_args": ["-c", "exit 0"]}

    preview = subject.install("1.0", **keys)
    receipt = subject.install("1.0", "--execute", **keys)

    assert (preview.document["owner"], receipt.document["owner"]) == ("unowned", "unowned")
    assert receipt.document["launcher"] == {"kind": "entrypoint", "path": "/bin/sh"}
    for later in (("doctor", "subject"), ("run", "subject", "--input-json", "-")):
        for execute in ((), ("--execute",)):
            answer = loopx("extension", *later, *execute, stdin=b"{}")
            assert (answer.status, answer.document["owner"]) == (0, "unowned"), answer


CAPABILITY = """
[[provides]]
id = "subject-report"
kind = "report"
title = "A report"
status = "active"
visibility = "public"
real_world_anchor = "a desk"
user_value = "Know things."
entry_command = "loopx report"
next_real_step = "Read it."
"""


@pytest.mark.req("X17")
def test_an_unowned_launcher_of_a_capability_is_warned_of(loopx: Loopx) -> None:
    manifest = loopx.write_extension("subject", ECHO)
    with manifest.open("a", encoding="utf-8") as file:
        file.write(CAPABILITY)

    preview = loopx("extension", "install", "--manifest", str(manifest)).document
    done = loopx.install(manifest).document

    for document in (preview, done):
        assert document["owner"] == "unowned"
        assert [row["code"] for row in document["warnings"]] == ["entrypoint_unowned"]


def test_a_launcher_of_another_version_than_the_manifest_is_warned_of(loopx: Loopx) -> None:
    """The launcher of this environment's pytest is carried by a distribution of quite another version."""
    manifest = loopx.write_extension("subject", ECHO, entrypoint=str(Path(sys.executable).with_name("pytest")))

    document = loopx("extension", "install", "--manifest", str(manifest)).document

    assert document["owner"]["name"] == "pytest"
    assert [row["code"] for row in document["warnings"]] == ["entrypoint_version_differs"]
